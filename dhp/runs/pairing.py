"""Which results of two runs belong together.

Each result of the new run needs one of the same judge on the same data in the earlier run, and no dataset of
that run may be missing: else a gate would pass by leaving out what became worse.
"""

from collections.abc import Collection, Sequence

from dhp.core.errors import InputError
from dhp.core.signature import protocol_name
from dhp.runs.alike import allowing, check_alike, differences, same_judge
from dhp.runs.reader import Run, RunResult


def paired_results(run: Run, earlier: Run, allow: Collection[str]) -> list[tuple[RunResult, RunResult]]:
    """Each result with that of the same judge in the earlier run."""
    models = _has_several_models(run) or _has_several_models(earlier)
    versions = _has_one_protocol(run) and _has_one_protocol(earlier)

    def same(one: RunResult, others: Sequence[RunResult]) -> list[RunResult]:
        """The results of the same judge; one whose protocol was not edited comes first."""
        same_judges = []
        for other in others:
            if same_judge(one.result, other.result, models=models, versions=versions, allow=allow):
                same_judges.append(other)
        # False sorts before True.
        return sorted(same_judges, key=lambda other: other.result.protocol != one.result.protocol)

    pairs = []
    for new in run.rated:
        result = new.result
        same_judge_before = same(new, earlier.rated)
        candidates = [each for each in same_judge_before if each.result.dataset == result.dataset]
        if not candidates:
            model = f" by model '{result.model}'" if models else ""
            raise InputError(
                f"{earlier.name}: holds no result on '{result.dataset}' under protocol '{result.protocol}'"
                f"{model}; allowed: a run of the same datasets and protocols{allowing('protocol', allow)}"
            )
        # The one whose protocol was not edited, if there is one.
        old = candidates[0]
        check_alike(new, old, differences(result, old.result, allow), allow)
        pairs.append((new, old))

    for old in earlier.rated:
        # A judge of the earlier run that the new one lacks altogether was exchanged for any of the new ones.
        mine = same(old, run.rated) or run.rated
        if old.result.dataset not in [each.result.dataset for each in mine]:
            raise InputError(
                f"{run.name}: lacks dataset '{old.result.dataset}', on which {earlier.name} has a result; "
                "allowed: a run of all datasets of the earlier one"
            )
    return pairs


def _has_several_models(run: Run) -> bool:
    return len({result.model for result in run.results}) > 1


def _has_one_protocol(run: Run) -> bool:
    return len({protocol_name(result.protocol) for result in run.results}) == 1
