"""What a change makes of a user's own prompt, and where it is left out."""

from dataclasses import replace
from pathlib import Path

import pytest

from dhp.content.catalog import override, read_protocol
from dhp.content.own_task import own_metric
from dhp.core.specs import Metric
from dhp.judge.prompt_files import PromptFile
from dhp.plugins.improve.changes import JudgePrompt, known_changes
from dhp.plugins.improve.race import Unusable

CHANGES = {change.change: change for change in known_changes().changes}
MISSED = ["wrong_numbers", "negation", "word_deletions"]
PLAIN = "Text: {output}\n\nHow good is it, from 1 to 5?\nRating:\n"


def prompt(text: str = PLAIN, metric: Metric | None = None, **settings: object) -> JudgePrompt:
    file = PromptFile(Path("prompt.txt"), None, text)
    protocol = override(read_protocol("dhp"), **{"samples": 1, **settings})
    return JudgePrompt((file,), protocol, (metric or own_metric("tone", "1..5"),))


def changed(name: str, *given: object, **settings: object) -> tuple[str, JudgePrompt]:
    made = prompt(*given, **settings).changed(CHANGES[name], MISSED)  # type: ignore[arg-type]
    return made.files[0].text, made


def why_not(name: str, *given: object, **settings: object) -> str:
    with pytest.raises(Unusable) as refused:
        changed(name, *given, **settings)
    return str(refused.value)


def test_reasons_come_first_and_the_line_that_asks_for_a_bare_rating_goes() -> None:
    text, made = changed("reason-first")
    assert text.startswith("Text: {output}\n\nHow good is it, from 1 to 5?\n\nAnswer in two steps")
    assert "\nRating:\n" not in text
    assert (made.protocol.answer, made.protocol.max_tokens) == ("analyze-rate", 500)
    assert why_not("reason-first", "Think first.\n{output}") == "the prompt asks for reasons"


def test_a_slot_with_a_telling_name_asks_for_no_reasons() -> None:
    assert "two steps" in changed("reason-first", "{{reasoning}}\n{{output}}\nFrom 1 to 5?")[0]


def test_points_are_described_by_the_users_own_scale_and_above_the_last_line() -> None:
    text, _ = changed("describe-points")
    assert "5: a careful reader" in text
    assert "3: there are" in text
    assert text.endswith("\n\nRating:\n")
    text, _ = changed("describe-points", PLAIN, own_metric("errors", "10..1"))
    assert "1: a careful reader" in text
    assert "10: the faults" in text
    text, _ = changed(
        "describe-points", "{output}\nfail or pass?", own_metric("fine", None, ["fail", "pass"])
    )
    assert "pass: a careful reader" in text
    assert "fail: there are" in text
    points = "{output}\n1 = bad\n5 = good"
    assert why_not("describe-points", points) == "the prompt does so already"


@pytest.mark.parametrize(
    ("stated", "wide"),
    [
        ("from 1 to 5", "from 1 to 100"),
        ("(1-5)", "(1-100)"),
        ("between 1 and 5", "between 1 and 100"),
        ("1..5, a whole number", "1..100, a whole number"),
        ("from 5 to 1", "from 100 to 1"),
        ("on a scale of 1 – 5, as N/5", "on a scale of 1 – 100, as N/100"),
        ("从1到5", "从1到100"),
    ],
)
def test_a_scale_is_widened_wherever_it_is_stated(stated: str, wide: str) -> None:
    text, made = changed("wider-scale", f"{{output}}\nRate it {stated}.")
    assert text == f"{{output}}\nRate it {wide}."
    assert (made.metrics[0].scale.min, made.metrics[0].scale.max) == (1, 100)


def test_lower_is_better_stays_so() -> None:
    assert changed("wider-scale", PLAIN, own_metric("tone", "5..1"))[1].metrics[0].lower_is_better


@pytest.mark.parametrize(
    "text",
    [
        "How good is it?",
        "From 1 to 5, where 5 is best.",
        "From 1 to 5. Example: Rating: 4",
        "Rate from 1 to 5 on this five-point scale.",
        "From 1 to 5. Halves such as 2.5 are allowed.",
        "From 1 to 10.",
    ],
)
def test_a_scale_that_cannot_be_rewritten_safely_stays(text: str) -> None:
    assert "scale" in why_not("wider-scale", f"{{output}}\n{text}")


def test_labels_have_no_wider_scale_and_no_probabilities() -> None:
    labels = own_metric("fine", None, ["fail", "pass"])
    text = "{output}\nfail or pass?"
    assert why_not("wider-scale", text, labels) == "answers are words"
    assert why_not("probability", text, labels) == "answers are words"
    assert "Rating:" in changed("reason-first", text, labels)[0]


def test_probabilities_need_scores_of_one_digit() -> None:
    assert changed("probability")[1].protocol.extraction == "prob-or-parse"
    assert "within 0 to 9" in why_not("probability", PLAIN, own_metric("tone", "1..10"))


def test_samples_never_fall_and_are_no_change_where_they_are_asked_for() -> None:
    assert changed("samples", samples=8)[1].protocol.samples == 8
    assert why_not("samples", samples=5, temperature=0.7) == "the judge is asked so already"
    assert why_not("samples", extraction="prob") == "probabilities are read already"


def test_answers_in_json_keep_their_form() -> None:
    text, made = changed("reason-first", PLAIN, answer="json")
    assert "Then give the JSON object" in text
    assert made.protocol.answer == "json"
    assert why_not("probability", PLAIN, answer="json") == "answers are JSON"


def test_a_change_that_names_faults_names_those_that_are_missed_and_is_tried_for_no_others() -> None:
    text, _ = changed("check-facts")
    assert "Look for wrong numbers and wrong negation. A text with" in text
    assert text.endswith("\n\nRating:\n")
    assert "Look for missing words. Each of these" in changed("read-closely")[0]
    spelling = prompt().changed(
        CHANGES["read-closely"], ["random_typos", "wrong_numbers", "random_deletions"]
    )
    assert "Look for typos and missing letters. Each" in spelling.files[0].text
    with pytest.raises(Unusable, match="misses no kind of damage that it is for"):
        prompt().changed(CHANGES["check-facts"], ["random_typos", "my_own_kind"])
    assert prompt().changed(CHANGES["samples"], []).protocol.samples == 5


def test_a_mark_that_is_a_label_is_no_number_to_widen() -> None:
    labels = own_metric("fine", None, ["fail", "pass"])
    marked = replace(prompt("{output}\nfail or pass?", labels), pass_mark={"": "pass"})
    with pytest.raises(Unusable, match="answers are words"):
        marked.changed(CHANGES["wider-scale"], MISSED)
