"""Korean: calls by hand."""

STRINGS: dict[str, str] = {}
