"""Scorers of inspect_ai, which are called with a task state made by hand, and those that its logs name."""

import inspect
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from dhp.core.errors import InputError, require
from dhp.judge.adapters.adapter import INPUT, OUTPUT, REFERENCE, Adapter, made_without_arguments
from dhp.plugins.frameworks.log_forms import log_kind

_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0}
"""The grades of inspect_ai, correct, partial and incorrect, and the numbers that it counts them by."""
_NO_ANSWER = "N"
"""Its grade for a text without an answer, which is no score."""


def adapt_inspect_ai(scorer: Any) -> Adapter | None:
    """An adapter for a scorer of inspect_ai, which is called with a task state made by hand."""
    info = getattr(scorer, "__registry_info__", None)
    is_scorer = getattr(info, "type", None) == "scorer" or _takes_state_and_target(scorer)
    if not is_scorer:
        return None
    if not _takes_state_and_target(scorer):  # the function that makes it
        scorer = made_without_arguments(scorer, "the judge")

    async def call(arguments: Mapping[str, str | None]) -> object:
        return _read(await scorer(*_state_and_target(arguments)))

    # Registered names may begin with a package: "inspect_ai/match".
    name = str(getattr(info, "name", "")).rpartition("/")[2]
    return Adapter(
        shape="inspect_ai scorer",
        name=name or "score",
        fields={"input": INPUT, "output": OUTPUT, "target": REFERENCE},
        call=call,
        is_async=True,
        scale=(0.0, 1.0),
    )


def _takes_state_and_target(scorer: object) -> bool:
    if not callable(scorer):
        return False
    try:
        names = list(inspect.signature(scorer).parameters)
        return names[:2] == ["state", "target"]
    except (TypeError, ValueError):
        return False


def _state_and_target(arguments: Mapping[str, str | None]) -> tuple[object, object]:
    model, solver = import_module("inspect_ai.model"), import_module("inspect_ai.solver")
    asked, answer = arguments["input"] or "", arguments["output"] or ""
    target = import_module("inspect_ai.scorer").Target(arguments["target"] or "")
    # A finished state, as a scorer gets it once a model has answered.
    state = solver.TaskState(
        model="dhp/text",
        sample_id=1,
        epoch=1,
        input=asked,
        messages=[model.ChatMessageUser(content=asked), model.ChatMessageAssistant(content=answer)],
        target=target,
        output=model.ModelOutput.from_content("dhp/text", answer),
        completed=True,
    )
    return state, target


def _read(score: Any) -> object:
    """A score in our form: grades become numbers, and what has no grade has no score."""
    if score is None:
        return None
    reason = getattr(score, "reason", None) or score.explanation
    value = score.value
    if isinstance(value, Mapping):
        scores = []
        for key, each in value.items():
            scores.append({"key": key, "score": graded(each), "reason": reason})
        return scores
    if value == _NO_ANSWER:
        reason = reason or "no answer"
    return {"score": graded(value), "reason": reason}


def graded(value: object) -> object:
    """The number of a grade of inspect_ai, None for its `N`; any other value as it is."""
    if value == _NO_ANSWER:
        return None
    if isinstance(value, str):  # anything else may have no hash
        return _GRADES.get(value, value)
    return value


def log_scorers(log: str) -> list[object] | None:
    """The scorers that a log names, made anew by the package; None for another file."""
    if log_kind(Path(log)) != "inspect_ai":
        return None
    require("inspect-ai", purpose=f"{log}: scoring by the scorers of the log")
    try:
        # The head names the scorers; the samples, of which there may be many, are not read.
        header = import_module("inspect_ai.log").read_eval_log(log, header_only=True)
        scorers: list[object] = import_module("inspect_ai._eval.score").resolve_scorers(header)
    except (Exception, SystemExit) as e:  # noqa: BLE001  scorers are anyone's code
        reason = " ".join(f"{type(e).__name__}: {e}".split())[:300]
        raise InputError(
            f"{log}: its scorers cannot be made ({reason}); name a judge by `judge` python:FILE.py:OBJECT"
        ) from None
    return scorers
