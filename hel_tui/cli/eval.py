"""`hel eval LAB`: the same task under different conditions, many times, and the comparison.

Not here: what a lab is (labs.reading), how runs are made (labs.campaign), what is told (labs.reporting).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hel_tui.cli.common import EFFORTS, Exit, Parser, amount, positive, provider_and_name
from hel_tui.cli.orderly import run_in_order
from hel_tui.core.counts import counted
from hel_tui.foreign import printable

if TYPE_CHECKING:
    from hel_tui.labs.campaign import Outcome, Plan
    from hel_tui.labs.keeping import Results
    from hel_tui.labs.lab import Condition, Lab
    from hel_tui.labs.running import Voice

REPORT = "report.md"


def parser() -> Parser:
    """The command's arguments."""
    parser = Parser(
        prog="hel eval",
        description="Run a lab: each condition several times, each run in a fresh copy of its project and "
        "with a home of its own. Runs that are there already are not made again, so the same command goes on "
        "with a lab that was cut off. The comparison goes to stdout as Markdown. `hel help eval` tells the "
        "format.",
        epilog="exit status: 0 all runs were made and came out as the lab expects, 1 not so, 2 usage, "
        "3 stopped by the limit on cost, 130 interrupted",
    )
    parser.add_argument("lab", nargs="?", metavar="LAB", help="lab.toml, its folder, or a lab of hel's own")
    parser.add_argument("--list", action="store_true", help="hel's own labs")
    parser.add_argument("--conditions", metavar="a,b", help="these only")
    parser.add_argument(
        "-n", "--repetitions", type=positive, metavar="N", help="runs of each condition (default: the lab's)"
    )
    parser.add_argument(
        "-j", "--parallel", type=positive, metavar="N", help="runs at once (default: the lab's)"
    )
    parser.add_argument(
        "--model",
        type=_model,
        metavar="PROVIDER/NAME",
        help="of all runs; `scripted` plays the lab's scripts",
    )
    parser.add_argument("--base-url", metavar="URL", help="an OpenAI-compatible endpoint")
    parser.add_argument("--effort", choices=EFFORTS, metavar="LEVEL", help=f"one of {', '.join(EFFORTS)}")
    parser.add_argument(
        "--max-cost", type=amount, metavar="USD", help="make no further request past this sum"
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="DIR", help="folder of the results (default: results/LAB)"
    )
    parser.add_argument("--keep", type=Path, metavar="DIR", help="leave projects and homes of the runs here")
    parser.add_argument("--again", action="store_true", help="put the runs that are there aside, begin anew")
    parser.add_argument("--report", action="store_true", help="only tell what is there, run nothing")
    parser.add_argument("--json", action="store_true", help="the comparison and all runs as one JSON value")
    return parser


def _model(text: str) -> str:
    return text if text == "scripted" else provider_and_name(text)


def main(argv: Sequence[str]) -> int:
    """Run `hel eval`; returns the exit status."""
    reads = parser()
    args = reads.parse_args(argv)
    from hel_tui.labs.keeping import Foreign, Results, refuse_links
    from hel_tui.labs.reading import find_lab, read_lab, shipped
    from hel_tui.labs.tables import BadLab

    if args.list:
        for name in shipped():
            print(f"{name:<12} {read_lab(find_lab(name)).about}")
        return Exit.DONE
    if args.lab is None:
        reads.error("name a lab; `hel eval --list` has hel's own")
    try:
        lab = read_lab(find_lab(args.lab))
        plan = _plan(lab, args)
        folder = (args.output or Path("results") / lab.name).expanduser().absolute()
        _keep_apart(lab, folder, plan.keep)
        if plan.keep is not None:
            refuse_links(plan.keep)
        results = Results(folder, writes=not args.report)
        if args.again and not args.report:
            results.set_aside()
        results.hold(lab, None if args.report else plan.voices)
    except BadLab as bad:
        reads.error(printable(str(bad)))
    except Foreign as foreign:
        reads.error(printable(str(foreign)))
    return _tell(plan, results, args) if args.report else _carry_out(plan, results, args)


def _plan(lab: Lab, args: argparse.Namespace) -> Plan:
    """What is to be done. Raises BadLab."""
    from hel_tui.labs.campaign import Plan
    from hel_tui.labs.lab import SCRIPTED
    from hel_tui.labs.running import Asked
    from hel_tui.labs.tables import BadLab

    chosen = _chosen(lab, args.conditions)
    asked = Asked(args.model or "", args.base_url or "", args.effort or "")
    scripted = [one for one in chosen if asked.of(lab, one).model == SCRIPTED]
    if (silent := [one.name for one in scripted if not one.script]) and not args.report:
        raise BadLab(
            f"{lab.file.name}, condition {silent[0]}: the scripted model has no [[condition.script]]; "
            "another one is named by --model"
        )
    if not args.report:
        _check_models(asked.of(lab, one) for one in chosen)
    return Plan(
        lab,
        chosen,
        args.repetitions or lab.repetitions,
        args.parallel or lab.parallel,
        asked,
        max_cost=args.max_cost,
        keep=args.keep.expanduser().absolute() if args.keep is not None else None,
    )


def _check_models(voices: Iterable[Voice]) -> None:
    """Nothing is run where a model cannot be had. Raises BadLab."""
    from hel_tui.core.models.choose import problem_with
    from hel_tui.labs.lab import SCRIPTED
    from hel_tui.labs.tables import BadLab

    for voice in voices:
        if voice.model != SCRIPTED and (problem := problem_with(voice.model, voice.base_url or None)):
            raise BadLab(problem)


def _keep_apart(lab: Lab, *folders: Path | None) -> None:
    """Refuse to write into a project of the lab: the next run would be of another one. Raises BadLab."""
    from hel_tui.labs.tables import BadLab

    for project in {one.project.resolve() for one in lab.conditions}:
        for folder in folders:
            if folder is not None and folder.resolve().is_relative_to(project):
                raise BadLab(f"{folder} is in {project}, which is copied for each run: name another folder")


def _chosen(lab: Lab, named: str | None) -> tuple[Condition, ...]:
    from hel_tui.labs.tables import BadLab

    if named is None:
        return lab.conditions
    names = [name.strip() for name in named.split(",") if name.strip()]
    known = [one.name for one in lab.conditions]
    if not names or (unknown := [name for name in names if name not in known]):
        raise BadLab(f"there is no condition {unknown[0] if names else ''}; there are {', '.join(known)}")
    return tuple(one for one in lab.conditions if one.name in names)


def _carry_out(plan: Plan, results: Results, args: argparse.Namespace) -> int:
    """Make the runs that are missing, then tell."""
    from hel_tui.labs.campaign import run_lab

    outcome: list[Outcome] = []
    waiting = len(results.missing(plan.runs))
    made = 0

    def tell(row: dict[str, Any]) -> None:
        nonlocal made
        made += 1
        _say(f"{made}/{waiting} {_line(row)}")

    async def work() -> int:
        outcome.append(await run_lab(plan, results, tell))
        return Exit.DONE

    if ready := len(plan.runs) - waiting:
        _say(f"{ready} of {counted(len(plan.runs), 'run')} there already: {results.file}")
    ended = run_in_order(work())
    status = _tell(plan, results, args)
    if ended != Exit.DONE:
        _say("interrupted; the same command goes on with the rest")
        return ended
    if outcome[0].stopped:
        _say(outcome[0].stopped)
    return Exit.LIMIT if outcome[0].over_cost else status


def _line(row: dict[str, Any]) -> str:
    """One run, when it is over."""
    said, why = "passed" if row["passed"] else "did not pass", ""
    if row["error"]:
        said, why = "came to nothing", f": {row['error']}"
    elif missed := next((check for check in row["checks"] if not check["passed"]), None):
        why = f": {missed['name']}: {missed['why']}"
    return f"{row['condition']} {row['run']} {said} ({row['seconds']:.1f} s){why}"


def _tell(plan: Plan, results: Results, args: argparse.Namespace) -> int:
    """Print the comparison, keep it beside the runs; the exit status it comes to."""
    from hel_tui.core.store.atomic import write_atomic
    from hel_tui.labs.reporting import markdown, report

    names = [one.name for one in plan.conditions]
    rows = [row for row in results.rows if row["condition"] in names]
    told = report(plan.lab, plan.conditions, rows, plan.repetitions)
    text = markdown(told)
    if args.json:
        print(json.dumps({**told, "file": str(results.file), "runs": rows}, ensure_ascii=True, indent=2))
    else:
        print(text, end="")
    if rows and not args.report:
        problem = write_atomic(results.folder / REPORT, text.encode(), mode=0o644, follow=False)
        if problem is not None:
            _say(problem.sentence)
            return Exit.FAILED
    return Exit.DONE if told["complete"] and told["as_expected"] is not False else Exit.FAILED


def _say(line: str) -> None:
    sys.stderr.write(printable(line) + "\n")
    sys.stderr.flush()
