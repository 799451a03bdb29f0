"""Ratings of given texts, which are not degraded, and what they would cost: `dhp.judge`."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from dhp.content.own_task import with_metrics
from dhp.core.pair_spec import Protocols
from dhp.core.progress import Progress
from dhp.core.specs import Metric
from dhp.core.terminal_progress import progress_of
from dhp.judge.adapters.settings import JudgeSettings
from dhp.judge.factory import find_judges
from dhp.judge.rate_texts import judge_estimates, rate_texts
from dhp.llm.estimate import Estimate
from dhp.llm.settings import ModelSettings
from dhp.loaders.rated import RatedText, given_texts, rated_task
from dhp.runs.comparisons import pointwise_only

if TYPE_CHECKING:
    import pandas as pd


def judge_texts(
    model: object,
    data: str | Sequence[RatedText],
    *,
    task: str | None = None,
    protocol: Protocols = "dhp",
    prompt_files: Sequence[str] = (),
    metrics: Sequence[str | Metric] = (),
    settings: ModelSettings = ModelSettings(),
    judge_settings: JudgeSettings = JudgeSettings(),
    seed: int = 0,
    progress: Progress | bool | None = True,
) -> "pd.DataFrame":
    """Rate given texts without degrading them.

    Parameters
    ----------
    model, protocol, prompt_files, metrics, settings, judge_settings, seed, progress
        As for `run`.
    data
        A table of texts, `NAME=FILE` of a published set (see `dhp.loaders.rated`), or texts.
    task
        What the systems had to do: a name or a YAML file. Default: the published set's, else
        `summarization`.

    Returns
    -------
    DataFrame
        Columns `source, system, metric, sample, score, status, raw, model, protocol`, as
        `dhp.human.agreement.correlate` takes them.

    Raises
    ------
    InputError, StoppedEarly
        As `run`.
    """
    context = settings.context()
    find = partial(find_judges, prompt_files=prompt_files, seed=seed, judge_settings=judge_settings)
    judges = pointwise_only(find(model, protocol, settings, context))
    with progress_of(progress) as show:
        frame = rate_texts(judges, given_texts(data), with_metrics(rated_task(data, task), metrics), show)
    if context.batch:
        context.batch.finish()
    return frame


def estimate_texts(
    model: object,
    data: str | Sequence[RatedText],
    *,
    task: str | None = None,
    protocol: Protocols = "dhp",
    prompt_files: Sequence[str] = (),
    metrics: Sequence[str | Metric] = (),
    settings: ModelSettings = ModelSettings(),
    judge_settings: JudgeSettings = JudgeSettings(),
    seed: int = 0,
) -> list[Estimate]:
    """What `judge_texts` would take of language models, at most, asking nothing; parameters as there."""
    find = partial(find_judges, prompt_files=prompt_files, seed=seed, judge_settings=judge_settings)
    judges = pointwise_only(find(model, protocol, settings, settings.context()))
    texts, chosen = given_texts(data), with_metrics(rated_task(data, task), metrics)
    return judge_estimates(judges, str(data), texts, chosen)
