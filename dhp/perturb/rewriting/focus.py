"""The same statement from another side: owners, appositions, winners and losers, emphasis."""

import re
from collections.abc import Iterator
from dataclasses import replace

from dhp.perturb.rewriting.clauses import plain
from dhp.perturb.rewriting.lexicon import (
    AUXILIARIES,
    CONJUNCTIONS,
    DETERMINERS,
    MARKERS,
    POSSESSIVES,
    PREPOSITIONS,
    SUBJECTS,
    is_participle,
    is_past,
    only_verb,
    readings,
)
from dhp.perturb.rewriting.tokens import Sentence, Token, Tokens
from dhp.perturb.rewriting.words import RephrasingLists

_SCORE = re.compile(r"\d+-\d+")


def focuses(s: Sentence, lists: RephrasingLists) -> Iterator[Tokens]:
    """The body of a sentence told from another side."""
    for found in (_lost(s), _owner_last(s, lists), _apposition_first(s)):
        if found:
            yield found


def emphasis(s: Sentence) -> Tokens | None:
    """`X did Y` -> `It was X that did Y`, where the subject is plain to see."""
    lows = [t.low for t in s.body]
    finite = (i for i, t in enumerate(s.body[:10]) if i and not (s.style.cased and t.name) and _finite(t.low))
    size = next(finite, 0)
    if not size or not s.movable or len(lows) < size + 3 or not _emphatic(s.body[:size]):
        return None
    verb = lows[size]
    following = lows[size + 1]
    acts = is_participle(following) or following.endswith("ing") or following in PREPOSITIONS
    stressed = acts or (s.style.cased and following not in ("a", "an", "one"))
    if verb in ("is", "are") and not stressed:
        return None  # a definition, which has nothing to stress
    if is_past(lows[-1]) or lows[-1] in ("say", "says"):
        return None
    if verb in ("said", "admitted", "claimed", "be", "been", "being", "having"):
        return None
    if is_participle(verb) and verb not in AUXILIARIES:
        doubtful = any(low in PREPOSITIONS for low in lows[:size]) or any(
            _finite(low) for low in lows[size + 1 :]
        )
        if doubtful or lows[0] in ("this", "these"):
            return None
    subject = s.style.lowered(s.body)
    definite = (
        lows[0] in POSSESSIVES | {"the", "this", "these"} or not s.style.cased or lows[size - 1].endswith("s")
    )
    if subject is None or (subject != s.body and not definite):
        return None
    tense = "was" if is_past(verb) or verb in ("was", "were", "did", "had") else "is"
    front = s.style.raised((Token("it", s.body[0].gap), Token(tense)))
    return (*front, replace(subject[0], gap=" "), *subject[1:size], Token("that"), *s.body[size:])


def _finite(word: str) -> bool:
    present = word.endswith("s") and word[0].isalpha() and readings(word) == {"VERB"}
    return word in AUXILIARIES or present or is_past(word)


def _emphatic(subject: Tokens) -> bool:
    """Whether a noun phrase may be stressed: definite or a name, without a pronoun or another clause."""
    lows = [t.low for t in subject]
    bad = SUBJECTS | MARKERS | {"no", "neither", "none", "also", "then", "now", "not"}
    adverb = readings(lows[-1]) <= {"ADV"} and not subject[-1].name
    words = all(t.text[0].isalnum() or t.low == "'s" for t in subject) and not any(t.fixed for t in subject)
    first = lows[0] == "as" or lows[0] in DETERMINERS - {"the", "this", "these"} | PREPOSITIONS | CONJUNCTIONS
    lone = len(lows) == 1 and lows[0] in DETERMINERS | POSSESSIVES
    return words and not set(lows) & bad and not adverb and not lone and not first


def _owner_last(s: Sentence, lists: RephrasingLists) -> Tokens | None:
    """`Ghent 's mayor` -> `the mayor of Ghent`."""
    lows = [t.low for t in s.body]
    for i in range(1, len(lows) - 1):
        if lows[i] != "'s" or lows[i + 1] not in lists.owned or s.body[i].fixed:
            continue
        after = lows[i + 2] if i + 2 < len(lows) else ""
        if after and after not in AUXILIARIES | PREPOSITIONS - {"of"} | {",", "also"} and not is_past(after):
            continue
        start = _owner_start(s.body, i)
        if start is None or (start and lows[start - 1] in DETERMINERS | CONJUNCTIONS | {"of", "'s"}):
            continue
        if (start and s.body[start - 1].name) or (lows[start - 1] in POSSESSIVES and start):
            continue
        owner = s.body[start:i] if start else s.style.lowered(s.body[:i])
        if owner is None:
            continue
        head = (Token("the", s.body[start].gap), Token(s.body[i + 1].text, " "), Token("of"))
        phrase = (*(head if start else s.style.raised(head)), replace(owner[0], gap=" "), *owner[1:])
        return (*s.body[:start], *phrase, *s.body[i + 2 :])
    return None


def _owner_start(tokens: Tokens, at: int) -> int | None:
    """Where the owner before `'s` starts: a name, or a noun with `the`; None where that is not clear."""
    start = at
    while start and tokens[start - 1].name and tokens[start - 1].text[0].isalpha() and start > at - 4:
        start -= 1
    if start < at and tokens[start].low not in DETERMINERS | POSSESSIVES:
        return start
    if at > 1 and tokens[at - 2].low == "the" and "NOUN" in readings(tokens[at - 1].low):
        return at - 2
    return None


def _apposition_first(s: Sentence) -> Tokens | None:
    """`NAME, a clerk, did X` -> `A clerk, NAME, did X`."""
    size = _name(s.body)
    lows = [t.low for t in s.body]
    if not s.movable or not size or lows[size : size + 1] != [","] or "," not in lows[size + 1 :]:
        return None
    end = lows.index(",", size + 1)
    apposition, behind = s.body[size + 1 : end], lows[end + 1 :]
    if not 1 < len(apposition) < 10 or apposition[0].low not in ("a", "an", "the", "her", "his", "its"):
        return None
    if any(only_verb(t.low) or t.low in MARKERS or t.fixed for t in apposition) or not behind:
        return None
    if behind[0] not in AUXILIARIES and not is_past(behind[0]):
        return None
    if apposition[0].low in POSSESSIVES or s.style.lowered(s.body) != s.body:
        return None
    front = s.style.raised((replace(apposition[0], gap=""), *apposition[1:]))
    return (*front, s.comma, replace(s.body[0], gap=" "), *s.body[1:size], *s.body[end:])


def _lost(s: Sentence) -> Tokens | None:
    """`X beat Y 2-0` -> `Y lost 2-0 to X`."""
    lows = [t.low for t in s.body]
    at = next((i for i, low in enumerate(lows) if low in ("beat", "defeated")), 0)
    size = _name(s.body)
    if not s.movable or not at or size != at:
        return None
    behind = s.body[at + 1 :]
    loser = _name(behind)
    if not loser or len(behind) <= loser or not _SCORE.fullmatch(behind[loser].text):
        return None
    rest = behind[loser + 1 :]
    if rest and (_SCORE.fullmatch(rest[0].text) or rest[0].text in "(," or not plain((*behind[:2], *rest))):
        return None
    front = (replace(behind[0], gap=""), *behind[1:loser])
    return (
        *front,
        Token("lost"),
        behind[loser],
        Token("to"),
        replace(s.body[0], gap=" "),
        *s.body[1:at],
        *rest,
    )


def _name(tokens: Tokens) -> int:
    """How many words at the start look like the name of somebody or something."""
    size = next((i for i, t in enumerate(tokens) if not (t.name and t.text[0].isalpha())), len(tokens))
    return (
        size
        if 0 < size < 5 and tokens[0].low not in DETERMINERS | POSSESSIVES | PREPOSITIONS | SUBJECTS
        else 0
    )
