"""Measure the whole chain by the number of ratings: time, peak memory, bytes on disk, a kill in the middle.

    python scripts/scale.py [--calls 20000] [--texts 100000]
    python scripts/scale.py --ratings 800000 --samples 1

Each size is a run of its own, `dhp benchmark` with a mock judge on made-up texts: perturbations, ratings,
tables, results and report. The first size is run again, killed halfway and started once more.

Then, where no `--ratings` are given, a Ray cluster of two nodes of one CPU on this machine is held against
this process: calls to a server that takes 20 ms, and perturbations by rule. Both are warmed up before the
clock. What two cores of the machine can bring at most is measured, too: two processes that each do all of the
work at the same time, against one.

"""

import argparse
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PER_SAMPLE = 19 * 4
"""Ratings of an example: texts (the original and 18 variants of the suite `general`) x metrics."""
_SENTENCES = (
    "{a} lives in {b} with {n} cats and an old dog.",
    "Every morning they walk to the harbour because the market opens early.",
    "In {y} the council of {b} decided to build a new bridge over the river.",
    "Many people did not like the plan, although it was cheaper than the tunnel.",
    "{a} wrote {n} letters to the mayor and never got an answer.",
)
_NAMES = ("Ann Berg", "Tom Reed", "Mia Lund", "Jon Hale", "Eva Stone")
_TOWNS = ("Oslo", "Bergen", "Kiel", "Turin", "Porto")


def write_texts(path: Path, examples: int) -> None:
    """A dataset of so many different texts."""
    with path.open("w", encoding="utf-8") as file:
        for i in range(examples):
            filled = {"a": _NAMES[i % 5], "b": _TOWNS[i // 5 % 5], "n": i + 2, "y": 1900 + i % 120}
            text = " ".join(sentence.format(**filled) for sentence in _SENTENCES)
            row = {"id": str(i), "source": f"{text} That is all about case {i}.", "output": text}
            file.write(json.dumps(row) + "\n")


def command(folder: Path, out: str, samples: int) -> list[str]:
    """The run."""
    return [
        *(sys.executable, "-m", "dhp", "benchmark", "--model", f"mock/noisy?samples={samples}"),
        *("--dataset", str(folder / "texts.jsonl"), "--task", "summarization", "--suite", "general"),
        *("--out", str(folder / out)),
    ]


def measured(line: list[str]) -> tuple[float, float]:
    """Seconds and peak megabytes of a command that ends well."""
    start = time.perf_counter()
    process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(said)
    return time.perf_counter() - start, usage.ru_maxrss / 1024


def figures(out: Path) -> dict[str, object]:
    """The results without the time at which they were written."""
    found: dict[str, object] = json.loads((out / "results.json").read_text())
    found.pop("created")
    return found


def made(folder: Path, name: str, texts: int) -> tuple[float, list[str | None]]:
    """Seconds to perturb so many texts by an executor, and the texts."""
    from dhp.llm.settings import ModelSettings
    from dhp.perturb.builder import perturb_datasets

    path = folder / f"{texts}.jsonl"
    write_texts(path, max(5, texts // 18))
    begun = time.perf_counter()
    (found,) = perturb_datasets(
        str(path), task="summarization", suite="general", settings=ModelSettings(executor=name)
    )
    return time.perf_counter() - begun, [text.text for text in found.texts]


def asked(url: str, folder: Path, name: str, calls: int) -> float:
    """Seconds to have so many requests answered by way of an executor, each reply stored."""
    from dhp.llm.cached_model import CachedModel, RequestContext
    from dhp.llm.clients.openai_client import OpenAIClient
    from dhp.llm.executor import open_executor
    from dhp.llm.records import Params, Request
    from dhp.llm.store import Store

    store = Store(folder / f"{name}-{calls}.sqlite")
    context = RequestContext(store, executor=open_executor(name))
    params = Params(temperature=0.0, top_p=None, max_tokens=16)
    wanted = (
        Request(f"Rate text {i}. {_SENTENCES[4] * 20}", params, (0,), f"text {i}") for i in range(calls)
    )
    begun = time.perf_counter()
    for _ in CachedModel(OpenAIClient("stub", url), context).ask(wanted):
        pass
    return time.perf_counter() - begun


def alone(texts: int) -> float:
    """Seconds to perturb so many texts in this process."""
    with tempfile.TemporaryDirectory() as name:
        return made(Path(name), "local", texts)[0]


def speed_up_of_two(texts: int) -> float:
    """Of two processes that share nothing: the work of both over the time of one."""
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        pool.map(alone, [180] * 4, chunksize=1)
        one = pool.apply(alone, (texts,))
        begun = time.perf_counter()
        pool.map(alone, [texts] * 2, chunksize=1)
        return 2 * one / (time.perf_counter() - begun)


@contextmanager
def two_nodes() -> Iterator[str]:
    """The address of a cluster of two nodes of one CPU each."""
    os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112  else other programs go before the workers
    from ray.cluster_utils import Cluster

    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    nodes.add_node(num_cpus=1)
    try:
        yield nodes.address
    finally:
        nodes.shutdown()


def compare_executors(calls: int, texts: int) -> None:
    """Print time, overhead a rating and speed-up of two nodes against this process."""
    import ray

    bound = speed_up_of_two(texts // 5)
    print(f"two processes that share nothing, {texts // 5:,} texts each: speed-up {bound:.2f}", flush=True)
    server = [
        sys.executable,
        str(Path(__file__).parent / "stub_server.py"),
        "--port",
        "0",
        "--latency",
        "0.02",
    ]
    with (
        two_nodes() as address,
        ray.init(address, logging_level="error", log_to_driver=False),
        tempfile.TemporaryDirectory() as name,
        subprocess.Popen(server, stdout=subprocess.PIPE, text=True) as process,
    ):
        assert process.stdout is not None
        url, folder = process.stdout.readline().split()[1], Path(name)
        for kind, warm, count, measure in (
            ("calls", 256, calls, lambda executor, n: (asked(url, folder, executor, n), None)),
            ("texts", 180, texts, lambda executor, n: made(folder, executor, n)),
        ):
            for executor in ("local", "ray"):
                measure(executor, warm)
            load = os.getloadavg()[0]
            here, one = measure("local", count)
            before = time.process_time()
            there, other = measure("ray", count)
            own = time.process_time() - before
            ideal = count * 0.02 / 64 if kind == "calls" else 0.0
            print(
                f"{count:,} {kind}: this process {here:.1f} s, two nodes {there:.1f} s; "
                f"{1e3 * (here - ideal) / count:.2f} and {1e3 * (there - ideal) / count:.2f} ms each"
                f"{' beyond the latency' if ideal else ''}; speed-up {here / there:.2f}; "
                f"{own:.1f} s of CPU of this process while the nodes worked; "
                f"{'the same' if one == other else 'OTHER'} texts; load before {load:.1f}, after "
                f"{os.getloadavg()[0]:.1f}",
                flush=True,
            )
        process.terminate()


def measure_chain(ratings: int, samples: int, resume: bool) -> None:
    """Print time, memory and bytes of a run, and whether it can be killed and resumed."""
    with tempfile.TemporaryDirectory() as name:
        folder, examples = Path(name), max(5, round(ratings / PER_SAMPLE / samples))
        write_texts(folder / "texts.jsonl", examples)
        seconds, peak = measured(command(folder, "out", samples))
        count = examples * PER_SAMPLE * samples
        size = sum(path.stat().st_size for path in (folder / "out").rglob("*"))
        print(
            f"{count:,} ratings of {19 * examples:,} texts: {seconds:.0f} s "
            f"({1e6 * seconds / count:.0f} microseconds a rating), peak {peak:,.0f} MB (bar: 1,500), "
            f"{size / 1e6:.1f} MB on disk ({size / count:.0f} bytes a rating)",
            flush=True,
        )
        if resume:
            silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            killed = subprocess.Popen(command(folder, "again", samples), **silent)
            time.sleep(seconds / 2)
            killed.kill()
            killed.wait()
            measured(command(folder, "again", samples))
            same = "the same" if figures(folder / "out") == figures(folder / "again") else "OTHER"
            print(f"killed after {seconds / 2:.0f} s and started again: {same} figures", flush=True)


def main() -> None:
    """Print one line a size, then one for each kind of work that a cluster takes over."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ratings", type=int, action="append", help="default: 100,000 and 1,000,000")
    parser.add_argument("--samples", type=int, default=5, help="ratings of a text on a metric; default: 5")
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--texts", type=int, default=100_000)
    given = parser.parse_args()
    print(
        f"{os.cpu_count()} cores, Python {sys.version.split()[0]}, load {os.getloadavg()[0]:.1f}", flush=True
    )
    for place, ratings in enumerate(given.ratings or (100_000, 1_000_000)):
        measure_chain(ratings, given.samples, resume=place == 0 and not given.ratings)
    if not given.ratings:
        compare_executors(given.calls, given.texts)


if __name__ == "__main__":
    main()
