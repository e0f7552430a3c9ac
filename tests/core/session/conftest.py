"""What the tests of a session share: a small project, a scripted model, drivers over both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.core.session.authored import Source
from tests.fixtures.models.endpoint import Reply, ScriptedModel
from tests.fixtures.models.strict import complaint
from tests.rig import LIMIT, Driver, options, servers_file


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "config.ini").write_text("port=7000\n")
    return folder


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    """A scripted model; at the end every request it got must be one that a strict provider takes."""
    with ScriptedModel() as endpoint:
        yield endpoint
    for body in endpoint.requests:
        assert not complaint(body["messages"])


@pytest.fixture
def play(project: Path, tmp_path: Path, model: ScriptedModel) -> Callable[..., Driver]:
    """Makes a driver over the scripted model and a server `fix` that echoes and needs no trust.

    `servers` names other fixture servers (see rig.servers_file), `{}` none.
    """

    def made(*replies: Reply, servers: dict[str, Any] | None = None, **more: Any) -> Driver:
        model.replies[:] = replies
        modes = {"fix": "wire:ok"} if servers is None else servers
        named = (servers_file(tmp_path, **modes),) if modes else ()
        given = {"mcp_config": named, "server_wait": LIMIT, **more}
        return Driver(options(project, tmp_path, model.url, **given))

    return made


@pytest.fixture
def source(project: Path) -> Source:
    """The program of a server named `mine`, whose saves are watched."""
    made = Source(project, project)
    made.configure("src/**/*.py")
    return made


@pytest.fixture
def opened(play: Callable[..., Driver], source: Source) -> Callable[[], Driver]:
    """Makes a driver over that server alone, without a model."""
    return lambda: play(model=None, base_url=None, mcp_config=(source.named,))
