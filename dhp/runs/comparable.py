"""The rule that decides which results are comparable, for `compare`, `gate` and `leaderboard`.

A judge is a model under a protocol. Results compare where their signatures agree in data, number of
examples, suite, method, metrics, weights and statistics; seed and version may differ. A protocol is known by
its name, or by that of the prompt file: `compare` and `gate` take it across edits, and another one only where
`protocol` is allowed. Where protocols differ, `compare` and `leaderboard` say so in the names of judges.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from dhp.analysis.results import Result
from dhp.core.errors import InputError
from dhp.runs.reader import RunResult, RunSource, open_run

ALLOWABLE: Mapping[str, str] = {
    "protocol": "to compare protocols on purpose",
    "metrics": "where metrics of the same names have other scales or definitions",
}
"""Parts of the signature that may be allowed to differ, each with what that is for."""


def check_allowed(allow: Collection[str]) -> None:
    """Raise `InputError` for a part that may never differ."""
    if refused := [name for name in allow if name not in ALLOWABLE]:
        raise InputError(
            f"`allow` '{refused[0]}': would compare what cannot be; allowed: {', '.join(ALLOWABLE)}"
        )


def differences(one: Result, other: Result, allow: Collection[str] = ()) -> dict[str, tuple[str, str]]:
    """Part of the signature -> its text in both results, for the parts that forbid a comparison.

    A protocol, or a prompt, that was edited is the same one while its name is. Names of metrics must agree
    even where `metrics` is allowed to differ.
    """
    found = one.signed.differences(other.signed, allow)
    if protocol_name(one.protocol) == protocol_name(other.protocol):
        found.pop("protocol", None)
    names = [", ".join(sorted({m for v in r.variants for m in v.metrics})) for r in (one, other)]
    if "metrics" in allow and names[0] != names[1]:
        found["metrics"] = (names[0], names[1])
    return found


def allowing(part: str, allow: Collection[str] = ()) -> str:
    """The end of a message about a part that differs: how to allow it, where that is possible."""
    return f", or `allow` {part} {ALLOWABLE[part]}" if part in ALLOWABLE and part not in allow else ""


def rated_by_dataset(folders: Iterable[RunSource]) -> dict[str, list[RunResult]]:
    """Dataset -> its results in run folders, in their order."""
    found: dict[str, list[RunResult]] = {}
    for folder in folders:
        for entry in open_run(folder).rated:
            found.setdefault(entry.result.dataset, []).append(entry)
    return found


def check_alike(
    first: RunResult, other: RunResult, parts: Mapping[str, tuple[str, str]], allow: Collection[str] = ()
) -> None:
    """Raise `InputError` for the first of the `differences` found between two results of one dataset."""
    for part, (here, there) in parts.items():
        raise InputError(
            f"dataset '{first.result.dataset}': {part} differs, '{here}' in {first.place} and '{there}' in "
            f"{other.place}; allowed: runs that agree in it{allowing(part, allow)}"
        )


def check_once(dataset: str, judges: Sequence[str]) -> None:
    """Raise `InputError` for a duplicate judge."""
    if repeated := [name for name in judges if judges.count(name) > 1]:
        raise InputError(f"dataset '{dataset}': duplicate judge '{repeated[0]}'; name each judge once")


def protocol_name(protocol: str) -> str:
    """The name of a protocol, or of a prompt, without the hash of its settings."""
    return protocol.partition("@")[0]


def same_judge(one: Result, other: Result, *, models: bool, allow: Collection[str] = ()) -> bool:
    """Whether two results are of one judge by name, whatever was edited in its prompts.

    Parameters
    ----------
    models
        Whether the model counts; not where each run has a single one, as it may then be exchanged.
    allow
        With `protocol` in it the name of the protocol does not count either.
    """
    same_protocol = "protocol" in allow or protocol_name(one.protocol) == protocol_name(other.protocol)
    return same_protocol and (not models or one.model == other.model)
