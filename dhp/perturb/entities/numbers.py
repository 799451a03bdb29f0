"""Numbers, dates and alphanumeric codes of an English text: where they are, and others in their place."""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from dhp.perturb.entities.types import Kind, Mention, Piece, Span
from dhp.perturb.entities.words import pick, zipf

_UNITS = "two three four five six seven eight nine".split()
_TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_ORDINALS = "second third fourth fifth sixth seventh eighth ninth".split()
_FRACTIONS = "two-thirds three-quarters two-fifths three-fifths four-fifths five-sixths three-eighths".split()
_PART = "third quarter fifth sixth eighth tenth".split()
_SCALES = ("dozen hundred thousand million".split(), "dozens hundreds thousands millions".split())
_MONTHS = "January February March April May June July August September October November December".split()
_LONG_MONTHS = "January March May July August October December".split()
_SHORT_MONTHS = "Jan Aug Oct Dec".split()
_WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_CLOCK = r"\s?(?:[ap]\.?m\b|o['’]clock)"
_MEASURES = frozenset(
    "m k bn km cm mm nm kg g mg ml l ft in mph kph lb lbs oz p w kw mw v hz khz mhz ghz kb mb gb tb c f min "
    "mins h hr hrs sec secs s x pc cc yr yrs mi pm am bp kda px mah tn b t pt".split()
)
_LONGEST = 24
"""Characters of a number; a longer row of digits is a code."""

_SKIPPED = re.compile(r"https?://\S+|www\.\S+|\S+@\S+|(?<!\w)[@#]\w+|<[^<>\s]{1,20}>")
_MONTH_NAMES = "|".join(
    [*_MONTHS, "Jan", "Feb", "Mar", "Apr", "Jun", "Jul", "Aug", "Sept?", "Oct", "Nov", "Dec"]
)
_CODE = re.compile(r"(?<![\w-])([^\W\d_]{1,6})(-?)[0-9]+(?:[^\W_]|-(?=[^\W_]*[0-9]))*(?!\w)")
_TIME = re.compile(r"(?<![\w:.])(?:[01]?[0-9]|2[0-3]):[0-5][0-9](?![\w:])|"
                   rf"(?<![\w:.])1?[0-9]\.[0-5][0-9](?={_CLOCK})")  # fmt: skip
_DIGITS = re.compile(r"(?<![\w/])(?<![0-9][.,:])(?:[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]+)*)"
                     r"(?![0-9]*[/:])([^\W\d_]*)(?![\w])")  # fmt: skip
_MONTH = re.compile(rf"(?<![\w-])(?:{_MONTH_NAMES})(?![\w-])", re.I)
_WEEKDAY = re.compile(rf"\b(?:{'|'.join(_WEEKDAYS)})(?=s?\b)", re.I)
_WORDS: Mapping[Kind, re.Pattern[str]] = {
    "fraction": re.compile(
        r"\b(?:(?:two|three|four|five|seven)[- ](?:thirds|quarters|fifths|sixths|eighths|tenths)|"
        r"(?<=\bone[- ])(?:third|quarter|fifth|sixth|eighth|tenth)|"
        r"(?<=\ba )(?:third|quarter|fifth|sixth|eighth|tenth)(?= of\b))\b", re.I),
    "number_word": re.compile(
        rf"(?<!\bother )\b(?:(?:{'|'.join(_TENS)})(?:[- ](?:one|{'|'.join(_UNITS)}))?|"
        rf"{'|'.join(_UNITS + _TEENS)}|"
        r"one(?= (?:hundred|thousand|million|billion)\b))\b(?!-[a-z]+(?:th|ths|rds?)\b)", re.I),
    "ordinal_word": re.compile(
        r"(?:(?<=\bthe )|(?<=\bhis )|(?<=\bher )|(?<=\bits )|(?<=\bour )|(?<=\btheir )|(?<=\ba )|(?<=['’]s ))"
        rf"(?:first|{'|'.join(_ORDINALS)})\b(?= [a-z])(?! (?:lady|aid|class|person|hand|half|minister|name|"
        r"place|quarter|of|and|or|two|three|few|couple|later|thing|glance|sight)\b)", re.I),
    "scale": re.compile(
        r"(?<=\ba )(?<!half a )(?:dozen|hundred|thousand|million)\b|(?<! of )\b"
        r"(?:dozens|hundreds|thousands|millions)(?= of (?!dozens|hundreds|thousands|millions))", re.I),
}  # fmt: skip
_DAY_BEHIND = re.compile(r"\s*(?:$|[.,;:)–]|(?:of )?(?:this|the|next|last|that) month)")
_YEAR_BEFORE = re.compile(
    r"(?:\b(?:in|of|since|by|until|till|from|to|and|year|before|after|during|early|late|mid|summer|spring|"
    rf"autumn|winter|fall|between|circa|the|their|his|her|its|this|than|{_MONTH_NAMES})\s+|[(–'’`-]|, )$",
    re.I,
)
_RANGE = re.compile(r"(?:[^\W\d_]{0,3}|\s?%)(?:\s?[-–—]\s?|\s+to\s+)[£$€]?\s?")


def find_numbers(text: str) -> tuple[list[Mention], list[Span]]:
    """Numbers, dates and codes in the order of the text; and spans that are to be left alone."""
    skipped = [m.span() for m in _SKIPPED.finditer(text)]
    found: list[Piece] = []

    def add(pieces: Sequence[Piece | None]) -> None:
        spans = [*skipped, *((p.start, p.end) for p in found)]
        found.extend(p for p in pieces if p and not any(a < p.end and p.start < b for a, b in spans))

    add([_piece(m.start(), m.end(), "time", text, 12 if re.match(_CLOCK, text[m.end() :], re.I) else 23)
         for m in _TIME.finditer(text)])  # fmt: skip
    add([_code(m, text) for m in _CODE.finditer(text)])
    add([_number(m, text) for m in _DIGITS.finditer(text)])
    for kind, pattern in _WORDS.items():
        add([_piece(m.start(), m.end(), kind, text) for m in pattern.finditer(text)])
    add([_piece(m.start(), m.end(), "weekday", text) for m in _WEEKDAY.finditer(text)])
    add([_piece(m.start(), m.end(), "month", text) for m in _MONTH.finditer(text) if _is_month(m, text)])
    found.sort(key=lambda p: p.start)
    return _ranges(found, text), skipped


def _piece(start: int, end: int, kind: Kind, text: str, limit: int = 0) -> Piece:
    return Piece(start, end, kind, text[start:end].lower(), limit)


def _is_month(m: re.Match[str], text: str) -> bool:
    before, after = text[max(0, m.start() - 14) : m.start()], text[m.end() : m.end() + 8]
    if re.match(r"\.?,?\s+(?:[0-9]|<dig>)", after) or re.search(
        r"[0-9](?:st|nd|rd|th)?\s+(?:of\s+)?$", before
    ):
        return True
    name = m.group().lower()
    if name in ("january", "february", "july", "september", "october", "november", "december"):
        return True
    led = re.search(r"\b(?:in|of|since|by|until|till|last|next|this|early|late|mid|from|during)[ -]$", before)
    return bool(led) and name.capitalize() in _MONTHS and m.group()[0].isupper()


def _code(m: re.Match[str], text: str) -> Piece | None:
    """A code such as `B-52`; not `under-21` or `mid-1990s`, where the number stands for itself."""
    if m[2] and (zipf(m[1].lower()) > 4.3 or m[1].lower() == "mid") and not m[1].isupper():
        return None
    return _piece(m.start(), m.end(), "code", text)


def _number(m: re.Match[str], text: str) -> Piece | None:
    start, end, unit = m.start(), m.start(1), m[1].lower()
    digits, before, after = text[start:end], text[max(0, start - 14) : start], text[m.end() : m.end() + 12]
    if len(digits) > _LONGEST:
        return _piece(start, m.end(), "code", text)
    if unit in ("st", "nd", "rd", "th") and digits.isdigit():
        dated = re.search(rf"(?:{_MONTH_NAMES})\s+$", before) or re.match(
            rf"\s+(?:of\s+)?(?:{_MONTH_NAMES})\b", after
        )
        day = re.search(r"\bthe\s+$", before) and _DAY_BEHIND.match(after) and int(digits) <= 31
        century = re.match(r"[\s-]centur", after)
        return _piece(start, m.end(), "ordinal", text, 28 if dated or day else 20 if century else 0)
    if unit == "s" and re.fullmatch(r"[0-9]{1,3}0", digits):
        return _piece(start, end, "decade", text)
    if unit and unit not in _MEASURES and not (len(unit) > 2 and zipf(unit) > 4):
        return _piece(start, m.end(), "code", text)
    if re.search(r"(?:^|[.!?:]\s|\n)$", before) and re.match(r"[.)]\s", after):
        return None  # Of a list.
    if not digits.strip("0.,") or (digits[0] == "0" and "." not in digits):
        return None
    if re.fullmatch(r"1[0-9]{3}|20[0-9]{2}", digits) and not unit and _is_year(digits, before, after):
        return _piece(start, end, "year", text)
    limit = 0
    if digits.isdigit() and int(digits) <= 31:
        dated = re.search(rf"\b(?:{_MONTH_NAMES})\.?\s+(?:[0-9]+\s?[-–]\s?)?$", before, re.I)
        if dated or re.match(rf"(?:\s?[-–]\s?[0-9]+)?\s+(?:of\s+)?(?:{_MONTH_NAMES})\b", after, re.I):
            limit = 28
    if re.match(r"\s?(?:%|per\s?cent)", after) and float(re.sub("[,]|[.](?=.*[.])", "", digits)) <= 100:
        limit = 100
    if re.match(_CLOCK, text[end : end + 12], re.I) and digits.isdigit() and int(digits) <= 12:
        limit = 12
    return _piece(start, end, "number", text, limit)


def _is_year(digits: str, before: str, after: str) -> bool:
    counted = re.match(r"\s(?!(?:this|was|has|his|does|miniseries|series|games)\b)[a-z]+[^us\W]s\b", after)
    led = re.search(r"\b(?:the|their|his|her|its)\s+$", before)
    if re.search(r"[£$€]\s?$", before) or (counted and not led):
        return False
    if "1900" <= digits <= "2040":
        return True
    return bool(_YEAR_BEFORE.search(before) or re.match(r"\s?(?:[).,;]|$)", after))


def _ranges(pieces: Sequence[Piece], text: str) -> list[Mention]:
    """Mentions of one piece, or of two that are the ends of a range; a lone 1 agrees with a singular."""
    mentions: list[list[Piece]] = []
    for before, piece in pairwise([None, *pieces]):
        assert piece is not None
        if before and before.kind == piece.kind:
            gap = text[before.end : piece.start]
            between = gap == " and " and text[: before.start].endswith("between ")
            if between or _RANGE.fullmatch(gap):
                mentions[-1].append(piece)
                continue
        mentions.append([piece])
    return [
        Mention(tuple(m)) for m in mentions if [(p.kind, p.key, p.limit) for p in m] != [("number", "1", 0)]
    ]


def value(piece_text: str) -> float:
    """The value of a number in digits or of a number word; 0 for anything else."""
    low = piece_text.lower()
    if low[:1].isdigit():
        digits = re.match(r"[0-9]+(?:\.[0-9]+)?", low.replace(",", "").replace(":", "."))
        return float(digits.group()[:_LONGEST]) if digits else 0
    total = 0
    for word in re.split(r"[- ]", low):
        if word in _TENS:
            total += 10 * (_TENS.index(word) + 2)
        elif word in _TEENS:
            total += _TEENS.index(word) + 10
        elif word in _UNITS:
            total += _UNITS.index(word) + 2
    return total


def other_number(piece: Piece, rng: random.Random, years: int) -> str:
    """Another number, date or code of the same form; `years` is by how many years the years move."""
    key = piece.key
    if piece.kind == "year":
        return str(int(key) + years)
    if piece.kind == "number":
        return _other_digits(key, piece.limit, rng)
    if piece.kind == "ordinal":
        return _suffixed(int(_other_digits(key[:-2], piece.limit, rng)))
    return _OTHERS[piece.kind](key, piece.limit, rng)


def _suffixed(number: int) -> str:
    teen = 10 < number % 100 < 20
    return f"{number}{'th' if teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def _between(low: int, high: int, rng: random.Random) -> int:
    return low + int(rng.random() * (high - low + 1))


def _other_digits(key: str, limit: int, rng: random.Random) -> str:
    """Digits of the same form: as many, no more leading zeros, as round, of about the same size."""
    digits = key.replace(",", "").replace(".", "")
    if limit == 100 and float(re.match(r"[0-9]*", key).group()) == 100:  # type: ignore[union-attr]
        return str(_between(55, 95, rng)) + key[3:]
    if limit and limit != 100:
        low, high = 10 ** (len(digits) - 1), min(limit, 10 ** len(digits) - 1)
        return str(_between(low, max(low, high), rng))
    core = digits.lstrip("0") if "." in key else digits.strip("0")
    lead = len(digits) - len(digits.lstrip("0"))
    low, high = 10 ** (len(core) - 1), 10 ** len(core) - 1
    if len(core) == 1:
        new = _between(2, 9, rng)
    else:
        near = max(low, int(0.45 * int(core))), min(high, int(2.1 * int(core)))
        new = _between(*near, rng)
        new += new % 10 == 0
    filled = iter("0" * lead + str(new) + "0" * (len(digits) - lead - len(core)))
    return "".join(next(filled) if c.isdigit() else c for c in key)


def _other_time(key: str, limit: int, rng: random.Random) -> str:
    hour, mark, minute = key[:-3], key[-3], int(key[-2:])
    low, high = (1, 9) if len(hour) == 1 else (10, limit)
    if hour[0] == "0":
        low, high = 1, 9
    step = 15 if minute % 15 == 0 else 5 if minute % 5 == 0 else 1
    new = _between(low, high, rng)
    return f"{new:0{len(hour)}d}{mark}{step * _between(0, 60 // step - 1, rng):02d}"


def _other_decade(key: str, limit: int, rng: random.Random) -> str:
    if len(key) == 2:
        return f"{_between(2, 9, rng)}0"
    decades = int(key) // 10
    return f"{_between(max(100, decades - 6), min(202, decades + 3), rng)}0"


def _other_code(key: str, limit: int, rng: random.Random) -> str:
    first = re.search(r"[0-9]", key)
    letters = {c: pick("bcdfgklmnprtvxz" if c not in "aeiou" else "aeiou", rng) for c in dict.fromkeys(key)}
    return "".join(
        str(_between(1 if first and i == first.start() else 0, 9, rng)) if c in "0123456789"
        else letters[c] if c.isalpha() else c for i, c in enumerate(key)
    )  # fmt: skip


def _other_number_word(key: str, limit: int, rng: random.Random) -> str:
    parts = re.split(r"([- ])", key)
    if len(parts) == 3:
        return pick(_TENS, rng) + parts[1] + pick(_UNITS, rng)
    return pick(next((same for same in (_UNITS, _TEENS, _TENS) if key in same), _UNITS), rng)


def _other_fraction(key: str, limit: int, rng: random.Random) -> str:
    return pick(_PART, rng) if key in _PART else pick(_FRACTIONS, rng).replace("-", re.sub("[a-z]", "", key))


def _other_month(key: str, limit: int, rng: random.Random) -> str:
    # Any day of the month before or after it exists in a long month.
    return pick(_LONG_MONTHS if key.capitalize() in _MONTHS else _SHORT_MONTHS, rng)


_OTHERS: Mapping[str, Callable[[str, int, random.Random], str]] = {
    "time": _other_time,
    "decade": _other_decade,
    "code": _other_code,
    "number_word": _other_number_word,
    "ordinal_word": lambda key, limit, rng: pick(_ORDINALS, rng),
    "fraction": _other_fraction,
    "scale": lambda key, limit, rng: pick(_SCALES[key.endswith("s")], rng),
    "month": _other_month,
    "weekday": lambda key, limit, rng: pick(_WEEKDAYS, rng),
}
