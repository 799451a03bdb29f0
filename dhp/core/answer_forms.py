"""The forms of an answer that a judge can be asked for, a record each; their wording is content."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from dhp.core.specs import Scale

AnswerForm = Literal[
    "score-only",
    "free-text",
    "rate-explain",
    "analyze-rate",
    "da",
    "stars",
    "letters",
    "mix",
    "json",
    "questions",
    "choice",
    "two-scores",
    "bare",
    "reason-first",
    "reason-last",
]


@dataclass(frozen=True, slots=True)
class Form:
    """What is known of a form of an answer."""

    pairwise: bool = False
    """Whether it is an answer about two texts."""
    scale: Scale | None = None
    """Scale of its scores, if it is not the metric's; letters count from A = 1."""
    written_steps: bool = True
    """Whether it can follow a task's written steps, which name the metric's scale."""
    alone: bool = False
    """Whether the whole answer is the rating."""
    one_token: bool = False
    """Whether the rating is one token, so that it can be read from probabilities."""
    again: str = "number"
    """Kind of what is asked for again after an answer that cannot be read."""
    second: AnswerForm | None = None
    """Form of the second answer, if it is another one."""
    turns: tuple[AnswerForm, ...] = ()
    """The forms that samples take in turn, if they do."""
    together: bool = False
    """Whether one answer speaks of all metrics of the task."""
    data: bool = False
    """Whether it is asked of a decision model: typed questions, answered by probabilities and by no word."""
    own_prompt: bool = False
    """Whether it needs a prompt file that asks for it."""


FORMS: Mapping[AnswerForm, Form] = {
    "score-only": Form(alone=True, one_token=True),
    "free-text": Form(second="score-only"),
    "rate-explain": Form(second="score-only"),
    "analyze-rate": Form(second="score-only"),
    "da": Form(scale=Scale(min=0, max=100), written_steps=False, alone=True),
    "stars": Form(scale=Scale(min=1, max=5), alone=True, one_token=True, again="stars"),
    "letters": Form(
        scale=Scale(min=1, max=5), written_steps=False, alone=True, one_token=True, again="letter"
    ),
    # Half of its samples in one form and half in the other.
    "mix": Form(turns=("rate-explain", "analyze-rate")),
    # Only a prompt file can say what the object looks like.
    "json": Form(again="json", own_prompt=True, together=True),
    # Decision models write nothing: they get data and return probabilities.
    "questions": Form(alone=True, together=True, data=True),
    "choice": Form(pairwise=True, alone=True, data=True, again="letter"),
    "two-scores": Form(pairwise=True, again="scores"),
    "bare": Form(pairwise=True, alone=True, one_token=True, again="letter"),
    "reason-first": Form(pairwise=True, again="letter", second="bare"),
    "reason-last": Form(pairwise=True, again="letter", second="bare"),
}

PAIRWISE_FORMS: tuple[AnswerForm, ...] = tuple(name for name, form in FORMS.items() if form.pairwise)
"""Forms of an answer about two texts."""
POINTWISE_FORMS: tuple[AnswerForm, ...] = tuple(name for name, form in FORMS.items() if not form.pairwise)
"""Forms of an answer about one text."""
FILE_FORMS: tuple[AnswerForm, ...] = tuple(
    name for name in POINTWISE_FORMS if FORMS[name].scale is None and not FORMS[name].turns
)
"""Forms that a prompt file may ask for: on the metric's own scale."""


def turns_of(form: AnswerForm) -> tuple[AnswerForm, ...]:
    """The forms in which its samples are asked for, in turn."""
    return FORMS[form].turns or (form,)


def answer_scale(form: AnswerForm, scale: Scale) -> Scale:
    """The scale that an answer of this form is on; `scale` is the metric's."""
    return FORMS[form].scale or scale


def form_again(form: AnswerForm) -> AnswerForm:
    """The form of the second answer, asked for if the first cannot be read."""
    return FORMS[form].second or form
