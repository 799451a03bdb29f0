"""Gates: whether every result of a run is good enough, also against an earlier run.

`check_run` asks each condition for its findings (`dhp.runs.gate_findings` and the files beside it), then
makes one line of them: of what is not met, else of what is undecided, else of what held.

Limits are read off the intervals that every page prints: a limit is met if the lower end of the interval
reaches it, not met if the upper end lies below it, and else undecided. What must be noticed must be
proven: there undecided is not met.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dhp.analysis.results import Results
from dhp.core.errors import InputError
from dhp.core.options import as_list, keywords_of
from dhp.core.plugins import load_target
from dhp.runs.conditions import Gate
from dhp.runs.gate_findings import (
    Finding,
    State,
    demanded_kinds,
    detections,
    false_alarms,
    missing_scores,
    noticed_kinds,
    result_name,
)
from dhp.runs.level_shift import LevelShift, check_scales, level_shifts_of, moved_levels, shifted_levels
from dhp.runs.losses import losses
from dhp.runs.marks import failing, moved_marks, passing, passing_a_person
from dhp.runs.pairing import paired_results
from dhp.runs.reader import Run, RunSource, open_run, run_of_file

if TYPE_CHECKING:
    import pandas as pd

_OF_A_CHECK = 2
"""Findings of one result and condition in the line. Chosen."""
_RESULTS = 2
"""Results in the line. Chosen: with these two bounds it is read in the log of a build."""
_WORSE: Sequence[State] = ("not met", "undecided")
"""States that decide over all conditions, the worst first."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Whether a run passed."""

    state: State
    """`met` if every condition holds, `not met` if one does not, else `undecided`."""
    passed: bool
    """Whether it is met, or undecided if no proof is required."""
    sentence: str
    """What held, or what did not, the worst first: dataset, model, figure. `checks` holds all of it."""
    doubts: tuple[str, ...]
    """Reasons to doubt figures of the run, whether it passed or not."""
    results: Results
    """What was checked."""
    checks: Mapping[str, tuple[Finding, ...]]
    """Condition, by the name of its option or `false alarms` -> what became of it; a result that meets it may
    have no finding."""
    shifts: Mapping[str, tuple[LevelShift, ...]]
    """Name of a result -> shift of level of each metric against the earlier run, if there is one."""

    def __repr__(self) -> str:
        return f"Outcome({self.sentence})"

    def _repr_html_(self) -> str:
        return str(load_target("dhp.report.notebook:outcome_html")(self))

    def to_frame(self) -> "pd.DataFrame":
        """One row for each finding: `condition`, `state`, `result`, and `finding` in words."""
        frame: pd.DataFrame = load_target("dhp.report.notebook:outcome_frame")(self)
        return frame


@dataclass(frozen=True, slots=True)
class GateSpec(Gate):
    """What `gate` is asked: a run, and the conditions, fields as in `Gate`."""

    run: RunSource
    """Folder of a finished run, its results file, or its results."""


@keywords_of(GateSpec)
def gate(spec: GateSpec) -> Outcome:
    """Whether every result of a run is good enough, with the line that says why; as `dhp gate`.

    Parameters
    ----------
    run
        Folder of a finished run, its results file, or its results.
    min_detection
        The least detection allowed, in per cent.
    must_notice
        Kinds of damage that must be shown to be noticed, e.g. `typos, minor`, or `all`.
    max_pass, max_fail
        At the run's pass mark: the share of the damaged texts of any kind that may pass, and of the originals
        that may fail, in per cent.
    ask
        The share of the texts, in per cent, that a person reads before any damaged text counts as passed; of
        those that pass and are nearest to the mark: 5, 10, 20 or 50.
    max_missing
        The share of its scores, in per cent, that a kind of text may lack.
    against
        An earlier run, in one of these forms.
    max_drop, max_shift
        The points of detection, 0 to 100, that a judge may lose against it, and the points of its scale by
        which a metric's mean score of the same texts may be higher or lower.
    allow
        Parts of the signature that may differ from the earlier run: `protocol`, `metrics`.
    require_proof, ignore_controls
        Whether what is undecided fails too, and whether a judge with a false alarm may pass.

    Raises
    ------
    InputError
        Without any condition, and for runs that do not compare; see `dhp.runs.gate.check_run`.
    """
    return check_run(spec.run, spec)


def check_run(source: RunSource, gate: Gate) -> Outcome:
    """Hold a gate against every result of a run.

    A figure that is undefined is not met, and neither is any gate if harmless edits are a false alarm or
    too many scores are missing. Two runs are compared by dataset and name of the protocol, across edits of
    its prompts and settings; by model too if a run has several models, as otherwise the judge before and
    the judge after may bear different names. Without an earlier run a results file is enough.

    Raises `InputError` for a folder that holds no run, for a run with doses, whose averages mean nothing, and
    for a kind of damage that was not run. Also for an earlier run that lacks a result, that has a dataset
    which the run lacks, or that differs in data, number of examples, suite, method, metrics, weights or
    statistics. If a loss is asked about, also for runs without ratings and a run that stopped early.
    """
    run = averaged_run(source, "the results")
    results = run.results
    demanded = demanded_kinds(results, as_list(gate.must_notice))

    # Always checked: figures of the scores that are there say nothing of those that are missing.
    checks: dict[str, Iterable[Finding]] = {"max-missing": missing_scores(results, gate.max_missing)}
    if not gate.ignore_controls:
        checks["false alarms"] = false_alarms(results)
    if demanded:
        checks["must-notice"] = noticed_kinds(results, demanded)
    if gate.min_detection is not None:
        checks["min-detection"] = detections(results, gate.min_detection)
    if gate.max_pass is not None:
        if gate.ask is None:
            checks["max-pass"] = passing(results, gate.max_pass)
        else:
            checks["max-pass"] = passing_a_person(results, gate.max_pass, gate.ask)
    if gate.max_fail is not None:
        checks["max-fail"] = failing(results, gate.max_fail)

    # Shifts of level and of the mark are told in any case, also where they decide nothing.
    shifts: dict[str, tuple[LevelShift, ...]] = {}
    marks: list[str] = []
    if gate.against is not None:
        earlier = averaged_run(gate.against, "the earlier results")
        pairs = paired_results(run, earlier, as_list(gate.allow))
        if gate.max_drop is not None:
            checks["max-drop"] = losses(pairs, earlier.name, gate.max_drop)
        shifts = level_shifts_of(pairs)
        marks = moved_marks(pairs)
        if gate.max_shift is not None:
            check_scales(pairs, earlier.name)
            checks["max-shift"] = shifted_levels(shifts, gate.max_shift)
    findings: dict[str, tuple[Finding, ...]] = {}
    for check, of_check in checks.items():
        findings[check] = tuple(of_check)  # most are generators: here the checks are made
    return _outcome(results, findings, shifts, marks, gate)


def _outcome(
    results: Results,
    checks: Mapping[str, tuple[Finding, ...]],
    shifts: Mapping[str, tuple[LevelShift, ...]],
    marks: Sequence[str],
    gate: Gate,
) -> Outcome:
    """The outcome by the worst state of any finding; the words are of the findings in that state."""
    states: set[str] = set()
    for of_check in checks.values():
        states |= {finding.state for finding in of_check}
    state: State = "met"
    # `open` is not among them: harmless edits that are not decided fail no gate.
    for worse in _WORSE:
        if worse in states:
            state = worse
            break

    words = _in_words(checks.values(), state)
    if state == "met":
        words.append(f"{len(results)} result{'s' if len(results) > 1 else ''}")
    if shifts:
        words.append(moved_levels(shifts))
    words += marks
    doubts: list[str] = []
    for result in results:
        for warning in result.warnings:
            doubts.append(f"{result_name(result)}: {warning}")
    passed = state == "met" or (state == "undecided" and not gate.require_proof)
    return Outcome(state, passed, f"{state}: {'; '.join(words)}", tuple(doubts), results, checks, shifts)


def averaged_run(source: RunSource, name: str) -> Run:
    """A run by its folder, its results file, or its results, which messages call `name`."""
    # A results file on its own is enough if no condition needs ratings.
    is_file = not isinstance(source, Results) and Path(source).is_file()
    run = run_of_file(Path(source), str(source)) if is_file else open_run(source, name)
    for result in run.results:
        if result.curves:
            raise InputError(
                f"{run.name}: {result_name(result)}: is a run with doses, its averages mean nothing; "
                "allowed: runs without `doses`"
            )
    return run


def _in_words(checks: Collection[Sequence[Finding]], state: State) -> list[str]:
    """The findings in this state in few words, those of one result together.

    Results of which most is said come first. Of each condition a result has its first findings.
    """
    by_result: dict[str, list[list[str]]] = {}  # name of a result -> of each condition its words
    for check in checks:
        of_check: dict[str, list[str]] = {}
        for finding in check:
            if finding.state == state:
                of_check.setdefault(finding.result, []).append(finding.words)
        for name, words in of_check.items():
            by_result.setdefault(name, []).append(words)

    worst = sorted(by_result, key=lambda name: -sum(map(len, by_result[name])))
    lines = []
    for name in worst[:_RESULTS]:
        of_conditions = "; ".join(map(_shortened, by_result[name]))
        lines.append(f"{name}: {of_conditions}")
    if len(worst) > _RESULTS:
        lines.append(f"and {len(worst) - _RESULTS} more results")
    return lines


def _shortened(words: Sequence[str]) -> str:
    """What is said of one condition: the first, and how many more there are."""
    shown = list(words[:_OF_A_CHECK])
    if len(words) > len(shown):
        shown.append(f"and {len(words) - len(shown)} more")
    return "; ".join(shown)
