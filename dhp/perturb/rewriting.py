"""The stand-in by rule of a language model that rewrites sentences and inserts the results."""

import random
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from dhp.errors import NotApplicable
from dhp.perturb.api import Edited, count_or_all, perturber
from dhp.perturb.english import need_english
from dhp.perturb.rephrase_clauses import orders
from dhp.perturb.rephrase_focus import emphasis, focuses
from dhp.perturb.rephrase_forms import forms, touches
from dhp.perturb.rephrase_lexicon import CONJUNCTIONS
from dhp.perturb.rephrase_moves import moves, swapped
from dhp.perturb.rephrase_speakers import speakers
from dhp.perturb.rephrase_tokens import Sentence, Style, Token, Tokens
from dhp.perturb.rephrase_words import RephrasingLists, substituted
from dhp.records import Example
from dhp.seeding import stream
from dhp.specs import ListReader
from dhp.text import sentence_spans

_LEAST = 2
"""Words in which a rephrasing differs that keeps the order."""
_MOST = 3
"""Words or phrases replaced at most."""
_TRIES = 4
_CLOSING = "'\"”’"


@perturber(
    name="rewriting_insertion_rule", level="sentence", degrees={"minor": {"count": 1}, "major": {"count": 3}}
)
def rewriting_insertion_rule(
    text: str, rng: random.Random, *, example: Example, lists: ListReader, count: int | str
) -> Edited:
    """Say `count` sentences (or "all") again in other words, each right behind the sentence itself.

    The sentences of the text stay as they are. A rephrasing has other words, another order of clauses or
    another voice; names and numbers stay. The sentences that a smaller count takes are among those of a
    larger one, with the same rephrasings.
    """
    count_or_all(count)
    need_english(text)
    known = lists("rephrasing", RephrasingLists)
    spans = _spans(text)
    style = Style.of(text, example.source)
    asked = len(spans) if count == "all" else int(count)
    order = rng.sample(range(len(spans)), len(spans))
    key = rng.getrandbits(64)
    inserted: dict[int, str] = {}
    for i in order:
        start, end = spans[i]
        sentence = None if _in_quotation(text[:start]) else Sentence.of(text[start:end], style)
        if len(inserted) < asked and sentence and (said := rephrased(sentence, known, stream(key, i))):
            inserted[i] = said
    if not inserted:
        raise NotApplicable("no sentence can be rephrased")
    between = _separator(text, spans)
    pieces, done = [], 0
    for i, (_, end) in enumerate(spans):
        if i in inserted:
            stopped = text[end - 1] in ".!?…" + _CLOSING
            pieces += [text[done:end], between if stopped else "\n", inserted[i]]
            done = end
    return Edited("".join([*pieces, text[done:]]), asked, len(inserted))


def _spans(text: str) -> list[tuple[int, int]]:
    """The sentences, with a closing quotation mark that stands apart given to the sentence before it."""
    spans = sentence_spans(text)
    for i, (start, end) in enumerate(spans):
        if i and text[start] in _CLOSING and text[start + 1 : start + 2].isspace():
            spans[i - 1] = (spans[i - 1][0], start + 1)
            spans[i] = (start + 2, end)
    return spans


def _in_quotation(before: str) -> bool:
    """Whether a quotation is open behind this text."""
    opened = before.count("“") > before.count("”") or before.count("``") > before.count("''")
    return opened or before.count('"') % 2 == 1


def _separator(text: str, spans: list[tuple[int, int]]) -> str:
    """The white space that most often stands between two sentences."""
    gaps = Counter(text[end:start] for (_, end), (start, _) in pairwise(spans))
    common = [gap for gap, _ in gaps.most_common() if gap and gap.isspace()]
    return common[0] if common else " "


def rephrased(sentence: Sentence, lists: RephrasingLists, rng: random.Random) -> str | None:
    """The sentence in other words; None where the rules find too few."""
    ordered = [
        *orders(sentence),
        *speakers(sentence, lists),
        *forms(sentence, lists),
        *focuses(sentence, lists),
        *moves(sentence),
    ]
    if ordered:
        body = ordered[int(rng.random() * len(ordered))]
        return sentence.written(_touched(sentence, body, lists, rng, 2))
    attempts = [_touched(sentence, sentence.body, lists, rng, _MOST) for _ in range(_TRIES)]
    for body in attempts:
        if _changed(sentence.body, body) >= _LEAST:
            return sentence.written(body)
    if body_swapped := swapped(sentence, rng):
        return sentence.written(_touched(sentence, body_swapped, lists, rng, 1))
    for body in attempts:
        if _changed(sentence.body, body) and (framed := _framed(sentence, body, lists, rng)):
            return framed
    if stressed := emphasis(sentence):
        return sentence.written(stressed)
    return None


def _touched(
    sentence: Sentence, body: Tokens, lists: RephrasingLists, rng: random.Random, most: int
) -> Tokens:
    """The body with small changes and other words."""
    same = Sentence(body, sentence.end, sentence.style, sentence.movable)
    for touch in _few(list(touches(same)), rng):
        body = touch
    return substituted(body, lists, sentence.style, rng, most)


def _few(found: list[Tokens], rng: random.Random) -> Iterator[Tokens]:
    if found:
        yield found[int(rng.random() * len(found))]


def _changed(before: Tokens, after: Tokens) -> int:
    """How many words of one or the other the two do not share."""
    old, new = (Counter(t.low for t in tokens) for tokens in (before, after))
    return max((old - new).total(), (new - old).total())


def _framed(sentence: Sentence, body: Tokens, lists: RephrasingLists, rng: random.Random) -> str | None:
    framing = lists.framings[int(rng.random() * len(lists.framings))]
    lowered = sentence.style.lowered(body)
    if lowered is None or lowered[0].low in CONJUNCTIONS:
        return None
    if body[1:2] and body[1].text == "," and not lowered[0].name:
        return None  # two adverbs with commas in a row
    words = tuple(Token(word) for word in framing.split())
    front = words if sentence.style.cased else tuple(Token(t.text.lower()) for t in words)
    return sentence.written((*front, sentence.comma, Token(lowered[0].text), *lowered[1:]))
