"""Evaluators of LangSmith: functions of a run and an example, or of dicts, and `RunEvaluator`s.

`adapt_langsmith` tells by the signature what an evaluator takes. At a call `_given` makes the three dicts of
LangSmith, inputs, outputs and reference outputs, and run and example around them. The dicts (`_Texts`) answer
to all usual names of a text, as each evaluator has its own.
"""

import inspect
import uuid
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import SimpleNamespace, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from dhp.judge.adapters.adapter import INPUT, OUTPUT, REFERENCE, USUAL, Adapter

_FIELDS = {"inputs": INPUT, "outputs": OUTPUT, "reference_outputs": REFERENCE}
"""Parameter -> the names that our text for it may have."""
_OBJECTS = ("run", "example")
"""Parameters that hold the dicts as their attributes."""
Arguments = Mapping[str, str | None]
"""Parameter -> its text, None if there is none."""


class NoSuchKey(KeyError):
    """A key that stands for no text; its message is not quoted."""

    def __str__(self) -> str:
        return str(self.args[0])


class _Texts(dict[str, object]):
    """Texts by name, of which the main one has all its usual names.

    An evaluator that reads the text under judgement by another name would judge nothing, so that is refused.
    """

    def __init__(self, parameter: str, main: str, text: str | None, further: Mapping[str, object]) -> None:
        super().__init__()
        if text is not None:
            self[main] = text
        self.update(further)
        self._parameter, self._main = parameter, main

    def _is_usual(self, key: object) -> bool:
        """Whether a key is another usual name of the main text, as `answer` is of an output."""
        # Without the text itself its other names stand for nothing.
        if not super().__contains__(self._main):
            return False
        # A name that may also mean a text of another parameter is not answered.
        usual = USUAL.get(str(key), ())
        return bool(usual) and set(usual) <= set(_FIELDS[self._parameter])

    def __contains__(self, key: object) -> bool:
        return super().__contains__(key) or self._is_usual(key)

    def __missing__(self, key: str) -> object:
        if self._is_usual(key):
            return self[self._main]
        field = _FIELDS[self._parameter][-1]
        raise NoSuchKey(
            f"{self._parameter} has no '{key}'; name a text so by --map {self._parameter}.{key}={field}, "
            f"in Python JudgeSettings(fields={{'{self._parameter}.{key}': '{field}'}})"
        )

    def get(self, key: str, default: object = None) -> Any:
        # An output that is asked for by an unknown name is refused, else nothing would be judged.
        if key in self or self._parameter == "outputs":
            return self[key]
        return default


def adapt_langsmith(scorer: Any) -> Adapter | None:
    """An adapter for an evaluator that takes a run and an example, or dicts by its annotations; else None."""
    evaluate = getattr(scorer, "evaluate_run", None)
    if callable(evaluate):

        def evaluated(values: dict[str, Any]) -> Any:
            return evaluate(values["run"], values["example"])

        made = _adapter(evaluated, [], is_async=False)
        name = getattr(scorer, "__name__", None) or type(scorer).__name__
        return replace(made, shape="langsmith run evaluator", name=name)
    # Calling a class would make an object, and score nothing.
    if not callable(scorer) or isinstance(scorer, type):
        return None
    try:
        parameters = inspect.signature(scorer).parameters
    except (TypeError, ValueError):
        return None
    takes_a_run = "run" in parameters and "outputs" not in parameters
    if not takes_a_run and not _takes_dicts(scorer, parameters):
        return None

    known = {*_OBJECTS, *_FIELDS, "attachments"}
    further = []  # parameters beside LangSmith's own that must be given
    for each in parameters.values():
        is_one = each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL)
        if is_one and each.name not in known and each.default is each.empty:
            further.append(each.name)
    wanted = [name for name in parameters if name in known or name in further]

    def called(values: dict[str, Any]) -> Any:
        return scorer(**{name: values[name] for name in wanted})

    return _adapter(called, further, is_async=inspect.iscoroutinefunction(scorer))


def _takes_dicts(scorer: Callable[..., object], parameters: Mapping[str, inspect.Parameter]) -> bool:
    """Whether a parameter for inputs or outputs is annotated as a dict, and not also as a text."""
    try:
        hints = get_type_hints(scorer)
    except Exception:  # noqa: BLE001  names in annotations may mean nothing here
        # The annotations as they stand, perhaps as text.
        hints = {name: each.annotation for name, each in parameters.items()}
    return any(_is_dict(hints.get(name)) for name in _FIELDS if name in parameters)


def _is_dict(hint: object) -> bool:
    if isinstance(hint, str):  # an annotation that could not be evaluated
        return hint.startswith(("dict", "Dict", "Mapping"))
    if get_origin(hint) in (Union, UnionType):
        kinds = get_args(hint)
        return str not in kinds and any(_is_dict(kind) for kind in kinds)
    kind = get_origin(hint) or hint
    return isinstance(kind, type) and issubclass(kind, Mapping)


def _adapter(call: Callable[[dict[str, Any]], Any], further: list[str], *, is_async: bool) -> Adapter:
    async def awaited(arguments: Arguments) -> object:
        return _read(await call(_given(arguments, further)))

    def called(arguments: Arguments) -> object:
        return _read(call(_given(arguments, further)))

    fields = dict(_FIELDS)
    for name in further:
        fields[name] = USUAL.get(name, (name,))
    return Adapter(
        shape="langsmith evaluator",
        name="score",
        fields=fields,
        # The user has to say which text stands behind a name that is not a usual one.
        required=frozenset(name for name in further if name not in USUAL),
        optional=frozenset(("inputs", "reference_outputs")),
        takes_further=True,
        call=awaited if is_async else called,
        is_async=is_async,
    )


def _given(arguments: Arguments, further: list[str]) -> dict[str, Any]:
    """Parameter of an evaluator of LangSmith -> the value that it gets."""
    # Further texts stand among the inputs.
    plain: dict[str, str | None] = {}
    mapped: dict[str, dict[str, str | None]] = {parameter: {} for parameter in _FIELDS}
    for name, text in arguments.items():
        parameter, point, key = name.partition(".")
        if point and parameter in mapped:  # as `--map outputs.answer=output` says
            mapped[parameter][key] = text
        elif not point and name not in _FIELDS:
            plain[name] = text

    inputs = _Texts("inputs", "input", arguments.get("inputs"), {**plain, **mapped["inputs"]})
    outputs = _Texts("outputs", "output", arguments.get("outputs"), mapped["outputs"])
    reference = _Texts(
        "reference_outputs", "output", arguments.get("reference_outputs"), mapped["reference_outputs"]
    )
    ids = {"id": uuid.uuid4(), "metadata": {}}
    values = {
        "run": SimpleNamespace(inputs=inputs, outputs=outputs, session_id=None, error=None, **ids),
        "example": SimpleNamespace(inputs=inputs, outputs=reference, attachments={}, **ids),
        "inputs": inputs,
        "outputs": outputs,
        "reference_outputs": reference,
        "attachments": {},
    }
    for name in further:
        values[name] = arguments.get(name)
    return values


def _read(returned: object) -> object:
    """The list of several scores that an evaluator returns in `results`; else what it returns."""
    if isinstance(returned, Mapping) and isinstance(returned.get("results"), list):
        return returned["results"]
    return returned
