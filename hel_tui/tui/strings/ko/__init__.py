"""Korean: the whole catalogue, from its parts. Not here: looking strings up (the package above)."""

from hel_tui.tui.strings.ko import (
    authoring,
    calling,
    context,
    conversation,
    keys,
    models,
    questions,
    rewinding,
    screen,
    server,
    servers,
    sessions,
    todos,
    wire,
)

KOREAN: dict[str, str] = {
    **conversation.STRINGS,
    **keys.STRINGS,
    **models.STRINGS,
    **questions.STRINGS,
    **screen.STRINGS,
    **servers.STRINGS,
    **server.STRINGS,
    **wire.STRINGS,
    **calling.STRINGS,
    **authoring.STRINGS,
    **context.STRINGS,
    **rewinding.STRINGS,
    **sessions.STRINGS,
    **todos.STRINGS,
}
