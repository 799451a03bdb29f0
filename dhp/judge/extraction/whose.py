"""Whose rating a clause in words gives: the judge's own of the text, or one that is supposed or another's.

A clause with `I`, `we` or `my` is the judge's own unless its sentence denies or supposes it. One without must
say that a rating is given, be about the text, and hold no word of what others say either. `I rate it 4` and
`The summary deserves a 4` count; `If it were shorter I would rate it 5` and `Critics gave it a 2` do not.
"""

import itertools
import re

from dhp.judge.extraction.behind import is_other_criterion, names_a_criterion
from dhp.judge.extraction.grammar import JUDGED, Clause, Grammar
from dhp.judge.extraction.values import Value
from dhp.judge.extraction.words import any_of

_LONGEST = 600
"""Characters before a clause that are looked at. Chosen: longer than sentences are."""
_SUPPOSED = rf"{any_of('supposed')}|\?|\A\W*{any_of('supposed_first')}"
_DOUBT = {
    "own": re.compile(_SUPPOSED, re.I),
    "text": re.compile(rf"{_SUPPOSED}|{any_of('would')}", re.I),
    "other": re.compile(rf"{_SUPPOSED}|{any_of('would', 'others')}", re.I),
}
"""Words of the sentence before a clause by which its rating may be supposed, denied or another's: before the
judge's own clauses, in sentences about the text, and in others."""
_OF_CRITERION = re.compile(rf"\W*(?:\w+ly )?(?:{any_of('for_what')}|as) (?:the |its |an? )?([a-z-]+)", re.I)
"""The beginning of a sentence about one criterion: `Purely on style, `, `For fluency `"""
_GROUNDS = re.compile(rf"\W*(?:\w+, )?(?:{any_of('grounds')}|(?:after|in) (?:\w+ )?\w+ing\b)", re.I)
"""The beginning of one that gives grounds: `Based on `, `After careful reading `"""
_TEXTS = rf"(?:{'|'.join(sorted(JUDGED))})"
_TEXT_FIRST = re.compile(
    rf"\W*(?:\w+, )?(?:(?:overall|so|therefore|thus|hence),? )?(?:(?:the|this|that|its) (?:\w+ ){{0,2}}"
    rf"(?:{_TEXTS}|coherence|fluency|quality|relevance|consistency)(?:'s \w+)?|it|this|that)\b"
    rf"(?! (?:also )?{any_of('says')})",
    re.I,
)
"""The beginning of a sentence about the text: `Overall, this short summary `, `Its fluency `, `It `, and not
`The summary says `"""
_ABOUT_TEXT = re.compile(rf"\b{_TEXTS}\b|{any_of('about')}", re.I)
"""Words anywhere in a sentence by which it is about the text."""
_ORDERS = frozenset("rate give assign award grade mark choose pick select say put score".split())
"""Words that tell a judge to rate, if they open a clause or an object follows: `Please rate it 4`."""
_OBJECTS = frozenset("it this that the a an".split())
_GIVES = frozenset("give gives gave giving awards assigns rates".split())
"""What somebody else does who stands in the clause: `The review gives it a 4`."""
_DETERMINERS = frozenset("the a an".split())


def is_of_the_text(text: str, value: Value, clause: Clause, grammar: Grammar) -> bool:
    """Whether a clause in words gives the judge's own rating of the text."""
    speaks = "own" in clause.has or not {"my", "our"}.isdisjoint(clause.words)
    depends_on = "which" if speaks else "with"  # `which I rate 4` continues another sentence
    if clause.words[0] == "to" or (clause.words[0] == depends_on and clause.pure):
        return False
    if not speaks and not (_is_given(value, clause, grammar) and _is_about_it(text, clause)):
        return False
    before = text[max(clause.start, clause.begin - _LONGEST) : clause.begin]
    other = _OF_CRITERION.match(before) if grammar.names or grammar.section else None
    if other is not None and is_other_criterion(other[1], grammar):
        return False
    if speaks:
        doubt = _DOUBT["own"]
    elif _TEXT_FIRST.match(text, clause.start):
        doubt = _DOUBT["text"]
    else:
        doubt = _DOUBT["other"]
    return doubt.search(before) is None


def _is_given(value: Value, clause: Clause, grammar: Grammar) -> bool:
    """Whether a clause without I or we says that a rating is given, orders none, and is not of any text."""
    words = clause.words
    if not grammar.chooses and value.rule != "fraction" and not grammar.low <= value.number <= grammar.high:
        return False  # `scoring 40 points`
    if words[0] in _ORDERS - {"score"}:
        return False  # `Rate it 4!`
    for word, after in itertools.pairwise(words):
        if word in _ORDERS and after in _OBJECTS:
            return False  # `please rate it 4`
    if words[0] in ("a", "an") and not JUDGED.isdisjoint(words):
        return False  # `A summary that names both gets a 5`
    return words[0] not in _DETERMINERS or _GIVES.isdisjoint(words)  # `The review gives it a 4`


def _is_about_it(text: str, clause: Clause) -> bool:
    """Whether a clause without I or we, or the sentence before it, names the text as what is rated."""
    words = clause.words
    if words[0] in ("it", "it's", "this", "that's", "the", "its", "making") or not JUDGED.isdisjoint(words):
        return True
    before = text[max(clause.start, clause.begin - _LONGEST) : clause.begin]
    # `The rating is 4` needs no name of the text, nor does a clause with which a sentence begins, nor one in
    # a script that does not part words: its sentence was looked at piece by piece.
    stands_alone = clause.pure or {"rating", "is"} <= clause.has or not words[0].isascii()
    if stands_alone or not before.strip(" \"'(-"):
        return True
    return _ABOUT_TEXT.search(before) is not None or names_a_criterion(before)


def leads_to_a_sentence(text: str, clause: Clause, grammar: Grammar) -> bool:
    """Whether a sentence about one of two texts is the judge's own by the words that lead up to it."""
    before = text[max(clause.start, clause.begin - _LONGEST) : clause.begin]
    part = _OF_CRITERION.match(before)
    if part is not None and is_other_criterion(part[1], grammar):
        return False  # `On style alone I would pick A`
    if clause.words[:1] == ("to",) or _DOUBT["own"].search(before) is not None:
        return False  # `It is hard to say A is better`
    opens = bool(clause.words) and "opens" in grammar.roles(clause.words[0])  # `so A is better`
    return clause.pure or "own" in clause.has or opens or _GROUNDS.match(before) is not None
