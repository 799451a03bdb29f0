"""Numbers that are not ratings: mentions of the scale, enumerations, list marks, ranges."""

import functools
import re
from re import Match

from dhp.core.specs import Scale
from dhp.judge.extraction.numbers import FRACTION, PLAIN, POINTS, TOKEN, Rewrite, rewritten, token

_ENUMERATION: Rewrite = (re.compile(rf"{PLAIN}(?: ?(?:[,/、\s-]|,? ?or|,? ?and|[和或]) ?{PLAIN}){{2,}}"), " ")

_EXTREME = (
    "(?:lowest|highest|best|worst|poorest|greatest|minimum|maximum|max|min|top|bottom|least|most|very|perfect"
    "|completely|not at all)"
)
_IS = r"(?:is|are|=|means?|meaning|represents?|indicates?|denotes?|stands for|being|为|是|表示|代表)"
_WHERE = r"((?:\bwhere\b[^.\n⟦⟧]{0,60}|\bwith (?:a )?|其中))"
_DEFINITIONS: tuple[Rewrite, ...] = (
    (re.compile(rf"{PLAIN}{POINTS} being\b", re.I), " "),
    (
        re.compile(
            rf"(?<!\ba )(?<!: ){PLAIN}{POINTS} ?(?:{_IS}|as|:)? ?(?:the |an? )?(?:{_EXTREME}\b|最)", re.I
        ),
        " ",
    ),
    (
        re.compile(
            rf"{_WHERE}{PLAIN}{POINTS} ?{_IS}([^.\n⟦⟧]{{0,100}}\band (?:a )?){PLAIN}{POINTS} ?(?:{_IS}|for)",
            re.I,
        ),
        r"\1 \3 ",
    ),
    (
        re.compile(rf"{PLAIN}{POINTS}(?:表示|代表)([^。\n⟦⟧]{{0,60}}[,;、和]){PLAIN}{POINTS}(?:表示|代表)"),
        r" \2 ",
    ),
    (re.compile(rf"{_WHERE}{PLAIN}{POINTS} ?{_IS}", re.I), r"\1 "),
    (re.compile(rf"(?m)(^|[,;(] ?){PLAIN} ?= ?(?=[^\W\d_])"), r"\1 "),
)

_MARK = re.compile(
    r"(?:\A|[\n(]|[.!?;。] )(?:[-•>] )?(?P<mark>⟦(?P<number>\d{1,3})⟧(?:[.):、]| -))(?= ?[^\s])"
)
_STEP = (
    r"(?:(?:(?:where|when|if) [^.,\n⟦]{1,80}, )?"
    r"(?:read|look|check|compare|mark|find|take|go|consider|give|identify|note|list|determine|assess|evaluate"
    r"|judge|rate|score|assign|examine|review|analy[sz]e|count|ask|decide|write|highlight|verify|focus|think|start"
    r"|begin|choose|select|pay|locate|underline|summari[sz]e|watch|see) "
    r"|(?:阅|通|重)?读|不看|寻找|接着|根据|站在|为每|如果|若|凡|先|再|最后|逐|核对|查看|检查|标出|考虑|留意|对照|把|在|从|单独|打分|给出|比较|判断|评估|找|记|列|注意|确认|思考|分析|理解)"
)
_OPENING_MARK = re.compile(
    r"\A\s?(?:⟦\d{1,3}⟧[.)、] ?(?:(?=[^\W\d_][^\n:⟦⟧.!?]{0,60}: ?⟦)|(?=[^.!\n⟦]{1,200}\?)"
    rf"|(?={_STEP}))|⟦1⟧[.)] (?={TOKEN}\s*\Z))",
    re.I,
)
"""The mark of a named rating, a question, a step of the instructions or a lone number: `2. Fluency: 3`,
`1. Is it ...?`, `1. Read the text`, `1. 3`."""
_PART: Rewrite = (
    re.compile(
        r"\b(step|stage|paragraph|sentence|line|point|part|section|question|criterion|figure|table|page|item"
        r"|example|response|summary|text|version|turn|aspect)s? ⟦\d{1,4}⟧|第 ?⟦\d{1,4}⟧",
        re.I,
    ),
    r"\1",
)


@functools.cache
def _of_the_scale(low: str, high: str) -> tuple[Rewrite, ...]:
    aside = r"(?: ?\([^()⟦⟧\n]{0,40}\))?"
    end = rf"{high}{POINTS}{aside}"
    return (
        (re.compile(rf"\bbetween {low}{aside} and {end}", re.I), " "),
        (re.compile(rf"(?:\bfrom |从)?{low}{POINTS}{aside} ?(?:-|~|to\b|through\b|至|到) ?{end}", re.I), " "),
        FRACTION,
        (re.compile(rf"(?:\bout of(?: a)?|/|\bscale of|满分(?:为|是)?) ?{high}{POINTS}", re.I), " "),
        (re.compile(rf"{high} ?-? ?(?:point|star|分)s? ?(?:\w{{1,9}} )?(?:scale|system|制)", re.I), " "),
    )


def _range(match: Match[str]) -> str:
    """A range of scores has no single value; the result of a match, `2-1` or `3 to 1`, is not a rating."""
    if float(match[1]) < float(match[3]):
        return "⟦?⟧"
    return " " if match[2].strip() in ("-", "to") else match[0]


_RANGE: Rewrite = (
    re.compile(rf"(?:\bbetween )?{PLAIN}{POINTS}( ?(?:[-~至到]|(?:to|or|and)\b) ?){PLAIN}", re.I),
    _range,
)


def _without_marks(text: str) -> str:
    """The text without list marks: of runs 1, 2, ... and of an item that opens the answer."""
    runs: list[list[Match[str]]] = []
    for mark in _MARK.finditer(text):
        number = int(mark["number"])
        if number == 1:
            runs.append([mark])
        elif runs and number == len(runs[-1]) + 1:
            runs[-1].append(mark)
    kept, start = [], 0
    for mark in (mark for run in runs if len(run) > 1 for mark in run):
        kept.append(text[start : mark.start("mark")])
        start = mark.end("mark")
    return _OPENING_MARK.sub("", "".join([*kept, text[start:]]))


def without_mentions(text: str, scale: Scale) -> str:
    """The text of tokens without those that are known to be no ratings; a range is the token `⟦?⟧`."""
    of_the_scale = _of_the_scale(token(scale.min), token(scale.max))
    text = rewritten(text, (_ENUMERATION, *of_the_scale, *_DEFINITIONS))
    return rewritten(_without_marks(text), (_PART, _RANGE))
