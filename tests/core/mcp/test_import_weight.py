"""Importing the host must stay cheap: what is heavy comes with the first server."""

from __future__ import annotations

import subprocess
import sys

HEAVY = ("mcp", "mcp_types", "pydantic", "anyio", "httpx", "jsonschema", "keyring", "psutil", "textual")


def test_the_host_can_be_imported_without_anything_heavy() -> None:
    code = f"import hel_tui.core.mcp.host, sys; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_private_seams_of_the_sdk_are_where_the_client_expects_them() -> None:
    from mcp.client import session

    made = session.ClientSession(dispatcher=object())  # type: ignore[arg-type]
    assert callable(made._stamp)
    assert made._dispatcher is not None
    assert made._build_capabilities("2025-11-25").model_dump(exclude_none=True) == {}
