"""Pairwise verdicts: the text that the answer calls better, a tie, or the reason why there is no verdict."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhp.core.answer_forms import FORMS, PAIRWISE_FORMS, AnswerForm
from dhp.core.specs import Scale
from dhp.judge.extraction.rating import read_rating
from dhp.judge.extraction.verdict import (
    read_letter,
    read_verdict,
)
from dhp.llm.records import Position

TEN = Scale(min=1.0, max=10.0)

WRITTEN = [form for form in PAIRWISE_FORMS if not FORMS[form].data]
"""Forms in which a judge answers in words."""


@pytest.mark.parametrize(
    ("answer", "choice"),
    [
        ("A", 1),
        ("B.", -1),
        ("(b)", -1),
        ("**A**", 1),
        ("[[A]]", 1),
        ("[[B]]", -1),
        ("[[C]]", 0),
        ("C", 0),
        ("2", -1),
        ("Output (a)", 1),
        ("Output (b) is better.", -1),
        ("Response 1", 1),
        ("Answer: B", -1),
        ("Verdict: tie", 0),
        ("Tie", 0),
        ("It's a tie.", 0),
        ("Both are equally good.", 0),
        ("Neither of them is better.", 0),
        ("答案：B", -1),
        ("A更好", 1),
        ("平局", 0),
        ("<think>A seems fine.</think>B", -1),
    ],
)
def test_a_bare_verdict_is_read_in_every_form(answer: str, choice: int) -> None:
    for form in WRITTEN[1:]:
        assert read_verdict(answer, form).score == choice


@pytest.mark.parametrize(
    ("answer", "choice"),
    [
        ("Output (a) names the mayor, Output (b) does not. Therefore, Output (a) is better.", 1),
        ("At first sight A is better. But its dates are wrong, so B is better.", -1),
        ("A is longer and B is clearer.\n\nB", -1),
        ("Both keep to the article. My verdict is [[B]]", -1),
        ("Response A repeats itself. I prefer response B.", -1),
        ("The first line of A is odd. The better text is B.", -1),
        ("Summary 1 is the stronger summary.", 1),
        ("One asks whether Output (a) is better, but it is not. Output (b) is better than Output (a).", -1),
        ("Both are equally fluent. Still, text A wins.", 1),
        ("A is better in style, B is better in content. Overall, it is a tie.", 0),
        ("I would choose Output (b) over Output (a).", -1),
        ("Output (a) is clearly worse.", -1),
        ("两者都通顺，但B更好。", -1),
    ],
)
def test_after_the_reason_the_last_verdict_counts(answer: str, choice: int) -> None:
    assert read_verdict(answer, "reason-first").score == choice


@pytest.mark.parametrize(
    ("answer", "choice"),
    [
        ("Output (b)\n\nOutput (a) gives no date.", -1),
        ("B. The other one is too long, and A is better only in its first line.", -1),
        ("Output (a) is better.\n\nOutput (b) is better known, but it is wrong.", 1),
        ("A because it answers the question.", 1),
        ("[[A]] Response B is vague.", 1),
        ("Tie. Both say the same.", 0),
    ],
)
def test_before_the_reason_the_first_verdict_counts(answer: str, choice: int) -> None:
    assert read_verdict(answer, "reason-last").score == choice


@pytest.mark.parametrize(
    ("form", "answer", "reason"),
    [
        ("bare", "", "unparsed"),
        ("bare", "A summary should be short.", "unparsed"),
        ("bare", "The better of the two.", "unparsed"),
        ("reason-first", "Output (a) names two facts and Output (b) one.", "unparsed"),
        ("reason-first", "It is not clear whether A is better.", "unparsed"),
        ("reason-first", "<think>A is better", "unparsed"),
        ("bare", "A is better. B is better.", "contradictory"),
        ("reason-last", "I'm sorry, but I cannot compare these texts.", "refused"),
        ("two-scores", "I cannot rate them.", "refused"),
        ("two-scores", "8", "unparsed"),
        ("two-scores", "8 7 6", "unparsed"),
        ("two-scores", "8 to 9, 7", "unparsed"),
        ("two-scores", "11 7", "out_of_scale"),
        ("two-scores", "0 7", "out_of_scale"),
    ],
)
def test_no_verdict_has_its_reason(form: AnswerForm, answer: str, reason: str) -> None:
    read = read_verdict(answer, form)
    assert (read.score, read.status) == (None, reason)


@pytest.mark.parametrize(
    ("answer", "scores", "choice"),
    [
        ("8 7", (8, 7), 1),
        ("8 7\nThe first names 3 facts, the second 2.", (8, 7), 1),
        ("6.5, 9", (6.5, 9), -1),
        ("7/10 7/10\nBoth are fine.", (7, 7), 0),
        ("Assistant 1: 5\tAssistant 2: 8", (5, 8), -1),
        ("\n9 3\n", (9, 3), 1),
        ("1 10", (1, 10), -1),
        ("10 1", (10, 1), 1),
    ],
)
def test_two_scores_in_the_first_line_decide(answer: str, scores: tuple[float, float], choice: int) -> None:
    read = read_verdict(answer, "two-scores")
    assert (read.scores, read.score) == (scores, choice)


@pytest.mark.parametrize(
    ("answer", "shares", "ties", "choice", "scores"),
    [
        ("A", (0.5, 0.3, 0.2), True, 1, (0.5, 0.3)),
        ("A", (0.5, 0.3, 0.2), False, 1, (0.625, 0.375)),
        ("A", (0.3, 0.5, 0.2), True, -1, (0.3, 0.5)),
        ("C", (0.2, 0.3, 0.5), True, 0, (0.2, 0.3)),
        ("B", (0.4, 0.4, 0.2), False, 0, (0.5, 0.5)),
        ("C", (0.2, 0.3, 0.5), False, None, None),
    ],
)
def test_the_likelier_letter_is_the_choice(
    answer: str,
    shares: tuple[float, ...],
    ties: bool,
    choice: int | None,
    scores: tuple[float, float] | None,
) -> None:
    likely = zip("ABC", map(math.log, shares), strict=True)
    read = read_letter(answer, [Position(answer, tuple(likely))], ties=ties)
    assert (read.score, read.scores) == (choice, scores and pytest.approx(scores))


@pytest.mark.parametrize(("answer", "reason"), [("I cannot choose.", "refused"), ("Good.", "unparsed")])
def test_without_probabilities_an_answer_is_refused_or_unparsed(answer: str, reason: str) -> None:
    read = read_letter(answer, [Position(answer, ((answer, 0.0),))], ties=True)
    assert (read.score, read.status) == (None, reason)


@pytest.mark.parametrize(
    "answer", ["8.5 out of 10", "8.5", "I'd give it 8.5/10.", "Score: 8.5 out of 10, as it"]
)
def test_a_decimal_is_read_whole(answer: str) -> None:
    assert read_rating(answer, TEN, "rate-explain").score == 8.5


@given(
    st.text()
    | st.lists(st.sampled_from("A B (a) Output is better [[ ]] tie 8 7 \n . verdict:".split(" "))).map(
        " ".join
    )
)
def test_any_text_gives_a_choice_or_a_reason(text: str) -> None:
    for form in WRITTEN:
        read = read_verdict(text, form)
        assert (read.score is None) != (read.status == "scored")


@pytest.mark.parametrize(
    ("form", "wording"),
    [
        ("bare", "{}"),
        ("bare", "[[{}]]"),
        ("reason-first", "Both are short. Output ({}) is better."),
        ("reason-first", "I prefer response {}."),
        ("reason-last", "Verdict: {}. Both are short."),
    ],
)
def test_the_other_name_gives_the_other_choice(form: AnswerForm, wording: str) -> None:
    assert [read_verdict(wording.format(name), form).score for name in "AB"] == [1, -1]


def test_the_better_text_outweighs_what_is_said_to_be_worse_in_it() -> None:
    answer = "Response A is weaker in style. Even so, response A is better."
    assert read_verdict(answer, "bare").score == 1
