"""The other official servers: started, listed, and every kind of thing they offer used."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from pathlib import Path

from hel_tui.core.mcp.contents import prompt_messages
from hel_tui.core.protocol import ResourceUpdated
from hel_tui.core.store.files import SessionFiles
from tests.core.mcp.conftest import until
from tests.reference.conftest import Reference, npm_server, python_server


async def test_filesystem(reference: Reference) -> None:
    (reference.folder / "notes.txt").write_text("one\ntwo\n")
    (reference.folder / "dot.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x02\0\0\0\x03")
    program = npm_server("server-filesystem")
    await reference.up(command="node", args=(program, str(reference.folder)))
    assert len(reference.host.catalogue.rows()) == 14
    assert str(reference.folder.resolve()) in await reference.run("list_allowed_directories")
    assert await reference.run("read_text_file", path=str(reference.folder / "notes.txt")) == "one\ntwo\n"
    tree = await reference.call("directory_tree", "ref", path=str(reference.folder))
    assert tree.warnings == () and tree.text.count("notes.txt") == 1
    edits = [{"oldText": "two", "newText": "three"}]
    diff = await reference.run("edit_file", path=str(reference.folder / "notes.txt"), edits=edits)
    assert "+three" in diff
    image = await reference.call("read_media_file", "ref", path=str(reference.folder / "dot.png"))
    assert [(one.width, one.height) for one in image.images] == [(2, 3)]
    outside = await reference.call("read_text_file", "ref", path="/etc/hostname")
    assert outside.failed and "Access denied" in outside.text


async def test_memory(reference: Reference) -> None:
    memory = str(reference.folder / "memory.jsonl")
    await reference.up(
        command="node", args=(npm_server("server-memory"),), env=(("MEMORY_FILE_PATH", memory),)
    )
    await reference.through(lambda connection: connection.list_resources())
    (graph,) = (row for row in reference.host.shelf.resources() if not row.template)
    reference.host.shelf.watch("ref", graph.uri, True)
    await reference.through(lambda connection: connection.watch(graph.uri, True))
    entity = {"name": "hel", "entityType": "program", "observations": ["hosts servers"]}
    created = await reference.call("create_entities", "ref", entities=[entity])
    assert not created.failed and created.warnings == ()
    await until(lambda: ResourceUpdated("ref", graph.uri) in reference.events, "an update of the graph")
    (content,) = await reference.read(graph.uri)
    assert "hosts servers" in content.text
    assert "hosts servers" in await reference.run("search_nodes", query="hel")


async def test_sequential_thinking(reference: Reference) -> None:
    await reference.up(command="node", args=(npm_server("server-sequential-thinking"),))
    thought = {"thought": "first", "nextThoughtNeeded": False, "thoughtNumber": 1, "totalThoughts": 1}
    assert json.loads(await reference.run("sequentialthinking", **thought))["thoughtNumber"] == 1


async def test_time(reference: Reference) -> None:
    await reference.up(command=python_server("mcp-server-time"), args=("--local-timezone", "Asia/Seoul"))
    assert reference.status("ref").protocol == "2026-07-28"
    assert "Asia/Seoul" in await reference.run("get_current_time", timezone="Asia/Seoul")
    wrong = await reference.call("get_current_time", "ref", timezone="Nowhere/Land")
    assert wrong.failed and "Nowhere/Land" in wrong.text


def git_repository(place: Path) -> None:
    """A repository with one commit, whatever git is set to on this machine."""
    names = {f"GIT_{who}_{what}": "a@b.c" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    env = {**os.environ, **names}
    subprocess.run(["git", "init", "-q", str(place)], check=True, env=env)
    commit = ["commit", "-q", "--allow-empty", "-m", "begin"]
    subprocess.run(["git", "-C", str(place), *commit], check=True, env=env)


async def test_git(reference: Reference) -> None:
    repository = reference.folder / "repository"
    await asyncio.to_thread(git_repository, repository)
    await reference.up(command=python_server("mcp-server-git"), args=("--repository", str(repository)))
    assert len(reference.host.catalogue.rows()) >= 12
    assert "begin" in await reference.run("git_log", repo_path=str(repository))
    assert "clean" in await reference.run("git_status", repo_path=str(repository))


async def test_fetch_offers_a_tool_and_a_prompt(reference: Reference) -> None:
    await reference.up(command=python_server("mcp-server-fetch"))
    assert [row.raw for row in reference.host.catalogue.rows()] == ["fetch"]
    await until(lambda: reference.host.shelf.prompts(), "its prompt")
    (prompt,) = reference.host.shelf.prompts()
    assert (prompt.name, [one.name for one in prompt.fields]) == ("fetch", ["url"])
    gone = await reference.call("fetch", "ref", url="http://127.0.0.1:9/")
    assert gone.failed and "127.0.0.1:9" in gone.text


async def test_sqlite(reference: Reference) -> None:
    program = python_server("mcp-server-sqlite", "python-sqlite")
    await reference.up(command=program, args=("--db-path", str(reference.folder / "data.db")))
    assert await reference.run("create_table", query="create table t (n integer)")
    await reference.run("write_query", query="insert into t values (7)")
    assert "7" in await reference.run("read_query", query="select n from t")
    failed = await reference.call("read_query", "ref", query="select nothing")
    assert "nothing" in failed.text
    await reference.through(lambda connection: connection.list_resources())
    await reference.run("append_insight", insight="seven is enough")
    (memo,) = (row for row in reference.host.shelf.resources() if not row.template)
    (content,) = await reference.read(memo.uri)
    assert "seven is enough" in content.text
    await until(lambda: reference.host.shelf.prompts(), "its prompt")
    prompt = await reference.prompt("mcp-demo", topic="ships")
    assert "ships" in prompt_messages(prompt, SessionFiles(reference.folder / "files"))[0].text


async def test_a_server_that_is_started_again_has_the_same_tools(reference: Reference) -> None:
    await reference.up(command="node", args=(npm_server("server-sequential-thinking"),))
    names = [row.public for row in reference.host.catalogue.rows()]
    pid = reference.status("ref").pid
    reference.host.restart("ref")
    await until(lambda: reference.status("ref").phase == "ready" and reference.status("ref").pid != pid)
    assert [row.public for row in reference.host.catalogue.rows()] == names


def test_the_programs_are_the_pinned_ones() -> None:
    package = Path(npm_server("server-everything")).parents[1] / "package.json"
    assert json.loads(package.read_text())["version"] == "2026.8.31"
