"""Baselines without a model: constant and random scores."""

from collections.abc import Iterator, Sequence

from dhp.core.records import Candidate, Rating
from dhp.core.seeding import stream
from dhp.core.specs import Task
from dhp.judge.api import Judge


class ConstantJudge(Judge):
    """Gives every text the middle of the scale."""

    model = "baseline/constant"
    protocol = "none"

    def rate(self, candidates: Sequence[Candidate], task: Task) -> Iterator[Rating]:
        """One rating per candidate and metric."""
        for candidate in candidates:
            for metric in task.metrics:
                middle = (metric.scale.min + metric.scale.max) / 2
                yield Rating(candidate.example, candidate.variant, metric.name, 0, middle)


class RandomJudge(Judge):
    """Draws from the scale in steps of about one, by `seed`, source, variant and metric."""

    model = "baseline/random"
    protocol = "none"

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed

    def rate(self, candidates: Sequence[Candidate], task: Task) -> Iterator[Rating]:
        """One rating per candidate and metric."""
        for candidate in candidates:
            for metric in task.metrics:
                key = (candidate.example, candidate.source, candidate.variant, metric.name)
                low, high = metric.scale.min, metric.scale.max
                steps = max(1, round(high - low))
                drawn = int(stream(self._seed, self.model, *key).random() * (steps + 1))
                score = low + (high - low) * drawn / steps
                yield Rating(candidate.example, candidate.variant, metric.name, 0, score)
