"""Anthropic's Messages API, and the servers that speak it.

https://platform.claude.com/docs/en/api/messages. Not here: the body (wire), the answer (assemble), how which
model thinks (efforts, known).
"""

from __future__ import annotations

from hel_tui.core.models.adapter import Adapter
from hel_tui.core.models.messages.assemble import MessageAssembler
from hel_tui.core.models.messages.wire import body

MESSAGES = Adapter(
    path=lambda _info: "/messages",
    body=body,
    assembler=lambda new_id, info: MessageAssembler(new_id, info.provider),
)
