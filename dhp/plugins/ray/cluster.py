"""A Ray cluster and its workers.

`open_cluster` gives the cluster at an address, which is reached when its package is first needed (`ray`). Its
workers start with the first piece of work (`crew`), and `each` hands items out to them.
"""

import logging
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import cache, cached_property
from typing import Any, TypeVar

from dhp.core.errors import InputError
from dhp.core.files import reason
from dhp.plugins.ray.outlived import outlive
from dhp.plugins.ray.pool import SECONDS, SECONDS_BY_MODEL, Pool, Worker, WorkerGroup, first_line

T = TypeVar("T")
R = TypeVar("R")

Work = Callable[[Iterable[T]], Iterable[tuple[T, R]]]
"""Yields each item that it is given with its result, in any order."""

_CPUS = 0.5
"""CPUs that a worker reserves. Chosen: half of a cluster stays free for other work."""
_CONNECT_SECONDS = 5.0
"""Longest wait for something to answer at an address. Chosen."""
_SETTINGS = b"\x04"
"""The type of the first frame that each side of a gRPC connection sends (RFC 9113, sections 3.4 and 6.5)."""
# The first bytes of a client: the preface, then a frame of settings of no length (RFC 9113, section 3.4).
_HELLO = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0" + _SETTINGS + b"\0\0\0\0\0"


@cache
def open_cluster(address: str | None) -> "Cluster":
    """The cluster at an address, one a process: its workers, and the models they hold, serve every run."""
    outlive()
    return Cluster(address)


class Cluster:
    """Workers on the machines of a cluster, started when they are first needed.

    `address` is `HOST:PORT` of the cluster; None takes the one of `RAY_ADDRESS`, else starts one here for the
    run.
    """

    def __init__(self, address: str | None) -> None:
        self._address = address
        self._crews: dict[bool, WorkerGroup] = {}

    @cached_property
    def ray(self) -> Any:
        """The package, connected to the cluster; raises `InputError` if there is none."""
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent to Ray's makers
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        import ray

        if ray.is_initialized():
            return ray
        address = self._address or os.environ.get("RAY_ADDRESS")
        if address is not None:
            _check_address(address)
        from ray._private import worker

        worker._worker_logs_enabled = False  # messages on lost workers would stand among results, on stdout
        on_term = signal.getsignal(signal.SIGTERM)
        try:
            ray.init(address or "local", logging_level=logging.ERROR, log_to_driver=False)
        except Exception as e:  # noqa: BLE001  ray raises a bare one if a machine does not start in time
            raise InputError(f"`ray`: {first_line(e)}; at {address or 'this machine'}") from None
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, on_term)  # ray sets one that aborts
        return ray

    @cached_property
    def workers(self) -> int:
        """One for each CPU of the cluster."""
        return max(1, int(self.ray.cluster_resources().get("CPU", 1)))

    def crew(self, *, by_model: bool = False) -> WorkerGroup:
        """The workers, or those with a model: one per GPU, else one per machine."""
        if by_model not in self._crews:
            gpus, count = 0, self.workers
            if by_model:
                gpus = int(self.ray.cluster_resources().get("GPU", 0))
                alive = [node for node in self.ray.nodes() if node["Alive"]]
                count = gpus or len(alive)
            # Ray starts a lost worker anew for ever; `Pool` ends a run in which one item costs several.
            as_actor = self.ray.remote(
                num_cpus=_CPUS, num_gpus=min(gpus, 1), max_restarts=-1, scheduling_strategy="SPREAD"
            )
            actor = as_actor(Worker)
            self._crews[by_model] = WorkerGroup([actor.remote() for _ in range(count)])
        return self._crews[by_model]

    def each(
        self,
        work: Work[T, R],
        items: Iterable[T],
        *,
        on_wait: Callable[[], None] = lambda: None,
        by_model: bool = False,
    ) -> Iterator[tuple[T, R]]:
        """Each item with its result, in any order; the work is done on any parts of the items.

        So it must depend on nothing but the item. Work that holds a language model goes `by_model`.
        """
        seconds = SECONDS_BY_MODEL if by_model else SECONDS
        pool: Pool[T, R] = Pool(self.ray, self.crew(by_model=by_model), work, on_wait, seconds=seconds)
        for item in items:
            pool.submit(item, item)
            while pool.full:
                yield from pool.wait()
        while pool.pending:
            yield from pool.wait()


def _check_address(address: str) -> None:
    """Raise `InputError` if nothing or something else listens: ray itself would wait for minutes."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or "/" in host:
        raise InputError(f"`ray` {address}: must have the form HOST:PORT")
    try:
        with socket.create_connection((host, int(port)), timeout=_CONNECT_SECONDS) as connection:
            connection.sendall(_HELLO)
            # A frame begins with 9 bytes: three for its length, then its type.
            is_cluster = connection.recv(9)[3:4] == _SETTINGS
    except (OSError, OverflowError) as e:
        raise InputError(
            f"`ray` {address}: no cluster answers there ({reason(e)}); ray start --head starts one, "
            "and `ray` auto one for the run"
        ) from None
    # With TLS a cluster does not answer plain bytes; Ray tells then.
    if not is_cluster and os.environ.get("RAY_USE_TLS") != "1":
        raise InputError(f"`ray` {address}: what answers there is not a Ray cluster")
