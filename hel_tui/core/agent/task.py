"""`task`: a part of the work, done by an agent with a conversation of its own; only its result comes back.

Not here: how such an agent is made and runs (crew).
"""

from __future__ import annotations

from typing import ClassVar

from hel_tui.core.agent.crew import Crew, Done
from hel_tui.core.store.files import SessionFiles, spilled
from hel_tui.core.threads import in_thread
from hel_tui.core.tools.builtin import Builtin, one_line, refused
from hel_tui.core.tools.paths import Workspace
from hel_tui.core.vocabulary import Access, Invocation, Json, Outcome, ToolDefinition

CHOICES = ("read-only", "full", "none")
NOTHING = "The task ended without an answer."


class Task(Builtin):
    """Hand a part of the work to another agent. Each of its calls is decided on like any other."""

    access: ClassVar[Access] = "read"
    definition: ClassVar[ToolDefinition] = ToolDefinition(
        "task",
        "Give a part of the work to an agent with a conversation of its own, so that what it reads does not "
        "fill yours. It knows nothing of this conversation: say in `prompt` all it needs and what to answer. "
        "You get its last message. Several tasks that are not full, called together, run at the same time.",
        {
            "type": "object",
            "properties": {
                "prompt": {"type": "string"},
                "tools": {
                    "type": "string",
                    "enum": list(CHOICES),
                    "description": "what it may use: read-only (if not given), full, or none",
                },
            },
            "required": ["prompt"],
        },
    )

    def __init__(self, workspace: Workspace, crew: Crew) -> None:
        super().__init__(workspace)
        self._crew = crew

    def only_reads(self, arguments: Json) -> bool:
        """Whether this call changes nothing, so that it may run beside others."""
        return arguments.get("tools") != "full"

    def summary(self, arguments: Json) -> str:
        """What it is to do."""
        tools = arguments.get("tools", CHOICES[0])
        return f"{one_line(str(arguments.get('prompt', '')))} ({tools})"

    async def perform(self, arguments: Json, invocation: Invocation) -> Outcome:
        """Let it be done, and bring back what came of it."""
        prompt, tools = arguments["prompt"], arguments.get("tools", CHOICES[0])
        if not prompt.strip():
            return refused("`prompt` is empty. Nothing was done.")
        if tools not in CHOICES:
            return refused(f"`tools` is one of {', '.join(CHOICES)}, not {tools[:40]!r}. Nothing was done.")
        done = await self._crew.run(
            invocation.call_id,
            prompt,
            lambda tool: tools == "full" or (tools == "read-only" and tool.access == "read"),
            servers=tools == "full",
            progress=invocation.on_progress,
        )
        text, failed = _told(done)
        folder = self.workspace.files
        files = SessionFiles(folder, self.workspace.hide) if folder is not None else None
        result = await in_thread(lambda: spilled(text, files, "task"))
        saved = (result.path,) if result.path is not None else ()
        return Outcome(result.text, failed=failed, full=result.full, saved=saved)


def _told(done: Done) -> tuple[str, bool]:
    """The result as the model reads it, and whether the task did not come to its end."""
    if done.ending.reason == "done":
        return done.text.strip() or NOTHING, not done.text.strip()
    words = f"\n\nThe last it said:\n{done.text}" if done.text.strip() else ""
    return f"The task did not come to its end: {done.ending.message}{words}", True
