"""Rules that find what reads like a rating in an answer: numbers, letters; not what is only spoken of."""

import functools
import math
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from dhp.core.protocol_spec import AnswerForm
from dhp.core.records import RatingStatus
from dhp.core.specs import Scale
from dhp.judge.extraction.numbers import POINTS, TOKEN, value_on


@dataclass(frozen=True, slots=True)
class Extracted:
    """What one answer of a judge says of a text, or of two."""

    status: RatingStatus | Literal["contradictory"]
    """`scored`, or why there is no score; `contradictory` of two texts alone."""
    score: float | None = None
    """Score on the answer's own scale; of two texts 1 where the one shown first is better, -1 the second, 0 a
    tie. None unless scored."""
    rule: str | None = None
    """The rule that found the rating, or why a rating that was found is not a score; else None."""
    missing_mass: float | None = None
    """Probability, in [0, 1], that fell on no score; only where scores are weighed by probability."""
    scores: tuple[float, float] | None = None
    """Scores of the text shown first and the second with the answer form `two-scores`, probabilities of their
    letters where those are read."""


UNPARSED = Extracted("unparsed")


@dataclass(frozen=True, slots=True)
class Mention:
    """A place in an answer that reads like a rating."""

    tier: int
    """0 is the most explicit kind; a place counts only where there is none of a lower tier."""
    start: int
    """Position in the text."""
    value: str
    rule: str
    name: str = ""
    """Name of what is rated, where the answer states it."""


def chosen(mentions: Iterable[Mention], form: AnswerForm) -> Mention | None:
    """The most explicit place: the last of its tier where the rating follows the analysis, else the first."""
    every = list(mentions)
    tier = min((place.tier for place in every), default=0)
    first_or_last = max if form == "analyze-rate" else min
    return first_or_last((p for p in every if p.tier == tier), key=lambda p: p.start, default=None)


_BEFORE, _SPOKEN_AFTER = 200, 80
"""Characters around a number that are looked at."""

_SENTENCE = re.compile(r"[.!?;] |[\n。!?;]")
_TURN = re.compile(
    r"\b(?:therefore|thus|hence|so|consequently|accordingly|but|however|although|though"
    r"|result(?:s|ed|ing)? in|lead(?:s|ing)? to)\b",
    re.I,
)
"""Where a sentence turns to what the answer itself says."""
_VERDICT = re.compile(
    r"\bi(?: would|'d| will|'ll)? (?:give|rate|score|assign|say|choose|grade|settle)\b"
    r"|(?<!\b(?:from|than) )(?<!\b(?:of|in|by) )(?<!without )"
    r"\b(?:mak|earn|scor|giv|receiv|warrant|deserv|merit)ing\b",
    re.I,
)

_LOWER = r" [a-z][\w'-]{0,30}"
_RATING = (
    r"(?: (?:an?|the|any|its|as|of|even|near|perfect|full|top|maximum|solid|strong|high|higher|overall|final"
    r"|score|rating|mark|grade|[a-z]{1,15} (?=score|rating)))"
)
_ATTAIN = (
    "(?:make|get|receive|earn|achieve|obtain|attain|reach|deserve|merit|warrant|gain|justify|qualify|secure"
    "|score(?! (?:it|this|the|its)\\b))"
)
_RAISE = (
    "(?:make|raise|bring|push|elevate|increase|improve|move|bump|boost|lift|take|turn|help|allow|let|need"
    "|require|change)"
)
_ATTAINING = (
    "(?:gett|receiv|earn|achiev|obtain|attain|reach|deserv|mak|scor|giv|merit|warrant|rat|assign|gain"
    "|award)ing"
)
_WORTH = (
    "(?:be|been|deserv|merit|warrant|earn|receiv|get|giv|rat|scor|reach|achiev|assign|award|justif|call"
    "|consider|mak|worth|enough|qualif|quite|really|fully|yet|truly|entirely|completely)"
)
_MAY = r"\b(?:could|might|may)(?: (?:also|then|even|easily|possibly|potentially|likely|well|only|still))?"
_PATTERNS = (
    rf"\b(?:would|could|might|should|may) have(?:{_LOWER}){{0,7}}",
    rf"{_MAY} (?:be|become){_RATING}{{0,6}}",
    rf"{_MAY} {_ATTAIN}(?:{_LOWER}){{0,6}}",
    rf"\b(?:would|could|might)(?:{_LOWER})? {_RAISE}(?:{_LOWER}){{0,7}}",
    rf"(?<!seems )(?<!appears )(?<!considered )(?<!enough )(?<!it )(?<!this )\bto "
    rf"(?:{_ATTAIN}(?:{_LOWER}){{0,6}}|(?:be|become|have){_RATING}{{0,6}})",
    r"\bto (?:make|raise|bring|push|elevate|increase|improve|move|bump|boost|lift|turn|help)"
    rf"(?:{_LOWER}){{0,7}}",
    rf"\b(?:for|allow\w*|help\w*|need\w*|order|not enough)(?: it| this| the [a-z]+)? to (?:be|{_ATTAIN})"
    rf"(?:{_LOWER}){{0,6}}",
    rf"\b(?:from|without|before|instead of|short of|rather than) (?:being|becoming|having){_RATING}{{0,6}}",
    rf"\b(?:from|without|before|instead of|short of|rather than) {_ATTAINING}(?:{_LOWER}){{0,6}}",
    r"\b(?:from|(?:short|shy|instead|worthy only) of|below|above|than|beyond|nearly|almost|without|closer? to"
    r"|away from|deduct(?:ed|s|ing)?|subtract(?:ed|s|ing)?|los(?:e|es|t|ing)|minus|dock(?:ed|ing)?|by)"
    rf"{_RATING}{{0,6}}",
    rf"(?:\b(?:not|never|cannot)|n't)(?: {_WORTH}[a-z]{{0,4}}(?: it| this)?){{0,2}}(?: for)?{_RATING}{{0,6}}",
    rf"\b(?:needed|required|necessary|qualif[a-z]+|eligible|reserved) (?:for|to|of)(?:{_LOWER}){{0,6}}",
    rf"\b(?:prevent|preclud|hinder)[a-z]{{0,4}}(?:{_LOWER}){{0,12}}",
    rf"\b(?:fall[a-z]*|fell) short(?:{_LOWER}){{0,8}}",
    rf"\b(?:tempt(?:ing|ed)|hesitant|reluctant) to (?:give|rate|score|award|assign|say)(?:{_LOWER}){{0,6}}",
    r"\b(?:some(?:one|body)?|others?|many|readers?|people|critics?)(?: [a-z]{1,15})? (?:might|may"
    rf"|could|would)(?:{_LOWER})? (?:give|rate|score|award|assign|argue for|say)(?:{_LOWER}){{0,6}}",
)
"""What leads up to a rating that is not given, from its verb to the number."""

_CONDITION = re.compile(
    r"\bif (?:it|this|that|they|there|more|these|those|the [a-z]{1,20})\b"
    r"|(?:^|, )(?:had|were) (?:it|the|this|there)\b|\botherwise,? (?:it|this|i)\b"
    r"|\bwith (?:an? |the |some |a (?:bit|little) )?(?:more|additional|further|fewer|better|stronger|clearer"
    r"|smoother|shorter|longer|tighter|fuller|deeper)\b",
    re.I,
)
_SPEAKS_OF = re.compile(
    rf"{POINTS}(?: (?:would|could|might) (?!be (?:appropriate|fair|suitable|reasonable|right|justified|given"
    r"|assigned|awarded|my|the)\b)| (?:requires?|needs|demands|means|is (?:reserved|only))\b)",
    re.I,
)


@functools.cache
def _leads_up() -> re.Pattern[str]:
    """Compiled when first needed."""
    return re.compile(rf"(?:{'|'.join(_PATTERNS)}) [\"']{{0,2}}(?:(?<=score )\(|(?<=rating )\()?$", re.I)


def only_spoken_of(text: str, start: int, end: int) -> bool:
    """Whether the number at `text[start:end]`, a token, is not a rating that the answer gives."""
    sentence = _SENTENCE.split(text[max(0, start - _BEFORE) : start])[-1]
    after = _SENTENCE.split(text[end : end + _SPOKEN_AFTER])[0]
    part = sentence[max((m.end() for m in _TURN.finditer(sentence)), default=0) :]
    clause = part[max((m.end() for m in _VERDICT.finditer(part)), default=0) :]
    if _leads_up().search(f" {clause}") or _SPEAKS_OF.match(after):
        return True
    return (
        re.search(r"\bwould\b|'d\b", part, re.I) is not None and _CONDITION.search(part + after) is not None
    )


_GOES_ON = r" (?!(?:because|since|as|due|for|is|and|but|or)\b)"
_LETTER = rf"((?:[AI](?!{_GOES_ON}[A-Za-z])|[B-HJ-Z](?!{_GOES_ON}[a-z])))(?![A-Za-z'\d])(?!-[A-Za-z])"
"""A verdict, and neither the word `A` or `I` nor a part of a word."""
_OPEN = r"[\s\"'“(\[{<]{0,9}"
_CLOSE = r"[\s\"')\]}.:]{0,9}"
_LETTER_LABEL = r"(?i:(?:answer|verdict|choice|rating|grade|score|judge?ment|selection|boxed)(?![a-z]))"
_FILLER = r"(?: (?:is|was|would be|as|of|for|to|the|this|summary)){0,5}"
_CHOOSES = (
    r"(?i:\b(?:cho(?:os|s)e[sn]?|select(?:ed|s)?|pick(?:ed|s)?|options?|go(?:es)? with|opt(?:s|ed)? for"
    r"|(?:gives?|assigns?|deserves?|earns?)(?: (?:it|this))?(?: an?)?))"
)

_LETTER_RULES = tuple(
    (tier, re.compile(pattern, re.M))
    for tier, pattern in (
        (0, rf"{_LETTER_LABEL}{_FILLER}[ \"'”)]{{0,3}}[:={{>-]?{_OPEN}(?i:option )?{_LETTER}"),
        (0, rf"{_LETTER_LABEL}[\"']? ?[:=]{_OPEN}([a-z])(?=[).\]\"']|$)"),
        (0, rf"(?:答案|选项|选择|评级|等级|选)(?:是|为)? ?:?{_OPEN}{_LETTER}"),
        (1, rf"{_CHOOSES} ?:?{_OPEN}(?i:option )?{_LETTER}"),
        (2, rf"\A{_OPEN}{_LETTER}"),
        (2, rf"\A{_OPEN}([a-z]){_CLOSE}\Z"),
        (2, rf"^[ >-]{{0,3}}{_OPEN}([A-Z]){_CLOSE}$"),
        (3, r"(?<=\()([A-Z])(?=\))"),
        (3, r"[.!?,:。] ([A-Z])\.?\s*\Z"),
    )
)
"""Tier and pattern, most explicit first."""

_LETTER_SEVERAL = re.compile(r"[A-Za-z] ?(?:[/,&-]|or\b|and\b) ?\(?[A-Z](?![A-Za-z'])")
_RANGE = re.compile(r"\(?\b[A-Z] ?(?:-|~|to|through|至|到) ?[A-Z]\b\)?")
_PREFIX = re.compile(r"\A\s?A: ?(?=\(?[A-Z](?![A-Za-z']))")
_OPTION = re.compile(r"(?:^|(?<=[\s(]))\(?([A-Z])(?:[.):]| -)(?= ?[^\s])", re.M)


def _without_options(text: str) -> str:
    """The text without the options themselves, `A-E` or `A. Poor B. Fair ...`, and without `A:` for an
    answer."""
    text = _PREFIX.sub("", _RANGE.sub(" ", text))
    options = _OPTION.findall(text)
    return _OPTION.sub("", text) if options[:2] == ["A", "B"] else text


def letter_matches(text: str, scale: Scale) -> Iterator[Mention]:
    """Where the answer names a letter; two at once (`B or C`) are `?`."""
    text = _without_options(text)
    for tier, pattern in _LETTER_RULES:
        for match in pattern.finditer(text):
            value = "?" if _LETTER_SEVERAL.match(text, match.start(1)) else match[1]
            point = letter_value(value, scale)
            if tier > 1 and point is not None and point > scale.max and text.strip() != value:
                continue
            yield Mention(tier, match.start(1), value, "letter")


def letter_value(letter: str, scale: Scale) -> float | None:
    """The letter's point on the scale, perhaps off it; None for several."""
    return None if letter == "?" else scale.min + ord(letter.upper()) - ord("A")


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


def _mentions(text: str, scale: Scale, form: AnswerForm) -> Iterator[Mention]:
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
            yield Mention(rank, start + 1, value, rule, name)


def _breakdown(items: Collection[Mention]) -> bool:
    """Whether these are the ratings, not all equal, of several criteria or of several texts."""
    several = len({f.name for f in items}) > 1 or any(_SEVERAL.search(f.name) for f in items)
    return several and len({f.value for f in items}) > 1


def _demoted(mentions: Sequence[Mention], text: str, form: AnswerForm) -> Iterator[Mention]:
    """The ratings of parts, as explicit as named ones: those that follow the rating of the whole."""
    labels = [f for f in mentions if f.tier == LABELLED and f.rule == "labelled"]
    yield from parts if _breakdown(parts := [f for f in labels if not _PLAIN_LABEL.fullmatch(f.name)]) else ()
    if form != "analyze-rate":
        return
    stated = min((f.start for f in mentions if f.tier == STATED), default=len(text))
    if len({f.value for f in labels}) > 1 and stated < labels[0].start:
        yield from labels
    if (after := _BREAKDOWN.search(text)) and any(
        f.tier <= STATED and f.start < after.start() for f in mentions
    ):
        yield from (f for f in mentions if f.tier in (LABELLED, STATED) and f.start > after.start())


def rating_matches(text: str, scale: Scale, form: AnswerForm) -> list[Mention]:
    """Every place that reads like a rating, on the scale or off it.

    The value is `?` where several texts are rated, or in `analyze-rate` several criteria and none above them.
    """
    found = sorted(_mentions(text, scale, form), key=lambda f: f.start)
    demoted = set(_demoted(found, text, form))
    found = [replace(f, tier=NAMED, rule="named") if f in demoted else f for f in found]
    named = [f for f in found if f.rule == "named"]
    of_texts = any(_SEVERAL.search(f.name) for f in named)
    if (of_texts or form == "analyze-rate") and _breakdown(named):
        parts = {f for f in found if f.rule in ("named", "fraction") and f.tier == NAMED}
        found = [replace(f, value="?") if f in parts else f for f in found]
    return found
