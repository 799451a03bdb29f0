"""Judges by a rule."""

from collections.abc import Callable, Iterator, Sequence

from dhp.core.records import Candidate, Rating
from dhp.core.specs import Task


class ByRule:
    """Rates each text once by every metric, as a function of the text and the name of the metric says."""

    protocol = "none"

    def __init__(self, score: Callable[[Candidate, str], float], model: str = "own/rule") -> None:
        self.score, self.model = score, model
        self.turns: list[list[tuple[str, str]]] = []
        """Example and variant of what it was asked about, in turn."""

    def rate(self, candidates: Sequence[Candidate], task: Task) -> Iterator[Rating]:
        self.turns.append([(c.example, c.variant) for c in candidates])
        for c in candidates:
            for metric in task.metrics:
                yield Rating(c.example, c.variant, metric.name, 0, self.score(c, metric.name))
