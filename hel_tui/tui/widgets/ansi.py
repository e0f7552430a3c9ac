"""Colours that a program wrote for a terminal (SGR sequences), as colours of the theme.

The sixteen named ones become roles of the theme, so that they can be read in every theme; others are moved
towards the text's own colour until they can. A background is shown as reversed text. Everything else that
steers a terminal is neutralised by `clean`. Not here: other foreign text (foreign).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rich.color import Color as RichColor
from rich.color import ColorSystem
from rich.style import Style
from textual.color import Color

from hel_tui.core.values import dataclass
from hel_tui.foreign import COLOURS
from hel_tui.tui.safe import clean
from hel_tui.tui.widgets.lines import Part

PREFIX = "sgr "
"""Style names of parts that begin with this are made by `style`."""
READABLE = 4.5
"""Contrast that a colour of its own has at least (WCAG 2.2, 1.4.3)."""
_ROLES = ("muted", "bad", "ok", "warn", "blue", "magenta", "accent", "")
_CUBE = (0, 95, 135, 175, 215, 255)
_ON = {1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "reverse", 9: "strike", 21: "underline"}
_OFF = {22: ("bold", "dim"), 23: ("italic",), 24: ("underline",), 27: ("reverse",), 29: ("strike",)}


@dataclass(frozen=True, slots=True)
class _Pen:
    """How text is written now. Colours: empty, a number below 16, or #rrggbb; in a name also @style."""

    flags: frozenset[str] = frozenset()
    ink: str = ""
    ground: str = ""

    def name(self, base: str) -> str:
        """The style name for text in this pen; what it leaves open is as in style `base`."""
        if not self.flags and not self.ink and not self.ground:
            return base
        ink = self.ink or (f"@{base}" if base else "-")
        return f"{PREFIX}{ink} {self.ground or '-'} {' '.join(sorted(self.flags))}".rstrip()


def parts(text: str, base: str = "") -> list[Part]:
    """A line of foreign text as clean parts on one line; without colours of its own in style `base`."""
    if "\x1b" not in text and "\x9b" not in text:
        return [(clean(text, newlines=False), base)]
    found: list[Part] = []
    pen, at = _Pen(), 0
    for match in COLOURS.finditer(text):
        if match.start() > at:
            found.append((clean(text[at : match.start()], newlines=False), pen.name(base)))
        pen, at = _changed(pen, match[1]), match.end()
    found.append((clean(text[at:], newlines=False), pen.name(base)))
    return [part for part in found if part[0]]


def _changed(pen: _Pen, codes: str) -> _Pen:
    """The pen after one sequence (ECMA-48 8.3.117, and the extensions for 256 and all colours)."""
    flags, ink, ground = set(pen.flags), pen.ink, pen.ground
    numbers = iter(_numbers(codes))
    for code in numbers:
        if code == 0:
            flags, ink, ground = set(), "", ""
        elif code in _ON:
            flags.add(_ON[code])
        elif code in _OFF:
            flags.difference_update(_OFF[code])
        elif 30 <= code <= 37 or 90 <= code <= 97:
            ink = str(code - 30 if code < 40 else code - 82)
        elif 40 <= code <= 47 or 100 <= code <= 107:
            ground = str(code - 40 if code < 50 else code - 92)
        elif code == 38:
            ink = _extended(numbers) or ink
        elif code == 48:
            ground = _extended(numbers) or ground
        elif code == 39:
            ink = ""
        elif code == 49:
            ground = ""
    return _Pen(frozenset(flags), ink, ground)


def _numbers(codes: str) -> list[int]:
    """The numbers of a sequence; with colons (ITU T.416) the place for a colour space is left out."""
    found: list[int] = []
    for group in codes.split(";"):
        fields = group.split(":")
        if len(fields) >= 6 and fields[1] == "2":
            del fields[2]
        if fields[0] == "4" and fields[1:] == ["0"]:
            fields = ["24"]
        elif fields[0] == "4":
            fields = ["4"]
        found += [int(field[:4]) if field else 0 for field in fields]
    return found[:64]


def _extended(numbers: Iterator[int]) -> str:
    """The colour after 38 or 48; empty for none."""
    kind = next(numbers, -1)
    if kind == 5:
        return _indexed(next(numbers, 0))
    if kind == 2:
        rgb = [min(next(numbers, 0), 255) for _ in range(3)]
        return "#{:02x}{:02x}{:02x}".format(*rgb)
    return ""


def _indexed(number: int) -> str:
    """A colour of the palette of 256."""
    if number < 16:
        return str(number)
    if number > 255:
        return ""
    if number >= 232:
        level = 8 + (number - 232) * 10
        return f"#{level:02x}{level:02x}{level:02x}"
    number -= 16
    red, green, blue = number // 36, number // 6 % 6, number % 6
    return f"#{_CUBE[red]:02x}{_CUBE[green]:02x}{_CUBE[blue]:02x}"


def style(name: str, role: Callable[[str], Style], is_ansi: bool) -> Style:
    """The style of a name that begins with `PREFIX`; `role` gives those of the theme, empty the view's own.

    With `is_ansi` the terminal's own sixteen colours are used, so that all are left to its theme.
    """
    ink, ground, *flags = name[len(PREFIX) :].split(" ")
    base = role("")
    found = base
    if ink != "-":
        colour, bold = _colour(ink, role, is_ansi)
        found += Style(color=colour, bold=bold or None)
    if ground not in ("-", "0", "8"):  # black on the dark is no ground of its own
        colour, _ = _colour(ground, role, is_ansi)
        found = base + Style(color=colour, reverse=True)
    for flag in flags:
        found += Style.parse("not reverse" if flag == "reverse" and found.reverse else flag)
    return found


def _colour(spec: str, role: Callable[[str], Style], is_ansi: bool) -> tuple[RichColor | None, bool]:
    """A colour that can be read on the view, and whether it is a bright one (drawn bold)."""
    if spec.startswith("@"):
        return role(spec[1:]).color, False
    if not spec.startswith("#"):
        number = int(spec)
        return role(_ROLES[number % 8]).color, 9 <= number <= 15
    rich = RichColor.parse(spec)
    base = role("")
    if is_ansi or base.bgcolor is None or base.color is None or base.bgcolor.is_default:
        number = rich.downgrade(ColorSystem.STANDARD).number or 0
        return role(_ROLES[number % 8]).color, False
    own, text = Color.parse(spec), Color.from_rich_color(base.color)
    behind = Color.from_rich_color(base.bgcolor)
    for share in (0.0, 0.25, 0.5, 0.75):
        mixed = own.blend(text, share)
        if contrast(mixed, behind) >= READABLE:
            return mixed.rich_color, False
    return text.rich_color, False


def contrast(one: Color, other: Color) -> float:
    """The contrast ratio of two colours, 1 to 21 (WCAG 2.2)."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: Color) -> float:
    channels = [
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in colour.normalized
    ]
    return 0.2126 * channels[0] + 0.7152 * channels[1] + 0.0722 * channels[2]
