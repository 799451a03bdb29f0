"""How long a server asks to wait before the next call: in headers, in its error, in words.

`requested_wait` collects what is said in any of these places. Each is a number, a duration, a time span or a
moment, which `seconds` reads; units and words are those of servers that answer in English, German, French and
Chinese (`tests/llm/test_account.py` has examples).
"""

import contextlib
import datetime as dt
import email.utils
import re
import time
from collections.abc import Iterator, Mapping, Sequence

_UNITS = {
    r"ms|msecs?|milliseconds?|毫秒": 0.001,
    r"s|secs?|seconds?|secondes?|sekunden?|秒鐘|秒钟|秒": 1.0,
    r"m|mins?|minutes?|minuten|分鐘|分钟|分": 60.0,
    r"h|hrs?|hours?|heures?|stunden?|小時|小时": 3600.0,
    r"d|days?|jours?|tage?n?|天": 86400.0,
}
"""Pattern of a unit -> its seconds."""
_UNIT = "|".join(_UNITS)
# "30", "34.07"; bounded, as a pattern over digits without end takes the square of their number
_NUMBER = r"\d{1,15}(?:\.\d{1,15})?"
# "34.07s", "5 分钟"; within "6m0s" a digit follows at once, and no letter may: "5 mixed".
_STEP = rf"{_NUMBER}\s?(?:{_UNIT})(?![a-z])|{_NUMBER}(?:{_UNIT})(?=\d)"
# Up to five steps: "7h12m0s", "2 hours and 30 seconds"
_DURATION = rf"(?:{_STEP})(?:,?(?:\s(?:and|und|et))?\s?(?:{_STEP})){{0,4}}"
_CLOCK = r"(?:\d{1,5}[. ])?\d{1,3}:\d\d:\d\d"
"""As Azure writes a time span: days, hours, minutes, seconds, "2.06:36:22"."""
# "2027-01-16 at 08:00 UTC", "2027-01-15T08:01:00Z"
_MOMENT = r"\d{4}-\d\d-\d\d(?:(?:T| at | )\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?\s*(?:Z|UTC|GMT|[+-]\d\d:?\d\d)?"
_TIME = rf"(?P<time>{_MOMENT}|{_CLOCK}|{_DURATION})"
_IN_WORDS = (
    # "Please try again in 7h12m0s", "Rate limit resets 2027-01-16"
    re.compile(
        r"(?:again|retry(?:ing|delay)?|wait|resets?|replenish(?:ed)?|refill(?:s|ed)?|renew(?:s|ed)?|regain|"
        rf"available|until|versuchen|warten|r[ée]essay\w*|attendez|重试|重試|等待)[^\d。]{{0,40}}?{_TIME}",
        re.I,
    ),
    # "5 分钟后": after five minutes
    re.compile(rf"{_TIME}\s?(?:之后|之後|以后|以後|后|後)", re.I),
    # "Retry-After: 30", in seconds
    re.compile(rf"retry.?after\W{{1,4}}(?P<time>{_NUMBER})(?![\w.:/-])", re.I),
)
_IN_FIELDS = {"retrydelay": 1.0, "retryafter": 1.0, "retryafterseconds": 1.0, "retryafterms": 0.001}
"""Names in an error, without signs, and the seconds of one of their units."""
_RESET = re.compile(r"(?:.*-)?ratelimit(?:-.*)?-reset(?:-.*)?")
"""Headers such as `x-ratelimit-reset-requests` and `anthropic-ratelimit-requests-reset`."""
_SECONDS_SINCE_1970, _MILLISECONDS_SINCE_1970 = 1e9, 1e11
"""Larger numbers are moments; in seconds the first is in 2001, the second in the year 5138."""
_DEPTH = 6
"""Levels of an error that are looked into. Chosen."""
_LONGEST_TIME = 400
"""Characters of a number or a moment; the largest number of a computer has 309 digits."""


def requested_wait(
    status: int, headers: Mapping[str, str], error: object, message: str, now: float | None = None
) -> float | None:
    """Seconds that an answer with an error asks to wait; None if it does not say.

    The longest of what is asked for outright: the headers `retry-after-ms` and `Retry-After` (seconds or a
    date), `retryDelay` and the like in the `error`, and the first time in the words of its `message`. Without
    any, a refusal for too many calls (429) asks to wait until the limits are reset that are used up.
    """
    now = time.time() if now is None else now
    asked = [
        _scaled(headers.get("retry-after-ms"), 0.001, now),
        _scaled(headers.get("Retry-After"), 1.0, now),
    ]
    for value, unit in _fields(error):
        asked.append(_scaled(value, unit, now))
    asked.append(_in_words(message, now))

    if status == 429 and not any(asked):  # none, or a wait of 0
        asked.append(_until_reset(headers, now))
        for name, value in _items(error):
            if name == "headers":  # OpenRouter repeats those of the provider behind it
                asked.append(_until_reset(value, now))
    waits = [wait for wait in asked if wait is not None]
    return max(waits, default=None)


def seconds(text: str, now: float) -> float | None:
    """The seconds of a wait as a number, a duration such as `6m0s`, a time span or a moment; None for others.

    Numbers that are too large for a wait are moments, in seconds or milliseconds since 1970. What is past, or
    no number, is no wait: 0.
    """
    text = text.strip().strip('"')
    if len(text) > _LONGEST_TIME:
        return None
    number = None
    with contextlib.suppress(ValueError):
        number = float(text)
    if number is not None:
        if number > _MILLISECONDS_SINCE_1970:
            number = number / 1000 - now
        elif number > _SECONDS_SINCE_1970:
            number -= now
        return max(0.0, number)
    if re.fullmatch(_DURATION, text, re.I):
        return sum(_step(step) for step in re.findall(_STEP, text, re.I))
    if re.fullmatch(_CLOCK, text):
        parts = re.split(r"[.: ]", text)
        days = float(parts[0]) if len(parts) == 4 else 0.0
        hours, minutes, rest = map(float, parts[-3:])
        return ((days * 24 + hours) * 60 + minutes) * 60 + rest
    moment = _moment(text)
    return None if moment is None else max(0.0, moment - now)


def _step(text: str) -> float:
    """The seconds of a number with its unit, which is one of `_UNITS`."""
    number = re.match(r"[\d.]+", text)
    assert number
    unit = text[number.end() :].strip().lower()
    for words, size in _UNITS.items():
        if re.fullmatch(words, unit):
            return float(number[0]) * size
    raise AssertionError(f"no unit of time: {unit}")


def _moment(text: str) -> float | None:
    """Seconds since 1970 of a date, in UTC if it names no zone."""
    plain = re.sub(r"\s*(?:UTC|GMT|Z)$", "+00:00", text.replace(" at ", "T"), flags=re.I)
    with contextlib.suppress(ValueError, OverflowError):
        moment = dt.datetime.fromisoformat(plain)
        return moment.replace(tzinfo=moment.tzinfo or dt.UTC).timestamp()
    with contextlib.suppress(ValueError, TypeError, OverflowError):
        return email.utils.parsedate_to_datetime(text).timestamp()
    return None


def _scaled(value: object, unit: float, now: float) -> float | None:
    """Seconds of a value in a header or field, whose plain numbers are of this unit."""
    if isinstance(value, Mapping):  # a duration of protocol buffers
        whole = _scaled(value.get("seconds"), 1.0, now)
        rest = _scaled(value.get("nanos"), 1e-9, now)
        if whole is None and rest is None:
            return None
        return (whole or 0.0) + (rest or 0.0)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    with contextlib.suppress(ValueError):
        if unit != 1.0:
            return max(0.0, float(value) * unit)
    return seconds(str(value), now)


def _items(error: object, depth: int = 0) -> Iterator[tuple[str, object]]:
    """All names in an error with what they hold, however deep."""
    if depth > _DEPTH:
        return
    if isinstance(error, Mapping):
        for name, value in error.items():
            yield str(name), value
            yield from _items(value, depth + 1)
    elif isinstance(error, Sequence) and not isinstance(error, str | bytes):
        for value in error:
            yield from _items(value, depth + 1)


def _fields(error: object) -> Iterator[tuple[object, float]]:
    """The values in an error that are waits by their names, each with the seconds of its unit."""
    for name, value in _items(error):
        unit = _IN_FIELDS.get(re.sub(r"[^a-z]", "", name.lower()))
        if unit is not None:
            yield value, unit


def _in_words(message: str, now: float) -> float | None:
    """The wait by the first pattern that the words fit."""
    for pattern in _IN_WORDS:
        match = pattern.search(message)
        if match:
            return seconds(match["time"], now)
    return None


def _until_reset(headers: object, now: float) -> float | None:
    """The time until the limits that are used up are reset; if none says that it is, the shortest."""
    if not isinstance(headers, Mapping):
        return None
    limits = {str(name).lower(): str(value) for name, value in headers.items()}
    used_up: list[float] = []
    others: list[float] = []
    for name, value in limits.items():
        wait = seconds(value, now) if _RESET.fullmatch(name) else None
        if wait is None:
            continue
        remaining = limits.get(name.replace("reset", "remaining"), "")
        if remaining.strip() in ("0", "0.0"):
            used_up.append(wait)
        else:
            others.append(wait)
    if used_up:  # all of these limits have to be reset
        return max(used_up)
    return min(others, default=None)
