"""What servers ask while a call runs: forms, web pages, the model, the roots, in both eras."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from hel_tui.core.mcp.asking import Sample, Sampled, SampleFailed, SampleRequest
from hel_tui.core.protocol import (
    Answer,
    FormAnswer,
    FormQuestion,
    NotAnswered,
    Question,
    SamplingAnswer,
    SamplingQuestion,
    UrlQuestion,
)
from hel_tui.core.store.redact import Redactor
from hel_tui.core.vocabulary import AssistantMessage, ToolCall, ToolMessage, UserMessage
from tests.core.mcp.conftest import LIMIT, until

FORM = {
    "message": "Who are you?",
    "requestedSchema": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "age": {"type": "integer", "default": 5}},
        "required": ["name"],
    },
}
PAGE = {"mode": "url", "message": "Pay.", "url": "https://pay.example/x?y=1", "elicitationId": "e"}
PROMPT = {"messages": [{"role": "user", "content": {"type": "text", "text": "Say hi"}}], "maxTokens": 100}
ERAS = ("asks:asks", "asks:rounds")


class Person:
    """Answers questions with what the test says and keeps them."""

    def __init__(self, *answers: Answer | Callable[[Question], Answer]) -> None:
        self.answers = list(answers)
        self.asked: list[Any] = []

    async def __call__(self, question: Question) -> Answer:
        self.asked.append(question)
        answer = self.answers.pop(0)
        return answer(question) if callable(answer) else answer


class Model:
    """Says one thing."""

    def __init__(self, message: AssistantMessage, reason: str = "endTurn", name: str = "demo/little") -> None:
        self.sampled = Sampled(message, "little", reason)
        self.name = name
        self.requests: list[SampleRequest] = []

    def __call__(self) -> Sample:
        return Sample(lambda: self.name, self._run)

    async def _run(self, request: SampleRequest) -> Sampled:
        self.requests.append(request)
        if self.sampled.reason == "fails":
            raise SampleFailed("the model failed: out of order")
        return self.sampled


async def asked(bench: Any, method: str, params: dict[str, Any]) -> Any:
    """What the server got for a request of its own, by way of the tool `ask`."""
    outcome = await bench.call("ask", method=method, params=params)
    got = json.loads(outcome.full)
    return got.get("a", got)


@pytest.mark.parametrize("mode", ERAS)
async def test_a_form_is_asked_and_its_answer_goes_back(bench: Any, mode: str) -> None:
    person = Person(FormAnswer("accept", (("name", "Ada"), ("age", 36))))
    bench.options = {"ask": person, "answerable": True}
    await bench.start(mode)
    got = await asked(bench, "elicitation/create", FORM)
    assert got == {"action": "accept", "content": {"name": "Ada", "age": 36}}
    (question,) = person.asked
    assert isinstance(question, FormQuestion)
    assert (question.server, question.message, question.tool) == ("fix", "Who are you?", "ask")
    assert [(one.name, one.kind, one.required) for one in question.fields] == [
        ("name", "text", True),
        ("age", "integer", False),
    ]


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize(
    ("answer", "action"),
    [(FormAnswer("decline"), "decline"), (FormAnswer("cancel"), "cancel"), (NotAnswered(), "cancel")],
)
async def test_no_and_no_answer_are_different_answers(
    bench: Any, mode: str, answer: Answer, action: str
) -> None:
    bench.options = {"ask": Person(answer), "answerable": True}
    await bench.start(mode)
    assert await asked(bench, "elicitation/create", FORM) == {"action": action}


@pytest.mark.parametrize("mode", ERAS)
async def test_a_web_page_is_shown_with_its_host_and_never_fetched(bench: Any, mode: str) -> None:
    person = Person(FormAnswer("accept"))
    bench.options = {"ask": person, "answerable": True}
    await bench.start(mode)
    assert await asked(bench, "elicitation/create", PAGE) == {"action": "accept"}
    (question,) = person.asked
    assert isinstance(question, UrlQuestion)
    assert (question.url, question.host, question.warnings) == (PAGE["url"], "pay.example", ())


async def test_the_port_of_a_web_page_is_part_of_where_it_leads(bench: Any) -> None:
    person = Person(FormAnswer("decline"))
    bench.options = {"ask": person, "answerable": True}
    await bench.start("asks:asks")
    await asked(bench, "elicitation/create", {**PAGE, "url": "https://pay.example:8443/"})
    assert person.asked[0].host == "pay.example:8443"


@pytest.mark.parametrize(
    ("url", "word"),
    [
        ("https://xn--80ak6aa92e.com/", "letters"),
        ("https://bank.example@evil.example/", "leads to evil.example"),
        ("http://pay.example/", "not encrypted"),
    ],
)
async def test_what_is_odd_about_a_url_is_said(bench: Any, url: str, word: str) -> None:
    person = Person(FormAnswer("decline"))
    bench.options = {"ask": person, "answerable": True}
    await bench.start("asks:asks")
    await asked(bench, "elicitation/create", {**PAGE, "url": url})
    assert any(word in warning for warning in person.asked[0].warnings)


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "file:///etc/passwd",
        "",
        5,
        "https://",
        "https://a b/",
        "http://evil.com\\@good.example/",
    ],
)
async def test_what_is_no_web_page_is_refused_without_a_question(bench: Any, url: Any) -> None:
    person = Person()
    bench.options = {"ask": person, "answerable": True}
    await bench.start("asks:asks")
    assert (await asked(bench, "elicitation/create", {**PAGE, "url": url}))["code"] == -32602
    assert person.asked == []


async def test_a_form_that_cannot_be_shown_is_refused_with_the_reason(bench: Any) -> None:
    bench.options = {"ask": Person(), "answerable": True}
    await bench.start("asks:asks")
    nested = {"type": "object", "properties": {"a": {"type": "object", "properties": {}}}}
    got = await asked(bench, "elicitation/create", {"message": "m", "requestedSchema": nested})
    assert got["code"] == -32602
    assert "a" in got["message"]


@pytest.mark.parametrize("mode", ERAS)
async def test_where_nobody_can_answer_it_is_declined_and_told(bench: Any, mode: str) -> None:
    await bench.start(mode)
    assert await asked(bench, "elicitation/create", FORM) == {"action": "decline"}
    assert any("declined" in notice.text for notice in bench.notices())


async def test_a_server_may_not_ask_what_its_entry_forbids(bench: Any) -> None:
    bench.options = {"ask": Person(), "answerable": True}
    await bench.start("asks:asks", elicitation=False)
    assert (await asked(bench, "elicitation/create", FORM))["code"] == -32601
    assert (await asked(bench, "sampling/createMessage", PROMPT))["code"] == -32601


async def test_two_questions_of_one_result_are_answered_together(bench: Any) -> None:
    bench.options = {"ask": Person(FormAnswer("decline")), "answerable": True}
    await bench.start("asks:rounds")
    got = json.loads((await bench.call("ask", method="both")).full)
    assert got["e"] == {"action": "decline"}
    assert got["r"]["roots"][0]["uri"] == bench.folder.as_uri()


async def test_a_server_that_is_never_content_is_given_up(bench: Any) -> None:
    await bench.start("asks:endless")
    outcome = await bench.call("ask", method="roots/list")
    assert outcome.failed
    assert "asked for input 10 times" in outcome.text


async def test_something_unknown_in_a_result_fails_the_call(bench: Any) -> None:
    await bench.start("asks:rounds")
    outcome = await bench.call("ask", method="vendor/thing")
    assert outcome.failed
    assert "was not given" in outcome.text


async def test_a_question_that_is_taken_back_is_closed(bench: Any) -> None:
    opened, closed = asyncio.Event(), asyncio.Event()

    async def ask(_question: Question) -> Answer:
        opened.set()
        try:
            await asyncio.Event().wait()
        finally:
            closed.set()
        raise AssertionError

    bench.options = {"ask": ask, "answerable": True}
    await bench.start("asks:takes-back")
    asking = asyncio.create_task(bench.call("ask", method="elicitation/create", params=FORM))
    await asyncio.wait_for(opened.wait(), 20)
    await bench.call("echo")
    await asyncio.wait_for(closed.wait(), 20)
    assert (await asking).full == "taken back"
    assert not any("id" in one["message"] and "method" not in one["message"] for one in bench.received())


@pytest.mark.parametrize("mode", ERAS)
async def test_time_in_which_a_person_thinks_does_not_count_against_a_call(
    bench: Any, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = asyncio.get_running_loop()
    now, ahead, over = loop.time, [0.0], asyncio.Event()
    monkeypatch.setattr(loop, "time", lambda: now() + ahead[0])

    async def ask(_question: Question) -> Answer:
        loop.call_later(8.0, over.set)
        ahead[0] = 12.0  # the limit of the call is over, and so is that of a timer set just now
        await over.wait()
        return FormAnswer("decline")

    bench.options = {"ask": ask, "answerable": True}
    await bench.start(mode, timeout=8.0)
    assert await asked(bench, "elicitation/create", FORM) == {"action": "decline"}


async def test_a_call_that_needs_a_web_page_first_asks_and_says_to_call_again(bench: Any) -> None:
    person = Person(FormAnswer("accept"))
    bench.options = {"ask": person, "answerable": True}
    await bench.start("asks:url-first")
    outcome = await bench.call()
    assert outcome.failed
    assert "Call again" in outcome.text
    assert person.asked[0].url == "http://127.0.0.1:1/connect"
    assert bench.methods().count("tools/call") == 1


async def test_a_call_that_needs_what_is_no_web_page_fails_with_a_sentence(bench: Any) -> None:
    person = Person()
    bench.options = {"ask": person, "answerable": True}
    await bench.start("asks:url-first")
    outcome = await bench.call(text="javascript:alert(1)")
    assert outcome.failed and "did not go there" in outcome.text
    assert not person.asked


async def test_progress_behind_the_end_of_a_call_is_nothing_to_stumble_over(bench: Any) -> None:
    async def ask(_question: Any) -> Any:
        await until(lambda: "that was all" in bench.log())
        return FormAnswer("decline")

    bench.options = {"ask": ask, "answerable": True}
    await bench.start("asks:url-first")
    assert (await bench.call()).failed
    assert "hel failed" not in bench.log()


# ------------------------------------------------------------------- sampling


@pytest.mark.parametrize("mode", ERAS)
async def test_an_allowed_request_and_its_allowed_answer_go_back(bench: Any, mode: str) -> None:
    model = Model(AssistantMessage("hi there"))
    person = Person(SamplingAnswer(True), SamplingAnswer(True))
    bench.options = {"ask": person, "answerable": True, "sample": model}
    await bench.start(mode, sampling=True)
    got = await asked(bench, "sampling/createMessage", {**PROMPT, "systemPrompt": "Be brief."})
    assert got == {
        "role": "assistant",
        "content": {"type": "text", "text": "hi there"},
        "model": "little",
        "stopReason": "endTurn",
    }
    before, after = person.asked
    assert isinstance(before, SamplingQuestion) and isinstance(after, SamplingQuestion)
    assert (before.stage, before.model, before.max_tokens) == ("request", "demo/little", 100)
    assert "Say hi" in before.text and before.system == "Be brief."
    assert (after.stage, after.text) == ("answer", "assistant:\nhi there")


async def test_a_person_may_write_the_answer_and_no_model_is_asked(bench: Any) -> None:
    model = Model(AssistantMessage("hi there"))
    person = Person(SamplingAnswer(True, "Good day."))
    bench.options = {"ask": person, "answerable": True, "sample": model}
    await bench.start("asks:asks", sampling=True)
    assert await asked(bench, "sampling/createMessage", PROMPT) == {
        "role": "assistant",
        "content": {"type": "text", "text": "Good day."},
        "model": "written by a person",
        "stopReason": "endTurn",
    }
    assert model.requests == [] and len(person.asked) == 1


async def test_a_person_may_change_the_answer_of_the_model(bench: Any) -> None:
    model = Model(AssistantMessage("hi there"))
    person = Person(SamplingAnswer(True), SamplingAnswer(True, "hi"))
    bench.options = {"ask": person, "answerable": True, "sample": model}
    await bench.start("asks:asks", sampling=True)
    got = await asked(bench, "sampling/createMessage", PROMPT)
    assert (got["content"]["text"], got["model"]) == ("hi", "little, written by a person")
    assert isinstance(person.asked[1], SamplingQuestion) and person.asked[1].reply == "hi there"


@pytest.mark.parametrize(
    ("answer", "text"), [(SamplingAnswer(True, "Me."), "Me."), (SamplingAnswer(True), "")]
)
async def test_without_a_model_only_a_person_can_answer(
    bench: Any, answer: SamplingAnswer, text: str
) -> None:
    bench.options = {
        "ask": Person(answer),
        "answerable": True,
        "sample": Model(AssistantMessage("x"), name=""),
    }
    await bench.start("asks:asks", sampling=True)
    got = await asked(bench, "sampling/createMessage", PROMPT)
    assert got["content"]["text"] == text if text else "no model" in got["message"]


@pytest.mark.parametrize("answers", [[False], [True, False]])
async def test_a_no_before_or_after_is_an_error_for_the_server(bench: Any, answers: list[bool]) -> None:
    model = Model(AssistantMessage("secret thought"))
    person = Person(*map(SamplingAnswer, answers))
    bench.options = {"ask": person, "answerable": True, "sample": model}
    await bench.start("asks:asks", sampling=True)
    got = await asked(bench, "sampling/createMessage", PROMPT)
    assert got["code"] == -1
    assert "secret" not in json.dumps(got)
    assert len(model.requests) == len(answers) - 1


async def test_no_request_may_have_more_tokens_than_the_limit(bench: Any) -> None:
    model = Model(AssistantMessage("x"))
    bench.options = {
        "ask": Person(SamplingAnswer(True), SamplingAnswer(True)),
        "answerable": True,
        "sample": model,
    }
    await bench.start("asks:asks", sampling=True)
    await asked(bench, "sampling/createMessage", {**PROMPT, "maxTokens": 1_000_000})
    assert model.requests[0].max_tokens == 4096


async def test_the_eleventh_request_within_a_minute_is_refused(bench: Any) -> None:
    bench.options = {
        "ask": Person(*[SamplingAnswer(False)] * 10),
        "answerable": True,
        "sample": Model(AssistantMessage()),
    }
    await bench.start("asks:asks", sampling=True)
    got = [await asked(bench, "sampling/createMessage", PROMPT) for _ in range(11)]
    assert "did not allow" in got[9]["message"]
    assert "10 requests a minute" in got[10]["message"]


async def test_tools_travel_both_ways(bench: Any) -> None:
    model = Model(AssistantMessage(calls=(ToolCall("c1", "add", '{"a": 1}'),)), "toolUse")
    bench.options = {
        "ask": Person(SamplingAnswer(True), SamplingAnswer(True)),
        "answerable": True,
        "sample": model,
    }
    await bench.start("asks:asks", sampling=True)
    messages = [
        *PROMPT["messages"],
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "c0", "name": "add", "input": {"a": 0}}],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "toolUseId": "c0", "content": [{"type": "text", "text": "0"}]}
            ],
        },
    ]
    tools = [{"name": "add", "description": "Adds.", "inputSchema": {"type": "object"}}]
    got = await asked(
        bench, "sampling/createMessage", {"messages": messages, "maxTokens": 10, "tools": tools}
    )
    assert got["content"] == [{"type": "tool_use", "id": "c1", "name": "add", "input": {"a": 1}}]
    assert got["stopReason"] == "toolUse"
    (request,) = model.requests
    assert [one.name for one in request.tools] == ["add"]
    assert [type(one) for one in request.messages] == [UserMessage, AssistantMessage, ToolMessage]


async def test_more_rounds_of_tools_than_the_limit_are_refused(bench: Any) -> None:
    bench.options = {"ask": Person(), "answerable": True, "sample": Model(AssistantMessage())}
    await bench.start("asks:asks", sampling=True)
    result = {"role": "user", "content": [{"type": "tool_result", "toolUseId": "c", "content": []}]}
    got = await asked(bench, "sampling/createMessage", {"messages": [result] * 6, "maxTokens": 10})
    assert "5 rounds" in got["message"]


@pytest.mark.parametrize("messages", [[], "hi", [5], [{"role": "system", "content": []}], [{"role": "user"}]])
async def test_a_request_without_readable_messages_is_refused_without_a_question(
    bench: Any, messages: Any
) -> None:
    person = Person()
    bench.options = {"ask": person, "answerable": True, "sample": Model(AssistantMessage())}
    await bench.start("asks:asks", sampling=True)
    assert (await asked(bench, "sampling/createMessage", {"messages": messages}))["code"] == -32602
    assert person.asked == []


async def test_a_model_that_fails_is_told_in_a_sentence(bench: Any) -> None:
    bench.options = {
        "ask": Person(SamplingAnswer(True)),
        "answerable": True,
        "sample": Model(AssistantMessage(), "fails"),
    }
    await bench.start("asks:asks", sampling=True)
    assert "out of order" in (await asked(bench, "sampling/createMessage", PROMPT))["message"]


# --------------------------------------------------------------------- roots


async def test_a_server_hears_that_there_are_other_roots_and_asks_for_them(bench: Any) -> None:
    await bench.start("asks:asks")
    other = bench.folder / "other"
    other.mkdir()
    await bench.host.change_roots((bench.folder, other))
    await until(lambda: bench.noted("roots"))
    assert bench.noted("roots") == [bench.folder.as_uri(), other.as_uri()]


# ------------------------------------------------------------- what is too much


async def test_a_result_with_many_questions_is_refused_before_one_is_asked(bench: Any) -> None:
    person = Person()
    bench.options = {"ask": person, "answerable": True}
    await bench.start("asks:rounds")
    outcome = await bench.call("ask", method="many", params={"count": 9})
    assert outcome.failed and "more than 8 questions" in outcome.text
    assert person.asked == []


async def test_when_one_of_several_questions_is_refused_the_others_are_taken_back(bench: Any) -> None:
    closed = asyncio.Event()

    async def ask(_question: Question) -> Answer:
        try:
            await asyncio.Event().wait()
        finally:
            closed.set()
        raise AssertionError

    bench.options = {"ask": ask, "answerable": True}
    await bench.start("asks:rounds", timeout=LIMIT)
    outcome = await bench.call("ask", method="good-and-bad")
    assert outcome.failed
    await asyncio.wait_for(closed.wait(), LIMIT)
    assert not (await bench.call("echo", text="well")).failed


async def test_a_server_that_keeps_asking_what_is_refused_is_declined_by_hel(bench: Any) -> None:
    person = Person(*[FormAnswer("cancel")] * 5)
    bench.options = {"ask": person, "answerable": True}
    await bench.start("asks:asks")
    got = [(await asked(bench, "elicitation/create", FORM))["action"] for _ in range(7)]
    assert got == ["cancel"] * 5 + ["decline"] * 2
    assert any("declines for you" in notice.text for notice in bench.notices())


async def test_what_cannot_be_shown_is_told_a_few_times_and_not_for_ever(bench: Any) -> None:
    bench.options = {"ask": Person(), "answerable": True}
    await bench.start("asks:asks")
    for _ in range(12):
        assert (await asked(bench, "elicitation/create", {**PAGE, "url": "x"}))["code"] == -32602
    assert sum("cannot show" in notice.text for notice in bench.notices()) == 6


async def test_a_new_connection_is_no_way_around_the_limits_of_sampling(bench: Any) -> None:
    bench.options = {
        "ask": Person(*[SamplingAnswer(False)] * 10),
        "answerable": True,
        "sample": Model(AssistantMessage()),
    }
    await bench.start("asks:asks", sampling=True)
    for _ in range(10):
        await asked(bench, "sampling/createMessage", PROMPT)
    first = bench.status().pid
    bench.host.restart("fix")
    await until(lambda: bench.status().phase == "ready" and bench.status().pid != first)
    assert "10 requests a minute" in (await asked(bench, "sampling/createMessage", PROMPT))["message"]


async def test_what_the_model_is_told_for_a_server_is_cleaned_and_without_known_secrets(bench: Any) -> None:
    model = Model(AssistantMessage("x"))
    hide = Redactor(["a-plain-secret-7"])
    bench.options = {
        "ask": Person(SamplingAnswer(True), SamplingAnswer(True)),
        "answerable": True,
        "sample": model,
        "mask": hide,
    }
    await bench.start("asks:asks", sampling=True)
    unseen = "\U000e0041\u202e"
    use = {"type": "tool_use", "id": "c", "name": f"a{unseen}", "input": {"k": f"v{unseen}"}}
    messages = [
        {"role": "user", "content": {"type": "text", "text": f"a-plain-secret-7{unseen}"}},
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [{"type": "tool_result", "toolUseId": "c", "structuredContent": unseen}]},
    ]
    tools = [{"name": "t", "description": unseen, "inputSchema": {"title": unseen}}]
    await asked(bench, "sampling/createMessage", {"messages": messages, "maxTokens": 0.5, "tools": tools})
    (request,) = model.requests
    told = repr(request)
    assert not any(repr(one)[1:-1] in told for one in unseen)
    assert "a-plain-secret-7" not in told
    assert request.max_tokens == 1
