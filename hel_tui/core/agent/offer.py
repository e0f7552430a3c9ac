"""The tools of a request as the model that answers takes them, and the way back from its calls.

Finds out which tool a provider refuses and leaves it out, so that the turn goes on. Not here: which tools
there are (registry), the rules of providers and how a schema is made to fit (models.schemas).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from hel_tui.core.agent.gates import Record
from hel_tui.core.agent.registry import Registry
from hel_tui.core.models.types import ChatModel, ModelFault
from hel_tui.core.protocol import Event, Notice
from hel_tui.core.vocabulary import Json, ToolDefinition

if TYPE_CHECKING:
    from hel_tui.core.models.schemas.adapt import Adaptations, Adapted
    from hel_tui.core.models.schemas.profile import SchemaProfile

MOST_ROUNDS = 40
"""How often one request is tried again with fewer tools or other schemas."""
MOST_NAMED = 5
"""Tools that a notice names."""


@dataclass(frozen=True, slots=True)
class Offered:
    """The tools that one request offers."""

    definitions: tuple[ToolDefinition, ...] = ()
    """As they are sent."""
    names: frozenset[str] = frozenset()
    """Only these can be called by its answer."""
    adapted: Mapping[str, Adapted] = field(default_factory=dict)

    def restored(self, name: str, arguments: Json) -> tuple[Json, tuple[str, ...]]:
        """A call's arguments as its server wants them, and a sentence for each conversion."""
        known = self.adapted.get(name)
        if known is None:
            return arguments, ()
        from hel_tui.core.models.schemas.restore import restore

        restored = restore(known, arguments)
        return restored.arguments, restored.conversions


class Offer:
    """What one session offers to its model. Lives in the core's loop."""

    def __init__(
        self,
        registry: Registry,
        emit: Callable[[Event], None],
        record: Record,
    ) -> None:
        self._registry = registry
        self._emit = emit
        self._record = record
        self._made: Adaptations | None = None

    # ---------------------------------------------------------------- a request

    def request(self, model: ChatModel) -> Offered:
        """The tools of a request that is made now. What cannot be made to fit is left out, and told."""
        for _ in range(MOST_ROUNDS):
            adapted = self._adapted(self._registry.for_request(), model.schemas)
            unfit = [one for one in adapted if one.problem and self._server(one.source.name)]
            if not unfit:
                break
            for one in unfit:
                self._leave_out([one.source.name], one.problem, model)
        return Offered(
            tuple(one.definition for one in adapted),
            frozenset(one.definition.name for one in adapted),
            {one.definition.name: one for one in adapted},
        )

    def definitions(self, model: ChatModel | None) -> list[ToolDefinition]:
        """The tools the next request would have, as they would be sent; for measuring."""
        definitions = self._registry.definitions()
        if model is None:
            return definitions
        return [one.definition for one in self._adapted(definitions, model.schemas)]

    def adapted(self, definition: ToolDefinition, model: ChatModel) -> Adapted:
        """One definition as this model gets it."""
        return self._adapted([definition], model.schemas)[0]

    def _adapted(self, definitions: Sequence[ToolDefinition], schemas: SchemaProfile) -> list[Adapted]:
        if self._made is None:
            from hel_tui.core.models.schemas.adapt import Adaptations

            self._made = Adaptations()
        return [self._made.get(one, schemas) for one in definitions]

    # ---------------------------------------------------------------- a refusal

    async def mended(self, fault: ModelFault, model: ChatModel, offered: Offered) -> bool:
        """Whether something was changed after a refusal, so that the request is worth another try.

        May send some tiny requests. Raises ModelFault when one of them fails for another reason.
        """
        if fault.kind not in ("schema", "request") or fault.partial is not None:
            return False
        servers = [one for one in offered.definitions if self._server(one.name)]
        if not servers and fault.kind != "schema":
            return False
        from hel_tui.core.models.schemas.culprit import culprits, too_many, wants_strict
        from hel_tui.core.models.schemas.profile import STRICT

        if (most := too_many(fault.said)) is not None and servers:
            return self._fewer(most, model, offered, servers)
        if wants_strict(fault.said) and model.schemas.name != STRICT.name:
            model.learn(replace(STRICT, tool_limit=model.schemas.tool_limit))
            self._say(f"{model.info.label} wants strict schemas: tools are sent in their form from now on.")
            return True
        by_name = {one.name: one for one in servers}
        blamed = [one for one in culprits(fault.said, offered.definitions) if one.name in by_name]
        sure = [one for one in blamed if one.is_named]
        if not sure and len(blamed) == 1 and servers[1:]:
            # some servers count other lists: what a number points at is tried first
            own = [one for one in offered.definitions if one.name not in by_name]
            if not await model.accepts([*own, by_name[blamed[0].name]]):
                sure = blamed
        elif not sure and blamed:
            sure = blamed if len(blamed) > 1 or not servers[1:] else []
        for one in sure:
            place = f" at {one.place}" if one.place else ""
            self._leave_out([one.name], f"refused{place}: {one.reason}", model)
        return bool(sure) or await self._searched(fault, model, offered, servers)

    async def _searched(
        self,
        fault: ModelFault,
        model: ChatModel,
        offered: Offered,
        servers: Sequence[ToolDefinition],
    ) -> bool:
        """Find the refused tools by trying."""
        from hel_tui.core.models.schemas.bisect import find_refused

        names = {one.name for one in servers}
        own = [one for one in offered.definitions if one.name not in names]
        found = await find_refused(own, servers, model.accepts)
        self._record.write(
            "note",
            text="looked for refused tools",
            found=[*found.certain, *found.suspects],
            probes=found.probes,
        )
        why = f"refused: {_short(fault.sentence)}"
        if found.certain:
            self._leave_out(found.certain, why, model)
        if found.suspects:
            self._leave_out(found.suspects, f"{why} (which of several was not to be told apart)", model)
        return bool(found.certain or found.suspects)

    def _fewer(
        self, most: int, model: ChatModel, offered: Offered, servers: Sequence[ToolDefinition]
    ) -> bool:
        """Offer no more tools than the provider takes, which is learned."""
        now = len(offered.definitions)
        limit = most if 0 < most < now else max(now // 2, now - len(servers))
        room = limit - (now - len(servers))
        if limit >= now or room < 1:
            return False
        model.learn(replace(model.schemas, tool_limit=limit))
        self._registry.limit(room)
        self._say(
            f"{model.info.label} takes no more than {limit} tools in a request: {now - limit} that were "
            "loaded are not sent. Unload some to make room for others."
        )
        return True

    # ------------------------------------------------------------------- inside

    def limited(self, model: ChatModel | None) -> int:
        """How many server tools fit into a request for this model; 0 for any number."""
        most = model.schemas.tool_limit if model is not None else 0
        return max(most - self._registry.own, 1) if most else 0

    def _server(self, name: str) -> str:
        """The server whose tool this is; empty for one of hel's own."""
        tool = self._registry.get(name)
        return tool.server if tool is not None else ""

    def _leave_out(self, names: Sequence[str], why: str, model: ChatModel) -> None:
        """Quarantine these tools, and tell the person in one notice for each server."""
        by_server: dict[str, list[str]] = {}
        for name in names:
            if (tool := self._registry.get(name)) is not None:
                by_server.setdefault(tool.server, []).append(tool.raw)
            self._registry.quarantine(name, f"{model.info.label}: {why}")
        for server, raws in by_server.items():
            more = f" and {len(raws) - MOST_NAMED} more" if len(raws) > MOST_NAMED else ""
            told = f"{', '.join(raws[:MOST_NAMED])}{more}"
            verb = "is" if len(raws) == 1 else "are"
            self._say(f"{told} {verb} not offered to {model.info.label}: {why}", server)
        self._record.write("note", text=f"not offered: {', '.join(names)}: {why}")

    def _say(self, text: str, source: str = "") -> None:
        self._emit(Notice("warning", text, source))


def _short(sentence: str) -> str:
    return sentence if len(sentence) <= 200 else sentence[:199] + "…"
