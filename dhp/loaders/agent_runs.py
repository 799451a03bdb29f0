"""Sound and faulty runs of agents, with judges' confidence that each is sound."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dhp.core.errors import InputError
from dhp.core.tables import Row, read_table


@dataclass(frozen=True, slots=True)
class FaultyRun:
    """A run of an agent with one fault, and its sound twin."""

    instance: str
    """Task of the agent."""
    kind: str
    """The fault and its `level`: `wrong_tool.silent`."""
    level: str
    """`silent` where the outcome is correct all the same, else `loud`."""
    run: str
    """Id of the faulty run."""
    twin: str
    """Id of the sound run of the same instance."""


def read_faulty_runs(path: Path) -> list[FaultyRun]:
    """The faulty runs that have a sound twin; how many have none is said in a note.

    Parameters
    ----------
    path
        A table with the columns `trajectory_id, instance_id` and `label`, an object with `faulty` and
        `outcome_correct` (true or false) and `failure_type`.

    Raises
    ------
    InputError
        For a file of another form, a duplicate run, two runs of one instance that are sound or have
        the same fault, and where no faulty run has a sound twin.
    """
    table = read_table(path)
    table.need(["trajectory_id", "instance_id", "label"])
    runs: dict[tuple[str, str], str] = {}
    names: set[str] = set()
    for row in table.rows:
        name, instance, kind = row.text("trajectory_id"), row.text("instance_id"), _kind(row)
        if name in names:
            raise row.fault(f"duplicate run '{name}'")
        if (instance, kind) in runs:
            what = f"with the fault '{kind}'" if kind else "that is sound"
            raise row.fault(f"a second run of '{instance}' {what}; allowed: one")
        names.add(name)
        runs[instance, kind] = name
    faulty = {(instance, kind): name for (instance, kind), name in runs.items() if kind}
    found = [
        FaultyRun(instance, kind, kind.rpartition(".")[2], name, runs[instance, ""])
        for (instance, kind), name in faulty.items()
        if (instance, "") in runs
    ]
    if not found:
        raise InputError(f"{path}: no faulty run has a sound one of the same instance; allowed: one or more")
    if left_out := len(faulty) - len(found):
        logging.getLogger("dhp").warning(
            "%s: left out of %d faulty runs: %d without a sound one of the same instance",
            path,
            len(faulty),
            left_out,
        )
    return found


def read_soundness(paths: Sequence[Path]) -> Mapping[str, Mapping[str, tuple[float | None, str]]]:
    """Judge -> run -> its confidence that the run is sound, in [0, 1], and the status of that rating.

    Parameters
    ----------
    paths
        Tables with the columns `trajectory_id, judge_id, faulty` (true or false), `confidence` (in that
        verdict, 0 to 1) and perhaps `error`.

    Raises
    ------
    InputError
        For a file of another form, and a second verdict of a judge on a run.
    """
    found: dict[str, dict[str, tuple[float | None, str]]] = {}
    for path in paths:
        table = read_table(path)
        table.need(["trajectory_id", "judge_id", "faulty", "confidence"])
        for row in table.rows:
            own, run = found.setdefault(row.text("judge_id"), {}), row.text("trajectory_id")
            if run in own:
                raise row.fault(f"a second verdict of {row.text('judge_id')} on '{run}'; allowed: one")
            own[run] = _soundness(row)
    return found


def _kind(row: Row) -> str:
    """The fault with its level; empty for a sound run."""
    if not _flag(row, "label.faulty"):
        return ""
    return f"{row.text('label.failure_type')}.{'silent' if _flag(row, 'label.outcome_correct') else 'loud'}"


def _flag(row: Row, column: str) -> bool:
    value = row.value(column)
    if not isinstance(value, bool):
        raise row.fault(f"'{column}' is {value!r}; allowed: true or false")
    return value


def _soundness(row: Row) -> tuple[float | None, str]:
    if row.has("error"):
        return None, "failed"
    confidence = row.value("confidence")
    if row.value("faulty") is None or confidence is None:
        return None, "unparsed"
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 <= confidence <= 1:
        raise row.fault(f"column 'confidence' is {confidence!r}; allowed: 0 to 1")
    return (1 - confidence if _flag(row, "faulty") else float(confidence)), "scored"
