"""Errors of a judge at its pass mark: damaged texts that pass, good texts that fail."""

import numpy as np

from dhp.core.seeding import key_digest
from dhp.runs.at_mark import marked_shares
from dhp.runs.compare import judge_scores
from dhp.runs.reader import RunResult
from dhp.stats.influences import added
from dhp.stats.swap import Swapped, swap


def errors_of(rated: RunResult) -> float | None:
    """Both shares of errors added, in [0, 2]; a text without a score is one. None without a pass mark."""
    mean, mark = rated.result.mean_passing, rated.result.pass_mark
    if mean is None or mark is None or mark.fails is None:
        return None
    # The shares in which texts without a score count as errors.
    _, most_passing = mean
    return most_passing + mark.fails.most


def errors_apart(old: RunResult, new: RunResult) -> Swapped:
    """Damaged texts that pass and good ones that fail, both shares added: of one judge less those of another.

    Texts without a score are errors. The judges have marks; the figure lies between -2 and 2.
    """
    levels = {row.variant: row.level for row in old.result.variants}
    _, clusters = judge_scores([old, new], list(levels))
    old_shares, new_shares = marked_shares([old, new], levels, silent_is_wrong=True)
    before, after = added(*old_shares), added(*new_shares)
    # The same two judges get the same swaps, whatever was computed before.
    rng = np.random.default_rng(int.from_bytes(key_digest("errors", old.ratings.digest, new.ratings.digest)))
    return swap(before, after, rng, clusters, bounds=(-2.0, 2.0))
