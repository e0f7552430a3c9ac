"""The doctor looks at real processes, one for each thing that can be wrong, and leaves none behind."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from hel_tui.core.doctor.examine import Ward, examine, summary
from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.protocol import Diagnosis, Finding
from hel_tui.core.store.redact import Redactor
from tests.rig import SERVERS, environment


def entry(tmp_path: Path, mode: str, **more: object) -> ServerEntry:
    return ServerEntry(
        name="ill",
        scope="local",
        file=tmp_path / "mcp.json",
        transport="stdio",
        definition={},
        command=sys.executable,
        args=(str(SERVERS / "ill.py"), mode),
        default_cwd=tmp_path,
        **more,  # type: ignore[arg-type]
    )


def ward(tmp_path: Path, **environ: str) -> Ward:
    redactor = Redactor(())
    return Ward(
        tmp_path, environment(tmp_path, **environ), tmp_path / "state", redactor, redactor.known, redactor.add
    )


async def looked_at(tmp_path: Path, mode: str) -> Diagnosis:
    return await examine(entry(tmp_path, mode), ward(tmp_path), lambda _diagnosis: None)


def about(diagnosis: Diagnosis, topic: str) -> list[Finding]:
    return [one for one in diagnosis.findings if one.topic == topic]


async def test_nothing_is_wrong_with_a_server_that_does_all_it_should(tmp_path):
    diagnosis = await looked_at(tmp_path, "well")
    assert [one for one in diagnosis.findings if one.health in ("warning", "error")] == []
    looked = {one.topic for one in diagnosis.findings}
    assert looked >= {
        *("spawn", "start", "handshake", "lists", "names", "schema", "injection", "annotations"),
        *("ping", "unknown", "cancel", "garbage", "stdout", "stderr", "end", "sigterm", "protocol"),
    }
    assert summary(entry(tmp_path, "well"), diagnosis).health == "ok"


async def test_the_protocol_that_hel_uses_is_said_beside_what_a_handshake_gives(tmp_path):
    both = tmp_path / "both.py"
    both.write_text("from mcp.server import MCPServer\nMCPServer('both').run()\n")
    dual = replace(entry(tmp_path, "well"), args=(str(both),), protocol="auto")
    for one, used in (
        (dual, "2026-07-28 (stateless)"),
        (replace(dual, protocol="handshake"), "(initialize)"),
    ):
        diagnosis = await examine(one, ward(tmp_path), lambda _diagnosis: None)
        (told,) = about(diagnosis, "protocol")
        assert told.sentence.startswith("hel uses protocol ") and told.sentence.endswith(used)
        assert about(diagnosis, "handshake")[0].sentence == "a handshake gives protocol 2025-11-25"
    (told,) = about(await looked_at(tmp_path, "well"), "protocol")
    assert told.sentence.endswith("(initialize)")


@pytest.mark.parametrize(
    ("mode", "topic", "health", "says"),
    [
        ("noisy", "stdout", "error", "listing my tools"),
        ("loud", "stderr", "warning", "500 lines"),
        ("no-ping", "ping", "error", "Method not found"),
        ("falls-over-cancel", "cancel", "error", "exit 9"),
        ("falls-over-cancel-in-flight", "cancel", "error", "exit 9"),
        ("falls-over-garbage", "garbage", "warning", "no JSON"),
        ("answers-anything", "unknown", "warning", "does not exist"),
        ("stays-at-end", "end", "warning", "does not end"),
        ("stays-at-term", "sigterm", "warning", "SIGTERM"),
        ("declares-too-much", "lists", "error", "resources/list"),
        ("nameless", "handshake", "warning", "name and version"),
        ("old", "handshake", "info", "2024-11-05"),
        ("dies", "handshake", "error", "KeyError: 'API_KEY'"),
        ("many", "annotations", "warning", "read-only"),
        ("many", "descriptions", "warning", "no description"),
        ("many", "schema", "error", "no valid JSON Schema"),
        ("many", "definitions", "error", "not an object"),
        ("many", "names", "warning", "A-Z a-z"),
        ("many", "injection", "error", "instructions"),
    ],
)
async def test_what_is_wrong_is_found_said_and_mended(tmp_path, mode, topic, health, says):
    diagnosis = await looked_at(tmp_path, mode)
    found = [one for one in about(diagnosis, topic) if one.health == health]
    assert any(says in one.sentence for one in found), diagnosis.findings
    assert health == "info" or all(one.mend for one in found if says in one.sentence)


async def test_a_bad_place_in_a_schema_is_named_by_its_path(tmp_path):
    diagnosis = await looked_at(tmp_path, "many")
    found = [one for one in about(diagnosis, "schema") if one.health == "error"]
    assert [(one.tool, one.path) for one in found] == [("bad schema!", "properties.a.type")]


async def test_what_only_some_providers_refuse_is_said_with_their_names(tmp_path):
    diagnosis = await looked_at(tmp_path, "many")
    told = [one for one in about(diagnosis, "schema") if "gemini" in one.profile]
    assert told and all(one.tool and one.path for one in told)


async def test_a_program_that_is_not_there_is_told_with_where_it_was_looked_for(tmp_path):
    gone = replace(entry(tmp_path, "well"), command="no-such-program")
    diagnosis = await examine(gone, ward(tmp_path), lambda _diagnosis: None)
    (finding,) = diagnosis.findings
    assert (
        finding.topic == "find" and "no-such-program" in finding.sentence and "Searched" in finding.sentence
    )


async def test_a_variable_without_a_value_is_told_before_anything_runs(tmp_path):
    unset = entry(tmp_path, "well", env=(("TOKEN", "${NOT_SET_HERE}"),))
    diagnosis = await examine(unset, ward(tmp_path), lambda _diagnosis: None)
    (finding,) = diagnosis.findings
    assert finding.topic == "entry" and "NOT_SET_HERE" in finding.sentence


async def test_no_process_is_left_however_ill_the_server_is(tmp_path):
    for mode in ("stays-at-end", "stays-at-term", "falls-over-cancel"):
        await looked_at(tmp_path, mode)
    mine = psutil.Process(os.getpid()).children(recursive=True)
    assert not [
        child for child in mine if str(tmp_path) in " ".join(_cmdline(child)) or "ill.py" in _cmdline(child)
    ]


def _cmdline(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


async def test_a_secret_of_the_entry_is_in_no_finding(tmp_path):
    secret = "sk-live-0123456789abcdefghijklmn"
    redactor = Redactor((secret,))
    told = entry(tmp_path, "well", env=(("TOKEN", secret),))
    told = replace(
        told, args=("-c", f"import sys; sys.stderr.write('{secret}'); print('{secret}'); sys.exit(1)")
    )
    looking = replace(ward(tmp_path), mask=redactor, known=redactor.known, hide=redactor.add)
    diagnosis = await examine(told, looking, lambda _diagnosis: None)
    assert secret not in repr(diagnosis)


async def test_no_finding_about_definitions_shows_a_secret_or_a_part_of_one(tmp_path):
    secret = "Zq7wLp2xVb9nRt4k"
    redactor = Redactor((secret,))
    told = entry(tmp_path, "tells", env=(("SECRET", secret),))
    looking = replace(ward(tmp_path), mask=redactor, known=redactor.known, hide=redactor.add)
    heard: list[Diagnosis] = []
    diagnosis = await examine(told, looking, heard.append)
    assert {one.topic for one in diagnosis.findings if one.health == "error"} >= {"schema"}
    assert about(diagnosis, "annotations") and about(diagnosis, "names")
    shown = repr(diagnosis) + repr(heard)
    assert not [part for at in range(len(secret) - 5) if (part := secret[at : at + 6]) in shown]


async def test_findings_are_told_as_they_come(tmp_path):
    heard: list[Diagnosis] = []
    await examine(entry(tmp_path, "well"), ward(tmp_path), heard.append)
    counts = [len(one.findings) for one in heard]
    assert counts == sorted(counts) and len(set(counts)) > 5
    assert all(one.running for one in heard[:-1]) and not heard[-1].running
