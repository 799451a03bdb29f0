"""Where an answer gives its rating, in text whose numbers are tokens."""

import functools
import math
import re
from collections.abc import Iterator

from dhp.core.protocol_spec import AnswerForm
from dhp.core.specs import Scale
from dhp.judge.extraction.numbers import TOKEN, value_on
from dhp.judge.extraction.records import Found

_LABEL = (
    r"(?:(?<![A-Za-z])(?:ratings?|scores?|grade|marks?|verdict|answer|result|evaluation|assessment|judge?ment"
    r"|overall|conclusion|boxed|rate|stars?|points?)(?![A-Za-z])"
    r"|评分|得分|分数|打分|评级|总分|答案|星级|等级|评价|结果)"
)
_WORD = r" [A-Za-z][\w'-]{0,30}"
_ASIDE = r" ?\([^()\n⟦⟧]{0,40}\)"
_NO_STEPS = r"(?! (?:steps?|criteri|guid|rubric|scheme))"
_NO_FORM = r"(?! (?:form|scale)\b)"
_SEPARATORS = r"[\s\"'“”«»(){}\[\]|:=<>~-]{0,30}"
_ABOUT = "(?:(?:an?|about|around|approximately) )?"
_OPENING = r"[\s\"'(\[{>|•-]{0,20}"

_AFTER = (
    "out|stars?|points?|pts|marks?|for|because|since|as|due|and|but|on|in|overall|based|with|given|which|when"
    "|at|is|would|from|here|though|although|while|so|if|according|considering|where|rating|score|by|this|too"
    "|also|to|that|only|rather|instead|indicating|suggesting|meaning|reflecting|showing"
)
_NO_HAN = r"(?! ?(?!(?:分|颗?星|级)(?![一-鿿])|因|由于)[一-鿿])(?! ?[%⟦])"
_END = rf"(?! ?(?!-?(?:{_AFTER})\b)-?[A-Za-z]){_NO_HAN}"
"""No count of things may follow, as in `3 errors`."""
_LABELLED_END = rf"(?! ?(?!-?(?:{_AFTER})\b)-?(?-i:[a-z])){_NO_HAN}"
"""Behind a label a new sentence may follow: `Rating: 3 The text is ...`"""

_GAP = rf"(?:{_WORD}|{_ASIDE}){{0,8}}?"
_LINK = (
    r" (?:(?:of|is|as|be|at|it|this|them)(?: (?:an?|about|around|approximately|only|just))?|an?)"
    r"(?: (?:solid|strong|high|low|perfect|full|mere|good|fair|weak|moderate))?"
)
_SCORES = r"(?:scor(?:es?|ing)|rat(?:es?|ed|ings?)|grad(?:es?|ed|ing))"
_GIVES = (
    r"(?:(?:giv|assign|award|deserv|merit|earn|receiv|gett?|warrant)(?:es?|s|ed|ing|en)?|gave|got|scored|say)"
)
_NO_COUNT = (
    r"(?!(?:errors?|issues?|mistakes?|words?|sentences?|steps?|paragraphs?|numbers?|counts?|total|year|page"
    r"|line|examples?|version|date|time|explanation|reasons?|analysis|justification|comments?|feedback|notes?"
    r"|strengths?|weaknesses)\b)"
)
_NAME = rf"{_NO_COUNT}[^\W\d_]+(?:[ /&'-]{{1,2}}[^\W\d_]+){{0,4}}(?:{_ASIDE})?"

_RULES = (
    (
        0,
        "labelled",
        rf"{_LABEL}{_NO_FORM}{_NO_STEPS}(?:{_WORD}{_NO_STEPS}|{_ASIDE}){{0,6}}\s?[\"'”»)\]]{{0,4}} ?"
        rf"(?:[:=|>{{→]|->?){_SEPARATORS}{_ABOUT}{TOKEN}{_LABELLED_END}",
    ),
    (0, "labelled", rf"^[^\w⟦\n]{{0,9}}(?:final |overall |my )?{_LABEL}\n{{1,9}}{TOKEN}{_LABELLED_END}"),
    (0, "labelled", rf"\[\[{TOKEN}\]\]"),
    (1, "stated", rf"\b(?:{_SCORES}|{_GIVES}){_GAP}{_LINK} [\"'(]{{0,2}}{TOKEN}{_END}"),
    (1, "stated", rf"\b{_SCORES} [\"'(]{{0,2}}{TOKEN}(?! points?\b){_END}"),
    (1, "stated", rf"\b(?:rate|score|grade|give) (?:the|this|that) [a-z]{{1,20}} {TOKEN}{_END}"),
    (1, "stated", rf"\bI(?:'d| would| will)? (?:give|say|assign|choose|go with) {TOKEN}{_END}"),
    (1, "stated", rf"(?:[给打得评]|评分|得分|分数)[出了予它其到为是的分评]{{0,4}} ?{TOKEN} ?{_NO_HAN}"),
    (1, "stars", rf"{TOKEN} ?(?:-? ?stars?\b|颗?星)"),
    (1, "fraction", rf"⟦([^⟦⟧]{{1,30}}/[^⟦⟧]{{1,30}})⟧{_END}"),
    (
        2,
        "named",
        rf"(?:^|[.!?。] |[{{,] ?(?=\"))[ •>|\"'{{-]{{0,12}}{_NAME}[\"']? ?[:=|] ?[\"'(|]{{0,3}} ?"
        rf"{TOKEN}{_LABELLED_END}",
    ),
    (2, "bare", rf"\A{_OPENING}{TOKEN}分?(?= ?(?:\Z|[^\w\s%⟦\[]|\n|because\b|since\b))(?!-[a-z])"),
    (2, "bare", rf"^{_OPENING}{TOKEN}分?[ \"')\]}}|.。!]*$"),
    (3, "stated", rf"(?:\bis|'s) an? (?:(?:solid|strong) )?{TOKEN}(?=[.,;!]|\s*$)"),
    (3, "bare", rf"(?:[.!?,。] ?|\n){TOKEN}分?[.。!]?\s*\Z"),
    (3, "bare", rf"(?<=\(){TOKEN}分?(?=\) ?(?:[.,;:。]|$))"),
)
"""Tier, name and pattern, most explicit first."""

_DENIED = re.compile(
    r"(?:\b(?:not|never|cannot)|n't) (?:[a-z]+ ){0,2}(?:an? )?$"
    r"|\b(?:could|might|could have|might have|would have) (?:been )?$"
    r"|\b(?:rather|less|more|lower|higher|other|worse|better|short|instead) (?:than|of) (?:an? )?$",
    re.I,
)


@functools.cache
def _rules() -> tuple[tuple[int, str, re.Pattern[str]], ...]:
    """Compiled when first needed: it takes 40 ms."""
    return tuple((tier, rule, re.compile(pattern, re.I | re.M)) for tier, rule, pattern in _RULES)


def rating_matches(text: str, scale: Scale, form: AnswerForm) -> Iterator[Found]:
    """Every place that reads like a rating, on the scale or off it."""
    for tier, rule, pattern in _rules():
        for match in pattern.finditer(text):
            ends = (match.start(), match.start(1) - 1)
            if tier == 1 and any(_DENIED.search(text, max(0, end - 40), end) for end in ends):
                continue
            value = value_on(match[1], scale.max)
            if rule == "fraction" and value is not None and math.isnan(value):  # a share of something else
                continue
            if tier == 3 and (value is None or not scale.min <= value <= scale.max):
                continue
            yield Found(0 if rule == form == "stars" else tier, match.start(1), match[1], rule)
