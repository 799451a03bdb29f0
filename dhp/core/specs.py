"""Schemas of content files.

Each kind of file in `perturbations`, `datasets`, `protocols` and `expert_weights` has one record here, which
says what its keys mean and what is refused. In order: tasks with their metrics, cards of datasets, suites of
perturbers, word lists, edits by hand, weights.

`dhp.content.yaml_files` reads a file: pydantic checks types and ranges as the fields declare them, then the
validators of the record check what goes together. An error names the file, the key and what is allowed.
"""

import datetime as dt
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, Protocol, Self, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, model_validator

from dhp.core.checks import Rule, exclusive, together
from dhp.core.language import language_name
from dhp.core.records import ORIGINAL, Level, Probe, Variant

NAME = r"^[a-z][a-z0-9_]*$"  # random_typos
Name = Annotated[str, Field(pattern=NAME)]
Number = Annotated[float, Field(allow_inf_nan=False)]
Share = Annotated[Number, Field(ge=0, le=1)]
Language = Literal["en", "zh"]
LANGUAGES: tuple[Language, ...] = get_args(Language)
"""The languages that judges are asked in."""


class Spec(BaseModel):
    """Base of all content: unknown keys and wrong types are errors, nothing changes after reading."""

    # Strict: `n: "5"` is no number, as a file that says so was probably meant otherwise.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)
    rules: ClassVar[Sequence[Rule]] = ()
    """Which keys go together."""
    _origin: str = PrivateAttr("")

    @property
    def origin(self) -> str:
        """The file it was read from, for error messages; empty if none."""
        return self._origin

    def states(self, key: str) -> bool:
        """Whether a key was written, and not as null."""
        return key in self.model_fields_set and getattr(self, key) is not None

    @model_validator(mode="after")
    def _keeps_rules(self) -> Self:
        # Here, as pydantic checks single fields before a validator of the whole record.
        for rule in self.rules:
            fault = rule(self)
            if fault:
                raise ValueError(fault.replace("`", ""))  # keys of a file are no options
        return self


def check_keys(place: str, keys: Iterable[str], wanted: Iterable[str]) -> None:
    """Raise `ValueError` at the first key that is missing, or that is not `wanted`.

    `place` is the path of the keys with a dot at its end, e.g. `answers.`.
    """
    # What only one of the two has; sorted, so that the same file always gets the same message.
    unlike = sorted({*keys} ^ {*wanted})
    if unlike:
        allowed = ", ".join(wanted) or "none"
        raise ValueError(f"{place}{unlike[0]}: unknown or missing; allowed: exactly {allowed}")


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


# A field that is empty is left out of what is hashed: a hash stays the same when such a field is added.
Levels = Annotated[list[str], Field(max_length=10, exclude_if=lambda value: not value)]
"""Two to ten ordered levels of a rubric; none where there is no rubric."""


class Metric(Spec):
    """A quality criterion."""

    name: Name
    """Name of the metric in tables, files and options."""
    # The fields before it are known here; a name that is wrong is not among them.
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
    """Words for an answer instead of numbers, the worst first; they stand for 1, 2, ...

    No two may differ in capital letters alone.
    """
    levels: Levels = Field(default_factory=list)
    """What levels of the scale mean, the worst first, in the words of a rubric; for decision models."""

    @model_validator(mode="after")
    def _labels_fit(self) -> "Metric":
        if self.labels and self.levels:
            raise ValueError("levels: are for a scale of numbers; with labels leave them out")
        if len(self.levels) == 1:
            raise ValueError("levels: must be two or more")
        # A label is stored as its number, counted from 1.
        if self.labels and (self.scale.min, self.scale.max) != (1, len(self.labels)):
            raise ValueError(f"scale must be {{min: 1, max: {len(self.labels)}}}, by the number of labels")
        different = {label.strip().lower() for label in self.labels}  # answers are read in any case
        if len(different) < len(self.labels):
            raise ValueError("labels: must differ in more than capital letters")
        return self


class MetricTexts(Spec):
    """What a judge reads about a metric, in another language; fields as in `Metric`."""

    label: str
    definition: str
    steps: list[str] = Field(min_length=1)
    question: str
    antonym: str
    levels: Levels = Field(default_factory=list)


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
"""What the language of the outputs is called if it is not known."""


class Task(Spec):
    """What the writer of the texts had to do, and by which metrics the result is judged."""

    task: Name
    """Name of the task."""
    language: Language = "en"
    """Language of the texts in this file."""
    source_language: str | None = Field(default=None, exclude_if=is_absent)
    """Code of the language of the sources, if it is known."""
    output_language: str | None = Field(default=None, exclude_if=is_absent)
    """Code of the language of the outputs, if it is known."""
    instruction: str
    """Instruction that the writer was given. Slots: `{{source_language}}`, `{{output_language}}`, which are
    filled with the names of the languages of the data."""
    default_suite: str = "general"
    """The suite for data of the user's own: a name, or a YAML file beside that of the task. One whose
    perturbers a language model carries out is taken if there is a perturb model; else it is `general`."""
    source_label: str | None = None
    """Name of the source in prompts, e.g. Article; None if the writer was given none."""
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
        # A private attribute: it may be set on the copy, though the fields are frozen.
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
            # Both or neither: a judge reads of a source in every language, or in none.
            if (texts.source_label is None) != (self.source_label is None):
                raise ValueError(f"{place}.source_label: must be given exactly if the task has one")
            check_keys(f"{place}.shown_fields.", texts.shown_fields, self.shown_fields)
            check_keys(f"{place}.metrics.", texts.metrics, self.metric_names)
        return self

    @property
    def metric_names(self) -> tuple[str, ...]:
        """The metrics' names in the order of the file."""
        return tuple(metric.name for metric in self.metrics)

    def in_language(self, language: Language) -> "Task":
        """The same task with its texts in `language`, the languages of the data named in them.

        The texts that it has now become a translation. Raises `ValueError` if it is not translated into
        that language.
        """
        if language == self.language:
            return self._naming_languages()
        if language not in self.translations:
            languages = ", ".join([self.language, *self.translations])
            raise ValueError(f"task '{self.task}': has no texts in '{language}'; allowed: {languages}")
        translated = self.translations[language]
        metrics = []
        for metric in self.metrics:
            # A record of pydantic yields (field, value): this is field -> text.
            texts_of_metric = dict(translated.metrics[metric.name])
            metrics.append(metric.model_copy(update=texts_of_metric))

        # The two languages change places: the texts so far go where those of `language` came from.
        translations = {self.language: self._texts(), **self.translations}
        del translations[language]
        changes = {"language": language, "translations": translations, "metrics": metrics}
        task = self.model_copy(update={**dict(translated), **changes})
        return task._naming_languages()

    @property
    def names_languages(self) -> bool:
        """Whether its instruction says which languages the data are in."""
        return "_language}}" in self.instruction

    def _naming_languages(self) -> "Task":
        if not self.names_languages:
            return self
        source = language_name(self.source_language, self.language)
        output = language_name(self.output_language, self.language) or _UNKNOWN[self.language]
        # A source whose language is not known has no name: its slot vanishes with the space before it.
        named = self.instruction.replace("{{source_language}}", source).replace("{{output_language}}", output)
        return self.model_copy(update={"instruction": " ".join(named.split())})

    def _texts(self) -> TaskTexts:
        metrics = {}
        for metric in self.metrics:
            texts_of_metric = {name: getattr(metric, name) for name in MetricTexts.model_fields}
            metrics[metric.name] = MetricTexts(**texts_of_metric)
        texts = {name: getattr(self, name) for name in TaskTexts.model_fields if name != "metrics"}
        return TaskTexts(**texts, metrics=metrics)


S = TypeVar("S", bound=Spec)


class ListReader(Protocol):
    """Reads a word list of the content."""

    def __call__(self, name: str, spec: type[S]) -> S:
        """The list `name` as `spec` describes it; raises `InputError` if it is missing or differs."""
        ...


class Figures(Spec):
    """Mean characters, words and sentences of the reference texts."""

    characters: Number
    words: Number
    sentences: Number


class Download(Spec):
    """Where the published files are and how to know that they are the right ones."""

    files: dict[str, str] = Field(min_length=1)
    """File name -> URL. An archive (.zip, .tar.gz) is unpacked."""
    sha256: dict[str, str] = Field(default_factory=dict)
    """File name -> sha256, if one is known."""


class FieldMap(Spec):
    """Which files of others hold a dataset, and what their columns hold."""

    files: list[str] = Field(default_factory=list)
    """Patterns of their paths, e.g. `data/*.json`; none takes all tables."""
    fields: dict[str, str]
    """Our name -> their column, or the path into a nested one such as `a.b[0]`."""


class PairColumns(Spec):
    """One of several pairs in a row: what differs from the rest of the card."""

    fields: dict[str, str] = Field(default_factory=dict)
    values: dict[str, str] = Field(default_factory=dict)


class PairMap(FieldMap):
    """How rows of others become pairs of a text and its degraded copy.

    Our names are `source`, `output`, `perturbed` and, if known, `id`, `kind`, `degree`, `level`, `control`
    and `better` (which of output and perturbed is the better one); any other is a field of the example.
    """

    values: dict[str, str] = Field(default_factory=dict)
    """Our name -> what it is in every row."""
    each: list[PairColumns] = Field(default_factory=list)
    """The pairs of a row, if there are several."""
    where: dict[str, list[str]] = Field(default_factory=dict)
    """Their column -> values; rows with others are no part of the set."""
    kind_pattern: str | None = None
    """Regular expression whose first group is the kind within the column of kinds."""
    levels: dict[Name, list[str]] = Field(default_factory=dict)
    """Level (or `control`) -> patterns of kinds, e.g. `punctuation*`; the first that fits counts."""
    control_values: list[str] = Field(default_factory=list)
    """Values of `control` that mark a change that must not lower a score; default: yes, true, 1."""

    @model_validator(mode="after")
    def _pattern_compiles(self) -> "PairMap":
        try:
            # `^(\w+)_v\d+$` finds the kind `typos` in `typos_v2`.
            groups = re.compile(self.kind_pattern or "()").groups  # a pattern with one group stands for none
        except re.error as e:
            raise ValueError(f"kind_pattern: not a regular expression ({e})") from None
        if groups != 1:
            raise ValueError(f"kind_pattern: {groups} groups; must have one, the kind")
        return self


class Card(Spec):
    """A dataset: what it is, whose it is, where to get it, how N examples are chosen from it."""

    dataset: Name
    task: Name
    title: str
    licence: str
    citation: str
    homepage: str
    access: str
    """How a user gets the data, in one sentence."""
    selection: str
    """Condition by which examples qualify, as in the DHP paper."""
    n: int | None = Field(default=None, ge=1)
    """Number of examples of a run; None takes all."""
    min_characters: int | None = Field(default=None, ge=0)
    """Reference texts with more characters qualify; None if a set has no such condition."""
    source_language: str | None = None
    """Code of the language of the sources, if the task names it."""
    output_language: str = "en"
    """Code of the language of the outputs."""
    paper: Figures | None = None
    """Figures of the examples in the DHP paper."""
    differs: str | None = None
    """Why figures of the chosen examples differ from the paper's, as far as is known."""
    mini: str | None = None
    """Description of the bundled examples of this kind, if there are any."""
    download: Download | None = None
    sacrebleu: str | None = None
    """The language pair under which the sacrebleu package fetches it."""
    released: FieldMap | None = None
    """Fields of the set that the authors of the DHP paper released; variants are fields too."""

    pairs: PairMap | None = None
    """Columns of published pairs; such a set brings its degraded texts."""

    @property
    def fetchable(self) -> bool:
        """Whether there is a public address."""
        return self.download is not None or self.sacrebleu is not None


class PerturberUse(Spec):
    """One perturber of a suite with its parameters: either `degrees`, or `params` of its only degree."""

    rules = (exclusive("degrees", "params"),)

    level: Literal[Level, Probe]
    """Level of the changes; for probes `control` or `attack`."""
    method: Literal["rule", "llm"]
    """Way the texts are made."""
    degrees: dict[Name, dict[str, Any]] | None = Field(default=None, min_length=1)
    """Parameters of the perturber for each degree: degree -> parameters."""
    params: dict[str, Any] | None = None
    """Parameters of the only degree."""
    own_choice: list[Name] = Field(default_factory=list)
    """Degrees whose number is not said in the source of the suite: chosen for this project."""
    stand_ins: list[Name] = Field(default_factory=list)
    """Rules that make the texts of method `llm` without a language model: the first that lacks nothing."""

    @model_validator(mode="after")
    def _one_form(self) -> "PerturberUse":
        degrees = self.degrees or {}
        unknown = [degree for degree in self.own_choice if degree not in degrees]
        if unknown:
            allowed = ", ".join(degrees) or "none"
            raise ValueError(f"own_choice: '{unknown[0]}' is not a degree; allowed: {allowed}")
        if self.stand_ins and self.method != "llm":
            raise ValueError("stand_ins: are for method llm")
        return self

    def variants(self, name: str) -> tuple[Variant, ...]:
        """The variants this entry stands for."""
        # The degree None is that of an only variant, which is called as the perturber.
        degrees: dict[str | None, Mapping[str, object]] = {None: self.params or {}}
        if self.degrees:
            degrees = dict(self.degrees.items())
        return Variant.of(name, self.level, self.method, degrees)


ANY_TASK = "any"
"""Task of a suite that fits all tasks."""


class Suite(Spec):
    """The perturbers of one dataset with their parameters."""

    suite: Name
    """Name of the suite."""
    task: Name = ANY_TASK
    """The task of the texts it is for."""
    source: str
    """Source of the parameters."""
    perturbers: dict[Name, PerturberUse]
    """Perturber -> its parameters."""

    @model_validator(mode="after")
    def _no_original(self) -> "Suite":
        if ORIGINAL in self.perturbers:
            raise ValueError(f"'{ORIGINAL}' names the undamaged text; call the perturber otherwise")
        return self

    @property
    def variants(self) -> tuple[Variant, ...]:
        """All variants, in the order of the file."""
        variants: list[Variant] = []
        for name, use in self.perturbers.items():
            variants += use.variants(name)
        return tuple(variants)

    def with_perturbers(self, perturbers: Mapping[str, PerturberUse]) -> "Suite":
        """The suite with these perturbers in place of its own."""
        return self.model_copy(update={"perturbers": dict(perturbers)})


class KindWords(Spec):
    """Words that name kinds of damage."""

    words: str
    """Beginnings of words, or of words in a row, separated by commas."""
    of: str
    """Perturbers."""


class Descriptions(Spec):
    """What perturbers do, for readers."""

    descriptions: dict[Name, str]
    """Perturber -> one sentence."""
    names: dict[Name, str] = Field(default_factory=dict)
    """Perturber -> the damage in a word or two."""
    content: list[Name] = Field(default_factory=list)
    """Perturbers that change what a text says, and not how it is written."""
    reasons: list[KindWords] = Field(default_factory=list)
    """Words by which judges name the damage in their reasons."""
    weighed_as: dict[Name, Name] = Field(default_factory=dict)
    """Perturber of a plug-in -> perturber of the package whose rows it takes in the weights `design`."""


class ReasonWords(Spec):
    """Words by which a judge's reason finds fault; see `dhp.analysis.named_change`."""

    complaints: str
    """Beginnings of words, or of words in a row, separated by commas."""
    denied: str
    """Words behind which a clause denies a fault."""
    common: str
    """Whole words that by themselves quote no place of a text."""


Replacement = Annotated[str, Field(pattern=r"^\S.* -> \S.*$")]
"""`old -> new`: every occurrence of `old` as whole words becomes `new`."""


class Insertion(Spec):
    """A sentence to be inserted."""

    after: int = Field(ge=1)
    """Number of the sentence of the original behind which it goes, from 1."""
    insert: str = Field(min_length=1)


class AuthoredEdits(Spec):
    """Edits of a bundled dataset that people wrote, instead of a language model's answers."""

    dataset: str
    """Name of the bundled dataset, `mini/NAME`."""
    examples: dict[str, dict[Name, list[Replacement] | list[Insertion]]] = Field(min_length=1)
    """Example -> perturber -> edits in order: a variant makes the first `count` of them."""


class Probes(Spec):
    """Changes that make no text worse, to be added to any suite."""

    probes: Name
    source: str
    """Source of the probes."""
    perturbers: dict[Name, PerturberUse]


class Agreement(Spec):
    """How far the experts of a survey agree: Fleiss' kappa, 1 for all the same, 0 for no more than chance."""

    rules = (together("low", "high"),)

    kappa: Annotated[Number, Field(ge=-1, le=1)]
    low: Number | None = None
    """Lower end of the 95 % interval over experts; None if it cannot be estimated."""
    high: Number | None = None

    @model_validator(mode="after")
    def _ordered(self) -> "Agreement":
        if self.low is not None and self.high is not None and not self.low <= self.kappa <= self.high:
            raise ValueError(f"kappa {self.kappa:g} must lie between {self.low:g} and {self.high:g}")
        return self


class Weights(Spec):
    """How much each metric should suffer from each perturber, per task: as weights, or as experts' votes."""

    weights: Name
    version: int
    provenance: str
    """Authors of the weights, and their grounds."""
    # Not strict: a date in quotation marks is one, too.
    date: Annotated[dt.date | None, Field(strict=False, exclude_if=is_absent)] = None
    """Date of the survey, e.g. 2026-05-31."""
    experts: Annotated[int | None, Field(ge=1, exclude_if=is_absent)] = None
    """Number of experts."""
    roles: list[str] = Field(default_factory=list, exclude_if=is_absent)
    """Roles of the experts, in their own words, as far as they stated them."""
    otherwise: Literal["uniform"] | None = None
    """Weights of perturbers without a row; without this key such a perturber is an error."""
    tasks: dict[Name, dict[Name, dict[Name, Share]]] = Field(default_factory=dict)
    """task -> perturber -> metric -> weight; each row sums to 1."""
    votes: dict[Name, dict[Name, dict[Name, Annotated[int, Field(ge=0)]]]] = Field(
        default_factory=dict, exclude_if=is_absent
    )
    """task -> perturber -> metric -> votes; their shares are the weights of rows that `tasks` lacks."""
    agreement: dict[Name, Agreement] = Field(default_factory=dict, exclude_if=is_absent)
    """task -> how far the experts agree."""

    def row(self, task: str | None, perturber: str) -> Mapping[str, float] | None:
        """The weights of a perturber; None without a row."""
        # No task has an empty name, so that without a task there is no row.
        return self.tasks.get(task or "", {}).get(perturber)

    def with_shares(self) -> "Weights":
        """The weights with the shares of the votes as rows of `tasks`."""
        tasks = dict(self.tasks)
        for task, votes in self.votes.items():
            rows = dict(tasks.get(task, {}))
            for perturber, row in votes.items():
                total = sum(row.values())  # at least one, as `_votes_count` holds
                rows[perturber] = {metric: count / total for metric, count in row.items()}
            tasks[task] = rows
        return self.model_copy(update={"tasks": tasks})

    @model_validator(mode="after")
    def _rows_sum_to_one(self) -> "Weights":
        for task, rows in self.tasks.items():
            for perturber, row in rows.items():
                total = sum(row.values())
                if abs(total - 1) > 1e-6:  # room for weights that were rounded to seven digits
                    raise ValueError(f"tasks.{task}.{perturber}: weights must sum to 1, not {total:g}")
        return self

    @model_validator(mode="after")
    def _votes_count(self) -> "Weights":
        for task, rows in self.votes.items():
            for perturber, row in rows.items():
                place = f"votes.{task}.{perturber}"
                total = sum(row.values())
                if perturber in self.tasks.get(task, {}):
                    raise ValueError(f"{place}: is also in tasks; give weights or votes, not both")
                if total == 0:
                    raise ValueError(f"{place}: has no votes; must have at least one")
                # An expert votes for one metric; those without an answer have no vote.
                if self.experts is not None and total > self.experts:
                    raise ValueError(f"{place}: {total} votes of {self.experts} experts; must be one each")
        # How far experts agree follows from their votes, and cannot stand without them.
        lacking = [task for task in self.agreement if task not in self.votes]
        if lacking:
            raise ValueError(f"agreement.{lacking[0]}: has no votes; allowed: {', '.join(self.votes)}")
        return self
