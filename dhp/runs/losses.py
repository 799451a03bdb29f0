"""A gate against an earlier run: whether detection was lost.

A loss is tested by swapping the labels of the two runs example by example: met if a loss of the margin is
ruled out, not met if it is proven that detection fell by more, over all kinds of damage or of one of them
(Holm over all of these).
"""

from collections.abc import Iterator, Sequence

import numpy as np

from dhp.content.catalog import variant_name
from dhp.core.seeding import key_digest
from dhp.runs.compare import judge_scores
from dhp.runs.gate_findings import Finding, result_name, would_decide
from dhp.runs.reader import RunResult
from dhp.stats.compare import in_common
from dhp.stats.discernment import holm
from dhp.stats.examples_needed import examples_to_separate
from dhp.stats.swap import NonInferiority, noninferiority
from dhp.stats.swap_detection import detection_pairs

_ALPHA = 0.05
"""Level of the tests: by a p-value up to it a loss is proven, or ruled out."""
_DEVIATE = 1.6448536269514722
"""Normal deviate of a one-sided test at 0.05."""


def losses(rated: Sequence[tuple[RunResult, RunResult]], against: str, allowed: float) -> Iterator[Finding]:
    """Significant losses, over all kinds first, then the largest; else whether one is ruled out."""
    names, tests = [], []
    for new, old in rated:
        of_result, test = _tested(new, old, allowed / 100)
        names.append(of_result)
        tests.append(test)
    # Holm over the figures of all results: they lie behind each other in one array.
    p_alone = np.concatenate([test.p_inferior for test in tests])
    adjusted = np.exp(holm(np.log(p_alone))).tolist()

    begin = 0
    for (new, _), of_result, test in zip(rated, names, tests, strict=True):
        end = begin + len(of_result)
        p_values = adjusted[begin:end]
        begin = end
        judge, overall, error = result_name(new.result), float(test.difference[0]), float(test.error[0])

        # All kinds together first; then the largest loss, as a line of the gate has room for few.
        whole, *kinds = zip(test.difference.tolist(), of_result, p_values, strict=True)
        for apart, name, p in (whole, *sorted(kinds)):
            if p <= _ALPHA:
                fell = f"{name} fell by {-100 * apart:.1f} points, more than {allowed:g} (p = {p:.2g})"
                yield Finding("not met", judge, fell)

        if np.isnan(overall):
            yield Finding(
                "not met", judge, "detection is undefined, no kind of damage has five pairs in both runs"
            )
            continue
        change = f"detection {100 * overall:+.1f} points against {against}"
        if test.p_noninferior[0] <= _ALPHA:
            yield Finding("met", judge, f"{change}, no loss of {allowed:g}")
        else:
            ends, line = (overall - _DEVIATE * error, overall + _DEVIATE * error), -allowed / 100
            n = examples_to_separate(new.result.n, overall, *ends, line, (_DEVIATE, _DEVIATE))
            doubt = f"a loss of {allowed:g} is neither proven nor ruled out, {would_decide(n)}"
            yield Finding("undecided", judge, f"{change}, {doubt}")


def _tested(new: RunResult, old: RunResult, margin: float) -> tuple[list[str], NonInferiority]:
    """The names of the figures, detection over all kinds of damage first, and the test of each."""
    levels = {v.variant: v.level for v in new.result.variants}
    scores, clusters = judge_scores([new, old], list(levels))
    key = key_digest(new.ratings.digest, old.ratings.digest, "gate")
    rng = np.random.default_rng(int.from_bytes(key))
    # Only pairs that both runs scored: a loss must not come from other texts.
    mine, theirs = in_common(scores)
    drops = [mine.differences, theirs.differences]
    (both,) = detection_pairs(drops, list(levels.values()), clusters)  # two judges are one pair
    return ["detection", *map(variant_name, levels)], noninferiority(*both, margin, rng, clusters)
