"""The overview of the results pages: three findings, and one table of all judges, the newest first.

What passes is told of the worst kind, as in the picture, and the mean over kinds stands beside it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from results_pages.parts import Audit, Grid, SetFigures, share_text
from results_pages.texts import TEXTS

from dhp.analysis.results import Result
from dhp.report.columns import AVERAGES, RUNS
from dhp.report.document import Column, filled
from dhp.report.labels import percent, percents
from dhp.report.markdown import markdown_table


@dataclass(frozen=True, slots=True)
class Line:
    """A row of the table of all judges."""

    figures: SetFigures
    audit: Audit

    @property
    def year(self) -> str:
        """Of the answers or scores."""
        return TEXTS[self.figures.name].dated

    @property
    def title(self) -> str:
        """Of the set."""
        return TEXTS[self.figures.name].title


def lines_of(sets: Sequence[SetFigures]) -> list[Line]:
    """Every judge in every grid that the overview shows: by year, then as the sets stand, best first."""
    grids = [(each, part) for each in sets for part in each.shown if isinstance(part, Grid)]
    ranked = [
        Line(each, audit)
        for each, grid in grids
        for audit in sorted(grid.audits, key=lambda a: -(a.detection or 0.0))
    ]
    return sorted(ranked, key=lambda line: -(TEXTS[line.figures.name].year or 0))


def columns_of(lines: Sequence[Line]) -> list[Column[Result]]:
    """The columns of the terminal, D last as the sets differ in N."""
    discernment = [column for column in RUNS if column in AVERAGES]
    others = [column for column in RUNS if column not in AVERAGES]
    return filled([*others, *discernment], [line.audit.result for line in lines])


def table_of(lines: Sequence[Line]) -> str:
    """The table in Markdown."""
    columns = columns_of(lines)
    heads = ["year", "set", "judge", "n", *(column.heading for column in columns)]
    rows = []
    for line in lines:
        about = [line.year, line.title, line.audit.name, line.audit.pairs]
        rows.append([*about, *(_cell(column, line) for column in columns)])
    return markdown_table(heads, rows, [3, *(4 + i for i, column in enumerate(columns) if column.right)])


def _cell(column: Column[Result], line: Line) -> str:
    return column.shown(line.audit.result).strip()


def findings(sets: Sequence[SetFigures]) -> list[str]:
    """What a practitioner should know first, each with its figures; without those whose set is not there."""
    made = {each.name: each for each in sets}
    found = []
    if {"blind_spot", "locomo_judge"} <= made.keys():
        found.append(_seeing(made["blind_spot"], made["locomo_judge"]))
        found.append(_mark(made["blind_spot"]))
    if {"trec_rag", "judgebench_claude"} <= made.keys():
        found.append(_silence(made["trec_rag"], made["judgebench_claude"]))
    return found


def _audits(figures: SetFigures) -> dict[str, Audit]:
    return {a.judge: a for a in figures.grids[0].audits}


def _detection(audit: Audit, kind: str) -> str:
    cell = audit.cell(kind)
    assert cell is not None
    return f"{percent(cell.detection)} [{percents(cell.ci)}]"


def _seeing(blind_spot: SetFigures, memory: SetFigures) -> str:
    newest = _audits(blind_spot)["gpt-5.5-2026-04-23"]
    (production,) = _audits(memory).values()
    return (
        "**Seeing is not stopping.** GPT-5.5 scores subtle errors below the clean answer in "
        f"{_detection(newest, 'subtle error')} of 42 pairs, and at a mark of 7 of 10, "
        f"{share_text(newest.passes('subtle error'))} of them pass all the same; the judge of five memory "
        f"systems (GPT-4o mini) lets {share_text(production.passes('vague but topical'))} of vague wrong "
        "answers pass. Look at what passes (`--pass-mark`), not at detection alone."
    )


def _mark(blind_spot: SetFigures) -> str:
    shares = {name: audit.passes("subtle error") for name, audit in _audits(blind_spot).items()}
    least, most = (choose(shares, key=lambda name: shares[name].share) for choose in (min, max))
    return (
        f"**A mark belongs to its judge.** At the same mark of 7, {least} lets {share_text(shares[least])} "
        f"of subtle errors pass and {most} {share_text(shares[most])}. If you change the judge, choose the "
        "mark anew, on your texts."
    )


def _silence(graded: SetFigures, verdicts: SetFigures) -> str:
    unread = sorted(
        ((1 - (a.result.read or 0.0), a) for a in _audits(graded).values()), key=lambda each: -each[0]
    )
    silent = [(share, audit) for share, audit in unread if share > 0.5]
    names = ", ".join(f"{audit.judge} in {percent(share)}" for share, audit in silent)
    (left_out,) = verdicts.tables
    alone = {row[0]: row[left_out.heads.index("left out")] for row in left_out.rows}
    last = min(_audits(verdicts).values(), key=lambda audit: audit.detection or 0.0)
    return (
        f"**Silence is no sight.** On passages that people graded {names} of the calls gave no score, and so "
        f"they notice {_most(audit.noticed for _, audit in silent)}. Look at `read` first: on JudgeBench "
        f"{last.judge} gave a verdict in {percent(last.result.read)} of its answers and comes last "
        f"({percent(last.detection)} [{percents(last.ci)}]); over its answered pairs alone it would have "
        f"{alone[last.judge]}."
    )


def _most(noticed: Iterable[str]) -> str:
    """The best of `0 of 3` and the like."""
    return max(noticed, key=lambda words: int(words.partition(" ")[0])).replace("0 of", "none of")
