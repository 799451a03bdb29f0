"""English words: function words, and whether a text is English."""

import re

PRONOUNS = frozenset(
    "he him his himself she her hers herself they them their theirs themselves it its itself "
    "i me my mine myself we us our ours ourselves".split()
)
ARTICLES = frozenset("a an the".split())
POSSESSIVES = frozenset("my your their our its".split())
PREPOSITIONS = frozenset("of from into with at by for to in on under over about between during among".split())
CONJUNCTIONS = frozenset("and or but because than if although while".split())
AUXILIARIES = frozenset("is are was were has had does did am".split())
"""Finite forms only."""
CONNECTIVES = frozenset(
    "but and so then however therefore thus also moreover furthermore instead nevertheless consequently "
    "meanwhile otherwise yet still hence similarly this these those such another both".split()
)
FUNCTION_WORDS = frozenset(
    "not no nor be been being have having do doing done that which who whom whose what when where why how "
    "there here as it's i'm don't n't s t you your yours all any each few more most other some only own same "
    "very just too up down out off again once before after above below through until against he's she's "
    "without within upon per via one will would can could should must may might".split()
).union(PRONOUNS, ARTICLES, POSSESSIVES, PREPOSITIONS, CONJUNCTIONS, AUXILIARIES, CONNECTIVES)
"""Words that say little about the topic."""
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_LATIN = re.compile("[A-Za-z]")
_COMMON = FUNCTION_WORDS | frozenset(
    "though since onto every they're we're didn't wasn't weren't isn't aren't doesn't hasn't haven't "
    "hadn't won't wouldn't couldn't can't".split()
)
"""Words by which English is recognised."""
_FOREIGN = frozenset(
    "der die das und ist nicht ein eine einen dem den des mit für auf von zu im wird werden sich auch les "
    "une est dans pour pas que qui sur avec sont el los las una por para con del como más pero il lo gli che "
    "di non della sono het een niet van voor och att det som på är og på não uma os com "
    "y en la se su sus fue desde sobre sind wurde wurden aus bei zum zur einer wir ich oder et du au aux "
    "ne".split()
)
SHORT = 8
"""Words below which a text need not hold a function word."""
_LEAST = 0.08
"""Share of words that are English function words, from which a longer text is English. Chosen."""
_LEAST_LATIN = 0.9
"""Share of Latin letters, from which a text may be English: a name in it may be in another script. Chosen."""


def looks_english(text: str) -> bool:
    """Whether the letters are Latin and, in a longer text, enough of the words are English function words."""
    if not any(map(str.isalpha, text)):
        return False
    if not text.isascii():
        letters = sum(map(str.isalpha, text))
        if len(_LATIN.findall(text)) < _LEAST_LATIN * letters:
            return False
    words = _WORD.findall(text.lower())
    english = sum(map(_COMMON.__contains__, words))
    foreign = sum(map(_FOREIGN.__contains__, words))
    if len(words) < SHORT:
        return foreign <= english or foreign == 0
    return english >= _LEAST * len(words) and english > foreign
