"""Measure whether the figures hold: coverage of intervals, level and power of comparisons, gates, verdicts.

Judges whose sight is known rate examples of their own in every run; the true figures are those of 60,000
examples. `intervals`: share of 95 % intervals that hold the true figure; `t75`, `few-doses`: the same of
T75, where each text has all doses, and two of many. `compare`: how often two judges are told apart of which
one sees 0, 5 or 10 points less; `gate`: what a gate says of them. `verdicts`: errors of verdicts on kinds of
known detection, and coverage of their intervals; `power`: how many are noticed; `outlook`: how many decide
after as many examples as a pilot asks for. `controls`: states of harmless edits.

Run it from anywhere: python scripts/coverage.py intervals --runs 200
"""

import argparse
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import product

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import ndtr

from dhp.analysis.control_state import control_state
from dhp.analysis.kinds import needed
from dhp.analysis.verdict_rule import verdicts
from dhp.core.verdicts import (
    FALSE_ALARM,
    MISSED,
    MOVES_A_LITTLE,
    NOT_DECIDED,
    NOTICED,
    PREFERRED,
    PREFERS_EDITS,
    STILL,
    UNDECIDED,
    Verdict,
)
from dhp.stats.arrays import level_shares
from dhp.stats.compare import QUANTITIES, JudgeScores
from dhp.stats.controls import movements
from dhp.stats.defaults import FLOOR
from dhp.stats.detection import Detection, detection, outcomes_by_best
from dhp.stats.few_doses import few_doses
from dhp.stats.flips import flip_log_p
from dhp.stats.influences import Influences, difference, weighted, wilson_interval
from dhp.stats.psychometric import TARGET, psychometric
from dhp.stats.swap import noninferiority, swap
from dhp.stats.swap_detection import detection_pairs
from dhp.stats.unpaired import auroc_influences, standardised_drop_influences

Floats = npt.NDArray[np.float64]
Judges = tuple[JudgeScores, JudgeScores]
METRICS, LEVELS = 4, ["character", "word", "sentence", "word"]
STRENGTHS = {"weak": (0.05, 0.3), "middling": (0.3, 0.8), "strong": (0.8, 2.5)}
"""Drops of the variants hurt least and most, in points of a scale from 1 to 5."""
SIZES, SAMPLES = (24, 100, 400), {"whole scores": 1, "means of five": 5}
DOSES = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
MANY_DOSES = np.unique(np.round(2 ** np.arange(0, 4.01, 0.25)))


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


def by_few_doses(
    differences: Callable[[Floats], Floats], rng: np.random.Generator
) -> tuple[float, float, float]:
    """T75 of texts that are asked about two doses each, drawn at random."""
    x = differences(MANY_DOSES)
    order = rng.random(x.shape[:2]).argsort(axis=1)
    two_of_each = order < 2
    return few_doses(MANY_DOSES, np.where(two_of_each[:, :, None], x, np.nan)).fitted


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
    largest = outcomes_by_best(dosed(strength, 1.0, size, samples, DOSES[-1:], rng)).mean()
    looks = min(1.0, (end - 0.5) / (largest - 0.5))
    if end < TARGET:
        return looks, math.inf
    every = [by_grid(lambda x: dosed(strength, looks, size, samples, x, rng), rng, 1)[0] for _ in range(20)]
    return looks, float(np.mean(every))


def thresholds(runs: int, chosen: argparse.Namespace) -> None:
    """Print the share of intervals that hold the true T75, and of those without an upper end."""
    way = by_few_doses if chosen.part == "few-doses" else by_grid
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
            made.append([(rated(each, drops[0], 1, rng), rated(each, lower, 1, rng)) for each in texts])
        yield strength, n, made


def comparisons(runs: int, chosen: argparse.Namespace) -> None:
    """Print how often two judges of the same examples are told apart at 0.05."""
    print(f"told apart, the other judge {', '.join(map(str, LOSSES))} points lower")
    for strength, n, made in pairs_of_judges(runs, chosen, 7):
        rng, told = np.random.default_rng([n, 8]), []
        for judges in made:
            count = Counter(name for both in judges for name, p in swaps(both, rng).items() if p <= 0.05)
            told.append(count)
        shown = []
        for quantity in QUANTITIES:
            shares = [f"{count[quantity] / runs:.1%}" for count in told]
            shown.append(f"{quantity} {' / '.join(shares)}")
        print(f"{strength:9} N = {n:3}: {', '.join(shown)}", flush=True)


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


SHAPES = ("halo", "independent", "specific")
SIZED = ("whole", "continuous")
KINDS, TRUTHS = 12, (0.5, 0.55, FLOOR, 0.65, 0.8)
FROM_FEW = (5, 8, 13, 24, 50, 100, 400)
POWERS = ((0.65, 100), (0.7, 50), (0.8, 24), (0.9, 24))
"""True detection and number of examples of the cells that show power."""


def judged(
    shape: str, truth: Floats, ties: float, sized: str, n: int, metrics: int, rng: np.random.Generator
) -> Floats:
    """Differences (n, kinds, metrics) of a judge whose best metric detects each kind as `truth` says.

    A metric sees 2 * truth - 1 of the texts, where its score falls; in the others it falls or rises by
    chance, or ties in a share of `ties`. `halo`: all metrics move alike. `independent`: each by itself.
    `specific`: one sees the damage, the others are blind. The kinds of an example correlate by 0.5, as they
    are compared with the same rating of the original. Sizes are `whole` (1 or 2 points) or `continuous`;
    falls are larger than noise.
    """
    columns = 1 if shape == "halo" else metrics
    cells = (n, len(truth), columns)

    def latent() -> Floats:
        return np.asarray((rng.normal(size=(n, 1, columns)) + rng.normal(size=cells)) / np.sqrt(2))

    best = np.repeat(truth[:, None], columns, axis=1)
    if shape == "specific":
        best[:, 1:] = 0.5
    noise = latent() * (rng.random(cells) >= ties)
    if sized == "whole":
        noise, fall = np.sign(noise) * (1 + (np.abs(noise) > 1.3)), 1.0 + (rng.random(cells) < 0.4)
    else:
        fall = np.abs(1.5 + 0.5 * rng.normal(size=cells))
    x = np.where(ndtr(latent()) < 2 * best - 1, fall, noise)
    return np.repeat(x, metrics, axis=2) if columns < metrics else x


def _cells(
    chosen: argparse.Namespace, sizes: Sequence[int]
) -> Iterator[tuple[str, int, float, str, int, int]]:
    """Shape, metrics, ties, sizes of scores, kinds and examples of the cells that are asked for."""
    for shape, ties, sized, kinds in product(
        chosen.shape or SHAPES, chosen.ties or (0.0, 0.4, 0.8), SIZED, chosen.kinds or (KINDS,)
    ):
        for metrics in (1, 4) if shape == "halo" and not chosen.metrics else chosen.metrics or (4,):
            for n in sizes:
                yield shape, metrics, ties, sized, kinds, n


def _words(found: Detection, x: Floats) -> list[Verdict]:
    return verdicts(found, flip_log_p(x, resamples=FLIPS))


FLIPS = 2000
"""Sign flips of a simulated run, a fifth of those of a real one."""


def errors(runs: int, chosen: argparse.Namespace) -> None:
    """Print how often a verdict is wrong, and how many intervals hold, in % of runs or of kinds."""
    print(
        "% of runs with any kind noticed: all blind; blind beside as many at 90 %; any preferred; any at the"
    )
    print(f"floor missed. % of kinds at 55 % noticed. Intervals that hold at each of {TRUTHS} and 90 %, bias")
    for cell in _cells(chosen, chosen.n or FROM_FEW):
        kinds = cell[4]
        half = np.arange(kinds) < kinds // 2
        blind = _tally(runs, cell, np.full(kinds, 0.5))
        beside = _tally(runs, cell, np.where(half, 0.5, 0.9))
        at_55 = _tally(runs, cell, np.where(half, 0.55, 0.8))
        floor = _tally(runs, cell, np.where(half, FLOOR, 0.65))
        at_floor = _tally(runs, cell, np.full(kinds, FLOOR))
        held = [
            t.held[:, which] for t, which in ((blind, half), (at_55, half), (floor, half), (floor, ~half))
        ]
        held += [at_55.held[:, ~half], beside.held[:, ~half]]
        print(
            f"{_named(cell)}: {100 * blind.word(NOTICED).any(axis=1).mean():.1f}; "
            f"{100 * beside.word(NOTICED)[:, half].any(axis=1).mean():.1f}; "
            f"{100 * blind.word(PREFERRED).any(axis=1).mean():.1f}; "
            f"{100 * at_floor.word(MISSED).any(axis=1).mean():.1f}. "
            f"{100 * at_55.word(NOTICED)[:, half].mean():.1f}. "
            f"{' '.join(f'{100 * each.mean():.1f}' for each in held)}, {blind.bias:+.3f}",
            flush=True,
        )


def power(runs: int, chosen: argparse.Namespace) -> None:
    """Print the share of kinds that are noticed, that are shown, and that the interval alone would notice."""
    print("% of kinds: noticed; shown; shown, and the lower limit of the printed interval above 55 %")
    for truth, n in POWERS:
        for cell in _cells(chosen, [n]):
            found = _tally(runs, cell, np.full(cell[4], truth))
            shown = ~(found.word(UNDECIDED) | found.word(MISSED) | found.word(PREFERRED))
            shares = (found.word(NOTICED), shown, shown & (found.low > (0.5 + FLOOR) / 2))
            said = "; ".join(f"{100 * each.mean():.1f}" for each in shares)
            print(f"{truth:.0%} {_named(cell)}: {said}", flush=True)


@dataclass(frozen=True)
class Tally:
    """What was said in many runs, each of shape (runs, kinds), and the mean error of the figures."""

    words: npt.NDArray[np.object_]
    held: npt.NDArray[np.bool_]
    low: Floats
    bias: float

    def word(self, wanted: str) -> npt.NDArray[np.bool_]:
        """Where it was said."""
        return np.asarray(self.words == wanted)


def _tally(runs: int, cell: tuple[str, int, float, str, int, int], truth: Floats) -> Tally:
    shape, metrics, ties, sized, _, n = cell
    rng = np.random.default_rng(
        [n, metrics, SHAPES.index(shape), int(10 * ties), len(sized), *(1000 * truth).astype(int)]
    )
    words, held, low, bias = [], [], [], []
    for _ in range(runs):
        x = judged(shape, truth, ties, sized, n, metrics, rng)
        found = detection(x, ["all"] * len(truth))
        words.append([str(word) for word in _words(found, x)])
        held.append((found.low <= truth) & (truth <= found.high))
        low.append(found.low)
        bias.append(found.value - truth)
    return Tally(np.array(words, dtype=object), np.array(held), np.array(low), float(np.mean(bias)))


def _named(cell: tuple[str, int, float, str, int, int]) -> str:
    shape, metrics, ties, sized, kinds, n = cell
    return f"{shape:11} x {metrics} {sized:10} ties {ties:.1f} K = {kinds:2} N = {n:3}"


MIXED = np.array([0.5, 0.5, 0.53, 0.56, 0.6, 0.6, 0.63, 0.65, 0.65, 0.7, 0.75, 0.8])
"""True detection of the kinds of a pilot."""


def outlooks(runs: int, chosen: argparse.Namespace) -> None:
    """Print how many examples pilots ask for, and how often a run of so many decides."""
    print("true detection: % of undecided kinds that get a number; median of the two; % decided at each")
    for shape, metrics, ties, sized, _, n in _cells(chosen, chosen.n or [24]):
        rng = np.random.default_rng([n, metrics, SHAPES.index(shape), int(10 * ties), len(sized), 14])
        draw = partial(judged, shape, MIXED, ties, sized, metrics=metrics, rng=rng)
        asked: dict[float, list[tuple[int, int] | None]] = {truth: [] for truth in MIXED}
        decided: dict[float, list[list[bool]]] = {truth: [] for truth in MIXED}
        for _ in range(runs):
            x = draw(n)
            found = detection(x, ["all"] * len(MIXED))
            said = _words(found, x)
            ranges = needed(x, found, said, FLOOR)
            whole = np.concatenate([x, draw(max((most[1] for most in ranges if most), default=n) - n)])
            for v, (word, ends) in enumerate(zip(said, ranges, strict=True)):
                if not word.may_change:
                    continue
                asked[MIXED[v]].append(ends)
                longer = [whole[:size] for size in ends or ()]
                words = [_words(detection(y, ["all"] * len(MIXED)), y)[v] for y in longer]
                decided[MIXED[v]] += [[word.is_good or word.is_bad for word in words]] * bool(words)
        print(f"{shape} x {metrics}, {sized}, ties {ties:.0%}, pilots of {n}:")
        for truth, ranges in asked.items():
            some = [each for each in ranges if each]
            if some:
                (low, high), shares = np.median(some, axis=0), 100 * np.mean(decided[truth], axis=0)
                print(
                    f"  {truth:.0%}: {len(some) / len(ranges):.0%}; {low:.0f} to {high:.0f}; "
                    f"{shares[0]:.0f} and {shares[1]:.0f} ({len(some)} numbers)",
                    flush=True,
                )


MOVED = {
    "blind to edits": (0.8, 0.5),
    "falls in 65 %": (0.8, 0.65),
    "falls in 80 %": (0.8, 0.8),
    "rises in 80 %": (0.8, 0.2),
    "falls by a hair": (0.8, None),
    "blind to all": (0.5, 0.5),
    "sees edits alone": (0.5, 0.8),
}
"""What harmless edits do to a judge: true detection of twelve kinds of damage, and of the edits. If these
move scores they do so by as much as damage, or in every text by a thousandth of that."""
STATES = (STILL, MOVES_A_LITTLE, FALSE_ALARM, PREFERS_EDITS, NOT_DECIDED)


def control_states(runs: int, chosen: argparse.Namespace) -> None:
    """Print how often harmless edits get each state."""
    print(f"% of runs: {', '.join(STATES)}")
    for name, (damage, edits) in MOVED.items():
        for cell in _cells(chosen, chosen.n or (24, 50, 100, 400)):
            shape, metrics, ties, sized, kinds, n = cell
            rng = np.random.default_rng([n, metrics, SHAPES.index(shape), int(10 * ties), len(name), 13])
            truth = np.append(np.full(kinds, damage), 0.5 if edits is None else max(edits, 1 - edits))
            counts: Counter[str] = Counter()
            for _ in range(runs):
                x = judged(shape, truth, ties, sized, n, metrics, rng)
                harmful, control = x[:, :kinds], x[:, kinds:] * (-1 if edits and edits < 0.5 else 1)
                if edits is None:
                    control = np.abs(rng.normal(0.001, 0.0002, control.shape))
                noticed = [word is NOTICED for word in _words(detection(harmful, ["all"] * kinds), harmful)]
                (found,) = movements(control, harmful, noticed, resamples=FLIPS)
                counts[control_state(found)[0]] += 1
            said = " ".join(f"{100 * counts[state] / runs:5.1f}" for state in STATES)
            print(f"{name:16} {_named(cell)}: {said}", flush=True)


PARTS = {
    "intervals": intervals,
    "t75": thresholds,
    "few-doses": thresholds,
    "compare": comparisons,
    "gate": gates,
    "verdicts": errors,
    "power": power,
    "outlook": outlooks,
    "controls": control_states,
}


def main() -> None:
    """Print one line a cell."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--strength", nargs="*", choices=STRENGTHS, help="only these cells")
    parser.add_argument("--n", nargs="*", type=int)
    parser.add_argument("--shape", nargs="*", choices=SHAPES)
    parser.add_argument("--ties", nargs="*", type=float, help="shares of the scores that are noise")
    parser.add_argument("--kinds", nargs="*", type=int)
    parser.add_argument("--metrics", nargs="*", type=int)
    parser.add_argument("--true", type=int, default=60_000, help="examples of which the true figures are")
    parser.add_argument("--seed", type=int, default=0, help="other runs of the same cells")
    args = parser.parse_args()
    PARTS[args.part](args.runs, args)


if __name__ == "__main__":
    main()
