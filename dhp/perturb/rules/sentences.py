"""Perturbers of sentences: their order, and sentences deleted, repeated and inserted."""

import re
from collections.abc import Sequence
from itertools import islice
from random import Random
from typing import Literal

from dhp.core.checks import check_value
from dhp.core.english import CONNECTIVES, PRONOUNS
from dhp.core.errors import NotApplicable
from dhp.core.markdown import mark_length
from dhp.core.options import Option
from dhp.core.records import Example
from dhp.core.seeding import drawn, drawn_at_once
from dhp.core.sentences import sentence_spans
from dhp.perturb.api import TOO_MUCH, Edited, asked_edits, length, perturber
from dhp.perturb.cuts import insertion, removals, repetition
from dhp.perturb.edits import applied
from dhp.perturb.facts.text import evidence_of
from dhp.perturb.facts.words import content_words
from dhp.perturb.numbering import renumbered
from dhp.perturb.whole_sentences import whole_sentences


@perturber(name="reordering", level="sentence", degrees={"minor": {"count": 2}, "major": {"count": "all"}})
def reordering(
    text: str,
    rng: Random,
    *,
    language: str | None = None,
    count: int | str | None = None,
    share: float | None = None,
) -> Edited:
    """Shuffle `count` sentences (or "all", or a `share` of them) so that none of them stays where it was.

    Fewer than all are neighbours. Two of them stand side by side, in one list if in any, and in English where
    the second one points back to the first, if there are such. The marks of lists stay where they are. A text
    of bullets alone is not applicable: their order may be any.
    """
    if share is None:
        check_value("count", count, int | Literal["all"], Option(help="", ge=2))
    # Marks of lists are no part of the sentences that move.
    whole = whole_sentences(text, language)
    spans = [(start + mark_length(text, start), end) for start, end in whole]
    parts = [text[start:end] for start, end in spans]
    if len(set(parts)) < 2:
        raise NotApplicable("fewer than two different sentences")
    if all(_BULLET.match(text, start) for start, _ in whole):
        raise NotApplicable("bullets may stand in any order")
    asked = count if isinstance(count, int) else len(parts)
    if share is not None:
        asked = max(2, asked_edits(None, share, len(parts)))
    moved = min(asked, len(parts))
    firsts = _near_pairs(text, whole) if moved == _PAIR else range(len(parts) - moved + 1)
    # Drawn again while nothing shows, as when the two sentences that change places are the same.
    for _ in range(1000):
        first = rng.choice(firsts)
        positions = range(first, first + moved)
        order = _deranged(positions, rng)
        reordered = parts.copy()
        for position, origin in zip(positions, order, strict=True):
            reordered[position] = parts[origin]
        if reordered != parts:
            break
    else:
        raise NotApplicable("no other order found")
    edits = [(*span, part) for span, part in zip(spans, reordered, strict=True)]
    return Edited(applied(text, edits)[0], asked, moved)


_PAIR = 2
"""Sentences that change places in the minor degree."""
# Words that begin a sentence which goes on from the one before; connectives of one word are in a list.
_LINK = re.compile(
    r"(?:for (?:example|instance)|as a (?:result|consequence)|in (?:addition|contrast|fact|other words|turn)|"
    r"on the (?:other hand|contrary)|after (?:that|this)|because of (?:this|that)|by contrast|finally)\b",
    re.I,
)
_BULLET = re.compile(r"[ \t]*[-*+•‣▪●○◦·–—]\s")  # "- "
_FULL_NAME = re.compile(r"\b[A-Z]\w+ ([A-Z]\w+)")  # the surname of "John Arnold"
_INTRODUCED = re.compile(r"\b[Aa]n? ([a-z]{3,})")  # "a car"
_KNOWN = re.compile(r"\b[Tt]he ([a-z]{3,})")  # "the car"
_FIRST_WORD = re.compile(r"\W*([^\W\d_]+)")


def _near_pairs(text: str, spans: Sequence[tuple[int, int]]) -> Sequence[int]:
    """The sentences that change places best with the next one; all that have one if none is better.

    Nothing stands between the two; both begin items of a list of one depth, or none does; in English the
    second one points back; and they are no items, whose order may be any.
    """
    sentences = [text[start:end] for start, end in spans]
    depths = [_depth(text, start) for start, _ in spans]

    def are_beside(i: int) -> bool:
        return not any(map(str.isalnum, text[spans[i][1] : spans[i + 1][0]]))

    # Each condition counts only if some pair meets it and all conditions before.
    near: Sequence[int] = range(len(spans) - 1)
    near = [i for i in near if are_beside(i)] or near
    near = [i for i in near if depths[i] == depths[i + 1]] or near
    pointing = [i for i in near if _points_back(sentences[i + 1])]
    if not pointing:
        pointing = [i for i in near if _speaks_of(sentences[i + 1], sentences[i])]
    return pointing or [i for i in near if depths[i] is None] or near


def _depth(text: str, start: int) -> int | None:
    """How far the item of a list is indented that begins at a place; None if none does."""
    return start - (text.rfind("\n", 0, start) + 1) if mark_length(text, start) else None


def _points_back(sentence: str) -> bool:
    """Whether an English sentence begins with words that point back."""
    word = _FIRST_WORD.match(sentence)
    if word is not None and word[1].lower() in CONNECTIVES | PRONOUNS:
        return True
    return _LINK.match(sentence) is not None


def _speaks_of(sentence: str, before: str) -> bool:
    """Whether it names in short what the one before it introduces: "Arnold" or "the car" after "a car"."""
    for surname in _FULL_NAME.findall(before):
        if sentence.startswith(surname):
            return True
    introduced = set(_INTRODUCED.findall(before))
    return not introduced.isdisjoint(_KNOWN.findall(sentence))


def _deranged(positions: Sequence[int], rng: Random) -> list[int]:
    """A uniformly random order of at least two items in which none stays in its position."""
    order = list(positions)
    while any(a == b for a, b in zip(order, positions, strict=True)):
        rng.shuffle(order)
    return order


@perturber(name="sentence_deletion", level="sentence", degrees={"minor": {"k": 1}, "major": {"share": 0.5}})
def sentence_deletion(
    text: str,
    rng: Random,
    *,
    example: Example,
    language: str | None = None,
    k: int | None = None,
    share: float | None = None,
    central: bool = False,
) -> Edited:
    """Delete `k` sentences, or a `share` of them, as long as half of the text is left.

    They are random ones, or those that share most content words with the source if `central`. A sentence that
    would take more is skipped. Those of a smaller dose are among those of a larger one.
    """
    spans = whole_sentences(text, language)
    asked = asked_edits(k, share, len(spans))
    if len(spans) < 2:
        raise NotApplicable("fewer than two sentences")
    order = [*drawn(spans, rng)]
    if central:
        stated = content_words(evidence_of(example))
        order.sort(key=lambda span: -len(stated & content_words(text[slice(*span)])))
    # `left` is how many characters may still go.
    gone, left = list[tuple[int, int]](), length(text) / 2
    for start, end in order:
        size = length(text[start:end])
        if size <= left:
            gone.append((start, end))
            left -= size
        if len(gone) == asked:
            break
    if not gone:
        raise NotApplicable(TOO_MUCH)
    return Edited(renumbered(text, removals(text, gone)), asked, len(gone))


@perturber(name="sentence_repetition", level="sentence", degrees={"minor": {"k": 1}, "major": {"k": 3}})
def sentence_repetition(
    text: str, rng: Random, *, language: str | None = None, k: int | None = None, share: float | None = None
) -> Edited:
    """Say `k` sentences, or a `share` of them, twice in a row.

    Those of a smaller dose are among those of a larger one.
    """
    spans = whole_sentences(text, language)
    asked = asked_edits(k, share, len(spans))
    chosen = list(islice(drawn(spans, rng), asked))
    if not chosen:
        raise NotApplicable("no sentence")
    return Edited(renumbered(text, [repetition(text, *span) for span in chosen]), asked, len(chosen))


@perturber(name="sentence_insertion", level="sentence", degrees={"minor": {"k": 1}, "major": {"k": 3}})
def sentence_insertion(
    text: str,
    rng: Random,
    *,
    language: str | None = None,
    others: Sequence[Example],
    k: int | None = None,
    share: float | None = None,
) -> Edited:
    """Put `k` sentences of `others`, or a `share` of the text's number, behind random sentences.

    Each is of another example. Those of a smaller dose, and their positions, are among those of a larger one.
    """
    every = sentence_spans(text, language)
    sentences = _plain(text, every)
    ends = [end for _, end in _whole(text, language) or every]
    asked = asked_edits(k, share, len(ends))
    added = list[tuple[int, str]]()  # (where, what)
    for other in drawn_at_once(others, rng) if ends else []:
        if len(added) == asked:
            break
        # Both are drawn before it is known whether the other text has a sentence, so that the positions
        # of a smaller dose are among those of a larger one.
        position, which = ends[int(rng.random() * len(ends))], rng.random()
        known = sorted(_plain(other.output, _whole(other.output, language)) - sentences)
        if known:
            sentence = known[int(which * len(known))]
            added.append((position, sentence))
            sentences.add(sentence)
    if not added:
        raise NotApplicable("no other example with another sentence")
    edits = [insertion(text, *one) for one in added]
    return Edited(applied(text, edits)[0], asked, len(added))


def _whole(text: str, language: str | None) -> Sequence[tuple[int, int]]:
    """The whole sentences of a text; none if it is made of lines."""
    try:
        return whole_sentences(text, language)
    except NotApplicable:
        return []


def _plain(text: str, spans: Sequence[tuple[int, int]]) -> set[str]:
    """Sentences of a text without marks of lists."""
    return {text[start + mark_length(text, start) : end] for start, end in spans}
