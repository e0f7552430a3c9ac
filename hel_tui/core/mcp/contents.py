"""Resources that were read and prompts that were fetched: for a screen, and for a message to the model.

Tolerant like everything that reads servers. All of it may write files and take time: call it beside the loop.
Not here: asking a server (connection), results of tools (results).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hel_tui.core.counts import counted
from hel_tui.core.images import for_a_model
from hel_tui.core.mcp.binary import UNKNOWN, ResultFiles, keep, plain_mime, text_in
from hel_tui.core.mcp.content import MOST_PARTS, Taken, blocks_of, one, read_block
from hel_tui.core.mcp.results import resource_envelope
from hel_tui.core.protocol import ResourceContent
from hel_tui.core.vocabulary import AssistantMessage, Image, Json, UserMessage
from hel_tui.foreign import for_model

EMPTY = "(no content)"


def contents_of(result: Json, files: ResultFiles) -> tuple[ResourceContent, ...]:
    """Return the contents in the raw result of `resources/read`. Binary ones are saved; one that cannot be
    used has a marker as its text. Texts are as the server sent them.
    """
    listed = blocks_of(result.get("contents"))
    read = tuple(_content(item, files) for item in listed[:MOST_PARTS])
    if len(listed) <= MOST_PARTS:
        return read
    more = counted(len(listed) - MOST_PARTS, "further content")
    return (*read, _text("", "text/plain", f"[{more}, left out]"))


def _content(item: Any, files: ResultFiles) -> ResourceContent:
    if not isinstance(item, dict):
        return _text("", "text/plain", item if isinstance(item, str) else "[a content that is no object]")
    uri, blob, text = one(item.get("uri"), 2_000), item.get("blob"), item.get("text")
    mime = plain_mime(item.get("mimeType"))
    if not isinstance(text, str):
        text = text_in(mime, blob)
    if text is not None:
        return _text(uri, "text/plain" if mime == UNKNOWN else mime, text)
    if blob is None:
        return _text(uri, mime, "[without content]")
    kept = keep("resource", mime, blob, uri or "resource", files, uri)
    if kept.path is None:
        return ResourceContent(uri, kept.mime, text=kept.marker, size=kept.size, measure=kept.measure)
    return ResourceContent(uri, kept.mime, size=kept.size, measure=kept.measure, saved=str(kept.path))


def _text(uri: str, mime: str, text: str) -> ResourceContent:
    return ResourceContent(uri, mime, text=text, size=len(text.encode("utf-8", "surrogatepass")))


def attachment_text(
    server: str, uri: str, contents: tuple[ResourceContent, ...], files: ResultFiles
) -> tuple[str, tuple[Image, ...], bool]:
    """Return what joins a message of the person: the resource inside its envelope, its images, and whether
    text of it is left out.

    Text above the limit of a result is saved and shown in part.
    """
    parts: list[str] = []
    images: list[Image] = []
    for content in contents:
        name = f"{content.uri or uri}, {content.mime}"
        if not content.saved:
            parts.append(f"[resource {name}]\n{content.text}" if len(contents) > 1 else content.text)
            continue
        extent = content.measure or f"{content.size:,} bytes"
        parts.append(f"[resource {name} {extent}, saved: {content.saved}]")
        if content.measure and (image := _image(Path(content.saved))) is not None:
            images.append(image)
    text = for_model("\n".join(parts)) or EMPTY
    spilled = files.spill(text, hint=uri)
    return resource_envelope(server, uri, spilled.text), tuple(images), spilled.text != text


def _image(path: Path) -> Image | None:
    try:
        image = for_a_model(path.read_bytes(), path)
    except OSError:
        return None
    return image if isinstance(image, Image) else None


def prompt_messages(
    result: Json, files: ResultFiles, server: str = ""
) -> tuple[UserMessage | AssistantMessage, ...]:
    """Return the messages in the raw result of `prompts/get`, in order; those without content are left out.

    Text is the prompt the person chose; resources in it are framed as data of `server`.
    """
    messages: list[UserMessage | AssistantMessage] = []
    for item in blocks_of(result.get("messages")):
        if not isinstance(item, dict):
            continue
        taken = Taken(server or "prompt")
        blocks = blocks_of(item.get("content"))
        parts = [_prompt_part(block, files, taken, server) for block in blocks]
        text = "\n".join(part for part in parts if part)
        if not text.strip():
            continue
        if item.get("role") == "assistant":
            messages.append(AssistantMessage(text))
        else:
            messages.append(UserMessage(text, images=tuple(taken.images)))
    return tuple(messages)


def _prompt_part(block: Any, files: ResultFiles, taken: Taken, server: str) -> str:
    text = for_model(read_block(block, files, taken).for_model)
    if not text:
        return ""
    shown = files.spill(text, hint=f"{taken.hint}-prompt").text
    if isinstance(block, dict) and block.get("type") == "resource":
        resource = block.get("resource")
        uri = one(resource.get("uri")) if isinstance(resource, dict) else ""
        return resource_envelope(server, uri, shown)
    return shown
