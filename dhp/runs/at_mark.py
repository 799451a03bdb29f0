"""Judges beside each other at their pass marks: damaged texts that pass, good texts that fail."""

from collections.abc import Mapping, Sequence

import numpy as np

from dhp.analysis.passing import outcomes_at
from dhp.runs.reader import RunResult
from dhp.stats.influences import Influences
from dhp.stats.pass_mark import shares_at_mark

DAMAGED_PASS, GOOD_FAIL = "damaged_pass", "good_fail"
"""Names of the two shares in comparisons."""


def marked_shares(
    entries: Sequence[RunResult], levels: Mapping[str, str], *, silent_is_wrong: bool = False
) -> list[tuple[Influences, Influences]]:
    """Damaged texts that pass and good ones that fail, of each judge, on the texts that all answered about.

    Each judge is read at its own mark; the list is empty if one has none. `levels` are those of the kinds of
    damage. A text without a score neither passes nor fails; with `silent_is_wrong` it does what it should
    not.
    """
    common = set.intersection(*(set(entry.ratings.examples) for entry in entries))
    sides = []  # of each judge: which originals fail, and which copies pass
    for entry in entries:
        at = entry.result.pass_mark
        if at is None:
            return []
        rows = np.isin(entry.ratings.examples, list(common))
        outcomes = outcomes_at(entry.ratings, list(levels), at.marks)
        fails, passing = outcomes.counted(float(silent_is_wrong))
        sides.append((fails[rows], passing[rows]))

    # What one judge lacks counts for none: only then do differences say something of the judges.
    all_fails, all_passing = map(np.stack, zip(*sides, strict=True))
    no_original = np.isnan(all_fails).any(axis=0)
    no_copy = np.isnan(all_passing).any(axis=0)

    shares = []
    for fails, passing in sides:
        good = np.where(no_original, np.nan, fails)
        damaged = np.where(no_copy, np.nan, passing)
        shares.append(shares_at_mark(good, damaged, [*levels.values()]))
    return shares
