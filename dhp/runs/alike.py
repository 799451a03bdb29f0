"""What two results must have in common to be compared.

A judge is a model under a protocol. Results compare if their signatures agree in data, number of
examples, suite, method, metrics, weights and statistics; seed and version may differ. `compare` and `gate`
take a protocol for the same one, whatever was edited in it, while its name or that of its prompt file stays.
Protocols of different names compare if both names are the user's own (`v1`, `v2`), or `protocol` is allowed.
"""

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from dhp.analysis.results import Result
from dhp.content.catalog import names_of
from dhp.core.errors import InputError
from dhp.core.signature import protocol_name
from dhp.runs.reader import Run, RunResult, read_run

ALLOWABLE: Mapping[str, str] = {
    "protocol": "to compare protocols on purpose",
    "metrics": "if metrics of the same names have other scales or definitions",
}
"""Parts of the signature that may be allowed to differ, each with what that is for."""
_OF_TEXTS = frozenset(("dataset", "n", "suite"))
"""Parts of a signature that follow from the examples: how many there are, and hashes of their texts."""
_MOST_NAMED = 3
"""Kinds of damage in a message. Chosen."""


def check_allowed(allow: Collection[str]) -> None:
    """Raise `InputError` for a part that may never differ."""
    for name in allow:
        if name not in ALLOWABLE:
            raise InputError(
                f"`allow` '{name}': would compare what cannot be; allowed: {', '.join(ALLOWABLE)}"
            )


def differences(one: Result, other: Result, allow: Collection[str] = ()) -> dict[str, tuple[str, str]]:
    """Part of the signature -> its text in both results, for the parts that forbid a comparison.

    An edited protocol or prompt counts as the same one while it keeps its name. Two with names of the user's
    own are versions of one. Names of metrics must agree even if `metrics` is allowed to differ.
    """
    differing = one.signed.differences(other.signed, allow)
    if protocol_name(one.protocol) == protocol_name(other.protocol) or both_own(one, other):
        differing.pop("protocol", None)
    names = _metrics(one), _metrics(other)
    if "metrics" in allow and names[0] != names[1]:
        differing["metrics"] = names
    return differing


def _metrics(result: Result) -> str:
    """The names of its metrics."""
    names: set[str] = set()
    for row in result.variants:
        names |= row.metrics.keys()
    return ", ".join(sorted(names))


def both_own(one: Result, other: Result) -> bool:
    """Whether the protocols of both bear names that the user gave, as by `--name v1` and `--name v2`."""
    bundled = {*names_of("protocol"), *names_of("pairwise protocol")}
    for protocol in (one.protocol, other.protocol):
        # Without a hash, as in `none` or `plain`, no prompt is known of which it could be a version.
        has_hash = "@" in protocol
        if not has_hash or protocol_name(protocol) in bundled:
            return False
    return True


def allowing(part: str, allow: Collection[str] = ()) -> str:
    """The end of a message about a part that differs: how to allow it, if that is possible."""
    return f", or `allow` {part} {ALLOWABLE[part]}" if part in ALLOWABLE and part not in allow else ""


def rated_by_dataset(runs: Iterable[Run]) -> dict[str, list[RunResult]]:
    """Dataset -> its results in runs, in their order."""
    by_dataset: dict[str, list[RunResult]] = {}
    for run in runs:
        for entry in run.rated:
            by_dataset.setdefault(entry.result.dataset, []).append(entry)
    return by_dataset


def check_alike(
    first: RunResult, other: RunResult, parts: Mapping[str, tuple[str, str]], allow: Collection[str] = ()
) -> None:
    """Raise `InputError` for the first of the `differences` found between two results of one dataset."""
    # The first part raises; without parts there is no turn.
    for part, (ours, theirs) in parts.items():
        raise InputError(
            f"dataset '{first.result.dataset}': {part} differs{_in_words(part, first.result, other.result)}, "
            f"'{ours}' in {first.place} and '{theirs}' in {other.place}; must agree in it"
            f"{allowing(part, allow)}"
        )


def _in_words(part: str, one: Result, other: Result) -> str:
    """What a difference in a part of the signature comes from, where names tell it: ` (seed 0 and 4)`."""
    if part == "metrics":
        names = _metrics(one), _metrics(other)
        return f" ({names[0]} and {names[1]})" if names[0] != names[1] else ""
    if part not in _OF_TEXTS:
        return ""
    if one.signed.seed != other.signed.seed:
        return f" (seed {one.signed.seed or 'unknown'} and {other.signed.seed or 'unknown'})"
    # Kinds that only one of the two has explain why hashes of the texts differ.
    kinds = sorted(_variants(one) ^ _variants(other))
    return f" (only one has {', '.join(kinds[:_MOST_NAMED])})" if kinds else ""


def same_judge(
    one: Result, other: Result, *, models: bool, versions: bool = False, allow: Collection[str] = ()
) -> bool:
    """Whether two results are of one judge by name, whatever was edited in its prompts.

    `models` says whether the model counts: not if each run has a single one, as it may then be exchanged.
    `versions` says that each run has a single protocol: then two names of the user's own are versions of one.
    With `protocol` in `allow` the name of the protocol does not count at all.
    """
    same_name = protocol_name(one.protocol) == protocol_name(other.protocol)
    same_protocol = "protocol" in allow or same_name or (versions and both_own(one, other))
    return same_protocol and (not models or one.model == other.model)


def differ_in_size_alone(one: RunResult, other: RunResult, parts: Collection[str]) -> bool:
    """Whether results whose signatures differ in these parts are of the same texts, but for how many.

    The examples of the smaller run are all in the larger one, originals and copies letter by letter: then
    they are a subset without replacement, as runs of one seed choose them. Data, suite and variants must bear
    the same names, and both runs must have rated all texts and hold them in their folders.
    """
    # Of results in memory there are no texts to be compared.
    if not Path(one.place).is_dir() or not Path(other.place).is_dir():
        return False
    names, others = one.result.signed.names, other.result.signed.names
    # Names without hashes, as hashes differ with the number of examples.
    same_data = names["dataset"] == others["dataset"] and names["suite"] == others["suite"]
    if not same_data or not _OF_TEXTS.issuperset(parts):
        return False

    small, large = sorted((one, other), key=lambda entry: len(entry.ratings.examples))
    if _variants(small.result) != _variants(large.result):
        return False
    return _texts(small).items() <= _texts(large).items()


def _variants(result: Result) -> set[str]:
    """The variants that are compared: controls and attacks may differ."""
    return {row.variant for row in result.variants}


def _texts(entry: RunResult) -> dict[tuple[str, str], tuple[str, str | None]]:
    """Example and variant -> original and copy."""
    compared = _variants(entry.result)
    texts = {}
    for row in read_run(entry.place).pairs():
        if row["dataset"] == entry.result.dataset and row["variant"] in compared:
            texts[row["example"], row["variant"]] = (row["before"], row["text"])
    return texts
