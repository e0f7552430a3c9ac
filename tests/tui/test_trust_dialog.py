"""What the trust dialog draws of a claim."""

from hel_tui.core import protocol as p
from hel_tui.tui.dialogs.trust import TrustDialog


def rows(claim: p.ServerClaim) -> list[str]:
    dialog = TrustDialog(p.TrustQuestion("t", "/p", (claim,)))
    return ["".join(text for text, _ in line) for line in dialog.text()]


def test_a_value_with_line_breaks_stays_in_its_line() -> None:
    claim = p.ServerClaim(
        "s", "project", "/p/a", "srv", "/bin/srv", "/p", (("A", "x\n  in /bin"),), ("r\nr",)
    )
    shown = rows(claim)
    assert all("\n" not in row for row in shown)
    assert any("A=x↵" in row and "in /bin" in row for row in shown) and any("r↵r" in row for row in shown)


def test_a_program_that_is_not_found_is_said_even_when_a_word_is_a_url() -> None:
    found = p.ServerClaim("s", "project", "/p/a", "srv http://x", "/bin/srv", "/p")
    missing = p.ServerClaim("s", "project", "/p/a", "srv http://x", "", "/p")
    url = p.ServerClaim("s", "project", "/p/a", "http://x")
    warned = [
        any("not found" in row.lower() or "PATH" in row for row in rows(one)) for one in (found, missing, url)
    ]
    assert warned == [False, True, False]


def test_settings_start_nothing_and_are_not_called_programs() -> None:
    claim = p.ServerClaim("settings", "project", "/p/.hel/settings.toml", "access = auto", kind="settings")
    dialog = TrustDialog(p.TrustQuestion("t", "/p", (claim,)))
    shown = "\n".join(rows(claim))
    assert "nothing is started" in shown and "access = auto" in shown
    assert "run with your rights" not in shown and "PATH" not in shown
    assert "loosen your settings" in "".join(text for text, _ in dialog.title_line())
