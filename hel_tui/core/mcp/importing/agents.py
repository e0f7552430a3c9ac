"""How terminal agents write a server: Claude Code, Codex, opencode, Gemini, Crush, goose.

Each function fills a draft from its `raw`. Not here: where their files are (places), editors (editors).
"""

from __future__ import annotations

import re
from typing import Any

from hel_tui.core.mcp.importing.draft import Draft, dollars, filled

MILLISECONDS = 0.001
_OPENCODE = re.compile(r"\{env:([A-Za-z_][A-Za-z0-9_]*)\}")
_OPENCODE_FILE = re.compile(r"\{file:([^}]*)\}")


def claude(draft: Draft) -> None:
    """Claude Code: nearly hel's own keys; times are milliseconds, and below 1000 they count for nothing."""
    for key in ("type", "command", "args", "env", "cwd", "url", "headers", "headersHelper", "oauth"):
        draft.copy(key)
    timeout = draft.raw.get("timeout")
    if isinstance(timeout, int | float) and timeout < 1000:
        draft.leave("timeout")
    else:
        draft.seconds("timeout", "timeout", MILLISECONDS)
    draft.copy("alwaysLoad", "always_load")
    draft.switch(off="disabled", on="enabled")
    draft.leave("request_timeout_ms", "description")
    if "headersHelper" in draft.entry:
        draft.notes.append("`headersHelper` is split into words here; no shell runs")


def codex(draft: Draft) -> None:
    """Codex: TOML without variables; names of variables in keys of their own."""
    for key in ("command", "args", "cwd", "url"):
        draft.copy(key)
    env = _texts(draft.take("env"))
    for name in _list(draft.take("env_vars")):
        one = name.get("name") if isinstance(name, dict) else name
        if isinstance(one, str):
            env.setdefault(one, f"${{{one}}}")
    draft.put("env", env)
    headers = _texts(draft.take("http_headers"))
    headers |= {name: f"${{{variable}}}" for name, variable in _texts(draft.take("env_http_headers")).items()}
    if isinstance(variable := draft.take("bearer_token_env_var"), str):
        headers["Authorization"] = f"Bearer ${{{variable}}}"
    draft.put("headers", headers)
    oauth: dict[str, Any] = {}
    given = draft.take("oauth")
    if isinstance(given, dict) and isinstance(given.get("client_id"), str):
        oauth["clientId"] = given["client_id"]
    if scopes := draft.take("scopes"):
        oauth["scopes"] = scopes
    if isinstance(resource := draft.take("oauth_resource"), str):
        oauth["resource"] = resource
    draft.put("oauth", oauth)
    draft.seconds("startup_timeout_ms", "startup_timeout", MILLISECONDS)
    draft.seconds("startup_timeout_sec", "startup_timeout")
    draft.seconds("tool_timeout_sec", "timeout")
    draft.tools(draft.take("enabled_tools"), draft.take("disabled_tools"))
    draft.switch(on="enabled")
    draft.copy("supports_parallel_tool_calls", "parallel")
    draft.leave("required", "omit_tools_from", "environment_id", "auth")
    per_tool = draft.take("tools")
    if isinstance(per_tool, dict) and per_tool:
        draft.notes.append("approvals of single tools are never taken over")
    _warn_of_literals(draft)


def opencode(draft: Draft) -> None:
    """opencode, both generations: one list for the command, `environment`, times in milliseconds."""
    command = filled(draft, "command", draft.take("command"), _opencode_text)
    if isinstance(command, list) and command:
        draft.put("command", command[0])
        draft.put("args", command[1:])
    else:
        draft.put("command", command)
    draft.copy("environment", "env", _opencode_text)
    draft.copy("cwd", fill=_opencode_text)
    draft.copy("url", fill=_opencode_text)
    draft.copy("headers", fill=_opencode_text)
    oauth = filled(draft, "oauth", draft.take("oauth"), _opencode_text)
    draft.put("oauth", oauth)
    if oauth is False:
        draft.entry["oauth"] = False
    timeout = draft.raw.get("timeout")
    if isinstance(timeout, dict):
        times = Draft(draft.name, timeout, draft.entry, draft.notes)
        times.seconds("startup", "startup_timeout", MILLISECONDS)
        times.seconds("request", "timeout", MILLISECONDS)
        draft.leave("timeout")
    else:  # the time to list its tools
        draft.seconds("timeout", "startup_timeout", MILLISECONDS)
    draft.switch(off="disabled", on="enabled")
    draft.leave("type")


def gemini(draft: Draft) -> None:
    """Gemini: `url` is the older SSE unless `type` says otherwise, `httpUrl` streamable HTTP."""
    for key in ("command", "args", "env", "cwd", "headers"):
        draft.copy(key, fill=_dollar_text)
    url, http_url, kind = draft.take("url"), draft.take("httpUrl"), draft.take("type")
    draft.put("url", filled(draft, "url", http_url or url, _dollar_text))
    if http_url or url:
        draft.put("type", "http" if http_url or kind == "http" else "sse")
    draft.seconds("timeout", "timeout", MILLISECONDS)
    included = [_bare_tool(name) for name in _list(draft.take("includeTools"))]
    draft.tools(included, draft.take("excludeTools"))
    given = draft.take("oauth")
    if isinstance(given, dict):
        known = ("clientId", "clientSecret", "scopes", "redirectUri")
        draft.put("oauth", {key: given[key] for key in known if given.get(key)})
        if unknown := [key for key in given if key not in (*known, "enabled")]:
            draft.notes.append(f"not carried over of `oauth`: {', '.join(unknown)} (hel finds them out)")
    if draft.take("authProviderType") not in (None, "dynamic_discovery"):
        draft.notes.append("its way of logging in (`authProviderType`) is not one that hel has")
    draft.leave("description")


def crush(draft: Draft) -> None:
    """Crush: `$NAME`; what a command would print is never run."""
    for key in ("type", "command", "args", "env", "url", "headers"):
        draft.copy(key, fill=_crush_text)
    draft.seconds("timeout", "timeout")
    draft.tools(draft.take("enabled_tools"), draft.take("disabled_tools"))
    draft.switch(off="disabled")
    oauth = {
        "clientId": draft.take("oauth_client_id"),
        "clientSecret": filled(draft, "oauth_client_secret", draft.take("oauth_client_secret"), _crush_text),
        "callbackPort": draft.take("oauth_callback_port"),
    }
    draft.put("oauth", {key: value for key, value in oauth.items() if value})
    draft.leave("oauth")


def goose(draft: Draft) -> None:
    """goose: extensions; those of its own kinds are no servers that others can start."""
    kind = draft.take("type")
    if kind not in ("stdio", "sse", "streamable_http"):
        draft.leave(*draft.raw)
        return
    draft.copy("cmd", "command")
    draft.copy("args")
    draft.copy("uri", "url")
    draft.copy("headers")
    if kind != "stdio":
        draft.put("type", "sse" if kind == "sse" else "http")
    env = _texts(draft.take("envs"))
    for name in _list(draft.take("env_keys")):
        if isinstance(name, str):
            env[name] = draft.keep(f"env.{name}", "is in goose's own keyring")
    if kind == "stdio":
        draft.put("env", env)
    elif env:
        draft.notes.append("`envs` of a remote extension: not carried over")
    draft.seconds("timeout", "timeout")
    draft.tools(draft.take("available_tools"), None)
    draft.switch(on="enabled")
    draft.leave("name", "description", "display_name", "bundled", "client_id")
    _warn_of_literals(draft)


def _opencode_text(draft: Draft, where: str, text: str) -> str:
    text = _OPENCODE.sub(r"${\1}", text)
    if found := _OPENCODE_FILE.search(text):
        kept = draft.keep(where, f"was read from {found[1]}")
        return _OPENCODE_FILE.sub(lambda _: kept, text)
    return text


def _dollar_text(draft: Draft, where: str, text: str) -> str:  # noqa: ARG001
    return dollars(text)


def _crush_text(draft: Draft, where: str, text: str) -> str:
    if "$(" in text or "`" in text:
        return draft.keep(where, "was made by a command, which hel does not run")
    return dollars(text)


def _warn_of_literals(draft: Draft) -> None:
    """Say where `${NAME}` was plain text and will be filled in now."""
    for key in ("command", "args", "cwd", "url"):
        value = draft.entry.get(key)
        texts = value if isinstance(value, list) else [value]
        if any(isinstance(text, str) and re.search(r"\$\{[A-Za-z_]", text) for text in texts):
            draft.notes.append(f"`{key}` has a ${{…}} in it, which hel fills in")


def _bare_tool(name: Any) -> Any:
    """A tool without the arguments that Gemini lets stand behind it."""
    return name.partition("(")[0] if isinstance(name, str) else name


def _texts(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
