"""Voice, and small changes of form: ages, contractions, numerals."""

import re
from collections.abc import Iterator
from dataclasses import replace

from dhp.perturb.rewriting.clauses import plain
from dhp.perturb.rewriting.lexicon import (
    AUXILIARIES,
    CONJUNCTIONS,
    DETERMINERS,
    HAVE,
    MARKERS,
    MODALS,
    MONTHS,
    OBJECT_CASE,
    POSSESSIVES,
    PREPOSITIONS,
    SUBJECTS,
    WEEKDAYS,
    inflected,
    is_participle,
    is_plural,
    lemma,
    only_verb,
    readings,
)
from dhp.perturb.rewriting.tokens import Sentence, Token, Tokens
from dhp.perturb.rewriting.words import NUMBERS, RephrasingLists

_SUBJECT_CASE = {obj: subject for subject, obj in OBJECT_CASE.items()}
_ENDS = (PREPOSITIONS - {"of"}) | MARKERS | frozenset(", ; : - -- – ( ) as".split())
_NEGATED = {"will": "wo", "can": "ca"}
_EXPANDED = {"wo": "will", "ca": "can"}
_UNITS = frozenset("per percent percentage cent million billion thousand hundred dozen".split())


def forms(s: Sentence, lists: RephrasingLists) -> Iterator[Tokens]:
    """The body of a sentence with its words in another order, in each form that says the same."""
    for found in (_active(s), _passive(s, lists)):
        if found:
            yield found


def touches(s: Sentence) -> Iterator[Tokens]:
    """The body of a sentence with each small change that leaves the order."""
    yield from filter(None, (change(s) for change in _TOUCHES))


def touched(s: Sentence) -> Tokens:
    """The body of a sentence with all small changes."""
    for change in _TOUCHES:
        s = replace(s, body=change(s) or s.body)
    return s.body


def _cased(tokens: Tokens, pronouns: dict[str, str]) -> Tokens:
    """Tokens with the case of an only pronoun changed."""
    if len(tokens) == 1 and tokens[0].low in pronouns:
        return (replace(tokens[0], text=pronouns[tokens[0].low]),)
    return tokens


def _subject_size(s: Sentence) -> int:
    """Words before the first auxiliary, if they are one noun phrase; 0 otherwise."""
    lows = [t.low for t in s.body]
    at = next((i for i, low in enumerate(lows) if low in AUXILIARIES), 0)
    inside = s.body[:at]
    bad = any(t.low in _ENDS - {"as"} | CONJUNCTIONS or t.fixed or only_verb(t.low) for t in inside)
    return 0 if bad or at > 8 or lows[0] in PREPOSITIONS | MARKERS | {"there", "all", "both"} else at


def _object_size(tokens: Tokens) -> int:
    """Words of the noun phrase at the start, up to a preposition, mark or the end; 0 where there is none."""
    lows = [t.low for t in tokens]
    size = next(
        (i for i, low in enumerate(lows) if low in _ENDS or low in ("and", "or", "last", "this", "next")),
        len(lows),
    )
    phrase = tokens[:size]
    first = phrase[0] if phrase else None
    if (
        first is None
        or size > 7
        or any(t.fixed or only_verb(t.low) or t.low in SUBJECTS | WEEKDAYS for t in phrase[1:])
    ):
        return 0
    if lows[size : size + 1] in (["and"], ["or"], ["to"], ["that"]) or first.low in WEEKDAYS | MONTHS:
        return 0
    opens = (
        first.low in (DETERMINERS | POSSESSIVES | {"him", "them", "us"}) - {"another", "each", "no"}
        or first.name
    )
    return size if opens else 0


def _active(s: Sentence) -> Tokens | None:
    """`X was VERBed by Y` -> `Y VERBed X`."""
    at = _subject_size(s)
    lows = [t.low for t in s.body]
    chain = lows[at : at + 2]
    by = next((i for i, low in enumerate(lows[: at + 5]) if low == "by" and i > at), 0)
    if not (s.movable and at and by) or lows.count("by") != 1 or any(t.fixed for t in s.body):
        return None
    participle = lows[by - 1]
    if (
        not is_participle(participle)
        or "and" in lows
        or "or" in lows
        or set(lows) & (MARKERS - {"after", "when", "before"})
    ):
        return None
    agent = s.body[by + 1 :]
    size = _object_size(agent)
    if not size or any(low in SUBJECTS | POSSESSIVES for low in lows[by + 1 : by + 1 + size]):
        return None
    middle = s.body[at + 1 : by - 1]
    verb = lemma(participle, "VERB")
    if chain[0] in ("was", "were") and all(t.low.endswith("ly") for t in middle):
        head: Tokens = (*middle, Token(inflected(verb, "VBD")))
    elif chain[0] in MODALS and chain[1] == "be" and by == at + 3:
        head = (s.body[at], Token(verb))
    else:
        return None
    patient = s.style.lowered(s.body[:at])
    if patient is None or lows[0] in ("it", "this", "i"):
        return None
    patient = _cased(patient, OBJECT_CASE)
    doer = _cased(agent[:size], _SUBJECT_CASE)
    front = s.style.raised((replace(doer[0], gap=""), *doer[1:]))
    return (*front, *head, replace(patient[0], gap=" "), *patient[1:], *agent[size:])


def _passive(s: Sentence, lists: RephrasingLists) -> Tokens | None:
    """`Y VERBed X` -> `X was VERBed by Y`, for verbs of the list."""
    lows = [t.low for t in s.body]
    at = next((i for i, low in enumerate(lows) if low in lists.participles or low in lists.infinitives), 0)
    if not s.movable or not 0 < at < 8 or any(t.fixed for t in s.body):
        return None
    size = _object_size(s.body[at + 1 :])
    patient, rest = s.body[at + 1 : at + 1 + size], s.body[at + 1 + size :]
    if (
        not size
        or any(t.low in POSSESSIVES | {"'s", "'"} for t in patient)
        or not plain((*patient, *rest, Token("x")))
    ):
        return None
    verbs = _passive_verbs(lows, at, patient, lists)
    doer = s.body[: at - 1] if lows[at - 1] in AUXILIARIES else s.body[:at]
    if not verbs or not doer or not _subject_like(doer):
        return None
    lowered = s.style.lowered(doer)
    if lowered is None:
        return None
    agent = _cased(lowered, OBJECT_CASE)
    front = _cased(patient, _SUBJECT_CASE)
    front = s.style.raised((replace(front[0], gap=""), *front[1:]))
    behind = (Token("by"), replace(agent[0], gap=" "), *agent[1:])
    return (*front, *(Token(v) for v in verbs), *behind, *rest)


def _subject_like(tokens: Tokens) -> bool:
    first = tokens[0].low
    known = first in DETERMINERS | (SUBJECTS - {"it", "there"}) or (
        tokens[0].name and first not in PREPOSITIONS | MARKERS
    )
    inside = any(
        t.low in _ENDS | CONJUNCTIONS | AUXILIARIES | POSSESSIVES or only_verb(t.low) for t in tokens
    )
    adverb = readings(tokens[-1].low) == {"ADV"} or tokens[-1].low in ("also", "not", "n't", "to")
    return known and not inside and not adverb


def _passive_verbs(lows: list[str], at: int, patient: Tokens, lists: RephrasingLists) -> tuple[str, ...]:
    before, verb = lows[at - 1], lows[at]
    number = _number(patient)
    if before in MODALS and verb in lists.infinitives:
        return (before, "be", lists.infinitives[verb])
    if not number or verb not in lists.participles:
        return ()
    if before in HAVE - {"having"}:
        have = "had" if before == "had" else {"singular": "has", "plural": "have"}[number]
        return (have, "been", lists.participles[verb])
    if before in AUXILIARIES | {"to"}:
        return ()
    return ({"singular": "was", "plural": "were"}[number], lists.participles[verb])


def _number(phrase: Tokens) -> str:
    """`singular` or `plural`; empty where it cannot be told."""
    lows = [t.low for t in phrase]
    head = lows[lows.index("of") - 1] if "of" in lows else lows[-1]
    if lows[0] in ("a", "an", "this", "that", "him", "it"):
        return "singular"
    if lows[0] in ("these", "those", "several", "many", "them", "us", "both"):
        return "plural"
    if is_plural(head) and head.endswith("s"):
        return "plural"
    clear = "NOUN" in readings(head) and not head.endswith("s") and head not in ("people", "police", "data")
    return "singular" if lows[0] == "the" and clear and phrase[-1].text.islower() else ""


def _aged(s: Sentence) -> Tokens | None:
    """`NAME, 31,` -> `NAME, aged 31,`."""
    for i in range(1, len(s.body) - 2):
        before, comma, age, after = s.body[i - 1 : i + 3]
        if (
            before.name
            and comma.text == after.text == ","
            and re.fullmatch(r"[1-9]\d", age.text)
            and not age.fixed
        ):
            return (*s.body[: i + 1], Token("aged"), *s.body[i + 1 :])
    return None


def _expanded(s: Sentence) -> Tokens | None:
    """Contractions written out."""
    full = {"n't": "not", "'re": "are", "'ve": "have", "'ll": "will"}
    if not any(t.low in full and not t.fixed for t in s.body):
        return None
    result: list[Token] = []
    for token, after in zip(s.body, [*s.body[1:], None], strict=True):
        if token.low in full and not token.fixed:
            joined = result and result[-1].low == "can"
            token = Token(full[token.low], "" if joined else " ")
        elif token.low in _EXPANDED and after and after.low == "n't":
            text = _EXPANDED[token.low]
            token = replace(token, text=text.capitalize() if token.name else text)
        result.append(token)
    return tuple(result)


def _contracted(s: Sentence) -> Tokens | None:
    """`did not` -> `didn't`, where the text is not one of science in lower case."""
    able = (
        "is",
        "are",
        "was",
        "were",
        "do",
        "does",
        "did",
        "has",
        "have",
        "had",
        "will",
        "can",
        "could",
        "would",
    )
    for i in range(1, len(s.body)):
        verb, word = s.body[i - 1], s.body[i]
        if s.style.cased and word.low == "not" and verb.low in able and not word.fixed:
            stem = replace(verb, text=_NEGATED.get(verb.low, verb.text))
            return (*s.body[: i - 1], stem, Token("n't", " " if s.style.spaced else ""), *s.body[i + 1 :])
    return None


def _numerals(s: Sentence) -> Tokens | None:
    """`3 sites` -> `three sites` throughout; None where some number cannot be written so."""
    result = list(s.body)
    for i, (token, after) in enumerate(zip(s.body, s.body[1:], strict=False)):
        counted = (
            after.text.islower() and len(after.text) > 3 and after.low not in _UNITS and is_plural(after.low)
        )
        if token.text in "23456789" and len(token.text) == 1 and counted and not token.fixed:
            if i and s.body[i - 1].low in ("to", "or", "and", "between", "group", "type", "stage"):
                return None
            result[i] = replace(token, text=NUMBERS[int(token.text) - 2])
    return tuple(result) if result != list(s.body) else None


def _negated(s: Sentence) -> Tokens | None:
    return _expanded(s) or _contracted(s)


def _reduced(s: Sentence) -> Tokens | None:
    """`a book that was written by X` -> `a book written by X`."""
    lows = [t.low for t in s.body]
    for i in range(2, len(lows) - 3):
        relative = lows[i] in ("that", "which", "who") and lows[i + 1] in ("is", "are", "was", "were")
        noun = "NOUN" in readings(lows[i - 1]) and not only_verb(lows[i - 1])
        passive = is_participle(lows[i + 2]) and lows[i + 3] in PREPOSITIONS
        if relative and noun and passive and lows[0] != "it" and not s.body[i].fixed:
            return (*s.body[:i], *s.body[i + 2 :])
    return None


def _that_dropped(s: Sentence) -> Tokens | None:
    """`he said that they left` -> `he said they left`."""
    lows = [t.low for t in s.body]
    for i in range(2, len(lows) - 2):
        said = lemma(lows[i - 1], "VERB") in ("say", "think", "believe", "hope", "know", "claim", "feel")
        clause = lows[i + 1] in SUBJECTS | {"the"}
        if said and lows[i] == "that" and clause and lows[i - 2] not in DETERMINERS and not s.body[i].fixed:
            return (*s.body[:i], *s.body[i + 1 :])
    return None


_TOUCHES = (_aged, _negated, _numerals, _reduced, _that_dropped)
