"""Time and memory of a full report of agreement: 1,600 items, 4 aspects, 20 judges, 1,000 resamples.

python scripts/agreement.py [JUDGES]

Goal: under 20 s and 500 MB on two cores.
"""

import resource
import sys
import time

import numpy as np
import pandas as pd

from dhp.human.agreement import correlate

SOURCES, SYSTEMS, ASPECTS = 100, 16, ("coherence", "consistency", "fluency", "relevance")


def tables(judges: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Ratings on five points by judges of growing noise, and human means of three raters."""
    rng = np.random.default_rng(0)
    place = pd.MultiIndex.from_product([range(SOURCES), range(SYSTEMS), ASPECTS]).to_frame(index=False)
    place.columns = pd.Index(["source", "system", "metric"])
    truth = rng.normal(3, 1, len(place))
    human = place.assign(score=np.clip((truth + rng.normal(0, 0.5, len(place))) * 3, 3, 15).round() / 3)
    ratings = [
        place.assign(
            score=np.clip(truth + rng.normal(0, 0.5 + k / 10, len(place)), 1, 5).round(), model=f"judge {k}"
        )
        for k in range(judges)
    ]
    return pd.concat(ratings), human


if __name__ == "__main__":
    ratings, human = tables(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
    start, cpu = time.perf_counter(), time.process_time()
    found = correlate(ratings, human)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    size = f"{len(found.judges)} judges, {len(found.pairs)} comparisons"
    print(f"{size}: {seconds:.1f} s ({cpu:.1f} s of CPU), {peak:.0f} MB")
