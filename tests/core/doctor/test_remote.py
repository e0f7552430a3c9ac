"""The doctor looks at real servers over HTTP as it does at processes: lists, refusals, cancelled requests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hel_tui.core.doctor.examine import examine
from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.protocol import Diagnosis
from tests.core.doctor.test_examine import about, ward
from tests.core.mcp.http.driving import Site


@pytest.fixture
def sites(tmp_path: Path) -> Iterator[list[Site]]:
    """Servers that end with the test."""
    sites: list[Site] = []
    yield sites
    for site in sites:
        site.stop()


async def looked_at(tmp_path: Path, sites: list[Site], mode: str) -> Diagnosis:
    site = Site(mode, tmp_path).start()
    sites.append(site)
    entry = ServerEntry(
        name="ill",
        scope="local",
        file=tmp_path / "mcp.json",
        transport="http",
        definition={},
        url=site.url,
        default_cwd=tmp_path,
    )
    return await examine(entry, ward(tmp_path), lambda _diagnosis: None)


@pytest.mark.parametrize("mode", ["complete", "sse", "stateless"])
async def test_a_well_server_is_looked_at_from_start_to_cancelled_request(tmp_path, sites, mode):
    diagnosis = await looked_at(tmp_path, sites, mode)
    topics = {one.topic for one in diagnosis.findings}
    assert topics >= {"start", "protocol", "lists", "ping", "unknown", "cancel"}
    behaves = [one for topic in ("ping", "unknown", "cancel", "lists") for one in about(diagnosis, topic)]
    assert [one for one in behaves if one.health in ("warning", "error")] == []


async def test_what_is_declared_is_listed_and_a_missing_list_of_templates_is_no_fault(tmp_path, sites):
    found = about(await looked_at(tmp_path, sites, "complete"), "lists")
    told = {one.sentence: one.health for one in found}
    assert told["3 resources"] == told["1 prompt"] == "ok"
    assert [one.health for one in found if "resources/templates/list" in one.sentence] == ["info"]
    other = about(await looked_at(tmp_path, sites, "ok"), "lists")
    assert not [one for one in other if "resources" in one.sentence or "prompts" in one.sentence]


@pytest.mark.parametrize(
    ("mode", "topic", "health", "says"),
    [
        ("declares-too-much", "lists", "error", "prompts/list"),
        ("refuses-strangely", "unknown", "warning", "-32000"),
        ("answers-anything", "unknown", "warning", "does not exist"),
        ("sick-of-cancel", "cancel", "error", "after a request was cancelled"),
    ],
)
async def test_what_is_wrong_over_http_is_found_said_and_mended(tmp_path, sites, mode, topic, health, says):
    diagnosis = await looked_at(tmp_path, sites, mode)
    found = [one for one in about(diagnosis, topic) if one.health == health]
    assert any(says in one.sentence and one.mend for one in found), diagnosis.findings


async def test_the_request_is_really_on_its_way_when_it_is_cancelled(tmp_path, sites):
    await looked_at(tmp_path, sites, "sick-of-cancel")
    (site,) = sites
    assert len(site.received("POST", "tools/list")) == 2
    assert len(site.received("POST", "notifications/cancelled")) == 1
