"""The other examples of a dataset, from which some perturbers draw."""

from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property
from typing import TypeVar, overload

from dhp.core.language import text_language
from dhp.core.records import Example
from dhp.loaders.dataset import select

T = TypeVar("T")

MOST = 10_000
"""Examples of a dataset from which perturbers draw: so their time grows no faster than the texts."""


def example_language(example: Example, otherwise: str | None = None) -> str | None:
    """The language of a text: the example's field `language`, else that of the data, else by its script."""
    return text_language(example.output, example.fields.get("language") or otherwise)


class _Without(Sequence[T]):
    """A sequence without the item at one index, if there is one; nothing is copied."""

    def __init__(self, items: Sequence[T], index: int) -> None:
        self._whole, self._index = items, index

    def __len__(self) -> int:
        return len(self._whole) - (self._index < len(self._whole))

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...

    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        index = range(len(self))[index]
        return self._whole[index + (index >= self._index)]


class _LanguageGroup:
    """The examples in one language."""

    def __init__(self) -> None:
        self.examples: list[Example] = []

    @cached_property
    def texts(self) -> list[str]:
        """The distinct outputs, sorted."""
        return sorted({example.output for example in self.examples})


class OtherExamples(_Without[Example]):
    """The examples in one language without one of them."""

    def __init__(self, spoken_language: _LanguageGroup, index: int) -> None:
        super().__init__(spoken_language.examples, index)
        self._group = spoken_language

    def texts_but(self, text: str) -> Sequence[str]:
        """The distinct outputs in the language, sorted, without this one."""
        texts = self._group.texts
        index = bisect_left(texts, text)
        return _Without(texts, index if texts[index : index + 1] == [text] else len(texts))


class Others:
    """The other examples in the language of each text, in the order of their ids.

    Of a larger dataset the same `MOST`, chosen by `seed`, are the others of all texts.
    """

    def __init__(self, pool: Sequence[Example], language: str | None, seed: int, dataset: str) -> None:
        self._groups: dict[str | None, _LanguageGroup] = {}
        self._positions: dict[tuple[str, str | None], int] = {}
        some = pool if len(pool) <= MOST else select(pool, MOST, seed=seed, dataset=dataset)
        for example in sorted(some, key=lambda e: e.id):
            spoken_language = example_language(example, language)
            same_language = self._groups.setdefault(spoken_language, _LanguageGroup()).examples
            self._positions[example.id, spoken_language] = len(same_language)
            same_language.append(example)

    def of(self, example: str, language: str | None) -> OtherExamples:
        """The examples in a language without the example itself."""
        group = self._groups.get(language, _LanguageGroup())
        return OtherExamples(group, self._positions.get((example, language), len(group.examples)))


def other_texts(others: Sequence[Example], text: str) -> Sequence[str]:
    """The outputs of others, each once, sorted, without this one."""
    if isinstance(others, OtherExamples):
        return others.texts_but(text)
    return sorted({other.output for other in others} - {text})
