"""One text: its words that state facts, and what stands beside it, with which it must agree.

Bounds without another source were chosen; docs/degraded-texts.md says how far each kind reaches with them.
"""

import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from dhp.core.language import text_language
from dhp.core.markdown import masked
from dhp.core.records import Example
from dhp.perturb.edits import Edit
from dhp.perturb.facts.balance import Option, Place
from dhp.perturb.facts.lists import WORD, FactLists, fact_language
from dhp.perturb.facts.names import capitals, is_in_small_letters
from dhp.perturb.facts.negation import negations
from dhp.perturb.facts.persons import other_sex
from dhp.perturb.facts.words import ListedWord, listed_words, starts
from dhp.perturb.numbers import numbers

Lists = Callable[[str, type[FactLists]], FactLists]
"""What reads a list of words: its name and form -> the list."""
_BESIDE = (
    "context contexts retrieved_contexts retrieval_context passage passages document documents article "
    "reference references ground_truth expected expected_output expected_answer ideal"
).split()
"""Fields that a text must agree with, beside its source."""
_ENOUGH = 40
"""Characters of a source from which on its language can be told."""
_SPOKEN = 400
"""Characters of a source by which it is told."""
_BEGINNING = 1_000
"""Characters of a source by which it is told whether it has capitals."""
DIGITS = re.compile(r"\d+(?:[.,]\d+)*")  # "12", "12,000.50"


def evidence_of(example: Example) -> str:
    """What a text must agree with: its source, and the contexts and references beside it."""
    beside = [example.fields[name] for name in _BESIDE if name in example.fields]
    return "\n".join([example.source, *beside]) if beside else example.source


@functools.lru_cache(maxsize=1024)
def known_language(text: str, declared: str | None, lists: Lists) -> str | None:
    """The language of a text, if there are lists for it; remembered for the kinds of one text."""
    return fact_language(text, declared, lists)


def lists_of(language: str | None, lists: Lists) -> FactLists:
    """The lists of a language; empty ones for None."""
    return FactLists(names="capitals") if language is None else lists(f"facts_{language}", FactLists)


def _is_translation(evidence: str, language: str | None, lists: Lists) -> bool:
    """Whether a source is in another language than its text."""
    if len(evidence) < _ENOUGH:  # too few words: only its script may tell the language
        return text_language(evidence) not in (None, language)
    beginning = evidence[:_SPOKEN]
    spoken = text_language(beginning) or known_language(beginning, None, lists)
    return spoken is not None and spoken != language


@dataclass(frozen=True)
class FactText:
    """A text and what it must agree with; what it states is found once for all kinds, when one needs it."""

    text: str
    prose: str
    """The text with all that is no prose hidden, as long as it is."""
    evidence: str
    """What it must agree with; empty for a text without a source."""
    is_translation: bool
    """Whether the source is in another language, so that its words cannot be looked up."""
    language: str | None
    lists: FactLists
    """Those of the language."""

    @classmethod
    def of(cls, text: str, example: Example, language: str | None, lists: Lists) -> "FactText":
        """What is known of a text of an example."""
        evidence = evidence_of(example)
        is_translation = _is_translation(evidence, language, lists)
        return cls(text, masked(text).text, evidence, is_translation, language, lists_of(language, lists))

    @cached_property
    def numbers(self) -> list[re.Match[str]]:
        """The numbers of the text in digits."""
        return numbers(self.prose)

    @cached_property
    def evidence_in_small_letters(self) -> str:
        return self.evidence.lower()

    def states(self, word: str) -> bool:
        """Whether the source has a word, in any case."""
        if not self.evidence:
            return False
        if self.is_translation:  # a word in another language cannot be looked up
            return True
        where = starts(word.lower(), self.evidence_in_small_letters, is_spaced=self.lists.is_spaced)
        return next(where, None) is not None

    def states_name(self, name: str) -> bool:
        """Whether the source has a name, as it is written; in any case, if the source has no capitals."""
        if not self.evidence:
            return False
        if self.is_translation or name in self.evidence:
            return True
        return self._has_no_capitals and self.states(name)

    @cached_property
    def _has_no_capitals(self) -> bool:
        """Whether the source is written in small letters."""
        beginning = self.evidence[:_BEGINNING]
        return is_in_small_letters(beginning, capitals(beginning))

    @cached_property
    def has_no_digits(self) -> bool:
        """Whether no source in the language of the text has a number in digits."""
        return not self.is_translation and DIGITS.search(self.evidence) is None

    @cached_property
    def stated_numbers(self) -> list[re.Match[str]]:
        """The numbers in digits that the source has; all, if it has none, or none of a translation's."""
        if self.has_no_digits:
            return self.numbers
        known = frozenset(DIGITS.findall(self.evidence))
        stated = [number for number in self.numbers if number[0] in known]
        if not stated and self.is_translation:
            return self.numbers
        return stated

    @cached_property
    def words(self) -> list[ListedWord]:
        """The words of lists in the text."""
        return list(listed_words(self.prose, self.lists))

    @cached_property
    def has_no_numbers(self) -> bool:
        """Whether there is a source, and it has no number at all, so that any number is unsupported."""
        if not self.evidence or self.is_translation or re.search(r"\d", self.evidence):
            return False
        words = set(map(str.lower, WORD.findall(self.evidence)))
        return words.isdisjoint(self.lists.groups["numbers"])

    def is_contradicted(self, word: ListedWord) -> bool:
        """Whether another word of its list would contradict the source, or the text by itself."""
        if word.of == "opposites" or self.states(word.word):
            return True
        return word.of == "numbers" and self.has_no_numbers

    @cached_property
    def _places(self) -> list[tuple[str, Place]]:
        """Where another word would contradict the source, each with the list of the word."""
        places = list[tuple[str, Place]]()
        for word in self.words:
            if self.is_contradicted(word):
                options = [Option((word.word, new), word.replaced(new)) for new in word.others]
                places.append((word.of, options))
        return places

    def places(self, listed: Sequence[str]) -> list[Place]:
        """Where words of some lists could make way for another one of their group."""
        return [place for of, place in self._places if of in listed]

    @cached_property
    def other_sex(self) -> tuple[Edit, ...]:
        """The edits by which the text would speak of a person of the other sex."""
        return other_sex(self.prose, self.lists)

    @cached_property
    def persons(self) -> list[Place]:
        """Where it could: one place, by its first pronoun, if anywhere."""
        if not self.other_sex:
            return []
        start, end, new = self.other_sex[0]
        flow = self.lists.sex_of(self.prose[start:end]), self.lists.sex_of(new)
        return [[Option(flow, (start, end, new))]]

    @cached_property
    def denials(self) -> list[Place]:
        """Where a clause could be denied, or a denial taken out."""
        # A clause that may be denied in two forms is one place with two options.
        places: dict[int, list[Option]] = {}
        for way, form, edit in negations(self.prose, self.lists):
            flow = ("", form) if way == "in" else (form, "")
            places.setdefault(edit[0], []).append(Option(flow, edit))
        return list(places.values())
