"""Obtains the tool lists in `lists`: installs well-known servers and saves what they answer to tools/list.

Run by hand, with a scratch folder: `python -m tests.search.obtain FOLDER [name ...]`. No account and no real key
is used. Not here: using the lists (corpus).
"""

from __future__ import annotations

import datetime
import json
import os
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LISTS = Path(__file__).parent / "lists"
FREE = ("MIT", "Apache-2.0", "Apache 2.0", "Apache License", "BSD", "ISC")
SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Source:
    """A published server. In `args` and `env` the word FOLDER stands for an empty scratch folder."""

    name: str
    """Of the server, as people call it in their configuration."""
    package: str
    args: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    registry: str = "npm"
    program: str = ""
    """Name of the command where the package has several."""


SOURCES = (
    Source("everything", "@modelcontextprotocol/server-everything"),
    Source("filesystem", "@modelcontextprotocol/server-filesystem", ("FOLDER",)),
    Source("memory", "@modelcontextprotocol/server-memory"),
    Source("sequential-thinking", "@modelcontextprotocol/server-sequential-thinking"),
    Source("github", "@modelcontextprotocol/server-github", env={"GITHUB_PERSONAL_ACCESS_TOKEN": "none"}),
    Source("gitlab", "@modelcontextprotocol/server-gitlab", env={"GITLAB_PERSONAL_ACCESS_TOKEN": "none"}),
    Source(
        "slack", "@modelcontextprotocol/server-slack", env={"SLACK_BOT_TOKEN": "none", "SLACK_TEAM_ID": "T0"}
    ),
    Source("postgres", "@modelcontextprotocol/server-postgres", ("postgresql://127.0.0.1:1/none",)),
    Source("brave-search", "@modelcontextprotocol/server-brave-search", env={"BRAVE_API_KEY": "none"}),
    Source("google-maps", "@modelcontextprotocol/server-google-maps", env={"GOOGLE_MAPS_API_KEY": "none"}),
    Source("redis", "@modelcontextprotocol/server-redis", ("redis://127.0.0.1:1",)),
    Source("playwright", "@playwright/mcp"),
    Source("chrome-devtools", "chrome-devtools-mcp"),
    Source("context7", "@upstash/context7-mcp"),
    Source("tavily", "tavily-mcp", env={"TAVILY_API_KEY": "none"}),
    Source("exa", "exa-mcp-server", env={"EXA_API_KEY": "none"}),
    Source("firecrawl", "firecrawl-mcp", env={"FIRECRAWL_API_KEY": "none"}),
    Source("notion", "@notionhq/notion-mcp-server", env={"NOTION_TOKEN": "none"}),
    Source("sentry", "@sentry/mcp-server", ("--access-token=none",)),
    Source("supabase", "@supabase/mcp-server-supabase", ("--access-token", "sbp_" + "0" * 40)),
    Source("mongodb", "mongodb-mcp-server", ("--telemetry", "disabled")),
    Source("elasticsearch", "@elastic/mcp-server-elasticsearch", env={"ES_URL": "http://127.0.0.1:1"}),
    Source("kubernetes", "mcp-server-kubernetes"),
    Source("desktop-commander", "@wonderwhy-er/desktop-commander"),
    Source("fetch", "mcp-server-fetch", registry="pypi"),
    Source("git", "mcp-server-git", registry="pypi"),
    Source("time", "mcp-server-time", ("--local-timezone", "UTC"), registry="pypi"),
    Source("sqlite", "mcp-server-sqlite", ("--db-path", "FOLDER/none.db"), registry="pypi"),
    Source("docker", "mcp-server-docker", env={"DOCKER_HOST": "tcp://127.0.0.1:1"}, registry="pypi"),
    Source("duckduckgo", "duckduckgo-mcp-server", registry="pypi"),
    Source("arxiv", "arxiv-mcp-server", ("--storage-path", "FOLDER"), registry="pypi"),
)


def is_free(license_: str) -> bool:
    """Whether what a package names as its license lets its words be copied."""
    return any(word in license_ for word in FREE)


def granted(text: str) -> str:
    """The license that a license file or the section of a README grants; empty when it is not plain."""
    if "licensed under the MIT License" in text or text.startswith("MIT License"):
        return "MIT (as its text says)"
    return ""


def install(source: Source, folder: Path) -> tuple[list[str], str, str]:
    """Install a server below `folder` unless it is there. Returns (command, version, license)."""
    home = folder / source.registry / source.name
    if source.registry == "npm":
        package = home / "node_modules" / source.package / "package.json"
        if not package.exists():
            home.mkdir(parents=True, exist_ok=True)
            words = ("npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(home))
            subprocess.run([*words, source.package], check=True, capture_output=True, cwd=home)
        facts = json.loads(package.read_text())
        programs = facts["bin"]
        file = (
            programs
            if isinstance(programs, str)
            else programs.get(source.program) or next(iter(programs.values()))
        )
        license_ = str(facts.get("license", ""))
        if not is_free(license_):
            texts = sorted((*package.parent.glob("LICENSE*"), *package.parent.glob("README*")))
            license_ = next(filter(None, map(granted, (text.read_text() for text in texts))), license_)
        return ["node", str(package.parent / file)], facts["version"], license_
    python = home / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", source.package], check=True)
    ask = (
        "import sys, importlib.metadata as m; f = m.metadata(sys.argv[1]);"
        "classes = [c.split(' :: ')[-1] for c in f.get_all('Classifier') or () if c.startswith('License')];"
        "print(f['Version']); print(f['License-Expression'] or ' '.join(classes) or (f['License'] or '')[:40]);"
        "print(f.get_payload())"
    )
    words = [str(python), "-c", ask, source.package]
    told = subprocess.run(words, check=True, capture_output=True, text=True).stdout.split("\n")
    license_ = told[1] if is_free(told[1]) else granted("\n".join(told[2:])) or told[1]
    return [str(home / "bin" / (source.program or source.package))], told[0], license_


def tools_of(command: list[str], env: dict[str, str], folder: Path) -> list[Any]:
    """All pages of what the server answers to tools/list. Raises RuntimeError when it answers no list."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), **env},
    )
    alarm = threading.Timer(SECONDS, process.kill)
    alarm.start()
    assert process.stdin is not None and process.stdout is not None

    def send(**message: Any) -> None:
        assert process.stdin is not None
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        process.stdin.flush()

    def ask(number: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
        send(id=number, method=method, params=params)
        assert process.stdout is not None
        for line in process.stdout:
            if not line.startswith("{"):
                continue
            message = json.loads(line)
            if message.get("id") == number and "method" not in message:
                if "result" not in message:
                    raise RuntimeError(str(message.get("error")))
                return dict(message["result"])
            if "id" in message:
                send(id=message["id"], error={"code": -32601, "message": "not offered"})
        raise RuntimeError("it ended without an answer")

    try:
        client = {"name": "hel", "version": "0"}
        ask(0, "initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        send(method="notifications/initialized")
        tools: list[Any] = []
        cursor = None
        for number in range(1, 20):
            page = ask(number, "tools/list", {"cursor": cursor} if cursor else {})
            tools += page["tools"]
            cursor = page.get("nextCursor")
            if not cursor:
                break
        return tools
    finally:
        alarm.cancel()
        process.kill()
        process.wait()


def obtain(source: Source, folder: Path) -> str:
    """Save the list of one server; returns a line about it."""
    command, version, license_ = install(source, folder)
    if not is_free(license_):
        return f"{source.name}: not saved, its license is {license_ or 'unknown'}"
    scratch = folder / "scratch"
    scratch.mkdir(exist_ok=True)

    def filled(text: str) -> str:
        return text.replace("FOLDER", str(scratch))

    env = {key: filled(value) for key, value in source.env.items()}
    tools = tools_of([*command, *map(filled, source.args)], env, scratch)
    runner = "npx -y" if source.registry == "npm" else "uvx"
    facts = {
        "server": source.name,
        "package": source.package,
        "version": version,
        "registry": source.registry,
        "license": license_,
        "obtained": datetime.date.today().isoformat(),
        "how": " ".join([*(f"{key}={value}" for key, value in source.env.items()), runner, source.package])
        + "".join(f" {word}" for word in source.args),
        "tools": tools,
    }
    text = json.dumps(facts, ensure_ascii=False, indent=1).replace(str(scratch), "/folder")
    (LISTS / f"{source.name}.json").write_text(text + "\n")
    return f"{source.name}: {len(tools)} tools"


def main() -> None:
    """Obtain those named on the command line, or all."""
    folder, *names = sys.argv[1:]
    for source in SOURCES:
        if not names or source.name in names:
            try:
                print(obtain(source, Path(folder).resolve()), flush=True)
            except (OSError, RuntimeError, ValueError, KeyError, subprocess.SubprocessError) as error:
                print(f"{source.name}: {type(error).__name__}: {str(error)[:200]}", flush=True)


if __name__ == "__main__":
    main()
