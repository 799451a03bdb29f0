"""Datasets with their degraded texts: what is put before the judges."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from dhp.content.own_task import with_metrics
from dhp.core.records import ORIGINAL, PROBES, Candidate, Example, PerturbedText, Variant, methods
from dhp.core.seeding import text_hash
from dhp.core.signature import Signature
from dhp.core.specs import Metric, Task
from dhp.loaders.dataset import Dataset
from dhp.perturb.sets.part import SetPart


@dataclass(frozen=True, slots=True)
class PerturbedDataset:
    """A dataset with its variants and their texts."""

    dataset: Dataset
    """The originals with their task."""
    variants: tuple[Variant, ...]
    """In the order of the suite, probes last."""
    left_out: tuple[str, ...]
    """Names of the suite's variants that this run does not make."""
    texts: tuple[PerturbedText, ...]
    """Variant by variant, example by example."""
    suite: str
    """Its name, for tables and signatures."""
    seed: int
    """Of the build, which for a perturbation set is not that of the run."""
    origins: Mapping[str, str] = field(default_factory=dict)
    """Perturber -> what made its texts, where the perturber's name does not say it all."""
    usage: Mapping[str, int] = field(default_factory=dict)
    """Calls and tokens that the texts took of a language model."""
    auto_steps: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Variant -> adjustment steps that the language model wrote."""

    def __repr__(self) -> str:
        return f"PerturbedDataset({self.dataset!r}, suite {self.suite}, {len(self.variants)} variants)"

    @property
    def identity(self) -> dict[str, object]:
        """What was put before the judges, hashed."""
        examples = [asdict(e) for e in self.dataset.examples]
        probes = [v.name for v in self.variants if v.level in PROBES]

        def hashed(of_probes: bool) -> str:
            levels = [(v.name, v.level) for v in self.variants if (v.name in probes) == of_probes]
            texts = [(t.example, t.variant, t.text) for t in self.texts if (t.variant in probes) == of_probes]
            return text_hash(json.dumps([levels, texts]))

        return {
            "dataset": self.dataset.name,
            "n": len(examples),
            "task": self.dataset.task.task,
            "metrics": text_hash(self.dataset.task.model_dump_json()),
            "data": text_hash(json.dumps(examples, sort_keys=True)),
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

    def candidates(self) -> list[Candidate]:
        """Originals and degraded texts, example by example, each with no more than a judge may see."""
        levels = {v.name: v.level for v in self.variants}
        degraded: dict[str, list[PerturbedText]] = {}
        for t in self.texts:
            if t.text is not None:
                degraded.setdefault(t.example, []).append(t)
        task = self.dataset.task
        found = []
        for example in self.dataset.examples:
            made = degraded.get(example.id, [])
            original = replace(original_of(example, task), columns=made[0].columns if made else {})
            found.append(original)
            for t in made:
                copy = replace(original, variant=t.variant, text=t.text or "", level=levels.get(t.variant))
                found.append(replace(copy, columns=t.columns))
        return found

    def judged_as(self, task: Task) -> "PerturbedDataset":
        """With another task: the one that a judge with metrics of its own rates by."""
        return replace(self, dataset=replace(self.dataset, task=task))

    def judged_by(self, metrics: Sequence[str | Metric]) -> "PerturbedDataset":
        """With no more than these metrics of its task; all where none is named."""
        return replace(self, dataset=replace(self.dataset, task=with_metrics(self.dataset.task, metrics)))

    def as_set_part(self) -> SetPart:
        """As a part of a perturbation set."""
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


def original_of(example: Example, task: Task) -> Candidate:
    """The undamaged text of an example, with the fields that the task shows and the columns of the data."""
    shown = {*task.shown_fields, *task.columns.values()}
    fields = {k: v for k, v in example.fields.items() if k in shown}
    return Candidate(example.id, ORIGINAL, example.output, example.source, fields, _references(example))


def _references(example: Example) -> tuple[str, ...]:
    """A further reference text of the example; never the original, beside which every copy would look bad."""
    reference = example.fields.get("reference")
    return () if reference in (None, example.output) else (reference,)
