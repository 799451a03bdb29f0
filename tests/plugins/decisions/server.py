"""A scripted decision model: a text is as likely good as the share of its words that the source has."""

import json
import re
from collections.abc import Callable
from typing import Any

from tests.server import Answer, Call, Says

Changed = Callable[[str, dict[str, Any]], dict[str, Any] | None]
"""Name of a question and its answer -> the answer that is sent instead; None leaves the question out."""


def likelihood(state: Any) -> float:
    """How good the text is, in (0, 1)."""
    state = json.loads(state) if isinstance(state, str) else state
    words = re.findall(r"\w+", state["output"].lower())
    known = set(re.findall(r"\w+", state.get("source", "").lower()))
    return min(0.98, max(0.02, sum(word in known for word in words) / (len(words) + 1)))


def system_one(changed: Changed = lambda _, answer: answer) -> Says:
    """The server of `POST /v1/systemone`."""

    def says(call: Call) -> Answer:
        if call.path != "/v1/systemone":
            return 404, {}, {"error": "not found"}
        answers = {}
        for name, question in call.body["questions"].items():
            answer = changed(name, _answer(question, likelihood(call.body["state"])))
            if answer is not None:
                answers[name] = answer
        usage = {"input_tokens": 100, "output_tokens": 0}
        return 200, {}, {"model": "stub-1.0", "answers": answers, "usage": usage}

    return says


def decisions(changed: Changed = lambda _, answer: answer) -> Says:
    """The server of `POST /v1/decisions`."""

    def says(call: Call) -> Answer:
        if call.path != "/v1/decisions":
            return 405, {}, {"error": {"message": "method not allowed"}}
        answers = []
        for question in call.body["questions"]:
            answer = changed(question["name"], _listed(question, likelihood(call.body["input"])))
            if answer is not None:
                answers.append({"name": question["name"], **answer})
        details = {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 40}, "output_tokens": 0}
        return 200, {}, {"model": "stub-1.0", "answers": answers, "usage": details}

    return says


def shares(likely: float, count: int) -> list[float]:
    """Probabilities of levels: the best has `likely`, the others what is left."""
    return [(1 - likely) / (count - 1)] * (count - 1) + [likely]


def _answer(question: dict[str, Any], likely: float) -> dict[str, Any]:
    kind, criteria = question["type"], question.get("criteria")
    if kind == "noul":
        return {"type": "noul", "noul": likely}
    names = list(criteria) if isinstance(criteria, dict) else [str(i) for i in range(len(criteria))]
    given = dict(zip(names, shares(likely, len(names)), strict=True))
    best = max(given, key=given.__getitem__)
    answer = {"type": kind, "probabilities": given, "confidence": 0.5}
    expected = sum(i * share for i, share in enumerate(given.values()))
    return answer | ({"score": expected} if kind == "score" else {"choice": best})


def _listed(question: dict[str, Any], likely: float) -> dict[str, Any]:
    if question["type"] == "predicate":
        return {"type": "predicate", "probability": likely}
    names = [each["value"] for each in question.get("choices", ())] or range(len(question["levels"]))
    given = [
        {"value": n, "label": "", "probability": p}
        for n, p in zip(names, shares(likely, len(names)), strict=True)
    ]
    answer = {"type": question["type"], "probabilities": given, "confidence": 0.5}
    if question["type"] == "choice":
        return answer | {"choice": max(given, key=lambda each: each["probability"])["value"]}
    return answer | {"score": sum(each["value"] * each["probability"] for each in given)}
