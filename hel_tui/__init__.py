"""hel: a terminal agent for people who use and write MCP servers."""

__version__ = "0.1.0"
