"""How large something is, in words. Not here: measuring it."""

from __future__ import annotations


def size_text(size: int) -> str:
    """812 B, 12 kB, 1.0 MB; empty for a size that is not known."""
    if size <= 0:
        return ""
    if size >= 1_000_000:
        return f"{size / 1_000_000:.1f} MB"
    return f"{size / 1000:.1f} kB" if size >= 1_000 else f"{size} B"
