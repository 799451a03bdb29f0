"""Options of `dhp battle` and `dhp evaluate`."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dhp.cli.protocol_options import AnswerChanges
from dhp.core.options import option

if TYPE_CHECKING:
    from dhp.core.protocol_spec import Protocol


@dataclass(frozen=True)
class PairwiseChanges(AnswerChanges):
    """How a judge is asked about two texts; otherwise as the protocol says."""

    protocol: str = field(
        default="battle",
        metadata=option("battle, choose or swap, see dhp list protocols.", metavar="NAME|FILE.yaml"),
    )
    answer: str | None = field(
        default=None,
        metadata=option("Form of the answer.", metavar="two-scores|bare|reason-first|reason-last"),
    )
    ties: bool | None = field(
        default=None, metadata=option("The judge may call a tie.", name="--ties/--no-ties")
    )
    samples: int | None = field(
        default=None, metadata=option("Answers in each order; the majority counts.", metavar="K")
    )

    def chosen(self) -> "Protocol":
        """The protocol with these changes."""
        from dhp.content.protocols import read_pairwise

        changes = {"answer": self.answer, "ties": self.ties, "samples": self.samples}
        return read_pairwise(self.protocol, **self.given(changes))


@dataclass(frozen=True)
class RecordedOptions:
    """Verdicts that are recorded; no judge is asked."""

    recorded: tuple[str, ...] = field(
        default=(), metadata=option("Recorded verdicts; may be repeated.", metavar="FILE", many=True)
    )
    form: str = field(
        default="llmbar",
        metadata=option("Format of the recorded verdicts.", name="--format", metavar="llmbar|judgebench"),
    )
    pairs: str | None = field(
        default=None, metadata=option("The pairs that the verdicts are about (llmbar).", metavar="FILE")
    )


@dataclass(frozen=True)
class PairOptions:
    """What is compared, and by what."""

    task: str = field(
        default="instruction", metadata=option("What the systems had to do.", metavar="NAME|FILE.yaml")
    )
    metrics: tuple[str, ...] = field(
        default=(),
        metadata=option(
            "Compare by this metric, not as a whole; may be repeated.",
            name="--metric",
            metavar="NAME",
            many=True,
        ),
    )
    battle_prompts: str | None = field(
        default=None,
        metadata=option("A battle prompt file of ColossalEval, used as it is.", metavar="FILE"),
    )
    seed: int = field(default=0, metadata=option("Seed of every random choice.", metavar="K"))


REFERENCES = ("one-prompt", "second-turn")


@dataclass(frozen=True)
class EvaluationFiles:
    """What is evaluated; files in ColossalEval's form."""

    config: str | None = field(
        default=None, metadata=option("Categories and metrics; default: all bundled ones.", metavar="FILE")
    )
    prompts: str | None = field(
        default=None, metadata=option("Evaluation prompts; default: the bundled ones.", metavar="FILE")
    )
    battle_prompts: str | None = field(
        default=None, metadata=option("Battle prompt; default: the bundled one.", metavar="FILE")
    )
    targets: str | None = field(
        default=None, metadata=option("Questions, and good answers to them.", metavar="FILE")
    )
    answers: tuple[str, ...] = field(
        default=(),
        metadata=option("Answers of one model; may be repeated.", metavar="[MODEL=]FILE", many=True),
    )
    language: str = field(
        default="en", metadata=option("Language of bundled content, without --config.", metavar="en|zh")
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
    steps: str = field(
        default="written",
        metadata=option(
            "Evaluation steps; auto: the model writes those that are missing.", metavar="written|auto"
        ),
    )
    samples: int | None = field(
        default=None, metadata=option("Answers for each text and metric.", metavar="K")
    )
    temperature: float | None = field(default=None, metadata=option("Temperature, 0 or more.", metavar="T"))
    extraction: str | None = field(
        default=None,
        metadata=option(
            "Read the answer's text, or the probabilities of its scores.", metavar="parse|prob|prob-or-parse"
        ),
    )
    seed: int = field(default=0, metadata=option("Seed of every random choice.", metavar="K"))
