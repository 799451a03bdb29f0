"""The overview of the results pages: three findings, and one table of all judges, the newest first."""

from collections.abc import Sequence
from dataclasses import dataclass

from results_pages.parts import Audit, Grid, SetFigures, share_text
from results_pages.texts import TEXTS

from dhp.analysis.results import Result
from dhp.report.columns import RUNS
from dhp.report.document import Column, filled
from dhp.report.labels import percent, percents
from dhp.report.printout import markdown_table


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
    """The columns of the terminal."""
    return filled(RUNS, [line.audit.result for line in lines])


def table_of(lines: Sequence[Line]) -> str:
    """The table in Markdown."""
    columns = columns_of(lines)
    heads = ["year", "set", "judge", "n", *(column.heading for column in columns)]
    rows = [
        [line.year, line.title, line.audit.name, line.audit.pairs, *(_cell(c, line) for c in columns)]
        for line in lines
    ]
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
    if "agents" in made:
        found.append(_steps(made["agents"]))
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


def _steps(agents: SetFigures) -> str:
    audits = _audits(agents)
    outcome, votes = audits["outcome:qwen2.5:14b"], audits["selfcons3:qwen2.5:14b"]
    return (
        "**What a judge is shown decides what it sees.** Of faults in an agent's run the "
        f"same model notices {outcome.noticed} kinds if it sees the outcome alone "
        f"({percent(outcome.detection)} [{percents(outcome.ci)}]), and {votes.noticed} if it sees every step "
        f"and has three votes ({percent(votes.detection)} [{percents(votes.ci)}])."
    )
