"""What is asked of finished runs from Python, as on the command line: compare, gate, power."""

from collections.abc import Collection
from pathlib import Path

from dhp.core.progress import Progress
from dhp.core.terminal_progress import progress_of
from dhp.runs.compare import DatasetComparison, compare_runs
from dhp.runs.gate import Gate, Verdict, check_run
from dhp.runs.power import PowerAnalysis, power_of_runs
from dhp.stats.swap import RESAMPLES

Folder = str | Path


def compare(
    *runs: Folder,
    allow: Collection[str] = (),
    resamples: int = RESAMPLES,
    progress: Progress | bool = True,
) -> list[DatasetComparison]:
    """Judges side by side, dataset by dataset; as `dhp compare`.

    Parameters
    ----------
    *runs
        Folders of finished runs.
    allow
        Parts of the signature that may differ: `protocol`, `metrics`.
    resamples
        Random swaps of labels.
    progress
        True shows it on terminals and in notebooks; a function is called as `f(what, done, total, cost)`.

    Raises
    ------
    InputError
        For runs that do not compare; see `dhp.runs.compare.compare_runs`.
    """
    with progress_of(progress) as show:
        return compare_runs(runs, allow=allow, resamples=resamples, progress=show)


def gate(
    run: Folder,
    *,
    against: Folder | None = None,
    max_drop: float | None = None,
    d_min: float | None = None,
    d_avg: float | None = None,
    detection: float | None = None,
    allow: Collection[str] = (),
) -> Verdict:
    """Whether every result of a run is good enough, with the line that says why; as `dhp gate`.

    Parameters
    ----------
    run
        Folder of a finished run, or its results file.
    against, max_drop
        An earlier run, and the points of detection, 0 to 100, that a judge may lose against it.
    d_min, d_avg, detection
        The least D_min, D_avg and detection (in per cent) allowed.
    allow
        Parts of the signature that may differ from the earlier run: `protocol`, `metrics`.

    Raises
    ------
    InputError
        Without any condition, and for runs that do not compare; see `dhp.runs.gate.check_run`.
    """
    earlier = None if against is None else Path(against)
    conditions = Gate(d_min, d_avg, detection, max_drop, earlier, allow)
    return check_run(run, conditions)


def power(*runs: Folder, progress: Progress | bool = True) -> list[PowerAnalysis]:
    """How many examples the variants of pilot runs take to be noticed; as `dhp power RUN...`.

    Raises `InputError` for a folder that holds no run.
    """
    with progress_of(progress) as show:
        return power_of_runs(runs, progress=show)
