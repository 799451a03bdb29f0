"""Reads what a user's judge returned: numbers, verdicts, score objects, or why there is no score."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from numbers import Real

from dhp.core.records import RatingStatus

_VERDICTS = {
    **dict.fromkeys(("yes", "true", "pass", "passed", "correct"), True),
    **dict.fromkeys(("no", "false", "fail", "failed", "incorrect"), False),
}
_VALUES = ("score", "value")
_REASONS = ("reason", "comment", "explanation", "rationale", "error")
_LONGEST_REASON = 500
SHAPES = (
    "a number, a bool, None, a text such as yes or no, a mapping or an object with 'score' or 'value', "
    "or a list of these with 'key' or 'name'"
)
"""What a judge may return."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One score of one text, or why there is none."""

    status: RatingStatus
    value: float | None
    reason: str | None
    """The judge's own reason for the score, or why there is none."""
    is_verdict: bool = False
    """Whether it was a bool or a word for one: then the scale is 0 to 1."""


def failed(error: object) -> Outcome:
    """The outcome of a call that raised, or returned something unreadable."""
    words = f"{type(error).__name__}: {error}" if isinstance(error, Exception) else str(error)
    return Outcome("failed", None, _short(words.rstrip(": ")))


def metric_name(name: str) -> str:
    """A name as metrics have it: lower case, digits and `_`, a letter first."""
    plain = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    return plain if plain[:1].isalpha() else f"score_{plain}".rstrip("_")


def read_outcomes(returned: object, name: str) -> dict[str, Outcome]:
    """Metric -> outcome of what a judge returned; `name` is that of a score without one."""
    if isinstance(returned, list | tuple):
        if not returned:
            return {metric_name(name): failed("returned an empty list")}
        found: dict[str, Outcome] = {}
        for each in returned:
            key = metric_name(_key(each) or name)
            if key in found:
                return {metric_name(name): failed(f"returned two scores called '{key}'")}
            found[key] = _outcome(each)
        return found
    return {metric_name(_key(returned) or name): _outcome(returned)}


def _key(returned: object) -> str | None:
    if returned is None or isinstance(returned, str | Real):
        return None
    keys = (_part(returned, name) for name in ("key", "name"))
    return next((key for key in keys if isinstance(key, str) and key.strip()), None)


def _part(returned: object, name: str) -> object:
    return returned.get(name) if isinstance(returned, Mapping) else getattr(returned, name, None)


def _outcome(returned: object) -> Outcome:
    if returned is None or isinstance(returned, str | Real):
        return _plain(returned, None)
    names = [name for name in _VALUES if _holds(returned, name)]
    if not names:
        return failed(f"returned a {type(returned).__name__}; allowed: {SHAPES}")
    reasons = (_part(returned, name) for name in _REASONS)
    reason = next((str(r) for r in reasons if r not in (None, "")), None)
    return _plain(_part(returned, names[0]), reason)


def _holds(returned: object, name: str) -> bool:
    return name in returned if isinstance(returned, Mapping) else hasattr(returned, name)


def _plain(value: object, reason: str | None) -> Outcome:
    reason = None if reason is None else _short(reason)
    if value is None:
        return Outcome("unparsed", None, reason or "returned no score")
    verdict = value if isinstance(value, bool) else None
    if isinstance(value, str):
        verdict = _VERDICTS.get(value.strip().lower())
        if verdict is None:
            return Outcome("unparsed", None, _short(f"returned the text '{value}'"))
    if verdict is not None or type(value).__name__ == "bool_":  # numpy's
        return Outcome("scored", float(bool(value) if verdict is None else verdict), reason, True)
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return failed(f"returned a score of type {type(value).__name__}; allowed: {SHAPES}")
    if not math.isfinite(number):
        return Outcome("unparsed", None, reason or f"returned {number:g}")
    return Outcome("scored", number, reason)


def _short(text: str) -> str:
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= _LONGEST_REASON else f"{one_line[: _LONGEST_REASON - 1]}…"


def as_json(outcomes: Mapping[str, Outcome]) -> str:
    """Outcomes as JSON for the store of replies."""
    return json.dumps({name: asdict(outcome) for name, outcome in outcomes.items()}, ensure_ascii=False)


def from_json(text: str) -> dict[str, Outcome]:
    """What `as_json` wrote."""
    return {name: Outcome(**each) for name, each in json.loads(text).items()}
