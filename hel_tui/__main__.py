"""`hel`, and `python -m hel_tui`, which is the same."""

import sys


def main() -> int:
    """Run the command line; returns the exit status. Ctrl+C is heard from the first import on."""
    try:
        from hel_tui.cli import main as run

        return run()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
