"""What is said of results: verdicts, controls, sentences, the matrix."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from dhp.analysis.results import DoseResponse, Result
from dhp.core.verdicts import VERDICTS, Verdict
from dhp.report.advice import advice
from dhp.report.findings import control_words, sentences
from dhp.report.labels import percent, percents
from dhp.report.matrix import matrices
from tests.report.made import control, dose_response, result, row

TYPOS, NAMES = "random_typos.minor", "fictional_named_entities.minor"


def said(*found: Result) -> str:
    (sentence,) = sentences(found)
    return str(sentence)


def test_the_worst_kinds_come_first() -> None:
    rows = [
        row("a", "noticed", 0.8),
        row("b", "undecided", 0.55),
        row("c", "missed", 0.5),
        row("d", "preferred", 0.3),
        row("e", "faint", 0.58),
        row("f", "as harmless edits", 0.95),
        row("g", "missed", 0.45),
        row("h", "undecided", None, n=0),
    ]
    found = result(*rows)
    assert [each.variant for each in found.damage] == list("dgcfebha")
    assert found.noticed_of == "1 of 8"
    assert found.lowest is not None
    assert found.lowest.variant == "d"


def test_a_judge_of_which_no_score_moves_is_blind_before_all_else() -> None:
    still = {"quality": replace(row("a").metrics["quality"], tied=1.0, fell=0.0, rose=0.0)}
    rows = [row(name, "missed", 0.5, metrics=still) for name in "ab"]
    blind = replace(result(*rows), controls=(control("not tested", metrics=still),))
    assert said(blind).endswith(": blind: no score of any text moved.")
    some = [blind, replace(result(row("a")), dataset="other")]
    assert "blind: no score of any text in 1 of 2 sets moved; misses" in said(*some)


@pytest.mark.parametrize(
    ("counts", "pairs"), [((24, 12), None), ((24, 11), (11, 24)), ((24, 4, 20), None), ((3, 2), None)]
)
def test_very_different_numbers_of_pairs_are_told_of_the_kinds_in_the_average(
    counts: tuple[int, ...], pairs: tuple[int, int] | None
) -> None:
    rows = [row(f"k{place}", n=n) for place, n in enumerate(counts)]
    assert result(*rows).pairs == pairs


@pytest.mark.parametrize(
    ("shown", "words"),
    [
        (control("still", 0.5), "still"),
        (control("still", 0.54, detection_ci=(0.51, 0.58)), "still 54%"),
        (control("still", 0.46, detection_ci=(0.42, 0.49)), "still 46%"),
        (control("false alarm", 0.7), "false alarm 70%"),
        (control("prefers edits", 0.2), "prefers edits 20%"),
        (
            control("moves a little", 1.0, share=0.02, beside="random_typos.minor"),
            "moves a little, 2% of typos, minor",
        ),
        (control("not tested", 0.7, n=3), "not tested"),
        (control("not decided", 0.6), "not decided 60%"),
        (None, "not judged"),
    ],
)
def test_a_control_has_one_state_and_its_figure_where_that_says_more(shown: object, words: str) -> None:
    assert control_words(shown) == words  # type: ignore[arg-type]


def test_the_worst_control_stands_for_all() -> None:
    controls = (control("still", variant="identity"), control("not decided", 0.6), control("not tested", n=2))
    assert result(controls=controls).control == controls[1]
    assert result(controls=()).control is None


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        ("noticed", "notices typos"),
        ("faint", "notices no kind of damage reliably; faint on typos"),
        ("missed", "misses typos"),
        ("preferred", "prefers texts damaged by typos"),
        ("as harmless edits", "notices typos no more than harmless edits"),
        ("undecided", "notices no kind of damage reliably; typos not proven yet"),
    ],
)
def test_the_sentence_has_a_phrase_for_each_verdict(verdict: str, words: str) -> None:
    assert said(result(row(TYPOS, verdict))) == f"own/judge: {words}."


def test_the_sentence_names_degrees_and_sets_where_a_verdict_does_not_hold_throughout() -> None:
    one = result(row(TYPOS, "missed"), row("random_typos.major", "noticed"))
    assert said(one) == "own/judge: misses typos (minor)."
    other = result(row(TYPOS), row(NAMES, "undecided"), dataset="other")
    third = result(row(TYPOS), row(NAMES), dataset="third")
    assert (
        said(one, other, third) == "own/judge: notices wrong names (1 of 2 sets); misses typos (1 of 3 sets)."
    )


def test_many_kinds_are_counted() -> None:
    rows = [row(f"kind{place}") for place in range(9)]
    assert said(result(*rows)) == "own/judge: notices all 9 kinds of damage."
    rows[0] = row("kind0.minor")
    partly = result(*rows, row("kind0.major", "faint"), dataset="other")
    several = said(result(*rows, row("kind0.major")), partly)
    assert several == "own/judge: notices all 9 kinds of damage (19 of 20)."
    rows[0] = row("kind0")
    blind = result(row(TYPOS, "missed"), *rows)
    assert said(blind) == (
        "own/judge: notices kind0, kind1, kind2, kind3, kind4 and 4 more kinds; misses typos."
    )


def test_a_false_alarm_and_a_raised_score_are_part_of_the_sentence() -> None:
    alarmed = {
        "controls": (control("false alarm", 0.66),),
        "attacks": (control("raised", 0.1, "padding", level="attack"),),
    }
    found = result(row(TYPOS), **alarmed)
    assert said(found) == (
        "own/judge: notices typos; false alarm on harmless edits (66%); scores rise with padding (10%)."
    )
    several = said(found, result(row(TYPOS), dataset="other"))
    assert "false alarm on harmless edits (1 of 2 sets)" in several
    assert "false alarm" not in said(result(row(TYPOS), controls=(control("not decided", 0.66),)))


def test_too_few_examples_are_said_in_one_line_and_count_in_no_other() -> None:
    few = result(row(TYPOS, "undecided"), n=2, dataset="few")
    assert said(few) == "own/judge: needs 5 examples or more for a verdict."
    assert said(few, result(row(TYPOS))) == "own/judge: notices typos."
    assert said(result()) == "own/judge: no kind of damage was judged."


LETTERS = replace(dose_response(0.0, 0.0, 1.5), perturber="random_deletions")
NO_LETTERS = replace(LETTERS, t75=None)


@pytest.mark.parametrize(
    ("curves", "words"),
    [
        ([dose_response(3.2, 2.1, 4.9)], "notices 4 typos [3 to 5] in 80 characters"),
        ([dose_response(3.2)], "notices 4 typos [2 to over 16] in 80 characters"),
        ([dose_response(4.0, 0.0)], "notices 4 typos [under 1 to over 16] in 80 characters"),
        ([dose_response(0.0, 0.0, 2.0)], "notices typos from 1 on in 80 characters"),
        ([dose_response(None)], "T75 not reached with 16 typos [2 to over 16] in 80 characters"),
        ([dose_response(None, None)], "T75 not reached with 16 typos in 80 characters"),
        (
            [dose_response(3.2), LETTERS],
            "notices 4 typos [2 to over 16] and missing letters from 1 on in 80 characters",
        ),
        (
            [dose_response(3.2), NO_LETTERS],
            "notices 4 typos [2 to over 16] in 80 characters; no T75 of missing letters",
        ),
    ],
)
def test_doses_are_told_by_their_threshold(curves: list[DoseResponse], words: str) -> None:
    dosed = result(row("random_typos.k4"), curves=tuple(curves), controls=(control("false alarm", 0.7),))
    assert said(dosed) == f"own/judge on set: {words}; false alarm on harmless edits (70%)."
    assert dosed.damage == ()


def test_the_matrix_has_datasets_or_judges_as_columns_and_levels_together() -> None:
    rows = (
        row(TYPOS, level="character"),
        row("reordering", level="sentence"),
        row("random_typos.major", level="character"),
    )
    sets = [result(*rows, row(NAMES), dataset="a"), result(*rows, dataset="b"), result(*rows, dataset="c")]
    (matrix,) = matrices([*sets[:2], replace(sets[2], controls=())])
    assert (matrix.title, matrix.heads) == ("own/judge", ("a", "b", "c"))
    assert [each.variant for each in matrix.rows] == [TYPOS, "random_typos.major", "reordering"]
    assert matrix.rows[0].cells == (rows[0],) * 3
    assert [each.cells for each in matrix.probes] == [(sets[0].controls[0], sets[1].controls[0], None)]

    judges = [result(*rows, model=name, dataset=data) for name in ("x", "y") for data in ("a", "b")]
    assert [(m.title, m.heads) for m in matrices(judges)] == [("a", ("x", "y")), ("b", ("x", "y"))]
    assert matrices([result(curves=(dose_response(1.0),))]) == []


def test_no_row_of_a_matrix_is_half_empty() -> None:
    """A kind without degrees reaches over the rows of its degrees; what few sets have stands below."""
    degrees = (row(TYPOS), row("random_typos.major"))
    plain, names, endings = row("random_typos"), row(NAMES), row("wrong_ending")
    one = result(*degrees, names, dataset="a")
    (matrix,) = matrices(
        [
            one,
            replace(one, dataset="b"),
            result(plain, names, dataset="c"),
            result(*degrees, endings, dataset="d"),
        ]
    )
    assert [(each.variant, each.cells, each.spans) for each in matrix.rows] == [
        (TYPOS, (degrees[0], degrees[0], plain, degrees[0]), (1, 1, 2, 1)),
        ("random_typos.major", (degrees[1], degrees[1], plain, degrees[1]), (1, 1, 0, 1)),
        (NAMES, (names, names, names, None), (1, 1, 1, 1)),
    ]
    assert [(each.variant, each.cells) for each in matrix.few] == [
        ("wrong_ending", (None, None, None, endings))
    ]


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        *[(0.5, "50%"), (0.5034, "50.3%"), (0.4996, "49.9%"), (0.50001, "50%"), (0.494, "49%")],
        *[
            (0.6, "60%"),
            (0.596, "59.6%"),
            (0.59999, "59.9%"),
            (0.6049, "60.5%"),
            (0.704, "70%"),
            (1.0, "100%"),
        ],
    ],
)
def test_no_figure_is_rounded_up_to_a_limit_of_the_verdicts(share: float, shown: str) -> None:
    """50 % and the floor of 60 %: "not noticed so far, 60%" would contradict itself."""
    assert percent(share) == shown
    assert percents((share, 1.0)) == f"{shown.removesuffix('%')}–100"


@pytest.fixture
def always_noticed() -> Iterator[Verdict]:
    """One more word for noticed damage, better than all others."""
    before = dict(VERDICTS)
    VERDICTS.clear()
    word = Verdict("always noticed", about="damage", standing="good", sign="◉", phrase="always notices {}")
    VERDICTS.update(before)
    yield word
    VERDICTS.clear()
    VERDICTS.update(before)


def test_a_better_word_is_counted_and_said_as_noticed(always_noticed: Verdict) -> None:
    rows = [
        row("random_deletions.major", always_noticed, 1.0),
        row("random_deletions.minor", "noticed", 0.9),
        row("fictional_named_entities.major", always_noticed, 1.0),
        row("fictional_named_entities.minor", always_noticed, 1.0),
        row("random_typos.minor", "missed", 0.5),
    ]
    found = result(*rows)
    assert found.noticed_of == "4 of 5"
    assert "always notices wrong names; notices missing letters; misses typos" in said(found)
    assert [text for text in map(str, advice([found])) if "names" in text or "letters" in text] == []
