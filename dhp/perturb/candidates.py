"""Candidates for judges: originals and degraded copies, example by example."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import overload

from dhp.core.records import ORIGINAL, Candidate, Example, PerturbedText
from dhp.core.specs import Task
from dhp.core.spool import BLOCK


class Candidates(Sequence[Candidate]):
    """Each with no more than a judge may see, made of examples and texts as it is asked for.

    Parameters
    ----------
    examples
        The originals.
    texts
        Their degraded copies in any order; missing ones are skipped.
    task
        Says which fields are shown.
    levels
        Variant -> level.
    """

    def __init__(
        self,
        examples: Sequence[Example],
        texts: Sequence[PerturbedText],
        task: Task,
        levels: Mapping[str, str],
    ) -> None:
        import numpy as np

        self._examples, self._texts, self._task, self._levels = examples, texts, task, levels
        positions = {e.id: index for index, e in enumerate(examples)}
        absent = len(examples)
        owners = np.fromiter(
            (absent if t.text is None else positions.get(t.example, absent) for t in texts),
            np.int64,
            len(texts),
        )
        self._order = np.argsort(owners, kind="stable")
        starts = np.searchsorted(owners[self._order], np.arange(len(examples) + 1))
        self._starts: list[int] = starts.tolist()
        self._first, self._block = 0, list[tuple[Candidate, ...]]()

    def __len__(self) -> int:
        return len(self._examples) + self._starts[-1]

    def __iter__(self) -> Iterator[Candidate]:
        for index in range(len(self._examples)):
            yield from self._of(index)

    @overload
    def __getitem__(self, index: int) -> Candidate: ...

    @overload
    def __getitem__(self, index: slice) -> list[Candidate]: ...

    def __getitem__(self, index: int | slice) -> Candidate | list[Candidate]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        index = range(len(self))[index]
        # The candidates of an example begin at its place and the number of copies before it.
        own = bisect_right(range(len(self._examples)), index, key=lambda e: e + self._starts[e]) - 1
        return self._of(own)[index - own - self._starts[own]]

    def _of(self, index: int) -> tuple[Candidate, ...]:
        """The original at this place and its copies."""
        if not 0 <= index - self._first < len(self._block):
            self._first, self._block = index, list(self._make(index, min(index + BLOCK, len(self._examples))))
        return self._block[index - self._first]

    def _make(self, first: int, end: int) -> Iterator[tuple[Candidate, ...]]:
        ends = self._starts[first : end + 1]
        # In the order of the texts, as many of them may lie on disk.
        known = {at: self._texts[at] for at in sorted(self._order[ends[0] : ends[-1]].tolist())}
        for example, (start, stop) in zip(self._examples[first:end], pairwise(ends), strict=True):
            copies = [known[at] for at in self._order[start:stop].tolist()]
            original = replace(original_of(example, self._task), columns=copies[0].columns if copies else {})
            yield (original, *(self._copy(original, text) for text in copies))

    def _copy(self, original: Candidate, text: PerturbedText) -> Candidate:
        level = self._levels.get(text.variant)
        return replace(
            original, variant=text.variant, text=text.text or "", level=level, columns=text.columns
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
