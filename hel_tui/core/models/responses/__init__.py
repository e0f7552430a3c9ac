"""OpenAI's Responses API, used without state at the provider: every request brings the whole history.

https://developers.openai.com/api/reference/resources/responses. Not here: the body (wire), the answer
(assemble).
"""

from __future__ import annotations

from hel_tui.core.models.adapter import Adapter
from hel_tui.core.models.responses.assemble import ResponseAssembler
from hel_tui.core.models.responses.wire import body

RESPONSES = Adapter(
    path=lambda _info: "/responses",
    body=body,
    assembler=lambda new_id, info: ResponseAssembler(new_id, info.provider, info.name),
)
