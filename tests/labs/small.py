"""A small lab of one's own: a word in a file, no servers."""

from __future__ import annotations

from pathlib import Path

LAB = """
name = "word"
{top}

[run]
prompt = "Write done into word.txt."
tools = ["read_file", "write_file"]
access = "auto"
mcp = false
{run}

[[condition]]
name = "plain"
{condition}

[[condition.script]]
calls = [{{ tool = "write_file", arguments = {{ path = "word.txt", content = "done\\n" }} }}]

[[condition.script]]
say = "It is done."

[[pass]]
name = "the word"
file = "word.txt"
exact = "done\\n"
{passes}
"""


def lay_lab(folder: Path, *, top: str = "", run: str = "", condition: str = "", passes: str = "") -> Path:
    """Write the lab and its project; the parts are put in as they are. Returns the lab's file."""
    project = folder / "project"
    project.mkdir(parents=True, exist_ok=True)
    (project / "word.txt").write_text("open\n")
    file = folder / "lab.toml"
    file.write_text(LAB.format(top=top, run=run, condition=condition, passes=passes))
    return file
