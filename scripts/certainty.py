"""Check what is said of certainty and of asking a person against planted truths.

python -P scripts/certainty.py [--rounds 400]
"""

import argparse

import numpy as np

from dhp.stats.asking import asked_curve
from dhp.stats.certainty import sureness

COPIES = 12


def planted(rng: np.random.Generator, n: int, too_sure: float, sharp: float = 0) -> tuple[np.ndarray, ...]:
    """Probabilities of passing of originals and copies, of a judge that is too sure by `too_sure` on average.

    A text is good with the probability that an honest judge says, so texts are drawn by that. The larger
    `sharp`, the more often this probability is near 0 or 1.
    """
    grid = np.linspace(0.02, 0.98, 49)
    often = (np.abs(grid - 0.5) + 0.02) ** sharp
    good = rng.choice(grid, n, p=grid * often / (grid * often).sum())
    bad = rng.choice(grid, (n, COPIES), p=(1 - grid) * often / ((1 - grid) * often).sum())
    said = [np.where(x >= 0.5, np.minimum(x + too_sure, 1), np.maximum(x - too_sure, 0)) for x in (good, bad)]
    return good, bad, *said


def coverage(
    rng: np.random.Generator, n: int, too_sure: float, sharp: float, rounds: int
) -> tuple[float, float]:
    """Share of intervals that hold the truth, and the mean figure less the truth, in points."""
    held, off = 0, 0.0
    big = planted(rng, 400_000 // COPIES, too_sure, sharp)
    whole = sureness(*big[2:], big[0] >= 0.5, big[1] >= 0.5)
    assert whole is not None
    truth = whole.sure - whole.right
    for _ in range(rounds):
        good, bad, said_good, said_bad = planted(rng, n, too_sure, sharp)
        one = sureness(said_good, said_bad, good >= 0.5, bad >= 0.5)
        assert one is not None
        held += one.low <= truth <= one.high
        off += one.sure - one.right - truth
    return held / rounds, 100 * off / rounds


def asking(rng: np.random.Generator, n: int, signal: float, rounds: int) -> tuple[float, float, float]:
    """Mean gain at 20 % in points, share of intervals above 0, and mean share of texts that are sent."""
    gains, above, sent = [], 0, []
    for _ in range(rounds):
        strength = rng.normal(size=(n, 1 + COPIES))
        mean = np.where(np.arange(1 + COPIES) == 0, 1.0, -1.0)
        score = mean + 1.2 * strength
        near = signal * np.abs(score) + (1 - signal) * rng.uniform(size=score.shape)
        (row,) = asked_curve(near, score >= 0, [0.2], rng)
        gains.append(row.gain[0])
        above += row.gain[1] > 0
        sent.append((row.good + row.damaged) / 2)
    return 100 * float(np.mean(gains)), above / rounds, 100 * float(np.mean(sent))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=400)
    rounds = parser.parse_args().rounds
    rng = np.random.default_rng(0)
    print("judge             too sure by   examples   intervals that hold it   bias, points")
    for judge, sharp in (("not sure", 0.0), ("rather sure", 2.0), ("very sure", 6.0)):
        for too_sure in (0.0, 0.1, 0.2):
            for n in (12, 24, 60, 150):
                held, off = coverage(rng, n, too_sure, sharp, rounds)
                print(f"{judge:15}  {100 * too_sure:9.0f}   {n:8}   {held:22.1%}   {off:12.2f}")
    print("order          examples   gain at 20 %, points   intervals above 0   sent, %")
    for name, signal in (("by distance", 1.0), ("knows nothing", 0.0)):
        for n in (60, 150):
            gain, above, sent = asking(rng, n, signal, max(rounds // 10, 20))
            print(f"{name:13}  {n:8}   {gain:20.1f}   {above:17.1%}   {sent:7.1f}")


if __name__ == "__main__":
    main()
