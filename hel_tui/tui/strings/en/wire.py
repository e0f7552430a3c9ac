"""English: logs and wires."""

STRINGS: dict[str, str] = {}
