"""What the sentences of an answer state: a value, and the words of the closed list that lead up to it.

A clause states a rating if each of its words, from the value back to where the clause begins, is of the
list (`words.yaml`). A single other word (`not`, `critics`, `hotel`) makes it none, so there is no list of
what may be wrong.
"""

import functools
import itertools
import math
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from re import Match

from dhp.judge.extraction.behind import of_other_criterion
from dhp.judge.extraction.grammar import (
    BARE,
    FINAL,
    JUDGED,
    LABELLED,
    NAMED,
    RESULT,
    SENTENCE_END,
    STATED,
    Clause,
    Grammar,
    Statement,
    is_of_an_item,
    starts,
)
from dhp.judge.extraction.values import Value
from dhp.judge.extraction.whose import is_of_the_text, leads_to_a_sentence
from dhp.judge.extraction.words import WORD

_MOST_VALUES = 40
"""A sentence of more numbers states no rating."""
_LONGEST_LEAD = 240
"""Characters before a value in which its clause must stand."""


def statements(text: str, grammar: Grammar) -> list[Statement]:
    """Every value that a clause of a sentence states, wherever it stands; values alone are not among them."""
    stated: list[Statement] = []
    places = [match.start() for match in grammar.begins.finditer(text)]
    for start, end in itertools.pairwise(
        [*starts(text, letters=grammar.chooses), len(text)] if places else []
    ):
        first = bisect_left(places, start)
        if first < len(places) and places[first] < end:
            stated += (s for s in _of_sentence(text, start, end, grammar) if s.kind != BARE)
    return stated


def bare(text: str, start: int, grammar: Grammar) -> Statement | None:
    """The value, with small words before it, with which the sentence at `start` begins."""
    end = next((m.end() for m in SENTENCE_END.finditer(text, start)), len(text))
    stated = (s for s in _of_sentence(text, start, end, grammar) if s.kind == BARE)
    return next(stated, None)


@functools.lru_cache(maxsize=256)
def _of_sentence(text: str, start: int, end: int, grammar: Grammar) -> tuple[Statement, ...]:
    """What a sentence states; it is looked at as a statement and as the place of a value alone."""
    return tuple(_values_with_clauses(text, start, end, grammar))


def _values_with_clauses(text: str, start: int, end: int, grammar: Grammar) -> Iterator[Statement]:
    places = list(itertools.islice(grammar.begins.finditer(text, start, end), _MOST_VALUES + 1))
    if not places or len(places) > _MOST_VALUES:
        return
    scales = list(_SCALE.finditer(text, start, end)) if _SCALE_WORD.search(text, start, end) else []
    done, first = start, True
    for match in places:
        place = match.start()
        if place < done or any(scale.start() <= place < scale.end() for scale in scales):
            continue
        value = grammar.read(text, place)
        if value is None:
            continue
        done, later, first = max(done, value.end), not first, False
        uppers = [upper for scale in scales if scale.end() <= place and (upper := scale.lastgroup)]
        if uppers and not grammar.chooses and float(scales[len(uppers) - 1][uppers[-1]]) != grammar.high:
            value = value._replace(number=math.nan)
        clause = clause_before(text, start, place, grammar)
        statement = None if clause is None else _statement(text, place, value, clause, grammar)
        if statement is not None and not (later and grammar.chooses and statement.kind == BARE):
            yield statement


# The words before a value --------------------------------------------------------------------------------

_SCALE_WORD = re.compile(r"scale|range|out of|从", re.I)
_SCALE = re.compile(
    r"(?:\b(?:on|from|using|out of|of|in) )?(?:\b(?:an?|the) )?\b(?:scale|range) (?:of|from|is|=|:)? ?-?\d+"
    r"(?: ?\([^()\d]{1,40}\))?(?: ?(?:-|to|and|through) ?\+?(?P<high>\d+))?(?: ?\([^()\d]{1,40}\))?"
    r"|\bon (?:an?|the) -?\d+ ?(?:-|to) ?(?P<top>\d+)(?:[- ]point)? scale"
    r"|\bout of (?P<whole>\d+)(?=[ :)\]]*[:=])|从 ?\d+ ?[到至-] ?(?P<han>\d+)(?: ?分)?",
    re.I,
)
"""Where a sentence names the scale."""
_TOKEN = re.compile(
    rf"(?P<scale>{_SCALE.pattern})|(?P<aside>[(\[][^()\[\]\n]{{1,60}}[)\]])"
    rf"|(?P<word>{WORD}\.?)|(?P<mark>\S)",
    re.I,
)
_BEFORE_VALUE = frozenset("\"'([{:=|~*-•·】✅❌⭐★🌟✓✔👍")
_PARTS = frozenset(":=|>-】")
_BOUNDARIES = frozenset(",，、;:()[]{}|-.…!•·*【】✅❌⭐★🌟✓✔👍>")
_SUBORDINATES = frozenset("that dass daß que che dat att".split())
"""Words that make what follows depend on what stands before, which is then not all of the list."""
_ITEM = re.compile(r"[^\w“”]*(?:(?:\d{1,2}|[A-Za-z])[.):])?[^\w“”]*")
_DIGIT = re.compile(r"\d")
_OF_OTHERS = re.compile(
    r"[(\[](?:of |for )?(?:the )?(?:source|reference|original|gold|human|previous|earlier|old|baseline|target"
    r"|expected|max(?:imum)?[)\]]|min(?:imum)?[)\]])\b",
    re.I,
)


def clause_before(text: str, start: int, place: int, grammar: Grammar) -> Clause | None:
    """The clause that leads from the beginning of a sentence, or of its own, to the value at `place`."""
    tokens = list(_TOKEN.finditer(text, max(start, place - _LONGEST_LEAD), place))
    parts = grammar.parts
    words, begins = list[str](), list[int]()
    parted, whole = False, True
    while tokens:
        token = tokens.pop()
        known = _known(token, parts)
        if known:
            words[:0], begins[:0] = known, [token.start()] * len(known)
            parted = parted or (token["aside"] is not None and len(words) == len(known))
        elif known is not None or token[0] in "\"'":
            parted = parted or (token["aside"] is not None and not words)
        elif not words and _may_stand_before(text, token):
            parted = parted or token[0] in _PARTS
        elif token["mark"] and not words and token[0] not in ",;.!…)、，":
            return None  # `> 3`
        else:
            whole = token[0] in _BOUNDARIES
            tokens.append(token)
            break
    if not words and not tokens:
        label = _label_above(text, start, grammar)
        return label or Clause(start, start, (), frozenset(), parted, True, True)
    pure = whole and _is_pure(text, start, tokens, parts)
    first = next((i for i, word in enumerate(words) if whole or "opens" in grammar.roles(word)), len(words))
    lead = [*words[:first], *(token[0].lower() for token in tokens[-1:])]
    if not whole and not _SUBORDINATES.isdisjoint(lead):
        return None  # `it is not true that I rate it 4`
    del words[:first], begins[:first]
    if not words and not pure and not (whole and grammar.section):
        return None
    has = frozenset(role for word in words for role in grammar.roles(word))
    return Clause(
        start, start if pure else begins[0] if begins else place, tuple(words), has, parted, whole, pure
    )


def _known(token: Match[str], parts: Callable[[str], list[str]]) -> list[str] | None:
    """The words of a token, none where it explains the scale; None if it is not of the list."""
    if token["word"]:
        return parts(token[0]) or None
    if token["scale"] or (token["aside"] and _DIGIT.search(token[0]) and not _OF_OTHERS.match(token[0])):
        return []
    known = [parts(word) for word in re.findall(rf"{WORD}|[^\w\s()\[\],]", token["aside"] or "")]
    return list(itertools.chain(*known)) if known and all(known) else None


def _may_stand_before(text: str, token: Match[str]) -> bool:
    """Whether a mark may stand between a label and its value: two stars, or `>` alone, may not."""
    before = text[token.start() - 1 : token.start()]
    if token[0] in "[({*:" or (token[0] == ">" and before in "-=" and before):
        return True
    return token[0] in _BEFORE_VALUE and token[0] != before


def _is_pure(text: str, start: int, tokens: Sequence[Match[str]], parts: Callable[[str], list[str]]) -> bool:
    """Whether what stands before a clause in its sentence is of words of the list as well."""
    if not tokens or _ITEM.fullmatch(text, start, tokens[-1].end()):
        return True
    near = tokens[0].start() <= start + 12
    return near and all(
        token["scale"]
        or (token["mark"] and token[0] not in "“”" and not token[0].isdigit())
        or (token["word"] and parts(token[0]))
        for token in tokens
    )


_LABEL_LINE = re.compile(r"[^\n]{1,80}(?= ?\n{1,3} ?\Z)")


def _label_above(text: str, start: int, grammar: Grammar) -> Clause | None:
    """The clause of a value that stands alone at the beginning of a line, below a line that is its label."""
    if not start or text[start - 1] != "\n":
        return None
    line = max(text.rfind("\n", 0, len(text[:start].rstrip())) + 1, start - 84)
    above = _LABEL_LINE.match(text, line, start)
    clause = clause_before(text, line, above.end(), grammar) if above else None
    if clause is None or not clause.pure or not clause.words or "own" in clause.has:
        return None
    names = clause.has & {"rating", "final", "result"} or grammar.lexicon.named(clause.words)
    return clause._replace(parted=True) if names else None


# What a clause says --------------------------------------------------------------------------------------

_NEEDS_NO_COLON = frozenset(
    "score rating overall total verdict grade boxed result answer choice option".split()
)
_ARTICLES = frozenset("a an the of to".split())


def _statement(text: str, place: int, value: Value, clause: Clause, grammar: Grammar) -> Statement | None:
    boxed = clause.pure and text.endswith(("[[", "[[ "), 0, place)
    if boxed:
        kind: str | None = FINAL if "final" in clause.has else LABELLED
    elif value.rule and grammar.section:  # `A is better`
        kind = STATED if leads_to_a_sentence(text, clause, grammar) else None
    else:
        kind = _kind(clause, grammar)
        if kind == STATED and not is_of_the_text(text, value, clause, grammar):
            return None
    if kind is None or (kind not in (STATED, BARE) and is_of_an_item(text, clause.start)):
        return None
    sign = not grammar.chooses and text[place] in "+-" and text[place + 1] == " "
    if sign and clause.words and not clause.parted:
        return None  # a separator or a sign
    end = grammar.stop(text, value, kind, grammar)
    if end is None or of_other_criterion(text, end, grammar):
        return None
    rule = {FINAL: LABELLED, RESULT: LABELLED}.get(kind, kind)
    if value.rule and (grammar.section or kind == BARE or (kind == STATED and value.rule == "stars")):
        rule = value.rule
    return Statement(kind, value.number, clause.begin, place, end, rule)


def _kind(clause: Clause, grammar: Grammar) -> str | None:
    """What a clause is by its words; None if they state nothing."""
    words, has = clause.words, clause.has
    if not words:
        return BARE if clause.pure else None
    last, speaks = grammar.roles(words[-1]), "own" in has
    linked = (
        clause.parted
        or "is" in grammar.roles(words[-2 if words[-1] in ("a", "an") and words[:-1] else -1])
        or (words[-1] in _NEEDS_NO_COLON and not grammar.section)
        or not words[-1].isascii()
    )
    if (clause.parted and words[-1] in _ARTICLES) or (
        "rating" in last and "rates" not in last and not linked
    ):
        return None
    if not speaks and not {"article", "source"}.isdisjoint(words) and JUDGED.isdisjoint(words):
        return None
    label = _label(clause, grammar) if linked and not speaks and clause.whole else None
    if label and (clause.pure or label == NAMED):
        return label
    if label:
        turns = "opens" in grammar.roles(words[0]) or words[0] in ("the", "my")
        return STATED if turns or not grammar.chooses else None
    says = {"rates", "rating"}
    if not words[-1].isascii():
        says.add("final")
    if grammar.chooses and speaks:
        says.add("result")
    if has & says or grammar.lexicon.named(words) or {"is", "subject"} <= has or "making" in words:
        return STATED
    plain = (
        {"opens", "final"} if grammar.chooses and not grammar.section else {"plain", "opens", "final", "is"}
    )
    alone = clause.pure and not speaks and all(grammar.roles(word) & plain for word in words)
    return BARE if alone else None


def _label(clause: Clause, grammar: Grammar) -> str | None:
    """The kind of a clause that names what its value is, and is parted from it or linked to it."""
    words, has = clause.words, clause.has
    is_parted = clause.parted or "is" in grammar.roles(words[-1])
    noun = "rating" in has or (grammar.chooses and "result" in has)
    name = grammar.lexicon.named(words)
    nouns = [i for i, word in enumerate(words) if "rating" in grammar.roles(word)]
    if name and (grammar.names or not nouns or words.index(name.split()[0]) < nouns[0]):
        if not is_parted and not noun:
            return None
        return FINAL if "final" in has and grammar.names else NAMED
    if "final" in has and (noun or not has & {"result", "rates"}):
        return FINAL
    if noun:
        return LABELLED
    return RESULT if "result" in has and is_parted else None
