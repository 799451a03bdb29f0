"""Options of protocols and texts that several commands share."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import click

from dhp.cli.options import AnyCommand
from dhp.core.checks import Checked
from dhp.core.errors import InputError
from dhp.core.options import option

if TYPE_CHECKING:
    from dhp.core.protocol_spec import Protocol


DEFAULT = "default"
"""What a user types to leave a setting to the model."""
DEFAULT_PROTOCOL = "dhp"


def _number_or_default(text: str) -> float | str:
    if text == DEFAULT:
        return DEFAULT
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"'{text}': must be a number or '{DEFAULT}'") from None


@dataclass(frozen=True)
class AnswerChanges(Checked):
    """What every protocol says about its answers, pointwise or pairwise; None leaves it to the protocol."""

    parameter = "changes"

    answer: str | None = option(
        "Form of the answer: score-only, free-text, rate-explain, analyze-rate, ...; of a comparison "
        "two-scores, bare, reason-first or reason-last.",
        default=None,
        metavar="FORM",
    )
    samples: int | None = option(
        "Answers for each text and metric, averaged; of a comparison in each order, the majority counts.",
        default=None,
        metavar="K",
    )
    temperature: float | str | None = option(
        "Temperature, 0 or more, or default: left to the model.",
        default=None,
        metavar="T",
        read=_number_or_default,
    )
    top_p: float | str | None = option(
        "Nucleus sampling, in (0, 1], or default: left to the model.",
        default=None,
        metavar="P",
        read=_number_or_default,
    )
    max_tokens: int | None = option(
        "Maximum number of tokens of one answer.", default=None, name="--answer-tokens", metavar="K"
    )
    extraction: str | None = option(
        "Read the answer's text, or the probabilities of its scores.",
        default=None,
        metavar="parse|prob|prob-or-parse",
    )
    ask_again: bool | None = option(
        "Follow an answer that cannot be read by one request for the rating alone; default: yes.",
        default=None,
        name="--ask-again/--no-ask-again",
    )
    language: str | None = option("Language of the prompts.", default=None, metavar="en|zh")

    def values_with(self, more: Mapping[str, object]) -> dict[str, object]:
        """The settings of a protocol that are changed, with `more` of them unless they are None."""
        settings = dict(more)
        # The fields that both kinds of protocols have: `more` brings the others.
        for field in fields(AnswerChanges):
            settings[field.name] = getattr(self, field.name)
        changes = {name: value for name, value in settings.items() if value is not None}
        # A protocol has None for what is left to the model; here None leaves it to the protocol.
        for name in ("temperature", "top_p"):
            if changes.get(name) == DEFAULT:
                changes[name] = None
        return changes


@dataclass(frozen=True)
class ProtocolChanges(AnswerChanges):
    """How a judge is asked and its answers are read; otherwise as the protocol says."""

    steps: str | None = option("Evaluation steps.", default=None, metavar="none|written|auto|FILE.yaml")
    reference: bool | None = option(
        "Show the judge a reference beside the text that it rates.",
        default=None,
        name="--reference/--no-reference",
    )
    persona: str | None = option(
        "Persona at the start of the prompt.", default=None, metavar="none|hhh|annotator|FILE"
    )
    prompt: tuple[str, ...] = option(
        "Prompt used as it is; {{x}} or {x} takes a column, the source or the output. "
        "Repeated: per metric, or versions.",
        default=(),
        name="--prompt-file",
        metavar="[METRIC=]FILE|DIR",
        repeatable=True,
    )
    name: str | None = option(
        "Name of the prompt, and of its folder in runs/; default: that of its file.",
        default=None,
        metavar="NAME",
    )

    def changed(self, protocol: str) -> "Protocol":
        """The protocol of that name with these changes."""
        from dhp.content.catalog import override, read_protocol

        known = read_protocol(protocol)
        pointwise = {"steps": self.steps, "reference": self.reference, "persona": self.persona}
        if known.pairwise:
            for name, value in {"name": self.name, **pointwise}.items():
                if value is not None:
                    raise InputError(
                        f"`{name}`: is for pointwise protocols, not for '{protocol}'; leave it out"
                    )
        changes = self.values_with({"protocol": self.name, **pointwise})
        return override(known, **changes)


def model_option(*, several: bool = False, required: bool = False) -> Callable[[AnyCommand], AnyCommand]:
    """The option that names the judge, or several judges."""
    text = "Judge, e.g. openai/NAME, python:FILE.py:OBJECT or baseline/surface"
    repeated = "; may be repeated." if several else "."
    return click.option("--model", multiple=several, required=required, metavar="MODEL", help=text + repeated)


PROTOCOL = click.option(
    "--protocol",
    multiple=True,
    default=(DEFAULT_PROTOCOL,),
    metavar="NAME|FILE.yaml",
    help="How language models are asked, see dhp list protocols; may be repeated.",
)


DATASET = click.option(
    "--dataset",
    multiple=True,
    metavar="NAME|FILE",
    help="Texts: mini (default of a run), mini/NAME, NAME, all, a table or log of your own, or hf:ORG/NAME; "
    "may be repeated.",
)


def dry_run_option(text: str) -> Callable[[AnyCommand], AnyCommand]:
    """The option to only say what would happen."""
    return click.option("--dry-run", is_flag=True, help=text)


DRY_RUN = dry_run_option("Only print the estimated calls, tokens, cost and time.")
SEED = click.option("--seed", default=0, metavar="K", help="Seed of every random choice.")
CHART = click.option("--chart", metavar="FILE.html", help="Also draw the weights as a heat map.")
ALLOW = click.option(
    "--allow",
    multiple=True,
    metavar="PART",
    help="Part of the signature that may differ between runs: protocol or metrics; may be repeated.",
)
