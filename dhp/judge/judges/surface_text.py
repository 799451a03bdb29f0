"""A text as the surface judge reads it: sentences of words, their stems, and the numbers.

`Text` writes what means the same in one way, splits it into sentences and words, and looks at each only when
asked. Sentences and words are kept: most of those of a degraded copy are those of its original.
"""

import functools
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dhp.core.english import FUNCTION_WORDS
from dhp.core.nltk_modules import nltk_module
from dhp.core.sentences import sentences
from dhp.core.words import zipf

_WORD = re.compile(r"(?:\b[^\W\d_]\.){2,}|\d+(?:[.,:]\d+)*(?![^\W_])|[^\W_]+(?:'[^\W_]+)*")
"""`e.g.`, `1,200.50`, `10:30`, `don't`, `3rd`"""
_NUMBER = re.compile(r"(?<![A-Za-z\d])\d+(?:[.,]\d+)*")
"""`1,200.50`, and no 19 of `covid19`"""
_CJK_LETTER = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_MONTHS = "january february march april may june july august september october november december".split()
_NUMERALS = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty"
).split()
_SPELT_NUMBERS = {word: str(number) for number, word in enumerate(_MONTHS, start=1)}
_SPELT_NUMBERS |= {word: str(number) for number, word in enumerate(_NUMERALS, start=1)}
"""Words that another writer, or another language, may give as a number."""

_ALIKE = tuple(
    (re.compile(pattern), same)
    for pattern, same in (
        ("[“”]|``|\\'\\'", '"'),
        ("[‘’]", "'"),
        ("\u00a0", " "),
        ("…", "..."),
        (r"(?<=\d)[–—](?=\d)", "-"),
        (r"(?<=\w) ?[–—] ?(?=\w)| - ", " - "),
        (r"(?<=\d) ?%|(?<=\d) per cent\b", " percent"),
        (r"€(\d[\d.,]*\d|\d)( [mb]illion)?", r"\1\2 euros"),
        (r"\$(\d[\d.,]*\d|\d)( [mb]illion)?", r"\1\2 dollars"),
        (r"(?<![\d.,])(\d{1,3}),(\d{3})(?![\d,])", r"\1\2"),
        (r"\bU\.([SKN])\.", r"U\1"),
        (r"(?<=\d) ?([ap])\.?m\b\.?", r" \1m"),
        (r"\b(Mr|Mrs|Ms|Dr)\.", r"\1"),
        (r"\b(co|e|down|multi|non|post|pre|re|sub|up)-(?=[a-z])", r"\1"),
        (r"\bcan't\b", "cannot"),
        (r"\bwon't\b", "will not"),
        (r"(?<=[a-z])n't\b", " not"),
        (r"(?<=[a-z])'ll\b", " will"),
        (r"(?<=[a-z])'re\b", " are"),
        (r"(?<=[a-z])'ve\b", " have"),
    )
)
"""Ways of writing that mean the same, and the one that the judge reads."""
_SPELLINGS = tuple(
    (re.compile(pattern), same)
    for pattern, same in (
        ("[ao]e", "e"),  # anaemia, foetus
        ("ou", "o"),  # colour
        (r"([iy])s(?=[aei])", r"\1z"),  # organise, analyse
        ("ll", "l"),  # travelled
        (r"re(?=s?$|d$)", "er"),  # centre, centred
        ("ogue", "og"),  # dialogue
        (r"enc(?=e)", "ens"),  # defence
        ("ulph", "ulf"),  # sulphur
        (r"gem(?=ent)", "gm"),  # judgement
        (r"^sc(?=ep)", "sk"),  # sceptic
        (r"^grey", "gray"),
    )
)
"""What sets British words apart from American ones. Words of both countries pass it, so a change that no
spelling asks for (`soup` to `sop`) does no harm."""
_NO_TOPIC = frozenset(
    "percent per cent euro euros dollar dollars am pm almost nearly about around although though nevertheless"
    " nonetheless example instance entire whole anyone anybody everyone everybody someone somebody nobody"
    " none began begin started start each every more over".split()
)
"""Words that stand for one another, or for a sign."""

_OPENING_NAME_ZIPF = 3.5
"""A capitalised first word of a sentence is a name only if rarer than this; others always are."""
_TOP_ZIPF = 8.0
"""Just above the Zipf frequency of 'the', which so gets a weight near 0."""
_LONGEST = 40
"""Letters beyond which a string is no English word; the stemmer recurses over its letters."""
SENTENCES_KEPT = 8192
"""Sentences that are kept with what was worked out for them."""


@dataclass(frozen=True, slots=True, eq=False)
class Word:
    """One word of a text; equal words in equal places are one record."""

    form: str
    """Word as it is written."""
    lower: str
    stem: str
    name: bool
    """Written like a name."""
    content: bool
    """Says something about the topic: neither a function word nor a number."""


@functools.cache
def _stemmer() -> Any:
    return nltk_module("nltk.stem.porter").PorterStemmer()


@functools.lru_cache(maxsize=65536)
def _stem(word: str) -> str:
    """Porter's stem of a lower-case word in American spelling, without a possessive 's."""
    bare = american(word.removesuffix("'s"))
    return str(_stemmer().stem(bare)) if len(bare) <= _LONGEST else bare


@functools.lru_cache(maxsize=65536)
def american(word: str) -> str:
    """A lower-case word with British spellings made American, in words of either country alike."""
    for pattern, same in _SPELLINGS:
        word = pattern.sub(same, word)
    return word


def rarity(word: str) -> float:
    """Rarity of a word in [0, 1]: near 0 for the commonest words and 1 for an unlisted one."""
    return max(0.0, 1 - zipf(word) / _TOP_ZIPF)


@dataclass(frozen=True, eq=False)
class Sentence:
    """One sentence; equal sentences, most of those of a degraded copy, are one record."""

    words: tuple[Word, ...]

    @cached_property
    def content(self) -> Mapping[str, Word]:
        """Stem -> the last content word with it."""
        return {word.stem: word for word in self.words if word.content}

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of content words."""
        return frozenset(self.content)


@functools.lru_cache(maxsize=SENTENCES_KEPT)
def _sentence(text: str) -> Sentence:
    forms = _WORD.findall(text)
    return Sentence(tuple(_word(form, position > 0) for position, form in enumerate(forms)))


@functools.lru_cache(maxsize=65536)
def _word(form: str, inside: bool) -> Word:
    lower = form.lower()
    says_little = lower in _NO_TOPIC or (lower in _SPELT_NUMBERS and lower not in _MONTHS)
    function = says_little or lower in FUNCTION_WORDS or lower.removesuffix("'s") in FUNCTION_WORDS
    content = not function and not form[0].isdigit() and len(form) > 1
    name = content and form[0].isupper() and (inside or zipf(lower) < _OPENING_NAME_ZIPF)
    return Word(form, lower, _stem(lower), name, content)


@dataclass(frozen=True)
class Text:
    """A text, analysed when asked."""

    raw: str

    @cached_property
    def plain(self) -> str:
        """The text in one way of writing."""
        text = self.raw.strip()
        for pattern, same in _ALIKE:
            text = pattern.sub(same, text)
        return text

    @cached_property
    def sentences(self) -> list[Sentence]:
        """The sentences that have words."""
        return [sentence for sentence in map(_sentence, sentences(self.plain)) if sentence.words]

    @cached_property
    def words(self) -> list[Word]:
        """All words in order."""
        words: list[Word] = []
        for sentence in self.sentences:
            words += sentence.words
        return words

    @cached_property
    def lowers(self) -> frozenset[str]:
        """The lower-case forms of all words."""
        return frozenset(word.lower for word in self.words)

    @cached_property
    def content(self) -> Mapping[str, Word]:
        """Stem -> the last content word with it."""
        content: dict[str, Word] = {}
        for sentence in self.sentences:
            content.update(sentence.content)
        return content

    @cached_property
    def stems(self) -> Mapping[str, float]:
        """The stems of content words with their rarity."""
        return {stem: rarity(word.lower) for stem, word in self.content.items()}

    @cached_property
    def sentence_numbers(self) -> Mapping[str, list[int]]:
        """Stem -> the numbers of the sentences that hold it, in order."""
        sentence_numbers: dict[str, list[int]] = {}
        for number, sentence in enumerate(self.sentences):
            for each in sentence.stems:
                sentence_numbers.setdefault(each, []).append(number)
        return sentence_numbers

    @cached_property
    def salience(self) -> Mapping[str, float]:
        """Stem -> how much it matters as a topic: rarity x sentences that hold it, more if early."""
        salience: dict[str, float] = {}
        for stem, numbers in self.sentence_numbers.items():
            earliness = 1 + 1 / (1 + numbers[0])
            salience[stem] = self.stems[stem] * len(numbers) * earliness
        return salience

    @cached_property
    def digits(self) -> tuple[str, ...]:
        """The numbers written in digits, each once, without grouping commas."""
        plain = unicodedata.normalize("NFKC", self.plain)  # full-width digits too
        return tuple(dict.fromkeys(number.replace(",", "") for number in _NUMBER.findall(plain)))

    @cached_property
    def numbers(self) -> frozenset[str]:
        """The numbers in digits and those in words."""
        in_words = [_SPELT_NUMBERS[word] for word in self.lowers if word in _SPELT_NUMBERS]
        return frozenset(self.digits).union(in_words)

    @cached_property
    def cjk_letters(self) -> int:
        """How many Chinese or Japanese characters it has."""
        return len(_CJK_LETTER.findall(self.plain))

    @cached_property
    def letters(self) -> int:
        """How many letters and digits it has."""
        return sum(map(str.isalnum, self.plain))


@dataclass(frozen=True)
class Case:
    """A text under judgement with all that may be known about it."""

    text: Text
    source: Text
    question: Text
    """Question of the task; empty if the task has none."""


def ratio(part: float, whole: float) -> float | None:
    """The share; None of nothing."""
    return part / whole if whole else None
