"""Judges without a model: constant and random baselines, and mocks with dials.

A mock judge knows which text is damaged, and how. Its rating is the quality of the example, less what its
dials take off for the damage, mapped by its style, with noise, rounded to a step and put on the scale of the
metric: so tests and examples know beforehand what a run must find.
"""

import difflib
import functools
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from dhp.core.checks import Checked, check_number
from dhp.core.errors import InputError, one_of, suggest
from dhp.core.records import ORIGINAL, PROBES, Candidate, Rating, parse_variant
from dhp.core.seeding import stream
from dhp.core.specs import Metric, Scale, Task
from dhp.judge.api import Judge, rescale, split_settings
from dhp.judge.pairs import ORDERS, OVERALL, Pair, PairVerdict

_POINTS = Scale(min=1, max=5)
"""The scale on which a mock judge thinks."""
_BEST, _WORST = 4.5, 2.5
"""Quality of undamaged texts, in points: none so good or bad that a style clips it."""
_DAMAGE = {"minor": 1.0, "major": 2.0}
"""Degree of damage -> by how much a sensitivity counts."""

Style = Literal["plain", "lenient", "harsh", "compressed"]
STYLES: Mapping[Style, tuple[float, float]] = {
    "plain": (1.0, 0.0),
    "lenient": (1.0, 0.5),
    "harsh": (1.0, -1.0),
    "compressed": (0.4, 0.0),
}
"""Style -> (slope around the middle of the scale, points added)."""


def _in_range(dials: "Dials") -> None:
    for name, value in [("sensitivity", dials.sensitivity), *dials.sensitivities.items()]:
        check_number(name, value)
    for name in ("noise", "step", "latency"):
        check_number(name, getattr(dials, name), ge=0)
    check_number("unparsable", dials.unparsable, ge=0, le=1)
    check_number("samples", dials.samples, int, ge=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dials(Checked):
    """How a mock judge rates. A point is a quarter of the metric's scale: 1 on a scale from 1 to 5."""

    rules = (_in_range,)

    sensitivity: float = 1.0
    """Points lost by minor damage, or damage without degrees; major damage costs twice as much. A dose of 10
    costs as much as minor damage, one of 50 as major, and in between it goes by the logarithm."""
    sensitivities: Mapping[str, float] = field(default_factory=dict)
    """Perturber, or variant, -> its own sensitivity; that of controls and attacks is 0 unless it is set."""
    style: Style = "plain"
    """Mapping from quality to score, one of `STYLES`."""
    noise: float = 0.0
    """Standard deviation of each single rating, in points."""
    step: float = 1.0
    """Step in points to which scores are rounded, which makes ties; 0 rounds nothing."""
    unparsable: float = 0.0
    """Share of answers without a rating, in [0, 1]."""
    latency: float = 0.0
    """Seconds one rating takes."""
    samples: int = 1
    """Ratings of one text on one metric."""


KINDS: Mapping[str, Dials] = {
    "ideal": Dials(),
    "lenient": Dials(style="lenient"),
    "harsh": Dials(style="harsh"),
    "compressed": Dials(style="compressed"),
    "noisy": Dials(noise=1.0),
    "blind": Dials(sensitivity=0.0),
    "mumbling": Dials(unparsable=0.2),
}
"""The presets."""


class MockJudge(Judge):
    """Knows which text is damaged and how, and rates by its dials.

    Each example has a quality of its own on each metric, drawn by `seed`; damage lowers it, the style
    turns it into a score, noise is added, and the sum is rounded and clipped. A rating depends on seed,
    example, variant, metric and sample alone, and kinds of judges differ by nothing but their dials.
    """

    protocol = "none"

    def __init__(self, model: str, dials: Dials, seed: int = 0) -> None:
        self.model = model
        self.dials = dials
        self.samples = dials.samples
        self._seed = seed

    def prepare(self, candidates: Sequence[Candidate], task: Task) -> None:
        """Raises `InputError` if a sensitivity is set for something that no candidate suffered from."""
        variants = {c.variant for c in candidates} - {ORIGINAL}
        known = variants | {parse_variant(variant).perturber for variant in variants}
        for name in self.dials.sensitivities:
            one_of("dial or perturber", name, known, f"model '{self.model}'")

    def rate(self, candidates: Sequence[Candidate], task: Task) -> Iterator[Rating]:
        """`samples` ratings per candidate and metric, each with its answer as text."""
        for candidate in candidates:
            for metric in task.metrics:
                for sample in range(self.samples):
                    yield self._rating(candidate, metric, sample)

    def _rating(self, candidate: Candidate, metric: Metric, sample: int) -> Rating:
        if self.dials.latency:
            time.sleep(self.dials.latency)
        place = (candidate.example, candidate.variant, metric.name, sample)
        points = self._points(candidate, metric.name)
        if self.dials.unparsable or self.dials.noise:
            chance = stream(self._seed, "mock", *place[:3], candidate.repeat * self.samples + sample)
            if chance.random() < self.dials.unparsable:
                return Rating(*place, None, "unparsed", "It depends on what one looks for.")
            points += self.dials.noise * chance.gauss()
        if self.dials.step:
            steps = round((points - _POINTS.min) / self.dials.step)
            points = round(_POINTS.min + self.dials.step * steps, 10)
        score = rescale(min(max(points, _POINTS.min), _POINTS.max), _POINTS, metric.scale)
        return Rating(*place, score, raw=f"Rating: {score:g}")

    def _points(self, candidate: Candidate, metric: str) -> float:
        """The score that is meant, in points."""
        quality = _quality(self._seed, candidate.example, metric)
        if candidate.variant != ORIGINAL:
            quality -= self._sensitivity(candidate) * _damage(candidate.variant)
        slope, added = STYLES[self.dials.style]
        middle = (_POINTS.min + _POINTS.max) / 2
        return middle + slope * (quality - middle) + added

    def _sensitivity(self, candidate: Candidate) -> float:
        """That of the variant, else of its perturber, else that of all damage."""
        sensitivities, variant = self.dials.sensitivities, candidate.variant
        if variant in sensitivities:
            return sensitivities[variant]
        otherwise = 0.0 if candidate.level in PROBES else self.dials.sensitivity
        return sensitivities.get(parse_variant(variant).perturber, otherwise)


@functools.lru_cache(maxsize=65_536)
def _quality(seed: int, example: str, metric: str) -> float:
    """The quality of the undamaged text, in points."""
    return stream(seed, "mock", example, metric).uniform(_WORST, _BEST)


def _damage(variant: str) -> float:
    """How much damage a variant has; 1 if it has no degrees."""
    _, degree, dose = parse_variant(variant)
    if dose:
        return max(0.0, 1 + math.log(dose / 10, 5))  # 1 at a dose of 10, 2 at 50
    return _DAMAGE.get(degree or "", 1.0)


def mock_judge(name: str, seed: int = 0) -> MockJudge:
    """The judge called `mock/KIND?dial=value&...`, e.g. `mock/lenient?noise=0.5&random_typos=0`.

    The dials are those of `Dials`; the name of a perturber or a variant sets its own sensitivity. Raises
    `InputError` for an unknown kind, a dial that is nearly the name of one, and a value out of range.
    """
    base, settings = split_settings(name)
    kind = base.removeprefix("mock/")
    one_of("mock judge", kind, KINDS)
    dials = KINDS[kind]
    changes: dict[str, Any] = {}
    weights: dict[str, float] = {}
    names = [each.name for each in fields(Dials) if each.name != "sensitivities"]
    try:
        for key, value in settings.items():
            if key == "style":
                changes[key] = value
            elif key in names:
                changes[key] = _number(key, value, whole=key == "samples")
            elif difflib.get_close_matches(key, names, cutoff=0.8):
                raise InputError(f"unknown dial '{key}'; {suggest(key, names)}")
            else:
                weights[key] = _number(key, value)
        dials = replace(dials, **changes, sensitivities=weights)
    except InputError as e:
        raise InputError(f"model '{name}': {e}") from None
    return MockJudge(name, dials, seed)


def _number(key: str, value: str, *, whole: bool = False) -> float:
    """A setting of the name as a number; raises `InputError` for another text."""
    try:
        return int(value) if whole else float(value)
    except ValueError:
        kind = "whole number" if whole else "number"
        raise InputError(f"{key}={value} is not a {kind}; allowed: e.g. {key}=1") from None


class AlwaysFirst(Judge):
    """Says that the text shown first is better, whatever it is."""

    model = "mock/first"
    protocol = "none"
    compare = True

    def verdicts(
        self, pairs: Sequence[Pair], task: Task, metrics: Sequence[str] = (OVERALL,)
    ) -> Iterator[PairVerdict]:
        """One verdict on every pair by every metric in each order."""
        for pair in pairs:
            for metric in metrics:
                for order in ORDERS:
                    yield PairVerdict(pair, metric, order, 0, 1 if order == "given" else -1)


class ConstantJudge(Judge):
    """Gives every text the middle of the scale."""

    model = "baseline/constant"
    protocol = "none"

    def rate(self, candidates: Sequence[Candidate], task: Task) -> Iterator[Rating]:
        for candidate in candidates:
            for metric in task.metrics:
                middle = (metric.scale.min + metric.scale.max) / 2
                yield Rating(candidate.example, candidate.variant, metric.name, 0, middle)


class RandomJudge(Judge):
    """Draws from the scale in steps of about one, by `seed`, source, variant and metric."""

    model = "baseline/random"
    protocol = "none"

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed

    def rate(self, candidates: Sequence[Candidate], task: Task) -> Iterator[Rating]:
        for candidate in candidates:
            for metric in task.metrics:
                key = (candidate.example, candidate.source, candidate.variant, metric.name)
                low, high = metric.scale.min, metric.scale.max
                steps = max(1, round(high - low))
                drawn = int(stream(self._seed, self.model, *key).random() * (steps + 1))
                score = low + (high - low) * drawn / steps
                yield Rating(candidate.example, candidate.variant, metric.name, 0, score)
