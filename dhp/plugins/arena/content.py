"""Bundled categories of questions, with their metrics, protocol and example questions."""

from pathlib import Path

from pydantic import Field, model_validator

from dhp.content.yaml_files import load_spec
from dhp.core.protocol_spec import Protocol
from dhp.core.slots import slots_fault
from dhp.core.specs import Language, MetricTexts, Spec

_FOLDER = Path(__file__).with_name("categories")


class CategoryMetric(MetricTexts):
    """A metric of answers, on a scale from 1 to 5."""

    label: str = ""
    """Name of the metric in prompts; default: its name."""


class QuestionCategory(Spec):
    """A kind of question."""

    instruction: str
    """Task of answering a question of this category."""
    metrics: list[str] = Field(min_length=1)


class EvaluationContent(Spec):
    """Categories and their metrics in one language."""

    language: Language
    source_label: str
    output_label: str
    good_answer: str
    """Said above a target answer that the judge may compare with."""
    correct_answer: str
    """The same for the metric correctness."""
    second_turn: str
    """Shows the target answer, with one of these in `{{said}}`, after the judge's first answer."""
    auto_steps: str
    """Asks the model for the evaluation steps of a metric."""
    metrics: dict[str, CategoryMetric]
    categories: dict[str, QuestionCategory]

    @model_validator(mode="after")
    def _complete(self) -> "EvaluationContent":
        for name, category in self.categories.items():
            unknown = [metric for metric in category.metrics if metric not in self.metrics]
            if unknown:
                raise ValueError(
                    f"categories.{name}.metrics: unknown '{unknown[0]}'; allowed: {', '.join(self.metrics)}"
                )
        slots = {"second_turn": ["said", "reference"], "auto_steps": ["metric", "definition"]}
        for place, needed in slots.items():
            # `category` may stand there, the others must.
            fault = slots_fault(getattr(self, place), [*needed, "category"], needed)
            if fault:
                raise ValueError(f"{place}: {fault}")
        return self


def read_evaluation(language: Language) -> EvaluationContent:
    """Categories and metrics in a language."""
    return load_spec(_FOLDER / f"{language}.yaml", EvaluationContent)


def evaluation_protocol() -> Protocol:
    """How the judge is asked for a score."""
    return load_spec(_FOLDER / "evaluate.yaml", Protocol)


def questions_file(language: Language) -> Path:
    """Example questions, five a category, in the form of ColossalEval's target files."""
    return _FOLDER / f"questions-{language}.json"
