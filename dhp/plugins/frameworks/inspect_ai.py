"""Scorers of inspect_ai, called with a task state made by hand."""

import inspect
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from dhp.core.errors import InputError, require
from dhp.judge.adapters.adapter import INPUT, OUTPUT, REFERENCE, Adapter
from dhp.plugins.frameworks.logs import is_inspect_log

_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0}
_NO_ANSWER = "N"


def adapt(scorer: Any) -> Adapter | None:
    """An adapter for a scorer; None for what is none."""
    info = getattr(scorer, "__registry_info__", None)
    is_scorer = getattr(info, "type", None) == "scorer" or _takes_state_and_target(scorer)
    if not is_scorer or isinstance(scorer, type):
        return None

    async def call(arguments: Mapping[str, str | None]) -> object:
        return _read(await scorer(*_state_and_target(arguments)))

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
        return list(inspect.signature(scorer).parameters)[:2] == ["state", "target"]
    except (TypeError, ValueError):
        return False


def _state_and_target(arguments: Mapping[str, str | None]) -> tuple[object, object]:
    model, solver = import_module("inspect_ai.model"), import_module("inspect_ai.solver")
    asked, said = arguments["input"] or "", arguments["output"] or ""
    target = import_module("inspect_ai.scorer").Target(arguments["target"] or "")
    state = solver.TaskState(
        model="dhp/text",
        sample_id=1,
        epoch=1,
        input=asked,
        messages=[model.ChatMessageUser(content=asked), model.ChatMessageAssistant(content=said)],
        target=target,
        output=model.ModelOutput.from_content("dhp/text", said),
        completed=True,
    )
    return state, target


def _read(score: Any) -> object:
    """A score as ours are read: grades as numbers, what is unscored stays so."""
    if score is None:
        return None
    reason = getattr(score, "reason", None) or score.explanation
    value = score.value
    if isinstance(value, Mapping):
        return [{"key": key, "score": _graded(each), "reason": reason} for key, each in value.items()]
    if value == _NO_ANSWER:
        reason = reason or "no answer"
    return {"score": _graded(value), "reason": reason}


def _graded(value: object) -> object:
    return None if value == _NO_ANSWER else _GRADES.get(value, value) if isinstance(value, str) else value


def log_scorers(log: str) -> list[object] | None:
    """The scorers that a log names, made anew by the package; None for another file."""
    if not is_inspect_log(log):
        return None
    require("inspect-ai", purpose=f"{log}: scoring by the scorers of the log")
    try:
        header = import_module("inspect_ai.log").read_eval_log(log, header_only=True)
        found: list[object] = import_module("inspect_ai._eval.score").resolve_scorers(header)
    except (Exception, SystemExit) as e:  # noqa: BLE001  scorers are anyone's code
        reason = " ".join(f"{type(e).__name__}: {e}".split())[:300]
        raise InputError(
            f"{log}: its scorers cannot be made ({reason}); name a judge by `judge` python:FILE.py:OBJECT"
        ) from None
    return found
