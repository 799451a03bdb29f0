"""Words of an English text in their places, and what their forms say about them without a tagger."""

import functools
import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator

from dhp.core.specs import Spec
from dhp.core.text import sentence_spans


def _split(given: object) -> list[str]:
    if not isinstance(given, str):
        raise ValueError("must be words with blanks between them")
    return given.split()


Words = Annotated[frozenset[str], BeforeValidator(lambda given: frozenset(_split(given)))]
"""Words, written with blanks between them."""
Choice = Annotated[tuple[str, ...], BeforeValidator(lambda given: tuple(_split(given)))]
"""The same in their order."""


class GrammarLists(Spec):
    """Closed classes and tables of wrong prepositions; `perturbations/lists/grammar.yaml` explains each."""

    function_words: Words
    adverbs: Words
    clause_openers: Words
    weak_openers: Words
    collective: Words
    units: Words
    fixed_number: Words
    numbered: Words
    groups_and_animals: Words
    people: Words
    names: Words
    titles: Words
    bare_form: Words
    infinitive: Words
    verbs: Words
    disputed: Words
    governed: dict[str, Choice]
    phrases: dict[str, Choice]
    takes_of: Words
    times: Words
    weekdays: Words
    months: Words
    countries: Words


BE = frozenset("am is are was were be been being isn't aren't wasn't weren't".split())
HAVE = frozenset("have has had haven't hasn't hadn't 've".split())
DO = frozenset("do does did don't doesn't didn't".split())
MODALS = frozenset(
    "will would can could may might must shall should wo ca won't wouldn't can't cannot couldn't mustn't "
    "shouldn't 'll".split()
)
AUXILIARIES = BE | HAVE | DO | MODALS
SINGULAR_SUBJECTS = frozenset(
    "he she it someone somebody something anyone anybody anything everybody everything nobody nothing".split()
)
PLURAL_SUBJECTS = frozenset("they we you these those".split())
PREPOSITIONS = frozenset(
    "of in on at by with from to into onto upon about above across after against along among around before "
    "behind below beside besides between beyond despite during for inside near off outside over per through "
    "throughout toward towards under until via within without".split()
)
DETERMINERS = frozenset(
    "a an the this that these those my your his her its our their each every another no some any both".split()
)
_NUMBER = re.compile(r"<dig>|\d[\d.,]*")
_TOKEN = re.compile(
    r"<\w+>|#\w+#|\d[\d.,]*\d(?![^\W\d_])|['’](?:s|re|ve|ll|d|m)\b|[^\W_]+(?:['’-][^\W_]+)*|\n|\S",
    re.IGNORECASE,
)
_SPELLED = frozenset(
    "two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty".split()
)


@functools.cache
def _lemminflect() -> Any:
    import lemminflect

    return lemminflect


@functools.lru_cache(maxsize=1 << 16)
def lemmas(word: str) -> Mapping[str, tuple[str, ...]]:
    """Part of speech (`NOUN`, `VERB`, `ADJ`, `ADV`) -> lemmas of a lower-case word in the dictionary."""
    found: Mapping[str, tuple[str, ...]] = _lemminflect().getAllLemmas(word)
    return found


@functools.lru_cache(maxsize=1 << 16)
def forms(lemma: str, tag: str) -> tuple[str, ...]:
    """The forms of a lemma under a tag of the Penn Treebank; empty where the dictionary has none."""
    found: tuple[str, ...] = _lemminflect().getInflection(lemma, tag, inflect_oov=False)
    return found


@functools.lru_cache(maxsize=1 << 16)
def verb(word: str, tag: str) -> str:
    """The verb of which `word` is the form `tag`, else an empty text."""
    return next((lemma for lemma in lemmas(word).get("VERB", ()) if word in forms(lemma, tag)), "")


@functools.lru_cache(maxsize=1 << 16)
def singular(word: str) -> str:
    """The singular of a plural noun, else an empty text."""
    found = lemmas(word).get("NOUN", ())
    return found[0] if len(found) == 1 and found[0] != word and word in forms(found[0], "NNS") else ""


@functools.lru_cache(maxsize=1 << 16)
def plural(word: str) -> str:
    """The plural of a singular noun, else an empty text."""
    if word not in lemmas(word).get("NOUN", ()):
        return ""
    return next((form for form in forms(word, "NNS") if form != word), "")


@dataclass(frozen=True, slots=True)
class Token:
    """A word or punctuation mark; `start` and `end` are its place in the text."""

    text: str
    start: int
    end: int

    @property
    def capital(self) -> bool:
        """Whether it begins with a capital letter."""
        return self.text[0].isupper()


@dataclass(frozen=True, slots=True)
class Place:
    """A word of a sentence that can be made wrong."""

    kind: str
    first: int
    """The first and last word by whose presence it is an error; nothing else may change among them."""
    last: int
    at: int
    wrong: tuple[str, ...]
    """What may be put in its place, in lower case; an empty text drops the word."""


class Sentence:
    """The tokens of one sentence, and what can be told of their parts of speech."""

    def __init__(self, tokens: Iterable[Token], lists: GrammarLists, people: Container[str] = ()) -> None:
        self.tokens = tuple(tokens)
        self.people = people
        self.words = tuple(t.text.lower().replace("’", "'") for t in self.tokens)
        self.lists = lists

    def __len__(self) -> int:
        return len(self.tokens)

    def __getitem__(self, i: int) -> str:
        """The lower-case word at `i`, empty outside the sentence."""
        return self.words[i] if 0 <= i < len(self.words) else ""

    def boundary(self, i: int) -> bool:
        """Whether no word stands at `i`."""
        word = self[i]
        return not word or not (word[0].isalnum() or (word[0] in "<#'" and len(word) > 1))

    def opens(self, i: int) -> bool:
        """Whether a clause can begin after `i`."""
        while self.adverb(i):
            i -= 1
        word = self[i]
        return (
            self.boundary(i)
            or word in self.lists.clause_openers
            or word in self.lists.weak_openers
            or (word in self.lists.times and not self.boundary(i - 1) and self._first(i))
        )

    def _first(self, i: int) -> bool:
        """Whether no more than a determiner and a preposition stand before the word at `i`."""
        return any(self.boundary(j) for j in range(i - 4, i)) and not any(
            map(self.open_class, range(i - 3, i))
        )

    def number(self, i: int) -> bool:
        """Whether a number of two or more stands at `i`, in digits, in letters or masked."""
        word = self[i]
        return word in _SPELLED or (bool(_NUMBER.fullmatch(word)) and word.rstrip(".,") not in ("0", "1"))

    def adverb(self, i: int) -> bool:
        """Whether the word at `i` may stand between subject and verb."""
        word = self[i]
        if word.endswith("ly") and len(word) > 4 and "ADV" in lemmas(word):
            return not set(lemmas(word)) & {"NOUN", "VERB"}
        return word in self.lists.adverbs

    def back(self, i: int) -> int:
        """The place of the word before `i`, adverbs left out."""
        i -= 1
        while self.adverb(i):
            i -= 1
        return i

    def named(self, i: int) -> bool:
        """Whether the word at `i` is (part of) a name or an abbreviation."""
        token = self.tokens[i] if 0 <= i < len(self) else None
        if token is None or not any(c.isupper() for c in token.text) or self[i] in self.lists.function_words:
            return False
        return not self.boundary(i - 1) or token.text[1:] != self[i][1:] or not lemmas(self[i])

    def open_class(self, i: int) -> bool:
        """Whether the word at `i` is in the dictionary and belongs to no closed class."""
        word = self[i]
        return word.isalpha() and word not in self.lists.function_words and bool(lemmas(word))

    def is_plural(self, i: int) -> bool:
        """Whether a plural noun stands at `i` that takes a verb in the plural only."""
        return (
            self.open_class(i)
            and not self.named(i)
            and self[i] not in self.lists.collective
            and bool(singular(self[i]))
        )

    def is_singular(self, i: int) -> bool:
        """Whether a singular noun stands at `i` that takes a verb in the singular only."""
        word = self[i]
        return (
            self.open_class(i)
            and not self.named(i)
            and word not in self.lists.collective
            and (not word.endswith("s") or word.endswith(("us", "ss", "is")))
            and bool(plural(word))
            and plural(word) not in self.lists.collective
        )

    def capitals(self, i: int) -> int:
        """Where the run of capitalised words begins that ends at `i`; -1 where there is none."""
        first = i + 1
        while first > 0 and i - first < 3 and self.tokens[first - 1].capital and self[first - 1].isalpha():
            first -= 1
        return first if first <= i else -1

    def person(self, i: int) -> int:
        """Where the name of a person begins that ends at `i`; -1 where there is none."""
        first = self.capitals(i) if i < len(self) else -1
        if first < 0 or self.tokens[i].text.isupper():
            return -1
        known = any(self[j] in self.lists.names or self[j] in self.lists.titles for j in range(first, i + 1))
        return (
            first
            if (known and self[i] not in self.lists.titles) or self.tokens[i].text in self.people
            else -1
        )

    def only_verb(self, word: str) -> bool:
        """Whether the dictionary form `word` is hardly ever anything but a verb."""
        return word in self.lists.verbs or (set(lemmas(word)) <= {"VERB"} and bool(lemmas(word)))

    def only_adjective(self, i: int) -> bool:
        """Whether the word at `i` can be nothing but an adjective."""
        return self.open_class(i) and not set(lemmas(self[i])) - {"ADJ"}


def read_sentences(text: str, lists: GrammarLists) -> list[Sentence]:
    """The sentences of a text; a line break is a token, for what stands before it may be a heading."""
    people: set[str] = set()
    found = [
        Sentence(
            (Token(m.group(), m.start(), m.end()) for m in _TOKEN.finditer(text, start, end)), lists, people
        )
        for start, end in sentence_spans(text)
    ]
    for s in found:
        for i, token in enumerate(s.tokens):
            first = s.capitals(i)
            if (first > 0 and s[first - 1] in lists.people) or (
                first >= 0 and i > first and s.person(i) == first
            ):
                people.add(token.text)
    return found
