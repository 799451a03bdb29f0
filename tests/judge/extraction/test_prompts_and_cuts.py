"""Echoes of the prompt and answers that were cut off hold no rating."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhp.content.catalog import names_of, override, read_protocol, read_task, read_wording
from dhp.core import answer_forms
from dhp.core.answer_forms import POINTWISE_FORMS, AnswerForm, answer_scale
from dhp.core.records import Candidate
from dhp.core.specs import LANGUAGES, Scale
from dhp.judge.extraction.rating import read_rating
from dhp.judge.prompts import Prompts

FIVE = Scale(min=1.0, max=5.0)
FORMS = [
    name
    for name in POINTWISE_FORMS
    if not ((form := answer_forms.FORMS[name]).turns or form.own_prompt or form.data)
]
"""Those of which one answer is prose, asked for by a prompt of the package."""


def prompts(form: AnswerForm, language: str) -> Iterator[tuple[Scale, str]]:
    """The prompts of all tasks and metrics."""
    steps = "none" if form in ("da", "letters") else "written"
    protocol = override(read_protocol("dhp"), answer=form, steps=steps, language=language)
    for name in names_of("task"):
        task = read_task(name).in_language(protocol.language)
        writer = Prompts(protocol, read_wording(protocol.language), task)
        for metric in task.metrics:
            text = writer.prompt(Candidate("e", "original", "Text.", "Source."), metric.name, form)
            yield answer_scale(form, metric.scale), text


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("form", FORMS)
def test_an_echo_of_the_prompt_is_unparsed(form: AnswerForm, language: str) -> None:
    for scale, prompt in prompts(form, language):
        lines = prompt.splitlines()
        echoes = [prompt, *filter(None, lines), *("\n".join(lines[i:]) for i in range(1, len(lines)))]
        for echo in echoes:
            read = read_rating(echo, scale, form)
            assert read.score is None, (read, echo)


@pytest.mark.parametrize(
    "echo",
    [
        "1. Read the story and note its characters",
        "2. Compare the two texts sentence by sentence.",
        "1. Read the article. 2. Read the summary. 3. Give it a score from 1 to 5.",
        "Step 1: Read the text.",
        "1. 阅读故事，记下其中的人物。",
        "3、核对数字。",
        "**1.** Identify the main points of the article",
    ],
)
@pytest.mark.parametrize("form", FORMS)
def test_a_step_of_the_instructions_is_no_rating(echo: str, form: AnswerForm) -> None:
    assert read_rating(echo, FIVE, form).score is None


@pytest.mark.parametrize(
    "text", ["4. The summary reads well.", "4. Because nothing is missing.", "4) Reads well."]
)
def test_a_rating_before_its_reason_is_no_step(text: str) -> None:
    assert read_rating(text, FIVE, "rate-explain").score == 4


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("analyze-rate", "The plot is clear. Rating: 4"),
        ("analyze-rate", "I was going to give a 4 but the last"),
        ("analyze-rate", "4"),
        ("rate-explain", "Rating: 4"),
        ("rate-explain", "The text is good. It has"),
        ("rate-explain", "Of its sentences, all are right but. 3"),
        ("free-text", "I would give it a score of 4"),
        ("free-text", "It deserves a rating of"),
        ("score-only", "The score for fluency is. 3"),
        ("stars", "The text earns"),
        ("da", "I would rate the text"),
        ("letters", "The text is"),
    ],
)
def test_an_answer_cut_off_before_its_rating_is_unparsed(form: AnswerForm, text: str) -> None:
    assert read_rating(text, FIVE, form, cut_off=True).status == "unparsed"


@pytest.mark.parametrize(
    ("form", "text", "score"),
    [
        ("score-only", "4", 4),
        ("score-only", "4\n\nThe text", 4),
        ("stars", "3", 3),
        ("letters", "D", 4),
        ("rate-explain", "Rating: 4\nThe text reads", 4),
        ("rate-explain", "Rating: 4, as", 4),
        ("free-text", "I would give it a score of 4, because the", 4),
    ],
)
def test_a_rating_before_the_cut_is_read(form: AnswerForm, text: str, score: float) -> None:
    assert read_rating(text, FIVE, form, cut_off=True).score == score


HUNDRED, TEN, BOTH = Scale(min=0, max=100), Scale(min=1, max=10), Scale(min=-50, max=20)


@pytest.mark.parametrize(
    ("text", "scale", "form", "score"),
    [
        ("8", HUNDRED, "da", None),  # of 85
        ("10", HUNDRED, "da", None),  # of 100
        ("eight", HUNDRED, "da", None),  # of eighty
        ("八", HUNDRED, "da", None),  # of 八十
        (" **8", HUNDRED, "da", None),
        ("85", HUNDRED, "da", 85),
        ("11", HUNDRED, "da", 11),
        ("100", HUNDRED, "da", 100),
        ("0", HUNDRED, "da", 0),
        ("8\n", HUNDRED, "da", 8),
        ("8 because", HUNDRED, "da", 8),
        ("1", TEN, "score-only", None),
        ("2", TEN, "score-only", 2),
        ("4", FIVE, "score-only", 4),
        ("4.5", FIVE, "score-only", None),
        ("2", BOTH, "score-only", None),
        ("3", BOTH, "score-only", 3),
        ("-3", BOTH, "score-only", None),
        ("-6", BOTH, "score-only", -6),
    ],
)
def test_digits_cut_off_by_length_are_no_score_where_more_may_follow(
    text: str, scale: Scale, form: AnswerForm, score: float | None
) -> None:
    assert read_rating(text, scale, form, cut_off=True).score == score
    assert read_rating(text, scale, form).score is not None


@given(st.integers(0, 100), st.integers(1, 3))
def test_no_beginning_of_a_number_is_read_as_another(number: int, digits: int) -> None:
    cut = str(number)[:digits]
    assert read_rating(cut, HUNDRED, "da", cut_off=True).score in (None, number)
