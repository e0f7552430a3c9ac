"""What a person sees of a server's words and variables before they let it run.

A word that will be executed is never shortened: a credential is masked only where it can be nothing else.
Not here: text for logs and lists, which hides more (store.redact).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from hel_tui.core.permissions.risks import changes_code, downloads
from hel_tui.core.store.redact import MARK, looks_like_secret, mask_value

_PLAIN = re.compile(r"[A-Za-z0-9_.+/=-]+")
_ONE_WORD = re.compile(
    r"(?:(?:Bearer|Basic|Token) )?[A-Za-z0-9_.+/=:@%,~^!#*?-]+|\$\{[^{}]*\}", re.IGNORECASE
)
_REFERENCE = re.compile(r"\$\{((?:keyring:)?[A-Za-z0-9_.-]+)")
_NAME = re.compile(r"-{0,2}[A-Za-z0-9_.-]+")
_CODE_WORDS = frozenset({"eval", "exec", "-eval", "-command", "-Command"})
_CODE_OPTION = re.compile(
    r"-[A-Za-z0-9]*[ceEpPrSx][A-Za-z0-9]*"
    r"|--(?:eval|exec|execute|call|command|print|require|import|loader|split-string|run|init-command|rcfile)\b.*",
    re.DOTALL,
)
"""`-c`, `-lc`, `-e`, `--eval`: after one, in whatever program, any word may be code."""
_WRAPPERS = frozenset(
    {"env", "sudo", "doas", "su", "xargs", "timeout", "nohup", "setsid", "nice", "ionice", "stdbuf", "time"}
    | {"watch", "strace", "dotenv", "dotenvx", "op", "doppler", "infisical", "direnv", "nix", "nix-shell"}
    | {"busybox", "chroot", "unshare", "bwrap", "flatpak", "xvfb-run", "mise", "asdf", "make", "just"}
    | {"poetry", "pdm", "hatch", "rye", "conda", "bundle", "cargo", "npm", "pnpm", "yarn", "bun", "deno"}
    | {"uv", "pip", "pip3", "go", "docker", "podman", "ssh", "kubectl", "find", "parallel", "script"}
)
"""Programs that take another program's name among their words."""


def shown_words(words: Sequence[str]) -> list[str]:
    """Return the words of a command line; masked is only a plain value of a credential option or name.

    Masked are `--token VALUE`, `--token=VALUE` and `API_TOKEN=VALUE` when VALUE reaches to the end of the
    word and holds no character that means something to a shell or an interpreter. After an option that
    takes code nothing is masked, and a separate word neither where it may name a program or a package.
    """
    shown: list[str] = []
    option = ""
    takes_code = takes_programs = False
    for word in words:
        name, equals, value = word.partition("=")
        if takes_code:
            shown.append(word)
        elif equals and _NAME.fullmatch(name) and _is_credential(name, value):
            shown.append(f"{name}={MARK}")
        elif option and not takes_programs and not word.startswith("-") and _is_credential(option, word):
            shown.append(MARK)
        else:
            shown.append(word)
        option = word if word.startswith("-") and not equals else ""
        base = re.sub(r"\.(?:exe|cmd)$", "", word.rpartition("/")[2])
        takes_programs = takes_programs or base in _WRAPPERS or downloads(base)
        takes_code = takes_code or word in _CODE_WORDS or _CODE_OPTION.fullmatch(word) is not None
    return shown


def _is_credential(name: str, value: str) -> bool:
    is_plain = _PLAIN.fullmatch(value) is not None and not changes_code(name.lstrip("-"))
    return is_plain and looks_like_secret(name, value)


def shown_variable(name: str, value: str, words: Sequence[str]) -> str:
    """Return what is shown for a variable of a server's environment; `words` are its command line.

    Dots for what looks like a credential and is one word to a shell; never for a variable that decides which
    code runs, nor for one the command line speaks of, which may execute what is in it.
    """
    may_run = changes_code(name) or any(name in word for word in words)
    if not value or (not may_run and _ONE_WORD.fullmatch(value) and looks_like_secret(name, value)):
        return mask_value(value)
    return value


def references(value: str) -> tuple[str, ...]:
    """Return the variables and keyring entries that `value` is filled in from, as they are written."""
    return tuple(dict.fromkeys(f"${{{name}}}" for name in _REFERENCE.findall(value)))


def shown_secret(value: str) -> str:
    """Return what is shown for a credential: dots, and beside them what it is filled in from.

    A reference is no secret, and says what would be sent away.
    """
    names = references(value)
    return mask_value(value) if not value or value in names else " ".join((mask_value(MARK), *names))


class Unfilled:
    """Puts `${NAME}` back where the value of a secret variable was filled in."""

    def __init__(self, written: str, environ: Mapping[str, str]) -> None:
        """`written` holds the references: variables it does not name were not filled in."""
        names = set(re.findall(r"\$\{([A-Za-z_][A-Za-z0-9_]*)", written))
        secrets = {name: environ[name] for name in names if looks_like_secret(name, environ.get(name, ""))}
        self._pairs = sorted(
            ((form, name) for name, value in secrets.items() for form in _forms(value)),
            key=lambda pair: -len(pair[0]),
        )

    def __call__(self, text: str) -> str:
        for value, name in self._pairs:
            text = text.replace(value, f"${{{name}}}")
        return text


def _forms(value: str) -> set[str]:
    """A value as it is, and as it looks inside a path that was made whole."""
    import os.path

    return {form for form in (value, os.path.normpath(value), value.strip("/")) if len(form) > 1}
