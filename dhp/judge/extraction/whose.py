"""Whose rating a clause in words gives: the judge's own of the text, or one that is supposed or another's."""

import itertools
import re

from dhp.judge.extraction.behind import is_other_criterion, names_a_criterion
from dhp.judge.extraction.grammar import JUDGED, Clause, Grammar
from dhp.judge.extraction.values import Value
from dhp.judge.extraction.words import any_of

_LONGEST = 600
"""Characters before a clause that are looked at."""
_SUPPOSED = rf"{any_of('supposed')}|\?|\A\W*{any_of('supposed_first')}"
_DOUBT = {
    "own": re.compile(_SUPPOSED, re.I),
    "text": re.compile(rf"{_SUPPOSED}|{any_of('would')}", re.I),
    "other": re.compile(rf"{_SUPPOSED}|{any_of('would', 'others')}", re.I),
}
"""Words of the sentence before a clause by which its rating may be supposed, denied or another's: before the
judge's own clauses, in sentences about the text, and in others."""
_OF_CRITERION = re.compile(rf"\W*(?:\w+ly )?(?:{any_of('for_what')}|as) (?:the |its |an? )?([a-z-]+)", re.I)
_GROUNDS = re.compile(rf"\W*(?:\w+, )?(?:{any_of('grounds')}|(?:after|in) (?:\w+ )?\w+ing\b)", re.I)
_TEXTS = rf"(?:{'|'.join(sorted(JUDGED))})"
_TEXT_FIRST = re.compile(
    rf"\W*(?:\w+, )?(?:(?:overall|so|therefore|thus|hence),? )?(?:(?:the|this|that|its) (?:\w+ ){{0,2}}"
    rf"(?:{_TEXTS}|coherence|fluency|quality|relevance|consistency)(?:'s \w+)?|it|this|that)\b"
    rf"(?! (?:also )?{any_of('says')})",
    re.I,
)
_ABOUT_TEXT = re.compile(rf"\b{_TEXTS}\b|{any_of('about')}", re.I)
_ORDERS = frozenset("rate give assign award grade mark choose pick select say put score".split())
_GIVES = frozenset("give gives gave giving awards assigns rates".split())
_OBJECTS = frozenset("it this that the a an".split())
_DETERMINERS = frozenset("the a an".split())


def is_of_the_text(text: str, value: Value, clause: Clause, grammar: Grammar) -> bool:
    """Whether a clause in words gives the judge's own rating of the text."""
    speaks = "own" in clause.has or not {"my", "our"}.isdisjoint(clause.words)
    if clause.words[0] == "to" or (clause.words[0] == ("which" if speaks else "with") and clause.pure):
        return False
    if not speaks and not (_is_given(value, clause, grammar) and _is_about_it(text, clause)):
        return False
    before = text[max(clause.start, clause.begin - _LONGEST) : clause.begin]
    other = _OF_CRITERION.match(before) if grammar.names or grammar.section else None
    if other is not None and is_other_criterion(other[1], grammar):
        return False
    by = "own" if speaks else "text" if _TEXT_FIRST.match(text, clause.start) else "other"
    return _DOUBT[by].search(before) is None


def _is_given(value: Value, clause: Clause, grammar: Grammar) -> bool:
    """Whether a clause without I or we says that a rating is given, orders none, and is not of any text."""
    words = clause.words
    if not grammar.chooses and value.rule != "fraction" and not grammar.low <= value.number <= grammar.high:
        return False  # `scoring 40 points`
    if words[0] in _ORDERS - {"score"}:
        return False  # `Rate it 4!`
    if any(word in _ORDERS and after in _OBJECTS for word, after in itertools.pairwise(words)):
        return False  # `please rate it 4`
    if words[0] in ("a", "an") and not JUDGED.isdisjoint(words):
        return False  # `A summary that names both gets a 5`
    gives = words[0] in _DETERMINERS and not _GIVES.isdisjoint(words)
    return not gives  # as `The review gives it a 4` does


def _is_about_it(text: str, clause: Clause) -> bool:
    """Whether a clause without I or we, or the sentence before it, names the text as what is rated."""
    words = clause.words
    if words[0] in ("it", "it's", "this", "that's", "the", "its", "making") or not JUDGED.isdisjoint(words):
        return True
    before = text[max(clause.start, clause.begin - _LONGEST) : clause.begin]
    stands = clause.pure or {"rating", "is"} <= clause.has or not words[0].isascii()
    if stands or not before.strip(" \"'(-"):
        return True
    return _ABOUT_TEXT.search(before) is not None or names_a_criterion(before)


def leads_to_a_sentence(text: str, clause: Clause, grammar: Grammar) -> bool:
    """Whether a sentence about one of two texts is the judge's own by the words that lead up to it."""
    turns = clause.pure or "own" in clause.has or (clause.words and "opens" in grammar.roles(clause.words[0]))
    before = text[max(clause.start, clause.begin - _LONGEST) : clause.begin]
    turns = turns or _GROUNDS.match(before) is not None
    part = _OF_CRITERION.match(before)
    if part is not None and is_other_criterion(part[1], grammar):
        return False  # `On style alone I would pick A`
    return bool(turns) and clause.words[:1] != ("to",) and _DOUBT["own"].search(before) is None
