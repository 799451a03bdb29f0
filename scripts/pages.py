"""Measure what pages cost: the report of a full run, and a leaderboard of fifty models.

Run it from anywhere: python scripts/pages.py [report|site ...]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

import dhp
from dhp.core.specs import Task
from dhp.leaderboard.load import read_entries
from dhp.leaderboard.site import write_site
from dhp.leaderboard.tables import make_tables

REASON = (
    "The text reads well on the whole, though one passage does not follow from the one before it. Rating: "
)


class Talkative:
    """Five samples a metric, each a score with its reason, lower for degraded texts."""

    model, protocol, samples = "own/talkative", "none", 5

    def rate(self, candidates: Sequence[dhp.Candidate], task: Task) -> Iterator[dhp.Rating]:
        """A rating for each candidate, metric and sample."""
        rng = np.random.default_rng(0)
        for c in candidates:
            for metric in task.metrics:
                mean = 4.2 - 0.5 * (c.variant != "original")
                for sample in range(self.samples):
                    score = float(np.clip(np.round(mean + rng.normal(0, 0.7)), 1, 5))
                    answer = f"{c.example}, {metric.name}: {REASON}{score:g}"
                    yield dhp.Rating(c.example, c.variant, metric.name, sample, score, raw=answer)


def hundred_examples() -> dhp.Dataset:
    """The bundled news, repeated to a hundred."""
    bundled = dhp.perturb_datasets("mini/summeval")[0].dataset.examples
    examples = [dhp.Example(f"{e.id}.{i}", e.source, e.output) for i in range(5) for e in bundled][:100]
    return dhp.Dataset.of(examples, name="news", task="summarization")


def report(folder: Path) -> None:
    """100 examples x 13 variants x 4 metrics x 5 samples.

    The run has a process of its own, as the peak memory of a process counts in those that it starts.
    """
    here, out = Path(__file__).parent, str(folder / "run")
    code = f"import pages; pages.dhp.run(pages.Talkative(), pages.hundred_examples(), out={out!r})"
    subprocess.run([sys.executable, "-c", code], cwd=here, check=True)
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "dhp", "report", out], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    assert status == 0
    seconds, memory = time.perf_counter() - start, used.ru_maxrss / 1024
    size = (folder / "run" / "report.html").stat().st_size / 1e6
    print(f"dhp report, 26,000 ratings: {seconds:.1f} s (bar: 10), {memory:.0f} MB (bar: 500)")
    print(f"  the page: {size:.2f} MB (bar: 3)")


def site(folder: Path) -> None:
    """50 models x 6 datasets, results without ratings."""
    (folder / "board").mkdir()
    kinds = [dhp.run(f"mock/noisy?sensitivity={k / 10}", "mini") for k in range(1, 6)]
    for number in range(50):
        results = dhp.Results([replace(r, model=f"own/model-{number}") for r in kinds[number % 5]])
        (folder / "board" / f"{number}.json").write_text(json.dumps(results.to_dict()))
    start = time.perf_counter()
    write_site(make_tables(read_entries([str(folder / "board")])), str(folder / "site"))
    seconds = time.perf_counter() - start
    size = sum(path.stat().st_size for path in (folder / "site").rglob("*") if path.is_file()) / 1e6
    print(f"site of 50 models x 6 datasets: {seconds:.1f} s (bar: 20), {size:.1f} MB")


def main() -> None:
    """Print one line a figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parts = {"report": report, "site": site}
    parser.add_argument("part", nargs="*", choices=[*parts, []], default=[])
    for name in parser.parse_args().part or parts:
        with tempfile.TemporaryDirectory() as folder:
            parts[name](Path(folder))


if __name__ == "__main__":
    main()
