"""Perturbers of the probe invariance: another layout, another order of equal items."""

import functools
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from random import Random

from dhp.core.english import ARTICLES, FUNCTION_WORDS, looks_english
from dhp.core.errors import NotApplicable
from dhp.core.seeding import shuffled
from dhp.core.sentences import sentence_spans
from dhp.perturb.api import Edited, perturber

LAYOUTS = {form: {"form": form} for form in ("bullets", "paragraphs", "bold")}
"""Degrees of `layout`."""
_LAID_OUT = re.compile(r"```|^[ \t]*(?:[-*•]|\d+[.)])[ \t]", re.M)
"""A fence of code, or a line that begins as an item of a list: "- milk", "2. sugar"."""


@perturber(name="layout", level="control", degrees=LAYOUTS)
def layout(text: str, rng: Random, *, form: str, language: str | None = None) -> str:
    """Lay the text out in another way: every word stays, and the order of words.

    `bullets`: each sentence is an item of a list. `paragraphs`: each sentence is a paragraph, or all of them
    are one if the text has several lines. `bold`: the first sentence is in bold, in Markdown.
    """
    if _LAID_OUT.search(text):
        raise NotApplicable("code, or a list, has a layout of its own")
    pieces = _sentences(text, language)
    if form == "bold":
        if "*" in pieces[0]:
            raise NotApplicable("the first sentence has marks of Markdown")
        return " ".join([f"**{pieces[0]}**", *pieces[1:]])
    if len(pieces) < 2:
        raise NotApplicable("one sentence")
    if form == "bullets":
        return "\n".join(f"- {piece}" for piece in pieces)
    has_paragraphs = "\n" in text.strip()
    return " ".join(pieces) if has_paragraphs else "\n\n".join(pieces)


def _sentences(text: str, language: str | None) -> list[str]:
    """The sentences, each in one line; nothing but white space is lost."""
    # Cut at the starts, so that whatever stands between two sentences stays with the first.
    later_starts = [start for start, _ in sentence_spans(text, language)][1:]
    pieces = []
    for start, end in pairwise([0, *later_starts, len(text)]):
        piece = " ".join(text[start:end].split())
        if piece:
            pieces.append(piece)
    return pieces


_LISTED = re.compile(r"(?P<mark>[ \t]*[-*•] )(?P<item>\S.*)")
"""An item of a list without numbers, such as "- milk"."""
_AFTER = r"(?=[.,;:!?)\]]|$| (?:in|on|at|for|from|to|with|are|is|were|was|have|has|had|who|that|which|as)\b)"
"""What may follow the last item: nothing that belongs to it alone."""


def _series(item: str) -> re.Pattern[str]:
    """Items with commas between them and a last one behind `and` or `or`."""
    return re.compile(rf"\b{item}(?:, {item})+,? (?:and|or) {item}(?![\w'’-]){_AFTER}")


_NAMES = _series(r"[A-Z][\w'’-]*")  # "Anna, Ben and Clara"
_NOUNS = _series(r"[a-z][a-z-]*")  # "apples, pears, and plums"
_ITEM = re.compile(r"[\w'’-]+")
"""A word of a series: "Ben", "mother-in-law", "O'Brien"."""
_LAST_WORD = re.compile(r"[\w'’-]+(?= $)")
"""The word before a series: "with" in "with apples, pears and plums"."""
_JOINING = ("and", "or")
_OPENING = FUNCTION_WORDS - (ARTICLES - {"the"})
"""Words after which a series of nouns may begin; `a` and `an` belong to the first noun alone."""


@perturber(name="item_order", level="control")
def item_order(text: str, rng: Random, *, language: str | None = None) -> Edited:
    """Put equal items into another order: those of a list without numbers, or of a series in a sentence.

    A series is English and has three items or more, each one word: all names, or all nouns behind a function
    word, so that no item loses a word that belongs to it.
    """
    groups = list(_list_items(text))
    if language == "en" and looks_english(text):
        groups += _series_items(text)

    changed, made = text, 0
    for group in sorted(groups, reverse=True):  # from the end, so that earlier places stay
        items = _reordered([text[start:end] for start, end in group], rng)
        if items is None:
            continue
        made += 1
        for (start, end), item in zip(reversed(group), reversed(items), strict=True):
            changed = changed[:start] + item + changed[end:]
    if made == 0:
        raise NotApplicable("no list and no series of equal items")
    return Edited(changed, made, made)


_Items = list[tuple[int, int]]
"""Start and end of each of the items that may change places."""


def _list_items(text: str) -> Iterator[_Items]:
    """The items of each list: lines in a row that begin with the same mark."""
    items: _Items = []  # of the list that is being read
    its_mark, start = "", 0
    # The empty line at the end closes a list that ends the text.
    for line in [*text.splitlines(keepends=True), ""]:
        match = _LISTED.match(line.rstrip())
        mark = match["mark"] if match else ""
        if mark != its_mark or not mark:
            if len(items) > 1:
                yield items
            items = []
        if match:
            items.append((start + match.start("item"), start + match.end("item")))
        its_mark = mark
        start += len(line)


def _series_items(text: str) -> Iterator[_Items]:
    """The items of each series in a sentence."""
    for series in (_NAMES, _NOUNS):
        for match in series.finditer(text):
            before = _LAST_WORD.search(text[: match.start()])
            if before is None:
                continue
            words, places = [], []
            for word in _ITEM.finditer(text, match.start(), match.end()):
                if word[0] not in _JOINING:
                    words.append(word[0])
                    places.append(word.span())
            if series is _NAMES:  # a capital before it is part of the first name, or opens the sentence
                is_series = not before[0][0].isupper()
            else:
                is_series = before[0] in _OPENING and all(_is_noun(word) for word in words)
            if is_series:
                yield places


@functools.lru_cache(4096)  # a look-up takes a while, and words come again from text to text
def _is_noun(word: str) -> bool:
    import lemminflect

    return word not in FUNCTION_WORDS and "NOUN" in lemminflect.getAllLemmas(word)


def _reordered(items: Sequence[str], rng: Random) -> list[str] | None:
    """The items in another order; None if all are the same."""
    if len(set(items)) < 2:
        return None
    mixed = shuffled(items, rng)
    while mixed == list(items):  # with equal items a shuffle may leave the order that it was
        mixed = mixed[1:] + mixed[:1]
    return mixed
