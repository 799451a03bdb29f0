"""Measure how time and memory grow: a run, ratings to analyse, results on a leaderboard, a store of replies.

    python scripts/large.py [run|ratings|board|store ...] [--share 1.0]

Each part is measured at a tenth and at its whole size: ten times the size may take ten times as long, and
start-up. Its processes are its own, so peak memory is that of one size.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

import dhp

METRICS = ("coherence", "consistency", "fluency", "relevance")
VARIANTS = ("original", *(f"damage_{i}.{degree}" for i in range(1, 10) for degree in ("minor", "major")))
SAMPLES = 5


def measured(line: list[str]) -> tuple[float, float]:
    """Seconds of CPU and peak megabytes of a command that ends well."""
    process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    said = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(said)
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def run(folder: Path, share: float) -> None:
    """`dhp benchmark` with a mock judge on up to 4,000 texts: bundled ones, each with an end of its own."""
    bundled = dhp.perturb_datasets("mini/summeval", n=24)[0].dataset.examples
    for count in (max(5, int(share * n)) for n in (400, 2_000, 4_000)):
        file = folder / f"{count}.jsonl"
        with file.open("w", encoding="utf-8") as texts:
            for i in range(count):
                example = bundled[i % len(bundled)]
                end = f" It is the report with the number {i}, and nobody has read more than {i + 7} of them."
                row = {"id": str(i), "source": example.source + end, "output": example.output + end}
                texts.write(json.dumps(row) + "\n")
        line = [sys.executable, "-m", "dhp", "benchmark", "--model", "mock/ideal", "--quiet"]
        line += ["--dataset", str(file), "--task", "summarization", "--out", str(folder / f"run{count}")]
        seconds, peak = measured(line)
        print(f"run, {count:,} examples: {seconds:.1f} s CPU, {peak:.0f} MB", flush=True)


def ratings(folder: Path, share: float) -> None:
    """`dhp analyze` of a table with up to a million ratings."""
    for rows in (int(share * 100_000), int(share * 1_000_000)):
        examples = max(5, rows // (len(VARIANTS) * len(METRICS) * SAMPLES))
        table = pd.MultiIndex.from_product(
            [[f"e{i}" for i in range(examples)], VARIANTS, METRICS, range(SAMPLES)],
            names=["example", "variant", "metric", "sample"],
        ).to_frame(index=False)
        drop = table["variant"].map({name: 0.05 * i for i, name in enumerate(VARIANTS)})
        noise = np.random.default_rng(0).normal(0, 0.7, len(table))
        table["score"] = np.clip(np.round(4.2 - drop + noise), 1, 5)
        file = folder / f"{rows}.parquet"
        table.to_parquet(file, index=False)
        seconds, peak = measured([sys.executable, "-m", "dhp", "analyze", str(file), "--quiet"])
        print(f"analyze, {len(table):,} ratings: {seconds:.1f} s CPU, {peak:.0f} MB", flush=True)


def board(folder: Path, share: float) -> None:
    """`dhp leaderboard` of up to two hundred results files."""
    run = [sys.executable, "-m", "dhp", "benchmark", "--dataset", "mini/summeval", "--quiet", "--out"]
    made = []
    for k in range(1, 6):
        out = folder / f"run{k}"
        measured([*run, str(out), "--model", f"mock/noisy?sensitivity={k / 10}"])
        made.append(json.loads((out / "results.json").read_text("utf-8")))
    for count in (max(int(share * 20), 2), max(int(share * 200), 3)):
        files = folder / f"{count}"
        files.mkdir()
        for i in range(count):
            result = made[i % 5] | {"model": f"own/model-{i}"}
            (files / f"{i}.json").write_text(json.dumps(result))
        line = [sys.executable, "-m", "dhp", "leaderboard", str(files), "--out", str(folder / f"site{count}")]
        seconds, peak = measured(line)
        print(f"leaderboard, {count} results: {seconds:.1f} s CPU, {peak:.0f} MB", flush=True)


def store(folder: Path, share: float) -> None:
    """Writing replies, and finding each again, in a store of up to a million."""
    code = """
import hashlib, sys, time
from pathlib import Path
from dhp.llm.records import Reply
from dhp.llm.store import Store, rows
path, count = Path(sys.argv[1]), int(sys.argv[2])
store = Store(path)
reply = Reply("Rating: 4", "stop", 200, 5, 1)
keys = [hashlib.sha256(b"%d" % i).digest() for i in range(count)]
start = time.process_time()
for begin in range(0, count, 32):
    part = dict(enumerate(keys[begin : begin + 32]))
    store.add(rows(part, "openai/one", "http://127.0.0.1", dict.fromkeys(part, reply), "run"))
written = time.process_time() - start
start = time.process_time()
assert all(store.find({0: key}) for key in keys[:: max(1, count // 100_000)])
found = time.process_time() - start
print(written, found, len(keys[:: max(1, count // 100_000)]))
"""
    for rows in (int(share * 100_000), int(share * 1_000_000)):
        path = folder / f"{rows}.sqlite"
        line = [sys.executable, "-c", code, str(path), str(rows)]
        written, found, asked = subprocess.run(
            line, check=True, capture_output=True, text=True
        ).stdout.split()
        size = path.stat().st_size
        print(
            f"store, {rows:,} replies: {1e6 * float(written) / rows:.0f} microseconds of CPU to write one, "
            f"{1e6 * float(found) / int(asked):.0f} to find one, {size / rows:.0f} bytes each",
            flush=True,
        )


PARTS: dict[str, Callable[[Path, float], None]] = {
    "run": run,
    "ratings": ratings,
    "board": board,
    "store": store,
}


def main() -> None:
    """Print one line a size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", nargs="*", choices=[*PARTS, []], default=[])
    parser.add_argument("--share", type=float, default=1.0, help="of the whole size; default: 1")
    options = parser.parse_args()
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}", flush=True)
    start = time.perf_counter()
    for name in options.part or PARTS:
        with tempfile.TemporaryDirectory() as folder:
            PARTS[name](Path(folder), options.share)
    print(f"{time.perf_counter() - start:.0f} s in all", flush=True)


if __name__ == "__main__":
    main()
