"""A gate against an earlier run: which results belong together, and whether detection was lost.

A loss is tested by swapping the labels of the two runs example by example: met if a loss of the margin is
ruled out, not met if it is proven that detection fell by more, over all kinds of damage or of one of them
(Holm over all of these).
"""

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from dhp.content.catalog import variant_name
from dhp.core.errors import InputError
from dhp.core.seeding import key_digest
from dhp.core.signature import protocol_name
from dhp.runs.alike import allowing, check_alike, differences, same_judge
from dhp.runs.compare import judge_scores
from dhp.runs.gate_findings import Finding, result_name, would_decide
from dhp.runs.reader import Run, RunResult
from dhp.stats.compare import in_common
from dhp.stats.detection import examples_to_separate
from dhp.stats.discernment import holm
from dhp.stats.swap import NonInferiority, noninferiority
from dhp.stats.swap_detection import detection_pairs

_ALPHA = 0.05
_DEVIATE = 1.6448536269514722  # of a one-sided test at 0.05


def paired_results(run: Run, earlier: Run, allow: Collection[str]) -> list[tuple[RunResult, RunResult]]:
    """Each result with that of the same judge in the earlier run."""
    models = any(len({r.model for r in each.results}) > 1 for each in (run, earlier))
    versions = all(len({protocol_name(r.protocol) for r in each.results}) == 1 for each in (run, earlier))

    def same(one: RunResult, others: Sequence[RunResult]) -> list[RunResult]:
        known = {"models": models, "versions": versions}
        same_judges = [r for r in others if same_judge(one.result, r.result, **known, allow=allow)]
        return sorted(same_judges, key=lambda r: r.result.protocol != one.result.protocol)

    pairs = []
    for new in run.rated:
        result = new.result
        old = next((r for r in same(new, earlier.rated) if r.result.dataset == result.dataset), None)
        if old is None:
            model = f" by model '{result.model}'" if models else ""
            raise InputError(
                f"{earlier.name}: holds no result on '{result.dataset}' under protocol '{result.protocol}'"
                f"{model}; allowed: a run of the same datasets and protocols{allowing('protocol', allow)}"
            )
        check_alike(new, old, differences(result, old.result, allow), allow)
        pairs.append((new, old))
    for old in earlier.rated:
        mine = same(old, run.rated) or run.rated
        if all(r.result.dataset != old.result.dataset for r in mine):
            raise InputError(
                f"{run.name}: lacks dataset '{old.result.dataset}', on which {earlier.name} has a result; "
                "allowed: a run of all datasets of the earlier one"
            )
    return pairs


def losses(rated: Sequence[tuple[RunResult, RunResult]], against: str, allowed: float) -> Iterator[Finding]:
    """Significant losses, over all kinds first, then the largest; else whether one is ruled out."""
    tests = [_tested(new, old, allowed / 100) for new, old in rated]
    adjusted = np.exp(holm(np.log(np.concatenate([test.p_inferior for _, test in tests])))).tolist()
    for (new, _), (names, test) in zip(rated, tests, strict=True):
        p_values, adjusted = adjusted[: len(names)], adjusted[len(names) :]
        judge, overall, error = result_name(new.result), float(test.difference[0]), float(test.error[0])
        (whole, *kinds) = zip(test.difference.tolist(), names, p_values, strict=True)
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
    rng = np.random.default_rng(int.from_bytes(key_digest(new.ratings.digest, old.ratings.digest, "gate")))
    mine, theirs = (judge.differences for judge in in_common(scores))
    both = next(detection_pairs([mine, theirs], list(levels.values()), clusters))
    return ["detection", *map(variant_name, levels)], noninferiority(*both, margin, rng, clusters)
