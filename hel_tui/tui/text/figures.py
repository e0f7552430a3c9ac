"""Numbers about models as a person reads them: windows, prices. Pure functions."""

from __future__ import annotations


def short_tokens(count: int) -> str:
    """128k, 1M; empty for 0."""
    if 0 < count < 1_000_000 and count % 1_024 == 0 and count % 1_000:  # 32,768 is called 32k
        return f"{count // 1_024}k"
    if count >= 1_000_000:
        return f"{count / 1_000_000:.1f}".removesuffix(".0") + "M"
    return f"{round(count / 1_000)}k" if count >= 1_000 else str(count or "")


def dollars(price: float) -> str:
    """A price without needless digits: 0.27, 1.10, 15, 0.0028."""
    cents = f"{price:,.2f}"
    if abs(float(cents.replace(",", "")) - price) < 1e-9:
        return cents.removesuffix(".00")
    return f"{price:.4f}".rstrip("0")
