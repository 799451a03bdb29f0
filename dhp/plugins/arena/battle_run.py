"""What a battle is asked: the files of the systems, the judge, and what it would cost.

`read_systems` reads the answers, a `BattleSpec` holds all that is asked, and `fought` and `battle_estimate`
have it answered or estimated.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from dhp.cli.language_models import estimates_shown
from dhp.content.catalog import read_task
from dhp.core.errors import InputError, one_of
from dhp.core.progress import progress_shown
from dhp.core.protocol_spec import Protocol
from dhp.core.specs import Task
from dhp.judge.api import Judge
from dhp.judge.factory import find_judges
from dhp.judge.judges.llm import LlmJudge
from dhp.judge.judges.recorded import RECORDED
from dhp.judge.pairs import OVERALL
from dhp.llm.cached_model import RequestContext
from dhp.llm.estimate import estimate_requests
from dhp.llm.settings import ModelSettings
from dhp.plugins.arena.answers import check_match, read_answers
from dhp.plugins.arena.battle import Battle, Systems, make_pairs, run_battle
from dhp.plugins.arena.battle_prompts import read_battle_prompts
from dhp.report.document import Part


def read_systems(entries: Sequence[str]) -> Systems:
    """Answer files, `NAME=FILE` or files whose names are those of the systems; their ids must agree."""
    files: dict[str, str] = {}
    for each in entries:
        name, equals, path = each.partition("=")
        # A file's own name may hold an equals sign.
        if not equals or Path(each).exists():
            name, path = Path(each).stem, each
        if name in files:
            raise InputError(f"system '{name}': is given twice ({files[name]}, {path}); allowed: NAME=FILE")
        files[name] = path
    systems = {}
    for name, path in files.items():
        systems[name] = read_answers(Path(path))
    if len(set(files.values())) == len(files):
        by_file = {files[name]: answers for name, answers in systems.items()}
        check_match(by_file)
    else:  # one file is given under two names: messages name the systems
        check_match(systems)

    # All in the order of the first system, so that answers of one place belong together.
    first, *_ = systems
    places = {answer.id: index for index, answer in enumerate(systems[first])}
    in_order = {}
    for name, answers in systems.items():
        in_order[name] = sorted(answers, key=lambda answer: places[answer.id])
    return in_order


TASK = "instruction"
"""The task of the systems, unless another one is named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BattleSpec:
    """What a battle is asked."""

    systems: Systems
    model: str
    protocol: Protocol
    settings: ModelSettings
    task: str = TASK
    """What the systems had to do."""
    metrics: tuple[str, ...] = ()
    """Metrics to compare by; without any, answers are compared as a whole."""
    battle_prompts: str | None = None
    """A battle prompt file of ColossalEval, used as it is."""
    seed: int = 0
    """Seed of every random choice."""

    def asked(self, context: RequestContext) -> tuple[Judge, Task, Sequence[str]]:
        """The judge, and the task and metrics that it is asked about."""
        task = read_task(self.task)
        for name in self.metrics:
            one_of("metric", name, task.metric_names, "--metric")
        if self.model.startswith(RECORDED):
            raise InputError(
                f"model '{self.model}': compares no further texts; its comparisons: dhp battle --recorded"
            )
        (judge,) = find_judges(self.model, self.protocol, self.settings, context, seed=self.seed)
        if self.battle_prompts is not None:
            judge = self._prompted(judge, Path(self.battle_prompts))
        return judge, task, self.metrics or (OVERALL,)

    def _prompted(self, judge: Judge, battle_prompts: Path) -> Judge:
        """The judge, asked by a battle prompt file if it is a language model."""
        # Such a file has no words for a metric, nor for verdicts to be weighed again.
        if self.protocol.final or self.metrics or self.protocol.answer != "two-scores":
            raise InputError(
                "--battle-prompts: asks for two scores as a whole; allowed: --protocol battle without "
                "--metric"
            )
        prompts = read_battle_prompts(battle_prompts)
        # Any other judge, such as a mock, reads no prompt.
        if not isinstance(judge, LlmJudge):
            return judge
        return LlmJudge(judge.cached_model, replace(judge.builder, pair_prompts=prompts))


def fought(spec: BattleSpec, context: RequestContext) -> Battle:
    """The battle; raises `Waiting` while verdicts come later."""
    judge, task, metrics = spec.asked(context)
    with progress_shown("verdicts") as show:
        return run_battle(judge, spec.systems, task, metrics, seed=spec.seed, progress=show)


def battle_estimate(spec: BattleSpec, context: RequestContext) -> list[Part]:
    """What the battle would take."""
    judge, task, metrics = spec.asked(context)
    if not isinstance(judge, LlmJudge):
        return estimates_shown([])
    names = " against ".join(spec.systems)
    requests = judge.builder.pair_requests(make_pairs(spec.systems), task, metrics)
    short = partial(judge.short_request, task=task)
    estimate = estimate_requests(judge.cached_model, judge.protocol, names, requests, "verdicts", short=short)
    parts = estimates_shown([estimate])
    if spec.protocol.final:
        parts.append("plus final verdicts on contradicting pairs: at most as many calls again")
    return parts
