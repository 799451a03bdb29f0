"""Measure how much slower or faster an analysis is than at an earlier commit, old and new in turn.

48 tests of 26,000 ratings, without clusters, and with the examples in 10, 30 and 50. Each side is a process
of its own that analyses when it is told to, and says how much CPU time that took; the ratio is the median
over pairs of neighbours, so that a machine under load slows both sides.

Run it from anywhere: python scripts/speed_against.py COMMIT [--repeats 25]
"""

import argparse
import io
import os
import statistics
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import pandas as pd
from performance import ratings_table

ROOT = Path(__file__).resolve().parent.parent
CLUSTERS = (0, 10, 30, 50)
_WORKER = """
import sys, time
import pandas as pd
import dhp

tables = {name: pd.read_parquet(name) for name in sys.argv[1:]}
for line in sys.stdin:
    start = time.process_time()
    dhp.analyze(tables[line.strip()])
    print(time.process_time() - start, flush=True)
"""


class Side:
    """The analysis of a checkout, in a process of its own."""

    def __init__(self, checkout: Path, tables: list[str]) -> None:
        environment = os.environ | {"PYTHONPATH": str(checkout)}
        self._process = subprocess.Popen(
            [sys.executable, "-c", _WORKER, *tables],
            cwd=checkout,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def seconds(self, table: str) -> float:
        """CPU time of one analysis."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{table}\n")
        self._process.stdin.flush()
        return float(self._process.stdout.readline())

    def end(self) -> None:
        """No more is asked."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def tables_of(folder: Path) -> dict[str, str]:
    """File -> what it holds."""
    frame, made = ratings_table(), {}
    for groups in CLUSTERS:
        clustered = frame if not groups else frame.assign(cluster=frame["example"] % groups)
        path = folder / f"{groups}.parquet"
        pd.DataFrame(clustered).to_parquet(path)
        made[str(path)] = f"{groups} clusters" if groups else "no clusters"
    return made


def main() -> None:
    """Print a line for each table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("commit", help="with which the checkout is compared")
    parser.add_argument("--repeats", type=int, default=25)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        old, tables = Path(name) / "old", tables_of(Path(name))
        packed = subprocess.run(["git", "archive", chosen.commit], cwd=ROOT, check=True, capture_output=True)
        with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as files:
            files.extractall(old, filter="data")
        sides = [Side(checkout, list(tables)) for checkout in (ROOT, old)]
        for table, what in tables.items():
            for side in sides:
                side.seconds(table)  # what is imported and cached at first is no part of it
            pairs = [[side.seconds(table) for side in sides] for _ in range(chosen.repeats)]
            ratio = statistics.median(new / before for new, before in pairs)
            new, before = (1000 * statistics.median(each) for each in zip(*pairs, strict=True))
            print(
                f"{what}: {new:.0f} ms, {before:.0f} ms at {chosen.commit}; ratio {ratio:.2f} (bar: 1.1)",
                flush=True,
            )
        for side in sides:
            side.end()


if __name__ == "__main__":
    main()
