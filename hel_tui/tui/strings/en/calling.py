"""English: calls by hand."""

STRINGS: dict[str, str] = {}
