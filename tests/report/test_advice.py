"""What is advised follows from the figures and fits the judge."""

from dataclasses import replace
from typing import Any

import pytest

from dhp.analysis.results import Result
from dhp.report.advice import advice, warnings
from dhp.report.notes import notes
from dhp.stats.spread import spread
from tests.report.made import control, result, row

TYPOS = "random_typos.minor"


def texts(*results: Result) -> list[str]:
    return [piece.text for piece in advice(results)]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (
            {"controls": (control("false alarm", 0.7),)},
            "Do not let it decide alone: harmless edits lower its score.",
        ),
        ({"controls": ()}, "Harmless edits were not judged: false alarms stay unseen."),
        (
            {"controls": (control("not tested", n=7),)},
            "Rate more texts: a test of harmless edits takes 20 pairs, there are 7.",
        ),
        (
            {"attacks": (control("raised", 0.1, "padding", level="attack"),)},
            "Do not use it where writers know of it: its scores rise with padding.",
        ),
        (
            {"ratings": {"asked": 900, "scored": 700, "unparsed": 150, "out_of_scale": 50}},
            "Make all answers readable: 200 of 900 ratings have no score (unparsed 150, out of scale 50).",
        ),
        ({"missing_mass": 0.6}, "Check the form of its answers: 60% of the probability fell on no score."),
    ],
)
def test_each_piece_follows_from_a_figure(fields: dict[str, Any], said: str) -> None:
    healthy = result(row(TYPOS), row("b", "faint", 0.58))
    assert said not in texts(healthy)
    assert said in texts(replace(healthy, **fields))


def test_nothing_about_prompts_where_there_is_none() -> None:
    tied = row(TYPOS, "missed", 0.5)
    tied = replace(tied, metrics={name: replace(cell, tied=0.7) for name, cell in tied.metrics.items()})
    style = spread([5.0] * 9)
    assert style is not None
    from dhp.analysis.results import ResponseStyle

    shown = result(
        tied,
        controls=(control("false alarm"),),
        styles={"quality": ResponseStyle(style, style, ("lenient",))},
    )
    own, asked = " ".join(texts(shown)), " ".join(texts(replace(shown, protocol="dhp@1")))
    assert "prompt" not in own
    assert "Add a check or a second judge for typos." in own
    assert "Name typos in the prompt, and by how much it lowers the score." in asked
    assert "Say in the prompt what must not count: harmless edits lower its score." in asked
    assert "Ask for a finer answer: 70% of its scores there are tied." in asked
    assert "Describe each point of the scale in the prompt" in asked


def test_damage_that_is_undecided_beside_a_high_figure_says_why() -> None:
    alike = row(TYPOS, "undecided", 0.9, detection_ci=(0.7, 1.0), n=30)
    said = texts(result(alike, controls=(control("not decided", 0.5),)))
    assert said == ["Rate more texts: typos cannot be told from harmless edits yet."]
    assert not texts(result(row(TYPOS, "undecided", 0.9, detection_ci=(0.4, 1.0), n=30)))
    for statistics in ("default", "paper"):
        unjudged = result(alike, controls=(), statistics=statistics)
        assert not [text for text in texts(unjudged) if "told from harmless edits" in text]


def test_a_judge_that_notices_nothing_is_to_be_replaced() -> None:
    blind = result(row(TYPOS, "missed", 0.5), row("b", "preferred", 0.3))
    assert texts(blind)[0] == "Use another judge: no kind is noticed."
    assert texts(replace(blind, protocol="dhp@1"))[0] == "Use another prompt or model: no kind is noticed."


def test_undecided_kinds_name_the_examples_that_would_decide() -> None:
    shown = result(
        row(TYPOS, "undecided", 0.55, n_to_decide=(64, 321)), row("b", "undecided", 0.55, n_to_decide=None)
    )
    assert texts(shown) == ["Rate about 64 to 320 examples to decide on typos."]
    bundled = replace(shown, dataset="mini/summeval")
    assert texts(bundled) == [
        "The bundled texts are too few to decide on typos: try your own, or a prepared set."
    ]
    two = texts(shown, replace(result(row(TYPOS)), dataset="other"))
    assert two == ["Rate about 64 to 320 examples a set to decide on typos on set."]
    names = replace(
        result(
            row(TYPOS, "undecided", 0.55, n_to_decide=(30, 50)),
            row("b", "undecided", 0.55, n_to_decide=(30, 40)),
        )
    )
    apart = texts(
        replace(names, dataset="other"), result(row(TYPOS), row("b", "undecided", 0.55, n_to_decide=(20, 30)))
    )
    assert apart[0] == "Rate about 30 to 50 examples a set to decide on typos on other and b on both sets."


def test_where_all_is_noticed_harder_tests_are_advised() -> None:
    assert texts(result(row(TYPOS))) == [
        "Try smaller damage (`--doses`) and attacks (`--attacks`): all that was tried is noticed."
    ]


def test_major_damage_that_is_noticed_leads_to_doses() -> None:
    shown = texts(result(row(TYPOS, "missed", 0.5), row("random_typos.major")))
    assert "Major damage of typos is noticed: `--doses` finds from which dose on." in shown


def test_sets_are_named_or_counted() -> None:
    alarmed = [result(row("a", "faint"), controls=(control("false alarm"),), dataset=name) for name in "abc"]
    for fields, where in (
        ([True] * 3, "on all 3 sets"),
        ([True, False, True], "on a and c"),
        ([True] * 3 + [False], "on 3 of 4 sets"),
    ):
        mixed = [
            replace(each, dataset=name, controls=each.controls if alarm else (control(),))
            for each, alarm, name in zip([*alarmed, alarmed[0]], fields, "abcd", strict=False)
        ]
        assert texts(*mixed)[0] == f"Do not let it decide alone: harmless edits lower its score {where}."


def test_warnings_are_few_and_name_the_judge_where_there_are_several() -> None:
    one = result(row(TYPOS, "missed", 0.5, n=50), row("b", n=10), warnings=("beware",))
    assert warnings([one]) == ["beware", "Read the average with care: its kinds have 10 to 50 pairs."]
    other = result(row(TYPOS), model="own/other", controls=())
    assert warnings([one, other]) == [
        "beware [own/judge on set]",
        "own/other: Harmless edits were not judged: false alarms stay unseen.",
        "own/judge: Read the average with care: its kinds have 10 to 50 pairs.",
    ]
    assert warnings([result(row(TYPOS), n=2, controls=())]) == []


def test_a_note_on_several_judges_is_said_once() -> None:
    unseen = [result(row(TYPOS), model=f"own/{k}", controls=()) for k in range(3)]
    said = "Harmless edits were not judged: false alarms stay unseen."
    assert warnings(unseen) == [said]
    assert warnings([*unseen, result(row(TYPOS))]) == [f"3 of 4 judges: {said}"]
    assert warnings([*unseen[:2], result(row(TYPOS))]) == [f"own/0 and own/1: {said}"]


def test_pairs_of_a_decision_model_that_tie_are_said() -> None:
    """Of 24 pairs 9 tie, 3 of them unread: 6 of 21. No word for a model that writes."""

    def said(tied: float, **fields: Any) -> list[str]:
        shown = row(TYPOS)
        cells = {name: replace(cell, n=24, tied=tied, unread=3) for name, cell in shown.metrics.items()}
        remarks = notes(result(replace(shown, metrics=cells), **fields))
        return [remark for remark in remarks if "rounded" in remark]

    [remark] = said(9 / 24, rules={"prob": 100})
    assert remark.startswith("29% of the scores under damage stayed as they were: a decision model")
    assert not said(4 / 24, rules={"prob": 100})  # 1 of 21
    assert not said(9 / 24, rules={"prob": 100}, missing_mass=0.01)
    assert not said(9 / 24, rules={"parse:json": 100})
