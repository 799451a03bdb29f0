"""What the texts of a table hold: by this a wrong fact is chosen that does not stand out among them.

Bounds without another source were chosen; docs/degraded-texts.md says how far each kind reaches with them.
"""

import functools
from collections.abc import Sequence
from functools import cached_property

from dhp.core.errors import NotApplicable
from dhp.core.markdown import mark_length
from dhp.core.records import Example
from dhp.core.sentences import sentence_spans
from dhp.core.words import word_frequency
from dhp.perturb.apply import once_for_all
from dhp.perturb.facts.balance import Balance
from dhp.perturb.facts.lists import ALLOWED
from dhp.perturb.facts.names import Names, distinct
from dhp.perturb.facts.text import FactText, Lists, evidence_of, known_language, lists_of
from dhp.perturb.facts.topics import Topics
from dhp.perturb.facts.values import NumbersOfTable

MOST = 2_000
"""Examples from which is known what the texts of a table hold."""
_SOURCE = 2_000
"""Characters of a source whose names are read."""


class FactTable:
    """What is known of the texts in one language; each part is read when it is first needed."""

    def __init__(self, examples: Sequence[Example], language: str | None, lists: Lists) -> None:
        """Of a longer table the first `MOST` examples in the language are read."""
        self._of_examples: dict[str, FactText] = {}
        for example in examples[: 2 * MOST]:  # no more are looked at, however few are in the language
            spoken = known_language(example.output, example.language, lists)
            if spoken == language and len(self._of_examples) < MOST:
                self._of_examples[example.id] = FactText.of(example.output, example, language, lists)
        self._texts = list(self._of_examples.values())
        self._lists, self._language = lists_of(language, lists), language
        # Each is made once for the table: balances by the lists of words, names by the claim that has them.
        self._balances: dict[tuple[str, ...], Balance] = {}
        self._claim_names: dict[str, Sequence[str]] = {}

    def text(self, text: str, example: Example, lists: Lists) -> FactText:
        """A text of an example of the table; one that was read with it is not read again."""
        known = self._of_examples.get(example.id)
        if known is not None and known.text == text and known.evidence == evidence_of(example):
            return known
        return FactText.of(text, example, self._language, lists)

    @cached_property
    def names(self) -> Names:
        """The names in the texts and at the beginning of their sources."""
        return Names([(each.prose, each.evidence[:_SOURCE]) for each in self._texts], self._lists)

    def source_names(self, text: FactText) -> Sequence[str]:
        """The names in the source of a text."""
        return () if text.is_translation else distinct(self.names.of(text.evidence[:_SOURCE]))

    def claim_names(self, claim: str) -> Sequence[str]:
        """The names in a claim of the table; each claim is tried for many texts."""
        if claim not in self._claim_names:
            self._claim_names[claim] = distinct(self.names.of(claim))
        return self._claim_names[claim]

    def words(self, listed: tuple[str, ...]) -> Balance:
        """Of the words of some lists, where another one would contradict the source."""
        if listed not in self._balances:
            frequency = functools.partial(word_frequency, language=self._language)
            self._balances[listed] = Balance([text.places(listed) for text in self._texts], frequency)
        return self._balances[listed]

    @cached_property
    def persons(self) -> Balance:
        """Of the texts that could speak of a person of the other sex."""
        return Balance([text.persons for text in self._texts])

    @cached_property
    def denials(self) -> Balance:
        """Of the negations of each form."""
        return Balance([text.denials for text in self._texts])

    @cached_property
    def topics(self) -> Topics:
        """The sentences of the outputs, without marks of lists, by what they are about."""
        sentences = list[str]()
        for text in self._texts:
            for start, end in sentence_spans(text.text, text.language):
                sentences.append(text.text[start + mark_length(text.text, start) : end])
        return Topics(sentences, self._lists)

    @cached_property
    def apostrophe(self) -> str:
        """The one that more of the texts have."""
        straight = [each for each in self._texts if "'" in each.text]
        curly = [each for each in self._texts if "’" in each.text]
        return "’" if len(curly) > len(straight) else "'"

    @cached_property
    def numbers(self) -> NumbersOfTable:
        """The numbers in digits that could change."""
        stated = list[list[str]]()
        for text in self._texts:
            stated.append([number[0] for number in text.stated_numbers])
        return NumbersOfTable(stated)


def in_table(
    text: str, example: Example, others: Sequence[Example], lists: Lists, *, any_language: bool = False
) -> tuple[FactText, FactTable]:
    """A text and the table that it is from.

    Raises `NotApplicable` for a text in a language without lists; in `any_language` they are empty then.
    """
    language = known_language(text, example.language, lists)
    if language is None and not any_language:
        raise NotApplicable(f"no lists of facts for the language of the text; allowed: {ALLOWED}")
    table = once_for_all(
        others, example, f"facts_{language}", lambda examples: FactTable(examples, language, lists)
    )
    return table.text(text, example, lists), table
