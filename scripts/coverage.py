"""Measure whether the figures hold: coverage of intervals, level and power of comparisons, gates, verdicts.

Judges whose sight is known rate examples of their own in every run; the true figures are those of 60,000
examples. `intervals`: share of 95 % intervals that hold the true figure; `t75`, `search`: the same of T75, by
a grid of doses and by a search. `compare`: how often two judges are told apart of which one sees 0, 5 or 10
points less. `gate`: what a gate says of them. `verdicts`: bias, coverage and verdicts of kinds of known
detection. `averages`: coverage of the run's own figure.

Run it from anywhere: python scripts/coverage.py intervals --runs 200
"""

import argparse
import math
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, partial

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import ndtr

from dhp.analysis.verdict_rule import verdict
from dhp.plugins.adaptive.threshold_search import searched, staircase
from dhp.stats.arrays import level_shares
from dhp.stats.compare import QUANTITIES, JudgeScores
from dhp.stats.defaults import FLOOR
from dhp.stats.detection import detection
from dhp.stats.influences import (
    Influences,
    auroc_influences,
    difference,
    standardised_drop_influences,
    weighted,
    wilson_interval,
)
from dhp.stats.psychometric import TARGET, fallen, psychometric
from dhp.stats.swap import detection_pairs, noninferiority, swap, swap_discernment

Floats = npt.NDArray[np.float64]
Judges = tuple[JudgeScores, JudgeScores]
METRICS, LEVELS = 4, ["character", "word", "sentence", "word"]
STRENGTHS = {"weak": (0.05, 0.3), "middling": (0.3, 0.8), "strong": (0.8, 2.5)}
"""Drops of the variants hurt least and most, in points of a scale from 1 to 5."""
SIZES, SAMPLES = (24, 100, 400), {"whole scores": 1, "means of five": 5}
DOSES = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
SEARCHED = np.unique(np.round(2 ** np.arange(0, 4.01, 0.25)))


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


def averaged(tests: Influences) -> Influences:
    """The mean over levels of the mean over variants, and over the metrics of each, of shape (1,)."""
    _, shares = level_shares(LEVELS, np.ones(len(LEVELS), dtype=np.bool_))
    metrics = tests.value.shape[1]
    return weighted(tests, np.repeat(shares[-1:, :, None] / metrics, metrics, axis=2))


def overall(judge: JudgeScores) -> Influences:
    """Detection over all variants."""
    return averaged(detection(judge.differences, LEVELS).seen)


def estimates(both: tuple[JudgeScores, JudgeScores]) -> dict[str, tuple[Floats, ...]]:
    """Figure -> value, low and high end, of a judge and another one."""
    one, other = both
    seen = detection(one.differences, LEVELS)
    area = auroc_influences(one.original, one.degraded)
    apart = difference(overall(one), overall(other))
    average = [np.asarray(each) for each in seen.average]
    made = {"kind": (seen.value, seen.low, seen.high), "run": tuple(average)}
    made["AUROC"] = (area.value, *wilson_interval(area))
    made["difference"] = (apart.value, *wilson_interval(apart, bounds=(-1.0, 1.0)))
    return made


def dosed(
    strength: str, looks: float, n: int, samples: int, doses: Floats, rng: np.random.Generator
) -> Floats:
    """Differences of a judge whose drop grows with the logarithm of the dose, in a share of the texts."""
    drops = STRENGTHS[strength][1] * np.log2(1 + doses) / np.log2(1 + DOSES[-1])
    seen = drops if looks == 1 else drops * (rng.random((n, 1)) < looks)
    return rated(qualities(n, rng), seen, samples, rng).differences


def by_grid(
    differences: Callable[[Floats], Floats], rng: np.random.Generator, resamples: int = 300
) -> tuple[float, float, float]:
    """T75 of texts that are all asked about at each dose."""
    return psychometric(DOSES, differences(DOSES), rng, resamples=resamples).fitted


def by_search(
    differences: Callable[[Floats], Floats], rng: np.random.Generator
) -> tuple[float, float, float]:
    """T75 of a search that asks about five doses for three texts, eight at once."""
    x = differences(SEARCHED)
    score, asked = fallen(x, None), np.zeros(x.shape[:2], dtype=np.bool_)
    state, left = staircase(SEARCHED), math.ceil(5 * len(x) / 3)
    while left:
        for dose in state.next_doses(min(8, left)):
            at = int(np.flatnonzero(dose == SEARCHED)[0])
            example = int(np.lexsort((asked.sum(axis=1), asked[:, at]))[0])
            asked[example, at], state = True, state.updated(dose, score[example, at])
            left -= 1
    return searched(SEARCHED, np.where(asked[:, :, None], x, np.nan)).fitted


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

        truth = {name: value for name, (value, *_) in estimates(judges(chosen.true)).items()}
        held: dict[str, list[Floats]] = {name: [] for name in truth}
        for _ in range(runs):
            for name, (_, low, high) in estimates(judges(n)).items():
                held[name].append((low <= truth[name]) & (truth[name] <= high))
        said = []
        for name, each in held.items():
            shares = np.mean(each, axis=0)
            said.append(f"{name} {shares.mean():.1%}" + (f" ({shares.min():.1%})" if shares.size > 1 else ""))
        print(f"{strength:9} {kind:13} N = {n:3}: {', '.join(said)}", flush=True)


@cache
def sight(strength: str, samples: int, end: float, size: int, seed: int) -> tuple[float, float]:
    """In which share of the texts a judge looks whose detection ends there, and its true T75."""
    rng = np.random.default_rng([0, samples, len(strength), 5, seed])
    largest = fallen(dosed(strength, 1.0, size, samples, DOSES[-1:], rng), None).mean()
    looks = min(1.0, (end - 0.5) / (largest - 0.5))
    if end < TARGET:
        return looks, math.inf
    every = [by_grid(lambda x: dosed(strength, looks, size, samples, x, rng), rng, 1)[0] for _ in range(20)]
    return looks, float(np.mean(every))


def thresholds(runs: int, chosen: argparse.Namespace) -> None:
    """Print the share of intervals that hold the true T75, and of those without an upper end."""
    way = by_search if chosen.part == "search" else by_grid
    for strength, n, kind, seed in cells(chosen):
        samples = SAMPLES[kind]
        for end in (1.0, 0.8, 0.74) if strength == "strong" else (1.0,):
            looks, truth = sight(strength, samples, end, chosen.true, chosen.seed)
            rng = np.random.default_rng([n, samples, len(strength), int(100 * end), *seed])
            of = partial(dosed, strength, looks, n, samples)
            found = [way(lambda doses: of(doses, rng), rng) for _ in range(runs)]  # noqa: B023 - used at once
            held = np.mean([low <= truth <= high for _, low, high in found])
            judge = f"{strength}, ends at {end:.0%}" if end < 1 else strength
            print(
                f"{judge:21} {kind:13} N = {n:3}: T75 {held:.1%} of {truth:.3g}; without an upper end "
                f"{np.mean([math.isinf(high) for *_, high in found]):.1%}",
                flush=True,
            )


def swaps(both: Judges, rng: np.random.Generator) -> dict[str, float]:
    """p of two judges by each figure: those of `dhp.stats.compare`, without figures and limits."""
    of = {
        "auroc": [auroc_influences(judge.original, judge.degraded) for judge in both],
        "standardised_drop": [standardised_drop_influences(judge.original, judge.degraded) for judge in both],
    }
    differences = [judge.differences for judge in both]
    found = {"detection": swap(*next(detection_pairs(differences, LEVELS)), rng, resamples=499).p}
    for name, tests in of.items():
        one, other = (averaged(each) for each in tests)
        found[name] = swap(one, other, rng, resamples=499).p
    found["d_avg"] = swap_discernment(*differences, LEVELS, rng, resamples=499).p
    return {name: float(p[0]) for name, p in found.items()}


LOSSES = (0, 5, 10)
"""Points of detection that the other judge sees less."""


@cache
def losing(strength: str, size: int) -> tuple[Floats, ...]:
    """The drops of judges that detect this many points less than the first, which is of this strength."""
    drops = np.linspace(*STRENGTHS[strength], len(LEVELS))

    def detected(factor: float) -> float:
        rng = np.random.default_rng(17)
        return float(overall(rated(qualities(size, rng), factor * drops, 1, rng)).value[0])

    least = [detected(1.0) - lost / 100 for lost in LOSSES]
    return tuple(drops * brentq(lambda f, aim: detected(f) - aim, -9.0, 1.001, (aim,)) for aim in least)


def pairs_of_judges(
    runs: int, chosen: argparse.Namespace, key: int
) -> Iterator[tuple[str, int, list[Judges]]]:
    """Strength, number of examples, and for each loss the pairs of judges, the better one first."""
    for strength, n, kind, seed in cells(chosen):
        if kind == "means of five":
            continue
        rng, made = np.random.default_rng([n, len(strength), key, *seed]), []
        drops = losing(strength, min(chosen.true, 20_000))
        for lower in drops:
            texts = [qualities(n, rng) for _ in range(runs)]
            made.append([tuple(rated(each, d, 1, rng) for d in (drops[0], lower)) for each in texts])
        yield strength, n, made


def comparisons(runs: int, chosen: argparse.Namespace) -> None:
    """Print how often two judges of the same examples are told apart at 0.05."""
    print(f"told apart, the other judge {', '.join(map(str, LOSSES))} points lower")
    for strength, n, made in pairs_of_judges(runs, chosen, 7):
        rng, told = np.random.default_rng([n, 8]), []
        for judges in made:
            count = Counter(name for both in judges for name, p in swaps(both, rng).items() if p <= 0.05)
            told.append(count)
        line = ", ".join(f"{q} {' / '.join(f'{each[q] / runs:.1%}' for each in told)}" for q in QUANTITIES)
        print(f"{strength:9} N = {n:3}: {line}", flush=True)


def gates(runs: int, chosen: argparse.Namespace) -> None:
    """Print what a gate says of a loss of five points, and of a limit at the better judge's true figure."""
    print(f"met / undecided / not met, the new judge {', '.join(map(str, LOSSES))} points lower")
    for strength, n, made in pairs_of_judges(runs, chosen, 9):
        rng, drop, limit = np.random.default_rng([n, 10]), [], []
        truth = float(overall(rated(qualities(20_000, rng), losing(strength, 20_000)[0], 1, rng)).value[0])
        for judges in made:
            losses, limits = Counter(), Counter()
            for old, new in judges:
                both = next(detection_pairs([new.differences, old.differences], LEVELS))
                test = noninferiority(*both, 0.05, rng, resamples=999)
                worse, fine = (p[0] <= 0.05 for p in (test.p_inferior, test.p_noninferior))
                losses["not met" if worse else "met" if fine else "undecided"] += 1
                _, low, high = detection(new.differences, LEVELS).average
                below, above = high < truth, low >= truth
                limits["not met" if below else "met" if above else "undecided"] += 1
            for found, counts in ((drop, losses), (limit, limits)):
                found.append(" / ".join(f"{counts[o] / runs:.1%}" for o in ("met", "undecided", "not met")))
        print(f"{strength:9} N = {n:3}: --max-drop 5: {'; '.join(drop)}", flush=True)
        print(f"{'':9}          --min-detection at {truth:.0%}: {'; '.join(limit)}", flush=True)


SHAPES = ("halo", "independent", "specific", "plateau")
KINDS, TRUTHS = 12, (0.5, 0.55, FLOOR, 0.65, 0.8)
MANY = (24, 100, 200, 270, 400, 1600)


def outcomes(shape: str, truth: Floats, ties: float, n: int, rng: np.random.Generator) -> Floats:
    """Signs (n, kinds, METRICS) of a judge whose best metric detects each kind as often as `truth` says.

    `halo`: all metrics move alike. `independent`: each by itself. `specific`: one metric sees the damage, the
    others are blind. `plateau`: all metrics fall in some examples and never rise. The kinds of an example
    correlate, as they are compared with the same rating of the original.
    """
    metrics = 1 if shape in ("halo", "plateau") else METRICS
    latent = rng.normal(size=(n, 1, metrics)) + rng.normal(size=(n, len(truth), metrics))
    u = ndtr(latent / np.sqrt(2))
    seen = np.repeat(truth[:, None], metrics, axis=1)
    if shape == "specific":
        seen[:, 1:] = 0.5
    tied = 2 * (1 - seen) if shape == "plateau" else np.minimum(ties, 2 * np.minimum(seen, 1 - seen))
    fell = seen - tied / 2
    signs = np.where(u < fell, 1.0, np.where(u < fell + tied, 0.0, -1.0))
    return np.broadcast_to(signs, (n, len(truth), METRICS))


def verdicts(runs: int, chosen: argparse.Namespace) -> None:
    """Print, for kinds of known detection, bias, coverage and verdicts, by kind and by run."""
    print("of kinds: bias, intervals that hold, verdicts; of runs of 12 kinds: any noticed, any missed")
    for shape in SHAPES:
        for ties in (0.0, 0.4, 0.8) if shape != "plateau" else (0.0,):
            for truth in TRUTHS:
                for n in chosen.n or MANY:
                    rng = np.random.default_rng([n, SHAPES.index(shape), int(1000 * truth), int(10 * ties)])
                    said = _judged_runs(runs, shape, np.full(KINDS, truth), ties, n, rng)
                    print(f"{shape:11} ties {ties:.1f} at {truth:.2f}, N = {n:4}: {said}", flush=True)


def _judged_runs(runs: int, shape: str, truth: Floats, ties: float, n: int, rng: np.random.Generator) -> str:
    counts: Counter[str] = Counter()
    bias, held, some = [], [], {"noticed": 0, "missed": 0}
    for _ in range(runs):
        found = detection(outcomes(shape, truth, ties, n, rng), ["all"] * KINDS)
        bias.append(np.mean(found.value - truth))
        held.append(np.mean((found.low <= truth) & (truth <= found.high)))
        ends = zip(found.value.tolist(), found.low.tolist(), found.high.tolist(), strict=True)
        said = [verdict(*each, n) for each in ends]
        counts.update(said)
        for word in some:
            some[word] += word in said
    words = ", ".join(f"{word} {counts[word] / runs / KINDS:.2%}" for word in sorted(counts))
    any_of = ", ".join(f"any {word} {count / runs:.1%}" for word, count in some.items())
    return f"bias {np.mean(bias):+.3f}, holds {np.mean(held):.2%}; {words}; {any_of}"


def run_averages(runs: int, chosen: argparse.Namespace) -> None:
    """Print coverage of the average, and of all intervals of kinds together, where kinds differ."""
    truth, levels = np.linspace(0.5, 0.95, KINDS), ["character", "word", "sentence"] * (KINDS // 3)
    for shape in SHAPES:
        for ties in (0.0, 0.4, 0.8) if shape != "plateau" else (0.0,):
            for n in chosen.n or SIZES:
                rng = np.random.default_rng([n, SHAPES.index(shape), int(10 * ties), 11])
                held, together, value = [], [], []
                for _ in range(runs):
                    found = detection(outcomes(shape, truth, ties, n, rng), levels)
                    inside = (found.low <= truth) & (truth <= found.high)
                    mean, low, high = found.average
                    held.append(low <= truth.mean() <= high)
                    together.append(inside.all())
                    value.append(mean)
                print(
                    f"{shape:11} ties {ties:.1f}, N = {n:3}: average holds {np.mean(held):.1%}, its bias "
                    f"{np.mean(value) - truth.mean():+.3f}; all kinds hold {np.mean(together):.1%}",
                    flush=True,
                )


PARTS = {
    "intervals": intervals,
    "t75": thresholds,
    "search": thresholds,
    "compare": comparisons,
    "gate": gates,
    "verdicts": verdicts,
    "averages": run_averages,
}


def main() -> None:
    """Print one line a cell."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--strength", nargs="*", choices=STRENGTHS, help="only these cells")
    parser.add_argument("--n", nargs="*", type=int)
    parser.add_argument("--true", type=int, default=60_000, help="examples of which the true figures are")
    parser.add_argument("--seed", type=int, default=0, help="other runs of the same cells")
    args = parser.parse_args()
    PARTS[args.part](args.runs, args)


if __name__ == "__main__":
    main()
