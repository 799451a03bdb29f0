"""A gate at the pass mark: damaged texts that pass, good texts that fail, the mark on another scale."""

import math
from collections.abc import Iterator, Sequence

from dhp.analysis.passing import AtMark
from dhp.analysis.results import Result, Results
from dhp.content.catalog import variant_name
from dhp.core.errors import InputError
from dhp.runs.compare import judge_scores
from dhp.runs.gate_findings import Finding, at_most, figure, result_name, shares_at_most
from dhp.runs.reader import RunResult
from dhp.stats.asking import FEWEST
from dhp.stats.pass_mark import same_share


def passing(results: Results, most: float) -> Iterator[Finding]:
    """Kinds of damage of which more than `most` per cent pass at the mark, the worst of each result first."""
    shares = []
    for result in results:
        mark = _mark(result, "max_pass")
        kinds = []
        for row in result.variants:
            if row.passes:
                what = f"at the mark of {mark.mark} texts with {variant_name(row.variant)} pass"
                kinds.append((result, row.passes, what))
        shares += sorted(kinds, key=lambda kind: -kind[1].most)
    yield from shares_at_most(shares, most, "pass")


def passing_a_person(results: Results, most: float, share: float) -> Iterator[Finding]:
    """Results of which more than `most` per cent of the damaged texts pass, though a person reads `share` per
    cent of the texts, of those that pass and are nearest to the mark.
    """
    for result in results:
        mark = _mark(result, "max_pass")
        if result.asking is None:
            words = f"too few examples to say what a person leaves: it takes {FEWEST}"
            yield Finding(at_most((0.0, 1.0), most), result_name(result), words)
            continue
        # By per cent, as users give them; rounded, as 100 times a share is not exact.
        rows = {round(100 * row.share, 6): row for row in result.asking.of_passing}
        if share not in rows:
            allowed = [f"{each:g}" for each in rows if each]  # 0: nobody reads
            raise InputError(f"`ask` {share:g}: was not analysed; allowed: {', '.join(allowed)}")
        row = rows[share]
        words = (
            f"at the mark of {mark.mark} damaged texts pass, though a person reads {share:g} % of the texts: "
            f"{figure(row.passing, row.passing_ci)}, at most {most:g} % allowed"
        )
        yield Finding(at_most(row.passing_ci, most), result_name(result), words)


def failing(results: Results, most: float) -> Iterator[Finding]:
    """Results of which more than `most` per cent of the originals fail at the mark."""
    shares = []
    for result in results:
        mark = _mark(result, "max_fail")
        if mark.fails is None:
            yield Finding("not met", result_name(result), "no original has a score")
        else:
            shares.append((result, mark.fails, f"at the mark of {mark.mark} good texts fail"))
    yield from shares_at_most(shares, most, "failure")


def _mark(result: Result, condition: str) -> AtMark:
    if result.pass_mark is None:
        raise InputError(
            f"`{condition}`: {result_name(result)} has no pass mark; repeat the run with `pass_mark`, "
            "which asks no model again"
        )
    return result.pass_mark


def moved_marks(pairs: Sequence[tuple[RunResult, RunResult]]) -> list[str]:
    """Where the mark of an earlier run lies on the scale of the new one: there as many originals pass.

    For results with a mark for a single metric, in the unit of stored scores.
    """
    lines = []
    for new, old in pairs:
        mark = old.result.pass_mark or new.result.pass_mark
        if mark is None or len(mark.marks) != 1:
            continue
        ((metric, value),) = mark.marks.items()
        if metric not in new.ratings.metrics or metric not in old.ratings.metrics:
            continue
        # No variants: the mark moves by the originals alone.
        (mine, theirs), _ = judge_scores([new, old], [])
        at = list(new.ratings.metrics).index(metric)  # the metrics of both are in this order
        moved = same_share(theirs.original[:, at], value, mine.original[:, at])
        if not math.isnan(moved) and abs(moved - value) > 1e-6:
            lines.append(
                f"{result_name(new.result)}: as many originals pass at {moved:g} as at {value:g} before"
            )
    return lines
