"""The order of clauses and adverbials: the same parts of a sentence in other places."""

import itertools
import re
from collections.abc import Iterator
from dataclasses import replace

from dhp.perturb.rewriting.lexicon import (
    AUXILIARIES,
    CONJUNCTIONS,
    DETERMINERS,
    MARKERS,
    MONTHS,
    POSSESSIVES,
    PREPOSITIONS,
    SUBJECTS,
    WEEKDAYS,
    is_past,
    only_verb,
    readings,
)
from dhp.perturb.rewriting.tokens import Sentence, Token, Tokens
from dhp.perturb.rewriting.words import NUMBERS

BREAKS = frozenset(", ; : - -- – — ( ) [ ] / ...".split())
_SUBORDINATORS = {
    "because": "because",
    "although": "although",
    "though": "although",
    "while": "while",
    "whereas": "whereas",
    "when": "when",
    "if": "if",
    "once": "once",
    "unless": "unless",
    "until": "until",
    "after": "after",
    "before": "before",
    "as": "as",
    "despite": "despite",
    "amid": "amid",
    "following": "following",
}
_HEADS = frozenset(
    "because although though while when if once unless until after before despite since".split()
)
_PLACES = frozenset("in on at during within under among following amid after before since until by".split())
_SET_PHRASES = frozenset(
    "addition contrast fact particular general short turn other return all last first".split()
)
_SEASONS = "spring|summer|autumn|fall|winter|season|week|weekend|month|year|night|morning|afternoon|evening"
_DAY = "|".join(sorted(WEEKDAYS))
_MONTH = "|".join(sorted(MONTHS))
_TIME = re.compile(
    rf"(?:on )?(?:{_DAY})(?: (?:night|morning|afternoon|evening))?"
    rf"|on (?:\d\d? (?:{_MONTH})|(?:{_MONTH}) \d\d?)(?: \d{{4}})?"
    rf"|in (?:(?:early|late|mid) )?(?:(?:{_MONTH}) )?\d{{4}}|in (?:{_MONTH})"
    rf"|(?:earlier |later )?(?:this|last|next) (?:{_SEASONS}|{_DAY}|{_MONTH})"
    rf"|(?:\d+|a|one|{'|'.join(NUMBERS)}) (?:days?|weeks?|months?|years?|decades?) ago"
    r"|at the (?:end|start|beginning) of the (?:season|month|year|week)"
    r"|so far this season|for the first time since [\w ]{3,20}|in recent (?:years|decades|months)"
)
_QUESTIONS = frozenset("clear unclear known know see ask asked determine test wonder examine check".split())
_NOT_BEFORE_TIME = frozenset(
    "for about ahead following after since until before between from by than as".split()
)


def orders(s: Sentence) -> Iterator[Tokens]:
    """The body of a sentence with its parts in another order, in each way that keeps its meaning."""
    ways = (_clause_first, _clause_last, _time_first, _adverbial_last, _although, _but, _because)
    for way in ways:
        if found := way(s):
            yield found


def plain(tokens: Tokens) -> bool:
    """Whether there is a single clause, so that what stands before or behind it belongs to all of it."""
    lows = [t.low for t in tokens]
    for i, low in enumerate(lows):
        after = lows[i + 1] if i + 1 < len(lows) else ""
        if low in BREAKS or tokens[i].fixed or low in MARKERS - {"once"}:
            return False
        if low == "to" and "VERB" in readings(after):
            return False
        if low in CONJUNCTIONS and (
            after in SUBJECTS or only_verb(after) or is_past(after) or is_present(after)
        ):
            return False
        if low in CONJUNCTIONS and all(map(_finite, (lows[:i], lows[i + 1 :]))):
            return False
    return len(tokens) > 1


def _finite(lows: list[str]) -> bool:
    return any(low in AUXILIARIES or is_past(low) for low in lows)


def is_present(word: str) -> bool:
    return word.endswith("s") and readings(word) == {"VERB"}


def _joined(s: Sentence, first: Tokens, second: Tokens, comma: bool = True) -> Tokens | None:
    """`first, second` as one sentence; `second` was its start."""
    lowered = s.style.lowered(second)
    if lowered is None:
        return None
    rest = (replace(lowered[0], gap=" "), *lowered[1:])
    return (*s.style.raised(first), *((s.comma,) if comma else ()), *rest)


def _clause_first(s: Sentence) -> Tokens | None:
    """`X because Y` -> `Because Y, X`."""
    lows = [t.low for t in s.body]
    places = [i for i, low in enumerate(lows) if low in _SUBORDINATORS and i > 1 and not s.body[i].fixed]
    if not s.movable or len(places) != 1:
        return None
    at = places[0]
    main, clause = s.body[:at], s.body[at:]
    if main[-1].text == ",":
        main = main[:-1]
    if not plain(main) or not _whole(clause[1:]) or not _opens(lows, at):
        return None
    return _joined(s, (Token(_SUBORDINATORS[lows[at]]), *clause[1:]), main)


def _whole(tokens: Tokens) -> bool:
    """Whether a clause runs to the end of the sentence without another beside it."""
    lows = [t.low for t in tokens]
    if len(tokens) < 2 or any(low in BREAKS | {"but", "so", "yet"} for low in lows):
        return False
    beside = itertools.pairwise(lows)
    return not any(a in CONJUNCTIONS and (b in SUBJECTS | {"then"} or only_verb(b)) for a, b in beside)


def _opens(lows: list[str], at: int) -> bool:
    """Whether the word at a place really opens a clause or an adverbial of the whole sentence."""
    word, before, after = lows[at], lows[at - 1], lows[at + 1]
    if before == "," and word == "when":
        return False  # it tells what happens then
    if before in PREPOSITIONS | AUXILIARIES | CONJUNCTIONS | {
        "a",
        "an",
        "the",
        "not",
        "n't",
        "only",
        "just",
        "even",
    }:
        return False
    if before in (
        "shortly",
        "soon",
        "long",
        "days",
        "weeks",
        "months",
        "years",
        "hours",
        "minutes",
        "day",
        "week",
    ):
        return False
    if word == "as":
        near = lows[at + 2 : at + 5]
        subject = after in SUBJECTS or (after in DETERMINERS | POSSESSIVES and any(map(is_past, near)))
        return subject and before not in ("such", "well", "same", "known", "regarded", "described", "soon")
    if word == "if" and set(lows[:at]) & _QUESTIONS:
        return False
    if word in ("when", "if"):
        return before not in (
            "know",
            "sure",
            "see",
            "ask",
            "asked",
            "wonder",
            "wondered",
            "as",
        ) and _has_verb(lows, at)
    if word in ("after", "before", "until", "once", "despite", "following", "amid"):
        return _has_verb(lows, at) and lows[-1] != word
    return True


def _has_verb(lows: list[str], at: int) -> bool:
    """Whether some verb stands before a place, so that a clause can end there."""
    return any(low in AUXILIARIES or is_past(low) or "VERB" in readings(low) for low in lows[1:at])


def _clause_last(s: Sentence) -> Tokens | None:
    """`When X, Y` -> `Y when X`."""
    low = s.body[0].low
    clause, main = at_only_comma(s)
    if not main or low not in _HEADS or not plain(main) or not _whole(clause[1:]):
        return None
    if (
        main[0].low in ("he", "she", "it", "they", "his", "her", "its", "their")
        and clause[1].low not in SUBJECTS
    ):
        return None  # the pronoun would come before what it stands for
    head = (Token(low), *clause[1:])
    behind = (s.comma, *head) if low in ("although", "though", "while") else head
    return (*s.style.raised(main), *behind)


def at_only_comma(s: Sentence) -> tuple[Tokens, Tokens]:
    """What stands before and behind the only comma of a sentence; empty where there is none or another."""
    commas = [i for i, t in enumerate(s.body) if t.text == ","]
    if not s.movable or len(commas) != 1 or commas[0] < 2:
        return (), ()
    behind = s.body[commas[0] + 1 :]
    if behind and s.style.cased and not behind[0].text[0].isalpha():
        return (), ()
    return s.body[: commas[0]], behind


def _time_first(s: Sentence) -> Tokens | None:
    """`X on Monday` -> `On Monday, X`."""
    lows = [t.low for t in s.body]
    if not s.movable:
        return None
    for size in range(min(9, len(lows) - 3), 0, -1):
        if _TIME.fullmatch(" ".join(lows[-size:])):
            main = s.body[:-size]
            near = set(lows[-size - 4 : -size])
            if lows[-size - 2] == "for" and main[-1].name:
                near.discard("for")
            if not plain(main) or near & _NOT_BEFORE_TIME or lows[-size - 1] in PREPOSITIONS | DETERMINERS:
                return None
            if any(_TIME.search(t.low) for t in main) or not _has_verb([t.low for t in main], len(main)):
                return None
            return _joined(s, s.body[-size:], main)
    return None


def _adverbial_last(s: Sentence) -> Tokens | None:
    """`In Paris, X` -> `X in Paris`."""
    adverbial, main = at_only_comma(s)
    if not main or adverbial[0].low not in _PLACES or adverbial[1].low in _SET_PHRASES or len(adverbial) > 7:
        return None
    if not noun_phrase(adverbial[1:]) or not plain(main) or main[0].low in ("his", "her", "its", "their"):
        return None
    if any(t.low in _PLACES for t in main[-3:]) and adverbial[0].low == "by":
        return None
    small = (replace(adverbial[0], text=adverbial[0].text.lower(), gap=" "), *adverbial[1:])
    return (*s.style.raised(main), *small)


def noun_phrase(tokens: Tokens) -> bool:
    return not any(
        only_verb(t.low)
        or t.low in MARKERS | SUBJECTS | BREAKS | {"'", '"', "also", "then"}
        or t.fixed
        or t.low.endswith("ing")
        for t in tokens
    )


def _at_but(s: Sentence, word: str) -> tuple[Tokens, Tokens]:
    """The two clauses around `, but` or `, so`; empty where there are none or more."""
    lows = [t.low for t in s.body]
    places = [i for i, low in enumerate(lows) if low == word and i and s.body[i - 1].text == ","]
    if len(places) != 1 or lows.count(word) != 1:
        return (), ()
    first, second = s.body[: places[0] - 1], s.body[places[0] + 1 :]
    alone = not any(t.low in BREAKS or t.fixed for t in first) and len(second) > 1
    fresh = lows[0] not in MARKERS and not {"not", "n't", "neither"} & {t.low for t in first}
    return (first, second) if alone and fresh and len(first) > 1 and starts_with_subject(second) else ((), ())


def starts_with_subject(tokens: Tokens) -> bool:
    """Whether tokens start with a subject of their own."""
    if not tokens:
        return False
    first = tokens[0]
    if first.low in SUBJECTS | DETERMINERS | POSSESSIVES | set(NUMBERS):
        return True
    if first.low in PREPOSITIONS | AUXILIARIES | MARKERS or "VERB" in readings(first.low):
        return first.name and first.low not in PREPOSITIONS | MARKERS
    return first.name or "NOUN" in readings(first.low)


def _although(s: Sentence) -> Tokens | None:
    """`X, but Y` -> `Although X, Y`."""
    first, second = _at_but(s, "but")
    if not first:
        return None
    lowered = s.style.lowered(first)
    if lowered is None:
        return None
    head = (Token("although"), replace(lowered[0], gap=" "), *lowered[1:])
    return (*s.style.raised(head), s.comma, *second)


def _but(s: Sentence) -> Tokens | None:
    """`Although X, Y` -> `X, but Y`; `X, although Y` -> `X, but Y`."""
    clause, main = at_only_comma(s)
    if not main:
        return None
    if clause[0].low == "although" and starts_with_subject(clause[1:]) and starts_with_subject(main):
        return (*s.style.raised(clause[1:]), s.comma, Token("but"), *main)
    if (
        main[0].low in ("although", "whereas")
        and starts_with_subject(main[1:])
        and clause[0].low not in MARKERS
    ):
        return (*clause, s.comma, Token("but"), *main[1:])
    return None


def _because(s: Sentence) -> Tokens | None:
    """`X, so Y` -> `Because X, Y`."""
    first, second = _at_but(s, "so")
    lowered = s.style.lowered(first) if first else None
    if not lowered or second[0].low in ("that", "far", "long"):
        return None
    head = (Token("because"), replace(lowered[0], gap=" "), *lowered[1:])
    return (*s.style.raised(head), s.comma, *second)
