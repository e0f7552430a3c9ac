"""What hel's own tools beside the built-ins have in common: they read, change no file and ask no server.

Not here: what they do (loader, searcher).
"""

from __future__ import annotations

from hel_tui.core.vocabulary import Access, Json


class OwnTool:
    """The part of `vocabulary.Tool` that is the same for all of them."""

    server = ""
    identity = ""
    parallel = False
    lacks_sandbox = False
    limit = 0.0
    access: Access = "read"
    claims: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def subject(self, arguments: Json) -> str:  # noqa: ARG002
        """Nothing for a rule to match."""
        return ""

    async def preview(self, arguments: Json) -> str:  # noqa: ARG002
        """It changes no file."""
        return ""
