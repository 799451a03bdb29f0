"""The stand-in by rule of a language model that rewrites sentences and inserts the results."""

import itertools
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from dhp.core.english import need_english
from dhp.core.errors import NotApplicable
from dhp.core.records import Example
from dhp.core.seeding import stream
from dhp.core.specs import ListReader
from dhp.core.text import sentence_spans
from dhp.perturb.api import Edited, count_or_all, perturber
from dhp.perturb.rewriting.clauses import orders
from dhp.perturb.rewriting.focus import emphasis, focuses
from dhp.perturb.rewriting.forms import forms, touched
from dhp.perturb.rewriting.lexicon import CONJUNCTIONS
from dhp.perturb.rewriting.moves import moves, swapped
from dhp.perturb.rewriting.speakers import speakers
from dhp.perturb.rewriting.tokens import Sentence, Style, Token, Tokens
from dhp.perturb.rewriting.words import RephrasingLists, substituted

_LEAST = 0.1
"""How far a rephrasing should be from its sentence: the share of words that one or the other has alone, or
elsewhere. Nearer ones stand in only where no sentence takes a farther one."""
_COPY = 0.05
"""Below it a rephrasing is next to a copy: it stands in only where no sentence takes any other."""
_TRIES = 4
_CLOSING = "'\"”’"
_MARKS = ("“", "”", "``", "''", '"')

Spans = list[tuple[int, int]]


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
    inserted = dict(itertools.islice(_rephrasings(text, spans, style, known, rng), asked))
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


def _spans(text: str) -> Spans:
    """The sentences, with a closing quotation mark that stands apart given to the sentence before it."""
    spans = sentence_spans(text)
    for i, (start, end) in enumerate(spans):
        if i and text[start] in _CLOSING and text[start + 1 : start + 2].isspace():
            spans[i - 1] = (spans[i - 1][0], start + 1)
            spans[i] = (start + 2, end)
    return spans


def _quotations(text: str, spans: Spans) -> set[int]:
    """The sentences before which a quotation is open."""
    found, opened, done = set(), Counter[str](), 0
    for i, (start, _) in enumerate(spans):
        for mark in _MARKS:
            opened[mark] += text.count(mark, done, start)
        done = start
        if opened["“"] > opened["”"] or opened["``"] > opened["''"] or opened['"'] % 2:
            found.add(i)
    return found


def _separator(text: str, spans: Spans) -> str:
    """The white space that most often stands between two sentences."""
    gaps = Counter(text[end:start] for (_, end), (start, _) in itertools.pairwise(spans))
    common = [gap for gap, _ in gaps.most_common() if gap and gap.isspace()]
    return common[0] if common else " "


def _rephrasings(
    text: str, spans: Spans, style: Style, lists: RephrasingLists, rng: random.Random
) -> Iterator[tuple[int, str]]:
    """(place, rephrasing) of each sentence that takes one, in random order; those far enough come first."""
    order = rng.sample(range(len(spans)), len(spans))
    key = rng.getrandbits(64)
    near: list[tuple[float, int, str]] = []
    far = 0
    quoted = _quotations(text, spans)
    for i in order:
        start, end = spans[i]
        sentence = None if i in quoted else Sentence.of(text[start:end], style)
        if sentence and (found := rephrased(sentence, lists, stream(key, i))):
            said, distance = found
            if distance >= _LEAST:
                far += 1
                yield i, said
            else:
                near.append((distance, i, said))
    near.sort(key=lambda item: -item[0])
    for distance, i, said in near:
        if distance >= _COPY or not far:
            far += 1
            yield i, said


def rephrased(sentence: Sentence, lists: RephrasingLists, rng: random.Random) -> tuple[str, float] | None:
    """The sentence in other words and how far it is from it; None where the rules find none."""
    ordered = [
        *orders(sentence),
        *speakers(sentence, lists),
        *forms(sentence, lists),
        *focuses(sentence, lists),
        *moves(sentence),
    ]
    plain = [sentence.body, *filter(None, [swapped(sentence, rng)])]
    drawn = [*rng.sample(ordered, len(ordered)), *plain]
    some = 2 + len(sentence.body) // 8
    bodies = [_touched(sentence, body, lists, rng, some) for body in drawn for _ in range(_TRIES)]
    bodies += [_touched(sentence, body, lists, rng, len(body)) for body in drawn]
    distances = [_distance(sentence.body, body) for body in bodies]
    best = next((i for i, far in enumerate(distances) if far >= _LEAST), None)
    if best is None:
        best = max(range(len(bodies)), key=distances.__getitem__)
    body, far = bodies[best], distances[best]
    if far >= _LEAST:
        return sentence.written(body), far
    if far and (framed := _framed(sentence, body, lists, rng)):
        return framed, far
    if stressed := emphasis(sentence):
        return sentence.written(stressed), 0
    return (sentence.written(body), far) if far else None


def _touched(
    sentence: Sentence, body: Tokens, lists: RephrasingLists, rng: random.Random, most: int
) -> Tokens:
    """The body with small changes and up to `most` words or phrases replaced."""
    return substituted(touched(replace(sentence, body=body)), lists, sentence.style, rng, most)


def _distance(before: Tokens, after: Tokens) -> float:
    from rapidfuzz.distance import Indel

    return float(Indel.normalized_distance(*([t.low for t in tokens] for tokens in (before, after))))


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
