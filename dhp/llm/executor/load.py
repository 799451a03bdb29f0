"""Opens an executor by name."""

from functools import cache

from dhp.core.errors import InputError
from dhp.core.plugins import load_target, offered
from dhp.llm.executor.api import LOCAL, Executor


@cache
def open_executor(name: str) -> Executor:
    """The executor called `local`, or `NAME` or `NAME:ADDRESS` of a plug-in; one per process.

    Raises
    ------
    InputError
        For another name, or where the executor lacks a package.
    """
    if name == "local":
        return LOCAL
    added = offered("executors")
    kind, colon, address = name.partition(":")
    if kind not in added or (colon and not address):
        known = ", ".join(["local", *(form for each in added for form in (each, f"{each}:HOST:PORT"))])
        raise InputError(f"`executor` '{name}': is unknown; allowed: {known}")
    executor: Executor = load_target(added[kind])(address)
    return executor
