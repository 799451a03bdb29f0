"""Measure whether the figures hold: coverage of intervals, level and power of comparisons, gates, verdicts.

Judges whose sight is known rate examples of their own in every run; the true figures are those of 60,000
examples. `intervals`, `t75`: share of 95 % intervals that hold the true figure. `compare`: how often two
judges that see equally well, or one 15 % worse, are told apart. `gate`: how often an unchanged judge and one
that is worse by 15 % fail a loss of 5 points. `verdicts`: how often a judge at the floor is said to have
missed.

Run it from anywhere: python scripts/coverage.py intervals --runs 200
"""

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from dhp.stats.auroc import auroc_influences, standardised_drop_influences
from dhp.stats.compare import QUANTITIES, JudgeScores, averaged
from dhp.stats.detection import detection, detection_influences
from dhp.stats.influences import Influences, difference, wilson_interval
from dhp.stats.psychometric import psychometric
from dhp.stats.swap import noninferiority, swap, swap_discernment
from dhp.stats.verdict import FLOOR, verdict

Floats = npt.NDArray[np.float64]
METRICS, LEVELS = 4, ["character", "word", "sentence", "word"]
STRENGTHS = {"weak": (0.05, 0.3), "middling": (0.3, 0.8), "strong": (0.8, 2.5)}
"""Drops of the variants hurt least and most, in points of a scale from 1 to 5."""
SIZES, SAMPLES = (24, 100, 400), {"whole scores": 1, "means of five": 5}
DOSES = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
_TRUE = 60_000


def rated(quality: Floats, drops: Floats, samples: int, rng: np.random.Generator) -> JudgeScores:
    """One judge of texts of this quality, shape (n,): noise N(0, 0.8) that correlates by 0.5 over metrics."""

    def means(level: Floats) -> Floats:
        total = np.zeros((*level.shape, METRICS))
        for _ in range(samples):
            shared, own = rng.normal(0, 0.8, (*level.shape, 1)), rng.normal(0, 0.8, total.shape)
            total += np.clip(np.round(level[..., None] + np.sqrt(0.5) * (shared + own)), 1, 5)
        return total

    original, degraded = means(quality), means(quality[:, None] - drops)
    return JudgeScores(original, degraded, original[:, None] - degraded)


def qualities(n: int, rng: np.random.Generator) -> Floats:
    """Of the originals."""
    return rng.normal(3.5, 0.7, n)


def cells(chosen: argparse.Namespace) -> Iterator[tuple[str, int, str, list[int]]]:
    """Strength, number of examples, kind of scores, and what seeds a cell in which other seeds are chosen."""
    for strength in chosen.strength or STRENGTHS:
        for kind in SAMPLES:
            for n in chosen.n or SIZES:
                yield strength, n, kind, [chosen.seed] * (chosen.seed > 0)


def overall(judge: JudgeScores) -> Influences:
    """Detection over all variants."""
    return averaged(detection_influences(judge.differences), LEVELS, None)


def estimates(both: tuple[JudgeScores, JudgeScores]) -> dict[str, tuple[Floats, ...]]:
    """Figure -> value, low and high end, of a judge and another one."""
    one, other = both
    seen = detection(one.differences, LEVELS)
    area = auroc_influences(one.original, one.degraded)
    apart = difference(overall(one), overall(other))
    found = {
        "test": seen.metrics,
        "variant": seen.variants,
        "run": seen.average,
        "lowest": seen.minimum,
        "best metric": seen.best_metric,
    }
    made = {name: (each.value, each.low, each.high) for name, each in found.items()}
    made["AUROC"] = (area.value, *wilson_interval(area))
    made["difference"] = (apart.value, *wilson_interval(apart, bounds=(-1.0, 1.0)))
    return made


def curve(strength: str, n: int, samples: int, rng: np.random.Generator, resamples: int) -> tuple[float, ...]:
    """T75 of a judge whose drop grows with the logarithm of the dose."""
    drops = STRENGTHS[strength][1] * np.log2(1 + DOSES) / np.log2(1 + DOSES[-1])
    found = psychometric(
        DOSES, rated(qualities(n, rng), drops, samples, rng).differences, rng, resamples=resamples
    )
    return found.fitted.value, found.fitted.low, found.fitted.high


def intervals(runs: int, chosen: argparse.Namespace) -> None:
    """Print the share of intervals that hold the true figure."""
    print(
        f"{runs} runs: share of 95 % intervals that hold the true figure, the lowest of the tests in brackets"
    )
    for strength, n, kind, seed in cells(chosen):
        drops, samples = np.linspace(*STRENGTHS[strength], len(LEVELS)), SAMPLES[kind]
        rng = np.random.default_rng([n, samples, len(strength), *seed])

        def judges(size: int) -> tuple[JudgeScores, JudgeScores]:
            quality = qualities(size, rng)  # noqa: B023 - used at once
            return rated(quality, drops, samples, rng), rated(quality, 0.85 * drops, samples, rng)  # noqa: B023

        truth = {name: value for name, (value, *_) in estimates(judges(_TRUE)).items()}
        held: dict[str, list[Floats]] = {name: [] for name in truth}
        for _ in range(runs):
            for name, (_, low, high) in estimates(judges(n)).items():
                held[name].append((low <= truth[name]) & (truth[name] <= high))
        said = []
        for name, each in held.items():
            shares = np.mean(each, axis=0)
            said.append(f"{name} {shares.mean():.1%}" + (f" ({shares.min():.1%})" if shares.size > 1 else ""))
        print(f"{strength:9} {kind:13} N = {n:3}: {', '.join(said)}", flush=True)


def thresholds(runs: int, chosen: argparse.Namespace) -> None:
    """Print the share of intervals that hold the true T75."""
    for strength, n, kind, seed in cells(chosen):
        samples = SAMPLES[kind]
        # one truth for all N, so that its own error is the same in each
        of_all, rng = (np.random.default_rng([k, samples, len(strength), 5, *seed]) for k in (0, n))
        truth = np.mean([curve(strength, _TRUE, samples, of_all, 1)[0] for _ in range(20)])
        ends = np.array([curve(strength, n, samples, rng, 300)[1:] for _ in range(runs)])
        held = (ends[:, 0] <= truth) & (truth <= ends[:, 1])
        print(f"{strength:9} {kind:13} N = {n:3}: T75 {held.mean():.1%} of {truth:.3g}", flush=True)


def swaps(both: Sequence[JudgeScores], rng: np.random.Generator) -> dict[str, float]:
    """p of two judges by each figure: those of `dhp.stats.compare`, without figures and limits."""
    of = {
        "detection": [detection_influences(judge.differences) for judge in both],
        "auroc": [auroc_influences(judge.original, judge.degraded) for judge in both],
        "standardised_drop": [standardised_drop_influences(judge.original, judge.degraded) for judge in both],
    }
    found = {}
    for name, tests in of.items():
        one, other = (averaged(each, LEVELS, None) for each in tests)
        found[name] = swap(one, other, rng, resamples=499).p
    differences = [judge.differences for judge in both]
    found["d_avg"] = swap_discernment(*differences, LEVELS, rng, resamples=499).p
    return {name: float(p[0]) for name, p in found.items()}


def comparisons(runs: int, chosen: argparse.Namespace) -> None:
    """Print how often two judges of the same examples are told apart at 0.05."""
    for strength, n, kind, seed in cells(chosen):
        if kind == "means of five":
            continue
        drops, told = np.linspace(*STRENGTHS[strength], len(LEVELS)), {1.0: Counter(), 0.85: Counter()}
        rng = np.random.default_rng([n, len(strength), 7, *seed])
        for factor, count in told.items():
            for _ in range(runs):
                quality = qualities(n, rng)
                both = [rated(quality, share * drops, 1, rng) for share in (1.0, factor)]
                count.update(name for name, p in swaps(both, rng).items() if p <= 0.05)
        equal, weaker = told.values()
        line = ", ".join(f"{q} {equal[q] / runs:.1%} / {weaker[q] / runs:.1%}" for q in QUANTITIES)
        print(f"{strength:9} N = {n:3}: equal / 15 % weaker: {line}", flush=True)


def gates(runs: int, chosen: argparse.Namespace) -> None:
    """Print how often a loss of five points is said to be proven, by the test over all variants."""
    for strength, n, kind, seed in cells(chosen):
        drops, outcomes = np.linspace(*STRENGTHS[strength], len(LEVELS)), {}
        rng = np.random.default_rng([n, len(strength), 9, *seed])
        for factor in (1.0, 0.85, 0.5):
            found: Counter[str] = Counter()
            for _ in range(runs):
                quality = qualities(n, rng)
                old, new = (overall(rated(quality, f * drops, SAMPLES[kind], rng)) for f in (1.0, factor))
                found[noninferiority(new, old, 0.05, rng, resamples=999).outcomes()[0]] += 1
            outcomes[factor] = " / ".join(f"{found[o] / runs:.1%}" for o in ("failed", "undecided", "passed"))
        said = ", ".join(f"x {factor:g} {shares}" for factor, shares in outcomes.items())
        print(f"{strength:9} {kind:13} N = {n:3}: failed / undecided / passed: {said}", flush=True)


def verdicts(runs: int, chosen: argparse.Namespace) -> None:
    """Print how often a variant whose detection is at the floor is said to be missed."""
    rng = np.random.default_rng(3)
    for ties in (0.0, 0.3, 0.6):
        fell = FLOOR - ties / 2
        for n in SIZES:
            x = rng.choice([1.0, 0.0, -1.0], (n, runs, 1), p=[fell, ties, 1 - fell - ties])
            high = detection(x, ["all"] * runs).variants.high
            missed = np.mean([verdict(0.0, 0.5, end, n) == "missed" for end in high.tolist()])
            print(f"{ties:.0%} ties, N = {n:3}: missed {missed:.1%}", flush=True)


PARTS = {
    "intervals": intervals,
    "t75": thresholds,
    "compare": comparisons,
    "gate": gates,
    "verdicts": verdicts,
}


def main() -> None:
    """Print one line a cell."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--strength", nargs="*", choices=STRENGTHS, help="only these cells")
    parser.add_argument("--n", nargs="*", type=int, choices=SIZES)
    parser.add_argument("--seed", type=int, default=0, help="other runs of the same cells")
    args = parser.parse_args()
    PARTS[args.part](args.runs, args)


if __name__ == "__main__":
    main()
