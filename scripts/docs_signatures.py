"""Extension of griffe: functions that take the fields of a record are shown with these parameters."""

import inspect
import re
from dataclasses import is_dataclass
from importlib import import_module
from typing import Any

import griffe


class Signatures(griffe.Extension):
    """Reads such a signature off the function itself, as its source does not show it."""

    def on_function(self, *, func: griffe.Function, **_: Any) -> None:
        """Give the function its parameters."""
        if not any("keywords_of" in str(decorator.value) for decorator in func.decorators):
            return
        module, _, name = func.path.rpartition(".")
        signature = inspect.signature(getattr(import_module(module), name))
        func.parameters = griffe.Parameters(*map(_parameter, signature.parameters.values()))


def _parameter(known: inspect.Parameter) -> griffe.Parameter:
    kind = griffe.ParameterKind[known.kind.name.lower()]
    annotation = re.sub(r"\b(?:\w+\.)+(?=\w)", "", inspect.formatannotation(known.annotation))
    default = f"{type(known.default).__name__}()" if is_dataclass(known.default) else repr(known.default)
    return griffe.Parameter(known.name, annotation=annotation, kind=kind, default=default)
