"""Numbers in an answer as tokens, without those that are no ratings: mentions of the scale, lists, ranges."""

import functools
import re
import unicodedata
from collections.abc import Callable, Iterable
from re import Match

from dhp.core.specs import Scale

_LONGEST = 40_000
"""Characters of an answer that are read, so that a text of any length is read in well under a second."""
_HALVES = str.maketrans({"½": ".5", "¼": ".25", "¾": ".75"})
_CHARACTERS = str.maketrans(
    dict.fromkeys("*`\u200b\u200c\u200d\u2060\ufeff\ufe0e\ufe0f⟦⟧", "")
    | dict.fromkeys("–—―", " - ")
    | dict.fromkeys("‐‑", "-")
    | {"−": "-", "’": "'", "⁄": "/", "\u2581": " ", "_": " ", "\r": "\n", "〜": "~"}
)
_MARKUP = (
    (re.compile(r"\\[dt]?frac\{([^{}\n]{1,9})\}\{([^{}\n]{1,9})\}"), r"\1/\2"),
    (re.compile(r"\\(?:text(?:bf)?|mathbf|mathrm)\{"), "{"),
    (re.compile(r"\$([^$\n]{1,40})\$"), r"\1"),
    (re.compile(r"<\|[^|<>\n]{1,30}\|>|</?s>"), " "),
    (re.compile(r"(?m)^[ \t]{0,8}#{1,6}(?=[ \t])"), ""),
)


def shortened(text: str) -> str:
    """A text of at most `_LONGEST` characters: beginning and end of a longer one, cut at spaces."""
    if len(text) <= _LONGEST:
        return text
    head, tail = text[: _LONGEST // 2], text[-_LONGEST // 2 :]
    return re.sub(r"\S+\Z", "", head) + "\n" + re.sub(r"\A\S+", "", tail)


def clean(text: str) -> str:
    """Plain characters (Unicode NFKC), single spaces, no markup; lines are kept."""
    text = unicodedata.normalize("NFKC", text.translate(_HALVES)).translate(_CHARACTERS)
    for pattern, plain in _MARKUP:
        text = pattern.sub(plain, text)
    return re.sub(r" ?\n ?", "\n", re.sub(r"[^\S\n]+", " ", text))


WORDS = {w: i for i, w in enumerate("zero one two three four five six seven eight nine ten".split())}
HAN = {han: i for i, han in enumerate("零一二三四五六七八九")} | {"两": 2}

TOKEN = r"⟦([^⟦⟧]{1,60})⟧"
"""Any token; its group is the value."""
PLAIN = r"⟦(-?[\di][^⟦⟧/%?]{0,30})⟧"
"""A token of a plain number."""
POINTS = r" ?(?:-? ?(?:stars?|points?)\b|分|颗?星)?"
"""What may be counted without a change of meaning."""

Rewrite = tuple[re.Pattern[str], str | Callable[[Match[str]], str]]

_HAN = "[零一二两三四五六七八九十百]{1,5}(?:点[零一二三四五六七八九])?"
_STAR = "[★⭐🌟]"
_LONE_STAR = rf"(?<![★⭐🌟☆]){_STAR}(?! ?[★⭐🌟☆])"
_NUMBER = re.compile(
    r"(?<![A-Za-z0-9⟦#$€£¥])(?<![A-Za-z]-)(?<!\d[.,])(?:"
    r"((?<!\d\s)(?<![\d)\]%])-)?"
    r"(\d{1,3}(?:,\d{3})+|\d+[.,]\d{1,2}|\d+\.\d+|\.\d+|\d+)"
    r"(?!\d|[.,]\d)(?!(?!(?:stars?|points?|pts|out)\b)[A-Za-z])"
    rf"|({'|'.join(WORDS)})\b)",
    re.I,
)


def token(value: float) -> str:
    """The token of a plain number."""
    return f"⟦{value:.10g}⟧"


def rewritten(text: str, rewrites: Iterable[Rewrite]) -> str:
    """The text after one rewrite after the other, with single spaces."""
    for pattern, plain in rewrites:
        text = re.sub(" {2,}", " ", pattern.sub(plain, text))
    return text


def _number(match: Match[str]) -> str:
    sign, digits, word = match.groups()
    if word:
        return token(WORDS[word.lower()])
    plain = digits.replace(",", "" if re.fullmatch(r"\d+(?:,\d{3})+", digits) else ".")
    return token(-float(plain) if sign else float(plain))


def _from_han(text: str) -> str:
    """A Chinese numeral up to a few hundred, in digits."""
    whole, _, decimal = text.partition("点")
    total = digit = 0
    for character in whole:
        if character in "十百":
            total, digit = total + (digit or 1) * (10 if character == "十" else 100), 0
        else:
            digit = HAN[character]
    return f"{total + digit}.{HAN[decimal]}" if decimal else str(total + digit)


def _from_glyphs(match: Match[str]) -> str:
    filled, half, empty = (len((group or "").replace(" ", "")) for group in match.groups())
    stars = f"{filled}.5" if half else str(filled)
    return f" {stars}/{filled + bool(half) + empty} stars " if empty else f" {stars} stars "


def _and_a_half(match: Match[str]) -> str:
    return token(float(match[1]) + 0.5)


_TO_DIGITS: tuple[Rewrite, ...] = (
    (re.compile(rf"(?m)^{_LONE_STAR}$"), "1 star"),
    (re.compile(rf"(\d) ?{_LONE_STAR}"), r"\1 stars"),
    (re.compile(_LONE_STAR), ""),
    (re.compile(rf"({_STAR}(?: ?{_STAR}){{0,99}})(\.5)?((?: ?[☆✩✰]){{0,99}})"), _from_glyphs),
    (re.compile(rf"({_HAN})分之({_HAN})"), lambda m: f"{_from_han(m[2])}/{_from_han(m[1])}"),
    (
        re.compile(rf"({_HAN}) ?([至到]) ?({_HAN})(?=[分星颗\s,。;:)]|$)"),
        lambda m: f"{_from_han(m[1])}{m[2]}{_from_han(m[3])}",
    ),
    (re.compile(rf"({_HAN})(?= ?(?:分(?![之析别布类为明成辨段])|颗|星))"), lambda m: _from_han(m[1])),
    (re.compile(rf"(?<![一-鿿])({_HAN})(?= ?(?:$|[。.,;:!?)\n]))"), lambda m: _from_han(m[1])),
)
_TO_TOKENS: tuple[Rewrite, ...] = (
    (_NUMBER, _number),
    (re.compile(rf"{PLAIN}[ -]and[ -]a[ -]half\b", re.I), _and_a_half),
    (re.compile(rf"{PLAIN} (?:and )?⟦1⟧ ?/ ?⟦2⟧"), _and_a_half),
    (re.compile(rf"{PLAIN} ?[个颗分星]{{1,2}}半星?"), lambda m: _and_a_half(m) + "分"),
    (re.compile(r"⟦(\d{1,3})⟧ point ⟦(\d)⟧", re.I), r"⟦\1.\2⟧"),
    (re.compile(rf"{PLAIN} ?(?:%|per ?cent\b)", re.I), r"⟦\1%⟧"),
)
FRACTION: Rewrite = (
    re.compile(
        rf"{PLAIN}{POINTS} ?(?:/|\b(?:out )?of\b) ?(?:(?:an?|the|possible|total|maximum|of) ){{0,4}}{PLAIN}",
        re.I,
    ),
    r"⟦\1/\2⟧",
)


def with_tokens(text: str) -> str:
    """The text with every number as a token; fractions are made of two by `FRACTION`."""
    return rewritten(text, (*_TO_DIGITS, *_TO_TOKENS))


def value_on(value: str, top: float) -> float | None:
    """What a token says on a scale up to `top`; NaN if on another one, None for a range (`?`)."""
    if value == "?":
        return None
    number, *whole = value.removesuffix("%").split("/")
    own_top = 100.0 if value.endswith("%") else float(whole[0]) if whole else top
    return float(number) if own_top == top else float("nan")


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
