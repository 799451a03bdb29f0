"""What the sentences of an answer state: a value, and the words of the closed list that lead up to it.

A clause states a rating if each of its words, from the value back to where the clause begins, is of the
list (`words.yaml`). A single other word (`not`, `critics`, `hotel`) makes it none, so there is no list of
what may be wrong.

For each value of a sentence `clause_before` collects the words that lead up to it, `_kind` says what they
state, `is_of_the_text` whether it is the judge's own, and `Grammar.stop` whether what stands behind the value
lets it stand.
"""

import functools
import itertools
import math
import re
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
from dhp.judge.extraction.values import Value, number_of
from dhp.judge.extraction.whose import is_of_the_text, leads_to_a_sentence
from dhp.judge.extraction.words import WORD

_MOST_VALUES = 40
"""A sentence of more numbers states no rating. Chosen: it is a table, and would be slow to read."""
_LONGEST_LEAD = 240
"""Characters before a value in which its clause must stand. Chosen: far more than such a clause has."""


def statements(text: str, grammar: Grammar) -> list[Statement]:
    """Every value that a clause of a sentence states, wherever it stands; values alone are not among them."""
    if not grammar.begins.search(text):
        return []
    stated: list[Statement] = []
    for start, end in itertools.pairwise([*starts(text, letters=grammar.chooses), len(text)]):
        stated += [each for each in _of_sentence(text, start, end, grammar) if each.kind != BARE]
    return stated


def bare(text: str, start: int, grammar: Grammar) -> Statement | None:
    """The value, with small words before it, with which the sentence at `start` begins."""
    sentence_end = SENTENCE_END.search(text, start)
    end = sentence_end.end() if sentence_end else len(text)
    for statement in _of_sentence(text, start, end, grammar):
        if statement.kind == BARE:
            return statement
    return None


@functools.lru_cache(maxsize=256)
def _of_sentence(text: str, start: int, end: int, grammar: Grammar) -> tuple[Statement, ...]:
    """What a sentence states; it is looked at as a statement and as the place of a value alone."""
    return tuple(_values_with_clauses(text, start, end, grammar))


def _values_with_clauses(text: str, start: int, end: int, grammar: Grammar) -> Iterator[Statement]:
    places = [match.start() for match in grammar.begins.finditer(text, start, end)]
    if not places or len(places) > _MOST_VALUES:
        return
    scales = [] if grammar.chooses else _scales(text, start, end)
    of_another_scale = any(top != grammar.high for _, top in scales)
    done = start  # where the last value ended: `4 out of 5` is one value, though two may begin there
    for place in places:
        value = grammar.read(text, place) if place >= done else None
        if value is None:
            continue
        is_first = done == start
        done = value.end
        if of_another_scale:  # a rating, but none on the scale
            value = value._replace(number=math.nan)
        clause = clause_before(text, start, place, grammar)
        statement = None if clause is None else _statement(text, place, value, clause, grammar)
        if statement is None:
            continue
        # Of letters alone only the first of a sentence counts: others are spoken of.
        if is_first or not grammar.chooses or statement.kind != BARE:
            yield statement


def _scales(text: str, start: int, end: int) -> list[tuple[str, float]]:
    """Words and upper end of each scale that is named between two places."""
    if _SCALE_WORD.search(text, start, end) is None:  # a look at single words is faster
        return []
    scales: list[tuple[str, float]] = []
    for match in _SCALE.finditer(text, start, end):
        if (
            match.lastgroup
        ):  # the one group that matched holds the upper end; of `scale of 5 points` none does
            scales.append((match[0], number_of(match[match.lastgroup])))
    return scales


def names_another_scale(text: str, grammar: Grammar) -> bool:
    """Whether an answer names, by these words, a scale or a maximum, and nowhere the one asked for."""
    small = text.lower()
    if grammar.chooses or ("scale" not in small and "max" not in small):
        return False
    tops = [top for name, top in _scales(small, 0, len(small)) if "scale" in name or "max" in name]
    return bool(tops) and grammar.high not in tops


# The words before a value --------------------------------------------------------------------------------

_SCALE_WORD = re.compile(r"scale|range|out of|从|best|max|[(\[](?:/|of |-?\d+ ?(?:-|to) ?\d)", re.I)
"""What `_SCALE` cannot match without."""
_SCALE = re.compile(
    # on a scale of 1 (worst) to 5 (best)
    r"(?:\b(?:on|from|using|out of|of|in) )?(?:\b(?:an?|the) )?\b(?:scale[ :=]+|range )"
    r"(?:of |from |is |= ?|: ?)?-?\d+(?: ?\([^()\d]{1,40}\))?"
    r"(?: ?(?:-|to|and|through) ?\+?(?P<high>\d+))?(?: ?\([^()\d]{1,40}\))?"
    # on a 1-5 scale
    r"|\bon (?:an?|the) -?\d+[ -]?(?:-|to)[ -]?(?P<top>\d+)(?:[- ]point)? scale"
    # (1-5), five-point scale in digits
    r"|[(\[]-?\d+ ?(?:-|to) ?(?P<bracket>\d{1,3})[)\]]|\b(?P<point>\d+|ten|a hundred)[- ]point scale"
    # where 5 is the best
    r"|(?:[(\[]|\bwhere )(?P<best>\d+) (?:is|=|being) (?:the )?best\b"
    # max. 5, (out of 5)
    r"|\bmax(?:imum)?[ .:]+(?P<max>\d+)|[(\[](?:out of|of|/) ?(?P<part>\d+)[)\]]"
    # out of 5: 4, out of 5 I give, 从1到5分
    r"|\bout of (?P<whole>\d+|ten|a hundred)(?=[ :)\]]*[:=]|,? I\b)|从 ?\d+ ?[到至-] ?(?P<han>\d+)(?: ?分)?",
    re.I,
)
"""Where a sentence names the scale; each group holds its upper end."""
_TOKENS = rf"(?P<aside>[(\[][^()\[\]\n]{{1,60}}[)\]])|(?P<word>{WORD}\.?)|(?P<mark>\S)"
"""A piece of what stands before a value: something in brackets, a word, or a mark."""
# With a group `scale` that never matches, so that both patterns have the same groups.
_TOKEN = re.compile(rf"(?P<scale>(?!))|{_TOKENS}", re.I)
_TOKEN_OR_SCALE = re.compile(rf"(?P<scale>{_SCALE.pattern})|{_TOKENS}", re.I)
_BEFORE_VALUE = frozenset("\"'([{:=|~*-•·】✅❌⭐★🌟✓✔👍")
"""Marks that may stand between words and their value."""
_PARTS = frozenset(":=|-】")
"""Those of them that part a label from its value."""
_BEFORE_ALONE = ",;.!…)、，"
"""Marks behind which a value may stand alone: `Well, 4`."""
_BOUNDARIES = frozenset(",，、;:()[]{}|-.…!•·*【】✅❌⭐★🌟✓✔👍>")
"""Marks at which a clause may begin."""
_SUBORDINATES = frozenset("that dass daß que che dat att".split())
"""Words that make what follows depend on what stands before, which is then not all of the list."""
_DIGIT = re.compile(r"\d")
_WORD_OR_MARK = re.compile(rf"{WORD}|[^\w\s()\[\],]")
"""A piece of what stands in brackets; a mark other than a comma is no word of the list."""


def clause_before(text: str, start: int, place: int, grammar: Grammar) -> Clause | None:
    """The clause that leads from the beginning of a sentence, or of its own, to the value at `place`."""
    lead = max(start, place - _LONGEST_LEAD)
    pattern = _TOKEN_OR_SCALE if _SCALE_WORD.search(text, lead, place) else _TOKEN
    tokens = list(pattern.finditer(text, lead, place))
    words: list[str] = []
    begins: list[int] = []  # where each of the words begins
    parted, whole = False, True
    while tokens:  # from the value back to the first word that is not of the list
        token = tokens.pop()
        is_next = not words  # no word stands between this piece and the value
        known = _known(token, grammar.parts)
        if known is None and token[0] in "\"'":
            known = []
        if known is not None:
            words[:0] = known
            begins[:0] = [token.start()] * len(known)
            parted = parted or (is_next and token["aside"] is not None)  # `Score (of 5) 4`
        elif is_next and _may_stand_before(text, token):
            parted = parted or token[0] in _PARTS
        elif is_next and token["mark"] and token[0] not in _BEFORE_ALONE:
            return None  # `> 3`
        else:
            whole = token[0] in _BOUNDARIES
            tokens.append(token)
            break
    pure = whole and _is_pure(start, tokens, grammar.parts)
    if not whole:  # then the clause begins with a word that may open one: `As a critic I rate it 4`
        first = 0
        while first < len(words) and "opens" not in grammar.roles(words[first]):
            first += 1
        before = [tokens[-1][0].lower(), *words[:first]]
        if not _SUBORDINATES.isdisjoint(before):
            return None  # `it is not true that I rate it 4`
        del words[:first], begins[:first]
    if not words and not pure and not (whole and grammar.section):
        return None
    has: set[str] = set()
    for word in words:
        has |= grammar.roles(word)
    begin = begins[0] if begins else place
    return Clause(start, begin, tuple(words), frozenset(has), parted, whole, pure)


def _known(token: Match[str], parts: Callable[[str], list[str]]) -> list[str] | None:
    """The words of a token, empty if it explains the scale; None if it is not of the list."""
    if token["word"]:
        return parts(token[0]) or None
    if token["scale"] or (token["aside"] and _DIGIT.search(token[0])):  # `(1 to 5)`
        return []
    words: list[str] = []
    for each in _WORD_OR_MARK.findall(token["aside"] or ""):  # `(overall)`
        known = parts(each)
        if not known:
            return None
        words += known
    return words or None


def _may_stand_before(text: str, token: Match[str]) -> bool:
    """Whether a mark may stand between a label and its value: two stars may not, two brackets may."""
    sign_before = text[token.start() - 1 : token.start()]  # empty at the beginning
    is_repeated = sign_before == token[0] and token[0] not in "[({:"
    return token[0] in _BEFORE_VALUE and not is_repeated


def _is_pure(start: int, tokens: Sequence[Match[str]], parts: Callable[[str], list[str]]) -> bool:
    """Whether what stands before a clause in its sentence is of words of the list as well."""
    if tokens and tokens[0].start() > start + 12:  # the lead was cut, and what stands before is not known
        return False
    for token in tokens:
        if token["scale"]:
            continue
        if token["mark"] and token[0] not in "“”" and not token[0].isdigit():
            continue
        if not token["word"] or not parts(token[0]):
            return False
    return True


# What a clause says --------------------------------------------------------------------------------------

_NEEDS_NO_COLON = frozenset(
    "score rating overall total verdict grade boxed result answer choice option".split()
)
"""Names after which a value may stand without a mark: `Rating 4`."""
_ARTICLES = frozenset("a an the of to".split())


def _statement(text: str, place: int, value: Value, clause: Clause, grammar: Grammar) -> Statement | None:
    """What a clause and the value behind it state; None if nothing, or nothing of the judge's own."""
    boxed = clause.pure and text.endswith(("[[", "[[ "), 0, place)
    if boxed:
        kind: str | None = FINAL if "final" in clause.has else LABELLED
    elif value.rule and grammar.section:  # `A is better`
        kind = STATED if leads_to_a_sentence(text, clause, grammar) else None
    else:
        kind = _kind(clause, grammar)
        if kind == STATED and not is_of_the_text(text, value, clause, grammar):
            return None
    if kind is None or is_of_an_item(text, clause.start) or _is_led_by_another(text, clause):
        return None
    has_loose_sign = not grammar.chooses and text[place] in "+-" and text[place + 1] == " "
    if has_loose_sign and clause.words and not clause.parted:
        return None  # `Rating - 1` on a scale below zero: 1 behind a dash, or less than zero
    end = grammar.stop(text, value, kind, grammar)
    if end is None or of_other_criterion(text, end, grammar):
        return None
    rule = LABELLED if kind in (FINAL, RESULT) else kind  # both are labels, of different weight
    if value.rule and (grammar.section or kind == BARE):
        rule = value.rule
    return Statement(kind, value.number, clause.begin, place, end, rule)


_HEADS = JUDGED - {"answer", "response", "output", "reply"} | {"source", "article"}
"""Words that name what is judged or its source, and not the judge's own answer."""


def _is_led_by_another(text: str, clause: Clause) -> bool:
    """Whether a colon before a clause says whose it is: `Source: Rating: 5`, `The text ends: Rating: 5`."""
    head = text[clause.start : clause.begin].rstrip(" \"'(*").lower()
    if not head.endswith(":"):
        return False
    return not clause.pure or not _HEADS.isdisjoint(re.findall(r"\w+", head))


def _kind(clause: Clause, grammar: Grammar) -> str | None:
    """What a clause is by its words; None if they state nothing."""
    words, has = clause.words, clause.has
    if not words:
        return BARE if clause.pure else None
    # Whether something links the words to the value: a colon, `is`, or that they need nothing.
    has_article = len(words) > 1 and words[-1] in ("a", "an")  # `The score is a 4`
    verb = words[-2] if has_article else words[-1]
    needs_none = words[-1] in _NEEDS_NO_COLON and not grammar.section
    linked = clause.parted or "is" in grammar.roles(verb) or needs_none
    last = grammar.roles(words[-1])
    if "rating" in last and "rates" not in last and not linked:
        return None  # `marks 4`
    if clause.parted and words[-1] in _ARTICLES:
        return None  # `a score of: 4`

    # What they state.
    if "own" not in has and not {"article", "source"}.isdisjoint(words) and JUDGED.isdisjoint(words):
        return None  # `The article is a 4`
    label = _label(clause, grammar) if linked else None
    if label and (clause.pure or label == NAMED):
        return label
    if label:  # behind other words it is a sentence: `As a critic, my rating is 4`
        opens = "opens" in grammar.roles(words[0]) or words[0] in ("the", "my")
        return STATED if opens or not grammar.chooses else None
    if has & {"rates", "rating"} or {"is", "subject"} <= has or "making" in words:
        return STATED  # `I rate it 4`, `It is a 4`
    if not clause.pure:
        return None
    for word in words:
        if grammar.roles(word).isdisjoint(("plain", "opens", "final", "is")):
            return None
    return BARE  # `So, overall a 4`


def _label(clause: Clause, grammar: Grammar) -> str | None:
    """The kind of a clause that names what its value is, and is parted from it or linked to it."""
    words, has = clause.words, clause.has
    noun = "rating" in has or (grammar.chooses and "result" in has)  # `Answer: B` of a choice
    if grammar.lexicon.named(words):
        return FINAL if "final" in has and grammar.names else NAMED
    if "final" in has and (noun or not has & {"result", "rates"}):
        return FINAL
    if noun:
        return LABELLED
    return RESULT if "result" in has else None
