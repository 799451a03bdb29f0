"""The two texts of a comparison as answers name them, a tie, and what is behind of one of them."""

import re
from re import Match

from dhp.judge.extraction.grammar import Grammar
from dhp.judge.extraction.values import Value
from dhp.judge.extraction.words import any_of

_NOUN = (
    r"(?:outputs?|responses?|assistants?|answers?|repl(?:y|ies)|summar(?:y|ies)|texts?|models?|candidates?"
    r"|antwort(?:en)?|réponses?|respuestas?|rispost[ae]|respostas?|options?|systems?|stor(?:y|ies)"
    r"|translations?|versions?|choices?|conversations?|passages?)"
)
_FORMS = (
    r"(?P<pair#>[AB12] ?(?:>{1,3}|<{1,3}|=|≈|~) ?[AB12])(?!\w)",
    rf"{_NOUN} [\"'(\[]{{0,2}}(?P<named#>[ab12]|one|two)(?![A-Za-z\d])[\"')\]]{{0,2}}",
    rf"(?P<ordinal#>first|second)(?: (?:one|{_NOUN}))?(?![\w-])",
    r"\(?(?-i:(?P<letter#>[ABab12]))(?![A-Za-z\d'+]|-(?!\s)|\.\w)\)?",
    r"(?P<tie#>(?:ties?|tied|draw|toss-up)\b|(?-i:C)(?![\w+'-])|equal(?:ly good)?\b|same\b"
    r"|no (?:clear )?(?:winner|preference|difference)\b|neither (?:\w{1,20} ){0,4}is better\b"
    r"|平局|平手|不相上下|难分高下|一样好"
    r"|(?:both|the two|they)\b[^.\n,;:]{0,60}\b(?:equal(?:ly)?(?: (?:good|bad"
    r"|well|strong|helpful))?|comparable)\b)",
)


OPTION = re.compile(f"(?:{'|'.join(_FORMS)})".replace("#>", ">"), re.I)
"""One of the two, or a tie."""
_ANY = re.sub(r"\?P<\w+>", "?:", OPTION.pattern)
"""The same without the names of its groups."""
_ADVERBS = (
    r"(?: (?:clearly|slightly|much|far|overall|therefore|thus|indeed|an?|the|marginally|significantly"
    r"|somewhat"
    r"|generally|definitely|arguably|still|more|narrowly|easily|by far|ultimately|considerably)){0,3}"
)
_IS = r"(?:'s| is| ist| est| es| è| é| are| seems(?: to be)?| appears to be)"
_THAN = rf"(?: (?:than|over|to|by|als|que|di) (?:the )?{_ANY})?"
_BETTER = (
    r" (?:better|best|besser|meilleure?|mejor|migliore|melhor|superior|prefer(?:able|red)|stronger|winner"
    r"|favou?red"
    r"|chosen|more (?:accurate|helpful|relevant|appropriate|suitable|correct|coherent|fluent|faithful))"
    rf"(?: (?:one|choice|option|{_NOUN}))?"
)
_SAID = re.compile(
    rf"(?P<better>(?:{_IS}{_ADVERBS}{_BETTER}| besser| (?:(?:clearly|narrowly|easily) )?(?:wins|beats"
    rf"|outperforms"
    rf"|surpasses)){_THAN}| (?:over|rather than|instead of) (?:the )?{_ANY})"
    rf"|(?P<worse>(?:{_IS}{_ADVERBS} (?:worse|inferior|weaker|outperformed|beaten|surpassed)| loses){_THAN})"
    r"|(?P<signs> ?(?:的(?:回答|文本)?|の(?:回答)?(?:方|ほう)?[がはも]|[がは])?(?:明显|略|稍|更){0,2}"
    r"(?:更好|更优|较好|胜出|获胜|更佳|優れて\w{0,4}|より?良い|好ましい|勝ち\w{0,4}))",
    re.I,
)
"""What is behind of a text: that it is better, or worse, than the other."""


def choice(match: Match[str]) -> int | None:
    """Which text a match names: 1, -1, or 0 for a tie; None for a pair of the same."""
    groups = match.groupdict()
    if groups.get("tie"):
        return 0
    if pair := groups.get("pair"):
        first, second = (1 if pair[place] in "A1" else -1 for place in (0, -1))
        sign = next(c for c in pair if c in "><=≈~")
        return None if first == second else 0 if sign in "=≈~" else first if sign == ">" else second
    name = groups.get("named") or groups.get("letter") or groups.get("ordinal") or ""
    return 1 if name.lower() in ("a", "1", "one", "first") else -1


def _read(text: str, start: int) -> Value | None:
    """One of the two with what is behind of it, which is then the rule: `stated` or `worse`."""
    match = OPTION.match(text, start)
    chosen = None if match is None else choice(match)
    if match is None or chosen is None:
        return None
    behind = _SAID.match(text, match.end())
    if behind is None or chosen == 0:
        return Value(
            float(chosen), match.end(), "stated" if match["tie"] and " " in match["tie"].strip() else ""
        )
    return Value(
        float(-chosen if behind["worse"] else chosen), behind.end(), "worse" if behind["worse"] else "stated"
    )


_IN_PART = re.compile(
    r" (?:in|at|on|for|with|formatted|known|written|styled|only|if|when|by|as to|as far as|structured"
    r"|supported|of)\b"
    r"(?! (?:all|every|any|both|most|general|overall|my|the (?:whole|end)|balance|that|far|an? |its|this"
    r"|providing|being|giving|covering|it)\b)",
    re.I,
)
"""A verdict of a part: any place, time or criterion but the whole."""
_END = re.compile(
    r"[\"')\]}|*]*(?:\s*\Z|\n|[.!。]|[,;:，；：](?= |\Z)| -+ | (?=[(\[])|，)|[ ]*(?:\Z|\n)|てい"
)
_REASON = re.compile(
    r" (?:because|since|as|for|due|in|by|overall|here|given|on|with|although|though|while|but)\b", re.I
)
_DOUBT = re.compile(
    rf"[\s,;:.()!-]*(?:(?:no|wait)[,.;:!]|{any_of('verdict_doubt')}|and (?:b|a|response|output)\b|\?)", re.I
)
_BESIDE = re.compile(r"[^\n.,;]{0,40}[,;] (?:and |but |then )?")
_OF_A_PART = re.compile(r" ?(?:\(|for\b|in\b|on\b)|[ .!]*(?:\Z|\n)")


def _stop(text: str, value: Value, kind: str, grammar: Grammar) -> int | None:
    """Where an option ends, if what follows lets it stand as a verdict of the whole."""
    end = value.end
    ranked = re.compile(r" ?, ?(?-i:[AB12])\b").match(text, end) if kind != "bare" else None
    end = ranked.end() if ranked else end
    if _IN_PART.match(text, end) or _DOUBT.match(text, end):
        return None
    stop = _END.match(text, end) or _REASON.match(text, end)
    if stop is None and text.startswith("]]", end):
        stop = re.compile(r"\]\] (?=[A-Z])").match(text, end)
    if stop is None or _DOUBT.match(text, stop.end()) or re.match(r"[\"')\]]{0,3}: ?\d", text[end : end + 8]):
        return None
    beside = _BESIDE.match(text, end)
    other = OPTION.match(text, beside.end()) if beside else None
    if (
        other is not None
        and choice(other) not in (value.number, None)
        and _OF_A_PART.match(text, other.end())
    ):
        return None  # `Winner: A (style), B (facts)`
    return end


VERDICTS = Grammar(
    _read,
    _stop,
    re.compile(rf"(?:(?<![\w'+/-])|(?<=[\u3000-\u9fff])){_ANY}", re.I),
    chooses=True,
    section="verdicts",
)
