"""Schema of dataset cards."""

import re

from pydantic import Field, model_validator

from dhp.core.specs import Name, Number, Spec


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
    """File name -> sha256, where one is known."""


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

    Our names are `source`, `output`, `perturbed` and, where known, `id`, `kind`, `degree`, `level`, `control`
    and `better` (which of output and perturbed is the better one); any other is a field of the example.
    """

    values: dict[str, str] = Field(default_factory=dict)
    """Our name -> what it is in every row."""
    each: list[PairColumns] = Field(default_factory=list)
    """The pairs of a row, where there are several."""
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
            groups = re.compile(self.kind_pattern or "()").groups
        except re.error as e:
            raise ValueError(f"kind_pattern: not a regular expression ({e})") from None
        if groups != 1:
            raise ValueError(f"kind_pattern: {groups} groups; allowed: one, the kind")
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
    """Reference texts with more characters qualify; None where a set has no such condition."""
    source_language: str | None = None
    """Code of the language of the sources, where the task names it."""
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
