"""Adapters of scorers, recognised by their attributes without an import of other frameworks.

Plug-ins are asked in turn whether they know an object; what none of them knows and can be called is a
function. Its parameters are given the fields of a text that have their names.
"""

import importlib.metadata
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from dhp.core.errors import InputError, imported, quoted, suggest
from dhp.core.objects import PREFIX, object_at
from dhp.core.plugins import load_target, offered
from dhp.core.records import Candidate

# Fields that a parameter is given the first of.
OUTPUT = ("output",)
SOURCE = ("source",)
REFERENCE = ("reference",)
INPUT = ("question", "source")
"""What the writer was given: the question, if there is one."""

USUAL: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(
        "outputs output response answer prediction completion text actual_output".split(), OUTPUT
    ),
    **dict.fromkeys("inputs input query prompt".split(), INPUT),
    **dict.fromkeys("source context document".split(), SOURCE),
    **dict.fromkeys(
        "reference_outputs expected_output expected reference ground_truth target".split(), REFERENCE
    ),
    "metadata": (),
}
"""Parameters by the names that they usually have; any other is given the field of its own name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapter:
    """One object, ready to be called."""

    shape: str
    """Framework or kind of function that the judge was recognised as."""
    name: str
    """Name of the metric that the judge rates, if it gives one score; `score` for functions, so that they
    compare."""
    fields: Mapping[str, tuple[str, ...]]
    """Parameter -> fields of a candidate; the first field that is there is passed."""
    call: Callable[[Mapping[str, str | None]], object]
    """Rates a text, given a value for each parameter; a coroutine function if `is_async`."""
    required: frozenset[str] = frozenset()
    """Parameters that must have a field."""
    optional: frozenset[str] = frozenset()
    """Parameters that are left out, rather than given None, if no field is there."""
    takes_further: bool = False
    """Whether further fields of a candidate are passed under their own names."""
    is_async: bool = False
    scale: tuple[float, float] | None = None
    """Lowest and highest score; None if the judge does not declare them."""
    lower_is_better: bool = False


def fields_of(candidate: Candidate) -> dict[str, str]:
    """What a judge may be given of a candidate, by name; nothing that is blank."""
    fields = {**candidate.fields, "output": candidate.text, "source": candidate.source}
    if candidate.reference is not None:
        fields["reference"] = candidate.reference
    return {name: text for name, text in fields.items() if text.strip() or name == "output"}


def is_of(scorer: object, package: str, *names: str) -> bool:
    """Whether an object is of a class of these names from a package, which need not be imported for that."""
    of_package: set[str] = set()
    for base in type(scorer).__mro__:
        if base.__module__.partition(".")[0] == package:
            of_package.add(base.__name__)
    return not of_package.isdisjoint(names)


ENTRY_POINT_GROUP = "dhp.judges"
"""Group of entry points by which an installed package offers judges of its own."""


def load_object(model: str) -> object:
    """The object that a name `python:...` stands for; modules of the working directory are found too.

    Raises `InputError` for another form, what cannot be imported, and an object that is not there.
    """
    where, colon, name = model.removeprefix(PREFIX).rpartition(":")
    if not name or (colon and not where):
        raise InputError(
            f"model '{model}': must have the form python:MODULE:OBJECT, python:FILE.py:OBJECT, or "
            f"python:NAME of an entry point in the group {ENTRY_POINT_GROUP}"
        )
    if not colon:
        return _entry_point(model, name)
    return object_at(where, name, f"model '{model}'")


def absolute(model: str) -> str:
    """The same name with the whole path of a file in it."""
    where, _, name = model.removeprefix(PREFIX).rpartition(":")
    return f"{PREFIX}{Path(where).resolve()}:{name}" if where.endswith(".py") else model


def _entry_point(model: str, name: str) -> object:
    entries = {entry.name: entry for entry in importlib.metadata.entry_points(group=ENTRY_POINT_GROUP)}
    if name.endswith(".py"):
        raise InputError(
            f"model '{model}': names a file only; allowed: {model}:OBJECT, a function or scorer in it"
        )
    if name not in entries:
        raise InputError(
            f"model '{model}': no entry point of that name in the group {ENTRY_POINT_GROUP}; "
            f"{suggest(name, entries)}, or python:MODULE:OBJECT"
        )
    return imported(entries[name].load, f"model '{model}' ({entries[name].value})")


_LONGEST_REASON = 300
"""Characters of what a class raises that are shown."""
_KINDS = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
"""Parameters that can be given by name."""
_OF_LANGFUSE = {"input", "output", "expected_output"}
"""Parameters of an evaluator of langfuse."""


def adapt_function(scorer: object) -> Adapter | None:
    """An adapter for a callable; None for anything else."""
    if not callable(scorer) or isinstance(scorer, type):
        return None
    adapter = _function(scorer)
    if str(getattr(scorer, "__module__", "")).startswith("openevals."):  # as `create_llm_as_judge(...)` makes
        return replace(adapter, shape="openevals evaluator", scale=(0.0, 1.0))
    return replace(adapter, shape="langfuse evaluator") if set(adapter.fields) >= _OF_LANGFUSE else adapter


def _function(scorer: Callable[..., Any]) -> Adapter:
    """An adapter by the names of a function's parameters; raises `InputError` if one has no name."""
    name = getattr(scorer, "__name__", None) or type(scorer).__name__
    if isinstance(scorer, partial):
        name = getattr(scorer.func, "__name__", name)
    try:
        parameters = inspect.signature(scorer).parameters.values()
    except (TypeError, ValueError):
        raise InputError(
            f"judge '{name}': its parameters are unknown; allowed: a function with named parameters, such as "
            "f(*, inputs, outputs, reference_outputs=None)"
        ) from None
    nameless = [p.name for p in parameters if p.kind is p.POSITIONAL_ONLY]
    if nameless:
        raise InputError(f"judge '{name}': parameter '{nameless[0]}' has no name by which it can be given")
    named = [p for p in parameters if p.kind in _KINDS]
    further = any(p.kind is p.VAR_KEYWORD for p in parameters)
    fields = {p.name: USUAL.get(p.name, (p.name,)) for p in named}
    if further and OUTPUT not in fields.values():  # `f(**kwargs)` is given the names that openevals has
        fields |= {"inputs": INPUT, "outputs": OUTPUT, "reference_outputs": REFERENCE}
    return Adapter(
        shape="function",
        name="score",
        fields=fields,
        call=_call(scorer),
        required=frozenset(p.name for p in named if p.default is p.empty and p.name not in USUAL),
        optional=frozenset(p.name for p in named if p.default is not p.empty),
        takes_further=further,
        is_async=_is_async(scorer),
    )


def _is_async(scorer: object) -> bool:
    """Whether it is a coroutine function, or an object whose call is one."""
    of_instance = getattr(type(scorer), "__call__", None)  # noqa: B004  the method itself is wanted
    return inspect.iscoroutinefunction(scorer) or inspect.iscoroutinefunction(of_instance)


def _call(scorer: Callable[..., Any]) -> Callable[[Mapping[str, str | None]], object]:
    """A call with the arguments by name; that of a callable object is a coroutine function as well."""
    if _is_async(scorer):

        async def awaited(arguments: Mapping[str, str | None]) -> object:
            return await scorer(**arguments)

        return awaited
    return lambda arguments: scorer(**arguments)


SHAPES = (
    "a function f(*, inputs, outputs, reference_outputs=None); a dhp.Judge; a scorer of autoevals, deepeval, "
    "inspect_ai, mlflow, phoenix or ragas; an evaluator of langfuse, langsmith or openevals"
)
"""What may be a judge, for messages."""


def adapt(scorer: object, name: str) -> Adapter:
    """How an object is called.

    Raises `InputError` if it has no known shape.
    """
    made = instance(scorer, name)
    for recognise in _adapters():
        adapter = recognise(made)
        if adapter:
            return adapter
    what = f"the class {scorer.__name__}" if isinstance(scorer, type) else f"of type {type(scorer).__name__}"
    raise InputError(f"{name}: is {what}, which is no judge; allowed: {SHAPES}")


def instance(scorer: object, name: str) -> object:
    """What a class makes if it is called without arguments; anything else as it is.

    Raises `InputError` with the line to write for a class that needs arguments.
    """
    return made_without_arguments(scorer, name) if isinstance(scorer, type) else scorer


def made_without_arguments(factory: Callable[..., object], name: str) -> object:
    """What a class, or a function that makes a scorer, returns; raises the same errors as `instance`."""
    called = factory.__name__
    try:
        parameters = inspect.signature(factory).parameters.values()
    except (TypeError, ValueError):
        parameters = {}.values()
    open_ended = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    needed = [p.name for p in parameters if p.default is p.empty and p.kind not in open_ended]
    arguments = ", ".join([f"{each}=..." for each in needed])
    remedy = f"write judge = {called}({arguments}), and name judge"
    if needed:
        raise InputError(f"{name}: {called} makes a judge, and needs {', '.join(needed)}; {remedy}")
    try:
        return factory()
    except (Exception, SystemExit) as e:  # noqa: BLE001  classes are anyone's code
        reason = " ".join(f"{type(e).__name__}: {e}".split())[:_LONGEST_REASON]
        raise InputError(f"{name}: {called}() cannot be made ({quoted(reason)}); {remedy}") from None


@cache
def _adapters() -> tuple[Callable[[Any], Adapter | None], ...]:
    """In order of precedence: those of plug-ins; then any other callable is a function."""
    return (*map(load_target, offered("scorers").values()), adapt_function)
