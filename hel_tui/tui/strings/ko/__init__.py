"""Korean: the whole catalogue, from its parts. Not here: looking strings up (the package above)."""

from hel_tui.tui.strings.ko import conversation, keys, questions, screen, servers

KOREAN: dict[str, str] = {
    **conversation.STRINGS,
    **keys.STRINGS,
    **questions.STRINGS,
    **screen.STRINGS,
    **servers.STRINGS,
}
