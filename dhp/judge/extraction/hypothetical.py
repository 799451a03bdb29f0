"""Ratings that an answer mentions but does not give: hypotheticals, denials, comparisons, conditions.

"Little keeps it from being a 5", "it could be a 5", "not a 5", "a 5 would need more detail". Works on text
whose numbers are tokens, within the sentence of one number.
"""

import functools
import re

from dhp.judge.extraction.numbers import POINTS

_BEFORE, _AFTER = 200, 80
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

_WORD = r" [a-z][\w'-]{0,30}"
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
    rf"\b(?:would|could|might|should|may) have(?:{_WORD}){{0,7}}",
    rf"{_MAY} (?:be|become){_RATING}{{0,6}}",
    rf"{_MAY} {_ATTAIN}(?:{_WORD}){{0,6}}",
    rf"\b(?:would|could|might)(?:{_WORD})? {_RAISE}(?:{_WORD}){{0,7}}",
    rf"(?<!seems )(?<!appears )(?<!considered )(?<!enough )(?<!it )(?<!this )\bto "
    rf"(?:{_ATTAIN}(?:{_WORD}){{0,6}}|(?:be|become|have){_RATING}{{0,6}})",
    r"\bto (?:make|raise|bring|push|elevate|increase|improve|move|bump|boost|lift|turn|help)"
    rf"(?:{_WORD}){{0,7}}",
    rf"\b(?:for|allow\w*|help\w*|need\w*|order|not enough)(?: it| this| the [a-z]+)? to (?:be|{_ATTAIN})"
    rf"(?:{_WORD}){{0,6}}",
    rf"\b(?:from|without|before|instead of|short of|rather than) (?:being|becoming|having){_RATING}{{0,6}}",
    rf"\b(?:from|without|before|instead of|short of|rather than) {_ATTAINING}(?:{_WORD}){{0,6}}",
    r"\b(?:from|(?:short|shy|instead|worthy only) of|below|above|than|beyond|nearly|almost|without|closer? to"
    r"|away from|deduct(?:ed|s|ing)?|subtract(?:ed|s|ing)?|los(?:e|es|t|ing)|minus|dock(?:ed|ing)?|by)"
    rf"{_RATING}{{0,6}}",
    rf"(?:\b(?:not|never|cannot)|n't)(?: {_WORTH}[a-z]{{0,4}}(?: it| this)?){{0,2}}(?: for)?{_RATING}{{0,6}}",
    rf"\b(?:needed|required|necessary|qualif[a-z]+|eligible|reserved) (?:for|to|of)(?:{_WORD}){{0,6}}",
    rf"\b(?:prevent|preclud|hinder)[a-z]{{0,4}}(?:{_WORD}){{0,12}}",
    rf"\b(?:fall[a-z]*|fell) short(?:{_WORD}){{0,8}}",
    rf"\b(?:tempt(?:ing|ed)|hesitant|reluctant) to (?:give|rate|score|award|assign|say)(?:{_WORD}){{0,6}}",
    r"\b(?:some(?:one|body)?|others?|many|readers?|people|critics?)(?: [a-z]{1,15})? (?:might|may"
    rf"|could|would)(?:{_WORD})? (?:give|rate|score|award|assign|argue for|say)(?:{_WORD}){{0,6}}",
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
    after = _SENTENCE.split(text[end : end + _AFTER])[0]
    part = sentence[max((m.end() for m in _TURN.finditer(sentence)), default=0) :]
    clause = part[max((m.end() for m in _VERDICT.finditer(part)), default=0) :]
    if _leads_up().search(f" {clause}") or _SPEAKS_OF.match(after):
        return True
    return (
        re.search(r"\bwould\b|'d\b", part, re.I) is not None and _CONDITION.search(part + after) is not None
    )
