"""Comparability of runs with different numbers of examples."""

from collections.abc import Collection
from pathlib import Path

from dhp.analysis.schedules import ALL
from dhp.runs.reader import RunResult, read_run

PARTS = frozenset(("dataset", "n", "suite"))
"""Parts of a signature that follow from the examples: how many there are, and hashes of their texts."""


def differ_in_size_alone(one: RunResult, other: RunResult, parts: Collection[str]) -> bool:
    """Whether results whose signatures differ in these parts are of the same texts, but for how many.

    The examples of the smaller run are all in the larger one, originals and copies letter by letter: then
    they are a subset without replacement, as runs of one seed choose them. Data, suite and variants must bear
    the same names, and both runs must have rated all texts.
    """
    names = [entry.result.signed.names for entry in (one, other)]
    if not PARTS.issuperset(parts) or any(names[0][part] != names[1][part] for part in ("dataset", "suite")):
        return False
    if any(entry.ratings.course.schedule is not ALL for entry in (one, other)):
        return False
    small, large = sorted((one, other), key=lambda entry: len(entry.ratings.examples))
    if _variants(small) != _variants(large):
        return False
    return _texts(small).items() <= _texts(large).items()


def _variants(entry: RunResult) -> set[str]:
    """The variants that are compared: controls and attacks may differ."""
    return {row.variant for row in entry.result.variants}


def _texts(entry: RunResult) -> dict[tuple[str, str | None], str | None]:
    """Example and variant, None for the original, -> text."""
    run = read_run(Path(entry.place))
    dataset = entry.result.dataset
    found: dict[tuple[str, str | None], str | None] = {
        (row["id"], None): row["output"] for row in run.examples if row["dataset"] == dataset
    }
    compared = _variants(entry)
    return found | {
        (row["example"], row["variant"]): row["text"]
        for row in run.perturbed
        if row["dataset"] == dataset and row["variant"] in compared
    }
