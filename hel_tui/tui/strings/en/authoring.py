"""English: checks, author mode, diagnoses."""

STRINGS: dict[str, str] = {}
