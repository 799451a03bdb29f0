"""Opens an executor by name."""

from functools import cache

from dhp.core.errors import InputError, require
from dhp.llm.executor.api import LOCAL, Executor


@cache
def open_executor(name: str) -> Executor:
    """The executor called `local`, `ray` or `ray:ADDRESS`; one per process.

    A cluster is reached when it is first needed.

    Raises
    ------
    InputError
        For another name, or where the package `ray` is not installed.
    """
    kind, colon, address = name.partition(":")
    if name == "local":
        return LOCAL
    if kind != "ray" or (colon and not address):
        raise InputError(f"`executor` '{name}': is unknown; allowed: local, ray, ray:HOST:PORT")
    require("ray", purpose=f"`executor` {name}")
    from dhp.llm.executor.ray_cluster import RayExecutor

    return RayExecutor(address or None)
