"""Command lines and the patterns of rules."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hel_tui.core.permissions.commands import command_allowed, command_caught, exactly, is_plain


@pytest.mark.parametrize(
    "command",
    [
        "git log",
        "git log --oneline -5",
        "git log\t-1",
        "git log --format='%h; $(x) | y'",
        'git log --author="Ada; L."',
        "git log a\\;b",
    ],
)
def test_a_prefix_allows_the_command_with_any_plain_arguments(command: str) -> None:
    assert command_allowed("git log:*", command)


@pytest.mark.parametrize(
    "command",
    [
        "git logs",
        "git status",
        "sudo git log",
        "X=1 git log",
        "git log; rm -rf x",
        "git log;rm -rf x",
        "git log && rm -rf x",
        "git log || rm -rf x",
        "git log | sh",
        "git log & rm x",
        "git log\nrm -rf x",
        "git log\r\nrm -rf x",
        "git log $(rm -rf x)",
        "git log `rm -rf x`",
        'git log "$(rm -rf x)"',
        'git log "`rm -rf x`"',
        "git log > ~/.bashrc",
        "git log >> x",
        "git log < x",
        "git log <(rm x)",
        "git log $HOME",
        "(git log)",
        "git log 'unclosed",
        'git log "a',
        "git log \\\nrm",
        "git log \\",
        "git log ''\"'\";rm x",
    ],
)
def test_nothing_compound_hides_behind_an_allowed_prefix(command: str) -> None:
    assert not command_allowed("git log:*", command)
    assert not command_allowed("git log*", command) or command == "git logs"


@given(st.text(alphabet="ab ;|&$()`'\"\\\n<>", max_size=20))
def test_a_plain_command_has_no_operator_outside_of_quotes(tail: str) -> None:
    if is_plain("echo " + tail):
        unquoted = tail.replace("\\\\", "")
        if "'" not in tail and '"' not in tail and "\\" not in unquoted:
            assert not set(tail) & set(";|&$()`\n<>")


def test_without_wildcard_the_very_same_line_is_allowed_compound_or_not() -> None:
    for command in ("npm test", "a && b", "echo *", "grep '\\d' \\* x", "cat <<E\nx\nE", "echo foo:*"):
        assert command_allowed(exactly(command), command)
        assert not command_allowed(exactly(command), command + " x")
    assert not command_allowed(exactly("echo *"), "echo a; rm x")
    assert not command_allowed(exactly("echo foo:*"), "echo foo")


@given(st.text(max_size=30), st.text(max_size=30))
def test_an_exact_pattern_fits_one_line_only(command: str, other: str) -> None:
    assert command_allowed(exactly(command), command)
    assert command_allowed(exactly(command), other) is (command.strip() == other.strip())


def test_wildcards_stand_for_anything_in_a_plain_command() -> None:
    assert command_allowed("npm run *", "npm run build --fast")
    assert command_allowed("* --version", "node --version")
    assert not command_allowed("npm run *", "npm run build; rm x")


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf x",
        "git log; rm -rf x",
        "git log && rm -rf x",
        "true|rm -rf x",
        "echo $(rm -rf x)",
        "echo `rm -rf x`",
        "(rm -rf x)",
        "{ rm -rf x; }",
        "a\nrm -rf x",
        "X=1 rm -rf x",
        "sudo rm -rf x",
        "sudo -u bob rm -rf x",
        "timeout 5 rm -rf x",
        "env A=1 rm x",
        "xargs -n 1 rm x",
        "bash -c 'rm -rf x'",
        'sh -c "cd /; rm -rf x"',
        "/bin/rm -rf x",
        "\\rm -rf x",
        "'rm' -rf x",
        "r''m -rf x",
        "rm   -rf   x",
        "if true; then rm x; fi",
        "! rm x",
    ],
)
def test_a_deny_pattern_catches_a_command_anywhere_in_the_line(command: str) -> None:
    assert command_caught("rm:*", command)


@pytest.mark.parametrize("command", ["rmdir x", "git rm x", "echo rm", "git commit -m 'rm old'", "ls"])
def test_a_deny_pattern_leaves_other_commands_alone(command: str) -> None:
    assert not command_caught("rm:*", command)
