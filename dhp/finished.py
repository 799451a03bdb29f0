"""What is asked of finished runs from Python: compare, gate, power, report, leaderboard."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dhp.runs.compare import DatasetComparison
    from dhp.runs.gate import Verdict
    from dhp.runs.power import PowerAnalysis

Folder = str | Path


def compare(*runs: Folder, allow: Collection[str] = (), resamples: int = 2000) -> "list[DatasetComparison]":
    """Judges side by side, dataset by dataset; as `dhp compare`.

    Parameters
    ----------
    *runs
        Folders of finished runs.
    allow
        Parts of the signature that may differ: `protocol`, `metrics`.
    resamples
        Of the examples.

    Raises
    ------
    InputError
        For runs that do not compare; see `dhp.runs.compare.compare_runs`.
    """
    from dhp.runs.compare import compare_runs

    return compare_runs(runs, allow=allow, resamples=resamples)


def gate(
    run: Folder,
    *,
    against: Folder | None = None,
    max_drop: float | None = None,
    d_min: float | None = None,
    d_avg: float | None = None,
    detection: float | None = None,
    allow: Collection[str] = (),
) -> "Verdict":
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
    from dhp.runs.gate import Gate, check_run

    earlier = None if against is None else Path(against)
    conditions = Gate(d_min, d_avg, detection, max_drop, earlier, allow)
    return check_run(run, conditions)


def power(*runs: Folder) -> "list[PowerAnalysis]":
    """How many examples the variants of pilot runs take to be noticed; as `dhp power RUN...`.

    Raises `InputError` for a folder that holds no run.
    """
    from dhp.runs.power import power_of_runs

    return power_of_runs(runs)


def report(run: Folder, out: Folder | None = None) -> Path:
    """Write the page of a finished run, by default into its folder; returns its path.

    Raises `InputError` for a folder that holds no run.
    """
    from dhp.core.files import write_whole
    from dhp.report.page import html_report
    from dhp.runs.reader import read_run

    found = read_run(run)
    page = html_report(found)
    path = found.folder / "report.html" if out is None else Path(out)
    write_whole(path, lambda new: new.write_text(page, encoding="utf-8"))
    return path


def leaderboard(runs: Sequence[Folder], out: Folder = "site", *, allow: Collection[str] = ()) -> Path:
    """Write a static site of many runs; returns its first page.

    Parameters
    ----------
    runs
        Run folders, results files, or folders of results files.
    out
        Folder of the site.
    allow
        Parts of the signature that may differ within a table: `metrics`; protocols may always.

    Raises
    ------
    InputError
        For a run whose figures do not follow from its ratings.
    """
    from dhp.leaderboard.load import read_entries
    from dhp.leaderboard.site import write_site
    from dhp.leaderboard.tables import make_tables

    write_site(make_tables(read_entries(runs), allow), str(out))
    return Path(out) / "index.html"
