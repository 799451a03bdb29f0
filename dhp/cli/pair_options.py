"""Options on how a judge is asked which of two texts is better."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dhp.cli.model_options import AnswerOptions
from dhp.cli.option_groups import SEED, option

if TYPE_CHECKING:
    from dhp.core.pair_spec import PairwiseProtocol


@dataclass(frozen=True)
class PairwiseOptions(AnswerOptions):
    """How a judge is asked about two texts."""

    protocol: str = option(
        "--protocol",
        default="battle",
        metavar="NAME|FILE.yaml",
        help="battle, choose or swap; see dhp protocols list.",
    )
    answer: str | None = option(
        "--answer", metavar="FORM", help="two-scores, bare, reason-first or reason-last."
    )
    ties: bool | None = option("--ties/--no-ties", help="Whether the judge may call a tie.")
    samples: int | None = option(
        "--samples", type=int, metavar="K", help="Answers in each order; the majority counts."
    )

    def chosen(self) -> "PairwiseProtocol":
        """The protocol with the changes that the options make."""
        from dhp.content.protocols import read_pairwise

        changes = {
            "answer": self.answer,
            "ties": self.ties,
            "samples": self.samples,
        }
        given = self.given(changes)
        return read_pairwise(self.protocol, **given)


@dataclass(frozen=True)
class RecordedOptions:
    """Verdicts that are recorded; no judge is asked."""

    recorded: tuple[str, ...] = option(
        "--recorded", multiple=True, metavar="FILE", help="Recorded verdicts; may be repeated."
    )
    form: str = option("--format", "form", default="llmbar", metavar="llmbar", help="Their form.")
    pairs: str | None = option("--pairs", metavar="FILE", help="The pairs that they are about.")


@dataclass(frozen=True)
class ContestOptions:
    """What is compared, and by what."""

    task: str = option(
        "--task", default="instruction", metavar="NAME|FILE.yaml", help="What the systems had to do."
    )
    metric: tuple[str, ...] = option(
        "--metric", multiple=True, metavar="NAME", help="Compare by this metric, not as a whole; repeatable."
    )
    battle_prompts: str | None = option(
        "--battle-prompts", metavar="FILE", help="A battle prompt file of ColossalEval, used as it is."
    )
    seed: int = option("--seed", **SEED)
