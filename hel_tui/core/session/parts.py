"""What a session works with, by name.

Not here: putting it together (assembling).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hel_tui.core.agent.calls import Caller
from hel_tui.core.agent.crew import Crew
from hel_tui.core.agent.ledger import Ledger
from hel_tui.core.agent.turn import Agent
from hel_tui.core.mcp.host import Host
from hel_tui.core.permissions.policy import Policy
from hel_tui.core.protocol import Event
from hel_tui.core.questions import Desk
from hel_tui.core.session.attaching import Attaching
from hel_tui.core.session.authoring import Authoring
from hel_tui.core.session.doctor import Doctor
from hel_tui.core.session.inside import Inside
from hel_tui.core.session.model import Model
from hel_tui.core.session.model_list import ModelLists
from hel_tui.core.session.offerings import Offerings
from hel_tui.core.session.pages import Pages
from hel_tui.core.session.searches import Searches
from hel_tui.core.session.servers import Servers
from hel_tui.core.session.settings import ProjectSettings
from hel_tui.core.session.tools import Tools
from hel_tui.core.store.places import Places
from hel_tui.core.store.redact import Redactor
from hel_tui.core.threads import Writes
from hel_tui.core.tools.checkpoints.keeper import Checkpoints
from hel_tui.core.tools.todo import Todos
from hel_tui.core.vocabulary import Tool

Emit = Callable[[Event], None]


@dataclass(frozen=True, slots=True)
class Parts:
    """What a session works with."""

    places: Places
    redactor: Redactor
    record: Pages
    desk: Desk
    host: Host
    servers: Servers
    policy: Policy
    model: Model
    models: ModelLists
    """All models that can be chosen."""
    attaching: Attaching
    """Files of the person's, by name and from the clipboard."""
    offerings: Offerings
    """Resources and prompts of the servers, as the person uses them."""
    tools: Tools
    """Server tools as the person deals with them."""
    inside: Inside
    """What goes on in the servers, as a screen shows it."""
    authoring: Authoring
    """For people who write servers."""
    doctor: Doctor
    """Says what is well and what is not."""
    searches: Searches
    checkpoints: Checkpoints
    """What files were before tools changed them."""
    crew: Crew
    """Runs tasks."""
    todos: Todos
    """What is still to do, as the model keeps it."""
    shell: Tool
    """bash as the person's own: commands typed with `!` run through it."""
    ledger: Ledger
    writes: Writes
    caller: Caller
    agent: Agent
    turn_over: Callable[[Path], None]
    """Begin a new session in this folder: record, saved files, approvals; servers stay."""
    settings: ProjectSettings
    remarks: tuple[str, ...]
    """Sentences about settings and rules that could not be used."""
