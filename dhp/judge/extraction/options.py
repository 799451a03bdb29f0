"""The two texts of a comparison as answers name them, a tie, and what is said of one of them.

`VERDICTS` is the grammar of verdicts: an option may begin where `OPTION` fits, `_read` reads it with what is
said of it, and `_stop` says whether what follows leaves it a verdict on the whole.
"""

import re
from re import Match

from dhp.judge.extraction.behind import names_a_criterion
from dhp.judge.extraction.grammar import BARE, Grammar
from dhp.judge.extraction.values import Value
from dhp.judge.extraction.words import any_of

_NOUN = any_of("texts")
_FORMS = (
    # A > B, A=B
    r"(?P<pair>[AB12] ?(?:>{1,3}|<{1,3}|=|≈|~) ?[AB12])(?!\w)",
    # Response A, output (b), Text "one"
    rf"{_NOUN} [\"'(\[]{{0,2}}(?P<named>[ab12]|one|two)(?![A-Za-z\d])[\"')\]]{{0,2}}",
    # the second, first response
    rf"(?P<ordinal>first|second)(?: (?:one|{_NOUN}))?(?![\w-])",
    # B, (B), and none of A+, A's, A-level
    r"\(?(?-i:(?P<letter>[ABab12]))(?![A-Za-z\d'+]|-(?!\s)|\.\w)\)?",
    # tie, C, no clear winner, both are equally good
    r"(?P<tie>(?:ties?|tied|draw|toss-up)\b|(?-i:C)(?![\w+'-])|equal(?:ly good)?\b|same\b"
    r"|no (?:clear )?(?:winner|preference|difference)\b|neither (?:\w{1,20} ){0,4}is better\b"
    r"|平局|平手|不相上下|难分高下|一样好"
    r"|(?:both|the two|they)\b[^.\n,;:]{0,60}\b(?:equal(?:ly)?(?: (?:good|bad"
    r"|well|strong|helpful))?|comparable)\b)",
)
OPTION = re.compile(f"(?:{'|'.join(_FORMS)})", re.I)
"""One of the two, or a tie."""
ANY_OPTION = re.sub(r"\?P<\w+>", "?:", OPTION.pattern)
"""The same without the names of its groups."""
_IS = rf"(?:'s| {any_of('is_so')})(?: {any_of('adverbs')}){{0,3}}"
_THAN = rf"(?: (?:than|over|to|by|als|que|di) (?:the )?{ANY_OPTION})?"
_BETTER = rf" {any_of('better')}(?: (?:one|choice|option|{_NOUN}))?"
_SAID = re.compile(
    rf"(?P<better>(?:{_IS}{_BETTER}| besser| (?:(?:clearly|narrowly|easily) )?(?:wins|beats"
    rf"|outperforms"
    rf"|surpasses)){_THAN}| (?:over|rather than|instead of) (?:the )?{ANY_OPTION})"
    rf"|(?P<worse>(?:{_IS} (?:worse|inferior|weaker|outperformed|beaten|surpassed)| loses){_THAN})"
    r"|(?P<signs> ?(?:的(?:回答|文本)?|の(?:回答)?(?:方|ほう)?[がはも]|[がは])?(?:明显|略|稍|更){0,2}"
    r"(?:更好|更优|较好|胜出|获胜|更佳|優れて\w{0,4}|より?良い|好ましい|勝ち\w{0,4}))",
    re.I,
)
"""What stands behind the name of a text: that it is better, or worse, than the other.

` is clearly better than B`, ` wins`, ` over B`, ` is weaker`, `更好`
"""


def choice(match: Match[str]) -> int | None:
    """Which text a match names: 1, -1, or 0 for a tie; None for a pair of the same."""
    groups = match.groupdict()
    if groups.get("tie"):
        return 0
    pair = groups.get("pair")
    if pair:  # `A > B`, `A = B`
        left = 1 if pair[0] in "A1" else -1
        right = 1 if pair[-1] in "A1" else -1
        if left == right:
            return None
        if ">" in pair:
            return left
        return right if "<" in pair else 0
    name = groups.get("named") or groups.get("letter") or groups.get("ordinal") or ""
    return 1 if name.lower() in ("a", "1", "one", "first") else -1


def _read(text: str, start: int) -> Value | None:
    """One of the two, or a tie; with words behind it that say so, the rule is `stated` or `worse`."""
    match = OPTION.match(text, start)
    chosen = None if match is None else choice(match)
    if match is None or chosen is None:
        return None
    if chosen == 0:
        is_stated = " " in (match["tie"] or "").strip()  # `both are equal`, and no `tie` alone
        return Value(0.0, match.end(), "stated" if is_stated else "")
    behind = _SAID.match(text, match.end())
    if behind is None:
        return Value(float(chosen), match.end())
    if behind["worse"]:
        return Value(float(-chosen), behind.end(), "worse")
    return Value(float(chosen), behind.end(), "stated")


_IN_PART = re.compile(
    rf" {any_of('of_a_part')}(?! {any_of('of_the_whole')})|[^\n.!?]{{0,200}}{any_of('not_wholly')}", re.I
)
"""A verdict of a part: any place, time or criterion but the whole: ` in style`, and no ` in all points`."""
_END = re.compile(
    r"[\"')\]}|*]*(?:\s*\Z|\n|[.!。]|[,;:，；：](?= |\Z)| -+ | (?=[(\[])|，)|[ ]*(?:\Z|\n)|てい"
)
"""An end of the answer, a line, a sentence, or a part of one: `A, as`, `A - it`, `A (clear)`."""
_REASON = re.compile(rf" (?:{any_of('reasons')}|by\b)", re.I)
"""`A because`, `A by a hair`"""
_DOUBT = re.compile(
    rf"[\s,;:.()!-]*(?:(?:no|wait)[,.;:!]|{any_of('doubt', 'corrected')}|and (?:b|a|response|output)\b|\?)",
    re.I,
)
"""What puts a verdict in doubt: `A. Wait,`, `A or B`, `A and B`, `A?`"""
_ASIDE = re.compile(r" ?\([^()\n]{1,40}\)")
"""` (style only)`"""
_BESIDE = re.compile(r"[^\n.,;\[]{0,40}[,;] (?:and |but |then )?(?:\[\[)?|\]\][ /]?\[\[")
"""What may stand before another option: ` (style), `, ` for style, but `, `]]/[[`"""
_OF_A_PART = re.compile(r" ?(?:\(|for\b|in\b|on\b)|\]\]|[ .!]*(?:\Z|\n)")
"""Behind that other option, by which both are verdicts of parts: ` (facts)`, ` for facts`, or nothing."""
_RANKED = re.compile(r" ?, ?[AB12]\b(?!\]\])")
"""Behind the first of a ranking, `Ranking: A, B`."""
_NEW_SENTENCE = re.compile(r"\]\] (?=[A-Z])")
"""Behind brackets in the middle of a line: `[[A]] The first text`"""
_SCORE = re.compile(r"[\"')\]]{0,3}: ?\d")
"""`Response A: 7` gives a score, and no verdict."""


def _stop(text: str, value: Value, kind: str, grammar: Grammar) -> int | None:
    """Where an option ends, if what follows lets it stand as a verdict of the whole."""
    end = value.end
    ranked = _RANKED.match(text, end) if kind != BARE else None
    if ranked is not None:
        end = ranked.end()
    if _IN_PART.match(text, end) or _DOUBT.match(text, end):
        return None
    aside = _ASIDE.match(text, end)
    if aside is not None and names_a_criterion(aside[0]):
        return None  # `A is better (style only)`
    stop = _END.match(text, end) or _REASON.match(text, end) or _NEW_SENTENCE.match(text, end)
    if stop is None or _DOUBT.match(text, stop.end()) or _SCORE.match(text, end):
        return None
    beside = _BESIDE.match(text, end)
    other = OPTION.match(text, beside.end()) if beside else None
    if other is None or choice(other) in (value.number, None):
        return end
    return None if _OF_A_PART.match(text, other.end()) else end  # `Winner: A (style), B (facts)`


VERDICTS = Grammar(
    _read,
    _stop,
    re.compile(rf"(?:(?<![\w'+/-])|(?<=[\u3000-\u9fff])){ANY_OPTION}", re.I),
    chooses=True,
    section="verdicts",
)
