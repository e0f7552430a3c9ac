"""Korean: the server screen and its tabs."""

STRINGS: dict[str, str] = {}
