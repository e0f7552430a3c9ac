"""Saving a call as a check: a name, how the result is compared, and what in it does not count.

Not here: writing and running checks (core).
"""

from __future__ import annotations

import re
from collections.abc import Collection

from hel_tui.core import protocol as p
from hel_tui.tui.dialogs.arguments import ArgumentsDialog
from hel_tui.tui.strings import t

KINDS: tuple[p.CheckKind, ...] = ("exact", "subset", "schema", "snapshot")


def check_name(tool: str, taken: Collection[str]) -> str:
    """A name that no check has yet, made from the tool's."""
    base = re.sub(r"[^A-Za-z0-9_-]+", "-", tool).strip("-")[:40] or "check"
    name, number = base, 1
    while name in taken:
        number += 1
        name = f"{base}-{number}"
    return name


def check_dialog(tool: str, taken: Collection[str]) -> ArgumentsDialog:
    """Asks for the name, the kind and the masks of a check."""
    fields = (
        p.FormField("name", "text", t("check.name"), required=True, default=check_name(tool, taken)),
        p.FormField(
            "kind",
            "choice",
            t("check.kind"),
            required=True,
            default="exact",
            options=tuple((kind, t(f"check.{kind}")) for kind in KINDS),
        ),
        p.FormField("masks", "text", t("check.masks"), t("check.masks_are")),
    )
    return ArgumentsDialog(t("check.title"), "", fields)


def as_check(call_id: str, answer: p.Answer | None) -> p.SaveCheck | None:
    """What the dialog came to; None when it was left."""
    if not isinstance(answer, p.FormAnswer) or answer.action != "accept":
        return None
    given = dict(answer.content)
    masks = tuple(line for line in str(given.get("masks", "")).splitlines() if line.strip())
    kind: p.CheckKind = next((kind for kind in KINDS if kind == given.get("kind")), "exact")
    return p.SaveCheck(call_id, str(given.get("name", "")).strip(), kind, masks)
