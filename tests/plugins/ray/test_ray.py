"""The same runs by the workers of a Ray cluster of two nodes, of which some are killed."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
import types
import uuid
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

import dhp
from dhp.core.errors import InputError, StoppedEarly
from dhp.plugins.ray.cluster import Cluster as Workers
from dhp.plugins.ray.pool import Pool, Worker, WorkerGroup, packed
from dhp.plugins.ray.settings import RaySettings
from tests.llm.stub import stats, stub_server

pytest.importorskip("ray", reason="the extra ray is not installed")
pytestmark = pytest.mark.slow

MARK = "DHP_TEST_CLUSTER"
OWN = """
import threading
from helper_of_a_judge import share

lock = threading.Lock()  # what cannot be sent to another process


def long(*, outputs):
    with lock:
        return share(outputs)
"""
LACKING = """
import sys


class Lacking:
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] == "dhp":
            raise ModuleNotFoundError("No module named 'dhp'")


sys.meta_path.insert(0, Lacking)
"""


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[object]:
    """Two nodes of one CPU each; workers know by a variable that they are of this one."""
    import ray
    from ray.cluster_utils import Cluster

    os.environ[MARK] = uuid.uuid4().hex
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    nodes.add_node(num_cpus=1)
    os.environ["RAY_ADDRESS"] = nodes.address
    yield nodes
    ray.shutdown()
    nodes.shutdown()
    del os.environ[MARK], os.environ["RAY_ADDRESS"]


def worker_pids() -> list[int]:
    """The processes of workers that are there."""
    mark, found = os.environ[MARK].encode(), []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal() and (folder / "cmdline").exists():
            try:
                ours = mark in (folder / "environ").read_bytes()
                if ours and (folder / "cmdline").read_bytes().startswith(b"ray::Worker"):
                    found.append(int(folder.name))
            except OSError:  # it has ended meanwhile
                continue
    return sorted(found)


class KillOnce:
    """A progress that kills a worker in the middle."""

    def __init__(self) -> None:
        self.killed = 0

    def __call__(self, what: str, done: int, total: int, cost: str) -> None:
        if not self.killed and 0 < done < total:
            self.killed = worker_pids()[0]
            os.kill(self.killed, signal.SIGKILL)


def written(model: str, folder: Path, way: str, **more: object) -> dict[str, object]:
    """What a run writes, but for the time."""
    filler = RaySettings("auto") if way == "ray" else None
    settings = dhp.ModelSettings(cache=folder / way, filler=filler, **more.pop("settings", {}))
    dhp.run(model, "mini/summeval", out=folder / f"out-{way}", settings=settings, **more)
    out = folder / f"out-{way}"
    results = json.loads((out / "results.json").read_text())
    for name in ("created", "latency", "checksum"):
        results.pop(name)
    return {
        "ratings": pd.read_parquet(out / "ratings.parquet").to_csv(),
        "results": results,
        "perturbed": (out / "perturbed.jsonl").read_text(),
    }


def kill_in_each(monkeypatch: pytest.MonkeyPatch, folder: Path) -> list[Path]:
    """Have a worker killed in the middle of a block, once in each work; a file for each stands until then."""
    each, files = Workers.each, []

    def deadly(self: Workers, work: object, items: object, **more: object) -> Iterator[object]:
        function = getattr(work, "func", work)
        kind = getattr(function, "__name__", type(function).__name__)
        file = folder / f"{kind}.{len(files)}"
        file.touch()
        files.append(file)

        def killed_once(some: list[object]) -> Iterator[object]:
            for place, pair in enumerate(work(some)):
                if place == len(some) // 2 and file.exists():
                    file.unlink(missing_ok=True)
                    os.kill(os.getpid(), signal.SIGKILL)
                yield pair

        return each(self, killed_once, items, **more)

    monkeypatch.setattr(Workers, "each", deadly)
    return files


def test_an_item_that_ends_every_worker_ends_the_run() -> None:
    def deadly(items: list[int]) -> Iterator[tuple[int, int]]:
        for item in items:
            if item == 30:
                os.kill(os.getpid(), signal.SIGKILL)
            yield item, item

    with pytest.raises(StoppedEarly, match="4 workers in turn were lost at the same work"):
        list(Workers(None).each(deadly, range(60)))


def test_work_is_done_whole_though_a_machine_is_lost(cluster: Any) -> None:
    def slow(items: list[int]) -> Iterator[tuple[int, str]]:
        import ray

        for item in items:
            time.sleep(0.02)
            yield item, ray.get_runtime_context().get_node_id()

    third = cluster.add_node(num_cpus=1)
    found, nodes = [], set()
    for item, node in Workers(None).each(slow, range(900)):
        found.append(item)
        nodes.add(node)
        if third and third.node_id in nodes and len(found) > 300:
            cluster.remove_node(third, allow_graceful=False)
            third = None
    assert third is None, "the third machine did nothing"
    assert sorted(found) == list(range(900))


def test_losses_of_one_item_do_not_count_for_those_that_come_after_it() -> None:
    """Each item costs a worker, in a cluster that is played; later items lie where earlier ones lay."""
    import ray

    seen = set()

    def came(ref: tuple[str, object]) -> object:
        kind, items = ref
        if kind == "version":
            return dhp.__version__
        if ref not in seen:
            seen.add(ref)
            raise ray.exceptions.RayActorError
        return 0.5, list(items)

    worker = SimpleNamespace(
        version=SimpleNamespace(remote=lambda: ("version", object())),
        do=SimpleNamespace(remote=lambda key, parcel, items: ("do", tuple(items))),
    )
    played = SimpleNamespace(
        put=lambda sent: sent,
        wait=lambda refs, timeout: (refs[:1], refs[1:]),
        get=came,
        exceptions=ray.exceptions,
    )
    pool, found = Pool(played, WorkerGroup([worker]), iter, lambda: None), []
    for place in range(100):
        pool.submit([place], place)
        while pool.full:
            found += [result for _, result in pool.wait()]
    while pool.pending:
        found += [result for _, result in pool.wait()]
    assert sorted(found) == list(range(100))


def test_a_worker_of_another_version_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dhp.plugins.ray.pool.__version__", "0.0.0")
    with pytest.raises(
        InputError, match=r"a worker has dhp .*, and this is 0\.0\.0; install the same version"
    ):
        list(Workers(None).each(iter, range(2)))


class Named:
    """Work that says which piece it is."""

    async def __call__(self, items: list[int]) -> list[int]:
        return [id(self) for _ in items]


def test_calls_that_come_at_once_share_one_piece_of_work_and_its_limits() -> None:
    async def both() -> list[tuple[float, object]]:
        parcel = [asyncio.get_running_loop().create_future()]
        worker = Worker()
        calls = [asyncio.ensure_future(worker.do(1, parcel, [place])) for place in range(2)]
        await asyncio.sleep(0)
        parcel[0].set_result(packed(Named()))
        return await asyncio.gather(*calls)

    (_, one), (_, other) = asyncio.run(both())
    assert one == other


def test_a_server_is_asked_the_same_though_a_worker_is_killed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    kill = KillOnce()
    with stub_server("--latency", "0.05", "--faults", "429=0.05,500=0.05") as url:
        more = {"n": 12, "settings": {"base_url": url, "rate_limits": dhp.RateLimits(concurrency=8)}}
        here = written("openai/stub", tmp_path, "local", **more)
        calls = stats(url)["statuses"]["200"]
        there = written("openai/stub", tmp_path, "ray", progress=kill, **more)
        again = stats(url)["statuses"]["200"] - calls
        assert stats(url)["max_in_flight"] <= 8 + 4, "calls of the killed worker may not have ended there"
    assert capfd.readouterr().out == "", "what the cluster says would spoil --json"
    assert kill.killed
    assert kill.killed not in worker_pids()
    assert there == here
    assert calls <= again <= calls + 8, "no more is asked again than the worker had in flight"
    # All is stored: the same run needs neither server nor workers.
    more["settings"]["base_url"] = url
    assert written("openai/stub", tmp_path, "ray", **more) == here


def test_a_function_of_a_file_is_called_by_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "judge_of_a_file.py").write_text(OWN)
    (tmp_path / "helper_of_a_judge.py").write_text("def share(text): return min(1.0, len(text) / 1000)\n")
    more = {"n": 8, "judge_settings": dhp.JudgeSettings(scale=(0, 1), version="1")}
    monkeypatch.chdir(tmp_path)
    model = "python:judge_of_a_file.py:long"
    killed = kill_in_each(monkeypatch, tmp_path)
    there = written(model, tmp_path, "ray", **more)
    assert [each.stem for each in killed] == 2 * ["answer"], "the first text is alone"
    assert not any(each.exists() for each in killed)
    assert there == written(model, tmp_path, "local", **more)


def test_limits_hold_and_what_was_paid_is_kept(tmp_path: Path) -> None:
    with stub_server() as url:
        settings = {"base_url": url, "limits": dhp.Limits(calls=40)}
        for _ in range(3):
            with pytest.raises(StoppedEarly, match=r"limits\.calls"):
                written("openai/stub", tmp_path, "ray", n=8, settings=dict(settings))
        assert stats(url)["calls"] == 120
        assert len(stats(url)["paid"]) == 120, "nothing is paid twice"


def test_calls_in_flight_at_an_interruption_are_kept(tmp_path: Path) -> None:
    def interrupt(what: str, done: int, total: int, cost: str) -> None:
        if 0 < done < total:
            signal.setitimer(signal.ITIMER_REAL, 0.3)  # while it waits for calls

    def stop(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    with stub_server("--latency", "0.5") as url:
        settings = {"base_url": url, "rate_limits": dhp.RateLimits(concurrency=16)}
        before = signal.signal(signal.SIGALRM, stop)
        try:
            with pytest.raises(KeyboardInterrupt):
                written("openai/stub", tmp_path, "ray", n=24, settings=dict(settings), progress=interrupt)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        calls = stats(url)["calls"]
        assert calls > 16
        written("openai/stub", tmp_path, "ray", n=24, settings=dict(settings))
        paid = stats(url)["paid"].values()
    assert calls < len(paid), "nothing was left to do"
    assert set(paid) == {1}, "nothing is paid twice"


def test_what_holds_for_all_requests_stops_the_run(tmp_path: Path) -> None:
    with stub_server("--mode", "wrong-key") as url, pytest.raises(InputError, match="refuses"):
        written("openai/stub", tmp_path, "ray", n=4, settings={"base_url": url})
    with pytest.raises(InputError, match="no server answers"):
        written("openai/stub", tmp_path, "ray", n=4, settings={"base_url": url})


def test_a_worker_without_a_package_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = types.ModuleType("only_here")
    package.__path__ = []  # a package: only modules of one file are sent

    def score(*, outputs: str) -> float:
        return 0.5

    score.__module__, score.__qualname__ = "only_here", "score"
    package.score = score
    monkeypatch.setitem(sys.modules, "only_here", package)
    with pytest.raises(InputError, match="no package 'only_here'"):
        dhp.run(
            score,
            "mini/summeval",
            n=2,
            settings=dhp.ModelSettings(cache=tmp_path, filler=RaySettings("auto")),
            judge_settings=dhp.JudgeSettings(scale=(0, 1)),
        )


def test_what_cannot_be_sent_is_told(tmp_path: Path) -> None:
    connection = socket.socket()

    def score(*, outputs: str) -> float:
        return float(connection.fileno() > 0)

    with connection, pytest.raises(InputError, match="cannot be sent to workers"):
        dhp.run(
            score,
            "mini/summeval",
            n=2,
            settings=dhp.ModelSettings(cache=tmp_path, filler=RaySettings("auto")),
            judge_settings=dhp.JudgeSettings(scale=(0, 1)),
        )


def test_a_model_in_process_answers_the_same_though_its_worker_is_killed(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    more = {
        "n": 4,
        "protocol": dhp.protocol("dhp", temperature=1.0, samples=2, max_tokens=8),
        "settings": {"dtype": "float32", "keep_going": True},
    }
    killed = kill_in_each(monkeypatch, tmp_path)
    there = written(f"hf/{tiny_model}", tmp_path, "ray", **more)
    assert killed[-1].stem == "answer"
    assert not any(each.exists() for each in killed)
    more["settings"] = {"dtype": "float32", "keep_going": True}
    assert there == written(f"hf/{tiny_model}", tmp_path, "local", **more)


@pytest.mark.parametrize("address", ["127.0.0.1:1", "nobody", "ray://127.0.0.1:10001", "here:99999"])
def test_an_address_without_a_cluster_is_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ray.is_initialized", lambda: False)
    cluster = Workers(address)
    with pytest.raises(InputError, match=r"`ray` .*(no cluster answers there|must have the form HOST:PORT)"):
        _ = cluster.workers


def benchmark(address: str, url: str) -> "subprocess.CompletedProcess[str]":
    """A run by a command line."""
    line = [sys.executable, "-m", "dhp", "benchmark", "--model", "openai/stub", "--n", "3"]
    line += ["--dataset", "mini/summeval", "--base-url", url, "--ray", address]
    return subprocess.run(line, capture_output=True, text=True, timeout=120)


def test_a_machine_that_does_not_start_in_time_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(*_: object, **__: object) -> None:
        raise Exception("The current node timed out during startup.\nMore of it.")

    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr("ray.is_initialized", lambda: False)
    monkeypatch.setattr("ray.init", late)
    with pytest.raises(InputError, match=r"`ray`: The current node timed out.*; at this machine$"):
        _ = Workers(None).workers


def test_runs_of_one_process_share_the_workers(tmp_path: Path) -> None:
    context = dhp.ModelSettings(cache=tmp_path).context()
    one, two = (RaySettings("auto").open(context) for _ in range(2))
    assert one._cluster is two._cluster


def test_an_address_where_something_else_listens_is_refused() -> None:
    with stub_server() as url:
        said = benchmark(url.split("/")[2], url)
    assert said.returncode == 2, said.stderr
    assert said.stdout == ""
    assert "what answers there is not a Ray cluster" in said.stderr


def test_a_machine_without_the_package_is_told(tmp_path: Path) -> None:
    """A node whose processes do not find `dhp`, though it lies on this machine."""
    from ray.cluster_utils import Cluster

    (tmp_path / "sitecustomize.py").write_text(LACKING)
    bare = Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 1, "include_dashboard": False, "env_vars": {"PYTHONPATH": str(tmp_path)}},
    )
    try:
        with stub_server() as url:
            said = benchmark(bare.address, url)
    finally:
        bare.shutdown()
    assert said.returncode == 2, said.stderr
    assert said.stdout == ""
    assert "a worker has no package 'dhp'; install on every machine" in said.stderr
