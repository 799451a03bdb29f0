"""Schema of content files."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Literal, Protocol, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, model_validator

from dhp.core.language import language_name

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
Number = Annotated[float, Field(allow_inf_nan=False)]
Language = Literal["en", "zh"]
LANGUAGES: tuple[Language, ...] = get_args(Language)
"""The languages that judges are asked in."""


class Spec(BaseModel):
    """Base of all content: unknown keys and wrong types are errors, nothing changes after reading."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)
    _origin: str = PrivateAttr("")

    @property
    def origin(self) -> str:
        """The file it was read from, for error messages; empty if none."""
        return self._origin


class Scale(Spec):
    """The closed interval of a metric's scores."""

    min: Number
    """Lowest score of the scale."""
    max: Number
    """Highest score of the scale."""

    @model_validator(mode="after")
    def _ordered(self) -> "Scale":
        if not self.min < self.max:
            raise ValueError(f"min must be less than max, not {self.min:g} and {self.max:g}")
        return self


class Metric(Spec):
    """A quality criterion."""

    name: Name
    """Name of the metric in tables, files and options."""
    label: str = Field(default_factory=lambda known: str(known.get("name", "")).replace("_", " "))
    """Name of the metric in prompts; default: the name with spaces."""
    scale: Scale
    """Scale of the scores."""
    definition: str
    """Meaning of the criterion, for judges and readers."""
    steps: list[str] = Field(min_length=1)
    """Evaluation steps; only the last step speaks of the scale."""
    question: str
    """The criterion asked as one question."""
    antonym: str
    """Meaning of the lowest possible score, e.g. incoherence."""
    lower_is_better: Annotated[bool, Field(exclude_if=lambda value: not value)] = False
    """Whether answers are better the lower they are; ratings are turned round when they are read."""
    labels: Annotated[list[str], Field(exclude_if=lambda value: not value)] = Field(default_factory=list)
    """Words for an answer in the place of numbers, the worst first; they stand for 1, 2, ..."""

    @model_validator(mode="after")
    def _labels_fit(self) -> "Metric":
        if self.labels and (self.scale.min, self.scale.max) != (1, len(self.labels)):
            raise ValueError(f"scale must be {{min: 1, max: {len(self.labels)}}}, by the number of labels")
        return self


class MetricTexts(Spec):
    """What a judge reads about a metric, in another language; fields as in `Metric`."""

    label: str
    definition: str
    steps: list[str] = Field(min_length=1)
    question: str
    antonym: str


class TaskTexts(Spec):
    """What a judge reads about a task, in another language; fields as in `Task`."""

    instruction: str
    source_label: str | None = None
    output_label: str
    shown_fields: dict[Name, str] = Field(default_factory=dict)
    metrics: dict[Name, MetricTexts]


def is_absent(value: object) -> bool:
    return value is None or value == {} or value == []


_UNKNOWN: Mapping[str, str] = {"en": "the target language", "zh": "目标语言"}
"""What the language of the outputs is called where it is not known."""


class Task(Spec):
    """What the writer of the texts had to do, and by which metrics the result is judged."""

    task: Name
    """Name of the task."""
    language: Language = "en"
    """Language of the texts in this file."""
    source_language: str | None = Field(default=None, exclude_if=is_absent)
    """Code of the language of the sources, where it is known."""
    output_language: str | None = Field(default=None, exclude_if=is_absent)
    """Code of the language of the outputs, where it is known."""
    instruction: str
    """Instruction that the writer was given. Slots: `{{source_language}}`, `{{output_language}}`, which are
    filled with the names of the languages of the data."""
    default_suite: str = "general"
    """The suite for data of the user's own: a name, or a YAML file beside that of the task. One whose
    perturbers a language model carries out is taken where there is a perturb model; else it is `general`."""
    source_label: str | None = None
    """Name of the source in prompts, e.g. Article; None where the writer was given none."""
    output_label: str
    """Name of the text under judgement in prompts, e.g. Summary."""
    shown_fields: dict[Name, str] = Field(default_factory=dict)
    """Further fields of the example that a judge needs to see, with their labels."""
    required_fields: list[Name] = Field(default_factory=list)
    """Fields without which an example of this task cannot be judged."""
    metrics: list[Metric] = Field(min_length=1)
    """Metrics by which the texts are judged."""
    translations: dict[Language, TaskTexts] = Field(default_factory=dict)
    """Texts of this file in other languages."""
    _columns: dict[str, str] = PrivateAttr(default_factory=dict)

    @property
    def columns(self) -> dict[str, str]:
        """Column of the user's data -> what it stands for: source, output, reference or a field."""
        return self._columns

    def with_columns(self, columns: Mapping[str, str]) -> "Task":
        """The same task about data with these columns."""
        changed = self.model_copy()
        changed._columns = dict(columns)
        return changed

    @model_validator(mode="after")
    def _unique(self) -> "Task":
        names = self.metric_names
        if len(set(names)) < len(names):
            raise ValueError(f"metric names must differ: {', '.join(names)}")
        return self

    @model_validator(mode="after")
    def _fully_translated(self) -> "Task":
        for language, texts in self.translations.items():
            place = f"translations.{language}"
            if language == self.language:
                raise ValueError(f"{place}: is the language of the task itself")
            if (texts.source_label is None) != (self.source_label is None):
                raise ValueError(f"{place}.source_label: must be given exactly where the task has one")
            _same_keys(f"{place}.shown_fields", texts.shown_fields, self.shown_fields)
            _same_keys(f"{place}.metrics", texts.metrics, self.metric_names)
        return self

    @property
    def metric_names(self) -> tuple[str, ...]:
        """The metrics' names in the order of the file."""
        return tuple(metric.name for metric in self.metrics)

    def in_language(self, language: Language) -> "Task":
        """The same task with its texts in `language`, the languages of the data named in them.

        The texts that it has now become a translation. Raises `ValueError` where it is not translated into
        that language.
        """
        if language == self.language:
            return self._naming_languages()
        if language not in self.translations:
            there = ", ".join([self.language, *self.translations])
            raise ValueError(f"task '{self.task}': has no texts in '{language}'; allowed: {there}")
        new = self.translations[language]
        metrics = [m.model_copy(update=dict(new.metrics[m.name])) for m in self.metrics]
        others = {k: texts for k, texts in self.translations.items() if k != language}
        changes = {"language": language, "translations": {self.language: self._texts(), **others}}
        return self.model_copy(update={**dict(new), **changes, "metrics": metrics})._naming_languages()

    @property
    def names_languages(self) -> bool:
        """Whether its instruction says which languages the data are in."""
        return "_language}}" in self.instruction

    def _naming_languages(self) -> "Task":
        if not self.names_languages:
            return self
        source = language_name(self.source_language, self.language)
        output = language_name(self.output_language, self.language) or _UNKNOWN[self.language]
        named = self.instruction.replace("{{source_language}}", source).replace("{{output_language}}", output)
        return self.model_copy(update={"instruction": " ".join(named.split())})

    def _texts(self) -> TaskTexts:
        metrics = {
            m.name: MetricTexts(**{f: getattr(m, f) for f in MetricTexts.model_fields}) for m in self.metrics
        }
        own = {f: getattr(self, f) for f in TaskTexts.model_fields if f != "metrics"}
        return TaskTexts(**own, metrics=metrics)


def _same_keys(place: str, keys: Iterable[str], wanted: Iterable[str]) -> None:
    if unlike := sorted(set(keys) ^ set(wanted)):
        raise ValueError(
            f"{place}: '{unlike[0]}' is unknown or missing; allowed: exactly {', '.join(wanted) or 'none'}"
        )


S = TypeVar("S", bound=Spec)


class ListReader(Protocol):
    """Reads a word list of the content."""

    def __call__(self, name: str, spec: type[S]) -> S:
        """The list `name` as `spec` describes it; raises `InputError` where it is missing or differs."""
        ...
