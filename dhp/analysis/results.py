"""Results of an analysis and their parts, as in `results.json` (schema `dhp.results/3`).

A record is a part of the file: what it holds is checked where it is made and again where it is read. Fields
are what the file holds. Properties are what follows from them, so that they need not be kept.

In order: one test of a metric (`Cell`), one kind of damage or control (`VariantResult`), figures of a whole
run, `Result` of one judge on one dataset, `Results` of several. What Python shows of them is made by the
report, which is found by name, as it stands above this folder.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, ClassVar, overload

from dhp.analysis.certainty import Asking, Certainty
from dhp.analysis.config import Statistics
from dhp.analysis.mark_sweep import MarkSweep
from dhp.analysis.passing import AtMark, PassShare
from dhp.analysis.percent import whole_percent
from dhp.analysis.reasons import Named
from dhp.analysis.record_values import STRICT
from dhp.analysis.verdict_rule import is_denied
from dhp.content.catalog import variant_name
from dhp.content.yaml_files import refusals
from dhp.core.checksum import CHECKSUM, holds
from dhp.core.errors import InputError
from dhp.core.hiding import hidden_value
from dhp.core.plugins import load_target
from dhp.core.records import IDENTITY, PROBES
from dhp.core.shown import printable
from dhp.core.signature import Signature, protocol_name
from dhp.core.verdicts import NOT_DECIDED, UNDECIDED, Verdict
from dhp.stats.defaults import FLOOR, Combination
from dhp.stats.detection import FEWEST_PAIRS as FEWEST_PAIRS
from dhp.stats.spread import Spread

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure
    from pydantic import TypeAdapter

    from dhp.analysis.ratings import RatingsArray


SCHEMA = "dhp.results/3"
MAKE_AGAIN = "repeat the command of its run"
"""What to do about results that cannot be believed."""


Interval = tuple[float, float] | None
"""Low and high end of an interval; None if undefined."""
HAIR = 0.6
"""AUROC below which noticed damage is so by a hair only; chosen."""
WELL_READ = 0.99
"""Share of answers with a score from which it need not be told; chosen."""
MUTE_BELOW = 0.5
"""Share of answers with a score below which a judge is mute; chosen: most answers say nothing."""
_UNEQUAL = 2
"""How many times as many pairs one kind of damage may have as another before a result says so; chosen."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One test: did the scores of this metric fall under this variant?"""

    __pydantic_config__: ClassVar[Mapping[str, str | bool]] = STRICT

    p: float | None
    """One-sided p-value, for attacks two-sided; None without a pair, or below 1e-300 (see `log10_p`)."""
    log10_p: float | None
    """log10 of the p-value, which never underflows."""
    n: int
    """Pairs that count."""
    missing: int
    """Pairs left out because a side has no score: the call failed, or it is not to count as a tie."""
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
    detection_ci: Interval = None
    """95 % confidence limits; see `dhp.stats.bounds`. None with fewer than two clusters."""
    auroc: float | None = None
    """Area under the ROC curve of originals against degraded texts, unpaired, in [0, 1]."""
    standardised_drop: float | None = None
    """The mean drop in standard deviations of the scores; None if no score varies."""
    unread: int = 0
    """Pairs among the `n` that are ties as the judge left a side unread."""


@dataclass(frozen=True, slots=True)
class VariantResult:
    """All metrics of one variant, and the discernment that follows."""

    __pydantic_config__: ClassVar[Mapping[str, str | bool]] = STRICT

    variant: str
    """Name of the variant, `<perturber>.<degree>`."""
    level: str
    """Level of the changes: `character`, `word`, `sentence`, `turn`, or one that the data define."""
    method: str | None
    """Way the texts were made: `rule`, `authored`, `llm` or `given`; None if unknown."""
    degree: str | None
    """Degree, e.g. `minor` or `major`; None if there is only one."""
    metrics: dict[str, Cell]
    """Metric -> what its scores did."""
    p: float | None
    """Combined p-value over the metrics with equal weights; None if undefined."""
    d: float | None
    """Discernment D; None (undefined) if a metric has no pair at all."""
    d_ew: float | None
    """D with the expert weights."""
    not_applicable: int
    """Examples that have no text in this variant."""
    misplaced: float | None = None
    """Share of the mean drop that fell on other metrics than experts expect, in [0, 1]; None without expert
    weights or without a drop."""

    detection: float | None = None
    """Detection by the metric that sees the damage best, in [0, 1], corrected for the choice of the metric;
    see `dhp.stats.detection`. None without a pair. Of a control or attack that of `best_metric`."""
    detection_ci: Interval = None
    """95 % confidence limits."""
    at_least: float | None = None
    """Of damage: lower limit of the one-sided 5 % test by which it is large enough to be noticed; it then
    lies above the middle between 0.5 and the floor."""
    best_metric: str | None = None
    """The metric with the highest detection; the first by name on a tie. Of a control or attack the metric by
    which its state was reached; see `dhp.analysis.control_state`."""
    n: int = 0
    """Pairs of the metric that has most."""
    read: float | None = None
    """Share of the judge's answers about these texts that have a score, in [0, 1]; None without an answer."""
    verdict: Verdict | None = None
    """Verdict on damage, or the state of a control or attack; see `dhp.core.verdicts`."""
    share: float | None = None
    """Of a control or attack: mean change of the score by `best_metric`, in the direction in which it moves,
    as a share of the mean drop under `beside`; at least 0, None without such damage."""
    beside: str | None = None
    """The mildest damage that this metric notices; if it notices none, the damage that costs it most."""
    stand_in: str | None = None
    """The rule that made the texts for want of a language model; None for none."""
    passes: PassShare | None = None
    """Texts of this variant that pass at the user's mark; None without a mark."""
    n_to_decide: tuple[int, int] | None = None
    """Examples with which a kind that is undecided or faint is noticed or missed with a chance of 50 and of
    80 %, if further ones come from where these did; None if it is decided, or if even 5,000 may not do."""

    @property
    def best(self) -> Cell | None:
        """The test of the best metric."""
        return self.metrics.get(self.best_metric or "")

    @property
    def partly_read(self) -> bool:
        """Whether the share of answers with a score is to stand beside the figures."""
        return self.read is not None and self.read < WELL_READ

    @property
    def by_a_hair(self) -> bool:
        """Whether the damage is noticed beside its own original and hardly beside other good texts.

        By the AUROC of the best metric, which is what a threshold or a ranking by its score can use.
        """
        auroc = None if self.best is None else self.best.auroc
        return self.state.is_noticed and auroc is not None and auroc < HAIR

    @property
    def needed(self) -> str:
        """`n_to_decide` in words; empty for what is decided or has too few pairs for any test."""
        if self.n_to_decide is not None:
            return about(self.n_to_decide)
        return "perhaps none" if self.state.may_change and self.n >= FEWEST_PAIRS else ""

    @property
    def outlook(self) -> str:
        """What further examples would do, for a kind that is undecided or faint."""
        if self.n < FEWEST_PAIRS:
            return f"it takes {FEWEST_PAIRS} pairs or more"
        if self.n_to_decide is None:
            return "it may stay so with any number of examples"
        return f"{self.needed} examples would decide"

    @property
    def state(self) -> Verdict:
        """`verdict`; without one it is undecided."""
        return self.verdict or (NOT_DECIDED if self.level in PROBES else UNDECIDED)

    def __repr__(self) -> str:
        detection = "–" if self.detection is None else f"{whole_percent(self.detection)}%"
        d = "–" if self.d is None else f"{self.d:.2f}"
        return f"VariantResult({variant_name(self.variant)}: {self.state}, detection {detection}, D {d})"


def about(numbers: tuple[int, int]) -> str:
    """A range of numbers of examples in words, to two digits, as more would promise too much."""
    # Both may be rounded to one number, which is then said alone.
    low, high = _two_digits(numbers[0]), _two_digits(numbers[1])
    return f"about {low:,} to {high:,}" if low < high else f"about {high:,}"


def _two_digits(number: int) -> int:
    """1234 -> 1200; numbers of one or two digits stay."""
    further = max(len(str(number)) - 2, 0)
    return round(number, -further)


def _badness(row: VariantResult) -> tuple[int, float]:
    """Sorts the worst kinds first: by verdict, then by detection."""
    # Without a figure it comes last among the kinds of its verdict.
    detection = math.inf if row.detection is None else row.detection
    return -row.state.rank, detection


@dataclass(frozen=True, slots=True)
class RunDetection:
    """Detection over the kinds of damage of a result; it does not depend on N."""

    __pydantic_config__: ClassVar[Mapping[str, str | bool]] = STRICT

    avg: float | None
    """Mean over levels of the mean over the kinds of a level, in [0, 1]; kinds with fewer than five pairs do
    not count."""
    min: float | None
    """The lowest of a kind with five pairs or more; equal to that kind's own figure."""
    min_variant: str | None
    """The kind that has it."""
    ci: dict[str, Interval]
    """95 % confidence limits of `avg`, and of the kind that has `min`."""


NOTHING = RunDetection(None, None, None, {"avg": None, "min": None})
"""The figures if no kind of damage was rated."""


@dataclass(frozen=True, slots=True)
class ResponseStyle:
    """How a judge uses the scale of one metric, by the mean scores of the texts."""

    __pydantic_config__: ClassVar[Mapping[str, str | bool]] = STRICT

    originals: Spread
    """Scores of the undamaged texts."""
    degraded: Spread
    """Scores of the degraded texts."""
    words: tuple[str, ...] | None
    """`lenient`, `harsh`, `compressed`; None if the scale is unknown. See `dhp.stats.spread`."""


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
    """Detection at each dose beside the harmlessly edited copy, or the original if none was rated, by the
    metric that sees all doses together best; see `dhp.stats.psychometric`."""
    power: float | None = None
    """Exponent of the dose in the fitted psychometric curve; see `dhp.stats.psychometric`."""
    lapse: float | None = None
    """Lapse rate: 1 minus the detection of the largest damage, in [0, 0.5]."""
    t75: DoseThreshold | None = None
    """T75 by the fitted curve, or by a posterior over curves if most texts were rated at few doses; None
    if nothing moves at any dose."""
    characters: int | None = None
    """Median length of the originals; None if the texts are unknown."""


@dataclass(frozen=True, slots=True)
class Result:
    """The discernment of one (model, protocol, dataset)."""

    __pydantic_config__: ClassVar[Mapping[str, str | bool]] = STRICT

    signature: str
    """Signature: in one line, all that the figures depend on; see `dhp.core.signature`."""
    created: str
    """Time of the computation, UTC."""
    model: str
    """Name of the judge, `provider/name`."""
    protocol: str
    """Protocol of the judge, `name@hash`; `none` if no model was asked, `unknown` if only ratings are
    known."""
    dataset: str
    """Name of the data."""
    n: int
    """Number of examples."""
    statistics: Statistics
    """Preset of the tests."""
    combination: Combination
    """Method that combines the p-values of the metrics."""
    weights: str
    """Name of the expert weights."""
    levels: str
    """Source of the levels: `suite`, `column` or `none` (all variants are one level)."""
    d_avg: float | None
    """Mean of D over levels; None if no variant is defined."""
    d_min: float | None
    """The lowest D of a variant with five pairs or more."""
    d_avg_ew: float | None
    """`d_avg` with the expert weights."""
    d_min_ew: float | None
    """`d_min` with the expert weights."""
    d_min_variant: str | None
    """The variant of `d_min`."""
    variants: tuple[VariantResult, ...]
    """The degraded texts, variant by variant."""
    controls: tuple[VariantResult, ...]
    """Changes that must not lower a score, with their state."""
    attacks: tuple[VariantResult, ...]
    """Changes that must not raise a score, with their state; D is two-sided."""
    curves: tuple[DoseResponse, ...]
    """Dose-response curves, if texts were degraded in many doses."""
    left_out: tuple[str, ...]
    """Variants of the suite that were not rated."""
    ratings: dict[str, int]
    """Number of ratings `asked` for, number of ratings with each status, and number of those `asked_again`,
    as their first answer could not be read, if there are any."""
    unscored: dict[str, float]
    """`original` or variant -> share of its texts and metrics that have no score, in [0, 1]."""
    repeats: dict[str, dict[str, float | None]]
    """Metric -> variance within and between texts, consistency and spread of its single scores; see
    `dhp.stats.repeated_answers`. A metric without a score is not there."""
    scales: dict[str, tuple[float, float]]
    """Metric -> the ends of its scale; empty if they are unknown."""
    styles: dict[str, ResponseStyle]
    """Metric -> how its scores are distributed; a metric without a score on either side is not there."""
    halo: dict[str, dict[str, dict[str, float | None]]]
    """`originals` or `degraded` -> metric -> metric -> Spearman's correlation of their scores over texts."""
    failures: dict[str, int]
    """The most frequent reasons of failed ratings, with their counts."""
    rules: dict[str, int]
    """Number of scores that each extraction rule read from answers; empty if nothing was read."""
    missing_mass: float | None
    """Mean probability that fell on no score, if scores are weighed by probability."""
    usage: dict[str, int]
    """Calls and tokens of this run, and those that another had paid for (`cached_...`); empty without any."""
    cost: float | None
    """Cost of all these tokens, also of cached replies, at given or listed prices; None without either."""
    warnings: tuple[str, ...]
    """Reasons to doubt the figures."""
    priced: str = ""
    """Where list prices come from; empty if the user gave prices, or there are none."""
    latency: tuple[float, float] | None = None
    """Median and 95th percentile of the seconds that a server took for a call, of the calls that were made by
    the process that computed this; None without any."""
    detection: RunDetection = NOTHING
    """Over the kinds of damage that count in D_avg."""
    floor: float = FLOOR
    """Lowest detection at which damage counts as noticed."""
    pass_mark: AtMark | None = None
    """The user's mark, with the originals that fail at it; None without one."""
    certainty: Certainty | None = None
    """How sure and how right the judge is at the mark; None if it gives no probabilities."""
    asking: Asking | None = None
    """What is left if a person sees the texts nearest to the mark; None without a mark or with fewer than 60
    examples."""
    sweep: MarkSweep | None = None
    """Without a mark: what would pass and fail at each; None if scales differ or have labels."""
    clusters: int | None = None
    """Number of clusters of examples; None if the examples are independent."""
    read: float | None = None
    """Share of the judge's answers that have a score, in [0, 1]; None without an answer. Calls that failed
    are no answers; comparisons count by orders."""
    read_originals: float | None = None
    """`read` of the undamaged texts alone; None for comparisons, too."""
    read_damaged: float | None = None
    """`read` of the damaged texts alone."""
    reasons: dict[str, Named] = field(default_factory=dict)
    """Variant -> damaged texts by verdict and by what the judge's reason names; empty if it gives none."""
    unread: dict[str, int] = field(default_factory=dict)
    """Why answers have no score -> how many, the commonest first; see `dhp.analysis.unread`."""

    @property
    def asked(self) -> bool:
        """Whether a language model was asked under a protocol; else `protocol` is `none` or `unknown`."""
        return self.protocol not in ("none", "unknown")

    @property
    def judge(self) -> str:
        """The model, with the name of its prompt or protocol if it was asked by one, without the hash.

        For readers: control characters are replaced, and a judge that ratings do not name is `the judge`.
        """
        if self.model == "unknown":
            return "the judge"
        named = f"{self.model} ({protocol_name(self.protocol)})" if self.asked else self.model
        return printable(named)

    @property
    def too_few(self) -> bool:
        """Whether there are too few examples for any verdict."""
        return self.n < FEWEST_PAIRS

    @property
    def blind(self) -> bool:
        """Whether scores were compared and none of any text moved, under damage, control or attack."""
        cells = _cells((*self.variants, *self.probes))
        # A pair that was not read is a tie, too: a judge that says nothing is mute, not blind.
        compared = any(cell.n > cell.unread for cell in cells)
        return compared and all(cell.tied == 1 for cell in cells if cell.n)

    @property
    def partly_read(self) -> bool:
        """Whether the share of answers with a score is to stand beside the figures."""
        return self.read is not None and self.read < WELL_READ

    @property
    def answers(self) -> int:
        """Number of answers, with a score or without; calls that failed are none."""
        return self.ratings.get("asked", 0) - self.ratings.get("failed", 0)

    @property
    def silent(self) -> bool:
        """Whether no pair of any kind of damage was read, so that nothing is known of what the judge sees."""
        cells = [cell for cell in _cells(self.variants) if cell.n]
        return bool(cells) and all(cell.unread == cell.n for cell in cells)

    @property
    def mute(self) -> bool:
        """Whether more than half of the answers about originals, or about damaged texts, have no score."""
        # Also each side by itself: a judge may answer about originals and be silent about damage.
        shares = (self.read, self.read_originals, self.read_damaged)
        return any(share is not None and share < MUTE_BELOW for share in shares)

    @property
    def damage(self) -> tuple[VariantResult, ...]:
        """The kinds of damage, the worst first; empty if texts were degraded in doses."""
        # Texts in doses are told by their curves, and not kind by kind.
        return () if self.curves else tuple(sorted(self.variants, key=_badness))

    @property
    def noticed_of(self) -> str:
        """How many kinds of damage were noticed, of how many: `10 of 12`."""
        noticed = [row for row in self.variants if row.state.is_good]
        return f"{len(noticed)} of {len(self.variants)}"

    @property
    def not_averaged(self) -> tuple[str, ...]:
        """The kinds of damage of the suite that D_avg leaves out: not made, or of too few pairs."""
        # As `averages` of the analysis leaves them out.
        of_too_few = [row.variant for row in self.variants if row.d is None or row.n < FEWEST_PAIRS]
        return (*of_too_few, *self.left_out)

    @property
    def lowest(self) -> VariantResult | None:
        """The kind of damage with the lowest detection, of those with five pairs or more."""
        for row in self.damage:
            if row.variant == self.detection.min_variant:
                return row
        return None

    @property
    def most_passing(self) -> PassShare | None:
        """What passes of the kind of damage that passes most often at the pass mark; None without a mark."""
        shares = [row.passes for row in self.variants if row.passes is not None]
        return max(shares, key=lambda share: share.most, default=None)

    @property
    def mean_passing(self) -> tuple[float, float] | None:
        """The mean over levels of what passes of the kinds of a level, without and with what got no score."""
        levels: dict[str, list[PassShare]] = {}
        for row in self.variants:
            if row.passes is not None:
                levels.setdefault(row.level, []).append(row.passes)
        if not levels:
            return None
        least, most = [], []
        for shares in levels.values():
            least.append(fmean(share.share for share in shares))
            most.append(fmean(share.most for share in shares))
        return fmean(least), fmean(most)

    @property
    def pairs(self) -> tuple[int, int] | None:
        """The fewest and the most pairs of a kind in the average, if they differ by more than 2 to 1."""
        # Kinds with fewer pairs are in no average, and say nothing about how even it is.
        counted = [row.n for row in self.damage if row.n >= FEWEST_PAIRS]
        if not counted or max(counted) <= _UNEQUAL * min(counted):
            return None
        return min(counted), max(counted)

    @property
    def probes(self) -> tuple[VariantResult, ...]:
        """Controls and attacks."""
        return (*self.controls, *self.attacks)

    @property
    def control(self) -> VariantResult | None:
        """The control in the worst state."""
        # A higher rank is a worse word.
        return max(self.controls, key=lambda row: row.state.rank, default=None)

    @property
    def alarms(self) -> tuple[VariantResult, ...]:
        """Controls that are a false alarm."""
        return tuple(row for row in self.controls if row.state.is_false_alarm)

    @property
    def harmless_edits(self) -> str:
        """The worst state of harmless edits, also of the unchanged text if it is a false alarm.

        `not run` without controls.
        """
        # With an alarm over the unchanged text, which is no edit and so is not among those below.
        states = [row.state for row in self.alarms]
        states += [row.state for row in self.controls if row.variant != IDENTITY]
        # The highest rank is the worst word.
        return max(states, key=lambda state: state.rank, default="not run")

    @property
    def signed(self) -> Signature:
        """The signature by its parts; raises `InputError` for one that lacks a part."""
        return Signature.parse(self.signature)

    def __repr__(self) -> str:
        return f"Result({_as_shown('line', self)})"

    def _repr_html_(self) -> str:
        return str(_as_shown("html", Results([self])))

    def plot(self) -> "Figure":
        """Detection of each kind of damage and control with its limits, coloured by verdict; 50 % is blind.

        It is drawn without a display; notebooks show it, `savefig` writes it.
        """
        figure: Figure = _as_shown("plot", self)
        return figure

    def to_dict(self) -> dict[str, Any]:
        """The object that `results.json` holds: what is secret is hidden."""
        written: dict[str, Any] = hidden_value({"schema": SCHEMA, **asdict(self)})
        return written

    def without_secrets(self) -> "Result":
        """The result as it is once it was written and read."""
        fields = self.to_dict()
        del fields["schema"]  # which is no field
        return _adapter().validate_json(json.dumps(fields), strict=True)

    def to_json(self) -> str:
        """The same as text."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def to_frame(self) -> "pd.DataFrame":
        """One row a (variant, metric), also of controls and attacks: first the figures of the variant."""
        return Results([self]).to_frame()


class Results(Sequence[Result]):
    """Results of one or several (model, protocol, dataset).

    If it holds exactly one, that result's attributes (`d_avg`, `variants`, ...) can be read from the
    collection itself. `rated` holds the ratings behind each, if these are known, and `folder` is that of
    the run, None if it was not written.
    """

    def __init__(
        self,
        results: Sequence[Result],
        rated: Sequence["RatingsArray"] = (),
        folder: Path | None = None,
    ) -> None:
        self._results = tuple(results)
        self.rated = tuple(rated)
        self.folder = folder

    @overload
    def __getitem__(self, index: int) -> Result: ...
    @overload
    def __getitem__(self, index: slice) -> "Results": ...
    def __getitem__(self, index: int | slice) -> "Result | Results":
        if isinstance(index, slice):
            return Results(self._results[index], self.rated[index], self.folder)
        return self._results[index]

    def __len__(self) -> int:
        return len(self._results)

    def __iter__(self) -> Iterator[Result]:
        return iter(self._results)

    def __repr__(self) -> str:
        return str(_as_shown("text", self))

    def _repr_html_(self) -> str:
        return str(_as_shown("html", self))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # copy and pickle ask for these before there is a `_results`
            raise AttributeError(name)
        if len(self._results) != 1:
            raise AttributeError(f"there are {len(self)} results; choose one, e.g. results[0].{name}")
        return getattr(self._results[0], name)

    @property
    def sentence(self) -> str:
        """What each judge notices and misses, a line for each."""
        return str(_as_shown("sentence", self))

    def to_frame(self) -> "pd.DataFrame":
        """One row a (model, protocol, dataset, variant, metric)."""
        frame: pd.DataFrame = _as_shown("frame", self)
        return frame

    def ratings_frame(self) -> "pd.DataFrame":
        """The ratings behind the results: one row a (model, protocol, dataset, example, variant, metric).

        `score` is the mean of the samples, NaN if there is none; the undamaged text is the variant
        `original`. Raises `InputError` for results that were read from a file without ratings.
        """
        frame: pd.DataFrame = _as_shown("ratings_frame", self)
        return frame

    def to_dict(self) -> Any:
        """What `results.json` holds: the object, or a list of them if there are several."""
        # A run of one judge on one dataset writes the object itself, and no list of one.
        objects = [r.to_dict() for r in self]
        return objects[0] if len(objects) == 1 else objects

    def to_json(self) -> str:
        """The same as text."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    @classmethod
    def from_json(cls, content: object, place: str) -> "Results":
        """Results from what `results.json` holds, strictly.

        Raises `InputError` with `place` for another schema version, a field that is missing, unknown or of
        another type, a signature that lacks a part, figures that differ from their checksum, and a verdict
        that its own figures deny.
        """
        objects = content if isinstance(content, list) else [content]
        if not objects:
            raise InputError(f"{place}: holds no result")
        return cls([_read_result(each, place) for each in objects])


def _read_result(content: object, place: str) -> Result:
    """One result as `Results.from_json` reads it."""
    if not isinstance(content, dict) or content.get("schema") != SCHEMA:
        raise InputError(f"{place}: is not a results file of this version; allowed: schema {SCHEMA}")
    # Neither is a field: the schema says which version it is, the checksum is of all the rest.
    fields = {name: value for name, value in content.items() if name not in ("schema", CHECKSUM)}
    with refusals(place, Result):
        # As JSON: there a list may become a tuple, and a text a `Verdict`, and all else is strict.
        result = _adapter().validate_json(json.dumps(fields), strict=True)
    try:
        Signature.parse(result.signature)  # a text to pydantic
    except InputError as e:
        raise InputError(f"{place}: {e}") from None
    if CHECKSUM in content and not holds(content):  # which only a run writes
        raise InputError(f"{place}: was edited, its figures differ from their checksum; {MAKE_AGAIN}")
    _check_verdicts(result, place)
    return result


def _cells(rows: Iterable[VariantResult]) -> list[Cell]:
    """The tests of each kind by each metric."""
    cells: list[Cell] = []
    for row in rows:
        cells += row.metrics.values()
    return cells


def _check_verdicts(result: Result, place: str) -> None:
    """Raise `InputError` for a verdict that its own figures deny."""
    for row in (*result.variants, *result.probes):
        if is_denied(row.state, row.detection, row.detection_ci, row.at_least, result.floor):
            raise InputError(
                f"{place}: {printable(row.variant)}: its own figures deny the verdict '{row.state}'; "
                f"{MAKE_AGAIN}"
            )


def _as_shown(form: str, of: object) -> Any:
    """What the report makes of results, which Python shows: a function of `dhp.report.notebook`."""
    return load_target(f"dhp.report.notebook:{form}")(of)


@cache
def _adapter() -> "TypeAdapter[Result]":
    from pydantic import TypeAdapter

    return TypeAdapter(Result)


def results_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of `results.json`: one result, or a list of them."""
    one = _adapter().json_schema(ref_template="#/$defs/{model}")
    # The records within a result, which become definitions beside it.
    kinds = one.pop("$defs")
    # The checksums of the figures and of the ratings; no field of `Result` holds them.
    digests = {"type": "object", "additionalProperties": {"type": "string"}}
    one["properties"] = {"schema": {"const": SCHEMA}, CHECKSUM: digests, **one["properties"]}
    one["required"] = ["schema", *one["required"]]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": SCHEMA,
        "anyOf": [
            {"$ref": "#/$defs/Result"},
            {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/Result"}},
        ],
        "$defs": {**kinds, "Result": one},
    }
