"""The last thing that is said: one table over all datasets and judges, and one sentence a judge."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from dhp.analysis.results import Result
from dhp.content.damage import kind_name
from dhp.core.text import printable
from dhp.report.labels import figure, judge_name, percent, percents, state
from dhp.report.tables import fits, joined, plain_table
from dhp.report.thresholds import threshold_sentences

_BLIND = 3  # kinds of damage in one cell
_BLIND_CELLS = 24  # columns that blind spots have at least


def print_overview(results: Sequence[Result], console: Console) -> None:
    """Print the table and the sentences; of results in doses the sentence alone."""
    shown = [result for result in results if not result.curves]
    if shown:
        console.print()
        _print_table(shown, console)
        console.print()
        for line in verdict_sentences(shown):
            console.print(line, highlight=False, markup=False)
    if dosed := threshold_sentences(results):
        console.print()
        for line in dosed:
            console.print(line, highlight=False, markup=False)


def verdict_sentences(results: Sequence[Result]) -> list[str]:
    """One sentence a judge: what it sees and what it misses, over all its datasets."""
    judges = list(dict.fromkeys(map(judge_name, results)))
    return [f"{name}: {verdict_sentence([r for r in results if judge_name(r) == name])}" for name in judges]


def blind_spots(results: Sequence[Result]) -> list[str]:
    """The kinds of damage that are missed somewhere, those of the lowest detection first."""
    missed: dict[str, float] = {}
    for result in results:
        for row in result.variants:
            if state(row) == "missed":
                kind = kind_name(row.variant)
                missed[kind] = min(missed.get(kind, 1.0), row.detection or 0.0)
    return sorted(missed, key=missed.__getitem__)


def controls(result: Result) -> str:
    """Whether the controls were passed, in words."""
    return {True: "passed", False: "FALSE ALARM", None: "not run"}[result.controls_passed]


def _print_table(results: Sequence[Result], console: Console) -> None:
    """A row a result, or where the terminal is too narrow for that its name and its figures in words."""
    columns = _columns(results)
    table = _table(results, columns)
    if fits(_table(results, columns[:-1]), console, spare=_BLIND_CELLS):
        console.print(table)
        return
    console.print(table.title)
    named = [heading for heading, _ in columns if heading in ("data", "judge")]
    for result in results:
        cells = {heading: printable(cell(result)) for heading, cell in columns}
        console.print("  ·  ".join(cells[heading] for heading in named), style="bold", **_PLAIN)
        figures = [f"{heading} {cells[heading]}" for heading, _ in columns if heading not in named]
        if "95 %" in cells:
            figures[1:3] = [f"{figures[1]} ({cells['95 %']})"]
        colour = "red" if result.controls_passed is False else ""
        for line in joined(figures, console.width - 4):
            console.print(f"    {line}", style=colour, **_PLAIN)


def _columns(results: Sequence[Result]) -> list[tuple[str, Callable[[Result], str]]]:
    columns: list[tuple[str, Callable[[Result], str]]] = [("data", lambda r: r.dataset)]
    if len({judge_name(r) for r in results}) > 1:
        columns.append(("judge", judge_name))
    columns += [
        ("noticed", noticed_count),
        ("detection", lambda r: percent(r.detection.avg) if r.detection else "–"),
        ("95 %", lambda r: percents(r.detection.ci["avg"]) if r.detection else "–"),
        ("D_avg", lambda r: figure(r.d_avg)),
        ("D_min", lambda r: figure(r.d_min)),
        ("controls", controls),
    ]
    if any(r.cost is not None for r in results):
        columns.append(("cost", lambda r: figure(r.cost)))
    return [*columns, ("blind spots", _blind_cell)]


def _table(results: Sequence[Result], columns: Sequence[tuple[str, Callable[[Result], str]]]) -> Table:
    table = plain_table("Verdict")
    for heading, _ in columns:
        table.add_column(
            heading, justify="left" if heading in _WORDS else "right", no_wrap=heading != "blind spots"
        )
    for result in results:
        colour = "red" if result.controls_passed is False else ""
        table.add_row(*(Text(printable(cell(result))) for _, cell in columns), style=colour)
    return table


_WORDS = ("data", "judge", "controls", "blind spots")
_PLAIN: Mapping[str, Any] = {"highlight": False, "markup": False}


def noticed_count(result: Result) -> str:
    """How many variants were noticed, of how many; the undecided in brackets."""
    states = [state(row) for row in result.variants]
    undecided = states.count("undecided")
    said = f"{states.count('noticed')} of {len(states)}"
    return f"{said} ({undecided} open)" if undecided else said


def _blind_cell(result: Result) -> str:
    kinds = blind_spots([result])
    more = f" and {len(kinds) - _BLIND} more" if len(kinds) > _BLIND else ""
    return ", ".join(kinds[:_BLIND]) + more or "none"


def verdict_sentence(results: Sequence[Result]) -> str:
    """What one judge sees and misses over its datasets."""
    rows = [row for result in results for row in result.variants]
    missed = blind_spots(results)
    seen = _kinds([row.variant for row in rows if state(row) == "noticed"], missed)
    open_ = _kinds([row.variant for row in rows if state(row) == "undecided"], [*missed, *seen])
    parts = [f"sees {_listed(seen)}"] if seen else ["sees no kind of damage for sure"]
    parts += [f"misses {_listed(missed)}"] if missed else []
    parts += [f"undecided on {_listed(open_)}"] if open_ else []
    if any(result.controls_passed is False for result in results):
        parts.append("false alarms on harmless edits")
    return f"{'; '.join(parts)}."


def _kinds(variants: Sequence[str], but: Sequence[str]) -> list[str]:
    return [kind for kind in dict.fromkeys(map(kind_name, variants)) if kind not in but]


def _listed(kinds: Sequence[str]) -> str:
    if len(kinds) < 2:
        return "".join(kinds)
    return f"{', '.join(kinds[:-1])} and {kinds[-1]}"
