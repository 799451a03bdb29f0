"""Schema of pairwise protocol files."""

from collections.abc import Iterator, Sequence
from typing import Literal, get_args

from pydantic import Field, model_validator

from dhp.core.protocol_spec import Answering, Protocol
from dhp.core.slots import slots_fault
from dhp.core.specs import Language, Scale, Spec

PairAnswer = Literal["two-scores", "bare", "reason-first", "reason-last"]
PAIR_ANSWERS: tuple[PairAnswer, ...] = get_args(PairAnswer)

_SLOTS = "instruction source_label output_label metric definition low high".split()
_OWN_SLOTS = {"sample": ["first", "second", "source", "fields"], "final": ["verdict_1", "verdict_2"]}
"""Slots that a text has beside `_SLOTS`."""
_NEEDED = {"sample": ["first", "second"], "final": ["verdict_1", "verdict_2"]}


class PairwiseProtocol(Answering):
    """How a judge is asked about two texts, and how its answer is read. Both orders are always asked."""

    answer: PairAnswer = "bare"
    """`two-scores` for both texts in the first line, then the reason; or the better text: `bare`,
    `reason-first` (the verdict last) or `reason-last`."""
    ties: bool = True
    """Whether the judge may call a tie; without effect on `two-scores`."""
    scale: Scale = Scale(min=1.0, max=10.0)
    """Scale of the scores of the answer form `two-scores`."""
    system: bool = False
    """Whether the wording's system message is sent."""
    final: bool = False
    """Whether verdicts that contradict each other over the two orders are shown to the judge for a final
    word, again in both orders."""
    samples: int = Field(default=1, ge=1)
    """Answers in each order; the majority counts."""

    @model_validator(mode="after")
    def _extraction_fits(self) -> "PairwiseProtocol":
        if self.extraction != "parse" and self.answer != "bare":
            raise ValueError(
                f"extraction '{self.extraction}' needs an answer that is one letter, unlike '{self.answer}'; "
                "allowed: answer bare"
            )
        if self.extraction == "prob" and self.samples > 1:
            raise ValueError(
                "extraction 'prob' reads all letters from one answer, so more tell nothing new; "
                f"allowed: samples 1, not {self.samples}"
            )
        return self


class PairWording(Spec):
    """The texts that pairwise prompts are made of, in one language. Slots are written `{{name}}`."""

    language: Language
    system: str
    """Text of the system message."""
    task: str
    """Paragraph that says what is judged."""
    task_without_source: str
    """Paragraph that says what is judged, where there is no source."""
    criterion: str
    """Paragraph that names the metric by which the texts are compared."""
    overall: str
    """Paragraph in place of a metric: which text is better as a whole."""
    sample: str
    """Source, further fields and both texts, each fenced by its slot; paragraphs that are no more than an
    empty slot vanish."""
    answers: dict[PairAnswer, str]
    """Request for an answer, by answer form."""
    ties: dict[Literal["letter", "word", "none"], str]
    """Sentence about ties: with a letter for them, with a word for them, or that there are none."""
    final: str
    """Paragraph that shows two contradicting verdicts, above the request for an answer."""

    @model_validator(mode="after")
    def _complete(self) -> "PairWording":
        for key, wanted in (("answers", PAIR_ANSWERS), ("ties", ("letter", "word", "none"))):
            if unlike := sorted(set(getattr(self, key)) ^ set(wanted)):
                raise ValueError(
                    f"{key}.{unlike[0]}: unknown or missing; allowed: exactly {', '.join(wanted)}"
                )
        for place, text in self._texts():
            allowed = [*_SLOTS, *_OWN_SLOTS.get(place, [])]
            if fault := slots_fault(text, allowed, _NEEDED.get(place, [])):
                raise ValueError(f"{place}: {fault}")
        return self

    def _texts(self) -> Iterator[tuple[str, str]]:
        """Place and text of everything with slots."""
        for name in ("system", "task", "task_without_source", "criterion", "overall", "sample", "final"):
            yield name, getattr(self, name)
        for name, text in self.answers.items():
            yield f"answers.{name}", text


AnyProtocol = Protocol | PairwiseProtocol
Protocols = str | AnyProtocol | Sequence[str | AnyProtocol]
"""One or several ways of asking, by name or as they are."""
