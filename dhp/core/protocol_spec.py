"""Schema of protocol files, and of the wording of their prompts.

A `Protocol` says how a judge is asked and read: form of the answer, steps, samples, temperature. A `Wording`
holds the texts of the prompts in one language. A prompt is made of the parts in `PARTS`: each is the text of
the wording, unless the protocol replaces it. What does not go together is refused when a file is read, so
that no other module has to ask.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any, Literal, get_args

from pydantic import Field, PrivateAttr, model_validator

from dhp.core.answer_forms import FORMS, PAIRWISE_FORMS, POINTWISE_FORMS, AnswerForm, turns_of
from dhp.core.slots import SLOT, slots_fault
from dhp.core.specs import Language, Scale, Spec, check_keys

Extraction = Literal["parse", "prob", "prob-or-parse"]

Part = Literal["persona", "task", "criterion", "steps", "sample", "answer"]
PARTS: tuple[Part, ...] = get_args(Part)
"""The parts of a prompt in their order."""

# Slots of every part: of the task, of the metric, and the ends of its scale.
_SLOTS = "instruction source_label output_label metric definition question antonym low high".split()
_OWN_SLOTS: dict[str, tuple[list[str], list[str]]] = {
    "steps": (["steps"], []),
    "sample": (["output"], ["source", "fields", "reference"]),
    "pair": (["first", "second"], ["source", "fields"]),
    "reference": (["reference"], []),
    "final": (["verdict_1", "verdict_2"], []),
    "again": ([], ["labels"]),
    "levels": ([], ["point", "worst", "best"]),
}
"""Part -> the slots that it needs, and others that it may have, beside `_SLOTS`; `pair`: a sample of two."""

ProtocolName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]  # G-Eval.v2


def slot_fault(part: str, text: str) -> str | None:
    """What is wrong with the slots in the text of this part of a prompt; None if nothing is."""
    needed, further = _OWN_SLOTS.get(part, ([], []))
    return slots_fault(text, [*_SLOTS, *needed, *further], needed)


def _samples(settings: dict[str, object]) -> int:
    # A comparison is asked in both orders anyway; a rating is the mean of five answers, as in the DHP paper.
    return 1 if settings.get("answer") in PAIRWISE_FORMS else 5


class Protocol(Spec):
    """How a judge is asked and read: about one text, or about two in both orders (pairwise)."""

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
    probabilities, `prob-or-parse` falls back to the text if the model gives none."""
    language: Language = "en"
    """Language of the prompts."""
    published: str | None = None
    """Parts of the protocol that a paper published, and which paper."""
    ours: str | None = None
    """Parts of the protocol that were chosen for this project."""
    answer: AnswerForm = "score-only"
    """What is asked for. Of one text: a bare score, an open answer to a question, the rating before or after
    a reason, 0-100 (`da`), stars, a letter, half `rate-explain` and half `analyze-rate` samples (`mix`),
    with a prompt file all metrics at once as a JSON object (`json`), or of a decision model a probability
    for each level (`questions`). Of two, which makes the protocol pairwise: `two-scores` in the first line,
    then the reason; or the better text: `bare`, `reason-first` (the verdict last) or `reason-last`; of a
    decision model `choice`."""
    steps: str = "written"
    """Evaluation steps: `none`, `written` (the task's), `auto` (the model writes them once for each metric)
    or a YAML file of `metric: [step, ...]`. Pointwise."""
    reference: bool = False
    """Whether the judge sees a reference text beside the one under judgement. Pointwise."""
    persona: str = "none"
    """`none`, one of the wording's personas, or a text file. Pointwise."""
    ties: bool = True
    """Whether the judge may call a tie; without effect on `two-scores`. Pairwise."""
    scale: Scale = Scale(min=1.0, max=10.0)
    """Scale of the scores of the answer form `two-scores`. Pairwise."""
    system: bool = False
    """Whether the wording's system message is sent. Pairwise."""
    final: bool = False
    """Whether verdicts that contradict each other over the two orders are shown to the judge for a final
    word, again in both orders. Pairwise."""
    samples: int = Field(default_factory=_samples, ge=1)
    """Answers for each text and metric, by default 5; pairwise in each order, by default 1, of which the
    majority counts."""
    ask_again: bool = True
    """Whether an answer that cannot be read is followed by one request for the rating alone. Without effect
    if probabilities are read."""
    levels: str = "points"
    """Name of the wording's words for the levels of a question. Answer form `questions`."""
    parts: dict[Part, str] = Field(default_factory=dict)
    """Parts of the prompt that replace those of the wording. Pointwise."""

    _changed: frozenset[str] = PrivateAttr(frozenset())

    @property
    def changed(self) -> frozenset[str]:
        """The settings that were changed from those of the file."""
        return self._changed

    @property
    def pairwise(self) -> bool:
        """Whether the judge is asked about two texts."""
        return self.answer in PAIRWISE_FORMS

    def settings(self, *but: str) -> dict[str, object]:
        """The settings of its kind, pointwise or pairwise, as JSON; without those called `but`."""
        of_other_kind = _POINTWISE_SETTINGS if self.pairwise else _PAIRWISE_SETTINGS
        # Settings of the other kind are always at their defaults, and would only be read as if they counted.
        left_out = {*but, *of_other_kind}
        if not FORMS[self.answer].data:
            left_out.add("levels")
        return self.model_dump(mode="json", exclude=left_out)

    @model_validator(mode="after")
    def _kind_fits(self) -> "Protocol":
        # What the file states, even with the default as its value: it would have no effect.
        others = _POINTWISE_SETTINGS if self.pairwise else _PAIRWISE_SETTINGS
        unfit = [name for name in others if name in self.model_fields_set]
        if unfit:
            kind = "pointwise" if self.pairwise else "pairwise"
            raise ValueError(
                f"{unfit[0]}: is for {kind} protocols, unlike answer '{self.answer}'; leave it out"
            )
        return self

    @model_validator(mode="after")
    def _questions_fit(self) -> "Protocol":
        if not FORMS[self.answer].data:
            if "levels" in self.model_fields_set:
                raise ValueError(f"levels: is for answer 'questions', unlike '{self.answer}'; leave it out")
            return self
        # What steers how a model writes says nothing to one that writes nothing.
        silent = {"temperature": None, "top_p": None, "extraction": "parse", "ask_again": False}
        for name, only in {**silent, "persona": "none", "system": False, "final": False}.items():
            if getattr(self, name) != only:
                in_yaml = "null" if only is None else str(only).lower()
                raise ValueError(
                    f"{name}: a decision model writes nothing, so answer '{self.answer}' has none; allowed: "
                    f"{in_yaml}"
                )
        unused = sorted(self.parts.keys() - {"criterion", "steps", "answer"})
        if unused:
            raise ValueError(
                f"parts.{unused[0]}: no question has it; allowed with answer '{self.answer}': criterion, "
                "steps, answer"
            )
        return self

    @model_validator(mode="after")
    def _steps_fit(self) -> "Protocol":
        if self.steps not in ("none", "written", "auto") and not self.steps.endswith((".yaml", ".yml")):
            raise ValueError(f"steps '{self.steps}': unknown; allowed: none, written, auto or a .yaml file")
        if self.steps == "written" and not FORMS[self.answer].written_steps:
            raise ValueError(
                f"answer '{self.answer}' has a scale of its own, and written steps name the metric's; "
                "allowed: steps none, auto or a .yaml file"
            )
        return self

    @model_validator(mode="after")
    def _extraction_fits(self) -> "Protocol":
        if self.samples < len(turns_of(self.answer)):
            raise ValueError(f"answer '{self.answer}' takes turns; allowed: samples 2 or more")
        what, every = ("letter", "letters") if self.pairwise else ("token", "scores")
        if self.extraction != "parse" and not FORMS[self.answer].one_token:
            forms = PAIRWISE_FORMS if self.pairwise else POINTWISE_FORMS
            fitting = [form for form in forms if FORMS[form].one_token]
            raise ValueError(
                f"extraction '{self.extraction}' needs an answer that is one {what}, unlike '{self.answer}'; "
                f"allowed: answer {', '.join(fitting)}"
            )
        if self.extraction == "prob" and self.samples > 1:
            raise ValueError(
                f"extraction 'prob' reads all {every} from one answer, so more tell nothing new; "
                f"allowed: samples 1, not {self.samples}"
            )
        return self

    @model_validator(mode="after")
    def _parts_fit(self) -> "Protocol":
        for part, text in self.parts.items():
            fault = slot_fault(part, text)
            if fault:
                raise ValueError(f"parts.{part}: {fault}")
        sample = self.parts.get("sample")
        if self.reference and sample is not None and "reference" not in SLOT.findall(sample):
            raise ValueError(
                "parts.sample: lacks the slot '{{reference}}'; allowed: without it, reference false"
            )
        return self


_POINTWISE_SETTINGS = ("steps", "reference", "persona", "levels", "parts")
_PAIRWISE_SETTINGS = ("ties", "scale", "system", "final")

Protocols = str | Protocol | Sequence[str | Protocol]
"""One or several ways of asking, by name or as they are."""


class Wording(Spec):
    """The texts that prompts are made of, in one language: prompts with one text, or with two (pairwise).

    Slots are written `{{name}}`.
    """

    language: Language
    system: str = ""
    """Text of the system message. Pairwise."""
    task: str
    """Paragraph that says what is judged."""
    task_without_source: str
    """Paragraph that says what is judged, if there is no source."""
    criterion: dict[AnswerForm, str] | str
    """The metric and its scale, by answer form; pairwise: the metric, for all forms."""
    overall: str = ""
    """Paragraph in place of a metric: which text is better as a whole. Pairwise."""
    steps: str = ""
    """The evaluation steps, given as a numbered list in `{{steps}}`. Pointwise."""
    sample: str
    """Source, further fields, reference and the text or both texts under judgement, each fenced by its slot;
    paragraphs that are no more than an empty slot vanish."""
    reference: str = ""
    """What `{{reference}}` stands for in `sample`; here it is the text itself, fenced. Pointwise."""
    answers: dict[AnswerForm, str]
    """The request for an answer, by answer form."""
    ties: dict[Literal["letter", "word", "none"], str] = Field(default_factory=dict)
    """Sentence about ties: with a letter for them, with a word for them, or that there are none. Pairwise."""
    personas: dict[str, str] = Field(default_factory=dict)
    """Name -> paragraph before the task. Pointwise."""
    levels: dict[str, Annotated[list[str], Field(min_length=3)]] = Field(default_factory=dict)
    """Name -> words for the levels of a question, the worst first: the first for the worst level, the last
    for the best, those between spread over the levels between. Slots: `{{point}}` of the scale, and what
    the `{{worst}}` and the `{{best}}` mean. Pointwise."""
    choices: dict[Literal["first", "second", "tie"], str] = Field(default_factory=dict)
    """What may be answered to the question which of two texts is better. Pairwise."""
    again: dict[str, str]
    """The request for the rating alone after an answer that cannot be read, by its kind: of one text
    `number`, `stars`, `letter`, `label` or `json`, of two `scores` or `letter`."""
    auto_steps: str = ""
    """Asks the model to write the evaluation steps of a metric. Pointwise."""
    final: str = ""
    """Paragraph that shows two contradicting verdicts, above the request for an answer. Pairwise."""

    @property
    def pairwise(self) -> bool:
        """Whether it is of prompts with two texts."""
        # Of one text the criterion depends on the form of the answer, and is a mapping.
        return isinstance(self.criterion, str)

    @model_validator(mode="after")
    def _complete(self) -> "Wording":
        needed = _PAIRWISE_TEXTS if self.pairwise else _POINTWISE_TEXTS
        # Texts that only one of the two kinds has; the others are fields that any wording needs.
        present = self.model_fields_set & {*_PAIRWISE_TEXTS, *_POINTWISE_TEXTS}
        check_keys("", present, needed)

        # A form that takes turns has the texts of the others; one with a prompt of its own needs none.
        kind = PAIRWISE_FORMS if self.pairwise else POINTWISE_FORMS
        forms = []
        for name in kind:
            form = FORMS[name]
            if not form.turns and not form.own_prompt:
                forms.append(name)
        check_keys("answers.", self.answers, forms)
        check_keys("again.", self.again, _kinds_again(kind))
        if isinstance(self.criterion, dict):
            check_keys("criterion.", self.criterion, forms)
        else:
            check_keys("ties.", self.ties, ("letter", "word", "none"))
            check_keys("choices.", self.choices, ("first", "second", "tie"))
        for part, place, text in self._texts():
            fault = slot_fault(part, text)
            if fault:
                raise ValueError(f"{place}: {fault}")
        return self

    def used_by(self, protocol: Protocol, *, own_prompt: bool = False) -> dict[str, Any]:
        """The texts that the prompts of a protocol are made of, without its persona.

        With `own_prompt` the user's own prompt replaces all of them but the request after an answer that
        cannot be read. A text for another answer form or way of asking is not among them.
        """
        # The hash of a protocol covers these texts alone: its ratings stay comparable if a form of answers is
        # added, or one is worded anew that it does not use.
        used: dict[str, Any] = {}

        # The second request, which a prompt of the user's own has, too.
        if protocol.ask_again:
            kinds = {"label", FORMS[protocol.answer].again}
            used["again"] = {kind: text for kind, text in self.again.items() if kind in kinds}
            if protocol.pairwise:
                used["ties"] = self.ties
        if own_prompt:
            return used

        # Of the texts by answer form, those of its forms; of all others, what its prompts contain.
        forms = turns_of(protocol.answer)
        if FORMS[protocol.answer].data and not protocol.pairwise:
            used["levels"] = self.levels[protocol.levels]
        for name, value in self:
            # `again` and `levels` were settled above.
            if name in ("again", "personas", "levels", *self._unused(protocol)):
                continue
            if name in ("criterion", "answers") and isinstance(value, dict):
                value = {form: value[form] for form in forms if form in value}
            used[name] = value
        return used

    def _unused(self, protocol: Protocol) -> set[str]:
        """Names of the texts that no prompt of a protocol contains."""
        unused = set()
        for setting in ("reference", "system", "final"):
            if not getattr(protocol, setting):
                unused.add(setting)
        if FORMS[protocol.answer].data:
            unused |= {"task", "task_without_source", "sample", "reference", "ties"}
        else:
            unused.add("choices")
        if protocol.steps == "none":
            unused.add("steps")
        if protocol.steps != "auto":
            unused.add("auto_steps")
        # Parts of the protocol's own take the place of these texts; other parts and texts have the same name.
        replaced = {"task": ("task", "task_without_source"), "answer": ("answers",)}
        for part in protocol.parts:
            # A part that is not in the table has the name of the one text that it replaces.
            unused.update(replaced.get(part, (part,)))
        return unused

    def _texts(self) -> Iterator[tuple[str, str, str]]:
        """Part, place and text of everything with slots."""
        for name, value in self:
            if name in ("language", "ties", "choices") or not value:
                continue
            part = "pair" if name == "sample" and self.pairwise else name
            # A field is a text, a mapping of texts, or one of lists of texts.
            by_key = value if isinstance(value, dict) else {"": value}
            for key, texts in by_key.items():
                # A single text has no key: `task.` is `task`.
                place = f"{name}.{key}".rstrip(".")
                listed = [texts] if isinstance(texts, str) else texts
                for text in listed:
                    yield part, place, text


_POINTWISE_TEXTS = ("steps", "reference", "personas", "levels", "auto_steps")
_PAIRWISE_TEXTS = ("system", "overall", "ties", "choices", "final")


def _kinds_again(forms: Iterable[AnswerForm]) -> list[str]:
    """The kinds of second requests after answers of these forms; about one text also `label`."""
    kinds: list[str] = []
    for form in forms:
        kind = FORMS[form].again
        if kind not in kinds:
            kinds.append(kind)
    # Only forms of two texts ask for scores, and two texts get no label of a metric.
    return kinds if "scores" in kinds else [*kinds, "label"]
