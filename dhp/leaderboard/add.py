"""Adding results to a board: checked strictly, and against their ratings where these are given."""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from dhp.analysis import analyze_group
from dhp.content import weights_names
from dhp.errors import InputError
from dhp.files import write_whole
from dhp.leaderboard.entries import Entry, newest, read_entries, safe_name
from dhp.plans import make_plan
from dhp.ratings import Group, groups, read_ratings
from dhp.records import PROBES, Variant
from dhp.results import Result
from dhp.specs import Scale

_FIGURES = (
    *("d_avg", "d_min", "d_avg_ew", "d_min_ew", "d_min_variant", "d_min_variant_ew"),
    *("effect_avg", "effect_avg_ew", "n", "ratings", "variants", "controls", "attacks", "curves"),
    *("ci", "at_100", "repeats", "styles", "halo"),
)
"""Fields of a result that follow from its ratings, in the order in which they are compared."""
_UNKNOWN = "unknown"


def add_results(
    file: str | Path,
    board: str | Path,
    *,
    ratings: str | Path | None = None,
    weights: str | None = None,
    resamples: int = 2000,
) -> list[Path]:
    """Add the results in a file to a board, each as a file of its own; returns the files written.

    A result takes the place of an older one of the same judge on the same data; where the one on the board is
    the newer, it stays, with a warning.

    Parameters
    ----------
    file
        A results file, or a run folder, whose ratings are then taken as given.
    board
        A folder of results files; made where there is none.
    ratings
        Their ratings: every figure that follows from them is computed anew and compared.
    weights
        Name or file of the expert weights, for results with other weights than those that ship.
    resamples
        With which the intervals were computed.

    Raises
    ------
    InputError
        As `read_entries`, and for the first figure that does not follow from the ratings.
    """
    folder = Path(board)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"--to {folder}: is a file; allowed: a folder of results files")
    entries = read_entries([file])
    table = None if ratings is None else list(groups(read_ratings(Path(ratings))))
    for entry in entries:
        group = entry.group if table is None else _ratings_of(entry.result, table, str(ratings))
        if group is not None:
            check_figures(entry, group, weights, resamples)
    written = []
    for entry in entries:
        r = entry.result
        path = folder / f"{safe_name(r.model, r.protocol, r.dataset, key=entry.kind)}.json"
        if path.exists() and entry not in newest([*read_entries([path]), entry]):
            continue  # which it says
        write_whole(path, partial(_write, r))
        written.append(path)
    return written


def _write(result: Result, path: Path) -> None:
    path.write_text(json.dumps(result.to_json(), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def check_figures(entry: Entry, group: Group, weights: str | None = None, resamples: int = 2000) -> None:
    """Raise `InputError` with the first figure of a result that does not follow from its ratings.

    Figures are the same within 1e-6 of their size. What the ratings do not know cannot be checked: the data,
    the method, cost and usage, and levels where the ratings have none.
    """
    computed = _computed(entry, group, weights, resamples)
    here, there = entry.result.to_json(), computed.to_json()
    for field in _FIGURES:
        for where, said, found in _differences(field, here[field], there[field]):
            drawn = "ci" in where.split(".")
            hint = f"; other than {resamples} resamples need --resamples" if drawn else ""
            raise InputError(
                f"{entry.place}: model '{entry.result.model}' on '{entry.result.dataset}': {where} is "
                f"{said}, but {found} follows from the ratings{hint}"
            )


def _computed(entry: Entry, group: Group, weights: str | None, resamples: int) -> Result:
    """The result that follows from the ratings, analysed as the given result says it was."""
    r, place = entry.result, entry.place
    if weights is None and r.weights not in weights_names():
        raise InputError(f"{place}: weights '{r.weights}' do not ship with dhp; give their file by --weights")
    rated = (*r.variants, *r.controls, *r.attacks)
    if unnamed := sorted(set(group.variants) - {v.variant for v in rated}):
        raise InputError(f"{place}: lacks the variant '{unnamed[0]}', which was rated")
    levels = group.levels or {}
    variants = [
        Variant(
            v.variant, v.variant.partition(".")[0], levels.get(v.variant, v.level), v.method or "", v.degree
        )
        for v in rated
    ]
    perturbers = {v.perturber for v in variants if v.level not in PROBES}
    plan = make_plan(
        r.statistics,
        r.combination,
        weights or r.weights,
        None if entry.task == _UNKNOWN else entry.task,
        perturbers,
        group.metrics,
        resamples if r.ci or any(v.ci for v in rated) else None,
        group.looks is not None,
    )
    for part in plan.label.split("|"):
        name, _, value = part.partition(":")
        if r.signed.get(name) != value:
            hint = "; give those that were used by --weights FILE" if name == "weights" else ""
            raise InputError(f"{place}: {name} are '{r.signed.get(name)}', not '{value}'{hint}")
    if r.signed.get("n") != group.size:
        raise InputError(f"{place}: n is {r.signed.get('n')}, but {group.size} follows from the ratings")
    scales = {metric: Scale(min=low, max=high) for metric, (low, high) in r.scales.items()}
    return analyze_group(
        group, plan, variants, left_out=r.left_out, levels=r.levels, signature=r.signature, scales=scales
    )


def _ratings_of(result: Result, table: Sequence[Group], place: str) -> Group:
    """The ratings of a result; a table without one of the columns model, protocol, dataset fits any."""
    names = (result.model, result.protocol, result.dataset)
    for group in table:
        there = (group.model, group.protocol, group.dataset)
        if all(name in (own, _UNKNOWN) for own, name in zip(names, there, strict=True)):
            return replace(group, model=result.model, protocol=result.protocol, dataset=result.dataset)
    raise InputError(
        f"{place}: no ratings of model '{result.model}', protocol '{result.protocol}', dataset "
        f"'{result.dataset}'"
    )


def _differences(where: str, said: object, found: object) -> Iterator[tuple[str, object, object]]:
    """Where two values differ, and the two."""
    if isinstance(said, dict) and isinstance(found, dict):
        for key in [*said, *(k for k in found if k not in said)]:
            yield from _differences(f"{where}.{key}", said.get(key), found.get(key))
    elif isinstance(said, list | tuple) and isinstance(found, list | tuple) and len(said) == len(found):
        for place, (one, other) in enumerate(zip(said, found, strict=True)):
            name = one.get("variant", place) if isinstance(one, dict) else place
            yield from _differences(f"{where}.{name}", one, other)
    elif isinstance(said, float | int) and isinstance(found, float | int):
        if not math.isclose(said, found, rel_tol=1e-6, abs_tol=1e-12):
            yield where, said, found
    elif said != found:
        yield where, said, found
