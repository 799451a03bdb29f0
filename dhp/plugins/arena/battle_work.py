"""Running, printing and writing battles, for `dhp battle` and `dhp evaluate`."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from dhp.cli.estimates import print_estimates
from dhp.cli.output import output_console
from dhp.content.catalog import read_task
from dhp.core.errors import InputError, Waiting, suggest
from dhp.core.files import write_lines
from dhp.core.protocol_spec import Protocol
from dhp.core.records import Candidate
from dhp.core.specs import Task
from dhp.core.terminal_progress import progress_shown
from dhp.core.text import printable
from dhp.judge.factory import find_pairwise_judge
from dhp.judge.pairs import OVERALL, Pair, PairwiseJudge
from dhp.judge.prompt_files import PairPromptFile
from dhp.llm.cached_model import RequestContext
from dhp.llm.estimate import estimate_requests
from dhp.llm.settings import ModelSettings
from dhp.loaders.answers import Answer, check_match, read_answers
from dhp.loaders.evaluation import read_battle_prompt
from dhp.plugins.arena.battle import Battle, make_pairs, run_battle
from dhp.plugins.arena.pair_figures import PairFigures, Share
from dhp.plugins.arena.pair_options import Contest
from dhp.report.labels import between, figure
from dhp.report.tables import plain_table

_FIGURES = ("won", "lost", "tied", "invalid", "win rate", "without ties", "p", "flips")

Systems = Mapping[str, Sequence[Answer]]
"""System -> its answers, one per question, in the same order."""


def read_systems(entries: Sequence[str]) -> Systems:
    """Answer files, `NAME=FILE` or files whose names are those of the systems; their ids must agree."""
    files: dict[str, str] = {}
    for each in entries:
        name, equals, path = each.partition("=")
        if not equals or Path(each).exists():
            name, path = Path(each).stem, each
        if name in files:
            raise InputError(f"system '{name}': is given twice ({files[name]}, {path}); allowed: NAME=FILE")
        files[name] = path
    found = {name: read_answers(Path(path)) for name, path in files.items()}
    distinct = len(set(files.values())) == len(files)
    check_match({files[name]: answers for name, answers in found.items()} if distinct else found)
    order = {answer.id: index for index, answer in enumerate(next(iter(found.values())))}
    return {name: sorted(answers, key=lambda a: order[a.id]) for name, answers in found.items()}


def output_folder(given: str | None, own: str) -> Path | None:
    """The folder of `--out`: new, empty, or one that holds the file `own` of an earlier run."""
    if given is None:
        return None
    path = Path(given)
    if path.exists() and not path.is_dir():
        raise InputError(f"--out {path}: is a file; allowed: a new or empty folder, or one of an earlier run")
    if path.exists() and any(path.iterdir()) and not (path / own).exists():
        raise InputError(f"--out {path}: holds other files and no {own}; allowed: a new or empty folder")
    return path


def fought(
    systems: Systems,
    model: str,
    contest: Contest,
    protocol: Protocol,
    settings: ModelSettings,
    *,
    dry_run: bool = False,
    context: RequestContext | None = None,
) -> Battle | None:
    """The battle of these systems.

    None in a dry run, which prints what it would take, and where verdicts wait for a batch of `context`.
    """
    task, own_context = read_task(contest.task), context is None
    context = context or settings.context()
    for name in contest.metrics:
        if name not in task.metric_names:
            raise InputError(f"--metric '{name}': unknown; {suggest(name, task.metric_names)}")
    by = contest.metrics or (OVERALL,)
    judge = find_pairwise_judge(
        model,
        protocol,
        settings,
        context,
        prompt_file=_battle_prompt(contest, protocol),
        seed=contest.seed,
    )
    texts = {
        name: [Candidate(a.id, name, a.output, a.question) for a in answers]
        for name, answers in systems.items()
    }
    categories = {a.id: a.category for answers in systems.values() for a in answers}
    if dry_run:
        _print_estimate(judge, make_pairs(texts, categories), task, by)
        if protocol.final and judge.cached_model:
            print("plus final verdicts on contradicting pairs: at most as many calls again")
        return None
    found = None
    with suppress(Waiting), progress_shown("verdicts") as show:
        found = run_battle(judge, texts, categories, task, by, seed=contest.seed, progress=show)
    if own_context and context.batch:
        context.batch.finish()
    return found


def _battle_prompt(contest: Contest, protocol: Protocol) -> PairPromptFile | None:
    if contest.battle_prompts is None:
        return None
    if protocol.final or contest.metrics or protocol.answer != "two-scores":
        raise InputError(
            "--battle-prompts: asks for two scores as a whole; allowed: --protocol battle without --metric"
        )
    return PairPromptFile(*read_battle_prompt(Path(contest.battle_prompts)))


def _print_estimate(judge: PairwiseJudge, pairs: Sequence[Pair], task: Task, by: Sequence[str]) -> None:
    found = []
    if judge.cached_model:
        names = " against ".join(dict.fromkeys(c.variant for p in pairs for c in (p.first, p.second)))
        requests = judge.pair_requests(pairs, task, by)
        found = [estimate_requests(judge.cached_model, judge.protocol, names, requests, "verdicts")]
    print_estimates(found, output_console())


def write_battle(battle: Battle, folder: Path) -> None:
    """Write `battle.json`, `verdicts.jsonl` and `report.html`, each whole or not at all."""
    from dhp.plugins.arena.battle_page import battle_page

    files = {
        "verdicts.jsonl": "".join(
            json.dumps(row, ensure_ascii=False) + "\n" for row in battle.verdict_lines()
        ),
        "report.html": battle_page(battle),
        "battle.json": json.dumps(battle.to_json(), ensure_ascii=False, indent=1) + "\n",
    }
    for name, text in files.items():
        write_lines(folder / name, [text])


def print_battle(battle: Battle) -> None:
    """Tables of the contests, of their categories, and of the strengths."""
    console = output_console()
    title = f"{battle.model}  ·  {battle.protocol}  ·  the first system against the second"
    table = plain_table(title, ("first", "second", "metric", *_FIGURES), right=_FIGURES)
    for c in battle.contests:
        table.add_row(*map(printable, (c.first, c.second, c.metric)), *figure_cells(c.figures))
    console.print(table)
    if any(c.by_category for c in battle.contests):
        console.print()
        table = plain_table("by category", ("first", "second", "category", *_FIGURES), right=_FIGURES)
        for c in battle.contests:
            for name, figures in c.by_category.items():
                table.add_row(*map(printable, (c.first, c.second, name)), *figure_cells(figures))
        console.print(table)
    if battle.strengths:
        console.print()
        table = plain_table("Bradley-Terry", ("system", "strength", "95 %"), right=("strength", "95 %"))
        for s in battle.strengths:
            table.add_row(printable(s.system), figure(s.value), between(s.ci))
        console.print(table)
    for c in battle.contests:
        if c.figures.invalid:
            reasons = ", ".join(sorted({o.reason or "" for o in c.outcomes if o.score is None}))
            console.print(
                f"note: {printable(c.first)} against {printable(c.second)}: {c.figures.invalid} pairs "
                f"without a verdict in both orders ({reasons}) are left out",
                highlight=False,
            )


def figure_cells(figures: PairFigures) -> list[str]:
    """Counts, win rates with intervals, p, and how many verdicts flip with the order."""
    bias = figures.bias
    flips = "–"
    if bias is not None:
        first = "" if bias.toward_first is None else f", {bias.toward_first:.0%} to the first"
        flips = f"{bias.share:.0%} [{between(bias.ci)}]{first}"
    counts = (figures.wins, figures.losses, figures.ties, figures.invalid)
    rates = (_share(figures.win_rate), _share(figures.win_rate_without_ties))
    return [*map(str, counts), *rates, f"{figures.p:.3g}", flips]


def _share(share: Share) -> str:
    return figure(share.value) + (f" [{between(share.ci)}]" if share.ci else "")
