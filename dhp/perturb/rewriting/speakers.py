"""Who says it: the speaker of a statement before or behind it."""

from collections.abc import Iterator
from dataclasses import replace

from dhp.perturb.rewriting.clauses import BREAKS, at_only_comma, is_present, noun_phrase, starts_with_subject
from dhp.perturb.rewriting.lexicon import (
    AUXILIARIES,
    CONJUNCTIONS,
    MARKERS,
    OBJECT_CASE,
    PREPOSITIONS,
    SUBJECTS,
    WEEKDAYS,
    is_past,
    only_verb,
    readings,
)
from dhp.perturb.rewriting.tokens import Sentence, Token, Tokens
from dhp.perturb.rewriting.words import RephrasingLists


def speakers(s: Sentence, lists: RephrasingLists) -> Iterator[Tokens]:
    """The body of a sentence with its speaker in another place."""
    for found in (_speaker_first(s, lists), _speaker_last(s, lists), _source_last(s)):
        if found:
            yield found


def _speaker_first(s: Sentence, lists: RephrasingLists) -> Tokens | None:
    """`Y says (that) X` -> `According to Y, X`."""
    lows = [t.low for t in s.body]
    at = next((i for i, t in enumerate(s.body) if t.low in lists.said and not t.name), 0)
    if not s.movable or not 0 < at < 8 or not noun_phrase(s.body[1:at]) or lows[0] in MARKERS | PREPOSITIONS:
        return None
    said = s.body[at + 1 :]
    if said and said[0].low == "that":
        said = said[1:]
    elif len(said) < 3 or not _clause_starts(said):
        return None
    if len(said) < 3 or any(t.low in CONJUNCTIONS and _verb_next(said, i) for i, t in enumerate(said)):
        return None
    speaker = s.style.lowered(s.body[:at])
    if (
        speaker is None
        or lows[0] in ("it", "there", "this", "i", "we")
        or (not noun_phrase(s.body[:1]) and at > 1)
    ):
        return None
    return _according(s, speaker, said)


def _verb_next(tokens: Tokens, i: int) -> bool:
    after = tokens[i + 1].low if i + 1 < len(tokens) else ""
    return only_verb(after) or is_past(after) or is_present(after)


def _clause_starts(tokens: Tokens) -> bool:
    """Whether a subject with its verb follows, not an object."""
    lows = [t.low for t in tokens[:8]]
    if lows[0] in SUBJECTS:
        return lows[0] != "it" or only_verb(lows[1])
    if lows[1] in AUXILIARIES and readings(lows[0]) & {"NOUN"}:
        return True
    if lows[0] in WEEKDAYS | PREPOSITIONS | {"responsibility"} or not (
        starts_with_subject(tokens) or lows[0][0].isdigit()
    ):
        return False
    finite = [
        i
        for i, low in enumerate(lows)
        if low in AUXILIARIES - {"being", "been", "having", "be"} or is_past(low)
    ]
    return bool(finite) and finite[0] > 0 and not any(low in MARKERS | BREAKS for low in lows[: finite[0]])


def _according(s: Sentence, speaker: Tokens, said: Tokens) -> Tokens:
    first = speaker[0]
    if len(speaker) == 1 and first.low in OBJECT_CASE:
        first = replace(first, text=OBJECT_CASE[first.low])
    head = (*s.style.raised((Token("according"),)), Token("to"), replace(first, gap=" "), *speaker[1:])
    return (*head, s.comma, replace(said[0], gap=" "), *said[1:])


def _speaker_last(s: Sentence, lists: RephrasingLists) -> Tokens | None:
    """`X, Y said` and `X, said Y` -> `According to Y, X`."""
    commas = [i for i, t in enumerate(s.body) if t.text == ","]
    if not s.movable or not commas:
        return None
    for at in commas[-2:]:
        said, tail = s.body[:at], s.body[at + 1 :]
        if not said or not 1 < len(tail) < 12 or any(t.fixed for t in s.body):
            continue
        if tail[1].text in BREAKS or tail[1].low in PREPOSITIONS - {"to"}:
            continue
        if tail[-1].low in lists.said and noun_phrase(tail[:-1]):
            speaker = tail[:-1]
        elif tail[0].low in lists.said | {"warns", "warned"} and noun_phrase(
            tuple(t for t in tail[1:] if t.text != ",")
        ):
            speaker = tail[1:]
        elif tail[0].low == "according" and tail[1].low == "to" and len(tail) > 2 and tail[2].low != "to":
            speaker = tail[2:]
        else:
            continue
        lowered = s.style.lowered(said)
        return _according(s, speaker, lowered) if lowered else None
    return None


def _source_last(s: Sentence) -> Tokens | None:
    """`According to Y, X` -> `X, according to Y`."""
    source, main = at_only_comma(s)
    if not main or source[0].low != "according" or source[1].low != "to":
        return None
    return (*s.style.raised(main), s.comma, replace(source[0], text="according", gap=" "), *source[1:])
