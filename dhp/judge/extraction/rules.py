"""Rules that find ratings in normalised text."""

import functools
import math
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from dhp.core.protocol_spec import AnswerForm
from dhp.core.specs import Scale
from dhp.judge.extraction.hypothetical import only_spoken_of
from dhp.judge.extraction.numbers import TOKEN, value_on
from dhp.judge.extraction.records import Candidate

_LABEL = (
    r"(?:(?<![A-Za-z])(?:ratings?|scores?|grade|marks?|verdict|answer|result|evaluation|assessment|judge?ment"
    r"|overall|conclusion|boxed|rate)(?![A-Za-z])"
    r"|评分|得分|分数|打分|评级|总分|答案|星级|等级|评价|结果)"
)
_COUNT_LABEL = r"^[^\w⟦\n]{0,9}(?:(?:total|overall|final|my) )?(?:stars?|points?) ?[:=]"
_WORD = r" [A-Za-z][\w'-]{0,30}"
_ASIDE = r" ?(?:\([^()\n⟦⟧]{0,40}\)|\[ ?\])"
_NO_STEPS = r"(?! (?:steps?|criteri|guid|rubric|scheme))"
_NO_FORM = r"(?! (?:form|scale)\b)"
_SEPARATORS = r"[\s\"'“”«»【】(){}\[\]|:=<>~-]{0,30}"
_ABOUT = "(?:(?:an?|about|around|approximately) )?"
_OPENING = r"[\s\"'(\[{>|•-]{0,20}"

_AFTER = (
    "out|stars?|points?|pts|marks?|for|because|since|as|due|and|but|on|in|overall|based|with|given|which|when"
    "|at|is|would|from|here|though|although|while|so|if|according|considering|where|rating|score|by|this|too"
    "|also|to|that|only|rather|instead|indicating|suggesting|meaning|reflecting|showing"
)
_NO_HAN = r"(?! ?(?!(?:分|颗?星|级)(?:的?(?:评分|分数|得分|成绩|评价))?(?![一-鿿])|因|由于)[一-鿿])(?! ?[%⟦])"
_END = rf"(?! ?(?!-?(?:{_AFTER})\b)-?[A-Za-z])(?! in ⟦){_NO_HAN}"
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

_TEXT = (
    r"(?:it|this|(?:the|this) (?:summary|text|response|answer|reply|story|ending|translation|output|passage))"
)

FINAL, LABELLED, STATED, NAMED, LOOSE = range(5)
"""Tiers: how explicitly a number is given as the rating."""

_RULES = (
    (
        LABELLED,
        "labelled",
        rf"{_LABEL}{_NO_FORM}{_NO_STEPS}(?:{_WORD}{_NO_STEPS}|{_ASIDE}){{0,6}}\s?[\"'”»)\]】]{{0,4}} ?"
        rf"(?:[:=|>{{→]|->?|(?<=】)){_SEPARATORS}{_ABOUT}{TOKEN}{_LABELLED_END}",
    ),
    (
        LABELLED,
        "labelled",
        rf"^[^\w⟦\n]{{0,9}}(?:final |overall |my )?{_LABEL}\n{{1,9}}{TOKEN}{_LABELLED_END}",
    ),
    (LABELLED, "labelled", rf"{_COUNT_LABEL}{_SEPARATORS}{TOKEN}{_LABELLED_END}"),
    (LABELLED, "labelled", rf"\[\[{TOKEN}\]\]"),
    (STATED, "stated", rf"\b(?:{_SCORES}|{_GIVES}){_GAP}{_LINK} [\"'(]{{0,2}}{TOKEN}{_END}"),
    (STATED, "stated", rf"\b{_SCORES} [\"'(]{{0,2}}{TOKEN}(?! points?\b){_END}"),
    (STATED, "stated", rf"\b{_TEXT} scores? (?:only |just )?{TOKEN} points?\b"),
    (STATED, "stated", rf"\bmak(?:es?|ing) {_TEXT}{_LINK}? {TOKEN}{_END}"),
    (STATED, "stated", rf"\b(?:rate|score|grade|give) (?:the|this|that) [a-z]{{1,20}} {TOKEN}{_END}"),
    (
        STATED,
        "stated",
        rf"\bI(?:'d| would| will)? (?:give|say|assign|choose|go with|settle (?:on|for)) {TOKEN}{_END}",
    ),
    (
        STATED,
        "stated",
        rf"(?:[给打得评]|评分|得分|分数|最终|最后)[出了予它其到为是的分评]{{0,4}} ?{TOKEN} ?{_NO_HAN}",
    ),
    (STATED, "stated", rf"\b(?:is worth|put (?:it|this) at)(?: an?)? {TOKEN}{_END}"),
    (STATED, "stars", rf"{TOKEN} ?(?:-? ?stars?\b|颗?星)"),
    (STATED, "fraction", rf"⟦([^⟦⟧]{{1,30}}/[^⟦⟧]{{1,30}})⟧{_END}"),
    (
        NAMED,
        "named",
        rf"(?:^|[.!?。] |[{{,] ?(?=\"))[ •>|\"'{{-]{{0,12}}(?P<name>{_NAME})[\"']? ?[:=|] ?[\"'(|]{{0,3}} ?"
        rf"{TOKEN}{_LABELLED_END}",
    ),
    (NAMED, "bare", rf"\A{_OPENING}{TOKEN}分?(?= ?(?:\Z|[^\w\s%⟦\[]|\n|because\b|since\b))(?!-[a-z])"),
    (NAMED, "bare", rf"^{_OPENING}{TOKEN}分?[ \"')\]}}|.。!]*$"),
    (LOOSE, "stated", rf"\A{_OPENING}an? (?:(?:solid|strong|clear|weak) )?{TOKEN}(?=[.,;!]|\s*$)"),
    (LOOSE, "stated", rf"(?:\bis|'s) an? (?:(?:solid|strong) )?{TOKEN}(?=[.,;!]|\s*$)"),
    (LOOSE, "bare", rf"(?:[.!?,。] ?(?:- ?)?|\n){TOKEN}分?[.。!]?\s*\Z"),
    (LOOSE, "bare", rf"(?<=\(){TOKEN}分?(?=\) ?(?:[.,;:。]|$))"),
    (LOOSE, "bare", rf"(?<=[a-z] \(){TOKEN}(?=\))"),
)
"""Tier, name and pattern, most explicit first."""

_LINE = re.compile(r"[.!?] |[\n。]")
_LIST_MARK = re.compile(r"[^\w⟦]+")
_FINAL = re.compile(r"\b(?:final|overall|total)\b|最终|最后|总|综合", re.I)
_PLAIN_LABEL = re.compile(
    r"(?:\b(?:my|the|your|is|of|out|a|on|scale|score|scores|rating|ratings|grade|marks?|verdict|answer|result"
    r"|boxed|final|overall|total|here|s|as|follows|for|this|text|summary|response)\b|⟦[^⟦⟧]*⟧|[^\w⟦⟧]"
    r"|我|的|最终|评分|得分|分数|打分|评级|总分|答案|星级|等级)*",
    re.I,
)
"""The words of a label that names no criterion."""
_BREAKDOWN = re.compile(r"\bbreak ?down\b|\bbroken down\b", re.I)
_IN_A_LIST = re.compile(r"(?:[:=|] ?|\()[\"']?$")
_SEVERAL = re.compile(
    r"\b(?:response|summary|text|answer|candidate|output|system|option|version)s?(?: [a-z])?$"
)
"""The name of one of several texts, without its number."""


@functools.cache
def _rules() -> tuple[tuple[int, str, re.Pattern[str]], ...]:
    """Compiled when first needed: it takes 40 ms."""
    return tuple((tier, rule, re.compile(pattern, re.I | re.M)) for tier, rule, pattern in _RULES)


def _candidates(text: str, scale: Scale, form: AnswerForm) -> Iterator[Candidate]:
    for tier, rule, pattern in _rules():
        for match in pattern.finditer(text):
            group = match.lastindex or 0
            start, end, value = match.start(group) - 1, match.end(group) + 1, match[group]
            point = value_on(value, scale.max)
            if rule == "fraction" and point is not None and math.isnan(point):  # a share of something else
                continue
            if tier == LOOSE and (point is None or not scale.min <= point <= scale.max):
                continue
            if (tier == STATED or rule == "stated") and only_spoken_of(text, start, end):
                continue
            name = (match.groupdict().get("name") or "").lower()
            rank = LABELLED if rule == form == "stars" else tier
            if rule == "labelled":
                line = _LINE.split(text[max(0, start - 80) : start])[-1]
                name = _LIST_MARK.sub(" ", line).strip().lower()
                rank = FINAL if form == "analyze-rate" and _FINAL.search(name) else tier
            elif rule == "fraction" and _IN_A_LIST.search(text, max(0, start - 3), start):
                rank = NAMED
            yield Candidate(rank, start + 1, value, rule, name)


def _breakdown(items: Collection[Candidate]) -> bool:
    """Whether these are the ratings, not all equal, of several criteria or of several texts."""
    several = len({f.name for f in items}) > 1 or any(_SEVERAL.search(f.name) for f in items)
    return several and len({f.value for f in items}) > 1


def _demoted(candidates: Sequence[Candidate], text: str, form: AnswerForm) -> Iterator[Candidate]:
    """The ratings of parts, as explicit as named ones: those that follow the rating of the whole."""
    labels = [f for f in candidates if f.tier == LABELLED and f.rule == "labelled"]
    yield from parts if _breakdown(parts := [f for f in labels if not _PLAIN_LABEL.fullmatch(f.name)]) else ()
    if form != "analyze-rate":
        return
    stated = min((f.start for f in candidates if f.tier == STATED), default=len(text))
    if len({f.value for f in labels}) > 1 and stated < labels[0].start:
        yield from labels
    if (after := _BREAKDOWN.search(text)) and any(
        f.tier <= STATED and f.start < after.start() for f in candidates
    ):
        yield from (f for f in candidates if f.tier in (LABELLED, STATED) and f.start > after.start())


def rating_matches(text: str, scale: Scale, form: AnswerForm) -> list[Candidate]:
    """Every place that reads like a rating, on the scale or off it.

    The value is `?` where several texts are rated, or in `analyze-rate` several criteria and none above them.
    """
    found = sorted(_candidates(text, scale, form), key=lambda f: f.start)
    demoted = set(_demoted(found, text, form))
    found = [replace(f, tier=NAMED, rule="named") if f in demoted else f for f in found]
    named = [f for f in found if f.rule == "named"]
    of_texts = any(_SEVERAL.search(f.name) for f in named)
    if (of_texts or form == "analyze-rate") and _breakdown(named):
        parts = {f for f in found if f.rule in ("named", "fraction") and f.tier == NAMED}
        found = [replace(f, value="?") if f in parts else f for f in found]
    return found
