"""Commands whose options come in groups: a dataclass for each, its fields the options."""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, Field, fields
from functools import wraps
from typing import Any, TypeVar, get_type_hints

R = TypeVar("R")


def grouped(**groups: type[Any]) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Let a command take dataclasses; each of their fields becomes an option of it.

    The command's parameters that are named in `groups` are filled with instances; its other parameters stay
    as they are.
    """

    def decorate(command: Callable[..., R]) -> Callable[..., R]:
        @wraps(command)
        def wrapper(**given: Any) -> R:
            for name, group in groups.items():
                given[name] = group(**{f.name: given.pop(f.name) for f in fields(group)})
            return command(**given)

        own = [
            p.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for p in inspect.signature(command, eval_str=True).parameters.values()
            if p.name not in groups
        ]
        parameters = own + [_parameter(group, f) for group in groups.values() for f in fields(group)]
        wrapper.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        wrapper.__annotations__ = {p.name: p.annotation for p in parameters}
        return wrapper

    return decorate


def _parameter(group: type[Any], field: Field[Any]) -> inspect.Parameter:
    default = field.default if field.default is not MISSING else inspect.Parameter.empty
    if field.default_factory is not MISSING:
        default = field.default_factory()
    annotation = get_type_hints(group, include_extras=True)[field.name]
    return inspect.Parameter(
        field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
    )
