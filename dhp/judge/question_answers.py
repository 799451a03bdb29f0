"""What a decision model's answers to typed questions say: the expected level of each as the score.

An answer is an object by the names of the questions, in the form of `POST /v1/systemone`, or in that of
OpenAI's Decisions, which gives probabilities as a list.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dhp.core.specs import Metric
from dhp.judge.extraction.extracted import Extracted
from dhp.judge.questions import keyed

# Reasons for no score.
LEFT_OUT = "the answer leaves this question out"
_NO_NUMBER = "the answer to this question has no number"
_ROUNDING = 0.02
"""By how much rounded probabilities may sum to something else than 1, for each level. Chosen."""
_FLOAT = 1e-9
"""By how much a place on a scale may lie beyond its ends, as sums of floats do."""


def read_answers(text: str, metrics: Sequence[Metric]) -> Iterator[tuple[Metric, Extracted]]:
    """What an answer says of each metric; a question that it leaves out is a rating without a score."""
    answers = _object(text)
    for metric in metrics:
        answer = answers.get(metric.name)
        if not isinstance(answer, dict):
            yield metric, Extracted("unparsed", rule=LEFT_OUT)
        elif answer.get("type") == "refusal":
            yield metric, Extracted("refused", words=_words(answer))
        else:
            yield metric, _read(answer, metric)


def read_choice(text: str, question: str) -> Extracted:
    """Which of two texts the answer to a question prefers: 1 the first, -1 the second, 0 neither."""
    answer = _object(text).get(question)
    if not isinstance(answer, dict):
        return Extracted("unparsed", rule=LEFT_OUT)
    if answer.get("type") == "refusal":
        return Extracted("refused")
    shares = _by_name(answer.get("probabilities"))
    score = {"first": 1.0, "second": -1.0, "tie": 0.0}.get(str(answer.get("choice")))
    if score is None:
        return Extracted("unparsed", rule="the answer to this question is none of its choices")
    first, second = _number(shares.get("first")), _number(shares.get("second"))
    scores = None if first is None or second is None else (first, second)
    return Extracted("scored", score, "prob", scores=scores)


def _read(answer: Mapping[str, Any], metric: Metric) -> Extracted:
    """What the answer to one question says of its metric."""
    words = _words(answer)
    shares = level_probabilities(answer, metric)
    place = _place(answer, shares, metric)
    if place is None:
        return Extracted("unparsed", rule=_NO_NUMBER, words=words)
    if not -_FLOAT <= place <= 1 + _FLOAT:
        return Extracted("out_of_scale", rule="prob", words=words)
    place, scale = min(max(place, 0.0), 1.0), metric.scale
    if metric.lower_is_better:  # levels are asked about from the worst; scores are turned round later
        place = 1 - place
        shares = None if shares is None else shares[::-1]
    score = scale.min + place * (scale.max - scale.min)
    return Extracted("scored", score, "prob", probabilities=shares, words=words)


def level_probabilities(answer: Mapping[str, Any], metric: Metric) -> tuple[float, ...] | None:
    """The probability of each level, the worst first; they sum to 1. None if the answer has none."""
    if answer.get("type") in ("noul", "predicate"):
        likely = _number(answer.get("noul", answer.get("probability")))
        return None if likely is None or not 0 <= likely <= 1 else (1 - likely, likely)
    by_name = _by_name(answer.get("probabilities"))
    names = metric.labels if answer.get("type") == "choice" else [str(i) for i in range(len(by_name))]
    shares: list[float] = []
    for name in names:
        share = _number(by_name.get(name))
        if share is None or share < 0:
            return None
        shares.append(share)
    total = math.fsum(shares)
    if len(shares) < 2 or abs(total - 1) > _ROUNDING * len(shares):
        return None
    return tuple(share / total for share in shares)


def _place(answer: Mapping[str, Any], shares: Sequence[float] | None, metric: Metric) -> float | None:
    """The expected level as a share of the way from the worst to the best; None if nothing tells.

    The server's own score is rounded less than the probabilities.
    """
    count = len(shares or _by_name(answer.get("probabilities")))
    level = _number(answer.get("score"))
    if level is not None and count > 1:
        return level / (count - 1)
    if shares:
        return math.fsum(i * share for i, share in enumerate(shares)) / (len(shares) - 1)
    chosen = answer.get("choice")
    if chosen in metric.labels:
        return metric.labels.index(str(chosen)) / (len(metric.labels) - 1)
    return None


def _by_name(probabilities: object) -> Mapping[str, object]:
    """Name or number of a level -> its probability, in either form."""
    if isinstance(probabilities, list):
        by_value = keyed(probabilities, "value")
        return {value: entry.get("probability") for value, entry in by_value.items()}
    return probabilities if isinstance(probabilities, dict) else {}


def _object(text: str) -> Mapping[str, Any]:
    """The object that an answer is; empty for anything else."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


_words = json.JSONEncoder(ensure_ascii=False).encode
"""What is kept of an answer; one encoder for all, as making it costs a fifth of its work."""


def _number(value: object) -> float | None:
    """A finite number, None for anything else."""
    if type(value) is float or type(value) is int:  # no subclass comes of JSON, and true is no number
        return float(value) if math.isfinite(value) else None
    return None
