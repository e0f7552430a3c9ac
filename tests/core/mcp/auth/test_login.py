"""A login from the refusal to the token, against a real authorization server."""

from __future__ import annotations

from tests.core.mcp.auth.conftest import Hel
from tests.fixtures.authserver.place import Place


async def test_a_refused_server_lets_hel_in_after_a_login_in_the_browser(hel: Hel, place: Place) -> None:
    await hel.logged_in()
    assert len(hel.person.questions) == 1
    assert hel.person.taken_back == 1
    assert "You may close this page" in (await hel.person.browsing[0]).text
