"""Single words and short phrases that may stand elsewhere: adverbs, purposes, pairs."""

import random
from collections.abc import Iterator
from dataclasses import replace

from dhp.perturb.rewriting.lexicon import (
    AUXILIARIES,
    CONJUNCTIONS,
    DETERMINERS,
    MARKERS,
    PREPOSITIONS,
    SUBJECTS,
    only_verb,
    readings,
)
from dhp.perturb.rewriting.tokens import Sentence, Token, Tokens

_ADVERBS = frozenset(
    "therefore thus consequently recently currently previously initially originally eventually subsequently "
    "traditionally reportedly allegedly generally usually typically now meanwhile nevertheless nonetheless "
    "however".split()
)
_LINKS = frozenset("therefore thus consequently meanwhile nevertheless nonetheless however".split())
_PURPOSES = frozenset(
    "determine identify investigate examine assess evaluate test establish study characterize characterise "
    "estimate compare explore elucidate understand analyse analyze measure find detect predict".split()
)
_NO_PURPOSE = frozenset(
    "aims goals attempts needs ways efforts abilities tools methods approaches plans tests".split()
)


def moves(s: Sentence) -> Iterator[Tokens]:
    """The body of a sentence with a word or short phrase in another place."""
    for found in (
        _also_first(s),
        _adverb_first(s),
        _adverb_inside(s),
        _but_last(s),
        _purpose_last(s),
        _in_order(s),
    ):
        if found:
            yield found


def _fronted(s: Sentence, words: tuple[str, ...], rest: Tokens) -> Tokens | None:
    lowered = s.style.lowered(rest)
    if lowered is None:
        return None
    head = s.style.raised(tuple(Token(word) for word in words))
    return (*head, s.comma, replace(lowered[0], gap=" "), *lowered[1:])


def _early(s: Sentence, words: frozenset[str]) -> int:
    """Where the only one of some words stands, if that is in the first clause, or 0."""
    lows = [t.low for t in s.body]
    places = [i for i, low in enumerate(lows) if low in words]
    if not s.movable or len(places) != 1 or not 0 < places[0] < 12:
        return 0
    at = places[0]
    before = lows[:at]
    if (
        s.body[at].fixed
        or any(not low[0].isalnum() for low in before)
        or set(before) & (MARKERS | CONJUNCTIONS)
    ):
        return 0
    if before[0] in PREPOSITIONS or any(only_verb(low) and low not in AUXILIARIES for low in before):
        return 0
    after = lows[at + 1] if at + 1 < len(lows) else ""
    behind_verb = lows[at - 1] in AUXILIARIES
    before_verb = only_verb(after) or "VERB" in readings(after)
    return at if (behind_verb or before_verb) and after not in ("that", ",", "as", "to") else 0


def _also_first(s: Sentence) -> Tokens | None:
    """`X also did Y` -> `In addition, X did Y`."""
    at = _early(s, frozenset({"also"}))
    if not at or s.body[at - 1].low in ("but", "not"):
        return None
    return _fronted(s, ("in", "addition"), (*s.body[:at], *s.body[at + 1 :]))


def _adverb_first(s: Sentence) -> Tokens | None:
    """`X is currently Y` -> `Currently, X is Y`."""
    at = _early(s, _ADVERBS)
    if not at or (s.body[at + 1 : at + 2] and readings(s.body[at + 1].low) <= {"ADJ"}):
        return None
    return _fronted(s, (s.body[at].low,), (*s.body[:at], *s.body[at + 1 :]))


def _adverb_inside(s: Sentence) -> Tokens | None:
    """`Recently, X has done Y` -> `X has recently done Y`; `However, X` -> `X, however`."""
    lows = [t.low for t in s.body]
    if not s.movable or lows[0] not in _ADVERBS or lows[1:2] != [","] or len(lows) < 5:
        return None
    rest = s.body[2:]
    at = next((i for i, low in enumerate(lows[2:10]) if low in AUXILIARIES), 0)
    if not at or any(t.low in MARKERS | PREPOSITIONS - {"of"} or not t.text[0].isalnum() for t in rest[:at]):
        return None
    if lows[0] == "however" or rest[0].low in ("there", "it") or at + 1 == len(rest):
        return None
    word = Token(lows[0])
    return (*s.style.raised(rest[: at + 1]), word, *rest[at + 1 :])


def _but_last(s: Sentence) -> Tokens | None:
    """`But X` -> `X, however`; the same for `However, X`."""
    lows = [t.low for t in s.body]
    if not s.movable or lows[0] not in ("but", "however"):
        return None
    rest = s.body[2:] if lows[1] == "," else s.body[1:]
    if (
        {"say", "says", "said"} & set(lows)
        or len(rest) < 3
        or len(rest) > 18
        or set(lows[2:]) & {"however", "but", "although", ";", ":"}
        or rest[0].fixed
    ):
        return None
    return (*s.style.raised((replace(rest[0], gap=""), *rest[1:])), s.comma, Token("however"))


def _purpose_last(s: Sentence) -> Tokens | None:
    """`To see X, we did Y` -> `We did Y to see X`."""
    lows = [t.low for t in s.body]
    if not s.movable or lows[0] != "to" or lows.count(",") != 1 or "VERB" not in readings(lows[1]):
        return None
    at = lows.index(",")
    purpose, main = s.body[:at], s.body[at + 1 :]
    if len(main) < 3 or set(lows[at:]) & (MARKERS | {"and", "to"}) or any(t.fixed for t in s.body):
        return None
    front = s.style.raised((replace(main[0], gap=""), *main[1:]))
    return (*front, Token("in"), Token("order"), Token("to"), *purpose[1:])


def _in_order(s: Sentence) -> Tokens | None:
    """`we sequenced 60 genomes to find X` -> `... in order to find X`."""
    lows = [t.low for t in s.body]
    for i in range(4, len(lows) - 2):
        if lows[i] != "to" or lows[i + 1] not in _PURPOSES or s.body[i].fixed:
            continue
        before = lows[i - 1]
        noun = before.endswith("s") and "NOUN" in readings(before) and before not in _NO_PURPOSE
        if noun and "we" in lows[:i] and "order" not in lows:
            return (*s.body[:i], Token("in"), Token("order"), *s.body[i:])
    return None


def swapped(s: Sentence, rng: random.Random) -> Tokens | None:
    """`from A and B` -> `from B and A`, where both are single words or names; one such pair at random."""
    pairs = [pair for i in range(1, len(s.body) - 1) if (pair := _pair(s, i))]
    if not pairs:
        return None
    first, at, last = pairs[int(rng.random() * len(pairs))]
    a, b = s.body[first:at], s.body[at + 1 : last]
    return (*s.body[:first], *b, s.body[at], *a, *s.body[last:])


def _pair(s: Sentence, at: int) -> tuple[int, int, int] | None:
    """(start, middle, end) of a pair around `and` or `or` with a preposition before it."""
    if s.body[at].low not in ("and", "or"):
        return None
    first = at - 1
    while s.style.cased and first and s.body[first].name and s.body[first - 1].name:
        first -= 1
    last = at + 2
    while last < len(s.body) and s.body[at + 1].name and s.body[last].name and s.body[last].text[0].isalpha():
        last += 1
    a, b = s.body[first:at], s.body[at + 1 : last]
    before = s.body[first - 1].low if first else ""
    after = s.body[last].low if last < len(s.body) else ""
    if (after and after not in AUXILIARIES | PREPOSITIONS - {"of"} | {"both"}) or len(a) != len(b):
        return None
    names = s.style.cased and all(t.name for t in (*a, *b))
    if before not in PREPOSITIONS - {"to"} and not (names and not first):
        return None
    whole = all(_noun(t, last=not after) for t in (*a, *b)) and a[0].name == b[0].name
    paired = before != "between" or s.body[at].low == "and"
    return (first, at, last) if whole and paired else None


def _noun(token: Token, last: bool) -> bool:
    """Whether a word is a name or nothing but a noun; the last one, if a plural, may also be a verb."""
    low = token.low
    if token.fixed or not low.isalpha() or low in DETERMINERS | SUBJECTS | {"others", "more", "so", "then"}:
        return False
    plural = last and low.endswith("s") and readings(low) == {"NOUN", "VERB"}
    return token.name or plural or (readings(low) == {"NOUN"} and not low.endswith("ing"))
