"""Gemini's own API, generateContent.

https://ai.google.dev/api/generate-content. Not here: the body (wire), the answer (assemble).
"""

from __future__ import annotations

from urllib.parse import quote

from hel_tui.core.models.adapter import Adapter
from hel_tui.core.models.gemini.assemble import GeminiAssembler
from hel_tui.core.models.gemini.wire import body
from hel_tui.core.models.types import ModelInfo


def path_of(info: ModelInfo) -> str:
    """The model stands in the path, with or without the `models/` that its list writes before it."""
    name = info.name if "/" in info.name else f"models/{info.name}"
    return f"/{quote(name)}:streamGenerateContent?alt=sse"


GEMINI = Adapter(path_of, body, lambda new_id, info: GeminiAssembler(new_id, info.provider))
