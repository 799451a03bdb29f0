"""Sentence-level rules: sentences in another order, missing, repeated, inserted; texts from elsewhere."""

from collections.abc import Sequence
from itertools import islice, pairwise
from random import Random

from dhp.core.errors import InputError, NotApplicable
from dhp.core.language import sentence_spans, sentences
from dhp.core.records import Example
from dhp.core.seeding import drawn, drawn_at_once
from dhp.perturb.api import TOO_MUCH, Edited, asked_edits, length, perturber
from dhp.perturb.apply import other_texts


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
    if share is None and count != "all" and not (isinstance(count, int) and count >= 2):
        raise InputError(
            f"perturber 'reordering': count must be 'all' or an integer of at least 2, not {count!r}"
        )
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
    starts = [start for start, _ in sentence_spans(text, language)]
    asked = asked_edits(k, share, len(starts))
    if len(starts) < 2:
        raise NotApplicable("fewer than two sentences")
    pieces = [text[a:b] for a, b in pairwise([*starts, len(text)])]
    gone, left = set[int](), length(text) / 2
    for i in drawn(range(len(starts)), rng):
        if (size := length(pieces[i])) <= left:
            gone.add(i)
            left -= size
        if len(gone) == asked:
            break
    if not gone:
        raise NotApplicable(TOO_MUCH)
    kept = text[: starts[0]] + "".join(piece for i, piece in enumerate(pieces) if i not in gone)
    return Edited(kept.rstrip() if len(starts) - 1 in gone else kept, asked, len(gone))


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
    return Edited(_inserted(text, [(end, text[start:end]) for start, end in chosen]), asked, len(chosen))


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
    own, ends = set(sentences(text, language)), [end for _, end in sentence_spans(text, language)]
    asked, added = asked_edits(k, share, len(ends)), list[tuple[int, str]]()
    for other in drawn_at_once(others, rng) if ends else []:
        if len(added) == asked:
            break
        position, which = ends[int(rng.random() * len(ends))], rng.random()
        if known := sorted({*sentences(other.output, language)} - own):
            added.append((position, known[int(which * len(known))]))
            own.add(added[-1][1])
    if not added:
        raise NotApplicable("no other example with another sentence")
    return Edited(_inserted(text, added), asked, len(added))


def _inserted(text: str, added: Sequence[tuple[int, str]]) -> str:
    """The text with sentences at positions right behind one of its own."""
    for position, sentence in sorted(added, key=lambda one: one[0], reverse=True):
        gap = "" if text[:position].rstrip("”’」』）").endswith(("。", "！", "？")) else " "
        text = f"{text[:position]}{gap}{sentence}{text[position:]}"
    return text


def _text_of_another(text: str, rng: Random, others: Sequence[Example]) -> str:
    candidates = other_texts(others, text)
    if not candidates:
        raise NotApplicable("no other example with another text")
    return candidates[int(rng.random() * len(candidates))]


@perturber(name="random_ending", level="sentence")
def random_ending(text: str, rng: Random, *, others: Sequence[Example]) -> str:
    """The ending of another story."""
    return _text_of_another(text, rng, others)


@perturber(name="random_answer", level="sentence")
def random_answer(text: str, rng: Random, *, others: Sequence[Example]) -> str:
    """The answer to another question."""
    return _text_of_another(text, rng, others)


@perturber(name="wrong_ending", level="sentence")
def wrong_ending(text: str, rng: Random, *, example: Example) -> str:
    """The wrong ending that the dataset gives (field `wrong_ending`)."""
    wrong = example.fields.get("wrong_ending")
    if not wrong:
        raise NotApplicable("the example has no field 'wrong_ending'")
    if wrong == text:
        raise NotApplicable("the wrong ending equals the right one")
    return wrong
