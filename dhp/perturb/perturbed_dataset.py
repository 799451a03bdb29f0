"""Datasets with their degraded texts."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from dhp.content.own_task import Metrics, with_metrics
from dhp.core.records import PROBES, Candidate, PerturbedText, Variant, methods
from dhp.core.seeding import list_hash, text_hash
from dhp.core.signature import Signature
from dhp.core.specs import Task
from dhp.core.spool import Spooled
from dhp.loaders.dataset import Dataset
from dhp.perturb.candidates import Candidates
from dhp.perturb.sets.part import SetPart


@dataclass(frozen=True)
class PerturbedDataset:
    """A dataset with its variants and their texts."""

    dataset: Dataset
    """The originals with their task."""
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
    """Perturber -> what made its texts, where the perturber's name does not say it all."""
    usage: Mapping[str, int] = field(default_factory=dict)
    """Calls and tokens that the texts took of a language model."""
    auto_steps: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Variant -> adjustment steps that the language model wrote."""

    def __repr__(self) -> str:
        return f"PerturbedDataset({self.dataset!r}, suite {self.suite}, {len(self.variants)} variants)"

    @cached_property
    def identity(self) -> dict[str, object]:
        """What was put before the judges, hashed."""
        probes = [v.name for v in self.variants if v.level in PROBES]

        def hashed(of_probes: bool) -> str:
            levels = [(v.name, v.level) for v in self.variants if (v.name in probes) == of_probes]
            own = ((t.example, t.variant, t.text) for t in self.texts if (t.variant in probes) == of_probes)
            return list_hash(own, before=f"[{json.dumps(levels)}, ", after="]")

        return {
            "dataset": self.dataset.name,
            "n": len(self.dataset.examples),
            "task": self.dataset.task.task,
            "metrics": text_hash(self.dataset.task.model_dump_json()),
            "data": list_hash((e.to_dict() for e in self.dataset.examples), sort_keys=True),
            "suite": self.suite,
            "variants": [v.name for v in self.variants if v.name not in probes],
            "probes": probes,
            "left_out": list(self.left_out),
            "origins": dict(self.origins),
            "perturbed": hashed(of_probes=False),
            "probe_texts": hashed(of_probes=True),
        }

    @property
    def methods(self) -> str:
        """What made the texts, for signatures."""
        return methods(self.variants, {p: origin.partition(",")[0] for p, origin in self.origins.items()})

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
        found = Candidates(self.dataset.examples, self.texts, self.dataset.task, levels)
        return found if isinstance(self.texts, Spooled) else tuple(found)

    def judged_as(self, task: Task) -> "PerturbedDataset":
        """The dataset with another task: that of a judge with metrics of its own."""
        return replace(self, dataset=replace(self.dataset, task=task))

    def judged_by(self, metrics: Metrics) -> "PerturbedDataset":
        """The dataset with only these metrics of its task; all if none is named."""
        return replace(self, dataset=replace(self.dataset, task=with_metrics(self.dataset.task, metrics)))

    def as_set_part(self) -> SetPart:
        """The dataset as a part of a perturbation set."""
        return SetPart(
            dataset=self.dataset.name,
            task=self.dataset.task.task,
            suite=self.suite,
            seed=self.seed,
            examples=self.dataset.examples,
            variants=self.variants,
            left_out=self.left_out,
            texts=self.texts,
            origins=self.origins,
            steps=self.auto_steps,
        )
