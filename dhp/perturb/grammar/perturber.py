"""Grammatical errors by rule: the offline stand-in of the perturber by language model."""

import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from dhp.core.english import need_english
from dhp.core.errors import NotApplicable
from dhp.core.records import Example
from dhp.core.specs import ListReader
from dhp.perturb.api import Edited, at_least_one, perturber
from dhp.perturb.grammar.nouns import number, preposition, pronoun
from dhp.perturb.grammar.verbs import agreement, fragment, verb_form
from dhp.perturb.grammar.words import GrammarLists, Place, Sentence, read_sentences

_RULES: tuple[Callable[[Sentence, int], Iterator[Place]], ...] = (
    agreement,
    verb_form,
    fragment,
    number,
    pronoun,
    preposition,
)


@dataclass(frozen=True, slots=True)
class Error:
    """An error that can be made in a text."""

    kind: str
    sentence: int
    claimed: tuple[int, int]
    """(start, end) of the words among which no other error may be made."""
    start: int
    end: int
    wrong: tuple[str, ...]
    """Words of which one takes the place of the word between `start` and `end`; an empty text drops it."""


@perturber(
    name="grammatical_errors_rule", level="word", degrees={"minor": {"count": 2}, "major": {"count": 5}}
)
def grammatical_errors_rule(
    text: str, rng: random.Random, *, example: Example, lists: ListReader, count: int
) -> Edited:
    """Make `count` grammatical errors, each in one word, mixed over kinds and spread over sentences.

    Kinds: disagreement of verb and subject, of noun and determiner or number, wrong verb form, wrong pronoun,
    wrong preposition, missing auxiliary. Only places where the result is surely an error are used, so a short
    text may take fewer. The errors of a smaller count are among those of a larger one.
    """
    at_least_one(count)
    need_english(text)
    chosen = list(itertools.islice(_drawn(possible_errors(text, lists("grammar", GrammarLists)), rng), count))
    if not chosen:
        raise NotApplicable("no place for a grammatical error found")
    for error, wrong in sorted(chosen, key=lambda pair: -pair[0].start):
        end = error.end if wrong else error.end + 1  # a dropped word takes the blank behind it along
        text = text[: error.start] + wrong + text[end:]
    return Edited(text, count, len(chosen))


def possible_errors(text: str, lists: GrammarLists) -> list[Error]:
    """All errors that can be made in a text, in its order; several may be made in the same word."""
    found = []
    for n, sentence in enumerate(read_sentences(text, lists)):
        tokens = sentence.tokens
        for i in range(len(tokens)):
            for rule in _RULES:
                for place in rule(sentence, i):
                    start, end = tokens[place.at].start, tokens[place.at].end
                    if _fits(text, start, end, place.wrong):
                        claimed = (tokens[place.first].start, tokens[place.last].end)
                        wrong = tuple(_cased(word, text[start:end]) for word in place.wrong)
                        found.append(Error(place.kind, n, claimed, start, end, wrong))
    return found


def _fits(text: str, start: int, end: int, wrong: tuple[str, ...]) -> bool:
    """Whether the word is in small letters, or begins a sentence; one to be dropped has blanks around it."""
    word = text[start:end]
    if "" in wrong:
        return text[start - 1 : start] == " " == text[end : end + 1]
    return word == "I" or (word[1:] == word[1:].lower() and bool(wrong))


def _drawn(errors: list[Error], rng: random.Random) -> Iterator[tuple[Error, str]]:
    """Errors that do not overlap, in random order, rarer kinds and sentences without errors first."""
    left = sorted(errors, key=lambda _: rng.random())
    kinds = Counter(article=2)  # the slightest of errors, for texts that have few other places
    sentences: Counter[int] = Counter()
    while left:
        best = min(left, key=lambda e: kinds[e.kind] + sentences[e.sentence])
        kinds[best.kind] += 1
        sentences[best.sentence] += 1
        yield best, best.wrong[int(rng.random() * len(best.wrong))]
        low, high = best.claimed
        left = [e for e in left if e.claimed[1] <= low or high <= e.claimed[0]]


def _cased(wrong: str, before: str) -> str:
    if wrong == "i":
        return "I"
    return wrong.capitalize() if before[:1].isupper() and before != "I" else wrong
