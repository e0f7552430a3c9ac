"""What an error of the connection to an endpoint means, as a failure with a sentence.

Not here: answers that are refusals (faults), trying again (client).
"""

from __future__ import annotations

import errno
import socket

from hel_tui.core.addresses import host_of
from hel_tui.core.models.faults import Failure, sentence
from hel_tui.core.models.profiles import PROFILES, Profile
from hel_tui.core.models.types import ModelFault, ModelInfo
from hel_tui.core.sse import EventTooLarge
from hel_tui.core.vocabulary import AssistantMessage

STILL = "Servers on this machine, their tools by hand and models on this machine work all the same."


def who_answers(info: ModelInfo) -> str:
    """The provider and its host, for sentences."""
    return f"{info.provider} ({host_of(info.base_url)})"


def broken(
    error: Exception,
    info: ModelInfo,
    profile: Profile,
    key: str,
    idle: float,
    partial: AssistantMessage | None,
) -> Failure:
    """The failure a transport error means. `partial` is what had arrived: only what failed before it is worth
    another try. `idle` is the limit in seconds that was in force.
    """
    import httpx

    who = who_answers(info)
    said = str(error) or type(error).__name__
    if isinstance(error, httpx.ReadTimeout | httpx.WriteTimeout):
        return Failure(ModelFault("timeout", f"{who} sent nothing for {idle:g} seconds.", partial=partial))
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.ProxyError):
        if is_offline(error, info.base_url):
            return Failure(
                ModelFault("offline", f"There is no network: {who} cannot be reached. {STILL}"), passing=True
            )
        untrusted = "CERTIFICATE_VERIFY_FAILED" in said
        tail = "SSL_CERT_FILE can name a private CA." if untrusted else ""
        if _is_refused(error):
            said, tail = "nothing listens there", profile.start
        text = sentence(f"Cannot connect to {who}", said, tail, key)
        return Failure(ModelFault("connect", text), passing=not untrusted)
    if isinstance(error, httpx.UnsupportedProtocol | httpx.InvalidURL):
        text = sentence(f"The base URL {info.base_url[:100]} cannot be used", said, "", key)
        return Failure(ModelFault("request", text))
    if partial is not None or isinstance(error, EventTooLarge):
        text = sentence(f"The answer of {who} broke off", said, "", key)
        return Failure(ModelFault("stream", text, partial=partial))
    text = sentence(f"{who} closed the connection without an answer", said, "", key)
    return Failure(ModelFault("connect", text), passing=True)


def is_offline(error: BaseException | None, base_url: str) -> bool:
    """Whether this machine has no way out: no route, or nobody who knows names, the provider's own too."""
    while error is not None:
        if isinstance(error, socket.gaierror):
            own = host_of(base_url) in {host_of(one.base_url) for one in PROFILES.values() if one.base_url}
            return error.errno == socket.EAI_AGAIN or own or not _has_interface()
        if isinstance(error, OSError) and error.errno in (errno.ENETUNREACH, errno.ENETDOWN):
            return True
        error = error.__cause__ or error.__context__
    return False


def _has_interface() -> bool:
    """Whether anything but loopback is up."""
    import psutil

    stats = psutil.net_if_stats()
    return any(one.isup and "loopback" not in one.flags and name != "lo" for name, one in stats.items())


def _is_refused(error: BaseException | None) -> bool:
    """Whether a connection was refused, by the causes of `error` (the outer ones do not say)."""
    while error is not None and not isinstance(error, ConnectionRefusedError):
        error = error.__cause__ or error.__context__
    return error is not None
