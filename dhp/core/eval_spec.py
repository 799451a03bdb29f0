"""Schema of the content for evaluation by category."""

from pydantic import Field, model_validator

from dhp.core.slots import slots_fault
from dhp.core.specs import Language, MetricTexts, Spec


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
            if unknown := [metric for metric in category.metrics if metric not in self.metrics]:
                raise ValueError(
                    f"categories.{name}.metrics: unknown '{unknown[0]}'; allowed: {', '.join(self.metrics)}"
                )
        for place, needed in (
            ("second_turn", ["said", "reference"]),
            ("auto_steps", ["metric", "definition"]),
        ):
            if fault := slots_fault(getattr(self, place), [*needed, "category"], needed):
                raise ValueError(f"{place}: {fault}")
        return self
