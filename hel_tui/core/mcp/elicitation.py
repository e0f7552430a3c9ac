"""A server asks the person: a form from a schema, or a URL to go to (specification, elicitation).

Pure: from params to a question, from an answer to a result. Not here: asking (serving), the dialogs (a
screen), what a form may hold (forms).
"""

from __future__ import annotations

from urllib.parse import urlsplit

from hel_tui.core.protocol import Answer, FormAnswer, FormQuestion, UrlQuestion
from hel_tui.core.questions import question_id
from hel_tui.core.vocabulary import Json
from hel_tui.forms import fields_from_schema

MESSAGE_LENGTH = 4000
URL_LENGTH = 8192


def form_question(server: str, params: Json, tool: str) -> FormQuestion | str:
    """Return the form a server wants filled in, or why it cannot be shown."""
    schema = params.get("requestedSchema")
    fields = fields_from_schema(schema if isinstance(schema, dict) else {})
    if isinstance(fields, str):
        return fields
    return FormQuestion(question_id(), server, _message(params), fields, tool)


def url_question(server: str, params: Json, tool: str) -> UrlQuestion | str:
    """Return the question whether to go to a URL, or why it is no URL to go to. Nothing is fetched."""
    url = params.get("url")
    if not isinstance(url, str) or not url or len(url) > URL_LENGTH:
        return "it gave no URL"
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return "what it gave is not a URL"
    # A browser reads a backslash as a slash (WHATWG URL), and so lands elsewhere than what is shown here.
    strange = any(letter <= " " or letter == "\\" for letter in url)
    if parts.scheme not in ("http", "https") or not host or strange:
        return "only http and https URLs can be opened"
    shown = f"{host}:{port}" if port is not None else host
    return UrlQuestion(question_id(), server, _message(params), url, shown, _odd(url, host), tool)


def _odd(url: str, host: str) -> tuple[str, ...]:
    warnings = []
    if any(label.startswith("xn--") for label in host.split(".")) or not host.isascii():
        warnings.append("The host has letters that can look like others.")
    if urlsplit(url).username is not None:
        warnings.append(f"What stands before the @ is not where it leads: it leads to {host}.")
    if urlsplit(url).scheme == "http" and host not in ("localhost", "127.0.0.1", "::1"):
        warnings.append("The connection is not encrypted.")
    return tuple(warnings)


def form_answer(answer: Answer) -> Json:
    """The result for what the person did with a form: no answer at all cancels it."""
    if not isinstance(answer, FormAnswer):
        return {"action": "cancel"}
    if answer.action != "accept":
        return {"action": answer.action}
    content = {name: list(value) if isinstance(value, tuple) else value for name, value in answer.content}
    return {"action": "accept", "content": content}


def url_answer(answer: Answer) -> Json:
    """The result for what the person did with a URL."""
    return {"action": answer.action if isinstance(answer, FormAnswer) else "cancel"}


def _message(params: Json) -> str:
    message = params.get("message")
    return message[:MESSAGE_LENGTH] if isinstance(message, str) else ""
