"""Options of pairwise judging."""

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
class Contest:
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
