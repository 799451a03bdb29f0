"""The frozen records that pass from stage to stage.

In the order of a run: an `Example` of a dataset, the `Variant`s that its text is degraded by, a
`PerturbedText` for each with the `Audit` of what was done, a `Candidate` for the judge, and its `Rating`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import Any, Literal, NamedTuple, TypeVar, get_args

T = TypeVar("T")

ORIGINAL = "original"

Level = Literal["character", "word", "sentence", "turn"]
LEVELS: tuple[Level, ...] = get_args(Level)
"""Where a text gets worse; only conversations have turns."""

Probe = Literal["control", "attack"]
PROBES: tuple[Probe, ...] = get_args(Probe)
"""Levels of changes that make no text worse: a control must not lower a score, an attack not raise one."""
IDENTITY = "identity"
"""The control that shows the same text again; the others are harmless edits."""

RatingStatus = Literal["scored", "unparsed", "refused", "out_of_scale", "failed"]
RATING_STATUSES: tuple[RatingStatus, ...] = get_args(RatingStatus)
UNREAD: tuple[RatingStatus, ...] = ("unparsed", "refused", "out_of_scale")
"""Statuses of answers without a score: the judge was asked, answered, and did not say. `failed` does not
belong to them: that call never got an answer."""
SECOND = "again"
"""Beginning of the rule of a rating that comes from a second answer, as the first could not be read."""
CUT_OFF, ONLY_THOUGHTS, CALLED_TOOL = "cut off at the token limit", "only reasoning", "a tool call"
"""Rules of ratings without a score: why the answer could not be read."""
ASKED_AGAIN = "asked_again"
"""Name of the count of such ratings."""


def as_call(record: Any) -> tuple[type, tuple[object, ...]]:
    """How a record is pickled: as a call of its class, in half the time that frozen dataclasses take."""
    values = [getattr(record, name) for name in record.__slots__]
    return type(record), tuple(values)


def grouped(records: Iterable[T], size: int) -> Iterator[tuple[T, ...]]:
    """Groups of `size` records."""
    left = iter(records)  # one iterator: a list would begin anew each time
    group = tuple(islice(left, size))
    while group:
        yield group
        group = tuple(islice(left, size))


@dataclass(frozen=True, slots=True)
class Example:
    """One item of a dataset."""

    __reduce__ = as_call
    id: str
    """Unique within the dataset."""
    source: str
    """Text that the writer was given: article, story so far, paragraph, text to translate."""
    output: str
    """The reference text, the good original that gets degraded."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """Further named texts, such as `question` or `wrong_ending`."""
    language: str | None = None
    """Code of the language of the output, resolved when a dataset is loaded; None: not known."""

    def to_dict(self) -> dict[str, object]:
        """As files hold it."""
        return {"id": self.id, "source": self.source, "output": self.output, "fields": dict(self.fields)}


@dataclass(frozen=True, slots=True)
class Variant:
    """One way of making a text worse: a perturber in one degree."""

    name: str
    """`<perturber>.<degree>`, or `<perturber>` if there is one degree."""
    perturber: str
    """Name of the perturber."""
    level: str
    """One of `LEVELS` or of `PROBES`; ready-made pairs may bring other levels."""
    method: str
    """`rule`, `llm`, `authored` (edits that people wrote for the bundled data) or `given` (a text that came
    with the data)."""
    degree: str | None
    """`minor`, `major`, `k<dose>` or another; None if there is only one."""
    params: Mapping[str, object] = field(default_factory=dict)
    """Parameters of what makes it."""
    stand_in: str = ""
    """The rule that makes it if no language model is there to do so; empty for none."""

    @property
    def made_by(self) -> str:
        """The perturber that is applied."""
        return self.stand_in or self.perturber

    @classmethod
    def of(
        cls, perturber: str, level: str, method: str, degrees: Mapping[str | None, Mapping[str, object]]
    ) -> "tuple[Variant, ...]":
        """The variants of a perturber, one per degree; the key None stands for an only degree."""
        variants = []
        for degree, params in degrees.items():
            name = perturber if degree is None else f"{perturber}.{degree}"
            variants.append(cls(name, perturber, level, method, degree, params))
        return tuple(variants)


def methods(variants: Iterable[Variant], models: Mapping[str, str] = {}) -> str:
    """What made the degraded texts, for signatures: `rule`, `authored+rule`, `llm:openai/gpt-4o+rule`, ...

    `models` maps perturbers to language models. Probes, which are always made by rule, do not count.
    """
    names = set()
    for v in variants:
        if v.level not in PROBES:
            model = models.get(v.perturber, "") if v.method == "llm" else ""
            # Without a model `rule:` becomes `rule`.
            names.add(f"{v.method or 'unknown'}:{model}".rstrip(":"))
    return "+".join(sorted(names)) or "none"


class VariantName(NamedTuple):
    """What the name of a variant says."""

    perturber: str
    degree: str | None
    dose: int | None
    """k, if the degree is `k<dose>`."""


DEGREES = frozenset(
    [
        *("minor", "major", "light", "heavy", "small", "large", "weak", "strong", "low", "medium", "high"),
        *("mild", "moderate", "severe", "critical", "subtle", "obvious", "silent", "loud"),
    ]
)
"""Words that are a degree behind the last dot of a variant's name."""


@lru_cache(maxsize=1024)
def parse_variant(name: str) -> VariantName:
    """The parts of `<perturber>`, `<perturber>.<degree>` or `<perturber>.k<dose>`.

    Other names may hold dots, as `answer of gpt-5.4` does: these are the perturber as a whole.
    """
    # From the right, as the name of a perturber may itself hold dots.
    perturber, _, degree = name.rpartition(".")
    # `k5`, but neither `k0` nor `k05`
    dose = re.fullmatch(r"k([1-9]\d*)", degree)
    if not perturber or not (dose or degree in DEGREES):
        return VariantName(name, None, None)
    return VariantName(perturber, degree, int(dose[1]) if dose else None)


@dataclass(frozen=True, slots=True)
class Audit:
    """What was really done to a text."""

    __reduce__ = as_call
    asked: int | None
    """Edits asked for, if the perturber counts them."""
    made: int | None
    """Edits made; less than asked if the text is too short."""
    edit_distance: int
    """Levenshtein distance to the original, in characters."""
    similarity: float
    """Similarity to the original: 1 - edit_distance / length of the longer text, in [0, 1]."""


@dataclass(frozen=True, slots=True)
class PerturbedText:
    """One example under one variant: the degraded text, or the reason why there is none."""

    __reduce__ = as_call
    example: str
    """Id of the example."""
    variant: str
    """Name of the variant."""
    text: str | None
    """Degraded text; None if the perturber could not be applied."""
    reason: str | None = None
    """Why the variant is not applicable to this example; None if there is a text."""
    audit: Audit | None = None
    """Kind and amount of the changes; None if they are not counted."""
    rejected: tuple[str, ...] = ()
    """Why earlier answers of the language model that made it did not count, in the order of settings."""
    by_hand: bool = False
    """Whether a person edited the text after it was made."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text under judgement, with what a judge may see beside it: never the original or another copy."""

    __reduce__ = as_call
    example: str
    """Id of the example; for the rating, not for the judge."""
    variant: str
    """Name of the variant, recorded with the rating and never shown to the judge."""
    text: str
    """The text to be judged."""
    source: str
    """Text that the writer was given."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """The further fields that the task shows, such as `question`."""
    references: tuple[str, ...] = ()
    """Reference texts other than the one under judgement, for protocols and metrics that use them."""
    level: str | None = None
    """Level of the variant, recorded with the rating and never shown to the judge; None for the original."""
    repeat: int = 0
    """How often the same judge rated this text before; a language model is asked anew each time."""

    @property
    def reference(self) -> str | None:
        """The first reference text, if there is one."""
        return self.references[0] if self.references else None


@dataclass(frozen=True, slots=True)
class Rating:
    """One answer of a judge for one (example, variant, metric, sample)."""

    __reduce__ = as_call
    example: str
    """Id of the example."""
    variant: str
    """Name of the variant of the rated text."""
    metric: str
    """Name of the metric."""
    sample: int
    """Number of the answer, from 0."""
    score: float | None
    """Score on the metric's scale; None unless `status` is `scored`."""
    status: RatingStatus = "scored"
    """`scored`, or why there is no score."""
    raw: str | None = None
    """The judge's own words, if it has any."""
    rule: str | None = None
    """Rule that read the score from the answer, e.g. `labelled`, `fraction` or `prob`; for an answer without
    a score the reason, if the answer alone does not tell it."""
    missing_mass: float | None = None
    """Probability, in [0, 1], that fell on no score; only if scores are weighed by probability."""
    probabilities: tuple[float, ...] | None = None
    """Probability of each of two or more evenly spaced points of the metric's scale, the worst first; they
    sum to 1. Only if the judge gives them."""
    stated: Mapping[str, float] | None = None
    """What else is known of the rating, each from 0 to 1 and NaN if it is not known: `probability` (of
    passing), `confidence` (in the verdict), `named` and `named_by_chance` (the change, by its reason)."""
