"""The history of a gate: its checks as JSON Lines, and a page with charts of all of them."""

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from dhp.analysis.results import STRICT
from dhp.core.errors import InputError
from dhp.core.files import Lock, json_line, open_regular, opened, unwritable, write_lines
from dhp.core.text import printable
from dhp.report.charts import Point, drawn, line_with_intervals, mark_blind
from dhp.report.web import page
from dhp.runs.gate import Outcome
from dhp.runs.gate_findings import State, result_name

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.figure import Figure
    from pydantic import TypeAdapter

_WAIT = 60.0
"""Seconds for which a check waits until others have added theirs; each takes about one."""
_LEGEND = 10
"""Lines of a chart that have names beside it."""


@dataclass(frozen=True, slots=True)
class Moved:
    """Shift of level of one metric."""

    __pydantic_config__: ClassVar[Mapping[str, str | bool]] = STRICT

    points: float | None
    ci: tuple[float, float] | None
    n: int


@dataclass(frozen=True, slots=True)
class Checked:
    """One result of the run that was checked."""

    __pydantic_config__: ClassVar[Mapping[str, str | bool]] = STRICT

    dataset: str
    model: str
    protocol: str
    signature: str
    detection: float | None
    detection_ci: tuple[float, float] | None
    shift: dict[str, Moved]
    """Metric -> its shift of level against the earlier run."""


@dataclass(frozen=True, slots=True)
class Check:
    """One line of a history."""

    __pydantic_config__: ClassVar[Mapping[str, str | bool]] = STRICT

    schema: Literal["dhp.gate/1"]
    time: str
    """UTC."""
    run: str
    against: str | None
    """The earlier run."""
    state: State
    passed: bool
    line: str
    """As `dhp gate` prints it."""
    results: tuple[Checked, ...]


def add_to_history(file: Path, run: str, against: str | None, outcome: Outcome) -> Path:
    """Append an outcome to a history, and draw all of it.

    The history is JSON Lines, one line a check, made if it does not exist; the page that is returned lies
    beside it, under its name. Nothing that the file holds is changed. Raises `InputError` for a file with
    another ending, and one that cannot be written.
    """
    if file.suffix != ".jsonl":
        raise InputError(f"`history` {file}: allowed: a file that ends in .jsonl")
    with Lock(file.with_name(f".{file.name}.lock"), f"`history` {file}", wait=_WAIT):
        _append(file, json_line(asdict(_check(run, against, outcome))))
        checks, others = read_history(file)
        target = file.with_suffix(".html")
        write_lines(target, [history_page(checks)])
    if others:
        lines = "1 line is" if others == 1 else f"{others} lines are"
        logging.getLogger("dhp").warning(
            "note: %s: %s no check of a gate; kept in the file, left out of the page", file, lines
        )
    return target


def _append(file: Path, line: str) -> None:
    """Append a line; one that was cut off before it is ended first."""
    try:
        with os.fdopen(open_regular(file, os.O_RDWR | os.O_APPEND), "ab+") as history:
            if history.tell():
                history.seek(-1, os.SEEK_END)
                if history.read(1) != b"\n":
                    line = f"\n{line}"
            history.write(line.encode())
    except OSError as e:
        raise unwritable(f"`history` {file}", e) from None


def read_history(file: Path) -> tuple[list[Check], int]:
    """The checks in a history, and how many of its lines are none."""
    checks, others = [], 0
    with opened(file) as lines:
        for line in lines:
            if check := _read(line):
                checks.append(check)
            elif line.strip():
                others += 1
    return checks, others


def _read(line: bytes) -> Check | None:
    """The check in a line; None if there is none."""
    try:
        return _adapter().validate_json(line, strict=True)
    except ValueError:
        return None


@cache
def _adapter() -> "TypeAdapter[Check]":
    from pydantic import TypeAdapter

    return TypeAdapter(Check)


def _check(run: str, against: str | None, outcome: Outcome) -> Check:
    results = tuple(
        Checked(
            r.dataset,
            r.model,
            r.protocol,
            r.signature,
            r.detection.avg,
            r.detection.ci["avg"],
            {s.metric: Moved(s.points, s.ci, s.n) for s in outcome.shifts.get(result_name(r), ())},
        )
        for r in outcome.results
    )
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return Check("dhp.gate/1", now, run, against, outcome.state, outcome.passed, outcome.sentence, results)


def history_page(checks: Sequence[Check]) -> str:
    """Detection and shift of level from check to check, and a table of all checks."""
    detection: dict[str, list[Point]] = {}
    shift: dict[str, list[Point]] = {}
    for number, check in enumerate(checks, 1):
        for result in check.results:
            name = f"{result.dataset}, {result.model}"
            if result.detection is not None:
                point = (number, result.detection, result.detection_ci)
                detection.setdefault(name, []).append(point)
            for metric, moved in result.shift.items():
                if moved.points is not None:
                    shift.setdefault(f"{name}, {metric}", []).append((number, moved.points, moved.ci))
    charts = [
        ("Detection", _chart(detection, "detection", 0.5, lambda value: f"{value:.0%}")),
        ("Shift of level", _chart(shift, "points of the scale", 0.0, lambda value: f"{value:+.2f}")),
    ]
    return page("history.html", checks=checks, charts=charts)


def _chart(
    lines: dict[str, list[Point]], quantity: str, zero: float, shown: Callable[[float], str]
) -> "Markup | None":
    """A line for each name; None if there is none. `zero` is where nothing is to see."""
    if not lines:
        return None

    from matplotlib.ticker import MaxNLocator

    def draw(figure: "Figure") -> None:
        axes = figure.subplots()
        for name, points in lines.items():
            line_with_intervals(axes, points, printable(name), marker="o", markersize=3)
        mark_blind(axes, zero)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.yaxis.set_major_formatter(lambda value, _: shown(value))
        axes.set_xlabel("check")
        axes.set_ylabel(quantity)
        if len(lines) <= _LEGEND:
            figure.legend(loc="outside lower center", frameon=False, ncols=min(2, len(lines)))

    words = "; ".join(
        f"{name} {', '.join(shown(value) for _, value, _ in points)}" for name, points in lines.items()
    )
    return drawn(draw, 8.6, 3.2, printable(f"{quantity} from check to check: {words}."))
