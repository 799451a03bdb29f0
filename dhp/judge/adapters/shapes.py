"""Recognition of a scorer by its attributes, without importing other frameworks."""

from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from typing import Any

from dhp.core.errors import InputError
from dhp.core.plugins import load_target, offered
from dhp.judge.adapters.adapter import Adapter, absolute, adapt_function, load_object
from dhp.judge.adapters.scorer import Caller, Job, ObjectJudge, Scorer, at_once
from dhp.judge.adapters.settings import JudgeSettings
from dhp.llm.cached_model import RequestContext
from dhp.llm.executor import LOCAL

SHAPES = (
    "a function f(*, inputs, outputs, reference_outputs=None); a dhp.Judge; an instance of a scorer class of "
    "autoevals, deepeval, inspect_ai, mlflow, phoenix or ragas; an evaluator of langfuse or openevals"
)


def adapt(scorer: object, name: str) -> Adapter:
    """How an object is called.

    Raises `InputError` if it has no known shape.
    """
    for recognise in _adapters():
        if adapter := recognise(scorer):
            return adapter
    what = f"the class {scorer.__name__}" if isinstance(scorer, type) else f"a {type(scorer).__name__}"
    raise InputError(f"{name}: is {what}, of an unknown shape; allowed: {SHAPES}")


@cache
def _adapters() -> tuple[Callable[[Any], Adapter | None], ...]:
    """In order of precedence: those of plug-ins; then any other callable is a function."""
    return (*map(load_target, offered("scorers").values()), adapt_function)


def object_judges(
    given: object, name: str | None, settings: JudgeSettings, context: RequestContext
) -> list[ObjectJudge]:
    """The judge that an object is, by its scores and, with a threshold, by its verdicts.

    `name` is the name `python:...` by which the object was found; None where it was handed over as it is.
    Raises `InputError` if it has no known shape.
    """
    adapter = adapt(given, f"model '{name}'" if name else f"model {given!r}")
    said = getattr(given, "threads", 1)
    threads = settings.threads or (said if isinstance(said, int) else 1)
    calls = None
    if name and context.executor is not LOCAL:  # what workers cannot be sent they find by its name
        calls = partial(_called, absolute(name), at_once(adapter, context, threads))
    scorer = Scorer(name or _name(given, adapter), adapter, settings, context, threads, calls)
    return [
        ObjectJudge(scorer, verdicts)
        for verdicts in ([False] if settings.threshold is None else [False, True])
    ]


def _called(name: str, at_once: int, jobs: Iterable[Job]) -> Iterator[tuple[Job, object]]:
    return _caller(name, at_once).results(jobs)


@cache
def _caller(name: str, at_once: int) -> Caller[Job]:
    return Caller.of(adapt(load_object(name), f"model '{name}'"), at_once)


def _name(scorer: object, adapter: Adapter) -> str:
    if adapter.shape not in ("function", "langfuse evaluator"):
        return f"python:{adapter.shape.partition(' ')[0]}:{adapter.name}"
    called: Any = scorer.func if isinstance(scorer, partial) else scorer
    named = called if hasattr(called, "__qualname__") else type(called)
    return f"python:{named.__module__}:{named.__qualname__.replace('<locals>.', '')}"
