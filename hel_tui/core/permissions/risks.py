"""What in a server's definition a person should look at twice before letting it run.

Hints for the trust dialog; nothing is forbidden by them and nothing is safe without them. Not here: trust
itself (trust).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from hel_tui.core.addresses import is_loopback

_SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "fish"})
_ROOT = frozenset({"sudo", "doas", "su", "pkexec"})
_INSTALLERS: Mapping[str, frozenset[str]] = {
    "npx": frozenset(),
    "bunx": frozenset(),
    "uvx": frozenset(),
    "pipx": frozenset({"run", "install"}),
    "npm": frozenset({"exec", "x", "install", "i"}),
    "pnpm": frozenset({"dlx"}),
    "yarn": frozenset({"dlx"}),
    "bun": frozenset({"x"}),
    "deno": frozenset({"run"}),
    "uv": frozenset({"run", "tool"}),
    "pip": frozenset({"install"}),
    "pip3": frozenset({"install"}),
    "go": frozenset({"run", "install"}),
    "docker": frozenset({"run", "pull"}),
    "podman": frozenset({"run", "pull"}),
}
"""Programs that fetch code from the network, with the sub-commands that do (none: always)."""
_REPLACING = re.compile(
    r"LD_\w+|DYLD_\w+|GCONV_PATH|LOCPATH|GLIBC_TUNABLES|PATH|HOME|XDG_\w+|SHELL|IFS|ENV|BASH_\w+.*|PS4|ZDOTDIR"
    r"|PROMPT_COMMAND|NODE_(?:OPTIONS|PATH|EXTRA_CA_CERTS|REPL_EXTERNAL_MODULE|TLS_REJECT_UNAUTHORIZED)"
    r"|npm_config_.*|(?:YARN|PNPM|BUN|DENO|COREPACK|NVM|VOLTA)_(?!\w*TOKEN)\w+|PYTHON\w+|PIP_\w+|PIPX_\w+"
    r"|UV_(?!PUBLISH_)\w+|VIRTUAL_ENV|CONDA_(?!TOKEN)\w+|POETRY_(?!PYPI_TOKEN)\w+|PERL\w*|RUBY\w+|GEM_(?:HOME|PATH)"
    r"|BUNDLE_(?:GEMFILE|PATH|APP_CONFIG)|GIT_(?:CONFIG|SSH|EXEC|EDITOR|ASKPASS|TEMPLATE|DIR|WORK|PAGER|PROXY"
    r"|EXTERNAL|SEQUENCE)\w*|SSH_ASKPASS|SUDO_ASKPASS|(?:EDITOR|VISUAL|PAGER|BROWSER|LESSOPEN|LESSCLOSE|MANPAGER)"
    r"|(?:_JAVA|JDK_JAVA|JAVA_TOOL|JAVA|MAVEN|GRADLE|SBT|CATALINA)_OPT\w*|JAVA_HOME|CLASSPATH|GO(?:PROXY|FLAGS|PATH"
    r"|ROOT|ENV|TOOLCHAIN|NOSUMDB|SUMDB|PRIVATE|INSECURE|BIN)|CARGO_(?!REGISTRY_TOKEN)\w+|RUST(?:C|DOC|UP)\w*"
    r"|DOTNET_\w+|CORECLR_\w+|COMPLUS_\w+|LUA_\w+|PHPRC|PHP_INI_SCAN_DIR|R_(?:PROFILE|ENVIRON|HOME|LIBS)\w*"
    r"|DOCKER_(?:HOST|CONFIG|CONTEXT)|KUBECONFIG|OPENSSL_(?:CONF|MODULES|ENGINES)|SSL_CERT_\w+|\w+_CA_BUNDLE"
    r"|MAKEFLAGS|CC|CXX|\w+_INDEX_URL|\w+_REGISTRY(?:_URL)?",
    re.IGNORECASE,
)
"""Variables that decide which program, library, option or package a process ends up running."""
_PROXY = re.compile(r"(?:\w+_)?PROXY", re.IGNORECASE)
_INTERPRETERS = re.compile(r"python[\d.]*|pypy\d*|node|nodejs|bun|deno|tsx|perl|ruby|php|lua|osascript")
_INLINE = re.compile(r"-[A-Za-z]*[ceEpr]|--(?:eval|print)(?:=.*)?|eval", re.DOTALL)
_PYTHON = re.compile(r"(?:python|pypy)[\d.]*")
_PYTHON_INLINE = re.compile(r"-[A-Za-z]*c", re.DOTALL)
"""Its other letters switch things off or on: -E, -S, -I take no code."""
_DELETES = re.compile(r"\brm\s+(?:-\w+\s+)*-\w*[rRf]|\bmkfs|\bdd\s+if=|\bshred\b")
_PIPED = re.compile(r"\b(?:curl|wget|fetch)\b[^|]{0,2000}\|\s*(?:sudo\s+)?(?:\S*/)?(?:ba|z|da)?sh\b")
_SENSITIVE = re.compile(r"(?:^|/)\.(?:ssh|aws|gnupg|kube|docker|netrc|config/gcloud)(?:/|$)")


def command_risks(
    command: str,
    args: Sequence[str],
    env: Iterable[tuple[str, str]],
    cwd: Path,
    project: Path,
) -> tuple[str, ...]:
    """Return one phrase for each risky shape of a command, its variables filled in."""
    words = (command, *args)
    line = " ".join(words)
    names = [word.rpartition("/")[2] for word in words]
    risks: list[str] = []
    risks += [f"runs with other rights: {name}" for name in names if name in _ROOT][:1]
    if names[0] in _SHELLS and any(re.fullmatch(r"-\w*c\w*", arg) for arg in args):
        risks.append(f"runs a shell command: {names[0]} -c")
    risks += _inline_code(names, words)
    if _DELETES.search(line):
        risks.append("deletes files or disks")
    if _PIPED.search(line) or (re.search(r"\b(?:curl|wget)\b", line) and "$(" in line):
        risks.append("runs what it downloads: curl | sh")
    risks += _installers(names)
    for name, _ in env:
        if _PROXY.fullmatch(name):
            risks.append(f"the variable {name} changes where it fetches from")
        elif _REPLACING.fullmatch(name):
            risks.append(f"the variable {name} changes which code runs")
    risks += _outside(words, cwd, project)
    return tuple(dict.fromkeys(risks))


def url_risks(url: str) -> tuple[str, ...]:
    """Return one phrase for each risky shape of a URL."""
    if not url.strip().lower().startswith("http://"):
        return ()
    try:
        is_local = is_loopback(url.strip())
    except ValueError:  # no address at all: nothing is sent there
        is_local = True
    return () if is_local else ("not encrypted: http to another machine",)


def _inline_code(names: Sequence[str], words: Sequence[str]) -> list[str]:
    """Say that an interpreter's program is written in the definition, where no file can be looked at."""
    for at, name in enumerate(names):
        if _INTERPRETERS.fullmatch(name):
            inline = _PYTHON_INLINE if _PYTHON.fullmatch(name) else _INLINE
            for word in words[at + 1 :]:
                if inline.fullmatch(word):
                    return [f"runs code written in its arguments: {name} {word.partition('=')[0]}"]
                if not word.startswith("-"):
                    break
    return []


def changes_code(name: str) -> bool:
    """Return whether the variable of this name decides which code runs or where it is fetched from."""
    return bool(_REPLACING.fullmatch(name) or _PROXY.fullmatch(name))


def downloads(program: str) -> bool:
    """Return whether a program of this name can fetch code from the network and run it."""
    return program in _INSTALLERS


def _installers(names: Sequence[str]) -> list[str]:
    found = []
    for at, name in enumerate(names):
        base = re.sub(r"(?:\.exe|\.cmd)$", "", name)
        following = next((word for word in names[at + 1 :] if not word.startswith("-")), "")
        if base in _INSTALLERS and (not _INSTALLERS[base] or following in _INSTALLERS[base]):
            found.append(f"may download and run code from the network: {base}")
    if any(re.fullmatch(r"python[\d.]*", name) for name in names) and "pip" in names:
        found.append("may download and run code from the network: pip")
    return found[:1]


def _outside(words: Sequence[str], cwd: Path, project: Path) -> list[str]:
    """Name paths in the arguments, and the working folder, that lie outside the project."""
    root = os.path.realpath(project)
    risks = []
    if not _is_below(os.path.realpath(cwd), root):
        risks.append(f"starts outside the project: {cwd}")
    for word in words[1:]:
        path = word.partition("=")[2] if word.startswith("-") and "=" in word else word
        if not (path.startswith(("/", "~", "../")) or "/../" in path or path == ".."):
            continue
        real = (
            os.path.realpath(cwd / Path(path).expanduser())
            if path.startswith("~")
            else os.path.realpath(cwd / path)
        )
        if _SENSITIVE.search(real):
            risks.append(f"names a folder with credentials: {path}")
        elif not _is_below(real, root):
            risks.append(f"names a path outside the project: {path}")
    return risks


def _is_below(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip("/") + "/")
