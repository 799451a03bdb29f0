"""What a result is made of: tests, variants, response styles, dose-response; the shapes in `results.json`."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from dhp.stats.response_style import Spread
from dhp.stats.verdict import Verdict

Ends = tuple[float, float] | None
"""Low and high end of an interval; None where undefined."""
STRICT: Mapping[str, str | bool] = {"extra": "forbid", "allow_inf_nan": False}
"""How pydantic reads these shapes."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One test: did the scores of this metric fall under this variant?"""

    __pydantic_config__: ClassVar[Mapping[str, str | bool]] = STRICT

    p: float | None
    """One-sided p-value, for attacks two-sided; None without a pair, or below 1e-300 (see `log10_p`)."""
    log10_p: float | None
    """log10 of the p-value, which never underflows."""
    n: int
    """Pairs with a score on both sides."""
    missing: int
    """Pairs left out because a side has no score."""
    n_nonzero: int
    """Pairs whose scores differ."""
    effect: float | None
    """Matched-pairs rank-biserial correlation, in [-1, 1]; positive where scores fell."""
    mean_drop: float | None
    """Original minus degraded, in points of the scale."""
    fell: float | None
    """Share of the pairs in which the score fell, in [0, 1]."""
    tied: float | None
    """Share in which it stayed."""
    rose: float | None
    """Share in which it rose."""
    weight: float | None = None
    """How much of the drop experts expect here, in [0, 1]; None without expert weights."""
    share: float | None = None
    """What this metric contributes to D: its part of the sum of 1 / p, in [0, 1]."""
    share_ew: float | None = None
    """The same for D_EW; where it differs from `share`, D and D_EW do."""
    detection: float | None = None
    """P(fell) + P(tied) / 2, in [0, 1]: 0.5 is blind, below it the damage is preferred."""
    detection_ci: Ends = None
    """95 % confidence limits (Bonett and Price 2012); None with fewer than two pairs."""
    auroc: float | None = None
    """Area under the ROC curve of originals against degraded texts, unpaired, in [0, 1]."""
    auroc_ci: Ends = None
    """Its 95 % confidence limits."""
    standardised_drop: float | None = None
    """The mean drop in standard deviations of the scores; None where no score varies."""


@dataclass(frozen=True, slots=True)
class VariantResult:
    """All metrics of one variant, and the discernment that follows."""

    __pydantic_config__: ClassVar[Mapping[str, str | bool]] = STRICT

    variant: str
    """Its name, `<perturber>.<degree>`."""
    level: str
    """Where the text was changed: `character`, `word`, `sentence`, or one of the data's own."""
    method: str | None
    """What made the texts: `rule`, `authored`, `llm` or `given`; None where unknown."""
    degree: str | None
    """`minor`, `major` or another; None where there is one only."""
    metrics: dict[str, Cell]
    """Metric -> what its scores did."""
    p: float | None
    """Combined over the metrics, which weigh the same; None where undefined."""
    p_ew: float | None
    """The same with the expert weights."""
    d: float | None
    """None where a metric has no pair at all: undefined."""
    d_ew: float | None
    """D with the expert weights."""
    effect: float | None
    """Mean effect over the metrics; None where a metric has no pair."""
    effect_ew: float | None
    """The mean with the weights of the metrics."""
    not_applicable: int
    """Examples that have no text in this variant, of those that it got."""
    stopped_at: int | None = None
    """In a run that stops what is resolved, the number of examples after which this variant was and got no
    more; None where it got all. p and D are adjusted for the interim analyses, those of single metrics are
    not; see `dhp.analysis.sequential`."""
    p_holm: float | None = None
    """p adjusted over the variants: bounds the chance of any false one among those noticed (Holm 1979)."""
    p_by: float | None = None
    """p adjusted over the variants: bounds the expected share of false ones among them (Benjamini and
    Yekutieli 2001)."""
    misplaced: float | None = None
    """Share of the mean drop that fell on other metrics than experts expect, in [0, 1]; None without expert
    weights or without a drop."""

    detection: float | None = None
    """Mean over the metrics by their weights, in [0, 1]; None where a metric with weight has no pair, and in
    files of version 1."""
    detection_ci: Ends = None
    """95 % confidence limits; in a run that stops early at a level adjusted for the interim analyses."""
    detection_bounds: Ends = None
    """Detection if all pairs that lack a score had risen, and if all had fallen; None where none lacks it."""
    best_metric: str | None = None
    """The metric with the highest detection."""
    best_detection: float | None = None
    """Its detection, in [0, 1]."""
    best_detection_ci: Ends = None
    """95 % confidence limits of the highest detection, the choice of the metric accounted for."""
    verdict: Verdict | None = None
    """`noticed`, `missed` or `undecided`; see `dhp.stats.verdict`. None for attacks and in files of version
    1."""
    n_to_decide: int | None = None
    """Examples that would decide an undecided variant with a chance of 80 %, if further ones were like these;
    None where it is decided, or where no number up to 100,000 would be enough."""
    saturated: bool | None = None
    """Whether D is at half its ceiling or more: it then says how many examples there are, hardly how good the
    judge is. None where D is undefined."""

    def __repr__(self) -> str:
        found = "–" if self.detection is None else f"{self.detection:.0%}"
        d = "–" if self.d is None else f"{self.d:.2f}"
        return f"VariantResult({self.variant}: {self.verdict}, detection {found}, D {d})"

    @property
    def risen(self) -> str | None:
        """The metric that an attack raised most clearly; None if it raised none.

        One that rose beyond doubt (Bonferroni over metrics), or the clearest change of all if that is a rise.
        Only for attacks, whose p-values are two-sided.
        """
        tested = {m: c for m, c in self.metrics.items() if c.log10_p is not None and c.effect is not None}
        if not tested:
            return None
        order = sorted(tested, key=lambda m: (tested[m].log10_p, tested[m].effect))
        line = math.log10(0.05 / len(self.metrics))
        risen = [m for m in order if (tested[m].effect or 0.0) < 0]
        clear = [m for m in risen if m == order[0] or (tested[m].log10_p or 0.0) <= line]
        return clear[0] if clear else None


@dataclass(frozen=True, slots=True)
class RunDetection:
    """Detection over the variants of a result, with 95 % confidence limits; it does not depend on N."""

    __pydantic_config__: ClassVar[Mapping[str, str | bool]] = STRICT

    avg: float | None
    """Mean over levels of the mean within each level, in [0, 1]."""
    min: float | None
    """The lowest of a variant with five pairs or more."""
    min_variant: str | None
    """The variant that has it."""
    ci: dict[str, Ends]
    """Of `avg`, and of `min` with the choice of the variant accounted for."""
    levels: dict[str, float | None]
    """Level -> mean over its variants."""
    levels_ci: dict[str, Ends]
    """Level -> the limits of its mean."""


@dataclass(frozen=True, slots=True)
class ResponseStyle:
    """How a judge uses the scale of one metric, by the mean scores of the texts."""

    __pydantic_config__: ClassVar[Mapping[str, str | bool]] = STRICT

    originals: Spread
    """Scores of the undamaged texts."""
    degraded: Spread
    """Scores of the degraded texts."""
    words: tuple[str, ...] | None
    """`lenient`, `harsh`, `compressed`; None where the scale is unknown. See `dhp.stats.response_style`."""


@dataclass(frozen=True, slots=True)
class DoseResponseLine:
    """One line of a dose-response curve: a metric, or all metrics combined."""

    __pydantic_config__: ClassVar[Mapping[str, str | bool]] = STRICT

    d: tuple[float | None, ...]
    """D at each dose; None where there is no pair."""
    effect: tuple[float | None, ...] | None
    """Rank-biserial correlation at each dose; None for the combination."""
    fell: tuple[float | None, ...] | None
    """Share of scores that fell at each dose; None for the combination."""
    threshold: float | None
    """The dose at which D passes 1; None where it never does or is undefined."""
    low: float | None
    """Lower end of the 95 % bootstrap interval of the threshold; None beyond the largest dose."""
    high: float | None
    """Ends of the 95 % bootstrap interval of the threshold; None for an end beyond the largest dose."""


@dataclass(frozen=True, slots=True)
class DoseThreshold:
    """T75, the dose at which detection is 75 %, with a 95 % interval; it does not depend on N.

    0 says below the smallest dose, None above the largest: nothing is extrapolated.
    """

    __pydantic_config__: ClassVar[Mapping[str, str | bool]] = STRICT

    value: float | None
    """The dose."""
    low: float | None
    """Lower confidence limit."""
    high: float | None
    """Upper confidence limit."""


@dataclass(frozen=True, slots=True)
class DoseResponse:
    """How D grows with the dose of one perturber."""

    __pydantic_config__: ClassVar[Mapping[str, str | bool]] = STRICT

    perturber: str
    """Its name."""
    doses: tuple[int, ...]
    """In rising order."""
    lines: dict[str, DoseResponseLine]
    """Metric, or `combined`, -> its line."""
    detection: tuple[float | None, ...] = ()
    """At each dose, the mean over metrics by their weights; empty in files of version 1."""
    guess: float | None = None
    """Detection of the controls, at least 0.5: where the curve starts."""
    power: float | None = None
    """Of the dose, in the fitted psychometric curve; see `dhp.stats.psychometric`."""
    lapse: float | None = None
    """1 less the detection of the largest damage."""
    t75: DoseThreshold | None = None
    """By the fitted curve; None where undefined: nothing moves at any dose, or controls reach 75 %."""
    characters: int | None = None
    """Median length of the originals; None where the texts are unknown."""
    t75_isotonic: DoseThreshold | None = None
    """By isotonic regression, without a form of the curve, as a check."""
