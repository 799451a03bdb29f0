"""Detection and agreement with humans of the same judges."""

from collections.abc import Sequence
from dataclasses import dataclass

from dhp.analysis.results import Result
from dhp.core.errors import InputError
from dhp.plugins.human.agreement import Agreement
from dhp.report.labels import style_words
from dhp.runs.reader import Run

CORRELATION = "per_source.spearman"
"""The one that is shown, by its name in an agreement."""


@dataclass(frozen=True, slots=True)
class BothViews:
    """One judge on one dataset."""

    judge: str
    correlation: float | None
    """Correlation with human scores, the mean over metrics; None without human scores, or undefined."""
    dataset: str | None = None
    """Name of the dataset whose texts were degraded; None for a judge without a run."""
    detection: float | None = None
    """Mean over levels and kinds of damage, in [0, 1]; 0.5 is blind."""
    detection_ci: tuple[float, float] | None = None
    """95 % confidence limits of the detection."""
    lowest: tuple[str, float] | None = None
    """The kind of damage with the lowest detection, and that."""
    style: tuple[str, ...] = ()
    """Use of the scales, on at least half of the metrics: lenient, harsh, compressed."""


def both_views(
    agreement: Agreement,
    runs: Sequence[Run],
) -> list[BothViews]:
    """A row for each result of the runs, then for judges that have none.

    A judge is met again by its model, and its protocol if there are several. Raises `InputError` if
    there are runs, but none of a judge of the agreement.
    """
    known = {judge.judge: judge.mean.get(CORRELATION) for judge in agreement.judges}
    rows, met = [], set()
    for result in (r for run in runs for r in run.results):
        name = next((n for n in (f"{result.model} ({result.protocol})", result.model) if n in known), None)
        met.add(name)
        rows.append(_row(name or f"{result.model} ({result.protocol})", known.get(name or ""), result))
    if runs and not met - {None}:
        models = ", ".join(dict.fromkeys(r.model for run in runs for r in run.results))
        raise InputError(f"runs: are of {models}; none of the ratings' judges: {', '.join(known)}")
    return [*rows, *(BothViews(name, value) for name, value in known.items() if name not in met)]


def _row(judge: str, correlation: float | None, result: Result) -> BothViews:
    run = result.detection
    lowest = None if run.min is None else (run.min_variant or "", run.min)
    ends, style = run.ci["avg"], style_words(result)
    return BothViews(judge, correlation, result.dataset, run.avg, ends, lowest, style)
