"""Settings files of the person and of the project."""

from pathlib import Path

import pytest

from hel_tui.core.store.places import Places, find_places
from hel_tui.core.store.settings import LoadedSettings, Settings, load_settings


@pytest.fixture
def places(tmp_path: Path) -> Places:
    made = find_places({"HEL_HOME": str(tmp_path / "home")})
    made.config.mkdir(parents=True)
    return made


def load(
    tmp_path: Path, places: Places, user: str = "", project: str = "", *, trusted: bool = False
) -> LoadedSettings:
    places.user_settings.write_text(user)
    (tmp_path / "p" / ".hel").mkdir(parents=True, exist_ok=True)
    (tmp_path / "p" / ".hel" / "config.toml").write_text(project)
    return load_settings(tmp_path / "p", places, project_is_trusted=trusted)


def test_without_files_everything_is_at_its_default(tmp_path: Path, places: Places) -> None:
    loaded = load_settings(tmp_path, places)
    assert loaded.settings == Settings() and loaded.notes == ()


def test_a_person_sets_everything(tmp_path: Path, places: Places) -> None:
    loaded = load(
        tmp_path,
        places,
        'model = "openai/m"\naccess = "auto"\ntools = ["bash"]\nmax_steps = 9\n'
        'network = false\nvision = true\nparallel_calls = true\n[permissions]\nallow = ["bash(ls:*)"]\ndeny = ["mcp__x"]\n',
    )
    assert loaded.notes == ()
    assert loaded.settings == Settings(
        model="openai/m",
        access="auto",
        tools=("bash",),
        max_steps=9,
        network=False,
        vision=True,
        parallel_calls=True,
    )
    assert loaded.rules[0].allow == ("bash(ls:*)",) and loaded.rules[0].deny == ("mcp__x",)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('access = "root"', "read-only, confirm, auto"),
        ("max_steps = 0", "above 0"),
        ("max_steps = true", "above 0"),
        ("tools = 3", "list of texts"),
        ('model = "gpt"', "PROVIDER/NAME"),
        ('base_url = "localhost:1"', "http://"),
        ('network = "no"', "true or false"),
        ("theme = 1", "text in quotes"),
        ("parallel_calls = 1", "true or false"),
        ("access = []", "one of"),
        ('effort = "huge"', "it must be one of none, minimal, low, medium, high, xhigh, max, or empty"),
    ],
)
def test_a_bad_value_is_left_out_with_its_line(tmp_path: Path, places: Places, line: str, said: str) -> None:
    loaded = load(tmp_path, places, f"# mine\n\n{line}\n")
    (note,) = loaded.notes
    assert note.line == 3 and note.file == places.user_settings and said in note.sentence
    assert loaded.settings == Settings()


def test_unknown_keys_make_one_note_with_what_was_meant(tmp_path: Path, places: Places) -> None:
    loaded = load(tmp_path, places, 'theme = "x"\nacess = "auto"\nfoo = 1\n[permissions]\nallowed = []\n')
    (note,) = loaded.notes
    assert "`acess` (did you mean `access`?)" in note.sentence and "`foo`" in note.sentence
    assert "`permissions.allowed`" in note.sentence and note.line == 2
    assert loaded.settings.theme == "x"


def test_how_tools_are_loaded_and_named_is_the_persons_and_a_project_may_only_offer_less(
    tmp_path: Path, places: Places
) -> None:
    theirs = 'loading = "eager"\nnaming = "exclude"\ninventory_budget = 9000\n'
    loaded = load(tmp_path, places, "", theirs)
    assert (loaded.settings.loading, loaded.settings.naming) == ("deferred", "exclude")
    assert loaded.settings.inventory_budget == 2000
    assert "`loading`, `inventory_budget` left out" in loaded.notes[0].sentence
    assert load(tmp_path, places, theirs).settings.loading == "eager"


def test_broken_toml_is_a_note_with_its_line(tmp_path: Path, places: Places) -> None:
    loaded = load(tmp_path, places, 'theme = "x"\naccess = \n')
    assert loaded.notes[0].line == 2 and loaded.settings == Settings()


def test_a_project_can_tighten(tmp_path: Path, places: Places) -> None:
    loaded = load(
        tmp_path,
        places,
        'access = "auto"\ntools = ["bash", "grep"]\n',
        'access = "read-only"\nmax_steps = 5\nnetwork = false\ntools = ["grep", "write_file"]\n'
        "parallel_calls = false\n"
        '[permissions]\ndeny = ["bash"]\nask = ["mcp__x"]\n',
    )
    assert loaded.notes == ()
    assert loaded.settings == Settings(
        access="read-only", max_steps=5, network=False, tools=("grep",), parallel_calls=False
    )
    assert loaded.rules[1].deny == ("bash",) and loaded.rules[1].ask == ("mcp__x",)


LOOSER = (
    'access = "auto"\nmax_steps = 500\nbase_url = "http://evil.example"\nmodel = "a/b"\nparallel_calls = true\n'
    '[permissions]\nallow = ["bash"]\n'
)


def test_a_project_cannot_loosen_before_it_is_trusted(tmp_path: Path, places: Places) -> None:
    loaded = load(tmp_path, places, "", LOOSER)
    assert loaded.settings == Settings()
    assert all(rules.allow == () for rules in loaded.rules)
    (note,) = loaded.notes
    for name in ("access", "max_steps", "base_url", "model", "parallel_calls", "permissions.allow"):
        assert f"`{name}`" in note.sentence


def test_a_trusted_project_sets_what_it_likes(tmp_path: Path, places: Places) -> None:
    loaded = load(tmp_path, places, "", LOOSER, trusted=True)
    assert loaded.notes == () and loaded.settings.access == "auto" and loaded.rules[1].allow == ("bash",)


def test_only_plain_files_of_the_project_are_read(tmp_path: Path, places: Places) -> None:
    project = tmp_path / "p"
    (project / ".hel").mkdir(parents=True)
    outside = tmp_path / "outside.toml"
    outside.write_text('access = "read-only"\n')
    file = project / ".hel" / "config.toml"
    file.symlink_to(outside)
    loaded = load_settings(project, places)
    assert loaded.settings == Settings() and "config.toml is a link" in loaded.notes[0].sentence
    file.unlink()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "config.toml").write_text('access = "read-only"\n')
    (project / ".hel").rmdir()
    (project / ".hel").symlink_to(tmp_path / "elsewhere")
    loaded = load_settings(project, places)
    assert loaded.settings == Settings() and ".hel is a link" in loaded.notes[0].sentence


@pytest.mark.parametrize("line", ["max_steps = " + "9" * 5000, ".".join("a" * 15_000) + " = 1"])
def test_a_file_that_would_break_the_reader_costs_only_itself(
    tmp_path: Path, places: Places, line: str
) -> None:
    loaded = load(tmp_path, places, "max_steps = 7", line)
    assert loaded.settings.max_steps == 7
    assert [note.file.parent.name for note in loaded.notes] == [".hel"]


def test_a_number_beyond_all_use_is_left_out(tmp_path: Path, places: Places) -> None:
    loaded = load(tmp_path, places, "max_steps = 0x" + "f" * 9000)
    assert loaded.settings.max_steps == 50 and "at most" in loaded.notes[0].sentence


def test_ten_of_very_many_unknown_keys_are_named(tmp_path: Path, places: Places) -> None:
    loaded = load(tmp_path, places, "".join(f"k{number} = 1\n" for number in range(5000)))
    (note,) = loaded.notes
    assert "`k9`, and 4,990 more." in note.sentence and "`k10`" not in note.sentence
