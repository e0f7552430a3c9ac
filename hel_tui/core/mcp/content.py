"""Content blocks (specification, server features: text, image, audio, resource, link) as text and images.

Tolerant of every shape: a block is never lost for being odd. Nothing is cleaned here, so that the caller
cleans once. Not here: what a whole result is (results), resources that were read (contents).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hel_tui.core.mcp.binary import UNKNOWN, Kept, ResultFiles, keep, plain_mime, text_in
from hel_tui.core.mcp.messages import kind_of
from hel_tui.core.mcp.structured import without_base64
from hel_tui.core.vocabulary import Image, Json

_NAME = 500
"""Characters of a name or URI that are shown."""
_DESCRIPTION = 2_000
MOST_PARTS = 100
"""Binary parts of one result that are saved."""
TOO_MANY = f"[a further binary part, not saved: {MOST_PARTS} are the limit]"


@dataclass(slots=True)
class Taken:
    """What came out of blocks beside text, in order."""

    hint: str
    """For names of files that have no better one."""
    saved: list[Path] = field(default_factory=list)
    images: list[Image] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def is_full(self) -> bool:
        """Whether no more files are to be made of one result."""
        return len(self.saved) >= MOST_PARTS

    def take(self, kept: Kept, *, for_model: bool) -> None:
        """Note what a binary part left behind."""
        if kept.path is not None:
            self.saved.append(kept.path)
        if kept.image is not None and for_model:
            self.images.append(kept.image)
        if kept.warning and kept.warning not in self.warnings:
            self.warnings.append(kept.warning)


@dataclass(frozen=True, slots=True)
class Piece:
    """One block as text: for the person, and for the model where that is something else."""

    text: str
    told: str | None = None

    @property
    def for_model(self) -> str:
        return self.text if self.told is None else self.told


def blocks_of(content: Any) -> list[Any]:
    """Return the blocks in a `content` of any shape."""
    if isinstance(content, list):
        return content
    return [] if content is None else [content]


def read_block(block: Any, files: ResultFiles, taken: Taken) -> Piece:
    """Return one block as text; what is binary is saved and leaves a marker."""
    if isinstance(block, str):
        return Piece(block)
    if not isinstance(block, dict):
        return Piece(f"[a content block that is {kind_of(block)}: {_short(block)}]")
    for_model = not _is_for_the_user_alone(block)
    text = _text_of(block, files, taken, for_model=for_model)
    return Piece(text) if for_model or not text else Piece(text, _withheld(block, text))


def _text_of(block: Json, files: ResultFiles, taken: Taken, *, for_model: bool) -> str:
    kind = block.get("type")
    if kind == "text" or (kind is None and isinstance(block.get("text"), str)):
        text = block.get("text")
        return text if isinstance(text, str) else _short(text) if text is not None else ""
    if kind in ("image", "audio"):
        if taken.is_full:
            return TOO_MANY
        kept = keep(str(kind), block.get("mimeType"), block.get("data"), taken.hint, files)
        taken.take(kept, for_model=for_model)
        return kept.marker
    if kind == "resource_link":
        return _link(block)
    if kind == "resource":
        return _resource(block.get("resource"), files, taken, for_model=for_model)
    return f"[content of an unknown kind {_short(kind)}: {_short(without_base64(block))}]"


def _link(block: Json) -> str:
    """`name <uri> (type, size): title. description`. It is not fetched."""
    size = block.get("size")
    facts = [
        mime if (mime := plain_mime(block.get("mimeType"))) != UNKNOWN else "",
        f"{size:,} bytes" if isinstance(size, int) and not isinstance(size, bool) and size >= 0 else "",
    ]
    facts = [fact for fact in facts if fact]
    name, title = one(block.get("name")), one(block.get("title"))
    words = [title if title != name else "", one(block.get("description"), _DESCRIPTION)]
    words = [word for word in words if word]
    link = f"{name or title or 'resource'} <{one(block.get('uri'))}>"
    return link + (f" ({', '.join(facts)})" if facts else "") + (f": {'. '.join(words)}" if words else "")


def _resource(resource: Any, files: ResultFiles, taken: Taken, *, for_model: bool) -> str:
    if not isinstance(resource, dict):
        return "[an embedded resource without content]"
    uri, mime, blob = one(resource.get("uri")), plain_mime(resource.get("mimeType")), resource.get("blob")
    text = resource.get("text")
    if not isinstance(text, str):
        text = text_in(mime, blob)
    if text is not None:
        kind = f", {mime}" if mime not in (UNKNOWN, "text/plain") else ""
        return f"[resource {uri or 'without a URI'}{kind}]\n{text}" if uri or kind else text
    if blob is None:
        return f"[resource {uri}, without content]"
    if taken.is_full:
        return TOO_MANY
    kept = keep("resource", mime, blob, uri or taken.hint, files, uri)
    taken.take(kept, for_model=for_model)
    return kept.marker


def _is_for_the_user_alone(block: Json) -> bool:
    """Specification, server features, annotations: whom a block is meant for."""
    resource = block.get("resource")
    inner = resource.get("annotations") if isinstance(resource, dict) else None
    return any(
        isinstance(hints, dict) and hints.get("audience") in (["user"], "user")
        for hints in (block.get("annotations"), inner)
    )


def _withheld(block: Json, text: str) -> str:
    kind = one(block.get("type"), 40) or "content"
    extent = f", {len(text):,} characters" if kind in ("text", "content") else ""
    return f"[{kind} meant for the user alone{extent}: shown to them only]"


def one(value: Any, most: int = _NAME) -> str:
    """Return a foreign name on one line, cut; "" when it is no text."""
    if not isinstance(value, str):
        return ""
    text = " ".join(value[: most * 4].split())
    return text if len(text) <= most else text[: most - 1] + "…"


def _short(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)[:500]
