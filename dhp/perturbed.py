"""Datasets and their degraded texts: what is put before the judges."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypedDict

from dhp.content import read_suite
from dhp.data import Dataset, resolve_datasets
from dhp.errors import InputError, near
from dhp.judge import Candidate
from dhp.perturb import Perturber, check_suite, find_perturbers, perturb
from dhp.records import ORIGINAL, Example, PerturbedText, Variant
from dhp.registry import Registry
from dhp.seeding import text_hash


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
            Candidate(
                e.id,
                variant,
                text,
                e.source,
                {k: v for k, v in e.fields.items() if k in shown},
                _reference(e),
            )
            for e in self.dataset.examples
            for variant, text in [(ORIGINAL, e.output), *degraded.get(e.id, [])]
        ]


def _reference(example: Example) -> str | None:
    """A further reference text of the example; never the original, beside which every copy would look bad."""
    reference = example.fields.get("reference")
    return None if reference == example.output else reference


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
        listed(dataset),
        data=Path(data) if data is not None else None,
        task=task,
        fields=fields,
        n=n,
        seed=seed,
        suite=read_suite(suite) if suite is not None else None,
    )
    registry = find_perturbers(own, [d.suite for d in sets if d.suite])
    return [_perturb_dataset(d, registry, own, seed) for d in sets]


def narrowed(part: PerturbedDataset, metrics: Sequence[str]) -> PerturbedDataset:
    """With no more than these metrics of its task."""
    if not metrics:
        return part
    task = part.dataset.task
    for name in metrics:
        if name not in task.metric_names:
            raise InputError(f"task '{task.task}' has no metric '{name}'; {near(name, task.metric_names)}")
    chosen = task.model_copy(update={"metrics": [m for m in task.metrics if m.name in metrics]})
    return replace(part, dataset=replace(part.dataset, task=chosen))


def listed(value: object) -> list[Any]:
    """One or several as a list; paths as text."""
    found = list(value) if isinstance(value, list | tuple) else [value]
    return [str(entry) if isinstance(entry, Path) else entry for entry in found]
