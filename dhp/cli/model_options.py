"""Options on how language models are asked."""

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

import typer

from dhp.core.errors import InputError

if TYPE_CHECKING:
    from dhp.core.protocol_spec import Protocol
    from dhp.llm.settings import ModelSettings

_DEFAULT = "default"


@dataclass(frozen=True)
class ProtocolOptions:
    """How a judge is asked and its answers read."""

    answer: Annotated[
        str | None,
        typer.Option(
            "--answer", metavar="FORM", help="score-only, free-text, rate-explain, analyze-rate, ..."
        ),
    ] = None
    steps: Annotated[
        str | None, typer.Option("--steps", metavar="none|written|auto|FILE.yaml", help="Evaluation steps.")
    ] = None
    reference: Annotated[
        bool | None,
        typer.Option("--reference/--no-reference", help="Show a reference other than the text judged."),
    ] = None
    persona: Annotated[
        str | None, typer.Option("--persona", metavar="none|hhh|annotator|FILE", help="Put before the task.")
    ] = None
    samples: Annotated[
        int | None, typer.Option("--samples", metavar="K", help="Answers per text and metric, averaged.")
    ] = None
    temperature: Annotated[
        str | None,
        typer.Option("--temperature", metavar="T", help="0 or more, or default: left to the model."),
    ] = None
    top_p: Annotated[
        str | None, typer.Option("--top-p", metavar="P", help="In (0, 1], or default: left to the model.")
    ] = None
    answer_tokens: Annotated[
        int | None, typer.Option("--answer-tokens", metavar="K", help="Most tokens of one answer.")
    ] = None
    extraction: Annotated[
        str | None,
        typer.Option(
            "--extraction", metavar="parse|prob|prob-or-parse", help="Read the text, or the probabilities."
        ),
    ] = None
    language: Annotated[
        str | None, typer.Option("--language", metavar="en|zh", help="Language of the prompts.")
    ] = None
    prompt_file: Annotated[
        list[str],
        typer.Option(
            "--prompt-file", metavar="[METRIC=]FILE|DIR", help="Published prompts, used as they are."
        ),
    ] = field(default_factory=list)
    metric: Annotated[
        list[str],
        typer.Option("--metric", metavar="NAME", help="Judge by this metric only; may be repeated."),
    ] = field(default_factory=list)

    def changed(self, name: str) -> "Protocol":
        """The protocol of that name with the changes that the options make."""
        from dhp.judge.factory import protocol

        changes = {
            "answer": self.answer,
            "steps": self.steps,
            "reference": self.reference,
            "persona": self.persona,
            "samples": self.samples,
            "temperature": _number("--temperature", self.temperature),
            "top_p": _number("--top-p", self.top_p),
            "max_tokens": self.answer_tokens,
            "extraction": self.extraction,
            "language": self.language,
        }
        given: dict[str, object] = {k: v for k, v in changes.items() if v is not None}
        given |= {k: None for k in ("temperature", "top_p") if changes[k] == _DEFAULT}
        return protocol(name, **given)


@dataclass(frozen=True)
class ModelOptions:
    """How models are reached, how hard they are worked, and what they may cost."""

    base_url: Annotated[
        str | None,
        typer.Option("--base-url", metavar="URL", help="Of an OpenAI-compatible server, up to /v1."),
    ] = None
    concurrency: Annotated[
        int, typer.Option("--concurrency", metavar="K", min=1, help="Most calls in flight.")
    ] = 64
    rpm: Annotated[
        float | None, typer.Option("--rpm", metavar="K", min=1e-9, help="Most calls a minute.")
    ] = None
    tpm: Annotated[
        float | None, typer.Option("--tpm", metavar="K", min=1e-9, help="Most tokens a minute.")
    ] = None
    timeout: Annotated[
        float, typer.Option("--timeout", metavar="SECONDS", min=0.001, help="Of one call.")
    ] = 120.0
    retries: Annotated[
        int, typer.Option("--retries", metavar="K", min=0, help="Tries after the first, for passing errors.")
    ] = 8
    cache: Annotated[
        str | None,
        typer.Option("--cache", metavar="DIR", help="Where replies are kept; default: the user's cache."),
    ] = None
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Keep no replies; nothing can be resumed.")] = (
        False
    )
    refresh: Annotated[bool, typer.Option("--refresh", help="Ask again what is kept, and replace it.")] = (
        False
    )
    price_in: Annotated[
        float | None, typer.Option("--price-in", metavar="X", min=0, help="Per million prompt tokens.")
    ] = None
    price_out: Annotated[
        float | None, typer.Option("--price-out", metavar="X", min=0, help="Per million answer tokens.")
    ] = None
    max_calls: Annotated[
        int | None, typer.Option("--max-calls", metavar="K", min=0, help="Stop, resumable, at so many calls.")
    ] = None
    max_tokens: Annotated[
        int | None,
        typer.Option("--max-tokens", metavar="K", min=0, help="Stop, resumable, at so many tokens."),
    ] = None
    max_cost: Annotated[
        float | None, typer.Option("--max-cost", metavar="X", min=0, help="Stop, resumable, at this cost.")
    ] = None
    device: Annotated[str, typer.Option("--device", metavar="NAME", help="For hf/: auto, cpu, cuda, ...")] = (
        "auto"
    )
    dtype: Annotated[
        str, typer.Option("--dtype", metavar="NAME", help="For hf/: auto, float32, bfloat16, float16.")
    ] = "auto"
    batch_size: Annotated[
        int | None, typer.Option("--batch-size", metavar="K", min=1, help="For hf/: rows computed together.")
    ] = None

    def settings(self) -> "ModelSettings":
        """For `dhp.run`."""
        from dhp.llm.engine.rate_limits import RateLimits
        from dhp.llm.settings import ModelSettings
        from dhp.llm.usage import Limits, Prices

        if self.no_cache and (self.cache is not None or self.refresh):
            raise InputError("--no-cache: contradicts --cache and --refresh; give one or the other")
        limited = {self.max_calls, self.max_tokens, self.max_cost} != {None}
        if limited and (self.no_cache or self.refresh):
            option = "--no-cache" if self.no_cache else "--refresh"
            raise InputError(f"{option}: a run that stops at a limit could not go on; leave out one of them")
        for name in ("rpm", "tpm", "timeout", "price_in", "price_out", "max_cost"):
            if not math.isfinite(getattr(self, name) or 0):
                raise InputError(f"--{name.replace('_', '-')}: must be a finite number")
        return ModelSettings(
            base_url=self.base_url,
            timeout=self.timeout,
            rate_limits=RateLimits(self.concurrency, self.rpm, self.tpm, self.retries),
            prices=Prices(self.price_in, self.price_out),
            limits=Limits(self.max_calls, self.max_tokens, self.max_cost),
            cache=self.cache,
            store=not self.no_cache,
            refresh=self.refresh,
            device=self.device,
            dtype=self.dtype,
            batch_size=self.batch_size,
        )


def _number(option: str, given: str | None) -> float | str | None:
    if given is None or given == _DEFAULT:
        return given
    try:
        return float(given)
    except ValueError:
        raise InputError(f"{option} '{given}': must be a number or '{_DEFAULT}'") from None
