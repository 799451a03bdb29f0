"""Schema of suites: perturbers with parameters, controls, authored edits."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from dhp.core.records import ORIGINAL, Level, Probe, Variant
from dhp.core.specs import Name, Spec


class PerturberUse(Spec):
    """One perturber of a suite with its parameters: either `degrees`, or `params` of its only degree."""

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

    @model_validator(mode="after")
    def _one_form(self) -> "PerturberUse":
        if unknown := [degree for degree in self.own_choice if degree not in (self.degrees or {})]:
            allowed = ", ".join(self.degrees or {}) or "none"
            raise ValueError(f"own_choice: '{unknown[0]}' is not a degree; allowed: {allowed}")
        if self.degrees is not None and self.params is not None:
            raise ValueError("give degrees or params, not both")
        return self

    def variants(self, name: str) -> tuple[Variant, ...]:
        """The variants this entry stands for."""
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
    perturbers: dict[Name, PerturberUse] = Field(min_length=1)
    """Perturber -> its parameters."""

    @model_validator(mode="after")
    def _no_original(self) -> "Suite":
        if ORIGINAL in self.perturbers:
            raise ValueError(f"'{ORIGINAL}' names the undamaged text; call the perturber otherwise")
        return self

    @property
    def variants(self) -> tuple[Variant, ...]:
        """All variants, in the order of the file."""
        return tuple(v for name, use in self.perturbers.items() for v in use.variants(name))

    def with_perturbers(self, perturbers: Mapping[str, PerturberUse]) -> "Suite":
        """The suite with these perturbers in place of its own."""
        return self.model_copy(update={"perturbers": dict(perturbers)})


class Descriptions(Spec):
    """What perturbers do, for readers."""

    descriptions: dict[Name, str]
    """Perturber -> one sentence."""
    names: dict[Name, str] = Field(default_factory=dict)
    """Perturber -> the damage in a word or two."""


Replacement = Annotated[str, Field(pattern=r"^\S.* -> \S.*$")]
"""`old -> new`: every occurrence of `old` as whole words becomes `new`."""


class Insertion(Spec):
    """A sentence to be inserted."""

    after: int = Field(ge=1)
    """Number of the sentence of the original behind which it goes, from 1."""
    insert: str = Field(min_length=1)


class AuthoredEdits(Spec):
    """Edits of a bundled dataset that people wrote, in the place of a language model's answers."""

    dataset: str
    """Name of the bundled dataset, `mini/NAME`."""
    examples: dict[str, dict[Name, list[Replacement] | list[Insertion]]] = Field(min_length=1)
    """Example -> perturber -> edits in order: a variant makes the first `count` of them."""


class Probes(Spec):
    """Changes that make no text worse, to be added to any suite."""

    probes: Name
    source: str
    """Source of the probes."""
    perturbers: dict[Name, PerturberUse] = Field(min_length=1)
