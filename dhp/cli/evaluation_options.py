"""Options of `dhp evaluate`."""

from dataclasses import dataclass

from dhp.cli.option_groups import SEED, option

REFERENCES = ("one-prompt", "second-turn")


@dataclass(frozen=True)
class EvaluationFiles:
    """What is evaluated; files in ColossalEval's form."""

    config: str | None = option(
        "--config", metavar="FILE", help="Categories and metrics; default: all bundled."
    )
    prompts: str | None = option("--prompts", metavar="FILE", help="Evaluation prompts; default: bundled.")
    battle_prompts: str | None = option(
        "--battle-prompts", metavar="FILE", help="Battle prompt; default: own."
    )
    targets: str | None = option("--targets", metavar="FILE", help="Questions, and good answers to them.")
    answers: tuple[str, ...] = option(
        "--answers", multiple=True, metavar="[MODEL=]FILE", help="Answers of one model; may be repeated."
    )
    language: str = option(
        "--language", default="en", metavar="en|zh", help="Of bundled content, without --config."
    )


@dataclass(frozen=True)
class EvaluationOptions:
    """How answers are judged."""

    with_reference: str | None = option(
        "--with-reference",
        is_flag=False,
        flag_value="second-turn",
        metavar="[one-prompt|second-turn]",
        help="Show the judge the target answer, at once or after its first answer (if left out).",
    )
    all_metrics: bool = option(
        "--all-metrics", default=False, help="Also metrics that the config leaves out."
    )
    steps: str = option(
        "--steps", default="written", metavar="written|auto", help="auto: the model writes missing ones."
    )
    samples: int | None = option("--samples", type=int, metavar="K", help="Answers per text and metric.")
    temperature: float | None = option("--temperature", type=float, metavar="T", help="0 or more.")
    extraction: str | None = option(
        "--extraction", metavar="parse|prob|prob-or-parse", help="Read the text, or the probabilities."
    )
    seed: int = option("--seed", **SEED)
