"""The words of an English text and what a dictionary knows of them, and where two texts differ."""

import functools
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from dhp.core import english
from dhp.core.words import zipf
from dhp.perturb.llm.values import is_number_word

CJK = r"\u3040-\u30ff\u3400-\u9fff"
_WORD = re.compile(rf"[{CJK}]|[^\W{CJK}]+(?:[.,:]\d+)*(?:['’][^\W{CJK}]+)*|[.!?](?=[\s\"”’')\]]|$)|[。！？]")
MARKS = frozenset(".!?。！？")
_TITLES = r"(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bDr)(?<!\bProf)(?<!\bSt)(?<!\b[A-Z])"
_BEFORE_A_SENTENCE = re.compile(rf"(?:^|{_TITLES}\.|[!?:。！？\n])[\s\"“”„‘'«(\[*•-]*$")
_ENDINGS = re.compile(r"(?:n't|'s|'re|'ve|'ll|'d|'m|')$")
FUNCTION_WORDS = english.FUNCTION_WORDS | frozenset(
    "every everybody everyone everything either neither both none noone nobody nothing someone somebody "
    "something anyone anybody anything ones oneself others whatever whichever whoever yourself yourselves "
    "hisself themself theirselves unless whether since though whereas till whenever wherever lest onto near "
    "across along amid around behind beneath beside besides beyond despite except inside outside past "
    "throughout toward towards shall ought wo ca sha ai cannot much many less least little fewer enough lot "
    "lots even ever never now already".split()
)
"""Also wrong forms, and what is left of contractions."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word as it is in a text, or the mark that ends a sentence."""

    text: str
    initial: bool
    """Whether it is the first word of a sentence, where a capital letter tells nothing."""

    @property
    def base(self) -> str:
        """The word in lower case, without an ending such as 's or n't."""
        return _base(self.text)

    @property
    def named(self) -> bool:
        """Whether it holds a digit, or a capital letter that is not owed to its place."""
        capital = self.text[1:] if self.initial else self.text
        return any(c.isdigit() for c in self.text) or (
            capital != capital.lower() and self.base not in ("i", "the", "a", "an")
        )

    @property
    def joins(self) -> bool:
        """Whether it is a function word, or no word at all."""
        return self.text in MARKS or self.base in FUNCTION_WORDS

    @property
    def is_number(self) -> bool:
        """Whether it is a number in digits or words."""
        return self.text[0].isdigit() or is_number_word(self.base)

    @property
    def is_entity(self) -> bool:
        """Whether it is a name, a number or a word as rare as a technical term."""
        if self.named or self.is_number:
            return True
        if self.joins:
            return False
        return zipf(self.base) < 3.3 or (self.initial and self.text[0].isupper() and not forms(self.base))

    @property
    def is_noun(self) -> bool:
        """Whether it may be a noun or a name."""
        return self.is_entity or (not self.joins and (not forms(self.base) or "NOUN" in forms(self.base)))


@dataclass(frozen=True, slots=True)
class Change:
    """Consecutive words and their replacement; either side may be empty."""

    old: tuple[Word, ...]
    new: tuple[Word, ...]
    start: int = 0
    """Number of words of the original before it."""
    new_start: int = 0
    """The same in the new text."""


def words(text: str, *, marks: bool = False) -> list[Word]:
    """The words in their order, each Chinese character as one; with marks that end sentences if wanted."""
    return [
        Word(match[0], _BEFORE_A_SENTENCE.search(text, max(0, match.start() - 8), match.start()) is not None)
        for match in _WORD.finditer(text)
        if marks or match[0] not in MARKS
    ]


def changes(
    old: Sequence[Word],
    new: Sequence[Word],
    *,
    case: bool,
    bridged: Callable[[Word, Word, Word], bool] = lambda *_: False,
) -> list[Change]:
    """Where two texts differ, in upper and lower case too if `case`.

    Two changes with one word between them are one where that is `bridged`: given the changed word before it,
    itself and the changed word after it, in the old text.
    """
    from rapidfuzz.distance import Levenshtein

    before, after = _spellings(old, case), _spellings(new, case)
    spans: list[tuple[int, int, int, int]] = []
    for block in Levenshtein.opcodes(before, after):
        if block.tag == "equal":
            continue
        start, new_start = block.src_start, block.dest_start
        gap = start - spans[-1][1] if spans else None
        follows = gap == 1 and block.src_end > start > 1
        # The aligner splits a replaced phrase into a deletion and an insertion side by side.
        if gap == 0 or (follows and bridged(old[start - 2], old[start - 1], old[start])):
            start, _, new_start, _ = spans.pop()
        spans.append((start, block.src_end, new_start, block.dest_end))
    return [Change(tuple(old[a:b]), tuple(new[c:d]), a, c) for a, b, c, d in spans]


def _spellings(text: Sequence[Word], case: bool) -> list[str]:
    return [word.text if case else word.text.lower() for word in text]


@functools.lru_cache(1 << 16)
def _base(text: str) -> str:
    return _ENDINGS.sub("", text.lower().replace("’", "'"))


@functools.lru_cache(1 << 16)
def forms(base: str) -> dict[str, tuple[str, ...]]:
    """Part of speech -> lemmas, of a word in the dictionary."""
    import lemminflect

    lemmas: dict[str, tuple[str, ...]] = lemminflect.getAllLemmas(base)
    return lemmas


@functools.lru_cache(1 << 16)
def lemmas(base: str) -> frozenset[str]:
    """All that the word may be a form of, itself included."""
    return frozenset({base, *(lemma for forms in forms(base).values() for lemma in forms)})


@functools.lru_cache(1 << 16)
def _regular(base: str) -> frozenset[str]:
    """What the word would be a form of if all inflection were regular, as `goed` of `go`."""
    import lemminflect

    lemmas = (lemminflect.getAllLemmasOOV(base, kind) for kind in ("VERB", "NOUN", "ADJ"))
    return frozenset(lemma for kinds in lemmas for some in kinds.values() for lemma in some)


def is_spelt(base: str, meant: Iterable[str]) -> bool:
    """Whether it is an English word, or inflects one of those meant as if that were regular."""
    if base in FUNCTION_WORDS or forms(base) or zipf(base) >= 4:
        return True
    return any(_regular(base) & lemmas(word) for word in meant)


def is_form(base: str, of: str) -> bool:
    """Whether two words are forms of one, right or wrong, or one is derived from the other, as `quickly`."""
    if lemmas(base) & lemmas(of) or (not forms(base) and _regular(base) & lemmas(of)):
        return True
    short, long = sorted((base, of), key=len)
    shared = next((i for i, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    return shared >= max(4, 0.8 * len(short)) and not any(c.isdigit() for c in long)


def bare(text: str) -> str:
    """Letters and digits alone, in one case."""
    return "".join(c for c in text.casefold() if c.isalnum())


def carries_meaning(word: Word) -> bool:
    """Whether it is a name or says something about the topic."""
    return word.named or not word.joins
