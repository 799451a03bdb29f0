"""Parts of a result, as in `results.json`: cells, variants, response styles, dose-response."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from dhp.stats.detection import CONTROL_PAIRS as CONTROL_PAIRS
from dhp.stats.detection import FEWEST_PAIRS as FEWEST_PAIRS
from dhp.stats.detection import ControlState, Verdict
from dhp.stats.judge_habits import Spread

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
    mean_drop: float | None
    """Mean score of the originals minus that of the degraded texts, in points of the scale."""
    weight: float | None = None
    """Expert weight of the metric, in [0, 1]; None without expert weights."""
    fell: float | None = None
    """Share of the pairs in which the score fell, in [0, 1]; None without a pair."""
    tied: float | None = None
    """Share of the pairs in which the score stayed."""
    rose: float | None = None
    """Share of the pairs in which the score rose."""
    detection: float | None = None
    """P(fell) + P(tied) / 2, in [0, 1]: 0.5 is blind, below it the damage is preferred."""
    detection_ci: Ends = None
    """Confidence limits (Bonett and Price 2012) at the level by which those of the kind of damage are the
    largest of its metrics'; None with fewer than two clusters."""
    auroc: float | None = None
    """Area under the ROC curve of originals against degraded texts, unpaired, in [0, 1]."""
    auroc_ci: Ends = None
    """95 % confidence limits of `auroc`."""
    standardised_drop: float | None = None
    """The mean drop in standard deviations of the scores; None where no score varies."""


@dataclass(frozen=True, slots=True)
class VariantResult:
    """All metrics of one variant, and the discernment that follows."""

    __pydantic_config__: ClassVar[Mapping[str, str | bool]] = STRICT

    variant: str
    """Name of the variant, `<perturber>.<degree>`."""
    level: str
    """Level of the changes: `character`, `word`, `sentence`, `turn`, or one that the data define."""
    method: str | None
    """Way the texts were made: `rule`, `authored`, `llm` or `given`; None where unknown."""
    degree: str | None
    """Degree, e.g. `minor` or `major`; None where there is only one."""
    metrics: dict[str, Cell]
    """Metric -> what its scores did."""
    p: float | None
    """Combined p-value over the metrics with equal weights; None where undefined."""
    p_ew: float | None
    """Combined p-value with the expert weights."""
    d: float | None
    """Discernment D; None (undefined) where a metric has no pair at all."""
    d_ew: float | None
    """D with the expert weights."""
    not_applicable: int
    """Examples that have no text in this variant, of those that it got."""
    stopped_at: int | None = None
    """Number of examples after which the schedule stopped the rating of this variant; None where all were
    rated. p and D are adjusted for the analyses by which it stopped, those of single metrics are not."""
    misplaced: float | None = None
    """Share of the mean drop that fell on other metrics than experts expect, in [0, 1]; None without expert
    weights or without a drop."""

    detection: float | None = None
    """Detection by the metric that sees the damage best, in [0, 1], corrected for the choice of the metric;
    see `dhp.stats.detection`. None without a pair. For an attack it is that of the metric that rose most."""
    detection_ci: Ends = None
    """Confidence limits that hold for all kinds of damage of the run together with 95 %."""
    best_metric: str | None = None
    """The metric with the highest detection, of an attack the lowest; the first by name on a tie."""
    n: int = 0
    """Pairs of the metric that has most."""
    verdict: Verdict | ControlState | None = None
    """Verdict on damage: `noticed`, `faint`, `missed`, `preferred`, `as harmless edits` or `undecided`; the
    state of a control or attack; see `dhp.stats.detection`."""
    n_to_decide: int | None = None
    """Examples that would decide an undecided kind with a chance of 80 %, if further ones were like these;
    None where it is decided, or where no number up to 100,000 would be enough."""

    def __repr__(self) -> str:
        found = "–" if self.detection is None else f"{self.detection:.0%}"
        d = "–" if self.d is None else f"{self.d:.2f}"
        return f"VariantResult({self.variant}: {self.verdict}, detection {found}, D {d})"


@dataclass(frozen=True, slots=True)
class RunDetection:
    """Detection over the kinds of damage of a result; it does not depend on N."""

    __pydantic_config__: ClassVar[Mapping[str, str | bool]] = STRICT

    avg: float | None
    """Mean over levels of the mean over the kinds of a level, in [0, 1]; kinds with fewer than five pairs do
    not count."""
    min: float | None
    """The lowest of a kind with five pairs or more, as it stands with that kind."""
    min_variant: str | None
    """The kind that has it."""
    ci: dict[str, Ends]
    """95 % confidence limits of `avg`, and of the kind that has `min`."""


NOTHING = RunDetection(None, None, None, {"avg": None, "min": None})
"""Where no kind of damage was rated."""


@dataclass(frozen=True, slots=True)
class ResponseStyle:
    """How a judge uses the scale of one metric, by the mean scores of the texts."""

    __pydantic_config__: ClassVar[Mapping[str, str | bool]] = STRICT

    originals: Spread
    """Scores of the undamaged texts."""
    degraded: Spread
    """Scores of the degraded texts."""
    words: tuple[str, ...] | None
    """`lenient`, `harsh`, `compressed`; None where the scale is unknown. See `dhp.stats.judge_habits`."""


@dataclass(frozen=True, slots=True)
class DoseThreshold:
    """T75, the dose at which detection is 75 %, with a 95 % interval; it does not depend on N.

    0 says below the smallest dose, None that no dose reaches it: nothing is extrapolated.
    """

    __pydantic_config__: ClassVar[Mapping[str, str | bool]] = STRICT

    value: float | None
    """Estimated dose."""
    low: float | None
    """Lower confidence limit of the dose."""
    high: float | None
    """Upper confidence limit of the dose."""


@dataclass(frozen=True, slots=True)
class DoseResponse:
    """How detection grows with the dose of one perturber."""

    __pydantic_config__: ClassVar[Mapping[str, str | bool]] = STRICT

    perturber: str
    """Name of the perturber."""
    doses: tuple[int, ...]
    """Doses in rising order."""
    detection: tuple[float | None, ...] = ()
    """Detection at each dose, the mean over metrics by their weights; empty in files of version 1."""
    guess: float | None = None
    """Detection of the controls, at least 0.5: where the curve starts."""
    power: float | None = None
    """Exponent of the dose in the fitted psychometric curve; see `dhp.stats.psychometric`."""
    lapse: float | None = None
    """Lapse rate: 1 minus the detection of the largest damage, in [0, 0.5]."""
    t75: DoseThreshold | None = None
    """T75 by the fitted curve, or by the posterior of a search; None where undefined: nothing moves at any
    dose, or controls reach 75 %."""
    characters: int | None = None
    """Median length of the originals; None where the texts are unknown."""
    t75_isotonic: DoseThreshold | None = None
    """T75 by isotonic regression, which assumes no form of the curve, as a check; None also after a
    search."""
