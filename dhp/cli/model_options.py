"""Options on how language models are asked."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import click

from dhp.cli.option_groups import option
from dhp.core.errors import InputError

if TYPE_CHECKING:
    from dhp.core.pair_spec import AnyProtocol
    from dhp.core.specs import Metric
    from dhp.llm.batch.settings import BatchSettings
    from dhp.llm.settings import ModelSettings

DEFAULT = "default"
DEFAULT_PROTOCOL = "dhp"


@dataclass(frozen=True)
class AnswerOptions:
    """What every protocol says about its answers, pointwise or pairwise."""

    temperature: str | None = option(
        "--temperature", metavar="T", help="0 or more, or default: left to the model."
    )
    top_p: str | None = option("--top-p", metavar="P", help="In (0, 1], or default: left to the model.")
    answer_tokens: int | None = option(
        "--answer-tokens", type=int, metavar="K", help="Most tokens of one answer."
    )
    extraction: str | None = option(
        "--extraction", metavar="parse|prob|prob-or-parse", help="Read the text, or the probabilities."
    )
    language: str | None = option("--language", metavar="en|zh", help="Language of the prompts.")

    def given(self, more: Mapping[str, object]) -> dict[str, object]:
        """The settings of a protocol that are changed, with `more` of them where they are not None."""
        changes = {
            **more,
            "temperature": number_or_default("--temperature", self.temperature),
            "top_p": number_or_default("--top-p", self.top_p),
            "max_tokens": self.answer_tokens,
            "extraction": self.extraction,
            "language": self.language,
        }
        left = {name: None for name in ("temperature", "top_p") if changes[name] == DEFAULT}
        return {name: value for name, value in changes.items() if value is not None} | left


@dataclass(frozen=True)
class ProtocolOptions(AnswerOptions):
    """How a judge is asked and its answers read."""

    answer: str | None = option(
        "--answer", metavar="FORM", help="score-only, free-text, rate-explain, analyze-rate, ..."
    )
    steps: str | None = option("--steps", metavar="none|written|auto|FILE.yaml", help="Evaluation steps.")
    reference: bool | None = option(
        "--reference/--no-reference", help="Show a reference other than the text judged."
    )
    persona: str | None = option("--persona", metavar="none|hhh|annotator|FILE", help="Put before the task.")
    samples: int | None = option(
        "--samples", type=int, metavar="K", help="Answers per text and metric, averaged."
    )
    prompt_file: tuple[str, ...] = option(
        "--prompt-file",
        multiple=True,
        metavar="[METRIC=]FILE|DIR",
        help="Prompts used as they are; {{x}} or {x} takes a column, the source or the output.",
    )
    name: str | None = option("--name", metavar="NAME", help="Of the judge; default: the prompt file's.")
    metric: tuple[str, ...] = option(
        "--metric", multiple=True, metavar="NAME", help="Judge by this metric only; may be repeated."
    )
    labels: str | None = option(
        "--labels",
        metavar="WORST,..,BEST",
        help="Words that answer for a --metric of your own.",
    )

    def metrics(self, scale: str | None = None) -> "list[str | Metric]":
        """Those to judge by; of one's own where a scale (`--scale`) or labels are given."""
        if scale is None and self.labels is None:
            return list(self.metric)
        from dhp.content.own_task import own_metric

        if not self.metric:
            given = "--labels" if scale is None else "--scale"
            raise InputError(f"{given}: of which metric? Name it by --metric NAME")
        labels = self.labels.split(",") if self.labels is not None else ()
        return [own_metric(name.lower().replace("-", "_"), scale, labels) for name in self.metric]

    def changed(self, name: str) -> "AnyProtocol":
        """The protocol of that name with the changes that the options make."""
        from dhp.content.protocols import is_pairwise, read_pairwise
        from dhp.judge.factory import protocol

        changes = {
            "protocol": self.name,
            "answer": self.answer,
            "steps": self.steps,
            "reference": self.reference,
            "persona": self.persona,
            "samples": self.samples,
        }
        given = self.given(changes)
        if not is_pairwise(name):
            return protocol(name, **given)
        for key in ("protocol", "steps", "reference", "persona"):
            if key in given:
                option = "--name" if key == "protocol" else f"--{key}"
                raise InputError(f"{option}: is for pointwise protocols, not for '{name}'; leave it out")
        return read_pairwise(name, **given)


@dataclass(frozen=True)
class ModelOptions:
    """How models are reached, how hard they are worked, and what they may cost."""

    base_url: str | None = option(
        "--base-url", metavar="URL", help="Of an OpenAI-compatible server, up to /v1."
    )
    concurrency: int = option(
        "--concurrency", default=64, type=click.IntRange(min=1), metavar="K", help="Most calls in flight."
    )
    rpm: float | None = option(
        "--rpm", type=click.FloatRange(min=1e-9), metavar="K", help="Most calls a minute."
    )
    tpm: float | None = option(
        "--tpm", type=click.FloatRange(min=1e-9), metavar="K", help="Most tokens a minute."
    )
    timeout: float = option(
        "--timeout", default=120.0, type=click.FloatRange(min=0.001), metavar="SECONDS", help="Of one call."
    )
    transport: str | None = option(
        "--transport", metavar="fast|sdk", help="How calls are sent: sdk is the openai package."
    )
    longest_wait: float = option(
        "--longest-wait",
        default=600.0,
        type=click.FloatRange(min=0),
        metavar="SECONDS",
        help="Stop, resumable, where a server asks for a longer wait.",
    )
    no_seed: bool = option("--no-seed", default=False, help="Send no seed with sampled answers.")
    retries: int = option(
        "--retries",
        default=8,
        type=click.IntRange(min=0),
        metavar="K",
        help="Tries after the first, for passing errors.",
    )
    cache: str | None = option(
        "--cache", metavar="DIR", help="Where replies are kept; default: the user's cache."
    )
    no_cache: bool = option("--no-cache", default=False, help="Keep no replies; nothing can be resumed.")
    refresh: bool = option("--refresh", default=False, help="Ask again what is kept, and replace it.")
    keep_going: bool = option(
        "--keep-going", default=False, help="Pay for the rest though the first answers cannot be read."
    )
    price_in: float | None = option(
        "--price-in", type=click.FloatRange(min=0), metavar="X", help="Per million prompt tokens."
    )
    price_out: float | None = option(
        "--price-out", type=click.FloatRange(min=0), metavar="X", help="Per million answer tokens."
    )
    max_calls: int | None = option(
        "--max-calls", type=click.IntRange(min=0), metavar="K", help="Stop, resumable, at so many calls."
    )
    max_tokens: int | None = option(
        "--max-tokens", type=click.IntRange(min=0), metavar="K", help="Stop, resumable, at so many tokens."
    )
    max_cost: float | None = option(
        "--max-cost", type=click.FloatRange(min=0), metavar="X", help="Stop, resumable, at this cost."
    )
    device: str = option(
        "--device",
        default="auto",
        metavar="NAME",
        help="For hf/: auto, cpu, cuda, cuda:N, all; for vllm/: auto, all.",
    )
    dtype: str = option(
        "--dtype", default="auto", metavar="NAME", help="For hf/, vllm/: auto, float32, bfloat16, float16."
    )
    batch_size: int | None = option(
        "--batch-size", type=click.IntRange(min=1), metavar="K", help="For hf/: rows computed together."
    )

    chat_template: str | None = option(
        "--chat-template",
        metavar="FILE",
        help="For hf/, vllm/: Jinja template in the place of the model's own.",
    )
    executor: str = option(
        "--executor", default="local", metavar="local|ray[:ADDRESS]", help="Where work is done."
    )

    def settings(self, batch: "BatchSettings | None" = None) -> "ModelSettings":
        """For `dhp.run`."""
        from dhp.llm.batch.settings import BatchSettings
        from dhp.llm.engine.rate_limits import RateLimits
        from dhp.llm.settings import ModelSettings
        from dhp.llm.usage import Limits, Prices

        if self.no_cache and (self.cache is not None or self.refresh):
            raise InputError("--no-cache: contradicts --cache and --refresh; give one or the other")
        limited = {self.max_calls, self.max_tokens, self.max_cost} != {None}
        if limited and (self.no_cache or self.refresh):
            surplus = "--no-cache" if self.no_cache else "--refresh"
            raise InputError(f"{surplus}: a run that stops at a limit could not go on; leave out one of them")
        for name in ("rpm", "tpm", "timeout", "longest_wait", "price_in", "price_out", "max_cost"):
            if not math.isfinite(getattr(self, name) or 0):
                raise InputError(f"--{name.replace('_', '-')}: must be a finite number")
        return ModelSettings(
            base_url=self.base_url,
            timeout=self.timeout,
            transport=self.transport,
            send_seed=not self.no_seed,
            rate_limits=RateLimits(self.concurrency, self.rpm, self.tpm, self.retries, self.longest_wait),
            prices=Prices(self.price_in, self.price_out),
            limits=Limits(self.max_calls, self.max_tokens, self.max_cost),
            cache=self.cache,
            store=not self.no_cache,
            refresh=self.refresh,
            keep_going=self.keep_going,
            batch=batch or BatchSettings(),
            device=self.device,
            dtype=self.dtype,
            batch_size=self.batch_size,
            chat_template=self.chat_template,
            executor=self.executor,
        )


_ASK_NO_MODEL = ("mock/", "baseline/", "metric/", "column/")


def refuse_unused(
    models: Sequence[str], protocols: Sequence[str], groups: Sequence[object], perturb_model: bool
) -> None:
    """Raise `InputError` for options on language models where none is asked.

    `groups` are the options given; with a perturb model those on how models are reached are of use.
    """
    if not models or not all(model.startswith(_ASK_NO_MODEL) for model in models):
        return
    from dhp.content.protocols import is_pairwise

    usual = tuple(protocols) == (DEFAULT_PROTOCOL,) or any(map(is_pairwise, protocols))
    given = [] if usual else ["--protocol"]  # any judge can compare
    for group in groups:
        if perturb_model and isinstance(group, ModelOptions):
            continue
        for each in fields(group):  # type: ignore[arg-type]
            if (
                each.name not in ("metric", "labels", "executor")
                and getattr(group, each.name) != each.default
            ):
                given += each.metadata["names"][:1]
    if given:
        raise InputError(
            f"{given[0].partition('/')[0]}: is for language models, and {models[0]} asks none; leave it out"
        )


def number_or_default(option: str, given: str | None) -> float | str | None:
    """The number that an option was given; `default` and None stay."""
    if given is None or given == DEFAULT:
        return given
    try:
        return float(given)
    except ValueError:
        raise InputError(f"{option} '{given}': must be a number or '{DEFAULT}'") from None
