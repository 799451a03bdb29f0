"""The executor of a Ray cluster."""

import logging
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any, TypeVar

from dhp.core.errors import InputError, require
from dhp.core.files import reason
from dhp.llm.engine import Engine
from dhp.llm.executor import Work
from dhp.plugins.ray.calls import RayCalls
from dhp.plugins.ray.outlived import outlive
from dhp.plugins.ray.pool import SECONDS, SECONDS_BY_MODEL, Pool, Worker, WorkerGroup, first_line

T = TypeVar("T")
R = TypeVar("R")

_CPUS = 0.5
"""CPUs that a worker reserves: half of a cluster stays free for other work."""
_CONNECT_SECONDS = 5.0
_SETTINGS = b"\x04"
"""The type of the first frame that each side of a gRPC connection sends (RFC 9113, sections 3.4 and 6.5)."""
_HELLO = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0" + _SETTINGS + b"\0\0\0\0\0"


class RayExecutor:
    """Workers on the machines of a cluster, started when they are first needed.

    `address` is `HOST:PORT` of the cluster; None takes the one of `RAY_ADDRESS`, else starts one here for the
    run.
    """

    def __init__(self, address: str | None) -> None:
        self._address = address
        self._crews: dict[bool, WorkerGroup] = {}
        self._noted: set[str] = set()

    @cached_property
    def _ray(self) -> Any:
        """The package, connected to the cluster; raises `InputError` if there is none."""
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
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
        except Exception as e:  # noqa: BLE001  ray raises a bare one where a machine does not start in time
            raise InputError(f"`executor` ray: {first_line(e)}; at {address or 'this machine'}") from None
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, on_term)  # ray sets one that aborts
        return ray

    @cached_property
    def workers(self) -> int:
        """One for each CPU of the cluster."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def crew(self, *, by_model: bool = False) -> WorkerGroup:
        """The workers, or those with a model: one per GPU, else one per machine."""
        if by_model not in self._crews:
            gpus = int(self._ray.cluster_resources().get("GPU", 0)) if by_model else 0
            nodes = sum(bool(node["Alive"]) for node in self._ray.nodes())
            actor = self._ray.remote(
                num_cpus=_CPUS, num_gpus=min(gpus, 1), max_restarts=-1, scheduling_strategy="SPREAD"
            )(Worker)
            count = (gpus or nodes) if by_model else self.workers
            self._crews[by_model] = WorkerGroup([actor.remote() for _ in range(count)])
        return self._crews[by_model]

    def calls(self, engine: Engine, on_wait: Callable[[], None]) -> "RayCalls":
        """See `Executor`."""
        return RayCalls(self._ray, self.crew(), engine, on_wait, self._noted)

    def each(
        self,
        work: Work[T, R],
        items: Iterable[T],
        *,
        on_wait: Callable[[], None] = lambda: None,
        by_model: bool = False,
    ) -> Iterator[tuple[T, R]]:
        """See `Executor`."""
        pool: Pool[T, R] | None = None  # work that is all known already needs no cluster
        seconds = SECONDS_BY_MODEL if by_model else SECONDS
        for item in items:
            pool = pool or Pool(self._ray, self.crew(by_model=by_model), work, on_wait, seconds=seconds)
            pool.submit(item, item)
            while pool.full:
                yield from pool.wait()
        while pool and pool.pending:
            yield from pool.wait()


def open_ray(address: str) -> RayExecutor:
    """The executor of the cluster at HOST:PORT, or of one on this machine if the address is empty.

    Raises `InputError` if the package `ray` is not installed. A cluster is reached when first needed.
    """
    require("ray", purpose=f"`executor` {':'.join(filter(None, ('ray', address)))}", extra="ray")
    outlive()
    return RayExecutor(address or None)


def _check_address(address: str) -> None:
    """Raise `InputError` if nothing or something else listens: ray itself would wait for minutes."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or "/" in host:
        raise InputError(f"`executor` ray:{address}: must have the form ray:HOST:PORT")
    try:
        with socket.create_connection((host, int(port)), timeout=_CONNECT_SECONDS) as connection:
            connection.sendall(_HELLO)
            is_cluster = connection.recv(9)[3:4] == _SETTINGS
    except (OSError, OverflowError) as e:
        raise InputError(
            f"`executor` ray:{address}: no cluster answers there ({reason(e)}); ray start --head starts one, "
            "and `executor` ray alone one for the run"
        ) from None
    if not is_cluster and os.environ.get("RAY_USE_TLS") != "1":
        raise InputError(f"`executor` ray:{address}: what answers there is not a Ray cluster")
