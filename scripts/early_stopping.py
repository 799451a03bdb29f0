"""Measure what early stopping saves: the share of the ratings of a full run, and the kinds that each notices.

Run it from anywhere: python scripts/early_stopping.py
"""

import argparse
import logging

import dhp
from dhp.core.verdicts import NOTICED
from dhp.plugins.adaptive.early_stopping import early_stopping

JUDGES = ("mock/ideal", "mock/noisy?sensitivity=2", "mock/noisy", "mock/noisy?sensitivity=0.5")
OTHERS = ("mock/blind", "baseline/surface")
NAMES = ("Ada Brook", "Ben Carver", "Cora Dell", "Dan Ellis", "Eve Finch")


def texts(n: int) -> dhp.Dataset:
    """Examples that six kinds of damage by rule apply to."""
    examples = [
        dhp.Example(
            f"{i}",
            f"{NAMES[i % 5]} opened a bakery in Northwick in {1900 + i}. It sold {i + 2} kinds of bread.",
            f"{NAMES[i % 5]} has run a bakery since {1900 + i}. The shop in Northwick sells bread. "
            f"It offers {i + 2} different kinds. Many people buy some every morning.",
        )
        for i in range(n)
    ]
    return dhp.Dataset.of(examples, name="bakeries", task="summarization", suite="summeval")


def main() -> None:
    """Print one line a judge and data set."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", metavar="JUDGE", help="this judge alone")
    only = parser.parse_args().only
    logging.getLogger("dhp").setLevel(logging.ERROR)
    for data in ("mini/summeval", texts(100)):
        for model in [only] if only else (*JUDGES, *OTHERS):
            less, full = (
                way(model, data, controls=False, progress=None)[0] for way in (early_stopping, dhp.run)
            )
            saved = 1 - less.ratings["asked"] / full.ratings["asked"]
            noticed = [sum(row.verdict is NOTICED for row in each.variants) for each in (less, full)]
            print(
                f"{full.dataset:14} n {full.n:3} {model:27} saved {saved:4.0%}, noticed {noticed[0]} of "
                f"{len(full.variants)} kinds, {noticed[1]} in a full run",
                flush=True,
            )


if __name__ == "__main__":
    main()
