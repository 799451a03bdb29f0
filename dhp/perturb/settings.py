"""Settings of the texts of a run and of their perturbations.

`Choice` declares them once: its fields are options of the command line and keywords in Python. The functions
before it read what the command line has as text, e.g. `output=summary`, and check what no type says.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from dhp.core.checks import Checked, exclusive
from dhp.core.errors import one_of, suggest
from dhp.core.options import option, pairs_like

if TYPE_CHECKING:
    from dhp.core.specs import Task
    from dhp.perturb.api import Perturber
    from dhp.perturb.doses import Doses
    from dhp.perturb.perturbed_dataset import PerturbedDataset

STEPS = ("written", "auto")
"""The first one is the default; a file of steps is allowed, too."""
_FIELDS = (
    "id source output question wrong_ending perturbed kind degree level control better reference language "
    "source_language"
).split()
"""Fields that we know; others of a user's data may have any name."""
_NEAR = 0.75
"""Likeness (0 to 1, of difflib) from which an unknown field is a misspelt one of ours: chosen. `ouput` is one
of them, `topic` is not."""


def _known_names(settings: "PerturbModel") -> None:
    """Refuse an unknown provider, and steps that are neither known nor a file."""
    from dhp.llm.api import providers

    one_of("provider", settings.model.partition("/")[0], providers(), f"perturb model '{settings.model}'")
    if not settings.steps_file:
        one_of("steps", settings.steps, STEPS, "`perturb_model.steps`")


@dataclass(frozen=True, slots=True)
class PerturbModel(Checked):
    """The language model that degrades texts, and how it is asked."""

    rules = (_known_names,)
    parameter = "perturb_model"

    model: str = option(
        "Language model that degrades texts, e.g. openai/NAME.", name="--perturb-model", metavar="MODEL"
    )
    steps: str = option(
        "Steps in the perturbation prompts: written, auto (the model writes them, once), or those of a file.",
        default=STEPS[0],
        name="--perturb-steps",
        metavar="written|auto|FILE.yaml",
    )
    prompts: str | Path | None = option(
        "Folder of prompt files that replace the bundled ones of the same names.",
        default=None,
        name="--perturb-prompts",
        metavar="DIR",
    )
    max_tokens: int | None = option(
        "Maximum number of tokens of one degraded text (not of steps); default: twice those of the text.",
        default=None,
        name="--perturb-tokens",
        metavar="K",
        ge=1,
    )

    @property
    def steps_file(self) -> Path | None:
        """The file of steps, if one is named."""
        return Path(self.steps) if self.steps.endswith((".yaml", ".yml")) else None


def _fields(pairs: Sequence[str]) -> dict[str, str]:
    """`OURS=THEIRS`, ... as our field -> their column."""
    from difflib import get_close_matches

    columns = pairs_like("OURS=THEIRS", "output=summary")(pairs)
    for ours, theirs in columns.items():
        if ours not in _FIELDS and get_close_matches(ours, _FIELDS, n=1, cutoff=_NEAR):
            raise ValueError(f"'{ours}={theirs}': unknown field '{ours}'; {suggest(ours, _FIELDS)}")
    return columns


def _where(conditions: Sequence[str]) -> dict[str, list[str]]:
    """`COLUMN=VALUE`, ... as column -> the values of which a row has to have one."""
    where: dict[str, list[str]] = {}
    for condition in conditions:
        column, equals, value = condition.partition("=")
        if not (column and equals):
            raise ValueError(f"'{condition}': must have the form COLUMN=VALUE, e.g. split=test")
        where.setdefault(column, []).append(value)
    return where


def _perturber(named: "str | Perturber") -> "Perturber":
    """A perturber, looked up if it is named."""
    from dhp.perturb.registry import load_perturber

    return load_perturber(named) if isinstance(named, str) else named


def _doses(entries: Sequence[str]) -> "Doses":
    """`K,K,...` for all perturbers, or `PERTURBER=K,K,...` for those named."""
    named: dict[str, list[int]] = {}
    for entry in entries:
        name, _, amounts = entry.rpartition("=")
        if name in named:
            raise ValueError(f"'{entry}': doses of '{name or 'all perturbers'}' are given twice")
        try:
            named[name] = [int(k) for k in amounts.split(",")]
        except ValueError:
            raise ValueError(f"'{entry}': must have the form K,K,... or PERTURBER=K,K,...") from None
    if "" in named and len(entries) > 1:
        raise ValueError(
            f"'{entries[0]}': give doses for all perturbers once, or for each by PERTURBER=K,K,..."
        )
    return named.get("", named)  # one list for all, else by perturber


@dataclass(frozen=True, kw_only=True)
class Choice(Checked):
    """Which texts, and how they are degraded."""

    rules = (
        *(exclusive(name, "perturbed") for name in ("suite", "perturbers", "perturb_model", "doses")),
        exclusive("perturb_model", "doses"),
        exclusive("perturbers", "doses"),
    )

    data: str | Path | None = option(
        "Path of a published dataset in its original format; default: the prepared copy.",
        default=None,
        metavar="PATH",
    )
    task: "str | Task | None" = option(
        "What the writers of the texts had to do, and the metrics.", default=None, metavar="NAME|FILE.yaml"
    )
    fields: Mapping[str, str] | None = option(
        "Column of your own file, or path into a nested one, e.g. output=summary, output=a.b[0].",
        default=None,
        name="--field",
        metavar="OURS=THEIRS",
        repeatable=True,
        read=_fields,
    )
    where: Mapping[str, str | Sequence[str]] | None = option(
        "Take only rows of your own file with this value, e.g. split=test; may be repeated.",
        default=None,
        metavar="COLUMN=VALUE",
        repeatable=True,
        read=_where,
    )
    strict: bool = option(
        "Refuse your own file if any row cannot be used; otherwise up to a tenth is left out.", default=False
    )
    n: int | None = option(
        "Number of examples, chosen by the seed; default: the card's or all.", default=None, metavar="N", ge=1
    )
    min_characters: int | None = option(
        "Take reference texts of a published set with more characters, joined from segments in WMT22; "
        "default: the card's.",
        default=None,
        metavar="K",
        ge=0,
    )
    suite: str | None = option(
        "Perturbers and their parameters; default: the suite of the dataset, or general.",
        default=None,
        metavar="NAME|FILE.yaml",
    )
    perturbers: "str | Perturber | Iterable[str | Perturber]" = option(
        "A perturber by its name or one of your own, added to the suite unless it names it; may be repeated.",
        default=(),
        name="--perturber",
        metavar="NAME|FILE.py:FUNCTION",
        repeatable=True,
    )
    perturb_model: str | PerturbModel | None = field(default=None, metadata={"record": PerturbModel})
    """Carries out the suite's perturbers of method `llm`; without one the bundled data are degraded by edits
    that people wrote; for other data the suite's stand-ins make these kinds, or they are left out."""
    perturbed: "str | Path | Sequence[PerturbedDataset] | None" = option(
        "Set of degraded texts, frozen by dhp perturb or released by others.",
        default=None,
        metavar="DIR|hf:ORG/NAME",
    )
    text_language: str | None = option(
        "Language of the texts of your own file, e.g. de, if there is no column `language`.",
        default=None,
        metavar="CODE",
    )
    judge_part: Literal["answer", "turn", "run"] | None = option(
        "Part of conversations that is judged: the last answer, the last turn of the assistant, or the "
        "whole run; default: run.",
        default=None,
    )
    controls: bool | None = option(
        "Also rate harmless edits, which must not lower a score; on by default. --controls "
        "also rates each original twice.",
        default=None,
        name="--controls/--no-controls",
    )
    attacks: bool = option("Also rate attacks: changes that must not raise a score.", default=False)
    doses: "Doses | None" = option(
        "Degrade texts in each of these doses, in place of degrees, e.g. 1,2,5,10.",
        default=None,
        metavar="[PERTURBER=]K,K,...",
        repeatable=True,
        read=_doses,
    )

    def __post_init__(self) -> None:
        # One, several, or an iterator, which can be read only once.
        perturbers = self.perturbers
        several = (perturbers,) if isinstance(perturbers, str) or callable(perturbers) else perturbers
        object.__setattr__(self, "perturbers", tuple(map(_perturber, several)))
        super().__post_init__()

    @property
    def own_perturbers(self) -> "tuple[Perturber, ...]":
        """The perturbers as a tuple."""
        return tuple(self.perturbers)  # type: ignore[arg-type]
