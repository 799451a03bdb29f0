"""What stands behind a value: an end that lets it stand as a rating, or words that change it.

`stop_of` is the rule for scores and labels: an end of the sentence is always one, a comma or a reason only if
neither doubt nor another value follows. `of_other_criterion` looks for the name of another criterion there.
"""

import re

from dhp.judge.extraction.grammar import Grammar
from dhp.judge.extraction.values import Value
from dhp.judge.extraction.words import any_of, words_of

_MARKS = r"[ ]*[\"'”’»)\]}|。！✅❌👍🌟⭐★]*[ ]*"
"""Marks that may close what holds a value: `4)`, `4 ✅`"""
_SOLID_END = re.compile(rf"(?:です|입니다|とします|と評価します)?{_MARKS}[.!*]?{_MARKS}(?:\Z|\n)")
_SENTENCE = re.compile(rf"(?:です|입니다|とします|と評価します)?{_MARKS}(?:[.!]{_MARKS}(?= )|[。！；])")
"""Ends of a line and of a sentence, with polite endings of Japanese and Korean before them: `4です。`"""
_PAUSE = re.compile(
    r"[ ]*[\"'”’»\])}]{0,3}(?:[,;:](?=[ \u3000-\u9fff\uac00-\ud7af])|、| ?-+ | \||(?= ?[(\[（])|(?<=\)) )"
)
"""Within a sentence: `4, as it ...`, `4 - it ...`, `4 (it ...)`; a comma between digits parts none."""
_REASON = re.compile(rf" {any_of('fitting')}(?=[.!,]|\Z)| ?{any_of('reasons')}| (?-i:on (?=[a-z]))", re.I)
"""`4 is fair.`, `4 because it ...`, `4 on coherence`"""
_CORRECTED = re.compile(rf"[\s(.…]*(?:no[,.;:!]|{any_of('corrected')})", re.I)
"""`4 ... no, 3`, `4. Wait, 3`"""
_IN_DOUBT = re.compile(rf"[\s(]*(?:{any_of('doubt')}|\?)", re.I)
"""`4 (perhaps 5)`, `4 (?)`"""
_BETWEEN = re.compile(r"[ )\]]{0,4}[,;:/(|-]?[ -]*(?:and |or |to |but )?\[{0,2}(?=\S)")
"""What may stand between two values: `3, 4`, `3 or 4`, `3 - 4`"""
_COUNTS_NOTHING = re.compile(r"[ )\]]*(?:[.,;:!?)\]\n]|\Z|or\b|and\b)")
"""Behind a second value; the 2 of `4, 2 errors` counts errors."""
_SCALE_BESIDE = re.compile(
    r"[ ,(]*(?:\d+ ?(?:-|to) ?|max\w*\.? |(?:on|in|of) an? scale of )(?P<high>\d+)", re.I
)
"""`4 (1-10)`"""


def stop_of(text: str, value: Value, kind: str, grammar: Grammar) -> int | None:
    """Where the value with all that repeats it ends, if what follows lets it stand as a rating; else None."""
    end = value.end
    beside = _SCALE_BESIDE.match(text, end)
    if beside and float(beside["high"]) != grammar.high:  # labels have no scale: NaN equals nothing
        return None
    solid = _SOLID_END.match(text, end) or _SENTENCE.match(text, end)
    if solid:
        return None if _CORRECTED.match(text, solid.end()) else end
    go_on = _PAUSE.match(text, end) or _REASON.match(text, end)
    if go_on is None or _CORRECTED.match(text, go_on.end()) or _IN_DOUBT.match(text, go_on.end()):
        return None
    return None if _other_value_follows(text, end, grammar, value) else end


def _other_value_follows(text: str, end: int, grammar: Grammar, value: Value) -> bool:
    """Whether another value stands beside it, as in `3, 4` and `3 (4)`, and counts no things."""
    between = _BETWEEN.match(text, end)
    again = grammar.read(text, between.end()) if between else None
    if again is None or again.number == value.number:
        return False
    return _COUNTS_NOTHING.match(text, again.end) is not None


# Words that change a value -------------------------------------------------------------------------------

_OF_WHAT = re.compile(
    rf"[)\"' ]*(?: out of \d+)?[)\"' ]*(?:[ (]{any_of('for_what')} |\()"
    r"(?:the |its |overall |a )?(?P<what>[a-z][a-z-]+)(?=\W|\Z)",
    re.I,
)
"""`4 for fluency`, `4" (fluency`, `4 out of 5 for its style`"""
_ENDS = re.compile(r"[.,;!]|\s*\Z|\n")


def of_other_criterion(text: str, end: int, grammar: Grammar) -> bool:
    """Whether a value is said to be for a criterion that was not asked about: `4 for fluency`."""
    match = _OF_WHAT.match(text, end) if grammar.names else None
    if match is None:
        return False
    if _without_denial(match["what"]) in grammar.names:  # "a score of 1 for inconsistency"
        return False
    if is_other_criterion(match["what"], grammar):
        return True
    # A single word that is not known is taken for a criterion, too: `4 for humour.`
    words_between = text[end : match.start("what")]
    is_alone = "(" not in words_between and _ENDS.match(text, match.end()) is not None
    return is_alone and not grammar.parts(match["what"])


_DENIAL = re.compile(r"^(?:in|ir|im|il|un|dis|non-?)(?=\w{4})")
"""`in` of `inconsistency`, `dis` of `disfluency`, and nothing of `into`"""


def _without_denial(word: str) -> str:
    """A word in small letters without a syllable before it that denies it."""
    return _DENIAL.sub("", word.lower())


def is_other_criterion(word: str, grammar: Grammar) -> bool:
    """Whether a word names a quality of texts that was not asked about."""
    return word.lower() in words_of("criteria") and word.lower() not in grammar.names


def names_a_criterion(words: str) -> bool:
    """Whether words hold the name of a quality of texts."""
    return not words_of("criteria").isdisjoint(re.findall(r"[a-z-]+", words.lower()))
