"""Reads `lab.toml`, every mistake a sentence; finds labs by path or by the name of one that ships with hel.

`hel help eval` tells the format. Not here: what is done with a lab (running).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from hel_tui.core.checks.masks import pattern_problem
from hel_tui.core.models.types import EFFORTS
from hel_tui.core.protocol import ACCESS_LEVELS, AccessLevel
from hel_tui.core.store.atomic import why
from hel_tui.core.store.reading import open_plain
from hel_tui.labs.lab import SCRIPTED, Check, Condition, Expect, Lab, ScriptedCall, ScriptedStep, Wanted
from hel_tui.labs.laying import digest, digest_of
from hel_tui.labs.tables import BadLab, Table

FILE = "lab.toml"
SHIPPED = Path(__file__).parent
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_MOST = 1 << 20
"""Bytes of a lab's file."""
_MOST_RUNS = 1000


def shipped() -> tuple[str, ...]:
    """Names of the labs that ship with hel."""
    return tuple(sorted(path.parent.name for path in SHIPPED.glob(f"*/{FILE}")))


def find_lab(named: str) -> Path:
    """The file of a lab: a file, a folder that has one, or the name of one that ships. Raises BadLab."""
    path = Path(named).expanduser()
    for found in (path, path / FILE, SHIPPED / named / FILE if _NAME.fullmatch(named) else path):
        if found.is_file():
            return found
    raise BadLab(f"there is no lab {named}; shipped with hel: {', '.join(shipped())}")


def read_lab(path: Path) -> Lab:
    """The lab in a file. Raises BadLab."""
    try:
        with open_plain(path) as file:
            data = file.read(_MOST + 1)
        if len(data) > _MOST:
            raise BadLab(f"{path} is larger than {_MOST:,} bytes")
        values = tomllib.loads(data.decode("utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise BadLab(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    except tomllib.TOMLDecodeError as error:
        raise BadLab(f"{path}: {error}") from None
    top = Table(values, path.name)
    name = top.text("name")
    if not _NAME.fullmatch(name):
        raise top.bad("name", "letters, digits, dots, dashes")
    run = top.table("run")
    conditions = tuple(_condition(one, run.values, path.parent) for one in top.tables("condition"))
    lab = Lab(
        file=path,
        name=name,
        revision=top.whole("revision", 1),
        model=_model(top, "model", SCRIPTED),
        conditions=conditions,
        passes=tuple(_check(one) for one in top.tables("pass")),
        notes=tuple(_check(one) for one in top.tables("note")),
        about=top.text("about", ""),
        repetitions=top.whole("repetitions", 3, most=_MOST_RUNS),
        parallel=top.whole("parallel", 1, most=64),
        digest=_whole(data, {one.project for one in conditions}),
    )
    pins = top.table("pins")
    top.done()
    _judge(lab)
    _hold_pins(path.parent, pins)
    return lab


def _judge(lab: Lab) -> None:
    """What no single value tells. Who answers is not known before a person said it (`Asked`)."""
    where = lab.file.name
    if not lab.conditions:
        raise BadLab(f"{where}: there is no [[condition]]")
    if not lab.passes:
        raise BadLab(f"{where}: there is no [[pass]], so nothing could be told")
    names = [one.name for one in lab.conditions]
    if twice := [name for name in names if names.count(name) > 1]:
        raise BadLab(f"{where}: two conditions are named {twice[0]}")


# ------------------------------------------------------------------- parts


def _condition(own: Table, shared: Mapping[str, Any], folder: Path) -> Condition:
    """A condition: what [run] says, with what it says itself in its place."""
    table = Table({**shared, **own.values}, own.where)
    name = table.text("name")
    if not _NAME.fullmatch(name):
        raise table.bad("name", "letters, digits, dots, dashes")
    project = _project(table, folder)
    found = Condition(
        name=name,
        prompt=table.text("prompt"),
        project=project,
        about=table.text("about", ""),
        expect=cast("Expect", table.text("expect", "", among=("", "all", "none"))),
        model=_model(table, "model", ""),
        base_url=table.text("base_url", ""),
        effort=table.text("effort", "", among=("", *EFFORTS)),
        mcp=table.flag("mcp", True),
        servers=table.texts("servers"),
        access=cast("AccessLevel", table.text("access", "confirm", among=ACCESS_LEVELS)),
        tools=_tools(table) if "tools" in table else None,
        max_steps=table.whole("max_steps", 50),
        max_output=table.whole("max_output") if "max_output" in table else None,
        timeout=table.number("timeout", 600.0),
        settings=dict(table.table("settings").values),
        script=tuple(_step(one) for one in table.tables("script")),
    )
    table.done()
    return found


def _project(table: Table, folder: Path) -> Path:
    """The folder that is copied. It lies beside the lab, so that a lab cannot ask for anybody's files."""
    said = _inside(table, "project", table.text("project", "project"))
    project = folder / said
    if not Path(said).parts or not project.is_dir():
        raise table.bad("project", f"a folder beside the lab: {project} is none")
    for part in (project, *project.parents):
        if part == folder:
            break
        if part.is_symlink():
            raise table.bad("project", f"a folder beside the lab: {part} is a link")
    return project


def _whole(data: bytes, projects: set[Path]) -> str:
    """The digest of a lab. Raises BadLab."""
    try:
        return digest(data, projects)
    except OSError as error:
        raise BadLab(f"{error.filename or 'a project'} cannot be read: {why(error)}") from None


def _tools(table: Table) -> tuple[str, ...]:
    from hel_tui.core.tools.builtins import BUILTIN_NAMES

    names = table.texts("tools")
    if unknown := [name for name in names if name not in BUILTIN_NAMES]:
        raise BadLab(f"{table.where}: there is no tool {unknown[0]}; there are {', '.join(BUILTIN_NAMES)}")
    return names


def _model(table: Table, key: str, default: str) -> str:
    value = table.text(key, default)
    if value not in ("", SCRIPTED) and not re.fullmatch(r"[^/\s]+/\S+", value):
        raise table.bad(key, f'PROVIDER/NAME or "{SCRIPTED}"')
    return value


def _step(table: Table) -> ScriptedStep:
    step = ScriptedStep(table.text("say", ""), tuple(_call(one) for one in table.tables("calls")))
    table.done()
    return step


def _call(table: Table) -> ScriptedCall:
    shows = _pattern(table, "shows", table.text("shows", ""))
    call = ScriptedCall(table.text("tool"), dict(table.table("arguments").values), shows)
    table.done()
    return call


def _check(table: Table) -> Check:
    found = Check(
        name=table.text("name"),
        file=_inside(table, "file", table.text("file", "")),
        exact=table.text("exact") if "exact" in table else None,
        contains=table.texts("contains"),
        matches=tuple(_pattern(table, "matches", one) for one in table.texts("matches")),
        absent=table.flag("absent", False),
        changed=tuple(_inside(table, "changed", one) for one in table.texts("changed")),
        only_changed=table.texts("only_changed") if "only_changed" in table else None,
        answer_contains=table.texts("answer_contains"),
        answer_matches=tuple(_pattern(table, "answer_matches", one) for one in table.texts("answer_matches")),
        log=_inside(table, "log", table.text("log", "")),
        calls=tuple(_wanted(table)),
        exactly=table.flag("exactly", False),
        not_called=table.texts("not_called"),
        command=_command(table),
    )
    table.done()
    of_file = found.exact is not None or found.contains or found.matches or found.absent
    if bool(of_file) != bool(found.file):
        raise BadLab(f"{table.where}: `file` goes with exact, contains, matches or absent")
    if bool(found.calls or found.not_called or found.exactly) != bool(found.log):
        raise BadLab(f"{table.where}: `log` goes with calls, exactly or not_called")
    if found == Check(found.name):
        raise BadLab(f"{table.where}: it looks at nothing")
    return found


def _command(table: Table) -> tuple[str, ...]:
    words = table.texts("command")
    if any("\0" in word for word in words):
        raise table.bad("command", "words without a NUL")
    return words


def _wanted(table: Table) -> Iterable[Wanted]:
    value = table.values.get("calls", []) if "calls" in table else []
    if not isinstance(value, list):
        raise table.bad("calls", "a list of names or of {tool, arguments}")
    for one in value:
        if isinstance(one, str):
            yield Wanted(one)
            continue
        if not isinstance(one, Mapping):
            raise table.bad("calls", "a list of names or of {tool, arguments}")
        inner = Table(one, f"{table.where}, calls")
        wanted = Wanted(inner.text("tool"), dict(inner.table("arguments").values))
        inner.done()
        yield wanted


def _pattern(table: Table, key: str, text: str) -> str:
    if problem := pattern_problem(text):
        raise table.bad(key, f"a regular expression: {problem}")
    return text


def _inside(table: Table, key: str, path: str) -> str:
    """A path that stays in the project."""
    if Path(path).is_absolute() or ".." in Path(path).parts or "\0" in path:
        raise table.bad(key, "a path inside the project")
    return path


# -------------------------------------------------------------------- pins


def _hold_pins(folder: Path, pins: Table) -> None:
    """Refuse a lab whose pinned files are not what was looked over."""
    for name, wanted in pins.values.items():
        path = folder / _inside(pins, name, name)
        try:
            found = digest_of(path)
        except OSError as error:
            raise BadLab(f"{pins.where}: {name} cannot be read: {why(error)}") from None
        if found != wanted:
            raise BadLab(f"{pins.where}: {name} is another file than the one pinned: its SHA-256 is {found}")
