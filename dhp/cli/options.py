"""Options that several subcommands share."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated

import typer

from dhp.errors import InputError, near

if TYPE_CHECKING:
    from dhp.pipeline import Choice

_OUR_FIELDS = ("id", "source", "output", "question", "wrong_ending", "perturbed", "kind", "level")

Models = Annotated[
    list[str],
    typer.Option("--model", metavar="MODEL", help="provider/name, e.g. baseline/surface; may be repeated."),
]
Datasets = Annotated[
    list[str],
    typer.Option(
        "--dataset",
        metavar="NAME|FILE",
        help="mini, mini/NAME, NAME, all, FILE.jsonl|.csv|.parquet or hf:ORG/NAME; may be repeated.",
    ),
]
Data = Annotated[
    str | None,
    typer.Option("--data", metavar="PATH", help="Where the dataset NAME lies as its owners publish it."),
]
TaskName = Annotated[
    str | None, typer.Option("--task", metavar="TASK", help="What the texts of your own file are.")
]
Fields = Annotated[
    list[str],
    typer.Option("--field", metavar="OURS=THEIRS", help="Column of your own file, e.g. output=summary."),
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
Perturbers = Annotated[
    list[str],
    typer.Option("--perturber", metavar="MODULE:FUNCTION", help="A perturber of your own; may be repeated."),
]
WeightsName = Annotated[
    str | None,
    typer.Option(
        "--weights", metavar="NAME|FILE.yaml", help="Expert weights; default: design where it fits."
    ),
]
StatisticsName = Annotated[
    str, typer.Option("--statistics", metavar="default|paper", help="Exact tests, or the paper's own.")
]
CombinationName = Annotated[
    str | None,
    typer.Option(
        "--combination", metavar="NAME", help="hmp, printed or hmp-asymptotic; default: the preset's."
    ),
]
Only = Annotated[
    str, typer.Option("--only", metavar="rule", help="Which perturbers: those by rule need no model.")
]


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


def choice(
    data: str | None,
    task: str | None,
    field: Sequence[str],
    n: int | None,
    suite: str | None,
    perturber: Sequence[str],
) -> "Choice":
    """What the options say of the texts, for `dhp.run` and `dhp.perturb_datasets`."""
    from dhp.perturb import load_perturber

    return {
        "data": data,
        "task": task,
        "fields": field_map(field),
        "n": n,
        "suite": suite,
        "perturbers": [load_perturber(reference) for reference in perturber],
    }


def check_only(only: str) -> None:
    """`rule` is what there is so far."""
    if only != "rule":
        raise InputError(f"--only '{only}': no perturber by language model exists yet; allowed: rule")
