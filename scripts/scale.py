"""Measure how time and memory grow with the size of a study.

    python scripts/scale.py [PART ...] [--share 1.0] [--samples 5]

`chain`: runs of 100,000 and a million ratings, `dhp benchmark` with a mock judge on made-up texts:
perturbations, ratings, tables, results and report. The first is run again, killed halfway and started once
more. `workers`: a Ray cluster of two nodes of one CPU on this machine against this process, by calls to a
server that takes 20 ms, warmed up before the clock. `ratings`, `board`, `store`: `dhp analyze`,
`dhp leaderboard` and a store of replies, at a tenth and at the whole size; ten times the size may take ten
times as long, and start-up. `conversations`: to read and to degrade one.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from dhp.content.catalog import mini_examples_file
from dhp.core.checksum import CHECKSUM, sealed
from dhp.llm.cached_model import CachedModel, RequestContext
from dhp.llm.clients.openai_client import OpenAIClient
from dhp.llm.records import Params, Reply, Request
from dhp.llm.store import Store, rows
from dhp.loaders.resolve import resolve_datasets
from dhp.perturb.builder import perturb_datasets
from dhp.plugins.ray.settings import RaySettings
from tests.llm.stub import stub_process

METRICS = ("coherence", "consistency", "fluency", "relevance")
VARIANTS = ("original", *(f"damage_{i}.{degree}" for i in range(1, 10) for degree in ("minor", "major")))
"""As many as the suite `general` has, and the original."""
PER_SAMPLE = len(VARIANTS) * len(METRICS)
"""Ratings of an example."""
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


def dhp(*arguments: object) -> tuple[float, float, float]:
    """Seconds, seconds of CPU and peak megabytes of a command that ends well."""
    start = time.perf_counter()
    process = subprocess.Popen(line(*arguments), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    said = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(said)
    return time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def line(*arguments: object) -> list[str]:
    """A command of `dhp` in a process of its own."""
    return [sys.executable, "-m", "dhp", *map(str, arguments)]


def chain(folder: Path, share: float, samples: int) -> None:
    """Time, memory and bytes of whole runs, and whether one can be killed and resumed."""
    for ratings in (share * 100_000, share * 1_000_000):
        size = folder / str(ratings)
        size.mkdir()
        examples = max(5, round(ratings / PER_SAMPLE / samples))
        write_texts(size / "texts.jsonl", examples)
        run = ["benchmark", "--model", f"mock/noisy?samples={samples}", "--dataset", size / "texts.jsonl"]
        run += ["--task", "summarization", "--suite", "general", "--out"]
        seconds, _, peak = dhp(*run, size / "out")
        count = examples * PER_SAMPLE * samples
        held = sum(path.stat().st_size for path in (size / "out").rglob("*"))
        print(
            f"{count:,} ratings of {len(VARIANTS) * examples:,} texts: {seconds:.0f} s "
            f"({1e6 * seconds / count:.0f} microseconds a rating), peak {peak:,.0f} MB (bar: 1,500), "
            f"{held / 1e6:.1f} MB on disk ({held / count:.0f} bytes a rating)",
            flush=True,
        )
        if ratings == share * 100_000:
            silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            killed = subprocess.Popen(line(*run, size / "again"), **silent)
            time.sleep(seconds / 2)
            killed.kill()
            killed.wait()
            dhp(*run, size / "again")
            same = "the same" if figures(size / "out") == figures(size / "again") else "OTHER"
            print(f"killed after {seconds / 2:.0f} s and started again: {same} figures", flush=True)


def figures(out: Path) -> dict[str, object]:
    """The results without the time at which they were written."""
    found: dict[str, object] = json.loads((out / "results.json").read_text())
    found.pop("created")
    return found


def asked(url: str, folder: Path, way: str, calls: int) -> float:
    """Seconds to have so many requests answered by this process or by workers, each reply stored."""
    context = RequestContext(Store(folder / f"{way}-{calls}.sqlite"))
    if way == "ray":
        context = replace(context, filler=RaySettings("auto").open(context))
    params = Params(temperature=0.0, top_p=None, max_tokens=16)
    wanted = (
        Request(f"Rate text {i}. {_SENTENCES[4] * 20}", params, (0,), f"text {i}") for i in range(calls)
    )
    begun = time.perf_counter()
    for _ in CachedModel(OpenAIClient("stub", url), context).ask(wanted):
        pass
    return time.perf_counter() - begun


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


def workers(folder: Path, share: float, samples: int) -> None:
    """Time and overhead of calls by two nodes against this process."""
    import ray

    count = int(share * 20_000)
    with (
        two_nodes() as address,
        ray.init(address, logging_level="error", log_to_driver=False),
        stub_process("--latency", 0.02) as url,
    ):
        load = os.getloadavg()[0]
        seconds = {}
        for way in ("local", "ray"):
            asked(url, folder, way, 256)
            seconds[way] = asked(url, folder, way, count)
        ideal = count * 0.02 / 64
        each = {way: 1e3 * (took - ideal) / count for way, took in seconds.items()}
        print(
            f"{count:,} calls: this process {seconds['local']:.1f} s, two nodes {seconds['ray']:.1f} s; "
            f"{each['local']:.2f} and {each['ray']:.2f} ms each beyond the latency; speed-up "
            f"{seconds['local'] / seconds['ray']:.2f}; load {load:.1f} before",
            flush=True,
        )


def ratings(folder: Path, share: float, samples: int) -> None:
    """`dhp analyze` of a table with up to a million ratings: memory beside that of the table.

    The smallest table says what is there without one: imports and content.
    """
    least = 0.0
    for wanted in (1_000, int(share * 100_000), int(share * 1_000_000)):
        with ProcessPoolExecutor(1) as writer:  # a process starts with the peak of the one that starts it
            count, held = writer.submit(write_ratings, folder, wanted, samples).result()
        for suffix in ("parquet", "csv"):
            _, seconds, peak = dhp("analyze", folder / f"{wanted}.{suffix}", "--quiet")
            least = least or peak
            print(
                f"analyze, {count:,} ratings, {suffix}: {seconds:.1f} s CPU, {peak:.0f} MB, "
                f"{peak - least:.0f} MB for a table of {held:.1f} MB (bar: twice as much)",
                flush=True,
            )


def write_ratings(folder: Path, wanted: int, samples: int) -> tuple[int, float]:
    """Write about so many ratings in both forms; how many, and the megabytes of their table in memory."""
    examples = max(5, wanted // (PER_SAMPLE * samples))
    table = pd.MultiIndex.from_product(
        [[f"e{i}" for i in range(examples)], VARIANTS, METRICS, range(samples)],
        names=["example", "variant", "metric", "sample"],
    ).to_frame(index=False)
    drop = table["variant"].map({name: 0.05 * i for i, name in enumerate(VARIANTS)})
    noise = np.random.default_rng(0).normal(0, 0.7, len(table))
    table["score"] = np.clip(np.round(4.2 - drop + noise), 1, 5)
    table.to_parquet(folder / f"{wanted}.parquet", index=False)
    table.to_csv(folder / f"{wanted}.csv", index=False)
    return len(table), table.memory_usage(deep=True).sum() / 1e6


def board(folder: Path, share: float, samples: int) -> None:
    """`dhp leaderboard` of up to two hundred results files."""
    run = ["benchmark", "--dataset", "mini/summeval", "--quiet", "--out"]
    results = []
    for k in range(1, 6):
        out = folder / f"run{k}"
        dhp(*run, out, "--model", f"mock/noisy?sensitivity={k / 10}")
        results.append(json.loads((out / "results.json").read_text("utf-8")))
    for count in (max(int(share * 20), 2), max(int(share * 200), 3)):
        files = folder / f"{count}"
        files.mkdir()
        for i in range(count):
            figures = results[i % 5] | {"model": f"own/model-{i}"}
            ratings_sum = figures.pop(CHECKSUM)["ratings"]
            result = sealed(figures, ratings_sum)
            (files / f"{i}.json").write_text(json.dumps(result))
        _, seconds, peak = dhp("leaderboard", files, "--out", folder / f"site{count}")
        print(f"leaderboard, {count} results: {seconds:.1f} s CPU, {peak:.0f} MB", flush=True)


def store(folder: Path, share: float, samples: int) -> None:
    """Writing replies, and finding each again, in a store of up to a million."""
    reply = Reply("Rating: 4", "stop", 200, 5, 1)
    for count in (int(share * 100_000), int(share * 1_000_000)):
        path = folder / f"{count}.sqlite"
        kept = Store(path)
        keys = [hashlib.sha256(b"%d" % i).digest() for i in range(count)]
        start = time.process_time()
        for begin in range(0, count, 32):
            part = dict(enumerate(keys[begin : begin + 32]))
            kept.add(rows(part, "openai/one", "http://127.0.0.1", dict.fromkeys(part, reply), "run"))
        written = time.process_time() - start
        sought = keys[:: max(1, count // 100_000)]
        start = time.process_time()
        assert all(kept.find({0: key}) for key in sought)
        found = time.process_time() - start
        kept.release()
        print(
            f"store, {count:,} replies: {1e6 * written / count:.0f} microseconds of CPU to write one, "
            f"{1e6 * found / len(sought):.0f} to find one, {path.stat().st_size / count:.0f} bytes each",
            flush=True,
        )


def conversations(folder: Path, share: float, samples: int) -> None:
    """CPU time to read and to degrade up to 10,000 conversations, made of the bundled ones."""
    bundled = mini_examples_file("conversations").read_text("utf-8").splitlines()
    file, n = folder / "chats.jsonl", max(len(bundled), int(share * 10_000))
    with file.open("w", encoding="utf-8") as out:
        for i in range(n):
            out.write(json.dumps({**json.loads(bundled[i % len(bundled)]), "id": str(i)}) + "\n")
    start = time.process_time()
    (dataset,) = resolve_datasets([str(file)])
    read = time.process_time() - start
    start = time.process_time()
    (made,) = perturb_datasets(dataset, controls=False, progress=None)
    degraded = time.process_time() - start
    print(f"{n:,} conversations read: {1000 * read / n:.3f} ms each")
    print(f"{len(made.variants)} variants: {1000 * degraded / len(made.texts):.3f} ms a text")


PARTS: dict[str, Callable[[Path, float, int], None]] = {
    "chain": chain,
    "workers": workers,
    "ratings": ratings,
    "board": board,
    "store": store,
    "conversations": conversations,
}


def main() -> None:
    """Print one line a size."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", nargs="*", choices=[*PARTS, []], default=[])
    parser.add_argument("--share", type=float, default=1.0, help="of the whole size; default: 1")
    parser.add_argument("--samples", type=int, default=5, help="ratings of a text on a metric; default: 5")
    given = parser.parse_args()
    print(
        f"{os.cpu_count()} cores, Python {sys.version.split()[0]}, load {os.getloadavg()[0]:.1f}", flush=True
    )
    for name in given.part or PARTS:
        with tempfile.TemporaryDirectory() as folder:
            PARTS[name](Path(folder), given.share, given.samples)


if __name__ == "__main__":
    main()
