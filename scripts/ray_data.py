"""The same work through Ray Data (`ray.data`), to hold it against the pool of `dhp.llm.executor.ray_pool`.

    RAY_ADDRESS=HOST:PORT python scripts/ray_data.py {pool,actors,tasks} [--texts 100000]

prints the figures of one of the three as JSON; `scripts/scale.py --ray-data` measures all of them in turn.
Needs `pip install "ray[data]"`.
"""

import argparse
import hashlib
import json
import logging
import os
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

from scale import made

import dhp.llm.settings
from dhp.core.errors import StoppedEarly
from dhp.llm.executor.api import Executor
from dhp.llm.executor.ray_cluster import _CPUS, RayExecutor
from dhp.llm.executor.ray_pool import _MOST_LOSSES, _explained, _sent
from dhp.llm.executor.ray_worker import _unpacked

_BLOCKS = 16
"""Blocks a worker."""


class RayDataExecutor(RayExecutor):
    """Workers of Ray Data.

    Parameters
    ----------
    address
        `HOST:PORT` of the cluster.
    actors
        Whether they are actors, which hold the work and are started by each call of `each`; else tasks, run
        by whatever processes the cluster has.
    """

    def __init__(self, address: str, actors: bool) -> None:
        super().__init__(address)
        self._actors = actors

    def each(
        self,
        work: Any,
        items: Iterable[Any],
        *,
        on_wait: Callable[[], None] = lambda: None,
        by_model: bool = False,
    ) -> Iterator[tuple[Any, Any]]:
        """See `Executor`; takes all items at first, as a dataset needs them, and cannot call `on_wait`."""
        items = list(items)
        import pyarrow as pa
        import ray.data
        from ray import cloudpickle

        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = context.print_on_execution_start = False
        logging.getLogger("ray.data").setLevel(logging.CRITICAL)
        parcel, size = [_sent(self._ray, work)], -(-len(items) // (_BLOCKS * self.workers))
        blocks = [
            pa.table({"place": [place], "sent": [cloudpickle.dumps(items[place : place + size])]})
            for place in range(0, len(items), size)
        ]
        settings = {"batch_size": None, "batch_format": "pyarrow", "num_cpus": _CPUS}
        if self._actors:
            settings |= {"max_restarts": _MOST_LOSSES, "max_task_retries": _MOST_LOSSES}
            settings |= {"compute": ray.data.ActorPoolStrategy(size=self.workers)}
            done = ray.data.from_arrow(blocks).map_batches(_Actor, fn_constructor_args=[parcel], **settings)
        else:
            settings |= {"max_retries": _MOST_LOSSES, "scheduling_strategy": "SPREAD"}
            settings |= {"compute": ray.data.TaskPoolStrategy(size=self.workers)}
            done = ray.data.from_arrow(blocks).map_batches(_task(os.urandom(8).hex(), parcel), **settings)
        try:
            for block in done.iter_batches(batch_size=None, batch_format="pyarrow"):
                for row in block.to_pylist():
                    came = cloudpickle.loads(row["came"])
                    if isinstance(came, Exception):
                        raise _explained(came)
                    for place, result in came:
                        yield items[row["place"] + place], result
        except self._ray.exceptions.RayError as e:
            raise _explained(e) from None


class _Actor:
    """Holds the work and does it on blocks."""

    def __init__(self, parcel: list[Any]) -> None:
        import ray

        self._work = _unpacked(ray.get(parcel[0]))

    def __call__(self, block: Any) -> dict[str, list[Any]]:
        from ray import cloudpickle

        came = []
        for sent in block["sent"].to_pylist():
            items = cloudpickle.loads(sent)
            places = {id(item): place for place, item in enumerate(items)}
            try:
                found: Any = [(places[id(item)], result) for item, result in self._work(items)]
            except Exception as e:  # noqa: BLE001  raised again where the result is awaited
                found = e
            came.append(cloudpickle.dumps(found))
        return {"place": block["place"].to_pylist(), "came": came}


def _task(key: str, parcel: list[Any]) -> Callable[[Any], Any]:
    """The work for tasks: each process unpacks it once."""

    def do(block: Any) -> Any:
        kept = sys.modules["ray"].__dict__.setdefault("_works_of_dhp", {})
        if key not in kept:
            kept[key] = _Actor(parcel)
        return kept[key](block)

    return do


class Deadly:
    """An executor of whose workers one is killed in the middle of the work."""

    def __init__(self, executor: Executor, marker: Path) -> None:
        self._executor, self._marker = executor, marker
        self.workers = executor.workers

    def each(self, work: Any, items: Iterable[Any], **more: Any) -> Iterator[tuple[Any, Any]]:
        """See `Executor`."""
        marker = self._marker

        def killed_once(some: list[Any]) -> Iterator[tuple[Any, Any]]:
            for item in some:
                if item[0] and marker.exists():  # the part of a dataset that starts there
                    marker.unlink(missing_ok=True)
                    os.kill(os.getpid(), signal.SIGKILL)
                yield from work([item])

        return self._executor.each(killed_once, items, **more)


def _slow(items: list[int]) -> Iterator[tuple[int, int]]:
    for item in items:
        time.sleep(0.005)
        yield item, item


def _deadly(items: list[int]) -> Iterator[tuple[int, int]]:
    for item in items:
        if item == 30:
            os.kill(os.getpid(), signal.SIGKILL)
        yield item, item


def figures(executor: Executor, texts: int) -> dict[str, object]:
    """What an executor takes; seconds, seconds of CPU of this process, megabytes at most."""

    def timed(count: int, by: Executor) -> tuple[float, str]:
        dhp.llm.settings.open_executor = lambda _: by
        with tempfile.TemporaryDirectory() as folder:
            seconds, found = made(Path(folder), "ray", count)
        return seconds, hashlib.sha256(repr(found).encode()).hexdigest()

    cold, _ = timed(180, executor)
    starts = []
    for _ in range(3):
        begun = time.perf_counter()
        next(iter(executor.each(_slow, range(2))))
        starts.append(time.perf_counter() - begun)
    before = time.process_time()
    seconds, same = timed(texts, executor)
    own = time.process_time() - before
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    with tempfile.NamedTemporaryFile(delete=False) as marker:
        after_loss, other = timed(texts, Deadly(executor, Path(marker.name)))
    assert not Path(marker.name).exists(), "no worker was killed"
    begun, end = time.perf_counter(), "none"
    try:
        list(executor.each(_deadly, range(60)))
    except StoppedEarly as e:
        end = str(e)
    return {
        "first": cold,
        "start": median(starts),
        "seconds": seconds,
        "own": own,
        "peak": peak,
        "killed": after_loss,
        "same": same == other,
        "texts": same,
        "deadly": time.perf_counter() - begun,
        "end": end,
    }


def main() -> None:
    """Print the figures of one way."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("way", choices=("pool", "actors", "tasks"))
    parser.add_argument("--texts", type=int, default=100_000)
    given = parser.parse_args()
    address = os.environ["RAY_ADDRESS"]
    executor = (
        RayExecutor(address) if given.way == "pool" else RayDataExecutor(address, given.way == "actors")
    )
    print(json.dumps(figures(executor, given.texts)))


if __name__ == "__main__":
    main()
