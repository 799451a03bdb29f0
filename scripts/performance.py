"""Measure what must stay fast: the offline run, rule perturbation, exact statistics, `--help`; medians.

Run it from anywhere: python scripts/performance.py [--summeval FILE]
Without FILE the texts are those of the bundled mini set, repeated to 100.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

import dhp
from dhp.content.catalog import read_card, read_suite
from dhp.core.ratings_table import read_ratings
from dhp.loaders.published import read_published
from dhp.perturb.apply import Others, RulesApplied
from dhp.perturb.registry import find_perturbers


def median_seconds(function: Callable[[], object], repeats: int) -> float:
    """Median wall time of a call."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def median_ratio(measured: Callable[[], object], against: Callable[[], object], repeats: int) -> float:
    """Median over pairs of runs, so that a machine under load slows both sides."""
    return statistics.median(median_seconds(measured, 1) / median_seconds(against, 1) for _ in range(repeats))


def command(*arguments: str) -> Callable[[], object]:
    """A call that runs `python ARGUMENTS` to its end in an empty folder."""

    def call() -> None:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, *arguments], cwd=folder, check=True, capture_output=True)

    return call


def hundred_examples(summeval: Path | None) -> list[dhp.Example]:
    """100 SummEval references, or the bundled ones repeated."""
    if summeval is not None:
        return read_published(read_card("summeval"), summeval)[:100]
    bundled = dhp.perturb_datasets("mini/summeval")[0].dataset.examples
    return [dhp.Example(f"{e.id}.{i}", e.source, e.output) for i in range(5) for e in bundled][:100]


def ratings_table() -> pd.DataFrame:
    """12 variants and the original x 4 metrics x 100 examples x 5 samples of whole scores."""
    rng = np.random.default_rng(0)
    variants = ["original", *(v.name for v in read_suite("summeval").variants)]
    metrics = ["coherence", "consistency", "fluency", "relevance"]
    index = pd.MultiIndex.from_product(
        [range(100), variants, metrics, range(5)], names=["example", "variant", "metric", "sample"]
    )
    frame = index.to_frame(index=False)
    drop = frame["variant"].map({v: 0.1 * i for i, v in enumerate(variants)})
    frame["score"] = np.clip(np.round(4.2 - drop + rng.normal(0, 0.7, len(frame))), 1, 5)
    return frame


def degraded(
    examples: list[dhp.Example], variant: dhp.Variant, perturbers: Mapping[str, dhp.Perturber]
) -> object:
    """All texts of a variant."""
    rules = RulesApplied((variant,), perturbers, "x", 0, Others(examples, 0, "x"))
    return list(rules.texts(examples))


FORMATS: dict[str, tuple[Callable[[pd.DataFrame, Path], object], Callable[[Path], object]]] = {
    "r.csv": (lambda frame, path: frame.to_csv(path, index=False), pd.read_csv),
    "r.jsonl": (
        lambda frame, path: frame.to_json(path, orient="records", lines=True),
        lambda path: pd.read_json(path, lines=True),
    ),
    "r.parquet": (lambda frame, path: frame.to_parquet(path), pd.read_parquet),
}
"""File -> how pandas writes and reads it."""


def main() -> None:
    """Print one line a figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--summeval", type=Path, help="the published SummEval table (JSONL or Parquet)")
    parser.add_argument("--repeats", type=int, default=10, help="of each measurement")
    options = parser.parse_args()
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}")

    for names in (["dhp"], ["dhp", "benchmark"], ["dhp.benchmark"]):
        arguments = ["-m", *names, "--help"]
        ratio = median_ratio(command(*arguments), command("-c", "pass"), options.repeats)
        print(f"python {' '.join(arguments)}: {ratio:.1f} times python -c pass (bar: 10)")

    seconds = median_seconds(command("-m", "dhp.benchmark", "--model", "baseline/surface"), options.repeats)
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"benchmark of mini with baseline/surface: {seconds:.1f} s (bar: 30 s)")
    print(f"  peak memory of the largest of these processes: {memory:.0f} MB (bar: 600 MB)")

    examples, perturbers = hundred_examples(options.summeval), find_perturbers()
    variants = [v for v in read_suite("summeval").variants if v.method == "rule"]
    total = 0.0
    for variant in variants:
        seconds = median_seconds(lambda v=variant: degraded(examples, v, perturbers), options.repeats)
        total += seconds
        print(f"  {variant.name}: {len(examples) / seconds:.0f} texts a second")
    print(f"rule perturbation: {len(examples) * len(variants) / total:.0f} variants a second (bar: 500)")

    frame = ratings_table()
    for preset in ("default", "paper"):
        seconds = median_seconds(
            lambda p=preset: dhp.analyze(frame, suite="summeval", analysis=dhp.AnalysisConfig(statistics=p)),
            options.repeats,
        )
        what = f"analysis of 48 tests from {len(frame):,} ratings, {preset}"
        print(f"{what}: {seconds * 1000:.0f} ms (bar: 50 ms)")
    with tempfile.TemporaryDirectory() as folder:
        for name, (write, read) in FORMATS.items():
            path = Path(folder) / name
            write(pd.concat([frame] * 4, ignore_index=True).iloc[:89_500], path)
            ratio = median_ratio(lambda p=path: read_ratings(p), lambda p=path, r=read: r(p), options.repeats)
            print(f"reading 89,500 ratings, {path.suffix[1:]}: {ratio:.1f} times pandas (bar: 2)")


if __name__ == "__main__":
    main()
