"""The program that serves one GGUF file: llama.cpp inside, its OpenAI-compatible server on loopback.

A process of its own, since a fault of the engine ends the process it is in. Takes one line of JSON on stdin
({"path", "key", "window", "name"}), answers with one on stdout ({"address"} or {"problem"}), and ends when
stdin does. The key is in neither its arguments nor its environment. Not here: starting and watching it
(process).
"""

from __future__ import annotations

import json
import os
import sys
import threading
from importlib import import_module
from typing import Any, TextIO

QUIET = 2
"""llama.cpp's verbosity: warnings and errors."""


def main() -> int:
    """Serve until stdin ends."""
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # threads that wait must not keep cores busy
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what the engine prints is no answer
    wanted: dict[str, Any] = json.loads(sys.stdin.readline())
    ready = threading.Event()
    threading.Thread(target=_leave_with_hel, args=(ready,), daemon=True).start()
    try:
        server = _serve(wanted)
    except Exception as error:
        _say(out, problem=f"{type(error).__name__}: {error}")
        return 1
    _say(out, address=server.listening_address)
    ready.wait()
    del server
    return 0


def _serve(wanted: dict[str, Any]) -> Any:
    xllamacpp = import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = wanted["path"]
    params.model_alias = {wanted["name"]}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [wanted["key"]]
    params.n_ctx = wanted["window"]
    params.n_parallel = 1
    params.ui = False
    params.endpoint_slots = False
    params.offline = True
    params.verbosity = QUIET
    return xllamacpp.Server(params)


def _say(out: TextIO, **said: str) -> None:
    out.write(json.dumps(said) + "\n")
    out.flush()


def _leave_with_hel(ready: threading.Event) -> None:
    """When stdin ends, hel is gone or wants no more of it; loading cannot be asked to stop."""
    while sys.stdin.readline():
        pass
    ready.set()
    threading.Event().wait(1.0)
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
