"""Schema of protocol files."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal, get_args

from pydantic import Field, PrivateAttr, model_validator

from dhp.core.slots import SLOT, slots_fault
from dhp.core.specs import LANGUAGES as LANGUAGES
from dhp.core.specs import Language as Language
from dhp.core.specs import Spec

AnswerForm = Literal[
    "score-only", "free-text", "rate-explain", "analyze-rate", "da", "stars", "letters", "mix", "json"
]
ANSWER_FORMS: tuple[AnswerForm, ...] = get_args(AnswerForm)

Extraction = Literal["parse", "prob", "prob-or-parse"]

Part = Literal["persona", "task", "criterion", "steps", "sample", "answer"]
PARTS: tuple[Part, ...] = get_args(Part)
"""The parts of a prompt in their order."""

_SLOTS = "instruction source_label output_label metric definition question antonym low high".split()
_OWN_SLOTS = {
    "steps": ["steps"],
    "sample": ["output", "source", "fields", "reference"],
    "reference": ["reference"],
}
"""Slots that a part has beside `_SLOTS`. It is no such part without the first of them."""

_OWN_SCALES = ("da", "letters")
_ONE_TOKEN = ("score-only", "stars", "letters")

ProtocolName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]


def slot_fault(part: str, text: str) -> str | None:
    """What is wrong with the slots in the text of this part of a prompt; None if nothing is."""
    own = _OWN_SLOTS.get(part, [])
    return slots_fault(text, [*_SLOTS, *own], own[:1])


class Answering(Spec):
    """What every protocol says, be it about one text or two: its name, and how answers are made and read."""

    protocol: ProtocolName
    """Name of the protocol."""
    description: str
    """Description in one sentence."""
    temperature: float | None = Field(default=0.0, ge=0, allow_inf_nan=False)
    """Sampling temperature; None (`null`) leaves it to the model. Without effect on `prob`."""
    top_p: float | None = Field(default=None, gt=0, le=1, allow_inf_nan=False)
    """Nucleus sampling; None (`null`) leaves it to the model."""
    max_tokens: int = Field(default=16, ge=1)
    """Maximum number of tokens of one answer."""
    extraction: Extraction = "parse"
    """`parse` reads the answer's text, `prob` weighs scores, or compares letters, by their token
    probabilities, `prob-or-parse` falls back to the text where the model gives none."""
    language: Language = "en"
    """Language of the prompts."""


class Protocol(Answering):
    """How a judge is asked and read."""

    published: str | None = None
    """Parts of the protocol that a paper published, and which paper."""
    ours: str | None = None
    """Parts of the protocol that were chosen for this project."""
    answer: AnswerForm = "score-only"
    """What is asked for: a bare score, an open answer to a question, the rating before or after a reason,
    0-100 (`da`), stars, a letter, half `rate-explain` and half `analyze-rate` samples (`mix`), or, with a
    prompt file, all metrics at once as a JSON object (`json`)."""
    steps: str = "written"
    """Evaluation steps: `none`, `written` (the task's), `auto` (the model writes them once for each metric)
    or a YAML file of `metric: [step, ...]`."""
    reference: bool = False
    """Whether the judge sees a reference text beside the one under judgement."""
    persona: str = "none"
    """`none`, one of the wording's personas, or a text file."""
    samples: int = Field(default=5, ge=1)
    """Answers for each text and metric."""
    parts: dict[Part, str] = Field(default_factory=dict)
    """Parts of the prompt that replace those of the wording."""

    _changed: frozenset[str] = PrivateAttr(frozenset())

    @property
    def changed(self) -> frozenset[str]:
        """The settings that were changed from those of the file."""
        return self._changed

    @model_validator(mode="after")
    def _steps_fit(self) -> "Protocol":
        if self.steps not in ("none", "written", "auto") and not self.steps.endswith((".yaml", ".yml")):
            raise ValueError(f"steps '{self.steps}': unknown; allowed: none, written, auto or a .yaml file")
        if self.steps == "written" and self.answer in _OWN_SCALES:
            raise ValueError(
                f"answer '{self.answer}' has a scale of its own, and written steps name the metric's; "
                "allowed: steps none, auto or a .yaml file"
            )
        return self

    @model_validator(mode="after")
    def _extraction_fits(self) -> "Protocol":
        if self.answer == "mix" and self.samples < 2:
            raise ValueError("answer 'mix' takes turns; allowed: samples 2 or more")
        if self.extraction != "parse" and self.answer not in _ONE_TOKEN:
            raise ValueError(
                f"extraction '{self.extraction}' needs an answer that is one token, unlike '{self.answer}'; "
                f"allowed: answer {', '.join(_ONE_TOKEN)}"
            )
        if self.extraction == "prob" and self.samples > 1:
            raise ValueError(
                "extraction 'prob' reads all scores from one answer, so more tell nothing new; "
                f"allowed: samples 1, not {self.samples}"
            )
        return self

    @model_validator(mode="after")
    def _parts_fit(self) -> "Protocol":
        for part, text in self.parts.items():
            if fault := slot_fault(part, text):
                raise ValueError(f"parts.{part}: {fault}")
        sample = self.parts.get("sample")
        if self.reference and sample is not None and "reference" not in SLOT.findall(sample):
            raise ValueError(
                "parts.sample: lacks the slot '{{reference}}'; allowed: without it, reference false"
            )
        return self


class Wording(Spec):
    """The texts that prompts are made of, in one language. Slots are written `{{name}}`."""

    language: Language
    task: str
    """Paragraph that says what is judged."""
    task_without_source: str
    """Paragraph that says what is judged, where there is no source."""
    criterion: dict[AnswerForm, str]
    """The metric and its scale, by answer form."""
    steps: str
    """The evaluation steps, given as a numbered list in `{{steps}}`."""
    sample: str
    """Source, further fields, reference and the text under judgement, each fenced by its slot; paragraphs
    that are no more than an empty slot vanish."""
    reference: str
    """What `{{reference}}` stands for in `sample`; here it is the text itself, fenced."""
    answers: dict[AnswerForm, str]
    """The request for an answer, by answer form."""
    personas: dict[str, str]
    auto_steps: str
    """Asks the model to write the evaluation steps of a metric."""

    @model_validator(mode="after")
    def _complete(self) -> "Wording":
        forms = [form for form in ANSWER_FORMS if form not in ("mix", "json")]
        for key in ("criterion", "answers"):
            if unlike := sorted(set(getattr(self, key)) ^ set(forms)):
                raise ValueError(
                    f"{key}.{unlike[0]}: unknown or missing; allowed: exactly {', '.join(forms)}"
                )
        for part, place, text in self._texts():
            if fault := slot_fault(part, text):
                raise ValueError(f"{place}: {fault}")
        return self

    def _texts(self) -> Iterator[tuple[str, str, str]]:
        """Part, place and text of everything with slots."""
        for name in ("task", "steps", "sample", "reference", "auto_steps"):
            yield name, name, getattr(self, name)
        yield "task", "task_without_source", self.task_without_source
        several: Mapping[str, Mapping[str, str]] = {
            "criterion": dict(self.criterion.items()),
            "answers": dict(self.answers.items()),
            "personas": self.personas,
        }
        for part, texts in several.items():
            for name, text in texts.items():
                yield part, f"{part}.{name}", text
