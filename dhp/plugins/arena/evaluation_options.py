"""Options of `dhp evaluate`."""

from dataclasses import dataclass, field

from dhp.core.options import option

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
