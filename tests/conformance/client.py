"""hel's own host as the client of the conformance suite: `client.py URL`, told what to do by variables.

Connects, logs in when the server wants it, calls every tool, reads every resource, gets every prompt, says
yes to whatever is asked. Not here: the scenarios and the judging (run.py, the suite).
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Awaitable
from contextlib import suppress
from pathlib import Path
from typing import Any

from hel_tui.core.mcp.config import load_servers
from hel_tui.core.mcp.faults import CallFault
from hel_tui.core.mcp.host import Host
from hel_tui.core.mcp.supervisor import Supervisor
from hel_tui.core.mcp.tool import McpTool
from hel_tui.core.protocol import (
    Answer,
    Event,
    FormAnswer,
    FormField,
    FormQuestion,
    LoginAnswer,
    LoginQuestion,
    NotAnswered,
    Question,
    SamplingAnswer,
    SamplingQuestion,
    ServerChanged,
    UrlQuestion,
)
from hel_tui.core.store.files import SessionFiles
from hel_tui.core.store.places import find_places
from hel_tui.forms.values import start

NAME = "conformance"
LIMIT = 45.0
"""Seconds for everything."""
METADATA_URL = "https://conformance-test.local/client-metadata.json"
"""Where the suite takes a client's metadata to be; it is not fetched."""
MOST_LOGINS = 3
SCHEMA_SUBJECT, SCHEMA_ECHO = "json_schema_2020_12_tool", "json_schema_echo"


def entry(url: str, context: dict[str, Any]) -> dict[str, Any]:
    """The server file's entry for one scenario."""
    oauth: dict[str, Any] = {}
    for key in ("client_id", "client_secret", "signing_algorithm"):
        if key in context:
            oauth[key] = context[key]
    if "private_key_pem" in context:
        oauth["private_key"] = context["private_key_pem"]
        oauth["token_endpoint_auth_method"] = "private_key_jwt"
    scenario = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
    if "client-credentials" in scenario:
        oauth["grant"] = "client_credentials"
    if "cimd" in scenario:
        oauth["client_metadata_url"] = METADATA_URL
    found: dict[str, Any] = {"url": url, "sampling": True, "timeout": 20}
    return {**found, "oauth": oauth} if oauth else found


async def answer(question: Question) -> Answer:
    """What a person in a hurry would do."""
    if isinstance(question, FormQuestion):
        return FormAnswer("accept", tuple(filter(None, map(filled, question.fields))))
    if isinstance(question, UrlQuestion):
        return FormAnswer("accept")
    if isinstance(question, SamplingQuestion):
        return SamplingAnswer(True)
    if isinstance(question, LoginQuestion):
        return LoginAnswer(await browse(question.url))
    return NotAnswered("not in this test")


def filled(field: FormField) -> tuple[str, Any] | None:
    """A field as the form opens, and with something in it where it must have something."""
    if field.default is not None:
        return field.name, field.default
    if not field.required:
        return None
    samples = {"email": "a@example.com", "uri": "https://example.com", "date": "2026-01-01"}
    if field.kind in ("number", "integer"):
        return field.name, int(field.minimum or 0)
    if field.kind in ("choice", "choices"):
        first = field.options[0][0]
        return field.name, first if field.kind == "choice" else (first,)
    if field.kind == "boolean":
        return field.name, False
    return field.name, samples.get(field.kind, start(field) or "text")


async def browse(url: str) -> str:
    """Go to the authorization page as a browser would; return where it sends the person."""
    import httpx2

    async with httpx2.AsyncClient(trust_env=False, follow_redirects=False) as browser:
        page = await browser.get(url)
        print(f"browser: {page.status_code} {page.headers.get('location', '')}", file=sys.stderr)
        return str(page.headers.get("location", ""))


def sample(schema: Any) -> Any:
    """A value for a schema."""
    if not isinstance(schema, dict):
        return "text"
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    if schema.get("enum"):
        return schema["enum"][0]
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) and kind else kind
    if kind == "object" or "properties" in schema:
        properties = schema.get("properties") or {}
        return {name: sample(properties.get(name)) for name in schema.get("required") or ()}
    return {"integer": 1, "number": 2, "boolean": True, "array": [], "null": None}.get(str(kind), "text")


class Session:
    """One connection of the host to the suite's server."""

    def __init__(self, url: str, folder: Path) -> None:
        self._moved = asyncio.Event()
        self._folder = folder
        self._context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
        (folder / "mcp.json").write_text(json.dumps({"mcpServers": {NAME: entry(url, self._context)}}))
        files = SessionFiles(folder / "files")
        self.host = Host(
            folder, os.environ, lambda: files, folder / "state", self._hear, ask=answer, answerable=True
        )

    def _hear(self, event: Event) -> None:
        if isinstance(event, ServerChanged):
            self._moved.set()
        print(event, file=sys.stderr)

    async def run(self) -> bool:
        """Do all there is to do; False when no connection came about."""
        places = find_places({"HEL_HOME": str(self._folder / "hel")})
        configuration = load_servers(
            self._folder, places, named_files=[self._folder / "mcp.json"], environ=os.environ
        )
        self.host.start(configuration.entries)
        if not await self._ready():
            return False
        server = self.host.server(NAME)
        assert server is not None
        await self._call_tools()
        await self._offers(server)
        return True

    def show_log(self) -> None:
        """What hel noted of the server, for whoever looks into a failure."""
        if (log := self.host.log(NAME)) is not None:
            for line in log.lines(log.first, log.end):
                print(f"log: {line.text}", file=sys.stderr)

    async def _ready(self) -> bool:
        for _ in range(MOST_LOGINS):
            phase = await self._settled()
            if phase != "needs login":
                return phase in ("ready", "degraded")
            if problem := await self.host.login(NAME):
                print(f"login: {problem}", file=sys.stderr)
                return False
        return False

    async def _settled(self) -> str:
        while (status := self.host.statuses()[0]).phase in ("starting", "restarting"):
            self._moved.clear()
            await self._moved.wait()
        return status.phase

    async def _call_tools(self) -> None:
        wanted = self._context.get("toolCalls")
        calls = [(one["name"], one.get("arguments") or {}) for one in wanted or ()]
        if wanted is None:
            tools = [self.host.catalogue.get(row.public) for row in self.host.catalogue.rows()]
            calls = [(one.raw, self._arguments(one)) for one in tools if one is not None]
        for name, arguments in calls:
            await self._call(name, arguments)

    def _arguments(self, tool: McpTool) -> Any:
        """What the schema asks for; the suite's echo wants the schema of another tool as hel has it."""
        subject = self.host.catalogue.find(NAME, SCHEMA_SUBJECT)
        if tool.raw == SCHEMA_ECHO and subject is not None:
            return {"schema": subject.spec.parameters}
        return sample(tool.spec.parameters)

    async def _call(self, name: str, arguments: dict[str, Any]) -> None:
        """Call a tool; once more behind a login where the call wanted one."""
        for _ in range(MOST_LOGINS):
            tool = self.host.catalogue.find(NAME, name)
            if tool is None:
                print(f"{name}: not offered", file=sys.stderr)
                return
            await tried(name, tool.call(tool.raw, arguments, lambda *_: None))
            if await self._settled() != "needs login":
                return
            if not await self._ready():
                return

    async def _offers(self, server: Supervisor) -> None:
        with suppress(CallFault):
            await server.through(lambda connection: connection.list_resources())
        for resource in self.host.shelf.resources():
            if not resource.template:
                await tried(resource.uri, server.through(lambda one, uri=resource.uri: one.read(uri)))
        for prompt in self.host.shelf.prompts():
            given = {one.name: "text" for one in prompt.fields if one.required}
            await tried(
                prompt.name,
                server.through(lambda one, name=prompt.name, given=given: one.prompt(name, given)),
            )


async def tried(what: str, work: Awaitable[Any]) -> None:
    try:
        print(f"{what}: {await work}", file=sys.stderr)
    except CallFault as fault:
        print(f"{what}: {fault}", file=sys.stderr)


async def main(url: str) -> int:
    """Run one scenario; the exit status says whether hel could do it."""
    with tempfile.TemporaryDirectory(prefix="hel-conformance-") as folder:
        session = Session(url, Path(folder))
        try:
            async with asyncio.timeout(LIMIT):
                return 0 if await session.run() else 1
        finally:
            session.show_log()
            await session.host.aclose()


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1])))
