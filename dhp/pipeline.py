"""The whole chain, examples to results: the only module that knows all stages."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from dhp import __version__
from dhp.analysis import Plan, analyze_group, make_plan
from dhp.content import read_suite
from dhp.data import Dataset, resolve_datasets
from dhp.errors import InputError
from dhp.judge import Candidate, Judge, checked_ratings, find_judge
from dhp.perturb import Perturber, check_suite, find_perturbers, perturb
from dhp.ratings import groups
from dhp.records import ORIGINAL, PerturbedText, Rating, Variant
from dhp.registry import Registry
from dhp.results import Result, Results
from dhp.runfolder import RunFolder
from dhp.seeding import text_hash

if TYPE_CHECKING:
    import pandas as pd

Progress = Callable[[str, int, int], None]
"""Called with what is being rated, how many ratings are done, how many there will be."""


class Choice(TypedDict, total=False):
    """Which texts a run is about; the keywords of `perturb_datasets`."""

    data: str | Path | None
    task: str | None
    fields: Mapping[str, str] | None
    n: int | None
    suite: str | None
    perturbers: Iterable[Perturber]


@dataclass(frozen=True, slots=True)
class PerturbedDataset:
    """A dataset with its variants and their texts."""

    dataset: Dataset
    variants: tuple[Variant, ...]
    left_out: tuple[Variant, ...]
    """Variants of the suite that this run does not make."""
    texts: tuple[PerturbedText, ...]

    @property
    def identity(self) -> dict[str, object]:
        """What was put before the judges, hashed."""
        examples = [asdict(e) for e in self.dataset.examples]
        return {
            "dataset": self.dataset.name,
            "n": len(examples),
            "task": self.dataset.task.task,
            "metrics": text_hash(self.dataset.task.model_dump_json()),
            "data": text_hash(json.dumps(examples, sort_keys=True)),
            "suite": self.dataset.suite_name,
            "variants": [v.name for v in self.variants],
            "left_out": [v.name for v in self.left_out],
            "perturbed": text_hash(json.dumps([asdict(t) for t in self.texts], sort_keys=True)),
        }

    def candidates(self) -> list[Candidate]:
        """Originals and degraded texts, example by example, each with no more than a judge may see."""
        shown = self.dataset.task.shown_fields
        degraded: dict[str, list[tuple[str, str]]] = {}
        for t in self.texts:
            if t.text is not None:
                degraded.setdefault(t.example, []).append((t.variant, t.text))
        return [
            Candidate(e.id, variant, text, e.source, {k: v for k, v in e.fields.items() if k in shown})
            for e in self.dataset.examples
            for variant, text in [(ORIGINAL, e.output), *degraded.get(e.id, [])]
        ]


def _perturb_dataset(
    dataset: Dataset, perturbers: Registry[Perturber], own: Sequence[Perturber], seed: int
) -> PerturbedDataset:
    """Make the variants of a dataset by rule; pairs that came ready-made are taken as they are.

    `own` perturbers that the suite does not name are added with their own parameters. Variants that need a
    language model are left out and listed.
    """
    if dataset.suite is None:
        if own:
            raise InputError(
                f"dataset '{dataset.name}' brings degraded texts of its own; no perturber can be used with it"
            )
        return PerturbedDataset(dataset, dataset.pair_variants, (), dataset.pairs)
    check_suite(dataset.suite, perturbers)
    added = [p for p in own if p.name not in dataset.suite.perturbers]
    declared = (*dataset.suite.variants, *(v for p in added for v in p.variants))
    variants = tuple(v for v in declared if v.method == "rule")
    if not variants:
        raise InputError(f"suite '{dataset.suite_name}': no variant is made by rule; name at least one")
    made = perturb(dataset.examples, variants, perturbers, dataset=dataset.name, seed=seed, pool=dataset.pool)
    return PerturbedDataset(dataset, variants, tuple(v for v in declared if v.method != "rule"), tuple(made))


def perturb_datasets(
    dataset: str | Dataset | Sequence[str | Dataset] = "mini",
    *,
    data: str | Path | None = None,
    task: str | None = None,
    fields: Mapping[str, str] | None = None,
    n: int | None = None,
    seed: int = 0,
    suite: str | None = None,
    perturbers: Iterable[Perturber] = (),
) -> list[PerturbedDataset]:
    """Find datasets and degrade their texts.

    Parameters
    ----------
    dataset
        `mini` (the six bundled sets), `mini/NAME`, a NAME of the benchmark, `all` (the six of the
        benchmark), a user's file (`.jsonl`, `.csv`, `.parquet`), `hf:ORG/NAME`, a `Dataset`, or several.
    data
        Where a benchmark dataset lies as its owners publish it, instead of the prepared copy.
    task, fields
        For a user's file: what the writers had to do, and `{our field: their column}`.
    n
        Number of examples, chosen by `seed`. Default: the card's (100) or all there are, if fewer.
    suite
        Name or YAML file; default: the dataset's or the task's own.
    perturbers
        Own perturbers, usable in the suite by name; those that it does not name are added to it.

    Raises
    ------
    InputError
        For anything wrong with these, in one line.
    """
    own = tuple(perturbers)
    sets = resolve_datasets(
        _listed(dataset),
        data=Path(data) if data is not None else None,
        task=task,
        fields=fields,
        n=n,
        seed=seed,
        suite=read_suite(suite) if suite is not None else None,
    )
    registry = find_perturbers(own, [d.suite for d in sets if d.suite])
    return [_perturb_dataset(d, registry, own, seed) for d in sets]


def run(
    model: str | Judge | Sequence[str | Judge] = "baseline/surface",
    dataset: str | Dataset | Sequence[str | Dataset] = "mini",
    *,
    seed: int = 0,
    weights: str | None = None,
    statistics: str = "default",
    combination: str | None = None,
    out: str | Path | RunFolder | None = None,
    progress: Progress | None = None,
    **choice: Unpack[Choice],
) -> Results:
    """Degrade, judge and analyse: the benchmark as one call.

    Parameters
    ----------
    model
        `provider/name`, a `Judge`, or several of them.
    dataset, **choice
        Which texts: `data, task, fields, n, suite, perturbers` as in `dhp.perturb_datasets`.
    seed
        Of every random choice.
    weights, statistics, combination
        As in `dhp.analyze`.
    out
        Folder to write the run to; None writes nothing.
    progress
        Called as `progress(what, done, total)`.

    Raises
    ------
    InputError
        For anything wrong with these, in one line.
    """
    folder = RunFolder(Path(out)) if isinstance(out, str | Path) else out
    judges = _judges(model, seed)
    perturbed = perturb_datasets(dataset, seed=seed, **choice)
    plans = [_plan(p, statistics, combination, weights) for p in perturbed]
    if folder:
        folder.claim(_identity(judges, perturbed, plans, seed))
    judged = [
        _judged(judge, part, plan, seed, progress)
        for part, plan in zip(perturbed, plans, strict=True)
        for judge in judges
    ]
    results = Results([result for _, result in judged])
    if folder:
        sets = [(p.dataset.name, p.variants, p.texts) for p in perturbed]
        folder.write(sets, [frame for frame, _ in judged], results)
    return results


def _judges(model: str | Judge | Sequence[str | Judge], seed: int) -> list[Judge]:
    judges = [find_judge(m, seed=seed) if isinstance(m, str) else m for m in _listed(model)]
    for judge in judges:
        named = all(isinstance(getattr(judge, name, None), str) for name in ("model", "protocol"))
        if isinstance(judge, type) or not named or not callable(getattr(judge, "rate", None)):
            raise InputError(
                f"model {judge!r} is no judge; allowed: provider/name, or an object with texts 'model' and "
                "'protocol' and a method 'rate'"
            )
    names = [judge.model for judge in judges]
    if not judges:
        raise InputError("no model is given; name at least one")
    if repeated := [name for name in names if names.count(name) > 1]:
        raise InputError(f"model '{repeated[0]}' is given twice; give each one once")
    return judges


def _plan(part: PerturbedDataset, statistics: str, combination: str | None, weights: str | None) -> Plan:
    task = part.dataset.task
    perturbers = {v.perturber for v in part.variants}
    return make_plan(statistics, combination, weights, task.task, perturbers, task.metric_names)


def _identity(
    judges: Sequence[Judge], perturbed: Sequence[PerturbedDataset], plans: Sequence[Plan], seed: int
) -> dict[str, object]:
    return {
        "seed": seed,
        "analysis": [plan.label for plan in plans],
        "models": [{"model": j.model, "protocol": j.protocol} for j in judges],
        "datasets": [p.identity for p in perturbed],
    }


def _judged(
    judge: Judge, part: PerturbedDataset, plan: Plan, seed: int, progress: Progress | None
) -> tuple["pd.DataFrame", Result]:
    """The ratings of one judge on one dataset, and what follows from them."""
    frame = _rated(judge, part, progress)
    (group,) = groups(frame)
    result = analyze_group(
        group,
        plan,
        part.variants,
        left_out=[v.name for v in part.left_out],
        levels="suite" if part.dataset.suite else "column",
        signature=_signature(part, plan.label, judge, seed),
    )
    return frame, result


def _rated(judge: Judge, part: PerturbedDataset, progress: Progress | None) -> "pd.DataFrame":
    """All ratings of one judge on one dataset as a table; what it left unrated is there as failed."""
    import pandas as pd

    candidates, task = part.candidates(), part.dataset.task
    total = len(candidates) * len(task.metrics)
    what = f"{judge.model} on {part.dataset.name}"
    ratings: list[Rating] = []
    for rating in checked_ratings(judge, candidates, task):
        ratings.append(rating)
        if progress and (len(ratings) % 20 == 0 or len(ratings) == total):
            progress(what, len(ratings), total)
    frame = pd.DataFrame([asdict(r) for r in ratings])
    return frame.assign(model=judge.model, protocol=judge.protocol, dataset=part.dataset.name)


def _signature(part: PerturbedDataset, plan_label: str, judge: Judge, seed: int) -> str:
    identity = part.identity
    methods = "+".join(sorted({v.method for v in part.variants}))
    return (
        f"dataset:{part.dataset.name}@{identity['data']}|n:{len(part.dataset.examples)}"
        f"|suite:{part.dataset.suite_name}@{identity['perturbed']}|method:{methods}|{plan_label}"
        f"|protocol:{judge.protocol}|seed:{seed}|dhp:{__version__}"
    )


def _listed(value: object) -> list[Any]:
    listed = list(value) if isinstance(value, list | tuple) else [value]
    return [str(entry) if isinstance(entry, Path) else entry for entry in listed]
