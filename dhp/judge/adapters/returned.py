"""What a user's judge returns, read as scores or reasons."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

from dhp.core.records import RatingStatus
from dhp.judge.api import metric_name
from dhp.llm.clients.responses import shortened

VERDICTS = {
    **dict.fromkeys(("yes", "true", "pass", "passed", "correct"), True),
    **dict.fromkeys(("no", "false", "fail", "failed", "incorrect"), False),
}
"""Words for passing or not."""
# Names that frameworks give to the parts of what is returned; the first one that is there counts.
_KEYS = ("key", "name")
_VALUES = ("score", "value")
_REASONS = ("reason", "comment", "explanation", "rationale", "error")
_LONGEST_REASON = 500
"""Characters of a reason that are kept."""
RETURNS = (
    "a number, a bool, None, a text such as yes or no, a mapping or an object with 'score' or 'value', "
    "a list of these with 'key' or 'name', or a mapping {metric: score}"
)
"""What a judge may return."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One score of one text, or why it has no score."""

    status: RatingStatus
    value: float | None
    reason: str | None
    """The judge's own reason for the score, or why it is missing."""
    is_verdict: bool = False
    """Whether it was a bool or a word for one: then the scale is 0 to 1."""


def failed(error: object) -> Outcome:
    """The outcome of a call that raised, or returned something unreadable."""
    words = f"{type(error).__name__}: {error}" if isinstance(error, Exception) else str(error)
    return Outcome("failed", None, shortened(words.rstrip(": "), _LONGEST_REASON))


def read_outcomes(returned: object, name: str) -> dict[str, Outcome]:
    """Metric -> outcome of what a judge returned; `name` is that of a score without one."""
    if isinstance(returned, list | tuple):
        if not returned:
            return {metric_name(name): failed("returned an empty list")}
        outcomes: dict[str, Outcome] = {}
        for each in returned:
            key, outcome = _named_outcome(each, name)
            if key in outcomes:
                return {metric_name(name): failed(f"returned two scores called '{key}'")}
            outcomes[key] = outcome
        return outcomes
    if isinstance(returned, Mapping):
        by_metric: dict[str, Outcome] = {}
        for metric, score in _scores_by_metric(returned).items():
            by_metric[metric_name(str(metric))] = _metric_outcome(score, _reason(returned))
        if by_metric:
            return by_metric
    return dict([_named_outcome(returned, name)])


def _scores_by_metric(returned: Mapping[object, object]) -> Mapping[object, object]:
    """The scores of a mapping `{metric: score}`; empty for any other mapping."""
    if any(name in returned for name in (*_KEYS, *_VALUES)):
        return {}
    scores = {metric: score for metric, score in returned.items() if metric not in _REASONS}
    return scores if all(_is_score(score) for score in scores.values()) else {}


def _is_score(value: object) -> bool:
    """Whether a value of a mapping is a score: else the mapping is no `{metric: score}`."""
    if isinstance(value, Mapping):
        return any(name in value for name in _VALUES)
    return value is None or isinstance(value, Real) or str(value).strip().lower() in VERDICTS


def _metric_outcome(score: object, reason: str | None) -> Outcome:
    """The outcome of one metric, whose own reason counts before that of all."""
    if isinstance(score, Mapping):
        values = [score[name] for name in _VALUES if name in score]
        return _outcome(values[0], _reason(score) or reason)
    return _outcome(score, reason)


def _reason(parts: Mapping[Any, object]) -> str | None:
    """The first reason that was given; None without any."""
    for part in _REASONS:
        reason = parts.get(part)
        if reason not in (None, ""):
            return str(reason)
    return None


def _named_outcome(returned: object, name: str) -> tuple[str, Outcome]:
    """The name of the metric that was returned, else `name`, and the outcome."""
    parts = _parts(returned)
    keys = [parts.get(part) for part in _KEYS]
    names = [key for key in keys if isinstance(key, str) and key.strip()]
    key = metric_name(names[0] if names else name)
    values = [part for part in _VALUES if part in parts]
    if not values:
        return key, failed(f"returned an object of type {type(returned).__name__}; allowed: {RETURNS}")
    return key, _outcome(parts[values[0]], _reason(parts))


def _parts(returned: object) -> Mapping[str, object]:
    """What was returned by name: the attributes of an object, or a plain value as the score."""
    if isinstance(returned, Mapping):
        return returned
    if returned is None or isinstance(returned, str | Real) or _is_bool(returned):
        return {"score": returned}
    known = (*_KEYS, *_VALUES, *_REASONS)
    return {name: getattr(returned, name) for name in known if hasattr(returned, name)}


def _is_bool(value: object) -> bool:
    """Whether a value is a bool: Python's, or numpy's, which is called `bool_` before version 2."""
    return type(value).__name__ in ("bool", "bool_")


def _outcome(value: object, reason: str | None) -> Outcome:
    """The outcome that one value stands for: a number, a verdict, or no score."""
    reason = None if reason is None else shortened(reason, _LONGEST_REASON)
    if value is None:
        return Outcome("unparsed", None, reason or "returned no score")
    verdict = bool(value) if _is_bool(value) else None
    if isinstance(value, str):
        verdict = VERDICTS.get(value.strip().lower())
        if verdict is None:
            return Outcome("unparsed", None, shortened(f"returned the text '{value}'", _LONGEST_REASON))
    if verdict is not None:
        return Outcome("scored", float(verdict), reason, is_verdict=True)
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return failed(f"returned a score of type {type(value).__name__}; allowed: {RETURNS}")
    if not math.isfinite(number):
        return Outcome("unparsed", None, reason or f"returned {number:g}")
    return Outcome("scored", number, reason)


def to_text(outcomes: Mapping[str, Outcome]) -> str:
    """Outcomes as they are stored."""
    # `dataclasses.asdict` takes five times as long, and every call passes here.
    values = {}
    for name, outcome in outcomes.items():
        values[name] = {key: getattr(outcome, key) for key in outcome.__slots__}
    return json.dumps(values, ensure_ascii=False)


def from_text(text: str) -> dict[str, Outcome]:
    """Outcomes as `to_text` wrote them."""
    return {name: Outcome(**each) for name, each in json.loads(text).items()}
