"""`dhp list`: names of datasets, protocols, perturbers, judges and weights."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

import click

from dhp.cli.options import Command
from dhp.cli.output import print_line
from dhp.core.errors import InputError, suggest

Row = tuple[str, ...]
"""A name, and what is said of it."""

JUDGES: Mapping[str, str] = {
    "openai/NAME": "a model of OpenAI, Azure or any compatible server (--base-url)",
    "litellm/PROVIDER/NAME": "a model of any provider that litellm knows",
    "hf/ORG/NAME": "a model of the Hugging Face Hub, or a folder hf/PATH, in this process",
    "vllm/ORG/NAME": "the same, by vLLM",
    "python:MODULE:OBJECT": "a judge that you already use: a function or a scorer; or python:FILE.py:OBJECT",
    "column/NAME": "scores in a column of your table",
    "replay/FILE": "recorded answers; nothing is asked",
    "baseline/surface": "reads the surface of a text: spelling, names and numbers, order, coverage",
    "baseline/constant": "gives every text the same score",
    "baseline/random": "gives random scores",
}
"""Form of a name -> what such a judge is; metrics and mock judges come from their own lists."""


def judges() -> list[Row]:
    """The forms of names of judges, and those that need nothing else."""
    from dhp.judge.judges.mock import KINDS as MOCKS
    from dhp.judge.metrics.judge import NAMES

    metrics = [(f"metric/{name}", "a classical metric") for name in NAMES]
    mocks = [(f"mock/{kind}", "a judge with dials, for tests and simulations") for kind in MOCKS]
    return [*JUDGES.items(), *metrics, *mocks]


def judge_form(name: str) -> str | None:
    """What a judge of that name is; None for a name that has not the form of one."""
    known = {row[0]: row[1] for row in judges()}
    providers = {_provider(form): said for form, said in reversed(known.items())}
    return known.get(name) or providers.get(_provider(name))


def _provider(name: str) -> str:
    return re.split("[/:]", name)[0]


def datasets() -> list[Row]:
    """The datasets of the benchmark and the published pairs, and which of them are prepared."""
    from dhp.content.catalog import dataset_names, read_card
    from dhp.loaders.fetch.prepared import is_prepared

    rows: list[Row] = [("mini/NAME", "", "", "ready", "bundled examples of the kind of each")]
    for name in dataset_names():
        card = read_card(name)
        state = "prepared" if is_prepared(card) else "not prepared"
        rows.append((name, card.task, "pairs" if card.pairs else "examples", state, card.licence))
    return rows


def protocols() -> list[Row]:
    """The protocols; those that compare two texts are for dhp battle, too."""
    from dhp.content.protocols import pairwise_names, protocol_names, read_pairwise, read_protocol

    pointwise = [(name, " ".join(read_protocol(name).description.split())) for name in protocol_names()]
    pairwise = [
        (name, f"(pairwise) {' '.join(read_pairwise(name).description.split())}") for name in pairwise_names()
    ]
    return [*pointwise, *pairwise]


def perturbers() -> list[Row]:
    """The perturbers with the damage in words; both names are understood by the results."""
    from dhp.content.catalog import damage_names, descriptions
    from dhp.core.records import LEVELS, PROBES
    from dhp.perturb.registry import builtin_perturbers

    levels = (*LEVELS, *PROBES)
    words, said = damage_names(), descriptions()
    return [
        (name, words.get(name, name), found.level, found.method, said.get(name, ""))
        for name, found in sorted(builtin_perturbers().items(), key=lambda each: levels.index(each[1].level))
    ]


def weights() -> list[Row]:
    """The expert weights and where they come from."""
    from dhp.content.catalog import read_weights, weights_names

    return [(name, " ".join(read_weights(name).provenance.split())) for name in weights_names()]


KINDS: Mapping[str, Callable[[], Sequence[Row]]] = {
    "datasets": datasets,
    "protocols": protocols,
    "perturbers": perturbers,
    "judges": judges,
    "weights": weights,
}


@click.command("list", cls=Command)
@click.argument("kind", required=False, metavar=f"[{'|'.join(KINDS)}]")
def list_names(kind: str | None) -> None:
    """List datasets, protocols, perturbers, judges and weights.

    Without a KIND only the names are shown. `dhp show NAME` tells more of one.

    Example: dhp list protocols
    """
    if kind is None:
        for name, rows in KINDS.items():
            print_line(f"{name:12}{', '.join(row[0] for row in rows())}", 12)
        print("more: dhp list KIND, dhp show NAME")
        return
    if kind not in KINDS:
        raise InputError(f"kind '{kind}': unknown; {suggest(kind, KINDS)}")
    _print(KINDS[kind]())


def _print(rows: Iterable[Row]) -> None:
    """Print rows as columns; the last one is wrapped on a terminal."""
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)][:-1]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        print_line("  ".join([*cells, row[-1]]).rstrip(), sum(widths) + 2 * len(widths))
