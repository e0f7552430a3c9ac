"""A person at a terminal who answers what a server asks during `hel mcp call`: forms and web pages.

Questions go to stderr, so that the result stays alone on stdout. Not here: what a form may hold (forms).
"""

from __future__ import annotations

import sys
from contextlib import suppress

from hel_tui.core.protocol import (
    Answer,
    FieldValue,
    FormAnswer,
    FormField,
    FormQuestion,
    NotAnswered,
    Question,
    UrlQuestion,
)
from hel_tui.core.threads import in_thread
from hel_tui.foreign import printable
from hel_tui.forms import Problem, Typed, read_field

YES, NO = ("y", "yes", "true", "1"), ("n", "no", "false", "0")


def is_there() -> bool:
    """Whether somebody can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


async def fill_in(question: Question) -> Answer:
    """Ask at the terminal; whatever ends without a clear yes is cancelled."""
    match question:
        case FormQuestion():
            return await in_thread(lambda: _form(question), "hel-form")
        case UrlQuestion():
            return await in_thread(lambda: _page(question), "hel-form")
        case _:
            return NotAnswered("only forms and web pages are asked about here")


def _form(question: FormQuestion) -> Answer:
    _say(f"\n{question.server} asks you to fill in: {question.message}")
    _say("What you enter goes to this server. No server may ask for a password or a key here.")
    content: list[tuple[str, FieldValue]] = []
    with suppress(EOFError):
        for field in question.fields:
            value = _field(field)
            if value is not None:
                content.append((field.name, value))
        return _sent(tuple(content))
    return FormAnswer("cancel")


def _sent(content: tuple[tuple[str, FieldValue], ...]) -> FormAnswer:
    match _input("Send it? y sends, n declines, Enter cancels: ").lower():
        case answer if answer in YES:
            return FormAnswer("accept", content)
        case answer if answer in NO:
            return FormAnswer("decline")
        case _:
            return FormAnswer("cancel")


def _field(field: FormField) -> FieldValue | None:
    """One field, asked until what was typed fits. None for one left empty."""
    needed = "needed" if field.required else "optional"
    _say(f"\n  {field.label or field.name} ({needed}, {field.kind})  {field.description}".rstrip())
    for number, (value, label) in enumerate(field.options, 1):
        _say(f"    {number} {label if label == value else f'{label} ({value})'}")
    default = field.default
    hint = "" if default is None else f" [{', '.join(default) if isinstance(default, tuple) else default}]"
    while True:
        line = _input(f"  {field.name}{hint}: ")
        if not line and default is not None:
            return default
        read = read_field(field, _typed(field, line))
        if not isinstance(read, Problem):
            return read
        _say(f"  {read.sentence}")


def _typed(field: FormField, line: str) -> Typed:
    """A line as a form takes it; choices are given by number or by value."""
    if field.kind == "boolean" and line.lower() in (*YES, *NO):
        return line.lower() in YES
    if field.kind == "choices":
        return tuple(_choice(field, one.strip()) for one in line.split(",") if one.strip())
    return _choice(field, line) if field.kind == "choice" else line


def _choice(field: FormField, text: str) -> str:
    if text.isascii() and text.isdigit() and 0 < int(text) <= len(field.options):
        return field.options[int(text) - 1][0]
    return text


def _page(question: UrlQuestion) -> Answer:
    _say(f"\n{question.server} asks you to go to a web page of {question.host}: {question.message}")
    for warning in question.warnings:
        _say(f"! {warning}")
    _say(f"\n{question.url}\n")
    with suppress(EOFError):
        match _input("y when you have opened it, n declines, Enter cancels: ").lower():
            case answer if answer in YES:
                return FormAnswer("accept")
            case answer if answer in NO:
                return FormAnswer("decline")
    return FormAnswer("cancel")


def _input(prompt: str) -> str:
    """A line from the terminal. Raises EOFError at its end."""
    sys.stderr.write(printable(prompt))
    sys.stderr.flush()
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line.strip()


def _say(text: str) -> None:
    sys.stderr.write("\n".join(printable(line) for line in text.split("\n")) + "\n")
