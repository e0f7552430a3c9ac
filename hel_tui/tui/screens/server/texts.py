"""The texts of the server screen's tabs. Pure functions from what was read to lines.

Not here: what choosing a line does (the tabs), lists (their widgets).
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from hel_tui.core import protocol as p
from hel_tui.tui import keymap
from hel_tui.tui.dialogs.pane import FRAME, LABEL, diff_lines, foreign, framed, one_line
from hel_tui.tui.safe import ForeignText
from hel_tui.tui.screens.server.figures import ago, size, span, sparkline
from hel_tui.tui.screens.sheets import failure_lines
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.lines import Line, Part, column, pad
from hel_tui.tui.widgets.log import stamp
from hel_tui.tui.widgets.servers import GLYPHS
from hel_tui.tui.widgets.sheet import Choice, SheetLine
from hel_tui.tui.widgets.tools import cost

HEALTH: dict[p.Health, Part] = {
    "ok": ("✓", "ok"),
    "info": ("·", "muted"),
    "warning": ("▲", "warn"),
    "error": ("✗", "bad"),
}
_LABEL = 16


def fact(key: str, value: str, style: str = "") -> Line:
    """A labelled value; foreign text in it is made safe."""
    return [(column(t(key), _LABEL), LABEL), (foreign(ForeignText(value)), style)]


def heading(key: str, **values: object) -> list[Line]:
    return [[], [(t(key, **values), "strong")]]


# ------------------------------------------------------------------ overview


def overview(
    server: p.ServerChanged,
    inside: p.ServerInside | None,
    failure: p.ServerFailure | None,
    steps: Sequence[p.LoginStep] = (),
) -> list[SheetLine]:
    """State with its reason, the failure card, what was negotiated, figures, what it may ask."""
    glyph, style = GLYPHS[server.phase]
    state: list[Part] = [(f"{glyph} {t(f'phase.{server.phase}')}", style)]
    if server.since:
        state.append((f"  {t('inside.for', time=ago(server.since))}", "muted"))
    lines: list[SheetLine] = [state]
    if server.reason:
        lines += framed(ForeignText(server.reason))
    if failure is not None:
        lines += [*failure_lines(failure), failure_keys(server.phase)]
    if steps:
        lines += heading("server.login")
        lines += [[(FRAME, "frame"), (one_line(ForeignText(step.text)), "")] for step in steps]
    lines += heading("inside.connection")
    lines += _facts(server, inside)
    if inside is not None:
        lines += _switches(inside)
        if "logging" in server.offers or inside.era == "stateless":
            level = inside.log_level or t("inside.log_level_none")
            lines.append(
                Choice(
                    "level:next", [("  ", ""), (pad(t("inside.log_level"), 18), ""), (f"‹{level}›", "key")]
                )
            )
        lines += [*_matrix(inside), *_methods(inside)]
        if inside.instructions:
            lines += [*heading("inside.instructions"), *framed(ForeignText(inside.instructions))]
    return lines


def failure_keys(phase: p.Phase) -> Line:
    """The keys that help after a failure."""
    actions = ["restart", "log", "edit", "switch"]
    if phase == "needs login":
        actions = ["login", *actions]
    parts: list[Part] = []
    for action in actions:
        gap: list[Part] = [(" · ", "frame")] if parts else []
        parts += [
            *gap,
            (keymap.label(f"server.{action}"), "key"),
            (f" {t(f'short.server.{action}')}", "muted"),
        ]
    return parts


def _facts(server: p.ServerChanged, inside: p.ServerInside | None) -> list[Line]:
    name = version = era = ""
    if inside is not None:
        name, version, era = inside.server_name, inside.server_version, inside.era
    facts = [
        ("inside.calls_itself", f"{name} {version}".strip()),
        ("server.protocol", f"{server.protocol} ({t(f'inside.era.{era}')})" if era else server.protocol),
        ("server.transport", server.transport),
        ("server.scope", server.scope),
        ("server.pid", str(server.pid or "")),
        ("server.restarts", str(server.restarts or "")),
        ("server.noise", str(server.noise or "")),
        ("server.dropped", str(server.dropped or "")),
    ]
    if inside is not None:
        tokens = t("inside.tokens", loaded=cost(inside.loaded_tokens), all=cost(inside.tokens))
        facts += [
            ("inside.tokens_of", tokens if inside.tokens else ""),
            ("inside.breaker", inside.breaker),
            ("inside.sessions", str(inside.sessions or "")),
        ]
    return [fact(key, value) for key, value in facts if value]


def _switches(inside: p.ServerInside) -> list[SheetLine]:
    """What the server may ask of hel: each can be turned here."""
    if not inside.switches:
        return []
    notes = {cap.name: cap.note for cap in inside.capabilities if cap.side == "hel" and cap.note}
    lines: list[SheetLine] = list(heading("inside.may_ask"))
    for what, on in inside.switches:
        parts: list[Part] = [
            ("  [x] " if on else "  [ ] ", "ok" if on else "muted"),
            (column(t(f"inside.switch.{what}"), 14), ""),
            (t("inside.allowed") if on else t("inside.refused"), "muted"),
        ]
        if note := notes.get(what):
            parts.append((f" · {note}", "warn"))
        lines.append(Choice(f"switch:{what}", parts))
    return lines


def _matrix(inside: p.ServerInside) -> list[Line]:
    """What both sides declared, side by side."""
    sides = {side: [cap for cap in inside.capabilities if cap.side == side] for side in ("server", "hel")}
    if not sides["server"]:
        return []
    lines: list[Line] = [*heading("inside.capabilities")]
    head: list[Part] = [
        (pad(f"  {t('inside.side.server')}", 36), "muted"),
        (f"  {t('inside.side.hel')}", "muted"),
    ]
    lines.append(head)
    for row in range(max(map(len, sides.values()))):
        parts: list[Part] = []
        for side in ("server", "hel"):
            caps = sides[side]
            if row >= len(caps):
                parts.append((" " * 36, ""))
                continue
            cap = caps[row]
            sign, style = ("✓", "ok") if cap.declared else ("–", "muted")
            name = one_line(ForeignText(cap.name))
            parts += [(f"  {sign} ", style), (pad(name, 32), "" if cap.declared else "muted")]
        lines.append(parts)
    return lines


def _methods(inside: p.ServerInside) -> list[Line]:
    if not inside.methods:
        return []
    head = (
        f"  {pad(t('inside.method'), 28)}{t('inside.count'):>8}{t('inside.errors'):>8}"
        f"{t('inside.median'):>10}{t('inside.p95'):>10}"
    )
    lines: list[Line] = [*heading("inside.requests"), [(head, "muted")]]
    for one in inside.methods:
        arrow = "→" if one.direction == "out" else "←"
        lines.append(
            [
                (f"{arrow} ", "accent" if one.direction == "out" else "warn"),
                (pad(one_line(ForeignText(one.method)), 28), ""),
                (f"{one.count:>8,}", ""),
                (f"{one.errors:>8,}", "bad" if one.errors else "muted"),
                (f"{span(one.median):>10}{span(one.p95):>10}  ", ""),
                (sparkline(one.recent), "accent"),
            ]
        )
    return lines


# ------------------------------------------------------------------- process


def processes(server: p.ServerChanged, rows: Sequence[p.ProcessRow], restarts: int) -> list[SheetLine]:
    """The tree of what the server runs as, and what it left behind."""
    if server.transport != "stdio":
        return [[(t("process.remote"), "muted")]]
    if not rows:
        return [[(t("process.looking" if server.pid else "process.none"), "muted")]]
    live = [row for row in rows if not row.leftover]
    left = [row for row in rows if row.leftover]
    head = f"{t('process.pid'):>8}  {t('process.cpu'):>6} {t('process.memory'):>8} "
    head += (
        f"{t('process.files'):>5} {t('process.threads'):>4} {t('process.uptime'):>10}  {t('process.command')}"
    )
    lines: list[SheetLine] = [[(head, "muted")]]
    lines += [_process(row) for row in live]
    if live:
        total = sum(row.memory for row in live)
        lines += [
            [],
            [
                (t("process.sum", n=len(live), memory=size(total), restarts=restarts), "muted"),
            ],
        ]
    if left:
        lines += heading("process.left")
        lines += [Choice(f"end:{row.pid}", _process(row)) for row in left]
        lines.append([(t("process.end", key="Enter"), "muted")])
    return lines


def _process(row: p.ProcessRow) -> Line:
    files = str(row.files) if row.files >= 0 else "–"
    tree = "  " * max(row.depth - 1, 0) + ("└ " if row.depth else "")
    return [
        (f"{row.pid:>8}  ", "strong"),
        (f"{row.cpu:>5.0f}% {size(row.memory):>8} {files:>5} {row.threads:>4} {ago(row.since):>10}  ", ""),
        (tree, "frame"),
        (one_line(ForeignText(row.command)), ""),
    ]


# -------------------------------------------------------------------- config


def config(entry: p.EntryDetail | None) -> list[SheetLine]:
    """The entry, where it is from, what its variables expand to."""
    if entry is None:
        return [[(t("config.none"), "muted")]]
    facts = [
        ("server.scope", entry.scope),
        ("config.file", entry.file),
        ("config.trust", entry.trust),
        ("failure.command", entry.command_line),
        ("failure.resolved", entry.resolved),
        ("failure.cwd", entry.cwd),
        ("config.watch", ", ".join(entry.watch)),
        ("config.hash", entry.sha256[:16]),
    ]
    lines: list[SheetLine] = [fact(key, value) for key, value in facts if value]
    lines += [fact("config.shadows", path, "warn") for path in entry.shadows]
    lines += [[("▲ ", "warn"), (one_line(ForeignText(problem)), "warn")] for problem in entry.problems]
    if entry.variables:
        lines += heading("config.variables")
        for one in entry.variables:
            value = foreign(ForeignText(one.value)) if one.source != "unset" else t("config.unset")
            lines.append(
                [
                    ("  ", ""),
                    (pad(one_line(ForeignText(one.name)), 24), "key"),
                    (pad(value, 30), "bad" if one.source == "unset" else ""),
                    (f"{t(f'config.source.{one.source}')} · {one_line(ForeignText(one.where))}", "muted"),
                ]
            )
    if entry.login is not None:
        lines += _login(entry.login)
    lines += [*heading("config.entry"), *framed(ForeignText(entry.text))]
    if entry.env_names:
        lines += [*heading("failure.env"), [(foreign(ForeignText(", ".join(entry.env_names))), "")]]
    return lines


def _login(login: p.LoginDetail) -> list[Line]:
    """What the login gave, and until when; never a token."""
    asked = [scope for scope in login.requested if scope not in login.scopes]
    facts = [
        ("login.issuer", login.issuer),
        ("login.client", f"{login.client} · {t(f'login.how.{login.how}')}"),
        ("login.resource", login.resource),
        (
            "login.granted",
            " ".join(login.scopes) if login.scopes or not login.has_token else t("login.unsaid"),
        ),
        ("login.refused", " ".join(asked) if login.has_token else ""),
        ("login.since", when(login.obtained) if login.has_token else t("login.no_token")),
        (
            "login.until",
            when(login.expires) if login.expires else t("login.unsaid") if login.has_token else "",
        ),
        (
            "login.renewal",
            t("login.renewable" if login.renewable else "login.again") if login.has_token else "",
        ),
    ]
    return [*heading("login.heading"), *(fact(key, value) for key, value in facts if value)]


# -------------------------------------------------------------------- health


def health(diagnosis: p.Diagnosis | None) -> list[SheetLine]:
    """What the doctor found, the worst first."""
    key = keymap.label("server.diagnose")
    if diagnosis is None:
        return [[(t("health.not_yet", key=key), "muted")]]
    order = {"error": 0, "warning": 1, "info": 2, "ok": 3}
    found = sorted(diagnosis.findings, key=lambda one: order[one.health])
    bad = sum(one.health == "error" for one in found)
    doubtful = sum(one.health == "warning" for one in found)
    state = t("health.running") if diagnosis.running else t("health.done", time=span(diagnosis.seconds))
    summary = t("health.summary", errors=bad, warnings=doubtful, of=len(found))
    lines: list[SheetLine] = [
        [(f"{state} · {summary}", "strong")],
        [(t("health.again", key=key), "muted")],
        [],
    ]
    for one in found:
        sign, style = HEALTH[one.health]
        more = t("health.more", n=len(one.also)) if one.also else ""
        where = " · ".join(part for part in (one.tool, one.path, more, one.profile) if part)
        lines.append(
            [
                (f"{sign} ", style),
                (pad(t_topic(one.topic), 14), LABEL),
                (one_line(ForeignText(one.sentence)), "" if one.health != "ok" else "muted"),
            ]
        )
        if where:
            lines.append([(" " * 16, ""), (one_line(ForeignText(where)), "accent")])
        if one.mend:
            lines.append([(" " * 16, ""), ("→ ", "ok"), (one_line(ForeignText(one.mend)), "")])
    return lines


def t_topic(topic: str) -> str:
    """What was looked at, as it is called everywhere: the words of the reports."""
    return one_line(ForeignText(topic))


# --------------------------------------------------------------------- cards


def change_lines(detail: p.ListChangeDetail) -> list[Line]:
    """A change of a list of tools: each tool, whether the model is touched, and the difference."""
    signs = {"added": ("+", "ok"), "removed": ("−", "bad"), "changed": ("~", "warn")}
    lines: list[Line] = []
    for one in detail.tools:
        sign, style = signs[one.kind]
        words = [t("change.loaded")] if one.loaded else []
        words += [t("change.pinned")] if one.pinned else []
        words += [t("change.approvals", n=one.approvals)] if one.approvals else []
        told: list[Part] = [(f"{sign} ", style), (one_line(ForeignText(one.tool)), "strong")]
        if words:
            told.append((f"  {' · '.join(words)}", "warn"))
        lines.append(told)
        lines += diff_lines(ForeignText(one.diff))
    return lines


def when(seconds: float) -> str:
    """Date and time of day, or only the time for today."""
    today = time.strftime("%Y-%m-%d") == time.strftime("%Y-%m-%d", time.localtime(seconds))
    return stamp(seconds) if today else time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
