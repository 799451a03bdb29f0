"""Labels and tables of results for terminal, Markdown, CSV and JSON."""

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain

from rich.cells import cell_len
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text
from tabulate import tabulate

from dhp.analysis.result_parts import DoseResponse, Ends, VariantResult
from dhp.analysis.results import FEWEST_PAIRS, Result, Results
from dhp.content.catalog import kind_name, variant_name
from dhp.core.text import printable, spreadsheet_safe
from dhp.report.advice import warnings
from dhp.report.findings import Findings, control_words, findings, sentences
from dhp.report.labels import STATE_COLOURS, figure, listed, percent, percents, shared_folder, state, t75
from dhp.report.notes import notes

_NARROWEST = 16
"""Columns below which the last cell of a row is not cut any more."""
_FOLDED = 3
"""Kinds of damage that a folded row names; more are counted."""


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table of plain text."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: frozenset[str] = frozenset()
    """Headings of the columns that are aligned right."""
    styles: tuple[str, ...] = ()
    """Style of each row in a terminal."""

    def printed(self, console: Console, *, cut: bool = False) -> None:
        """Print it: where it is too wide with its last column `cut`, or with each row on several lines."""
        rows = [[printable(cell) for cell in row] for row in self.rows]
        widths = [max(cell_len(text) for text in column) for column in zip(self.headings, *rows, strict=True)]
        before = sum(widths[:-1]) + 2 * (len(widths) - 1)
        room = console.width - before
        if room >= (min(widths[-1], _NARROWEST) if cut else widths[-1]):
            table = plain_table("", self.headings, self.right)
            for row, style in zip(rows, self._styles, strict=True):
                cells = [*map(Text, row[:-1]), _cut(row[-1], room)]
                table.add_row(*cells, style=style)
            self._print_title(console)
            table.title = None
            console.print(table)
            return
        self._print_title(console)
        for row, style in zip(rows, self._styles, strict=True):
            console.print(Text(row[0], style="bold"))
            named = [f"{head} {cell}" for head, cell in zip(self.headings[1:], row[1:], strict=True) if cell]
            for line in joined(named, console.width - 4):
                console.print(Text(f"    {line}", style=style))

    @property
    def _styles(self) -> Sequence[str]:
        return self.styles or [""] * len(self.rows)

    def _print_title(self, console: Console) -> None:
        if self.title:
            title = Text(printable(self.title), style="bold")
            console.print(title, soft_wrap=not console.is_terminal)


def _cut(text: str, room: int) -> Text:
    shown = Text(text)
    shown.truncate(room, overflow="ellipsis")
    return shown


def verdict_table(found: Sequence[Findings]) -> TextTable:
    """A row a result: what was noticed, detection, controls, the lowest kind."""
    judges = list(dict.fromkeys(each.judge for each in found))
    datasets = list(dict.fromkeys(each.dataset for each in found))
    shared = shared_folder(datasets)
    who = judges[0] if len(judges) == 1 else f"{len(judges)} judges"
    what = (
        datasets[0] if len(datasets) == 1 else f"{len(datasets)} sets{f' of {shared[:-1]}' if shared else ''}"
    )
    ratings = sum(each.result.ratings["asked"] for each in found)
    examples = sum({each.dataset: each.result.n for each in found}.values())
    rows = []
    for each in found:
        run = each.result.detection
        row = [
            each.dataset.removeprefix(shared),
            each.noticed,
            f"{percent(run.avg)} {percents(run.ci['avg'])}",
            control_words(each.control),
            "–" if each.lowest is None else _kind_cell(each.lowest),
        ]
        if each.too_few:
            row[1:] = ["–", f"needs {FEWEST_PAIRS} examples", "", ""]
        rows.append((each.judge, *row) if len(judges) > 1 else tuple(row))
    headings = ("data", "noticed", "detection", "controls", "lowest kind")
    return TextTable(
        f"{who} on {what}: {ratings:,} ratings of {examples:,} examples",
        ("judge", *headings) if len(judges) > 1 else headings,
        tuple(rows),
        frozenset(("noticed",)),
        tuple("bold red" if each.alarms else "" for each in found),
    )


def _kind_cell(row: VariantResult) -> str:
    return f"{percent(row.detection)} {variant_name(row.variant)}"


def kinds_table(findings: Findings, *, details: bool = False) -> TextTable:
    """One row per kind of damage, the worst first, equal ones in one row; then controls and attacks.

    `details` adds D, D with weights, the share of the drop on other metrics than expected, and the examples
    that would decide what is undecided.
    """
    several = any(len(row.metrics) > 1 for row in (*findings.damage, *findings.probes))
    weighted = details and any(row.misplaced is not None for row in findings.damage)
    more = ("D", *(("D_EW", "misplaced") if weighted else ()), "to decide") if details else ()
    headings = (
        "kind",
        "detection",
        "verdict",
        *(("best metric",) if several else ()),
        "pairs",
        *more,
    )
    rows: dict[tuple[str, ...], list[VariantResult]] = {}
    for row in (*findings.damage, *findings.probes):
        cells = [f"{percent(row.detection):>4} {percents(row.detection_ci)}", state(row)]
        cells += [row.best_metric or "–"] if several else []
        cells.append(str(row.n))
        if details:
            cells.append(figure(row.d))
            cells += [figure(row.d_ew), percent(row.misplaced)] if weighted else []
            cells.append("" if row.n_to_decide is None else f"{row.n_to_decide:,}")
        rows.setdefault((row.level if row in findings.probes else "", *cells), []).append(row)
    return TextTable(
        f"{findings.dataset}: {findings.judge}, {findings.result.n:,} examples",
        headings,
        tuple((_folded(same), *cells[1:]) for cells, same in rows.items()),
        frozenset(("pairs", *more)),
        tuple(STATE_COLOURS.get(state(same[0]), "") for same in rows.values()),
    )


def _folded(rows: Sequence[VariantResult]) -> str:
    names = listed([variant_name(row.variant).replace(", ", " ") for row in rows])
    if len(rows) == 1:
        names = variant_name(rows[0].variant)
    said = names if len(rows) <= _FOLDED else f"{len(rows)} kinds"
    still = all(cell.tied == 1 for row in rows for cell in row.metrics.values())
    return f"{said}: no score moved" if still and rows[0].level not in ("control", "attack") else said


def doses_table(curve: DoseResponse) -> TextTable:
    """Detection at each dose, and T75."""
    return TextTable(
        f"{kind_name(curve.perturber)}: detection by dose",
        ("dose", *map(str, curve.doses), "T75"),
        (("detection", *map(percent, curve.detection), t75(curve)),),
        frozenset(map(str, curve.doses)),
    )


def plain_table(title: str, headings: Sequence[str] = (), right: Collection[str] = ()) -> Table:
    """A table without rows and lines, its columns two spaces apart; any title is shown as text.

    The columns with a heading of `right` are aligned right; cells are broken where the console is too narrow.
    """
    table = Table(
        title=Text(printable(title), style="bold"),
        title_justify="left",
        box=None,
        pad_edge=False,
        padding=(0, 2, 0, 0),
    )
    for heading in headings:
        table.add_column(heading, justify="right" if heading in right else "left", overflow="fold")
    return table


def print_table(table: Table, console: Console) -> None:
    """A table below its title, which may be wider than it is."""
    if table.title:
        console.print(table.title)
        table.title = None
    console.print(table)


def joined(parts: Sequence[str], width: int) -> list[str]:
    """The parts in as few lines as hold them, none broken while it fits in a line of its own."""
    lines: list[str] = []
    for part in parts:
        if lines and len(line := f"{lines[-1]}  ·  {part}") <= width:
            lines[-1] = line
        else:
            lines.append(part)
    return lines


def fits(table: Table, console: Console, spare: int = 0) -> bool:
    """Whether every line of a table fits, with so many columns to spare."""
    wanted = Measurement.get(console, console.options.update(width=10_000), table)
    return wanted.maximum + spare <= console.width


_MARKS = re.compile(r"[\\`*\[\]<>|~$&#]|(?<![^\W_])_|_(?![^\W_])")
"""Characters that Markdown would take for markup; an underscore only at the edge of a word."""


def json_text(results: Results) -> str:
    """What `results.json` holds."""
    return json.dumps(results.to_dict(), ensure_ascii=False, indent=1) + "\n"


def csv_text(results: Results) -> str:
    """Comma-separated values, one row a (model, protocol, dataset, variant, metric), to the last digit.

    An empty cell is undefined.
    """
    frame = results.to_frame().map(spreadsheet_safe)
    return str(frame.to_csv(index=False, lineterminator="\n"))


def markdown_text(results: Results) -> str:
    """The sentence on each judge, the table of verdicts, then each result with its kinds of damage."""
    found = [findings(result) for result in results]
    parts = [f"**{markdown_cell(str(sentence))}**\n" for sentence in sentences(found)]
    if plain := [each for each in found if each.damage]:
        parts.append(markdown_of(verdict_table(plain)))
    parts += [f"- {markdown_cell(line)}" for line in warnings(found)]
    return "\n".join([*parts, *map(_section, found), ""])


def _section(findings: Findings) -> str:
    tables = [kinds_table(findings)] if findings.damage or findings.probes else []
    tables += map(doses_table, findings.result.curves)
    said = [f"- {markdown_cell(note)}" for note in notes(findings.result)]
    return "\n".join(["", *map(markdown_of, tables), *said, f"- {_code(findings.result.signature)}"])


def markdown_of(table: TextTable) -> str:
    """The table under its title."""
    right = [column for column, heading in enumerate(table.headings) if heading in table.right]
    rows = [[markdown_cell(cell) for cell in row] for row in table.rows]
    return f"### {markdown_cell(table.title)}\n\n{markdown_table(table.headings, rows, right)}\n"


def markdown_table(headings: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[int]) -> str:
    """A table of cells that are Markdown already; the columns at the places `right` are aligned right."""
    aligned = ["right" if column in right else "left" for column in range(len(headings))]
    shown = [markdown_cell(heading) for heading in headings]
    return str(tabulate(rows, shown, tablefmt="pipe", disable_numparse=True, colalign=aligned))


def markdown_cell(text: str) -> str:
    """The text on one line, without markup or control characters: for a cell of a table and elsewhere."""
    return _MARKS.sub(r"\\\g<0>", " ".join(printable(text).split()))


def _code(text: str) -> str:
    """The text as Markdown code, also if it holds back quotes."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence, space = "`" * (longest + 1), " " if longest else ""
    return f"{fence}{space}{printable(text)}{space}{fence}"


_PAIRWISE = "pairwise:"


def print_both_ways(results: Results, console: "Console") -> None:
    """Print one table for each model and dataset that were asked in both ways; nothing else."""
    for one in results:
        for other in results:
            same = (one.model, one.dataset) == (other.model, other.dataset)
            if same and other.protocol.startswith(_PAIRWISE) and not one.protocol.startswith(_PAIRWISE):
                console.print()
                console.print(both_ways_table(one, other))


def both_ways_table(pointwise: Result, pairwise: Result) -> "Table":
    """Detection of each kind of damage in both ways, and of the whole run."""
    names = [p.protocol.partition("@")[0] for p in (pointwise, pairwise)]
    title = f"{pairwise.dataset}  ·  {pairwise.model}  ·  {names[0]} beside {names[1]}"
    figures = ("pointwise", "95 %", "pairwise", "95 %")
    table = plain_table(title, ("kind", *figures), right=figures)
    others = {row.variant: row for row in pairwise.variants}
    for row in pointwise.variants:
        if other := others.get(row.variant):
            both = (_cells(each.detection, each.detection_ci) for each in (row, other))
            table.add_row(*map(Text, (variant_name(row.variant), *chain(*both))))
    whole = (_cells(each.detection.avg, each.detection.ci["avg"]) for each in (pointwise, pairwise))
    table.add_row(*map(Text, ("all", *chain(*whole))), style="bold")
    return table


def _cells(detection: float | None, ends: Ends) -> tuple[str, str]:
    return percent(detection), percents(ends)
