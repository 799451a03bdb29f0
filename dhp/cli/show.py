"""`dhp show`: show one dataset, protocol, perturber, judge or weights file."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

import click

from dhp.cli.listing import KINDS, judge_form
from dhp.cli.options import Command, settings, stated
from dhp.cli.output import print_line
from dhp.cli.protocol_options import OWN, Criteria, ProtocolChanges
from dhp.cli.text_options import DATASET, SEED
from dhp.core.errors import InputError
from dhp.perturb.settings import Choice


class ShowRequest(NamedTuple):
    """What the user wants to see."""

    name: str
    dataset: tuple[str, ...]
    seed: int
    example: str | None
    variant: str
    chart: str | None
    choice: Choice
    criteria: Criteria
    changes: ProtocolChanges


@click.command(
    cls=Command,
    common="--dataset --example --variant --metric --scale --prompt-file --n --seed --data --chart",
)
@click.argument("name", metavar="NAME|FILE.yaml")
@DATASET
@SEED
@click.option("--example", metavar="ID", help="Example that the prompts are about; default: the first.")
@click.option("--variant", default="original", metavar="NAME", help="original, or e.g. random_typos.minor.")
@click.option("--chart", metavar="FILE.html", help="Also draw weights as a heat map.")
@settings("choice", Choice)
@settings("criteria", Criteria)
@settings("changes", ProtocolChanges)
def show(
    name: str,
    dataset: tuple[str, ...],
    seed: int,
    example: str | None,
    variant: str,
    chart: str | None,
    choice: Choice,
    criteria: Criteria,
    changes: ProtocolChanges,
) -> None:
    """Show one dataset, protocol, perturber, judge or weights file.

    Of a dataset the figures of its examples beside the paper's; of a protocol its settings and the exact
    prompts for one text, by default a news summary; of weights the matrix of each task, perturbers x metrics.

    Example: dhp show dhp --dataset mini/summeval --metric fluency
    """
    name, kind = _find(name)
    if surplus := [option for option in stated() if option not in _OPTIONS.get(kind, stated())]:
        allowed = ", ".join(_OPTIONS[kind]) or "no option"
        raise InputError(f"{surplus[0]}: is not for {kind}; allowed: {allowed}")
    _SHOW[kind](ShowRequest(name, dataset, seed, example, variant, chart, choice, criteria, changes))


def _find(name: str) -> tuple[str, str]:
    """A name, or a file, and its kind; raises `InputError` with the near name for an unknown one.

    Damage may be named in words, e.g. missing letters.
    """
    if Path(name).suffix in (".yaml", ".yml"):
        from dhp.content.yaml import load_yaml

        found = load_yaml(Path(name))
        return name, "weights" if isinstance(found, dict) and "weights" in found else "protocols"
    if judge_form(name):
        return name, "judges"
    from dhp.content.catalog import DATASETS, damage_names

    known = {f"mini/{dataset}": "datasets" for dataset in DATASETS}
    for kind, rows in KINDS.items():
        known |= {row[0]: kind for row in rows() if "NAME" not in row[0] and kind != "judges"}
    words = {said: perturber for perturber, said in damage_names().items() if perturber in known}
    name = words.get(name, name)
    if name not in known:
        near = "".join(f"did you mean '{each}'? " for each in get_close_matches(name, [*known, *words], n=1))
        raise InputError(f"'{name}': unknown name; {near}dhp list shows all names")
    return name, known[name]


def _show_dataset(asked: ShowRequest) -> None:
    from dhp.cli.show_dataset import show_dataset

    choice = asked.choice
    data = None if choice.data is None else str(choice.data)
    show_dataset(asked.name, n=choice.n, seed=asked.seed, data=data, min_characters=choice.min_characters)


def _show_protocol(asked: ShowRequest) -> None:
    from dhp.cli.show_protocol import show_protocol

    show_protocol(
        asked.changes.changed(asked.name),
        asked.dataset,
        asked.choice,
        asked.criteria.chosen(()),
        asked.changes.prompt_files,
        example=asked.example,
        variant=asked.variant,
        seed=asked.seed,
    )


def _show_perturber(asked: ShowRequest) -> None:
    from dhp.content.catalog import damage_names, descriptions, read_suite, suite_names
    from dhp.perturb.registry import builtin_perturbers

    found = builtin_perturbers()[asked.name]
    print_line(f"{asked.name} ({damage_names().get(asked.name, asked.name)}): {descriptions()[asked.name]}")
    languages = found.languages if isinstance(found.languages, str) else ", ".join(found.languages)
    print(f"  level: {found.level}\n  method: {found.method}\n  languages: {languages}")
    for suite in suite_names():
        if use := read_suite(suite).perturbers.get(asked.name):
            said = (f"{v.name} {dict(v.params)}" for v in use.variants(asked.name))
            print_line(f"  suite {suite}: {'; '.join(said)}")


def _show_judge(asked: ShowRequest) -> None:
    from dhp.judge.factory import find_judge
    from dhp.judge.judges.mock import MockJudge
    from dhp.llm.api import providers

    computed = not asked.name.startswith((OWN, *(f"{provider}/" for provider in providers())))
    judge = find_judge(asked.name) if computed else None
    print_line(f"{asked.name}: {judge_form(asked.name)}")
    if isinstance(judge, MockJudge):
        print_line(f"  dials: {', '.join(f'{dial} {value}' for dial, value in asdict(judge.dials).items())}")


def _show_weights(asked: ShowRequest) -> None:
    from dhp.cli.weights_output import print_weights
    from dhp.content.catalog import read_weights

    print_weights(read_weights(asked.name), asked.chart)


_SHOW: Mapping[str, Callable[[ShowRequest], None]] = {
    "datasets": _show_dataset,
    "protocols": _show_protocol,
    "perturbers": _show_perturber,
    "judges": _show_judge,
    "weights": _show_weights,
}
_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "datasets": ("--n", "--seed", "--data", "--min-characters"),
    "perturbers": (),
    "judges": (),
    "weights": ("--chart",),
}
"""Kind -> the options that it takes, where these are not all."""
