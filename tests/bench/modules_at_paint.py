"""Run `hel DIR` and write the modules that were imported when the core was started (after the first paint).

python modules_at_paint.py FILE DIR
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main(file: Path, folder: str) -> int:
    from hel_tui.core.runtime import Runtime

    begin = Runtime.start

    def start(runtime: Runtime) -> None:
        file.write_text(json.dumps(sorted(sys.modules)))
        begin(runtime)

    Runtime.start = start  # type: ignore[method-assign]
    from hel_tui.cli import main

    return main([folder])


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2]))
