"""The verdict of an answer that begins with a score for each of two texts.

The scores stand in an object with a key for each text, or in lines. `_of_line` goes through a line piece by
piece: a name of a text, a score, or words between them; anything else ends it.
"""

import re
from collections.abc import Sequence

from dhp.core.refusals import holds_refusal
from dhp.core.specs import Scale
from dhp.judge.extraction import objects
from dhp.judge.extraction.extracted import UNPARSED, Extracted
from dhp.judge.extraction.options import ANY_OPTION, OPTION, choice
from dhp.judge.extraction.values import number_reader
from dhp.judge.extraction.words import any_of

Score = tuple[int | None, float]
"""Which text a score is of, 1 or -1, None if no name says so, and the score."""


def of_two_scores(words: str, answers: Sequence[object], scale: Scale) -> Extracted:
    """The choice by the two scores, in one line or in one each, with which an answer begins.

    A score is of the text whose name stands beside it; without names the first is that of the text shown
    first. Lines without a score may stand before them if they say no number, or that of the scale.
    """
    values = _of_objects(answers, scale) or _in_order(_of_lines(words, scale))
    if len(values) != 2:
        return Extracted("refused") if not values and holds_refusal(words) else UNPARSED
    first, second = values
    if not (scale.min <= first <= scale.max and scale.min <= second <= scale.max):
        return Extracted("out_of_scale")
    better = float((first > second) - (first < second))
    return Extracted("scored", better, "two-scores", scores=(first, second))


def _of_objects(answers: Sequence[object], scale: Scale) -> list[float]:
    """The values of an object with one key for each text."""
    read = number_reader(scale)
    for value in answers:
        if not isinstance(value, dict):
            continue
        by_text: dict[str, float] = {}
        for key, inner in value.items():
            named = [word for word in objects.key_words(key) if word in ("a", "b", "1", "2")]
            named = named or re.findall(r"[12]\Z", key)  # `score1`
            text = objects.as_text(inner) or ""
            score = read(text, 0)
            if len(named) == 1 and score is not None and score.end == len(text):
                by_text[named[0]] = score.number
        if set(by_text) in ({"a", "b"}, {"1", "2"}):
            return [by_text[key] for key in sorted(by_text)]
    return []


def _in_order(scores: Sequence[Score]) -> list[float]:
    """The scores by the texts that are named beside them; none if the names do not fit."""
    named = {text for text, _ in scores}
    if named == {1, -1}:
        first_text_first = sorted(scores, key=lambda each: each[0] or 0, reverse=True)
        return [score for _, score in first_text_first]
    if len(scores) > 2:
        return []
    for (text, _), place in zip(scores, (1, -1), strict=False):  # there may be one score alone
        if text not in (None, place):
            return []
    return [score for _, score in scores]


_CHANGE = re.compile(rf"\W*(?:[a-z]+ )?{any_of('change')}", re.I)
"""The beginning of a line that gives other scores: `Correction: 9 8`, `I misread, `"""
_SCALE_LINE = re.compile(r"\b[01] ?(?:-|to) ?\d+\)?[:.]?\Z")
"""The end of a line that names the scale: `Scores (1-10):`"""
_RULE = re.compile(r"[-|: ]+")
"""The line below the heads of a table: `|---|---|`"""


def _of_lines(words: str, scale: Scale) -> list[Score]:
    """The scores of the lines with which an answer begins; empty if others follow them."""
    values: list[Score] = []
    for line in words.split("\n"):
        if values and _CHANGE.match(line) and re.search(r"\d", line):  # `8 9` and then `Correction: 9 8`
            return []
        if not line.strip() or _RULE.fullmatch(line):
            continue
        scores = _of_line(line, scale)
        if scores and len(values) >= 2:  # `8 9` and then `9 8`
            return []
        says_a_number = re.search(r"\d", line) is not None and not _SCALE_LINE.search(line)
        if not scores and (values or says_a_number):
            break
        values += scores
    return values


_FILLER = re.compile(
    r"[\s\"'(\[{|•#:=,;/)\]-]+|\b(?:the|scores?|ratings?|scored|rated|points?|is|gets?|receives?|earns?|earned"
    r"|got|(?-i:an?)|of|and|to|vs\.?|while|whereas|for|i(?:'d| would)? give|two|out of|assistants|responses"
    rf"|answers)\b|'s\b|\(\d+ ?- ?\d+\)|[.!] (?=(?:the )?{ANY_OPTION})",
    re.I,
)
"""What may stand between names and scores: marks, `the score of`, `gets a`, ` (1-10)`, `. ` before a name."""
_SCORE_OF = re.compile(r"(?P<named>[ab12])(?P<ordinal>)(?P<tie>)(?P<pair>)(?P<letter>)(?= ?[:|])", re.I)
"""The name in `Score 1: 7` and `| 1 | 8 |`; the empty groups are those that `choice` looks for."""
_AFTER = re.compile(
    r"[ \"')\]|]*(?:\Z|[.!](?= |\Z)|[,;:/\t(-]|(?:and|vs|while|whereas|for)\b|[A-Z]|(?<=[ |])\d)"
)
"""Behind a score that counts nothing: `8, `, `8/`, `8 vs 7`, `8 7`, `8 Response B`"""
_MARK = re.compile(r"\W{0,4}\d[.)] \W{0,4}\d")
"""A line whose first number is a mark of a list: `1. 8`"""
_FURTHER = re.compile(r"[^\n]*[,;] ?\d")
"""A further number behind words: `8 in all, 7 for style`"""
_BEHIND = re.compile(rf" for (?:the )?{OPTION.pattern}", re.I)
"""The name behind a score: `8 for the first`"""


def _of_line(line: str, scale: Scale) -> list[Score]:
    """The one or two scores that a line states; empty if it says anything else before them."""
    if _MARK.match(line) or _SCALE_LINE.search(line):
        return []
    read = number_reader(scale)
    scores: list[Score] = []
    name, place = None, 0  # the text that was named last, and has no score yet
    while place < len(line):
        option = _SCORE_OF.match(line, place) or OPTION.match(line, place)
        value = read(line, place)
        if option is not None and (value is None or option["named"] or option["ordinal"]):
            name, place = choice(option), option.end()
        elif value is not None:
            behind = _BEHIND.match(line, value.end) if name is None else None
            place = behind.end() if behind else value.end
            if _AFTER.match(line, place) is None:
                return []  # `7 facts`
            of_text = choice(behind) if behind else name
            scores.append((of_text, value.number))
            name = None
        else:
            filler = _FILLER.match(line, place)
            if filler is None:
                break
            place = filler.end()
    if len(scores) == 1 and _FURTHER.match(line, place):
        return []
    return scores
