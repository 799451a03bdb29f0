"""Measure the states of harmless edits by their size: reward models with continuous scores, planted shifts.

Twelve kinds of damage cost .3 to 1.5 points, with noise of .1; edits change a score by a mean shift, with
noise. Prints, for each shift, the share of runs in each state.

Run it from anywhere: python scripts/edits_by_size.py --runs 200
"""

import argparse
from collections import Counter

import numpy as np

from dhp.analysis.control_state import control_state
from dhp.core.verdicts import FALSE_ALARM, MOVES_A_LITTLE, NOT_DECIDED, PREFERS_EDITS, STILL
from dhp.stats.controls import movements

STATES = (STILL, MOVES_A_LITTLE, FALSE_ALARM, PREFERS_EDITS, NOT_DECIDED)
SHIFTS = (
    (0.0, 0.02),
    (0.0, 0.05),
    (0.021, 0.02),
    (0.021, 0.05),
    (0.03, 0.05),
    (0.045, 0.05),
    (0.09, 0.05),
    (-0.09, 0.05),
)
"""Mean drop of an edit, a tenth of the mildest damage being .03, and its noise."""


def main() -> None:
    """Print one line a cell."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--n", nargs="*", type=int, default=[24, 50, 100])
    args = parser.parse_args()
    print(f"% of runs: {', '.join(STATES)}")
    for shift, noise in SHIFTS:
        for n in args.n:
            rng = np.random.default_rng([n, int(1000 * abs(shift)), int(1000 * noise)])
            counts: Counter[str] = Counter()
            for _ in range(args.runs):
                damage = rng.normal(np.linspace(0.3, 1.5, 12)[:, None], 0.1, (n, 12, 1))
                edits = rng.normal(shift, noise, (n, 1, 1))
                (found,) = movements(edits, damage, [True] * 12, resamples=1000)
                counts[control_state(found)[0]] += 1
            said = " ".join(f"{100 * counts[state] / args.runs:5.1f}" for state in STATES)
            print(f"drop {shift:+.3f}, noise {noise:.2f}, N = {n:3}: {said}", flush=True)


if __name__ == "__main__":
    main()
