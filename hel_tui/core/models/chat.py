"""OpenAI chat completions, and what all compatible servers made of it.

https://developers.openai.com/api/reference/resources/chat. Not here: the body (wire), the answer (assemble).
"""

from __future__ import annotations

from hel_tui.core.models.adapter import Adapter
from hel_tui.core.models.assemble import Assembler
from hel_tui.core.models.wire import body

CHAT = Adapter(
    path=lambda _info: "/chat/completions",
    body=body,
    assembler=lambda new_id, info: Assembler(new_id, info.provider),
)
