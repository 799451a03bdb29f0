"""Several ratings in one answer: a JSON object whose keys are the metrics."""

import json
import re
from collections.abc import Mapping

from dhp.core.text import without_reasoning
from dhp.judge.extraction.numbers import shortened

_INNER = ("score", "rating", "value", "grade", "verdict", "label", "answer")


def read_object(text: str, metrics: Mapping[str, str]) -> dict[str, str] | None:
    """Metric -> what the object says about it, as text; None where the answer holds no such object.

    Of several objects the last that has any of the metrics counts. Keys are compared without case, spaces,
    `_` and `-`; where a metric has an object of its own, its `score`, `rating`, `value`, `grade`, `verdict`,
    `label` or `answer` counts.

    Parameters
    ----------
    text
        The answer as the model gave it.
    metrics
        Name of each metric -> what it is called in prompts; either may be the key.
    """
    words = without_reasoning(text)
    if words is None:
        return None
    known = {_plain(key): name for name, label in metrics.items() for key in (name, label)}
    decoder, found, place = json.JSONDecoder(), None, 0
    words = shortened(words)
    while (place := words.find("{", place)) >= 0:
        try:
            value, end = decoder.raw_decode(words, place)
        except (ValueError, RecursionError):
            place += 1
            continue
        inside = _of_metrics(value, known)
        found, place = inside or found, end if inside else place + 1
    return found


def _of_metrics(value: object, known: Mapping[str, str]) -> dict[str, str]:
    found = {}
    for key, inner in value.items() if isinstance(value, dict) else ():
        name = known.get(_plain(key))
        if name is not None and (text := _as_text(inner)) is not None:
            found[name] = text
    return found


def _as_text(value: object) -> str | None:
    if isinstance(value, dict):
        plain = {_plain(key): inner for key, inner in value.items()}
        value = next((plain[key] for key in _INNER if key in plain), None)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value) if isinstance(value, int | float | str) else None


def _plain(key: str) -> str:
    return re.sub(r"[\s_-]+", "", key.lower())
