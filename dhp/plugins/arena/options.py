"""Options of `dhp battle` and `dhp evaluate`."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click

from dhp.cli.protocol_options import AnswerChanges
from dhp.core.errors import InputError
from dhp.core.options import option

if TYPE_CHECKING:
    from dhp.core.protocol_spec import Protocol
    from dhp.core.specs import Language


@dataclass(frozen=True)
class PairwiseChanges(AnswerChanges):
    """How a judge is asked about two texts; otherwise as the protocol says."""

    protocol: str = field(
        default="battle",
        metadata=option("battle, choose or swap, see dhp list protocols.", metavar="NAME|FILE.yaml"),
    )
    ties: bool | None = field(
        default=None, metadata=option("The judge may call a tie.", name="--ties/--no-ties")
    )

    def chosen(self) -> "Protocol":
        """The protocol with these changes."""
        from dhp.content.protocols import read_pairwise

        return read_pairwise(self.protocol, **self.given({"ties": self.ties}))


@dataclass(frozen=True)
class RecordedOptions:
    """Verdicts that are recorded; no judge is asked."""

    recorded: tuple[str, ...] = field(
        default=(), metadata=option("Recorded verdicts; may be repeated.", metavar="FILE", many=True)
    )
    pairs: str | None = field(
        default=None, metadata=option("The pairs that the verdicts are about (llmbar).", metavar="FILE")
    )


BATTLE_PROMPTS = click.option(
    "--battle-prompts", metavar="FILE", help="A battle prompt file of ColossalEval, used as it is."
)
REFERENCES = ("one-prompt", "second-turn")
STEPS = ("written", "auto")
"""Evaluation steps: those written down, which is the default, or by the model for metrics that lack them."""


@dataclass(frozen=True)
class EvaluationFiles:
    """What is evaluated; files in ColossalEval's form."""

    config: str | None = field(
        default=None, metadata=option("Categories and metrics; default: all bundled ones.", metavar="FILE")
    )
    prompts: str | None = field(
        default=None, metadata=option("Evaluation prompts; default: the bundled ones.", metavar="FILE")
    )
    targets: str | None = field(
        default=None, metadata=option("Questions, and good answers to them.", metavar="FILE")
    )
    answers: tuple[str, ...] = field(
        default=(),
        metadata=option("Answers of one model; may be repeated.", metavar="[MODEL=]FILE", many=True),
    )


@dataclass(frozen=True)
class EvaluationOptions:
    """How answers are judged."""

    with_reference: str | None = field(
        default=None,
        metadata=option(
            "Show the judge the target answer, at once or after its first answer.",
            metavar="|".join(REFERENCES),
        ),
    )
    all_metrics: bool = field(default=False, metadata=option("Also metrics that the config leaves out."))


def content_language(changes: AnswerChanges) -> "Language":
    """The language of bundled content; raises `InputError` where there is none in it."""
    match changes.language:
        case None | "en":
            return "en"
        case "zh":
            return "zh"
    raise InputError(f"--language '{changes.language}': allowed: en, zh")
