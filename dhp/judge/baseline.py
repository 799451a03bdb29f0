"""Judges that ask nobody: the floor under every other judge."""

from collections.abc import Iterator, Sequence

from dhp.judge.api import Candidate
from dhp.records import Rating
from dhp.seeding import stream
from dhp.specs import Task


class ConstantJudge:
    """Gives every text the middle of the scale."""

    model = "baseline/constant"
    protocol = "none"

    def rate(self, candidates: Sequence[Candidate], task: Task) -> Iterator[Rating]:
        """One rating per candidate and metric."""
        for candidate in candidates:
            for metric in task.metrics:
                middle = (metric.scale.min + metric.scale.max) / 2
                yield Rating(candidate.example.id, candidate.variant, metric.name, 0, middle)


class RandomJudge:
    """Draws a whole number from the scale, by `seed`, example, variant and metric."""

    model = "baseline/random"
    protocol = "none"

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed

    def rate(self, candidates: Sequence[Candidate], task: Task) -> Iterator[Rating]:
        """One rating per candidate and metric."""
        for candidate in candidates:
            for metric in task.metrics:
                rng = stream(
                    self._seed, self.model, task.task, candidate.example.id, candidate.variant, metric.name
                )
                low, high = round(metric.scale.min), round(metric.scale.max)
                score = low + int(rng.random() * (high - low + 1))
                yield Rating(candidate.example.id, candidate.variant, metric.name, 0, float(score))
