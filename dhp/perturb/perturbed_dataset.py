"""Datasets with their degraded texts, and the candidates that judges rate.

A `PerturbedDataset` goes from the building of texts through judging to reports. `candidates` are the texts as
judges get them, `identity` and `signature` say which texts they were.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from dhp.content.catalog import Metrics, with_metrics
from dhp.core.errors import one_of
from dhp.core.records import ORIGINAL, PROBES, Candidate, Example, PerturbedText, Variant, methods
from dhp.core.seeding import list_hash, natural_order, text_hash
from dhp.core.signature import Signature
from dhp.core.specs import Task
from dhp.loaders.dataset import Dataset


def original_of(example: Example, task: Task) -> Candidate:
    """The undamaged text of an example, with the fields that the task shows and the columns of the data."""
    shown = {*task.shown_fields, *task.columns.values()}
    fields = {name: text for name, text in example.fields.items() if name in shown}
    return Candidate(example.id, ORIGINAL, example.output, example.source, fields, _references(example))


def _references(example: Example) -> tuple[str, ...]:
    """A further reference text of the example; never the original, beside which every copy would look bad."""
    reference = example.fields.get("reference")
    return () if reference in (None, example.output) else (reference,)


@dataclass(frozen=True)
class PerturbedDataset:
    """A dataset with its variants and their texts, as made or as a perturbation set holds it."""

    dataset: Dataset
    """The originals with their task. As read from a set: examples without source and fields but for
    `source_sha256`, and of the task the name alone."""
    variants: tuple[Variant, ...]
    """Variants in the order of the suite, probes last."""
    left_out: tuple[str, ...]
    """Names of the suite's variants that this run does not make."""
    texts: Sequence[PerturbedText]
    """Variant by variant, example by example."""
    suite: str
    """Name of the suite, for tables and signatures."""
    seed: int
    """Seed of the build; for a perturbation set it is not that of the run."""
    origins: Mapping[str, str] = field(default_factory=dict)
    """Perturber -> what made its texts, if the perturber's name does not say it all."""
    usage: Mapping[str, int] = field(default_factory=dict)
    """Calls and tokens that the texts took of a language model."""
    auto_steps: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Variant -> adjustment steps that the language model wrote."""

    def __repr__(self) -> str:
        return f"PerturbedDataset({self.dataset!r}, suite {self.suite}, {len(self.variants)} variants)"

    @property
    def by_variant(self) -> dict[str, list[PerturbedText]]:
        """Variant -> its texts; raises `InputError` for a text of another one."""
        groups: dict[str, list[PerturbedText]] = {variant.name: [] for variant in self.variants}
        for text in self.texts:
            one_of("variant", text.variant, groups, f"dataset '{self.dataset.name}'")
            groups[text.variant].append(text)
        return groups

    @property
    def outputs(self) -> dict[str, str]:
        """Example -> its original."""
        return {e.id: e.output for e in self.dataset.examples}

    @cached_property
    def identity(self) -> dict[str, object]:
        """What was put before the judges, hashed; the order of the examples is no part of it."""
        examples = sorted(self.dataset.examples, key=lambda e: natural_order(e.id))
        damage = [variant.name for variant in self.variants if variant.level not in PROBES]
        probes = [variant.name for variant in self.variants if variant.level in PROBES]
        return {
            "dataset": self.dataset.name,
            "n": len(self.dataset.examples),
            "task": self.dataset.task.task,
            "metrics": text_hash(self.dataset.task.model_dump_json()),
            "data": list_hash((e.to_dict() for e in examples), sort_keys=True),
            "suite": self.suite,
            "variants": damage,
            "probes": probes,
            "left_out": list(self.left_out),
            "origins": dict(self.origins),
            # Probes have a hash of their own, so that runs with and without them have the same texts.
            "perturbed": self._hash(damage),
            "probe_texts": self._hash(probes),
        }

    def _hash(self, names: Sequence[str]) -> str:
        """Of the texts of some variants, with the levels of these."""
        levels = [(variant.name, variant.level) for variant in self.variants if variant.name in names]
        texts = [text for text in self.texts if text.variant in names]
        texts.sort(key=lambda text: natural_order(text.example))
        triples = ((text.example, text.variant, text.text) for text in texts)
        return list_hash(triples, before=f"[{json.dumps(levels)}, ", after="]")

    @property
    def methods(self) -> str:
        """What made the texts, for signatures."""
        # What stands before the first comma: the model, or the rule that stands in, without versions.
        makers = dict[str, str]()
        for perturber, origin in self.origins.items():
            makers[perturber] = origin.partition(",")[0]
        return methods(self.variants, makers)

    def signature(self, n: str, weights: str, statistics: str, protocol: str) -> Signature:
        """What was judged, with what is said of the ratings and their analysis."""
        identity = self.identity
        return Signature(
            dataset=f"{self.dataset.name}@{identity['data']}",
            n=n,
            suite=f"{self.suite}@{identity['perturbed']}",
            method=self.methods,
            metrics=f"{len(self.dataset.task.metrics)}@{identity['metrics']}",
            weights=weights,
            statistics=statistics,
            protocol=protocol,
            seed=str(self.seed),
        )

    def candidates(self) -> Sequence[Candidate]:
        """Originals and degraded texts, example by example, each with no more than a judge may see."""
        levels = {v.name: v.level for v in self.variants}
        copies: dict[str, list[PerturbedText]] = {}
        for perturbed in self.texts:
            if perturbed.text is not None:
                copies.setdefault(perturbed.example, []).append(perturbed)
        candidates: list[Candidate] = []
        for example in self.dataset.examples:
            original = original_of(example, self.dataset.task)
            candidates.append(original)
            for copy in copies.get(example.id, []):
                level = levels.get(copy.variant)
                candidates.append(replace(original, variant=copy.variant, text=copy.text or "", level=level))
        return candidates

    def rated(self, variants: Collection[str]) -> "PerturbedDataset":
        """The dataset of which only these variants were rated, and not on all examples."""
        kept, others = list[Variant](), list[str]()
        for variant in self.variants:
            if variant.name in variants:
                kept.append(variant)
            elif variant.level not in PROBES:
                others.append(variant.name)
        return replace(self, variants=tuple(kept), left_out=(*self.left_out, *others))

    def judged_as(self, task: Task) -> "PerturbedDataset":
        """The dataset with another task: that of a judge with metrics of its own."""
        return replace(self, dataset=replace(self.dataset, task=task))

    def judged_by(self, metrics: Metrics) -> "PerturbedDataset":
        """The dataset with only these metrics of its task; all if none is named."""
        return self.judged_as(with_metrics(self.dataset.task, metrics))
