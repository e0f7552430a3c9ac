"""What servers asked of the person, written into the session's record with what became of it.

Not here: asking (core.questions), trust and approvals, which keep records of their own.
"""

from __future__ import annotations

from hel_tui.core.agent.gates import Record
from hel_tui.core.mcp.asking import Ask
from hel_tui.core.protocol import (
    Answer,
    FormAnswer,
    FormQuestion,
    LoginAnswer,
    LoginQuestion,
    Question,
    SamplingAnswer,
    SamplingQuestion,
    UrlQuestion,
)


def recorded_questions(ask: Ask, record: Record) -> Ask:
    """The same `ask`, and each question of a server leaves a line. What a person filled in is not in it."""

    async def asking(question: Question) -> Answer:
        answer = await ask(question)
        record.write("server", **_facts(question), decision=_decision(answer))
        return answer

    return asking


def _facts(question: Question) -> dict[str, str]:
    match question:
        case FormQuestion():
            names = ", ".join(field.name for field in question.fields)
            about = {"asked": "form", "text": question.message, "fields": names}
        case UrlQuestion():
            about = {"asked": "url", "text": question.message, "host": question.host}
        case SamplingQuestion():
            about = {"asked": f"sampling: {question.stage}"}
        case LoginQuestion():
            about = {"asked": "login", "issuer": question.issuer}
        case _:
            return {"asked": type(question).__name__}
    return {"name": question.server, "tool": getattr(question, "tool", ""), **about}


def _decision(answer: Answer) -> str:
    match answer:
        case FormAnswer():
            return answer.action
        case SamplingAnswer():
            written = answer.allow and answer.text is not None
            return "written by hand" if written else "allow" if answer.allow else "deny"
        case LoginAnswer():
            return "pasted" if answer.pasted else "given up"
        case _:
            return "not answered"
