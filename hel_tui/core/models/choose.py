"""Which model answers: from what the person named, keys in the environment and keyring, local engines.

`open_model` is what a session calls. Keys are named, never shown. Not here: what is remembered between
runs (store), how a model is spoken to (client).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

from hel_tui.core.models.client import ChatClient
from hel_tui.core.models.engines import engine_models, same_name, tool_note
from hel_tui.core.models.entries import told_by
from hel_tui.core.models.faults import clean
from hel_tui.core.models.known import facts_of, window_of
from hel_tui.core.models.local import LocalEngine, find_local, listed_models
from hel_tui.core.models.prices import listed
from hel_tui.core.models.profiles import GENERIC, LOCAL, LOCAL_FILE, PROFILES, Profile, profile_of, runs_here
from hel_tui.core.models.sight import sees_by_name
from hel_tui.core.models.types import FREE, ChatModel, ModelInfo
from hel_tui.core.threads import in_thread

HEL_KEY = "HEL_API_KEY"
DEMO = "demo"
"""The provider of files that hel serves itself."""
ASK_LIMIT = 2.0
"""Seconds a local engine gets to tell of the model that was named."""
NAMES_TELL = ("openai", "openai-chat", "openai-responses", "anthropic", "gemini", "deepseek")
"""Providers whose names of models say whether they take images; others are asked when it matters."""

Keyring = Callable[[str], str | None]
"""The value kept under a name in hel's keyring service, or None. May block."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What was decided. Without `info` there is no model, and `note` says how to get one."""

    info: ModelInfo | None = None
    profile: Profile | None = None
    key: str = field(default="", repr=False)
    key_source: str = ""
    """Where the key comes from, such as `DEEPSEEK_API_KEY`; empty for none."""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Opened:
    """A model ready for requests, or None with the reason in `note`."""

    model: ChatModel | None
    note: str = ""


def resolve(
    model: str | None,
    base_url: str | None,
    *,
    environ: Mapping[str, str],
    keyring: Keyring,
    vision: bool | None = None,
    parallel: bool | None = None,
) -> Choice:
    """Decide on `PROVIDER/NAME` and where its key comes from.

    With a base URL the key is HEL_API_KEY's, else the provider's own variable's; without one, the other
    way round. The keyring comes after both. A provider that needs no key gets one only with a base URL
    or from its own variable. `vision` says whether the model takes images, `parallel` whether it may make
    several calls in one answer, where the person said so.
    """
    wanted = (model or "").strip()
    if not wanted:
        return Choice(note=no_model_note(environ))
    provider, _, name = wanted.partition("/")
    if not provider or not name:
        return Choice(
            note=f"{wanted[:60]!r} is not a model: write PROVIDER/NAME, such as deepseek/deepseek-chat."
        )
    profile = profile_of(provider, name, base_url or "")
    url = base_url_of(base_url or profile.base_url)
    if not url:
        known = ", ".join(PROFILES)
        return Choice(
            note=f"Provider {provider[:40]!r} is not known: give its --base-url, or use one of {known}."
        )
    if problem := _url_problem(url):
        return Choice(note=problem)
    key, source = _key(profile, bool(base_url), environ, keyring)
    if profile.needs_key and not base_url and not key:
        return Choice(
            note=f"{provider} needs a key: set {profile.key_variable}, or run `keyring set hel {provider}`."
        )
    label = f"{'openai' if provider.startswith('openai-') else provider}/{name}"
    facts = facts_of(provider, name)
    table = listed(url, name)
    info = ModelInfo(
        provider,
        name,
        url,
        window=window_of(label) or facts.window or window_of(name) or table.window,
        prices=FREE if runs_here(provider, name) and not base_url else table.prices,
        thinks=facts.thinks,
        efforts=facts.efforts,
        max_output=facts.max_output,
        sees=sees_by_name(name) if vision is None and provider in NAMES_TELL and not base_url else vision,
        parallel=True if parallel else None,
        one_call=parallel is False,
    )
    return Choice(info, profile, key, source)


def problem_with(model: str, base_url: str | None) -> str:
    """Why there can be no such model, whatever its key: a sentence; empty when there can. Contacts nobody."""
    if model.partition("/")[0] in (DEMO, LOCAL_FILE):
        return ""
    choice = resolve(model, base_url, environ={}, keyring=lambda _name: "any")
    return choice.note if choice.info is None else ""


def base_url_of(url: str) -> str:
    """A base URL as people write it, without what they paste too much of."""
    url = url.strip().rstrip("/")
    for path in ("/chat/completions", "/responses", "/messages"):
        url = url.removesuffix(path)
    return url.rstrip("/")


def _url_problem(url: str) -> str:
    """A sentence when the URL cannot be a base URL; empty when it can."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or not url.isprintable():
        return f"The base URL {url[:80]!r} is not one: it looks like http://HOST:PORT/v1."
    if parts.username is not None:
        return f"The base URL for {parts.hostname} holds a user name: give the key in {HEL_KEY} instead."
    return ""


def _key(profile: Profile, at_url: bool, environ: Mapping[str, str], keyring: Keyring) -> tuple[str, str]:
    own = [profile.key_variable] if profile.key_variable else []
    more = [HEL_KEY] if at_url or profile.needs_key else []
    variables = [*more, *own] if at_url else [*own, *more]
    for variable in variables:
        if value := environ.get(variable, "").strip():
            return value, variable
    if profile.key_variable and (value := (keyring(profile.name) or "").strip()):
        return value, f"keyring hel {profile.name}"
    return "", ""


def client_for(choice: Choice) -> ChatClient:
    """The client of a choice that has a model."""
    if choice.info is None or choice.profile is None:
        raise ValueError("this choice has no model")
    if choice.key_source:
        hint = f"The key came from {choice.key_source}."
    else:
        variable = choice.profile.key_variable
        hint = f"No key was sent: set {HEL_KEY}{f' or {variable}' if variable else ''}."
    return ChatClient(choice.info, choice.profile, choice.key, key_hint=hint)


async def open_model(
    model: str | None,
    base_url: str | None,
    *,
    environ: Mapping[str, str],
    keyring: Keyring,
    vision: bool | None = None,
    parallel: bool | None = None,
    folder: Path = Path(),
    window: int = 0,
    progress: Callable[[int, int], None] = lambda _done, _size: None,
) -> Opened:
    """The model for a session, its client warming up in the background. Contacts only local engines.

    With only a base URL, the endpoint is asked for its models, and the one it has is taken. `vision` and
    `parallel` as for `resolve`. A file (`local/PATH`) is relative to `folder` and gets a `window` in tokens,
    0 for what fits; `progress` hears how many bytes of how many are loaded.
    """
    wanted = model
    if wanted and wanted.partition("/")[0] == LOCAL_FILE and not base_url:
        from hel_tui.core.models.served import open_served

        served = await open_served(wanted.partition("/")[2], folder, progress, window, parallel)
        return Opened(served.model, served.note)
    if wanted and wanted.partition("/")[0] == DEMO and not base_url:
        from hel_tui.core.models.demo import start_demo

        return Opened(await start_demo())
    if not wanted and not base_url:
        return Opened(None, no_model_note(environ, await find_local()))
    if not wanted:
        listing = await list_models(await _resolved(f"{GENERIC}/?", base_url, environ, keyring))
        if len(listing.names) != 1:
            names = ", ".join(listing.names[:8]) or listing.problem
            return Opened(None, f"Name the model with --model {GENERIC}/NAME. The endpoint has: {names}")
        wanted = f"{GENERIC}/{listing.names[0]}"
    choice = await _resolved(wanted, base_url, environ, keyring, vision, parallel)
    if choice.info is None:
        return Opened(None, choice.note)
    if choice.info.provider in LOCAL and not base_url:
        choice = await _asked_engine(choice, choice.info)
    client = client_for(choice)
    client.warm_up()
    return Opened(client, choice.note)


async def _resolved(
    wanted: str,
    base_url: str | None,
    environ: Mapping[str, str],
    keyring: Keyring,
    vision: bool | None = None,
    parallel: bool | None = None,
) -> Choice:
    """`resolve` beside the loop: a locked keyring may keep it waiting for the person."""

    def resolved() -> Choice:
        return resolve(wanted, base_url, environ=environ, keyring=keyring, vision=vision, parallel=parallel)

    return await in_thread(resolved, "hel-keyring")


async def _asked_engine(choice: Choice, info: ModelInfo) -> Choice:
    """The choice with what a local engine says of its model, or that it has none of that name."""
    listed, problem = await engine_models(info.provider, info.base_url, choice.key, ASK_LIMIT, info.name)
    if problem:
        return choice
    one = next((one for one in listed if same_name(one.name, info.name)), None)
    if one is None:
        names = ", ".join(one.name for one in listed[:8]) or "none"
        return replace(choice, note=f"{info.provider} does not list {info.name[:80]}; its models: {names}.")
    return replace(choice, info=told_by(info, one), note=tool_note(info.provider, one))


# ------------------------------------------------------------------ what there is


@dataclass(frozen=True, slots=True)
class Listing:
    """The models of one provider, for a picker; `problem` is a sentence when it could not be asked."""

    provider: str
    base_url: str
    names: tuple[str, ...] = ()
    problem: str = ""


def keys_found(environ: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """(provider, variable) of every known provider whose key variable is set."""
    return tuple(
        (profile.name, profile.key_variable)
        for profile in PROFILES.values()
        if profile.key_variable and environ.get(profile.key_variable, "").strip()
    )


def no_model_note(environ: Mapping[str, str], local: tuple[LocalEngine, ...] = ()) -> str:
    """One line: how to get a model, and what was found already."""
    found = [f"{variable} (--model {provider}/NAME)" for provider, variable in keys_found(environ)]
    for engine in local:
        # a name is given whole or not at all: half a name chooses nothing
        name = next((name for name in map(clean, engine.models) if len(name) <= 60), "NAME")
        found.append(f"{engine.provider} on this machine (--model {engine.provider}/{name})")
    if found:
        return f"No model yet. Found: {'; '.join(found)}. `hel demo` needs none."
    return "No model yet: start hel with --model PROVIDER/NAME (and --base-url URL). `hel demo` needs none."


async def list_models(choice: Choice, limit: float = 5.0) -> Listing:
    """Ask the provider of `choice` for its models, within `limit` seconds."""
    if choice.info is None:
        return Listing("", "", (), choice.note)
    info = choice.info
    api = choice.profile.dialect.api if choice.profile is not None else "chat"
    listed, problem = await listed_models(info.base_url, choice.key, limit, api)
    return Listing(info.provider, info.base_url, tuple(one.name for one in listed), problem)
