"""Controls: changes that leave a text as good as it was, so that no score should fall."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from random import Random

from pydantic import Field, model_validator

from dhp.core.english import looks_english
from dhp.core.errors import NotApplicable
from dhp.core.segments import sentence_spans
from dhp.core.specs import ListReader, Spec
from dhp.perturb.api import Edited, perturber

Edit = tuple[int, int, str]
"""(start, end, what stands there instead)."""


class SpellingGroup(Spec):
    """Words that differ between America and Britain in their middle: stem + middle + ending."""

    american: str
    british: str
    endings: list[str] = Field(min_length=1)
    stems: list[str] = Field(min_length=1)


class HarmlessLists(Spec):
    """Words that may be written in two ways."""

    spelling: list[SpellingGroup]
    words: dict[str, str]
    """American -> British, for words that fit no group."""
    synonyms: dict[str, str]
    """Each stands for the other, whatever the country."""

    @property
    def british(self) -> dict[str, str]:
        """All words that are spelled otherwise in Britain: American -> British."""
        grouped = {
            stem + group.american + ending: stem + group.british + ending
            for group in self.spelling
            for stem in group.stems
            for ending in group.endings
        }
        return {**grouped, **self.words}

    @model_validator(mode="after")
    def _each_word_once(self) -> "HarmlessLists":
        pairs = [*self.british.items(), *self.synonyms.items()]
        twice = [word for word, n in Counter(word for pair in pairs for word in pair).items() if n > 1]
        if twice:
            raise ValueError(f"'{twice[0]}' stands in two pairs; allowed: each word in one pair")
        return self


@perturber(name="identity", level="control")
def identity(text: str, rng: Random) -> Edited:
    """The original once more: what the scores of the same text differ by."""
    return Edited(text, 0, 0)


@perturber(name="harmless", level="control")
def harmless(text: str, rng: Random, *, lists: ListReader, language: str | None = None) -> Edited:
    """Make every edit that leaves meaning and quality alone: quotation marks, dashes, spelling, spacing.

    Each goes from the one accepted way to the other, whichever the text has. Most are for English; in other
    languages, and where it is not known, only spacing, dashes and dots change.
    """
    spans = sentence_spans(text, language)
    edits = [*_matched(_ANY_LANGUAGE, text), *_sentence_spaces(text, spans)]
    if language == "en" and looks_english(text):
        known = lists("harmless", HarmlessLists)
        edits += _respelled(text, {start for start, _ in spans}, known)
        edits += _matched(_ENGLISH, text)
        if not _TOKENISED.search(text):
            edits += _quotation_marks(text)
        if any(map(str.isupper, text)):
            edits += _matched(_CASED_ENGLISH, text)
    changed, made = _applied(text, edits)
    if made == 0:
        unknown = "" if language else ", as its language is not declared"
        raise NotApplicable(f"no harmless edit is possible{unknown}")
    return Edited(changed, made, made)


def _applied(text: str, edits: Iterable[Edit]) -> tuple[str, int]:
    """The text with all edits that do not overlap one further left, and their number."""
    pieces, end, made = [], 0, 0
    for start, stop, new in sorted(edits):
        if start >= end:
            pieces += [text[end:start], new]
            end, made = stop, made + 1
    return "".join([*pieces, text[end:]]), made


_TOKENISED = re.compile(r"\s[.,;:!?](?=\s|$)|\s'(?:s|re|ve|ll|d|m)\b|\bn't\b|``|''")
"""Marks that stand alone: there an apostrophe does not show which way it points."""

Rules = tuple[tuple[re.Pattern[str], str], ...]


def _rules(*pairs: tuple[str, str]) -> Rules:
    return tuple((re.compile(pattern), new) for pattern, new in pairs)


_ANY_LANGUAGE = _rules(
    (r"(?<![.…])\.\.\.(?![.…])", "…"),
    (r"(?<![.…])…(?![.…])", "..."),
    (r"(?<=[^\W\d_]{2}) - (?=[^\W\d_]{2})", " – "),
)
# In a question or before a pronoun the subject may stand between "do" and "not".
_STATED = r"(?! (?:I|you|he|she|it|we|they|there|this|that)\b)(?![^.!?]*\?)"
_ENGLISH = _rules(
    (r"(?<=\w)—(?=\w)", " — "),
    (r"(?<=[\w,”’\"']) — (?=[\w“‘\"'])", "—"),
    (r"(?<=[^\W\d_]) (?:–|--) (?=[^\W\d_])", " — "),
    (r"(?<=\d) per ?cent\b", "%"),
    (r"(?<![\d.,])(2(?=,[2-9])|[3-9]),(\d{3})(?![\d,]|\.\d)", r"\1\2"),  # smaller ones would look like years
    (r"\be\.g\.,?(?= \w)", "for example,"),
    (r"\bi\.e\.,?(?= \w)", "that is,"),
    (r"\b(could|did|do|does|had|has|have|is|are|was|were|should|would|need)n['’]t\b" + _STATED, r"\1 not"),
    (r"\bcan['’]t\b" + _STATED, "cannot"),
    (r"\bwon['’]t\b" + _STATED, "will not"),
)
_MONTH = r"(January|February|March|April|May|June|July|August|September|October|November|December)\b"
_ONE_DAY = r"(?![-–/\d]|st\b|nd\b|rd\b|th\b|,? (?:and |or |to )?\d)"
# What says nothing in a text without capitals.
_CASED_ENGLISH = _rules(
    (r"(?<![\d.,:])((?:1[0-2]|[1-9])(?::[0-5]\d)?) ?([ap])m\b(?! ?[.…]{2}| \.)\.?", r"\1 \2.m."),
    (r"(?<=\d) ?([ap])\.m\.(?=,? [a-z])", r" \1m"),
    (r"\b(Mr|Mrs|Ms|Dr)\.(?= [A-Z])", r"\1"),
    (r"\b(Mr|Mrs|Ms|Dr)(?= [A-Z])", r"\1."),
    (r"\bU\.S\.(?= [a-z])", "US"),
    (r"(?<=\bthe )US(?= [A-Za-z])", "U.S."),
    (r"\b([Oo]n) (\d{1,2}) " + _MONTH + r" (\d{4})(?=[.;:)])", r"\1 \3 \2, \4"),
    (r"\b([Oo]n) (\d{1,2}) " + _MONTH + r" (\d{4}),?(?= [A-Za-z])", r"\1 \3 \2, \4,"),
    (r"\b([Oo]n) (\d{1,2}) " + _MONTH + r"(?!,? (?:and |or |to )?\d)", r"\1 \3 \2"),
    (r"\b([Oo]n) " + _MONTH + r" (\d{1,2}), (\d{4})\b", r"\1 \3 \2 \4"),
    (r"\b([Oo]n) " + _MONTH + r" (\d{1,2})" + _ONE_DAY, r"\1 \3 \2"),
)
_AMERICAN_METERS = _rules(
    (r"((?:\d|\bsquare|\bcubic|\bhundred|\bthousand|\bmillion)[ -]met)er(s?)\b", r"\1re\2")
)
_BRITISH_METRES = _rules(
    (r"((?:\d|\bsquare|\bcubic|\bhundred|\bthousand|\bmillion)[ -]met)re(s?)\b", r"\1er\2")
)
_PERCENT = r"(?<=\d) ?%(?![\w%/–-])"


def _matched(rules: Rules, text: str) -> Iterator[Edit]:
    for pattern, new in rules:
        for match in pattern.finditer(text):
            yield match.start(), match.end(), match.expand(new)


_NUMBERED = re.compile(r"\b[^\W\d]{1,3}\.\s+\d")
"""No end of a sentence but "No. 7" or "p. 3"."""


def _sentence_spaces(text: str, spans: list[tuple[int, int]]) -> Iterator[Edit]:
    """Two spaces between sentences, or one where the text has two."""
    gaps = [(end, start) for (_, end), (start, _) in pairwise(spans)]
    gaps = [gap for gap in gaps if not _NUMBERED.search(text, max(gap[0] - 4, 0), gap[1] + 1)]
    doubled = [gap for gap in gaps if text[slice(*gap)] == "  "]
    single = [gap for gap in gaps if text[slice(*gap)] == " "]
    for start, end in doubled or single:
        yield start, end, " " if doubled else "  "


_WORD = re.compile(r"(?<![\w@#./<])[A-Za-z]+(?![\w@>]|[./]\w)")


def _respelled(text: str, starts: set[int], known: HarmlessLists) -> Iterator[Edit]:
    """To the spelling of the other country, away from that of which the text has more."""
    back = {british: american for american, british in known.british.items()}
    american = [*_replaced(_WORD, text, starts, known.british), *_matched(_AMERICAN_METERS, text)]
    british = [*_replaced(_WORD, text, starts, back), *_matched(_BRITISH_METRES, text)]
    becomes_british = len(american) > len(british)
    yield from american if becomes_british else british
    yield from _matched(_rules((_PERCENT, " per cent" if becomes_british else " percent")), text)
    either = {**known.synonyms, **{b: a for a, b in known.synonyms.items()}}
    listed = "|".join(re.escape(word) for word in sorted(either, key=len, reverse=True))
    yield from _replaced(
        re.compile(rf"(?<![\w@#./<-])(?:{listed})(?![\w@>-]|[./]\w)", re.I), text, starts, either
    )


def _replaced(
    pattern: re.Pattern[str], text: str, starts: set[int], words: Mapping[str, str]
) -> Iterator[Edit]:
    """A word with a capital may be a name, unless it begins a sentence and no further capital follows."""
    for match in pattern.finditer(text):
        word, end = match.group(), match.end()
        if word in words:
            yield match.start(), end, words[word]
        elif (
            match.start() in starts
            and word[0].lower() + word[1:] in words
            and text[end : end + 2][1:].islower()
        ):
            new = words[word[0].lower() + word[1:]]
            yield match.start(), end, new[0].upper() + new[1:]


_CURLY = {"“": '"', "”": '"', "‘": "'", "’": "'"}
_BEFORE_OPENING = frozenset(" \t\n([—–-\"'")
_ELISION = re.compile(r"'(?:\d0s|em|til|tis|twas|cause|n)\b")


def _quotation_marks(text: str) -> Iterator[Edit]:
    """Curly for straight ones, or straight for curly ones where the text has any."""
    if any(mark in text for mark in "„«»"):
        return
    if any(mark in text for mark in _CURLY):
        yield from ((i, i + 1, _CURLY[c]) for i, c in enumerate(text) if c in _CURLY)
        return
    yield from _curly_double(text)
    for i, c in enumerate(text):
        before, after = text[i - 1 : i] or " ", text[i + 1 : i + 2] or " "
        if c != "'" or (before.isspace() and after.isspace()) or (before.isdigit() and after != "s"):
            continue  # alone, or feet and minutes
        opens = before in _BEFORE_OPENING and after.isalnum() and not _ELISION.match(text, i)
        yield i, i + 1, "‘" if opens else "’"


def _curly_double(text: str) -> list[Edit]:
    """None unless the marks open and close in turn, as those of inches do not."""
    edits: list[Edit] = []
    for match in re.finditer('"', text):
        i = match.start()
        before, after = text[i - 1 : i] or " ", text[i + 1 : i + 2] or " "
        opens = len(edits) % 2 == 0
        if (opens and (before not in _BEFORE_OPENING or after.isspace())) or (not opens and before.isspace()):
            return []
        edits.append((i, i + 1, "“" if opens else "”"))
    return edits if len(edits) % 2 == 0 else []
