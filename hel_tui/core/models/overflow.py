"""Refusals that say: the conversation is too long for this model. Recognised by code and wording.

The wordings are those of the providers and engines named beside them. Pure functions. Not here: other
refusals (faults), shortening (context).
"""

from __future__ import annotations

import re

MAX_SAID = 4_000
"""Characters that are looked at: some servers send the whole request back, which may talk of anything."""

_CODES = re.compile(
    r"context_(?:length|window|size)_exceeded|exceed_context_size|context_overflow|string_above_max_length"
    r"|model_context_window_exceeded|request_too_large|max_tokens_exceeded_context",
    re.I,
)
_WORDS = re.compile(
    # OpenAI and who follows it; Responses: "Your input exceeds the context window of this model"
    r"context[_ -](?:length|window|size|limit)|maximum context"
    r"|max(?:imum)? (?:model|prompt|input|sequence) len"
    # vLLM, llama.cpp, LM Studio, Ollama
    r"|max_model_len|n_ctx|exceed_context|max(?:imum)? context"
    # Anthropic, its gateways, Bedrock
    r"|prompt is too long|input (?:is )?too long|input length|too many (?:input |total )?tokens"
    # Gemini, of the input token count
    r"|token count .{0,60}exceeds|exceeds? the (?:model'?s )?(?:maximum|max) (?:number of )?(?:input )?tokens"
    # Groq, Mistral, Moonshot, xAI, GitHub, Together
    r"|reduce the length of|too large for model with \d+ max|exceeded model token limit"
    r"|prompt length is \d+|prompt token count of|`?inputs`? tokens \+ `?max_new_tokens`?",
    re.I,
)
_TOO_LARGE = re.compile(r"request too large .{0,300}tokens per min", re.I | re.S)
"""OpenAI and Groq, with 429: more in one request than the account may send in a minute."""

_NUMBER = r"(\d[\d,_.]{2,12}\d|\d{3,})"
_LIMITS = tuple(
    re.compile(pattern, re.I | re.S)
    for pattern in (
        rf"> {_NUMBER}",  # Anthropic: "210000 tokens > 200000 maximum", "188240 + 21333 > 200000"
        rf"(?:context (?:length|window|size|limit)|prompt length|model length|n_ctx|token limit)"
        rf"(?:[^\d]{{0,40}}?)(?:is|of|only|:|=|than|\()\s*(?:only |equal to )?{_NUMBER}",
        rf"context (?:length|window|size) \({_NUMBER}",  # llama.cpp
        rf"tokens allowed[^\d]{{0,5}}{_NUMBER}",  # Gemini
        rf"limit(?: of)?:? {_NUMBER}",  # GitHub, Moonshot, rates of OpenAI
        rf"(?:max_model_len|with) {_NUMBER}",  # vLLM: "longer than max_model_len 8192"
        rf"must be <= {_NUMBER}",  # Together
        rf"maximum (?:of )?{_NUMBER}",
    )
)
_LARGEST = 100_000_000


_TOKENS = re.compile(r"token|context", re.I)


def is_of_bytes(status: int, said: str) -> bool:
    """Whether a refusal is about the bytes of the request, which a server or a proxy before it counts (413:
    RFC 9110 15.5.14), and says nothing of the model's window.
    """
    return status == 413 and _TOKENS.search(said[:MAX_SAID]) is None


def is_overflow(status: int, said: str, code: str) -> bool:
    """Whether a refusal is about length. `status` is 0 for an error inside a stream."""
    head = said[:MAX_SAID]
    if status == 413:
        return True
    if status == 429:
        return _TOO_LARGE.search(head) is not None
    if status not in (0, 400, 422) and status < 500:
        return False
    return any(pattern.search(text) for pattern in (_CODES, _WORDS) for text in (code, head))


def limit_in(said: str) -> int:
    """Tokens that the model takes in all, as the refusal names them; 0 when it does not."""
    for pattern in _LIMITS:
        if found := pattern.search(said[:MAX_SAID]):
            digits = re.sub(r"\D", "", found[1])
            if 256 <= int(digits) <= _LARGEST:
                return int(digits)
    return 0
