"""`python -m hel_tui` is `hel`."""

import sys

from hel_tui.cli import main

if __name__ == "__main__":
    sys.exit(main())
