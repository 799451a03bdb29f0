"""What loops over plain runs share: the one judge, the degraded texts, and the part of them that is rated."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from dhp.core.errors import InputError
from dhp.core.progress import Progress
from dhp.core.records import Candidate, Rating
from dhp.core.specs import Task
from dhp.judge.api import Judge
from dhp.llm.cached_model import RequestContext
from dhp.perturb.perturbed_dataset import PerturbedDataset
from dhp.run import RunSpec, degraded

Pair = tuple[str, str]
"""Example and variant."""


class Remembered(Judge):
    """A judge that asks no language model, whose ratings no store keeps: each text is rated once.

    It is prepared with the whole of the dataset that some of its texts are of.
    """

    def __init__(self, judge: Judge, wholes: Sequence[Sequence[Candidate]]) -> None:
        self._judge = judge
        self._wholes = {(c.example, c.text): whole for whole in wholes for c in whole}
        self._ratings: dict[tuple[str, str, str, str], list[Rating]] = {}
        self.model, self.protocol, self.samples = judge.model, judge.protocol, judge.samples
        self.settings, self.compare = judge.settings, judge.compare

    def rate(self, candidates: Sequence[Candidate], task: Task) -> Iterator[Rating]:
        """The ratings of all candidates; the judge is asked about those that are new."""
        keys = {(c.example, c.variant): (task.task, c.example, c.variant, c.text) for c in candidates}
        new = [c for c in candidates if keys[c.example, c.variant] not in self._ratings]
        for rating in self._judge.rate(new, task) if new else ():
            self._ratings.setdefault(keys[rating.example, rating.variant], []).append(rating)
        for key in keys.values():
            yield from self._ratings.get(key, ())

    def own_task(self, task: Task, candidates: Sequence[Candidate] = ()) -> Task:
        """The task of the judge."""
        return self._judge.own_task(task, candidates)

    def asked_about(self, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        """Those of the candidates that the judge is asked about."""
        return self._judge.asked_about(candidates)

    def prepare(self, candidates: Sequence[Candidate], task: Task) -> None:
        """Prepare the judge."""
        first = candidates[0]
        self._judge.prepare(self._wholes[first.example, first.text], task)


def prepared(
    spec: RunSpec, progress: Progress | None, context: RequestContext
) -> tuple[RunSpec, Judge, list[PerturbedDataset]]:
    """The run with its degraded texts, its one judge, and these texts; `out` is left out.

    Raises `InputError` for more than one judge, and as `run`.
    """
    judges = spec.judges(context)
    if len(judges) > 1:
        names = ", ".join(judge.model for judge in judges)
        raise InputError(f"`model`: {len(judges)} judges are given; allowed: one of {names}")
    (judge,) = judges
    parts = degraded(spec, judges, progress, context)
    kept = judge if judge.cached_model else Remembered(judge, [part.candidates() for part in parts])
    plain = replace(
        spec,
        model=spec.model if judge.cached_model else kept,
        dataset=None,
        data=None,
        task=None,
        n=None,
        suite=None,
        perturbers=(),
        perturb_model=None,
        controls=False,
        attacks=False,
        doses=None,
        out=None,
    )
    return plain, kept, parts


def restricted(part: PerturbedDataset, pairs: Collection[Pair]) -> PerturbedDataset:
    """The part of a dataset with these degraded texts and the originals of their examples."""
    texts = tuple(text for text in part.texts if (text.example, text.variant) in pairs)
    names = {text.variant for text in texts}
    return replace(
        part,
        dataset=part.dataset.only({text.example for text in texts}),
        texts=texts,
        variants=tuple(variant for variant in part.variants if variant.name in names),
    )
