"""Perturbers of sentences: their order, and sentences deleted, repeated and inserted."""

from collections.abc import Sequence
from itertools import islice
from random import Random
from typing import Literal

from dhp.core.checks import check_value
from dhp.core.errors import NotApplicable
from dhp.core.language import sentence_spans
from dhp.core.markdown import mark_length
from dhp.core.options import Option
from dhp.core.records import Example
from dhp.core.seeding import drawn, drawn_at_once
from dhp.perturb.api import TOO_MUCH, Edited, asked_edits, length, perturber
from dhp.perturb.cuts import inserted, removed, repeated


@perturber(name="reordering", level="sentence", degrees={"minor": {"count": 2}, "major": {"count": "all"}})
def reordering(
    text: str,
    rng: Random,
    *,
    language: str | None = None,
    count: int | str | None = None,
    share: float | None = None,
) -> Edited:
    """Shuffle `count` sentences (or "all", or a `share` of them) so that none of them stays where it was."""
    if share is None:
        check_value("count", count, int | Literal["all"], Option(help="", ge=2))
    spans = sentence_spans(text, language)
    parts = [text[start:end] for start, end in spans]
    if len(set(parts)) < 2:
        raise NotApplicable("fewer than two different sentences")
    asked = count if isinstance(count, int) else len(parts)
    if share is not None:
        asked = max(2, asked_edits(None, share, len(parts)))
    moved = min(asked, len(parts))
    for _ in range(1000):
        positions = sorted(rng.sample(range(len(parts)), moved))
        order = _deranged(positions, rng)
        reordered = parts.copy()
        for position, origin in zip(positions, order, strict=True):
            reordered[position] = parts[origin]
        if reordered != parts:
            break
    else:
        raise NotApplicable("no other order found")
    pieces, end = [], 0
    for (start, following), part in zip(spans, reordered, strict=True):
        pieces += [text[end:start], part]
        end = following
    return Edited("".join([*pieces, text[end:]]), asked, moved)


def _deranged(positions: Sequence[int], rng: Random) -> list[int]:
    """A uniformly random order of at least two items in which none stays in its position."""
    order = list(positions)
    while any(a == b for a, b in zip(order, positions, strict=True)):
        rng.shuffle(order)
    return order


@perturber(name="sentence_deletion", level="sentence", degrees={"minor": {"k": 1}, "major": {"share": 0.5}})
def sentence_deletion(
    text: str, rng: Random, *, language: str | None = None, k: int | None = None, share: float | None = None
) -> Edited:
    """Delete `k` sentences, or a `share` of them, as long as half of the text is left.

    A sentence that would take more is skipped. Those of a smaller dose are among those of a larger one.
    """
    spans = sentence_spans(text, language)
    asked = asked_edits(k, share, len(spans))
    if len(spans) < 2:
        raise NotApplicable("fewer than two sentences")
    gone, left = list[tuple[int, int]](), length(text) / 2
    for start, end in drawn(spans, rng):
        if (size := length(text[start:end])) <= left:
            gone.append((start, end))
            left -= size
        if len(gone) == asked:
            break
    if not gone:
        raise NotApplicable(TOO_MUCH)
    for start, end in sorted(gone, reverse=True):
        text = removed(text, start, end)
    return Edited(text, asked, len(gone))


@perturber(name="sentence_repetition", level="sentence", degrees={"minor": {"k": 1}, "major": {"k": 3}})
def sentence_repetition(
    text: str, rng: Random, *, language: str | None = None, k: int | None = None, share: float | None = None
) -> Edited:
    """Say `k` sentences, or a `share` of them, twice in a row.

    Those of a smaller dose are among those of a larger one.
    """
    spans = sentence_spans(text, language)
    asked = asked_edits(k, share, len(spans))
    chosen = list(islice(drawn(spans, rng), asked))
    if not chosen:
        raise NotApplicable("no sentence")
    for start, end in sorted(chosen, reverse=True):
        text = repeated(text, start, end)
    return Edited(text, asked, len(chosen))


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
    sentences, ends = _plain_sentences(text, language), [end for _, end in sentence_spans(text, language)]
    asked, added = asked_edits(k, share, len(ends)), list[tuple[int, str]]()
    for other in drawn_at_once(others, rng) if ends else []:
        if len(added) == asked:
            break
        position, which = ends[int(rng.random() * len(ends))], rng.random()
        if known := sorted(_plain_sentences(other.output, language) - sentences):
            added.append((position, known[int(which * len(known))]))
            sentences.add(added[-1][1])
    if not added:
        raise NotApplicable("no other example with another sentence")
    for position, sentence in sorted(added, key=lambda one: one[0], reverse=True):
        text = inserted(text, position, sentence)
    return Edited(text, asked, len(added))


def _plain_sentences(text: str, language: str | None) -> set[str]:
    """The sentences of a text without marks of lists."""
    spans = sentence_spans(text, language)
    return {text[start + mark_length(text, start) : end] for start, end in spans}
