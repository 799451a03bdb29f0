"""Python functions on finished runs: compare, gate, power."""

from collections.abc import Collection
from pathlib import Path

from dhp.analysis.results import Results
from dhp.core.keywords import as_list, near_keywords
from dhp.core.progress import Progress, progress_of
from dhp.runs.compare import DatasetComparison, compare_runs
from dhp.runs.conditions import Gate
from dhp.runs.gate import Outcome, check_run
from dhp.runs.power import PowerAnalysis, power_of_runs
from dhp.runs.reader import RunInMemory, RunSource
from dhp.stats.swap import RESAMPLES

Folder = str | Path


def _source(run: Folder | Results, name: str) -> RunSource:
    return RunInMemory(name, run) if isinstance(run, Results) else Path(run)


@near_keywords
def compare(
    *runs: Folder | Results,
    allow: str | Collection[str] = (),
    resamples: int = RESAMPLES,
    progress: Progress | bool = True,
) -> list[DatasetComparison]:
    """Judges side by side, dataset by dataset; as `dhp compare`.

    Parameters
    ----------
    *runs
        Folders of finished runs, or results of `dhp.run` and `dhp.analyze`.
    allow
        Parts of the signature that may differ: `protocol`, `metrics`.
    resamples
        Number of random label swaps.
    progress
        True shows it on terminals and in notebooks; a function is called as `f(what, done, total, cost)`.

    Raises
    ------
    InputError
        For runs that do not compare; see `dhp.runs.compare.compare_runs`.
    """
    with progress_of(progress) as show:
        sources = [_source(run, f"results {number}") for number, run in enumerate(runs, 1)]
        return compare_runs(sources, allow=as_list(allow), resamples=resamples, progress=show)


@near_keywords
def gate(
    run: Folder | Results,
    *,
    detection: float | None = None,
    must_notice: str | Collection[str] = (),
    against: Folder | Results | None = None,
    max_drop: float | None = None,
    allow: str | Collection[str] = (),
    require_proof: bool = False,
    ignore_controls: bool = False,
) -> Outcome:
    """Whether every result of a run is good enough, with the line that says why; as `dhp gate`.

    Parameters
    ----------
    run
        Folder of a finished run, its results file, or its results.
    detection
        The least detection allowed, in per cent.
    must_notice
        Kinds of damage that must be noticed, e.g. `typos, minor`, or `all`.
    against, max_drop
        An earlier run, in one of these forms, and the points of detection, 0 to 100, that a judge may lose
        against it.
    allow
        Parts of the signature that may differ from the earlier run: `protocol`, `metrics`.
    require_proof, ignore_controls
        Whether what is undecided fails too, and whether a judge with a false alarm may pass.

    Raises
    ------
    InputError
        Without any condition, and for runs that do not compare; see `dhp.runs.gate.check_run`.
    """
    conditions = Gate(
        detection=detection,
        must_notice=as_list(must_notice),
        max_drop=max_drop,
        against=None if against is None else _source(against, "the earlier results"),
        allow=as_list(allow),
        require_proof=require_proof,
        ignore_controls=ignore_controls,
    )
    return check_run(_source(run, "the results"), conditions)


@near_keywords
def power(*runs: Folder, progress: Progress | bool = True) -> list[PowerAnalysis]:
    """How many examples it takes to notice the damage of pilot runs; as `dhp power RUN...`.

    Raises `InputError` for a folder that holds no run.
    """
    with progress_of(progress) as show:
        return power_of_runs(runs, progress=show)
