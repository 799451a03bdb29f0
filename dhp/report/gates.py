"""Outcomes of gates: as JUnit XML, and as a history with its page."""

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from dhp.core.errors import InputError
from dhp.core.files import Lock, parse_json, read_lines, write_lines
from dhp.core.text import printable
from dhp.report.charts import Point, drawn, line_with_intervals, mark_blind
from dhp.report.web import page
from dhp.runs.gate import Finding, Outcome, result_name

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.figure import Figure

SCHEMA = "dhp.gate/1"
_LEGEND = 10
"""Lines of a chart that have names beside it."""


def add_to_history(file: Path, run: str, against: str | None, outcome: Outcome) -> Path:
    """Append an outcome to a history, and draw all of it.

    The history is JSON Lines, one line a check, made where it does not exist; the page that is returned lies
    beside it, under its name. Raises `InputError` for a file with another ending or with other lines, and one
    that cannot be written.
    """
    if file.suffix != ".jsonl":
        raise InputError(f"`history` {file}: allowed: a file that ends in .jsonl")
    with Lock(file.with_name(f".{file.name}.lock"), f"`history` {file}"):
        checks = [*(read_history(file) if file.exists() else []), _record(run, against, outcome)]
        write_lines(file, [f"{json.dumps(check, ensure_ascii=False)}\n" for check in checks])
        target = file.with_suffix(".html")
        write_lines(target, [history_page(checks)])
    return target


def read_history(file: Path) -> list[dict[str, Any]]:
    """The checks in a history; raises `InputError` for a line that is none."""
    found = []
    for number, line in enumerate(read_lines(file), 1):
        check = parse_json(place := f"{file}: line {number}", line)
        if not isinstance(check, dict) or check.get("schema") != SCHEMA:
            raise InputError(f"{place}: is no check of a gate; allowed: lines that `dhp gate` wrote")
        found.append(check)
    return found


def _record(run: str, against: str | None, outcome: Outcome) -> dict[str, Any]:
    results = [
        {
            "dataset": r.dataset,
            "model": r.model,
            "protocol": r.protocol,
            "signature": r.signature,
            "detection": r.detection.avg,
            "detection_ci": r.detection.ci["avg"],
            "shift": {
                shift.metric: {"points": shift.points, "ci": shift.ci, "n": shift.n}
                for shift in outcome.shifts.get(result_name(r), ())
            },
        }
        for r in outcome.results
    ]
    return {
        "schema": SCHEMA,
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "run": run,
        "against": against,
        "state": outcome.state,
        "passed": outcome.passed,
        "line": outcome.line,
        "results": results,
    }


def history_page(checks: Sequence[dict[str, Any]]) -> str:
    """Detection and shift of level from check to check, and a table of all checks."""
    detection: dict[str, list[Point]] = {}
    shift: dict[str, list[Point]] = {}
    for number, check in enumerate(checks, 1):
        for result in check["results"]:
            name = f"{result['dataset']}, {result['model']}"
            if result["detection"] is not None:
                point = (number, result["detection"], result["detection_ci"])
                detection.setdefault(name, []).append(point)
            for metric, moved in result["shift"].items():
                if moved["points"] is not None:
                    point = (number, moved["points"], moved["ci"])
                    shift.setdefault(f"{name}, {metric}", []).append(point)
    charts = [
        ("Detection", _chart(detection, "detection", 0.5, lambda value: f"{value:.0%}")),
        ("Shift of level", _chart(shift, "points of the scale", 0.0, lambda value: f"{value:+.2f}")),
    ]
    return page("history.html", checks=checks, charts=charts)


def _chart(
    lines: dict[str, list[Point]], quantity: str, zero: float, said: Callable[[float], str]
) -> "Markup | None":
    """A line for each name; None where there is none. `zero` is where nothing is to see."""
    if not lines:
        return None

    from matplotlib.ticker import MaxNLocator

    def draw(figure: "Figure") -> None:
        axes = figure.subplots()
        for name, points in lines.items():
            line_with_intervals(axes, points, printable(name), marker="o", markersize=3)
        mark_blind(axes, zero)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.yaxis.set_major_formatter(lambda value, _: said(value))
        axes.set_xlabel("check")
        axes.set_ylabel(quantity)
        if len(lines) <= _LEGEND:
            figure.legend(loc="outside lower center", frameon=False, ncols=min(2, len(lines)))

    words = "; ".join(
        f"{name} {', '.join(said(value) for _, value, _ in points)}" for name, points in lines.items()
    )
    return drawn(draw, 8.6, 3.2, printable(f"{quantity} from check to check: {words}."))


def junit_xml(outcome: Outcome, seconds: float, *, require_proof: bool) -> str:
    """A test suite for each dataset, and in it a test case for each judge and condition.

    A condition that is not met is a failure. One that is undecided is skipped, or with `require_proof` a
    failure, too; the message says how many texts would decide. `seconds` is the time of the whole, as no
    single check has one.
    """
    root = Element("testsuites", name="dhp gate", time=f"{seconds:.3f}")
    for dataset in dict.fromkeys(result.dataset for result in outcome.results):
        suite = SubElement(root, "testsuite", name=printable(dataset), time="0.000")
        for result in outcome.results:
            if result.dataset != dataset:
                continue
            judge = f"{result.model}, {result.protocol}" if result.asked else result.model
            for check, findings in outcome.checks.items():
                case = SubElement(suite, "testcase", classname=printable(judge), name=check, time="0.000")
                own = [finding for finding in findings if finding[1] == result_name(result)]
                _add_finding(case, own, require_proof=require_proof)
        _add_counts(suite, list(suite))
    _add_counts(root, list(root.iter("testcase")))
    indent(root)
    return tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _add_finding(case: Element, findings: Sequence[Finding], *, require_proof: bool) -> None:
    failed = [words for state, _, words in findings if state == "not met"]
    undecided = [words for state, _, words in findings if state == "undecided"]
    if failed or (undecided and require_proof):
        message = printable("; ".join(failed or undecided))
        SubElement(case, "failure", message=message, type="not met" if failed else "undecided").text = message
    elif undecided:
        SubElement(case, "skipped", message=printable(f"undecided: {'; '.join(undecided)}"))


def _add_counts(element: Element, cases: Sequence[Element]) -> None:
    element.set("tests", str(len(cases)))
    element.set("failures", str(sum(case.find("failure") is not None for case in cases)))
    element.set("errors", "0")
    element.set("skipped", str(sum(case.find("skipped") is not None for case in cases)))
