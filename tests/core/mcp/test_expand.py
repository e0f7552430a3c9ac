"""Variables in server entries."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from hel_tui.core.mcp.entries import Address, Launch, ServerEntry, Unset
from hel_tui.core.mcp.expand import expand, expand_address, expand_launch, values_filled_in

ENVIRON = {"HOME": "/home/ada", "TOKEN": "t0k", "EMPTY": "", "RAW": "${TOKEN}"}


def entry(**fields: object) -> ServerEntry:
    return ServerEntry(
        "notes", "project", Path("/p/.hel/mcp.json"), "stdio", {}, default_cwd=Path("/p"), **fields
    )  # type: ignore[arg-type]


def test_a_variable_takes_its_value_anywhere_in_the_text() -> None:
    assert expand("a ${TOKEN}/${HOME} z", ENVIRON) == ("a t0k//home/ada z", ())


def test_a_default_is_used_when_the_variable_is_unset_or_empty() -> None:
    assert expand("${NOPE:-x}${EMPTY:-y}${TOKEN:-z}", ENVIRON) == ("xyt0k", ())


def test_a_set_but_empty_variable_without_default_is_empty_not_missing() -> None:
    assert expand("[${EMPTY}]", ENVIRON) == ("[]", ())


def test_braces_inside_a_default_are_balanced() -> None:
    assert expand("${A_DIR:-${HOME}/.a}:/x", ENVIRON) == ("/home/ada/.a:/x", ())
    assert expand("${A_DIR:-${HOME}/.a}:/x", {"A_DIR": "/d"}) == ("/d:/x", ())
    assert expand('${J:-{"a": {}}}!', ENVIRON) == ('{"a": {}}!', ())
    assert expand("${A:-${B:-${TOKEN}}}}", ENVIRON) == ("t0k}", ())


def test_a_missing_variable_is_named_once_and_only_in_the_default_in_use() -> None:
    assert expand("${NOPE} ${ALSO} ${NOPE}", ENVIRON)[1] == ("NOPE", "ALSO")
    assert expand("${TOKEN:-${NOPE}}", ENVIRON) == ("t0k", ())
    assert expand("${X:-${NOPE}}", ENVIRON)[1] == ("NOPE",)


def test_a_value_is_not_expanded_again() -> None:
    assert expand("${RAW}", ENVIRON) == ("${TOKEN}", ())


def test_every_other_dollar_form_is_left_alone_as_a_whole() -> None:
    for text in (
        "$TOKEN",
        "$$",
        "$(id)",
        "${}",
        "${1}",
        "${TOKEN:+x${HOME}}",
        "${TOKEN-x}",
        "${ TOKEN }",
        "${TOKEN",
        "${A:-${TOKEN}",
        "!touch x",
        "${input:key}",
        "%TOKEN%",
    ):
        assert expand(text, ENVIRON) == (text, ())


def test_deep_nesting_neither_fails_nor_slows() -> None:
    depth = 50_000
    assert expand("${N:-" * depth + "end" + "}" * depth, {}) == ("end", ())


def test_the_keyring_is_asked_only_for_its_own_form() -> None:
    asked: list[str] = []

    def keyring(name: str) -> str | None:
        asked.append(name)
        return {"git-hub": "s3cret"}.get(name)

    assert expand("Bearer ${keyring:git-hub}", ENVIRON, keyring) == ("Bearer s3cret", ())
    assert expand("${TOKEN}${keyring:other}", ENVIRON, keyring)[1] == ("keyring:other",)
    assert expand("${keyring:x}", ENVIRON) == ("${keyring:x}", ())
    assert asked == ["git-hub", "other"]


@given(st.text(alphabet="${}:-AB x", max_size=40))
def test_expansion_never_fails_and_finds_names_only_without_value(text: str) -> None:
    filled, unset = expand(text, {"A": "1"})
    assert set(unset) <= {"B", "AB", "BA"} | {name for name in unset if name != "A"}
    if "${" not in text:
        assert filled == text


@given(st.text(max_size=30), st.text(max_size=30), st.text(max_size=30))
def test_the_value_goes_in_verbatim_between_its_neighbours(before: str, value: str, after: str) -> None:
    before, after = before.replace("$", "").replace("{", ""), after.replace("$", "")
    assert expand(f"{before}${{V}}{after}", {"V": value}) == (before + value + after, ())


def test_a_launch_has_everything_expanded_and_whole_paths() -> None:
    made = expand_launch(
        entry(command="./srv.py", args=("${HOME}/x", "$X"), env=(("T", "${TOKEN}"),), cwd="tools"), ENVIRON
    )
    assert made == Launch("/p/tools/srv.py", ("/home/ada/x", "$X"), (("T", "t0k"),), Path("/p/tools"))


def test_without_cwd_the_default_folder_is_used_and_a_bare_command_stays_bare() -> None:
    assert expand_launch(entry(command="npx"), ENVIRON) == Launch("npx", (), (), Path("/p"))


def test_a_tilde_is_the_home_folder_in_command_and_cwd() -> None:
    made = expand_launch(entry(command="~/bin/srv", cwd="~/w", args=("~/x",)), ENVIRON)
    assert made == Launch("/home/ada/bin/srv", ("~/x",), (), Path("/home/ada/w"))


def test_an_entry_with_missing_variables_names_them_all() -> None:
    made = expand_launch(entry(command="x", args=("${A}",), env=(("K", "${B}"),), cwd="${A}/c"), {})
    assert made == Unset(("A", "B"))


def test_what_a_variable_holds_is_part_of_one_word_of_the_helper() -> None:
    line = '~/bin/give "${X:-sudo rm -rf /}" --as=${TOKEN} $HOME;x'
    found = expand_address(entry(url="https://x.example/", headers_helper=line), ENVIRON)
    assert isinstance(found, Address)
    assert found.helper == ("/home/ada/bin/give", "sudo rm -rf /", "--as=t0k", "$HOME;x")
    spaced = {**ENVIRON, "TOKEN": "a b 'c"}
    found = expand_address(entry(url="https://x.example/", headers_helper=line), spaced)
    assert isinstance(found, Address) and found.helper[2] == "--as=a b 'c"


def test_the_values_that_texts_are_filled_in_with_are_known() -> None:
    assert values_filled_in(["Bearer ${TOKEN}", "${NOPE:-${HOME}}", "$RAW"], ENVIRON) == ("/home/ada", "t0k")


def test_what_is_not_set_is_said_with_where_to_set_it() -> None:
    assert Unset(("A", "B")).fault().sentence == "not started: A and B are not set"
    said = Unset(("keyring:notes.TOKEN",)).fault().sentence
    assert said == "not started: keyring entry notes.TOKEN is not set: hel mcp secret set notes.TOKEN"
