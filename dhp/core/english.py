"""Whether a text is English, for rules that know no other language."""

import re

from dhp.core.errors import NotApplicable

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_FUNCTION_WORDS = frozenset(
    "a an the this these those that which who whose whom what when where while because although though if "
    "and or but nor not no of to from by with without for about after before between during since until "
    "into onto over under through against among upon on at in as is are was were be been being has have had "
    "do does did will would can could should may might must he she it they we you i his her its their our my "
    "your him them us me there here then than so too also very more most some any each every all both other "
    "another such only own same just how up down out off again once he's she's it's they're we're i'm don't "
    "didn't wasn't weren't isn't aren't doesn't hasn't haven't hadn't won't wouldn't couldn't can't".split()
)
_FOREIGN = frozenset(
    "der die das und ist nicht ein eine einen dem den des mit für auf von zu im wird werden sich auch les "
    "une est dans pour pas que qui sur avec sont el los las una por para con del como más pero il lo gli che "
    "di non della sono het een niet van voor och att det som på är og på não uma os com".split()
)
_SHORT = 8
"""Words below which a text need not hold a function word."""
_LEAST = 0.08


def looks_english(text: str) -> bool:
    """Whether the letters are Latin and, in a longer text, enough of the words are English function words."""
    letters = [c for c in text if c.isalpha()]
    if not letters or sum(c.isascii() for c in letters) < 0.9 * len(letters):
        return False
    words = [word.lower() for word in _WORD.findall(text)]
    english = sum(word in _FUNCTION_WORDS for word in words)
    foreign = sum(word in _FOREIGN for word in words)
    if len(words) < _SHORT:
        return foreign <= english or foreign == 0
    return english >= _LEAST * len(words) and english > foreign


def need_english(text: str) -> None:
    """Raise `NotApplicable` for a text that is not English."""
    if not looks_english(text):
        raise NotApplicable("not an English text")
