"""Credentials never leave in text."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hel_tui.core.store.redact import (
    MARK,
    Redactor,
    command_line,
    json_text,
    looks_like_secret,
    mask_value,
    redact_shapes,
    secret_words,
    secrets_in,
)

TEXT = st.text(alphabet=st.characters(blacklist_categories=("Cs",), blacklist_characters="‹›"))
SECRET = TEXT.map(str.strip).filter(lambda value: len(value) >= 6 and value not in MARK)


@given(st.lists(SECRET, min_size=1, max_size=4), st.lists(TEXT, max_size=5), st.randoms())
def test_no_known_value_is_left_whatever_surrounds_it(
    values: list[str], other: list[str], random: object
) -> None:
    pieces = values + other + values
    random.shuffle(pieces)  # type: ignore[attr-defined]
    redacted = Redactor(values)("".join(pieces))
    assert not any(value in redacted for value in values)


@given(st.lists(SECRET, min_size=2, max_size=3))
def test_a_value_of_several_lines_is_found_line_by_line(lines: list[str]) -> None:
    redact = Redactor(["\n".join(lines)])
    for line in lines:
        for part in line.splitlines():
            if len(part) >= 6:
                assert part not in redact(f"log: {part} end")


def test_overlapping_values_leave_no_part_of_either() -> None:
    assert Redactor(["abcdef", "defghi"])("xabcdefghix") == f"x{MARK}x"


def test_a_value_is_found_in_json_and_in_a_url() -> None:
    redact = Redactor(['p"ss/wörd&1'])
    assert "ss/w" not in redact(json.dumps({"a": 'p"ss/wörd&1'}))
    assert "ss%2Fw" not in redact("http://x/?q=p%22ss%2Fw%C3%B6rd%261")


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("key sk-proj-abcdefghijklmnop1234 used", f"key {MARK} used"),
        ("ghp_abcdefghijklmnopqrstuvwxyz012345", MARK),
        ("xoxb-123456789-abcdef", MARK),
        ("AKIAABCDEFGHIJKLMNOP", MARK),
        ("eyJhbGciOiJI.eyJzdWIiOiIx.abc-_1", MARK),
        ("Authorization: Bearer abcdefghijklmn", f"Authorization: Bearer {MARK}"),
        ('{"authorization": "Basic dXNlcjpwYXNz"}', f'{{"authorization": "Basic {MARK}"}}'),
        ("Cookie: a=b12; c=d; e=f", f"Cookie: {MARK}"),
        ("curl -H 'x-api-key: abc12345'", f"curl -H 'x-api-key: {MARK}'"),
        ("GET /x?api_key=abcd1234&page=1", f"GET /x?api_key={MARK}&page=1"),
        ("DB_PASSWORD=s3cr3t! next", f"DB_PASSWORD={MARK} next"),
        (
            "https://x.example/mcp?key=UrlKeyQQ778899&sig=SigQQ445566",
            f"https://x.example/mcp?key={MARK}&sig={MARK}",
        ),
        ('{"pwd": "hunter2x"}', f'{{"pwd": "{MARK}"}}'),
        ('{"password": "hunter2x"}', f'{{"password": "{MARK}"}}'),
        ("postgres://ada:pw@host/db", f"postgres://ada:{MARK}@host/db"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", MARK),
    ],
)
def test_credentials_give_themselves_away_by_their_shape(text: str, left: str) -> None:
    assert redact_shapes(text) == left


@pytest.mark.parametrize(
    "text",
    [
        "bearer authentication is used here",
        '"input_tokens": 123, "max_tokens": 4096',
        "max_tokens=4096&token=12",
        "the password: ask Ada",
        "a basic implementation of the task-list",
        '"api_key": "${API_KEY}"',
        "http://localhost:8080/mcp and user@host:path",
        "sha256 9f86d081884c7d659a2feaa0c55ad015",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert redact_shapes(text) == text


def test_data_stays_data_and_a_named_credential_goes_whole() -> None:
    data = {"env": {"GITHUB_TOKEN": "plainvalue", "MODE": "fast"}, "n": [1, None, "password=abc\\"]}
    clean = Redactor().data(data)
    assert clean == {"env": {"GITHUB_TOKEN": MARK, "MODE": "fast"}, "n": [1, None, f"password={MARK}"]}


@pytest.mark.parametrize(
    ("name", "value", "is_one"),
    [
        ("OPENAI_API_KEY", "whatever-it-is", True),
        ("apiKey", "whatever-it-is", True),
        ("Authorization", "Bearer abcdef123", True),
        ("X", "ghp_abcdefghijklmnopqrstuvwxyz012345", True),
        ("DATABASE_URL", "postgres://ada:password1@host/db", True),
        ("API_KEY", "${API_KEY}", False),
        ("Authorization", "Bearer ${TOKEN}", False),
        ("TOKENIZERS_PARALLELISM", "whatever", False),
        ("SSH_AUTH_SOCK", "/run/user/1/ssh.sock", False),
        ("API_KEY_FILE", "secrets/key.txt", False),
        ("SSH_KEY", "/home/ada/.ssh/id", False),
        ("TOKEN", "1", False),
        ("key", "user:1234", False),
        ("DB_PASS", "PassQQ123456", True),
        ("MYSQL_PWD", "PwdQQ123456", True),
        ("KEY", "KeyQQ9988776", True),
        ("COMPASS", "north-by-northwest", False),
    ],
)
def test_a_credential_is_told_by_name_or_shape(name: str, value: str, is_one: bool) -> None:
    assert looks_like_secret(name, value) is is_one
    assert secrets_in({name: value}) == ((value,) if is_one else ())


def test_a_masked_value_shows_only_references() -> None:
    assert mask_value("${TOKEN}") == "${TOKEN}"
    assert mask_value("s3cret") == mask_value("another much longer one") == "••••••"
    assert mask_value("${TOKEN}x") == "••••••" and mask_value("") == "(empty)"


@pytest.mark.parametrize(
    "unit",
    ["a", "eyJ", "sk-", "://", "a:", "token", "password_", "cookie: a=b;", "bearer ", "bearer a", "hf_"],
)
def test_hostile_text_costs_time_in_line_with_its_length(unit: str) -> None:
    """A quadratic pattern would need minutes for this, and the run would be stopped."""
    size = 300_000
    assert redact_shapes(unit * (size // len(unit)))


def test_a_command_line_hides_credentials_by_option_and_by_shape() -> None:
    words = (
        "--token",
        "hunter2hunter2",
        "--password=correct horse",
        "ghp_0123456789abcdefghij01",
        "--port",
        "8080",
    )
    line = command_line("srv", words)
    assert "hunter2" not in line and "correct horse" not in line and "ghp_" not in line
    assert "--port 8080" in line and line.startswith("srv --token ")
    assert secret_words(words) == ("hunter2hunter2", "correct horse")


def test_what_stands_in_for_a_key_where_none_is_wanted_is_no_secret() -> None:
    """`HEL_API_KEY=ollama` must not take the word out of every conversation about it."""
    redactor = Redactor(["ollama", "not-needed", " LM-Studio "])
    assert redactor("ollama serve; a key is not-needed") == "ollama serve; a key is not-needed"


def test_results_lose_known_values_only_and_keep_plain_words() -> None:
    redact = Redactor(["s3cret value", "postgres"])
    text = 'user=postgres password="s3cret value" token=abcdef123456'
    assert redact.known(text) == f'user=postgres password="{MARK}" token=abcdef123456'


SECRET = "TokQQ/55+44ab"
URL = "postgres://al:UrlPassQQ42@db/x"


@pytest.mark.parametrize(
    "written",
    [
        json.dumps({"t": f"it is {SECRET}"}),
        json.dumps({"t": SECRET}).replace("/", "\\/"),
        '{"t": "\\u0054okQQ/55+44ab"}',
        json.dumps({"text": json.dumps({"t": SECRET}).replace("/", "\\/")}),
        json.dumps({"text": json.dumps({"inner": json.dumps({"t": SECRET})}).replace("/", "\\/")}),
        json.dumps({SECRET: 1}).replace("/", "\\/"),
        json.dumps({"t": SECRET}).replace("/", "\\/")[:-1],
    ],
)
def test_a_value_is_taken_out_of_json_however_json_writes_it(written: str) -> None:
    shown = json_text(written, Redactor((SECRET,)))
    assert SECRET not in shown and "55+44ab" not in shown and MARK in shown


def test_what_gives_itself_away_is_taken_out_of_json_in_a_text() -> None:
    written = json.dumps({"content": [{"type": "text", "text": json.dumps({"password": "hunter2xyz"})}]})
    assert "hunter2xyz" not in json_text(written, redact_shapes)


@given(
    st.recursive(
        st.text() | st.integers() | st.none(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_json_without_a_secret_stays_as_it_was_written(value: object) -> None:
    written = json.dumps(value)
    assert json_text(written, Redactor(("ThisIsNowhere-42",)).known) == written


def test_the_token_of_progress_is_no_credential() -> None:
    written = '{"_meta":{"progressToken":"call-123"}}'
    assert redact_shapes(written) == written
