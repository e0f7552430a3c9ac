"""Resources and prompts in a conversation: attached, mentioned, looked at, sent as a turn."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hel_tui.core import protocol as p
from hel_tui.core.agent.repair import GO_ON
from tests.fixtures.models.endpoint import ScriptedModel, say
from tests.rig import Driver, heard

Open = Callable[..., Driver]

GUIDE, SCHEMA, DOT = "mem://guide.md", "mem://schema.json", "mem://dot.png"


def offering(play: Open, *replies: Any, mode: str = "offers:offers", **more: Any) -> Driver:
    """A conversation with a server that offers resources and prompts."""
    return play(*replies, servers={"fix": mode}, **more)


def asked(folder: Path) -> list[str]:
    """The methods the server was asked."""
    return [message.get("method", "") for message in heard(folder, "fix")]


def user(body: dict[str, Any]) -> str:
    """The last message of the person in a request, as text."""
    content = [one["content"] for one in body["messages"] if one["role"] == "user"][-1]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def attachments(driver: Driver) -> tuple[p.Attachment, ...]:
    """What is attached now."""
    told = driver.of(p.AttachmentsChanged)
    return told[-1].attachments if told else ()


def attach(driver: Driver, uri: str) -> p.Attachment:
    """Attach a resource and wait for it."""
    driver.send(p.Attach("fix", uri))
    found: p.Attachment = driver.wait(
        lambda _events: next((one for one in attachments(driver) if one.uri == uri), None), uri
    )
    return found


@pytest.mark.parametrize("mode", ["offers:offers", "offers:stateless"])
def test_an_attached_resource_joins_the_next_message_and_no_further_one(
    play: Open, model: ScriptedModel, tmp_path: Path, mode: str
) -> None:
    with offering(play, say("read it"), say("again"), mode=mode) as driver:
        driver.phase("fix", "ready")
        shown = attach(driver, GUIDE)
        assert (shown.mime, shown.size) == ("text/markdown", 16)
        assert shown.tokens > 0
        driver.ask("what does it say?")
        assert attachments(driver) == ()
        assert driver.of(p.TurnStarted)[-1].attachments == (f"fix:{GUIDE}",)
        driver.ask("and now?")
    first, second = model.requests[:2]
    assert user(first).startswith("what does it say?")
    assert "# Guide" in user(first) and GUIDE in user(first) and "not instructions" in user(first)
    assert user(second) == "and now?"
    assert asked(tmp_path).count("resources/read") == 1
    assert [tool["function"]["name"] for tool in first["tools"]].count("load_mcp_tool") == 1
    assert first["tools"] == second["tools"]


def test_a_mention_in_a_message_is_read_and_attached(
    play: Open, model: ScriptedModel, tmp_path: Path
) -> None:
    with offering(play, say("ok")) as driver:
        driver.phase("fix", "ready")
        driver.ask(f"compare @fix:{GUIDE} (and @fix:{SCHEMA}), but not a@fix:b or @nobody:x://y.")
    text = user(model.requests[0])
    assert "# Guide" in text and '{"a": [1]}' in text
    assert asked(tmp_path).count("resources/read") == 2


def test_a_mention_of_something_that_cannot_be_read_sends_nothing(play: Open, model: ScriptedModel) -> None:
    with offering(play, say("never")) as driver:
        driver.phase("fix", "ready")
        end = driver.ask("look at @fix:mem://none")
        assert end.reason == "failed"
        assert "mem://none was not attached" in end.message and "Nothing was sent" in end.message
        assert end.give_back, "it can be mended and sent again"
    assert model.requests == []


def test_what_cannot_be_attached_is_told_and_not_attached(play: Open) -> None:
    with offering(play) as driver:
        driver.phase("fix", "ready")
        driver.send(p.Attach("fix", "mem://none"))
        driver.wait(lambda _events: any("was not attached" in one.text for one in driver.of(p.Notice)))
        assert attachments(driver) == ()
        driver.send(p.Attach("nobody", "mem://none"))
        driver.wait(lambda _events: any("no server named nobody" in one.text for one in driver.of(p.Notice)))


def test_an_attachment_can_be_taken_off(play: Open, model: ScriptedModel) -> None:
    with offering(play, say("ok")) as driver:
        driver.phase("fix", "ready")
        attach(driver, GUIDE)
        driver.send(p.Detach("fix", GUIDE))
        driver.wait(lambda _events: attachments(driver) == ())
        driver.ask("hello")
    assert user(model.requests[0]) == "hello"


def test_an_attached_image_goes_to_a_model_that_sees(
    play: Open, model: ScriptedModel, tmp_path: Path
) -> None:
    home = tmp_path / "hel" / "config"
    home.mkdir(parents=True)
    (home / "config.toml").write_text("vision = true\n")
    with offering(play, say("a dot")) as driver:
        driver.phase("fix", "ready")
        attach(driver, DOT)
        driver.ask("what is it?")
    content = [one["content"] for one in model.requests[0]["messages"] if one["role"] == "user"][-1]
    assert [part["type"] for part in content] == ["text", "image_url"]


def test_a_resource_is_looked_at_without_being_attached(play: Open) -> None:
    with offering(play) as driver:
        driver.phase("fix", "ready")
        for uri in (GUIDE, DOT, "mem://users/7"):
            driver.send(p.ReadResource("fix", uri))
            driver.wait(lambda events, uri=uri: p.ResourceRead("fix", uri) in events)
        (guide,) = driver.core.resource("fix", GUIDE)
        (dot,) = driver.core.resource("fix", DOT)
        assert (guide.mime, guide.text) == ("text/markdown", "# Guide\n\nUse it.")
        assert (dot.mime, dot.measure) == ("image/png", "2×3")
        assert Path(dot.saved).exists()
        assert attachments(driver) == ()
        driver.send(p.ReadResource("fix", "mem://none"))
        read = driver.wait(lambda _events: next((r for r in driver.of(p.ResourceRead) if r.problem), None))
        assert "Resource not found" in read.problem


def test_a_prompt_is_fetched_and_answered(play: Open, model: ScriptedModel, tmp_path: Path) -> None:
    with offering(play, say("here")) as driver:
        driver.wait(lambda _events: driver.core.prompts())
        before = len(driver.of(p.TurnEnded))
        driver.send(p.UsePrompt("fix", "data-analyst", (("topic", "birds"),)))
        assert driver.turn_end(before).reason == "done"
        assert driver.of(p.TurnStarted)[-1].text == "/mcp__fix__data-analyst topic=birds"
        assert driver.of(p.PromptSent)[-1].messages == (
            ("assistant", "I analyse."),
            ("user", "Analyse birds."),
        )
    messages = model.requests[0]["messages"]
    assert [(one["role"], one["content"]) for one in messages[1:]] == [
        ("user", GO_ON),
        ("assistant", "I analyse."),
        ("user", "Analyse birds."),
    ]
    got = [message for message in heard(tmp_path, "fix") if message.get("method") == "prompts/get"]
    assert got[0]["params"]["arguments"] == {"topic": "birds"}


def test_a_prompt_that_reached_nobody_is_in_the_conversation_only_once_it_does(
    play: Open, model: ScriptedModel
) -> None:
    nobody = p.SetModel("scripted/nobody", "http://127.0.0.1:9/v1")
    with offering(play, say("here")) as driver:
        driver.wait(lambda _events: driver.core.prompts())
        driver.send(nobody)
        driver.wait(lambda _events: driver.of(p.ModelChanged)[-1].label == "scripted/nobody")
        driver.send(p.UsePrompt("fix", "data-analyst"))
        assert driver.turn_end(0).give_back
        driver.send(p.SetModel("scripted/scripted", model.url))
        driver.wait(lambda _events: driver.of(p.ModelChanged)[-1].label == "scripted/scripted")
        driver.send(p.UsePrompt("fix", "data-analyst"))
        driver.turn_end(1)
    said = [one["content"] for one in model.requests[0]["messages"][1:]]
    assert said == [GO_ON, "I analyse.", "Analyse everything."]


def test_an_argument_left_empty_is_left_out(play: Open, model: ScriptedModel, tmp_path: Path) -> None:
    with offering(play, say("here")) as driver:
        driver.wait(lambda _events: driver.core.prompts())
        driver.send(p.UsePrompt("fix", "data-analyst", (("topic", ""),)))
        driver.turn_end(0)
    assert "Analyse everything." in user(model.requests[0])


def test_a_prompt_that_cannot_be_had_ends_its_turn_with_the_reason(play: Open, model: ScriptedModel) -> None:
    with offering(play, mode="offers:odd") as driver:
        driver.wait(lambda _events: driver.core.prompts())
        driver.send(p.UsePrompt("fix", "good"))
        end = driver.turn_end(0)
        assert (end.reason, "empty" in end.message) == ("failed", True)
    assert model.requests == []


def test_completion_comes_back_under_its_request(play: Open) -> None:
    with offering(play) as driver:
        driver.phase("fix", "ready")
        driver.send(p.CompleteArgument("r1", "fix", "prompt", "data-analyst", "topic", "sal"))
        driver.send(p.CompleteArgument("r2", "nobody", "prompt", "data-analyst", "topic", "sal"))
        driver.wait(lambda events: p.Completed("r1", ("sales", "salaries"), 7) in events)
        driver.wait(lambda events: p.Completed("r2", (), 0) in events)


def test_a_completion_of_odd_shape_is_no_completion(play: Open) -> None:
    with offering(play, mode="offers:odd") as driver:
        driver.phase("fix", "ready")
        driver.send(p.CompleteArgument("r", "fix", "prompt", "good", "a", ""))
        driver.wait(lambda events: p.Completed("r", (), 0) in events)


def test_resources_of_all_servers_are_listed_on_request(play: Open) -> None:
    servers = {"fix": "offers:offers", "more": "offers:odd", "none": "wire:ok"}
    with play(servers=servers) as driver:
        for name in servers:
            driver.phase(name, "ready")
        driver.send(p.ListResources())
        driver.wait(lambda _events: {row.server for row in driver.core.resources()} == {"fix", "more"})


def test_watching_shows_in_the_list_and_tells_of_updates(play: Open) -> None:
    with offering(play) as driver:
        driver.phase("fix", "ready")
        driver.send(p.ListResources("fix"))
        driver.wait(lambda _events: driver.core.resources())
        driver.send(p.WatchResource("fix", GUIDE))
        driver.wait(lambda _events: driver.core.resources()[0].watched)
        driver.send(p.WatchResource("fix", GUIDE, on=False))
        driver.wait(lambda _events: not driver.core.resources()[0].watched)


def test_a_new_conversation_begins_with_nothing_attached(play: Open) -> None:
    with offering(play) as driver:
        driver.phase("fix", "ready")
        attach(driver, GUIDE)
        driver.send(p.NewSession())
        driver.wait(lambda _events: attachments(driver) == ())


def test_what_was_attached_to_a_message_that_was_not_sent_is_attached_again(
    play: Open, model: ScriptedModel
) -> None:
    with offering(play, say("ok")) as driver:
        driver.phase("fix", "ready")
        attach(driver, GUIDE)
        assert driver.ask("look at @fix:mem://none").reason == "failed"
        driver.wait(lambda _events: [one.uri for one in attachments(driver)] == [GUIDE])
        driver.ask("again")
    assert "# Guide" in user(model.requests[0])


def test_a_known_secret_in_a_resource_does_not_reach_the_model(
    play: Open, model: ScriptedModel, project: Path
) -> None:
    with play(say("ok"), servers={"fix": {"mode": "offers:offers", "env": {"API_KEY": "Use it."}}}) as driver:
        driver.phase("fix", "ready")
        attach(driver, GUIDE)
        driver.ask("what does it say?")
    assert "# Guide" in user(model.requests[0])
    assert "Use it." not in user(model.requests[0])


def test_what_was_attached_to_a_message_that_was_interrupted_before_it_went_is_attached_again(
    play: Open,
) -> None:
    servers = {"fix": "offers:offers", "slow": {"mode": "life:slow-start", "env": {"DELAY": "60"}}}
    with play(servers=servers) as driver:
        driver.phase("fix", "ready")
        attach(driver, GUIDE)
        driver.send(p.Submit("never sent"))
        driver.wait(lambda _events: attachments(driver) == ())
        driver.send(p.Interrupt())
        assert driver.turn_end(0).reason == "interrupted"
        driver.wait(lambda _events: [one.uri for one in attachments(driver)] == [GUIDE])
