"""What the pages of a leaderboard say, as parts of a document.

`board_parts` makes the first page, `dataset_parts` and `model_parts` those of a dataset and a model. All show
a table of results by `results_table`, or its columns, and what these results share by `shared_parts`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from dhp.analysis.results import Result, VariantResult
from dhp.core.verdicts import verdicts_about
from dhp.leaderboard.entries import UNKNOWN, Entry, safe_name
from dhp.leaderboard.rows import (
    COST,
    MODEL,
    PROTOCOL,
    RANK,
    SCORED,
    SECONDS,
    Row,
    shown_rank,
    shown_size,
    size_class,
)
from dhp.leaderboard.tables import RULES, judges_of
from dhp.leaderboard.tables import Table as BoardTable
from dhp.report.charts import discernment_charts
from dhp.report.columns import DRAWN, KIND, LEVEL, kind_columns, legend, row_name, run_columns
from dhp.report.document import (
    Alarm,
    Block,
    Chart,
    Code,
    Column,
    Facts,
    Fold,
    Heading,
    Note,
    Part,
    Table,
    item,
)
from dhp.report.labels import percent, percents, shared_folder
from dhp.report.notes import notes
from dhp.report.shared_styles import agreement_parts

if TYPE_CHECKING:
    from markupsafe import Markup

JudgeKey = tuple[str, str]
"""Model and protocol."""


def _result(row: Row) -> Result:
    return row.entry.result


def model_file(model: str) -> str:
    """Where the page of a model lies in the site."""
    return f"models/{safe_name(model)}.html"


def dataset_file(dataset: str) -> str:
    """Where the page of a dataset lies in the site."""
    return f"datasets/{safe_name(dataset)}.html"


def shared_parts(table: BoardTable) -> list[Part]:
    """What the results of a table have in common."""
    about = f"{table.parts['n']} examples"
    if table.task != UNKNOWN:
        about = f"{table.task.replace('_', ' ')}, {about}"
    return [
        Note(about),
        Fold("What these results share", [Facts(table.parts, css="parts")], css="note"),
    ]


def ranking(tables: Sequence[BoardTable]) -> list[Part]:
    """How the ranks of some tables were found."""
    used = {table.rule for table in tables if len(table.rows) > 1}  # a judge alone has no rank
    return [Note(meaning) for rule, meaning in RULES.items() if rule in used]


def results_table(table: BoardTable, root: str = "") -> Table[Row]:
    """A row for each judge."""
    model = replace(MODEL, names=True, words=_name_of_model, extra=_link_to_model(root))
    # These columns are about results, and rows of a board hold one each.
    figures = [column.on(_result) for column in table.columns]
    return Table(
        f"Results on {table.dataset}",
        [RANK, model, *figures, *table.beside],
        table.rows,
        tags=lambda row: _tags(table) | _tags_of_judge(row.entry),
        css="results stacked",
        titled=False,
    )


def _name_of_model(row: Row) -> str:
    return row.entry.result.model or "(no name)"


def _link_to_model(root: str) -> Callable[[Row], dict[str, str]]:
    return lambda row: {"link": root + model_file(row.entry.result.model)}


def _tags(table: BoardTable) -> dict[str, str]:
    """What the filters of the first page know of a table."""
    return {"task": table.task, "dataset": table.dataset}


def _tags_of_judge(entry: Entry) -> dict[str, str]:
    """What the filters of the first page know of a judge."""
    return {"protocol": entry.result.protocol, "provider": entry.provider, "size": size_class(entry)}


_OF_OVERVIEW = (
    "Detection (50 % is blind) and, small, the rank in each table, in order of the mean rank; ! marks a "
    "false alarm on harmless edits, – a judge without figures there."
)


def board_parts(tables: Sequence[BoardTable], names: Mapping[JudgeKey, str]) -> list[Part]:
    """The first page, below its filters: all judges on all sets, then a table for each set."""
    parts: list[Part] = [
        Heading("Overview", id="overview"),
        Note(_OF_OVERVIEW),
        *ranking(tables),
        _overview(tables, names),
    ]
    for number, table in enumerate(tables, 1):
        heading = Heading(f"{number} {table.dataset}", link=dataset_file(table.dataset))
        about, shared = shared_parts(table)
        results: list[Part] = [results_table(table), *map(Note, legend(table.results))]
        if len(tables) > _OPEN_TABLES:
            of_set: list[Part] = [about, Fold("Ranks, D, controls", results), shared]
        else:
            of_set = [about, shared, *results]
        parts.append(Block([heading, *of_set], tags=_tags(table)))
    return parts


_OPEN_TABLES = 2
"""Chosen: up to so many tables are open on the first page.

If there are more, all are folded, as the overview has what matters most.
"""


_Judge = tuple[Entry, Sequence[Row | None]]
"""A judge with its row in each table."""


def _overview(tables: Sequence[BoardTable], names: Mapping[JudgeKey, str]) -> Table[_Judge]:
    """A row for each judge, a column for each table."""
    # The folder that all names begin with would only make the headings longer.
    shared = shared_folder([table.dataset for table in tables])
    judge = Column[Entry](
        "judge",
        lambda entry: names[entry.judge] or "(no name)",
        names=True,
        extra=lambda entry: {"link": model_file(entry.result.model)},
    )
    # A row is a `_Judge`: its entry, then its rows by the number of the table.
    columns: list[Column[_Judge]] = [judge.on(item(0))]
    for place, table in enumerate(tables):
        heading = f"{place + 1} {table.dataset.removeprefix(shared)}"
        column = replace(_DETECTION_AND_RANK, heading=heading, tags=_tags(table))
        columns.append(column.on(item(1, place)))
    return Table(
        "Overview",
        columns,
        judges_of(tables),
        tags=lambda judge: _tags_of_judge(judge[0]),
        css="overview stacked",
        titled=False,
    )


def _detection(row: Row | None) -> float | None:
    return None if row is None else row.entry.detection


def _rank_below(row: Row | None) -> dict[str, Any]:
    """The rank with the mark of a false alarm, and a shade that is deeper the more is detected."""
    share = _detection(row)
    if row is None or share is None:
        return {}
    alarm = " !" if row.entry.result.alarms else ""
    shade = max(2 * share - 1, 0)  # none up to 50 %, where a judge is blind, and full at 100 %
    return {"small": shown_rank(row) + alarm, "shade": shade}


_DETECTION_AND_RANK = Column[Row | None]("detection", _detection, percent, extra=_rank_below)


@dataclass(frozen=True, slots=True)
class ChartedTable:
    """A table with the charts of its page."""

    table: BoardTable
    by_size: "Markup | None"
    by_cost: "Markup | None"


def dataset_parts(charted: Sequence[ChartedTable], root: str) -> list[Part]:
    """The page of a dataset: each of its tables with its charts."""
    return [Block([*_of_table(each, root)]) for each in charted]


def _of_table(charted: ChartedTable, root: str) -> Iterator[Part]:
    table = charted.table
    yield Heading("1 judge" if len(table.rows) == 1 else f"{len(table.rows)} judges")
    yield from shared_parts(table)
    yield results_table(table, root)
    yield from map(Note, legend(table.results))
    yield from ranking([table])
    yield Heading("Detection by kind of damage", 3)
    verdicts = (*verdicts_about("damage"), *verdicts_about("probe"))
    words = [verdict.signed for verdict in verdicts if verdict.sign]
    yield Note(f"{', '.join(words)}.")
    yield kinds_of_judges(table, root)
    if table.comparison:
        yield Heading("How far judges agree with each other", 3)
        yield from agreement_parts(table.comparison)
    charts = discernment_charts(table.results)
    if charts:
        yield Heading("D by kind of damage", 3)
        yield Chart(charts)
    if charted.by_cost:
        yield Heading("Detection by cost", 3)
        note = "In the currency of the runs' prices; judges without prices are left out."
        yield Chart([charted.by_cost], note)
    if charted.by_size:
        yield Heading("Detection by size", 3)
        note = "A family is what stands before the size in a model's name; the size is that in its name."
        yield Chart([charted.by_size], note)


def kinds_of_judges(table: BoardTable, root: str) -> Table[Row]:
    """A row for each judge, a column for each kind of damage and control."""
    # Results of one table have the same suite: the kinds of damage of the first are those of all.
    first = table.results[0]
    judge = Column[Row](
        "judge",
        lambda row: table.names[row.entry.judge] or "(no name)",
        names=True,
        extra=_link_to_model(root),
    )
    kinds = [_column_of_kind(kind) for kind in (*first.variants, *first.controls)]
    return Table("Detection by kind of damage", [judge, *kinds], table.rows, css="kinds", titled=False)


def _column_of_kind(kind: VariantResult) -> Column[Row]:
    """The detection of a kind of damage or control, in the colour of its verdict."""

    def of_judge(row: Row) -> VariantResult | None:
        result = row.entry.result
        for each in (*result.variants, *result.controls):
            if each.variant == kind.variant:
                return each
        return None

    column = Column[VariantResult | None](row_name(kind), _detection_of, percent, extra=_verdict_of)
    return column.on(of_judge)


def _detection_of(kind: VariantResult | None) -> float | None:
    return None if kind is None else kind.detection


def _verdict_of(kind: VariantResult | None) -> dict[str, Any]:
    """The verdict, and its limits for the pointer."""
    if kind is None:
        return {}
    title = f"{kind.state} {percents(kind.detection_ci)}"
    if kind.partly_read:
        title += f", read {percent(kind.read)}"
    return {"word": kind.state, "title": title}


@dataclass(frozen=True, slots=True)
class _Placed:
    """A result of a model on its page."""

    table: BoardTable
    row: Row
    mark: str
    """The id of its heading, which links lead to."""


def model_parts(results: Sequence[tuple[BoardTable, Row]], compared: str, root: str) -> list[Part]:
    """The page of a model: all its results, then each; `compared` is its name on the page of comparisons."""
    placed = [_Placed(table, row, f"result-{number}") for number, (table, row) in enumerate(results, 1)]
    # Provider and size follow from the model's name, which is the same in all results.
    entry = placed[0].row.entry
    size = shown_size(entry.size) if entry.size else "unknown"
    link = f"{root}compare.html#{urlencode({'one': compared})}"
    return [
        Note(f"Provider {entry.provider}, size {size}."),
        Heading("Compare it with another judge", link=link),
        _results_of_model(placed),
        *(Block([*_of_result(each, root)]) for each in placed),
    ]


def _results_of_model(results: Sequence[_Placed]) -> Table[_Placed]:
    """A row for each dataset."""
    dataset = Column[_Placed](
        "dataset",
        lambda each: each.table.dataset,
        names=True,
        extra=lambda each: {"link": f"#{each.mark}"},
    )
    rank = replace(RANK.on(_row), extra=lambda each: {"small": f"of {len(each.table.rows)}"})
    figures = run_columns([each.row.entry.result for each in results])
    # A column is told by `on` how to get from what a row is to what the column is about.
    columns: list[Column[_Placed]] = [
        dataset,
        PROTOCOL.on(_row),
        rank,
        *(column.on(_result).on(_row) for column in figures),
        *(column.on(_row) for column in (COST, SECONDS, SCORED)),
    ]
    return Table("All results", columns, results, titled=False)


def _row(placed: _Placed) -> Row:
    return placed.row


def _of_result(placed: _Placed, root: str) -> Iterator[Part]:
    """One result of a model: what it shares with its table, its warnings, its kinds of damage, its notes."""
    dataset, result = placed.table.dataset, placed.row.entry.result
    yield Heading(dataset, id=placed.mark, link=root + dataset_file(dataset))
    yield from shared_parts(placed.table)
    yield from map(Alarm, result.warnings)
    rows = (*result.variants, *result.controls, *result.attacks)
    columns = [KIND, DRAWN, *kind_columns(rows, details=1), LEVEL]
    title = f"Detection by kind of damage on {dataset}"
    yield Table(title, columns, rows, word=lambda kind: kind.state, titled=False)
    yield from map(Note, notes(result))
    yield Fold(f"Computed {result.created[:10]}", [Code(result.signature, faint=True)], css="note")
