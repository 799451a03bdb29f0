"""The judge card: what it says follows from the figures, in three forms."""

import dataclasses
import json
from pathlib import Path

import pytest

import dhp
from dhp.analysis.results import Results
from dhp.plugins.card.card import card_json, card_markdown, card_page, judge_cards, threshold_rows
from dhp.report.printout import markdown_cell
from tests.cli.conftest import Run
from tests.report.made import control, dose_response, row
from tests.report.made import result as made


@pytest.fixture(scope="module")
def results() -> Results:
    return dhp.run("baseline/surface", "mini/story_cloze", controls=True)


def test_every_kind_and_control_stands_once_with_its_figures_the_worst_first(results: Results) -> None:
    (card,) = judge_cards(results)
    (result,) = results
    assert sorted((row.variant, row.detection) for _, row in card.damage) == sorted(
        (row.variant, row.detection) for row in result.variants
    )
    places = [-row.state.rank for _, row in card.damage]
    assert places == sorted(places)
    assert [row for _, row in card.controls] == list(result.controls)
    assert card.parse_rate == 1.0
    written = card.to_json()
    assert written["signatures"] == {result.dataset: result.signature}
    assert [each["verdict"] for each in written["damage"]] == [row.verdict for _, row in card.damage]


def test_what_it_misses_is_what_it_should_not_be_used_for() -> None:
    alarm = (control("false alarm", 0.7),)
    shown = made(row("random_typos", "missed", 0.5), row("reordering", "preferred", 0.3), controls=alarm)
    (card,) = judge_cards([shown])
    assert card.limits[:3] == (
        "Do not rely on it if texts may suffer from reordered sentences: it prefers such texts.",
        "Do not rely on it if texts may suffer from typos: it misses this.",
        "Do not compare texts that differ in form alone: false alarm on harmless edits.",
    )
    assert card.summary == (
        "prefers texts damaged by reordered sentences; misses typos; false alarm on harmless edits (70%)."
    )


def test_the_json_names_its_schema_and_the_page_holds_every_limit(results: Results) -> None:
    cards = judge_cards(results)
    (found,) = json.loads(card_json(cards))
    assert (found["schema"], found["limits"]) == ("dhp.card/2", list(cards[0].limits))
    for text in (card_page(cards), card_markdown(cards)):
        assert all(limit in text for limit in cards[0].limits)


def test_two_judges_have_a_card_each_and_datasets_share_one() -> None:
    several = [
        result
        for judge in ("mock/ideal", "mock/blind")
        for result in dhp.run(judge, ["mini/story_cloze", "mini/answer_equivalence"])
    ]
    ideal, blind = judge_cards(several)
    assert [each.dataset for each in ideal.results] == ["mini/story_cloze", "mini/answer_equivalence"]
    seen = [sum(row.verdict == "noticed" for _, row in card.damage) for card in (ideal, blind)]
    assert seen[0] > seen[1] == 0


def test_names_of_others_stay_text(results: Results, tmp_path: Path) -> None:
    from dataclasses import replace

    cards = judge_cards([replace(results[0], model="<b>judge</b>|x")])
    assert "<b>judge</b>" not in card_page(cards)
    assert "&lt;b&gt;judge" in card_page(cards)
    assert "<b>" not in card_markdown(cards)


def test_doses_show_the_dose_at_which_detection_is_75_per_cent() -> None:
    curve = dose_response(3.0, 2.0, 5.0)
    (card,) = judge_cards([made(row("random_typos.k4"), curves=(curve,))])
    (found,) = threshold_rows(card)
    assert found == ["set", "typos", "1–16", "3 [2 to 5]"]
    assert all(markdown_cell(cell) in card_markdown([card]) for cell in found)
    (written,) = json.loads(card_json([card]))
    assert written["thresholds"][0]["t75"] == {"value": 3.0, "low": 2.0, "high": 5.0}
    assert written["damage"] == []


def test_the_hash_of_the_prompts_is_that_of_the_signature(results: Results) -> None:
    asked = dataclasses.replace(
        results[0], signature=results[0].signature.replace("protocol:none", "protocol:mine@0123abcd")
    )
    assert "hash of the prompts: 0123abcd" in card_markdown(judge_cards([asked]))


def test_a_card_in_three_forms(dhp: Run) -> None:
    judge = ("--model", "mock/ideal", "--dataset", "mini/story_cloze", "--n", 12, "--controls")
    assert dhp("benchmark", *judge, "--out", "one").code == 0
    done = dhp("report", "one", "--card")
    assert done.code == 0, done.err
    assert "mock/ideal: notices missing letters" in done.out
    assert json.loads(Path("one/card.json").read_text("utf-8"))[0]["judge"] == "mock/ideal"
    assert dhp("report", "one", "--card", "--out", "apart").code == 0
    for name in ("card.html", "card.md", "card.json"):
        assert Path("apart", name).read_bytes() == Path("one", name).read_bytes()
    for arguments, message in (
        (("report", "nowhere", "--card"), "nowhere: holds no run"),
        (("report", "one", "--card", "--out", "one/card.md"), "--out one/card.md: is a file; allowed with"),
    ):
        refused = dhp(*arguments)
        assert (refused.code, refused.err.count("\n")) == (2, 1)
        assert message in refused.err
