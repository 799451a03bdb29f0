"""The judge card: what it says follows from the figures, in three forms."""

import dataclasses
import json
from pathlib import Path

import pytest

import dhp
from dhp.analysis.results import Results
from dhp.report.card import FALSE_ALARM, card_json, card_markdown, card_page, judge_cards
from dhp.report.formats import markdown_cell


@pytest.fixture(scope="module")
def results() -> Results:
    return dhp.run("baseline/surface", "mini/story_cloze", controls=True)


def test_every_variant_and_control_stands_once_with_its_figures(results: Results) -> None:
    (card,) = judge_cards(results)
    (result,) = results
    found = {f.variant: f for f in (*card.noticed, *card.missed, *card.undecided)}
    assert {v: (f.detection, f.verdict) for v, f in found.items()} == {
        row.variant: (row.detection, row.verdict) for row in result.variants
    }
    assert [f.detection for f in card.controls] == [row.detection for row in result.controls]
    assert (card.controls_passed is False) == any(f.verdict == FALSE_ALARM for f in card.controls)
    assert card.signatures == {result.dataset: result.signature}
    assert card.parse_rate == 1.0


def test_what_it_misses_is_what_it_should_not_be_used_for(results: Results) -> None:
    (card,) = judge_cards(results)
    assert card.missed
    assert all(f.change in card.summary and f.change in card.limits[0] for f in card.missed)


def test_the_json_names_its_schema_and_the_page_holds_every_limit(results: Results) -> None:
    cards = judge_cards(results)
    (found,) = json.loads(card_json(cards))
    assert (found["schema"], found["limits"]) == ("dhp.card/1", list(cards[0].limits))
    for text in (card_page(cards), card_markdown(cards)):
        assert all(limit in text for limit in cards[0].limits)


def test_two_judges_have_a_card_each_and_datasets_share_one() -> None:
    several = [
        result
        for judge in ("mock/ideal", "mock/blind")
        for result in dhp.run(judge, ["mini/story_cloze", "mini/answer_equivalence"])
    ]
    ideal, blind = judge_cards(several)
    assert list(ideal.examples) == ["mini/story_cloze", "mini/answer_equivalence"]
    assert len(ideal.noticed) > len(blind.noticed) == 0


def test_names_of_others_stay_text(results: Results, tmp_path: Path) -> None:
    from dataclasses import replace

    cards = judge_cards([replace(results[0], model="<b>judge</b>|x")])
    assert "<b>judge</b>" not in card_page(cards)
    assert "&lt;b&gt;judge" in card_page(cards)
    assert "<b>" not in card_markdown(cards)


def test_doses_show_the_dose_at_which_detection_is_75_per_cent() -> None:
    results = dhp.run("baseline/surface", "mini/story_cloze", n=10, doses={"random_typos": (1, 2, 5)})
    (card,) = judge_cards(results)
    (curve,) = results[0].curves
    (found,) = card.thresholds
    assert (found.t75, found.doses) == (curve.t75, (1, 2, 5))
    assert markdown_cell(found.words) in card_markdown([card])
    (written,) = json.loads(card_json([card]))
    assert written["thresholds"][0]["t75"]["value"] == found.t75.value


def test_the_hash_of_the_prompts_is_that_of_the_signature(results: Results) -> None:
    asked = dataclasses.replace(
        results[0], signature=results[0].signature.replace("protocol:none", "protocol:mine@0123abcd")
    )
    assert "hash of the prompts: 0123abcd" in card_markdown(judge_cards([asked]))
