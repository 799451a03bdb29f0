"""How sure and how right a judge is, and what a person who reads the texts near the mark leaves."""

from collections.abc import Sequence

from results_pages.parts import Table

from dhp.analysis.results import Result
from dhp.report.certainty_words import certainty_sentence

_ASKED, _ASKED_OF_PASSING = 0.2, 0.1
"""Shares of the texts, and of the passing texts, that go to a person."""


def asking_table(marked: Sequence[tuple[float, Sequence[Result]]], commands: tuple[str, ...]) -> Table:
    """A row for each mark and judge.

    Parameters
    ----------
    marked
        Pass marks, each with the results of all judges at it.
    commands
        Print the same figures.
    """
    rows = [(r.model, f"{mark:g}", *_cells(r)) for mark, results in marked for r in results]
    known = any(r.certainty for _, results in marked for r in results)
    heads = ("judge", "mark", "n", "sure and right", "damaged that pass", "20% asked", "gain", "sent", "10%")
    table = Table(
        "When to ask a person",
        "What is left if a person reads the 20 % of the texts nearest to the mark, good and damaged half and "
        "half. The gain is in points against as many drawn by lot, with its 95 % limits; sent: shares of the "
        "good, of the damaged and of the passing texts that go to the person. 10%: damaged texts that pass "
        "if the person reads a tenth of the texts, all of them passing ones, and in brackets the same by lot."
        + (" Sure and right: by originals and copies alike, without labels." if known else ""),
        heads,
        tuple(rows),
        commands,
        words=1,
    )
    return table if known else _without(table, heads.index("sure and right"))


def _cells(result: Result) -> tuple[str, ...]:
    sure = "–" if result.certainty is None else certainty_sentence(result.certainty)
    if result.asking is None:
        return str(result.n), sure, "too few", "", "", "", ""
    of_all = {row.share: row for row in result.asking.of_all}
    before, asked = of_all[0.0], of_all[_ASKED]
    (only,) = [row for row in result.asking.of_passing if row.share == _ASKED_OF_PASSING]
    gain, low, high = (100 * each for each in asked.gain)
    return (
        str(result.n),
        sure,
        f"{100 * before.passing:.1f}%",
        f"{100 * asked.passing:.1f}%",
        f"{gain:.1f} [{low:.1f} to {high:.1f}]",
        " / ".join(f"{100 * share:.0f}" for share in (asked.good, asked.damaged, asked.of_passing)) + "%",
        f"{100 * only.passing:.1f}% ({100 * (only.passing + only.gain[0]):.1f}%)",
    )


def _without(table: Table, column: int) -> Table:
    heads, *rows = (line[:column] + line[column + 1 :] for line in (table.heads, *table.rows))
    return Table(table.title, table.note, heads, tuple(rows), table.commands, table.words)
