"""A judge that runs on the workers of an executor."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from dhp.core.records import Candidate, Rating
from dhp.core.specs import Task
from dhp.judge.api import Judge
from dhp.llm.executor import LOCAL, Executor


def in_parallel(judge: Judge, executor: Executor) -> Judge:
    """The judge, at work on the workers of an executor; ratings come in the same order as without."""
    return judge if executor is LOCAL else _ParallelJudge(judge, executor)


class _ParallelJudge(Judge):
    def __init__(self, judge: Judge, executor: Executor) -> None:
        self.model, self.protocol, self.samples = judge.model, judge.protocol, judge.samples
        self.settings = judge.settings
        self._judge = judge
        self._executor = executor

    def own_task(self, task: Task, candidates: Sequence[Candidate] = ()) -> Task:
        return self._judge.own_task(task, candidates)

    def prepare(self, candidates: Sequence[Candidate], task: Task) -> None:
        self._judge.prepare(candidates, task)

    def rate(self, candidates: Sequence[Candidate], task: Task) -> Iterator[Rating]:
        waiting: dict[int, list[Rating]] = {}
        following = 0
        items = list(enumerate(candidates))
        for (place, _), ratings in self._executor.each(_RatingWork(self._judge, task), items):
            waiting[place] = ratings
            while following in waiting:
                yield from waiting.pop(following)
                following += 1


@dataclass(frozen=True, slots=True)
class _RatingWork:
    """Rating as work for a worker."""

    judge: Judge
    task: Task

    def __call__(
        self, items: Iterable[tuple[int, Candidate]]
    ) -> Iterator[tuple[tuple[int, Candidate], list[Rating]]]:
        for item in items:
            yield item, list(self.judge.rate([item[1]], self.task))
