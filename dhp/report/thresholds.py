"""What a judge sees in runs of many doses, in words: the smallest damage, and its false alarms."""

import math
from collections.abc import Iterable

from dhp.analysis.result_parts import DoseResponse, VariantResult
from dhp.analysis.results import Result
from dhp.content.damage import kind_name
from dhp.report.labels import judge_name


def threshold_sentences(results: Iterable[Result]) -> list[str]:
    """One sentence for each of these results that has dose-response curves: judge, dataset, what it sees."""
    return [f"{judge_name(r)} on {r.dataset}: {threshold_sentence(r)}" for r in results if r.curves]


def threshold_sentence(result: Result) -> str:
    """`sees 7 typos [5 to 10] in 400 characters; harmless edits: 1 in 20.`, T75 of each curve."""
    seen = [_seen(curve) for curve in result.curves if curve.t75 is not None and curve.t75.value is not None]
    unseen = [
        f"{curve.doses[-1]} {kind_name(curve.perturber)}"
        for curve in result.curves
        if curve.t75 is not None and curve.t75.value is None
    ]
    unknown = [kind_name(curve.perturber) for curve in result.curves if curve.t75 is None]
    lengths = {curve.characters for curve in result.curves}
    where = f" in {lengths.pop()} characters" if len(lengths) == 1 and None not in lengths else ""
    parts = [f"sees {' or '.join(seen)}{where}"] if seen else []
    parts += [f"does not see {' nor '.join(unseen)}{'' if seen else where}"] if unseen else []
    parts += [f"no threshold of {', '.join(unknown)}"] if unknown else []
    parts += [f"{kind_name(row.variant)}: {said}" for row in result.controls if (said := _lowered(row))]
    return f"{'; '.join(parts)}."


def _seen(curve: DoseResponse) -> str:
    assert curve.t75 is not None
    kind = kind_name(curve.perturber)
    if not curve.t75.value:
        return f"{kind} from {curve.doses[0]} on"
    low, high = curve.t75.low, curve.t75.high
    ends = (
        f"{math.ceil(low) if low else 0} to {f'over {curve.doses[-1]}' if high is None else math.ceil(high)}"
    )
    return f"{math.ceil(curve.t75.value)} {kind} [{ends}]"


def _lowered(row: VariantResult) -> str | None:
    """How often a control lowers the score, the mean over metrics; None where it is undefined."""
    fell = [cell.fell for cell in row.metrics.values() if cell.fell is not None]
    if not fell:
        return None
    share = sum(fell) / len(fell)
    return f"1 in {round(1 / share)}" if share else "none"
