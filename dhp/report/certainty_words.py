"""How sure a judge is and how right, and when to ask a person: the sentences."""

from collections.abc import Sequence

from dhp.analysis.certainty import FEWEST, Asked, Asking, Certainty
from dhp.analysis.results import Result
from dhp.content.catalog import variant_name
from dhp.report.labels import percent

_TOLD = 0.2
"""Share of the texts that the sentence speaks of. Chosen; one of those that `Asking` has."""
_MANY_FAIL = 0.2
"""Share of originals that fail, above which certainty speaks of the mark more than of the judge. Chosen."""


def certainty_sentence(certainty: Certainty) -> str:
    """`says 97 %, is right in 77 %: too sure by 20 [18, 21]`."""
    verdicts = certainty.verdicts
    points = 100 * (verdicts.sure - verdicts.right)
    low, high = 100 * verdicts.low, 100 * verdicts.high
    least = "at least " if certainty.at_least else ""
    words = f"says {least}{percent(verdicts.sure)}, is right in {percent(verdicts.right)}"
    if low > 0:
        return f"{words}: too sure by {least}{points:.0f} [{low:.0f}, {high:.0f}]"
    # A probability that is at least so high cannot show that the judge is less sure than right.
    if high < 0 and not least:
        return f"{words}: less sure than right, by {-points:.0f} [{-high:.0f}, {-low:.0f}]"
    return f"{words}: no more sure than right, as far as this shows [{low:.0f}, {high:.0f}]"


def asking_sentence(asking: Asking) -> str:
    """What asking a person about the texts nearest to the mark leaves, against as many drawn by lot."""
    before = asking.of_all[0]
    row = _row(asking.of_all, _TOLD)
    words = f"a person who reads the {percent(_TOLD)} nearest to the mark leaves {_number(row.passing)}"
    words += f" instead of {percent(before.passing)} of damaged texts"
    if row.gain[1] <= 0:  # the lower limit of the gain over asking at random
        return f"{words}, and asking at random does as well"
    return f"{words} (at random {_number(row.passing + row.gain[0])})"


def certainty_notes(result: Result) -> list[str]:
    """What stands below the sentence: tails by kind, Brier's score, and what it all assumes."""
    notes = []
    if result.certainty is not None:
        notes += _notes_on_certainty(result.certainty)
        fails = result.pass_mark.fails if result.pass_mark else None
        if fails is not None and fails.share > _MANY_FAIL:
            notes.append(
                f"{percent(fails.share)} of the good texts fail: the figure speaks of the mark, too."
            )
    if result.pass_mark is not None and result.asking is None and result.n < FEWEST:
        notes.append(f"Too few examples ({result.n}) to say when to ask a person; it takes {FEWEST}.")
    return notes


def _notes_on_certainty(certainty: Certainty) -> list[str]:
    kinds = sorted(certainty.sure_damaged.items(), key=lambda each: -each[1].share)
    tails = [f"{variant_name(name)} {percent(tail.share)}" for name, tail in kinds]
    notes = [f"Sure that damaged texts pass (above .9): {', '.join(tails)}."]
    if certainty.sure_fails is not None:
        notes.append(f"Sure that good texts fail (below .1): {percent(certainty.sure_fails.share)}.")
    verdicts = certainty.verdicts
    brier = "" if verdicts.brier is None else f"Brier score {verdicts.brier:.2f} (always saying .5 has .25). "
    several = " of passing each metric's, at the least" if certainty.at_least else ""
    notes.append(
        f"{brier}Over {verdicts.n:,} examples; probabilities{several}, from {_SOURCES[certainty.source]}. It "
        "is taken that half of the texts are bad and that this damage must fail at the mark."
    )
    return notes


_SOURCES = {
    "probabilities": "the judge's answers",
    "column": "a column of the ratings",
    "samples": "the share of its answers that pass",
}


def _row(rows: Sequence[Asked], share: float) -> Asked:
    # Shares are floats: equal up to rounding.
    return next(row for row in rows if abs(row.share - share) < 1e-9)


def _number(share: float) -> str:
    return percent(share).removesuffix("%").strip()
