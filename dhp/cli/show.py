"""`dhp list` and `dhp show`: names and details of datasets, protocols, perturbers, judges and weights.

`KINDS` has for each kind a function that lists its names, for `dhp list`. `dhp show` finds the kind of a name
in the same lists (`_find`), and `_SHOW` has for each kind what shows one of it, as parts of a document.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from dhp.cli.command import Command
from dhp.cli.criteria import Criteria
from dhp.cli.options import refuse_surplus, settings
from dhp.cli.output import say
from dhp.cli.protocol_options import CHART, DATASET, SEED, ProtocolChanges
from dhp.core.errors import InputError, one_of
from dhp.core.objects import PREFIX
from dhp.core.plugins import offered
from dhp.core.writing import write_lines
from dhp.llm.clients.servers import SERVERS
from dhp.perturb.settings import Choice
from dhp.report.document import Code, Listing, Part

if TYPE_CHECKING:
    from dhp.core.records import Candidate, Variant
    from dhp.core.specs import Card, Metric, Task, Weights


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


def _dataset(asked: ShowRequest) -> Iterator[Part]:
    """The figures of the chosen examples beside the paper's, and the kinds of published pairs."""
    from dhp.content.catalog import mini_names, names_of, read_card
    from dhp.loaders.dataset import measure
    from dhp.loaders.fetch import is_prepared, unprepared
    from dhp.loaders.resolve import check_minimum, published

    name, choice = asked.name, asked.choice
    base = name.removeprefix("mini/")
    if name in mini_names():  # bundled texts without a published set behind them
        whole = published(name)
        yield f"{name}: bundled, task {whole.task.task}, n = {len(whole.examples)}, suite {whole.suite_name}"
        yield from ("  what: written for this project", "  licence: CC0-1.0", "  cite: this project")
        return
    card = read_card(base)
    source = None if choice.data is None else Path(choice.data)
    if source is not None and base != name:
        raise InputError(f"--data: {name} is bundled; allowed with one of {', '.join(names_of('dataset'))}")
    check_minimum(choice.min_characters, source)
    if source is None and base == name and not is_prepared(card):
        yield f"{name}: {card.title}, task {card.task}"
        if card.paper:
            yield from _figures({"paper": card.paper})
        yield from _about(card)
        yield f"  {unprepared(card)}"
        return
    whole = published(name, source, choice.min_characters)
    is_bundled = base != name
    count = len(whole.examples)
    if card.n and not is_bundled:
        # As many as the benchmark takes, if there are so many.
        count = min(card.n, count)
    chosen = whole.chosen(count if choice.n is None else choice.n, asked.seed)
    title = f"bundled examples of the kind of {card.title}" if is_bundled else card.title
    yield f"{name}: {title}, task {card.task}, n = {len(chosen.examples)}"
    figures = {"here": measure(chosen.examples)}
    if card.paper and not is_bundled:
        figures["paper"] = card.paper
    yield from _figures(figures)
    pairs = Counter(text.variant for text in chosen.pairs)
    for variant in chosen.pair_variants:
        yield f"  {variant.level:24} {variant.name:40} {pairs[variant.name]:6} pairs"
    if not is_bundled:
        yield from _about(card)
        return
    yield f"  what: {card.mini}, written for this project"
    yield "  perturbations: rules, and edits authored for this project"
    yield "  licence: Apache-2.0"
    yield "  cite: this project; they are no part of the published set"


def _figures(columns: Mapping[str, object]) -> Iterator[str]:
    """Means of the reference texts, a column for each place that they are from."""
    heading = f"  {'mean per reference text':24}"
    for name in columns:
        heading += f" {name:>8}"
    yield heading
    for figure in ("characters", "words", "sentences"):
        row = f"  {figure:24}"
        for means in columns.values():
            row += f" {getattr(means, figure):8.1f}"
        yield row


def _about(card: "Card") -> Iterator[str]:
    if card.differs and card.paper:
        yield f"  differs: {card.differs}"
    yield from (f"  selection: {card.selection}", f"  licence: {card.licence}", f"  cite: {card.citation}")


_APART = ("parts", "published", "ours")
"""Settings that are not shown in the list."""


def _protocol(asked: ShowRequest) -> Iterator[Part]:
    """A protocol and its prompts for one text, or for a text behind its original, of the first dataset."""
    from dhp.judge.factory import request_builder
    from dhp.judge.pairs import ORDERS, OVERALL, Pair

    # The text: by default the first original.
    protocol = asked.changes.changed(asked.name)
    metrics = asked.criteria.chosen(prompted=bool(asked.changes.prompt))
    task, texts = _candidates(asked, metrics)
    example = texts[0].example if asked.example is None else asked.example
    by_example: dict[str, dict[str, Candidate]] = {}  # then by variant, of which the original is the first
    for text in texts:
        by_example.setdefault(text.example, {})[text.variant] = text
    one_of("example", example, by_example, "--example")
    variants = by_example[example]
    one_of("variant", asked.variant, variants, "--variant")
    shown = variants[asked.variant]

    # What the protocol says.
    for key, value in protocol.settings(*_APART).items():
        yield f"# {key}: {value}"
    for key, source in (("the paper's", protocol.published), ("ours", protocol.ours)):
        if source:
            yield f"# {key}: {source}"
    if protocol.changed:
        yield f"# changed by options: {', '.join(sorted(protocol.changed))}"

    # What is asked about the text.
    builder = request_builder(protocol, prompt_files=asked.changes.prompt)
    if protocol.pairwise:
        names = [metric if isinstance(metric, str) else metric.name for metric in metrics]
        original, *_ = variants.values()
        both = list(builder.pair_requests([Pair(original, shown)], task, names or (OVERALL,)))
        requests = both[:: len(ORDERS)]  # one order of each: the other asks the same
    else:
        requests = list(builder.requests([shown], task))
    if protocol.steps == "auto":
        requests = [*builder.steps_requests(task), *requests]
        yield "# the written steps below are replaced by those that the model writes"
    for request in requests:
        yield from ("", f"# ---- {request.place}, samples {', '.join(map(str, request.samples))}")
        yield from _unwrapped(request.text)


def _unwrapped(prompt: str) -> Iterator[Code]:
    """The lines of a prompt as they are sent, whatever the width of the terminal."""
    return map(Code, prompt.splitlines())


def _candidates(asked: ShowRequest, metrics: "Sequence[str | Metric]") -> "tuple[Task, Sequence[Candidate]]":
    """The task and the texts of a dataset; no text is degraded if only originals are asked for."""
    from dhp.content.catalog import with_metrics
    from dhp.core.records import ORIGINAL
    from dhp.perturb.builder import found_datasets, with_own_task
    from dhp.perturb.perturbed_dataset import original_of

    perturbed = asked.choice.perturbed
    # A set of degraded texts says itself whose texts these are.
    first = asked.dataset[:1] or (None if perturbed else ("mini/summeval",))
    choice = with_own_task(first, asked.choice, metrics)
    if asked.variant == ORIGINAL and not perturbed:
        datasets, _ = found_datasets(first, choice, asked.seed)
        task = with_metrics(datasets[0].task, metrics)
        return task, [original_of(example, task) for example in datasets[0].examples]
    from dhp.llm.settings import ModelSettings
    from dhp.perturb.builder import build_texts

    settings = ModelSettings()
    # Dry, so that no language model is asked for a damaged text.
    part, *_ = build_texts(first, choice, asked.seed, settings, settings.context(), dry=True)
    part = part.judged_by(metrics)
    return part.dataset.task, part.candidates()


Row = tuple[str, ...]
"""A name, and what is said of it."""

JUDGES: Mapping[str, str] = {
    "openai/NAME": "a model of OpenAI, Azure or any compatible server (--base-url)",
    **{f"{name}/NAME": f"a model at {at.url or at.address_variable}" for name, at in SERVERS.items()},
    "python:MODULE:OBJECT": "a judge that you already use: a function or a scorer; or python:FILE.py:OBJECT",
    "recorded/FILE": "ratings that a judge has made already: a table, or a store of replies; no calls",
    "baseline/surface": "reads the surface of a text: spelling, names and numbers, order, coverage",
    "baseline/constant": "gives every text the same score",
    "baseline/random": "gives random scores",
}
"""Form of a name -> what such a judge is; those of mock judges and plug-ins come from their own lists."""


def judges() -> list[Row]:
    """The forms of names of judges, and those that need nothing else."""
    from dhp.judge.judges.mock import KINDS as MOCKS

    mocks = [(f"mock/{kind}", "a judge with dials, for tests and simulations") for kind in MOCKS]
    return [*JUDGES.items(), *offered("forms").items(), *mocks]


def judge_form(name: str) -> str | None:
    """What a judge of that name is; None for a name that has not the form of one."""
    # A whole form comes first: forms of one provider, as those of `baseline/`, say different things.
    forms = judges()
    for form, what in forms:
        if form == name:
            return what
    for form, what in forms:
        if _provider(form) == _provider(name):
            return what
    return None


def _provider(name: str) -> str:
    """What stands before the first slash or colon: `openai` of `openai/x`, `python` of `python:a.py:f`."""
    return re.split("[/:]", name)[0]


def datasets() -> list[Row]:
    """The datasets of the benchmark and the published pairs, and which of them are prepared."""
    from dhp.content.catalog import mini_names, names_of, read_card
    from dhp.loaders.fetch import is_prepared

    rows: list[Row] = [("mini/NAME", "", "", "ready", "bundled examples of the kind of each")]
    rows += [(name, "", "examples", "ready", "bundled") for name in mini_names()]
    for name in names_of("dataset"):
        card = read_card(name)
        state = "prepared" if is_prepared(card) else "not prepared"
        rows.append((name, card.task, "pairs" if card.pairs else "examples", state, card.licence))
    return rows


def protocols() -> list[Row]:
    """The protocols; those that compare two texts are for dhp battle, too."""
    from dhp.content.catalog import names_of, read_protocol

    rows: list[Row] = []
    for kind, mark in (("protocol", ""), ("pairwise protocol", "(pairwise) ")):
        for name in names_of(kind):
            description = " ".join(read_protocol(name).description.split())
            rows.append((name, f"{mark}{description}"))
    return rows


def perturbers() -> list[Row]:
    """The perturbers with the damage in words; both names are understood by the results."""
    from dhp.content.catalog import damage_names, descriptions
    from dhp.core.records import LEVELS, PROBES
    from dhp.perturb.registry import builtin_perturbers, installed_perturbers

    levels = (*LEVELS, *PROBES)
    words, sentences = damage_names(), descriptions()
    known = builtin_perturbers()
    rows: list[Row] = []
    # By level; within a level sorting keeps the order of the registry.
    for name in sorted(known, key=lambda name: levels.index(known[name].level)):
        perturber = known[name]
        damage, sentence = words.get(name, name), sentences.get(name, "")
        rows.append((name, damage, perturber.level, perturber.method, sentence))
    for name in sorted(installed_perturbers()):
        rows.append(_installed(name))
    return rows


def _installed(name: str) -> Row:
    """A perturber of another package, or why it cannot be loaded."""
    from dhp.perturb.registry import load_installed

    try:
        perturber = load_installed(name)
    except InputError as e:
        return name, "", "", "", str(e)
    return name, perturber.name, perturber.level, perturber.method, perturber.description


def weights() -> list[Row]:
    """The expert weights and where they come from."""
    from dhp.content.catalog import names_of, read_weights

    rows: list[Row] = []
    for name in names_of("weights"):
        provenance = " ".join(read_weights(name).provenance.split())
        rows.append((name, provenance))
    return rows


KINDS: Mapping[str, Callable[[], Sequence[Row]]] = {
    "datasets": datasets,
    "protocols": protocols,
    "perturbers": perturbers,
    "judges": judges,
    "weights": weights,
}
"""Kind -> what lists its names."""


@click.command("list", cls=Command)
@click.argument("kind", required=False, metavar=f"[{'|'.join(KINDS)}]")
def list_names(kind: str | None) -> None:
    """List datasets, protocols, perturbers, judges and weights.

    Without a KIND only the names are shown. `dhp show NAME` tells more of one.

    Example: dhp list protocols
    """
    if kind is None:
        listed: list[Row] = []
        for each, rows in KINDS.items():
            listed.append((each, ", ".join(row[0] for row in rows())))
        say(Listing(listed), "more: dhp list KIND, dhp show NAME")
        return
    one_of("kind", kind, KINDS)
    say(Listing(KINDS[kind]()))


@click.command(
    cls=Command,
    common="--dataset --example --variant --metric --scale --prompt-file --n --seed --data --chart",
)
@click.argument("name", metavar="NAME|FILE.yaml")
@DATASET
@SEED
@click.option("--example", metavar="ID", help="Example that the prompts are about; default: the first.")
@click.option("--variant", default="original", metavar="NAME", help="original, or e.g. random_typos.minor.")
@CHART
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
    shown, allowed = _SHOW[kind]
    if allowed is not None:
        refuse_surplus(kind, allowed)
    say(*shown(ShowRequest(name, dataset, seed, example, variant, chart, choice, criteria, changes)))


def _find(name: str) -> tuple[str, str]:
    """A name, or a file, and its kind; raises `InputError` with the near name for an unknown one.

    Damage may be named in words, e.g. missing letters.
    """
    if Path(name).suffix in (".yaml", ".yml"):
        from dhp.content.yaml_files import load_yaml

        content = load_yaml(Path(name))
        return name, "weights" if isinstance(content, dict) and "weights" in content else "protocols"
    if judge_form(name):
        return name, "judges"
    from dhp.content.catalog import DATASETS, damage_names

    # `dhp list` has one row, `mini/NAME`, for all of these.
    known = {f"mini/{dataset}": "datasets" for dataset in DATASETS}
    for kind, rows in KINDS.items():
        if kind == "judges":  # known by their forms
            continue
        for row in rows():
            if "NAME" not in row[0]:  # `mini/NAME` stands for several
                known[row[0]] = kind
    words = {word: perturber for perturber, word in damage_names().items() if perturber in known}
    name = words.get(name, name)
    if name not in known:
        # `mini` begins the names of all bundled sets.
        several = [each for each in known if each.startswith(f"{name}/")]
        if several:
            raise InputError(f"'{name}': stands for several; show one of {', '.join(several)}")
        if Path(name).is_file():
            raise InputError(
                f"'{name}': is a file; dhp perturb --dataset {name} --out texts.jsonl shows what is done "
                "to its texts"
            )
        near = get_close_matches(name, [*known, *words], n=1)
        hint = f"did you mean '{near[0]}'? " if near else ""
        raise InputError(f"'{name}': unknown name; {hint}dhp list shows all names")
    return name, known[name]


def _perturber(asked: ShowRequest) -> Iterable[Part]:
    from dhp.content.catalog import damage_names, descriptions, names_of, read_suite
    from dhp.perturb.registry import builtin_perturbers, installed_perturbers, load_installed

    perturber = builtin_perturbers().get(asked.name) or load_installed(asked.name)
    sentence = descriptions().get(asked.name, perturber.description)
    yield f"{asked.name} ({damage_names().get(asked.name, perturber.name)}): {sentence}"
    if asked.name in installed_perturbers():
        yield f"  installed: {installed_perturbers()[asked.name].value}, --perturber {asked.name}"
        yield f"  degrees: {_variants(perturber.variants)}"
    elif perturber.description:
        yield f"  how: {perturber.description}"
    known = perturber.languages
    languages = known if isinstance(known, str) else ", ".join(known)
    yield from (f"  level: {perturber.level}", f"  method: {perturber.method}", f"  languages: {languages}")
    for suite in names_of("suite"):
        use = read_suite(suite).perturbers.get(asked.name)
        if use:
            yield f"  suite {suite}: {_variants(use.variants(asked.name))}"


def _variants(variants: "Iterable[Variant]") -> str:
    """Degrees or doses of a perturber with their parameters."""
    return "; ".join(f"{variant.name} {dict(variant.params)}" for variant in variants)


def _judge(asked: ShowRequest) -> Iterable[Part]:
    from dhp.judge.factory import find_judge
    from dhp.judge.judges.mock import MockJudge
    from dhp.llm.api import providers

    yield f"{asked.name}: {judge_form(asked.name)}"
    # A function would have to be imported, and a model needs a server.
    opened = (PREFIX, *[f"{provider}/" for provider in providers()])
    judge = None if asked.name.startswith(opened) else find_judge(asked.name)
    if isinstance(judge, MockJudge):
        dials = [f"{dial} {value}" for dial, value in asdict(judge.dials).items()]
        yield f"  dials: {', '.join(dials)}"


def _weights(asked: ShowRequest) -> Iterable[Part]:
    from dhp.content.catalog import read_weights

    return weights_shown(read_weights(asked.name), asked.chart)


_SHOW: Mapping[str, tuple[Callable[[ShowRequest], Iterable[Part]], tuple[str, ...] | None]] = {
    "datasets": (_dataset, ("--n", "--seed", "--data", "--min-characters")),
    "protocols": (_protocol, None),
    "perturbers": (_perturber, ()),
    "judges": (_judge, ()),
    "weights": (_weights, ("--chart",)),
}
"""Kind -> what shows one of it, and the options that it takes, if these are not all."""


def weights_shown(read: "Weights", chart: str | None) -> list[Part]:
    """The matrix of each task, perturbers x metrics, and where it comes from; also drawn as a chart."""
    from dhp.report.weights import about, weights_page, weights_table

    if chart is not None:
        write_lines(Path(chart), [weights_page(read)])
    parts: list[Part] = []
    for task, rows in read.tasks.items():
        parts += [weights_table(task, rows), ""]
    return [*parts, *about(read)]
