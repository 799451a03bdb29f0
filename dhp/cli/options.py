"""Options that several subcommands share, in groups."""

from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field as option
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated

import typer

from dhp.errors import InputError, near

if TYPE_CHECKING:
    from dhp.perturbed import Choice

_OUR_FIELDS = ("id", "source", "output", "question", "wrong_ending", "perturbed", "kind", "level")

ModelNames = Annotated[
    list[str],
    typer.Option("--model", metavar="MODEL", help="provider/name, e.g. baseline/surface; may be repeated."),
]
Count = Annotated[
    int | None, typer.Option("--n", metavar="N", help="Number of examples; default: the card's or all.")
]
Seed = Annotated[int, typer.Option("--seed", help="Seed of every random choice.")]
SuiteName = Annotated[
    str | None,
    typer.Option(
        "--suite", metavar="NAME|FILE.yaml", help="Perturbers and parameters; default: the dataset's."
    ),
]


@dataclass(frozen=True)
class TextOptions:
    """Which texts a command is about."""

    dataset: Annotated[
        list[str],
        typer.Option(
            "--dataset",
            metavar="NAME|FILE",
            help="mini, mini/NAME, NAME, all, FILE.jsonl|.csv|.parquet or hf:ORG/NAME; may be repeated.",
        ),
    ] = option(default_factory=lambda: ["mini"])
    data: Annotated[
        str | None,
        typer.Option("--data", metavar="PATH", help="Where the dataset NAME lies as its owners publish it."),
    ] = None
    task: Annotated[
        str | None, typer.Option("--task", metavar="TASK", help="What the texts of your own file are.")
    ] = None
    field: Annotated[
        list[str],
        typer.Option("--field", metavar="OURS=THEIRS", help="Column of your own file, e.g. output=summary."),
    ] = option(default_factory=list)
    suite: SuiteName = None
    perturber: Annotated[
        list[str],
        typer.Option(
            "--perturber", metavar="MODULE:FUNCTION", help="A perturber of your own; may be repeated."
        ),
    ] = option(default_factory=list)
    only: Annotated[
        str, typer.Option("--only", metavar="rule", help="Which perturbers: those by rule need no model.")
    ] = "rule"
    n: Count = None
    seed: Seed = 0

    def choice(self) -> "Choice":
        """For `dhp.run` and `dhp.perturb_datasets`."""
        if self.only != "rule":
            raise InputError(
                f"--only '{self.only}': no perturber by language model exists yet; allowed: rule"
            )
        from dhp.perturb import load_perturber

        return {
            "data": self.data,
            "task": self.task,
            "fields": field_map(self.field),
            "n": self.n,
            "suite": self.suite,
            "perturbers": [load_perturber(reference) for reference in self.perturber],
        }


@dataclass(frozen=True)
class StatisticsOptions:
    """How ratings are analysed."""

    weights: Annotated[
        str | None,
        typer.Option(
            "--weights", metavar="NAME|FILE.yaml", help="Expert weights; default: design where it fits."
        ),
    ] = None
    statistics: Annotated[
        str,
        typer.Option("--statistics", metavar="default|paper", help="Exact tests, or the paper's own."),
    ] = "default"
    combination: Annotated[
        str | None,
        typer.Option(
            "--combination", metavar="NAME", help="hmp, printed or hmp-asymptotic; default: the preset's."
        ),
    ] = None


def field_map(pairs: Sequence[str]) -> dict[str, str]:
    """`OURS=THEIRS` pairs as a mapping."""
    fields: dict[str, str] = {}
    for pair in pairs:
        ours, equals, theirs = pair.partition("=")
        if not (ours and equals and theirs):
            raise InputError(f"--field '{pair}': must have the form OURS=THEIRS, e.g. output=summary")
        if ours not in _OUR_FIELDS and get_close_matches(ours, _OUR_FIELDS, n=1, cutoff=0.75):
            raise InputError(f"--field '{pair}': unknown field '{ours}'; {near(ours, _OUR_FIELDS)}")
        if fields.setdefault(ours, theirs) != theirs:
            raise InputError(f"--field '{pair}': '{ours}' is mapped twice; map it once")
    return fields
