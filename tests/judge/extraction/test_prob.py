"""Scores weighed by token probabilities."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhp.core.answer_forms import AnswerForm
from dhp.core.errors import InputError
from dhp.core.specs import Scale
from dhp.judge.extraction.extracted import Extracted
from dhp.judge.extraction.probabilities import expected_score, letter_masses, normal, score_tokens
from dhp.llm.records import Position

FIVE = Scale(min=1.0, max=5.0)


def place(chosen: str, **shares: float) -> Position:
    """A position with the given probabilities; `_` in a name stands for a space."""
    pairs = [(token.replace("_", " "), math.log(share)) for token, share in shares.items()]
    return Position(chosen, tuple(pairs))


def word(chosen: str) -> Position:
    return Position(chosen, ((chosen, 0.0),))


def likely(chosen: str, four: float = 0.5, three: float = 0.5) -> Position:
    return Position(chosen, (("4", math.log(four)), ("3", math.log(three)), (chosen, -40.0)))


def test_the_mean_is_renormalised_and_the_rest_reported() -> None:
    alternatives = {
        " 4": 0.3,
        "4": 0.1,
        "３": 0.2,
        "four": 0.1,
        "四": 0.05,
        "4.0": 0.05,
        "The": 0.1,
        "6": 0.1,
    }
    position = Position(" 4", tuple((token, math.log(p)) for token, p in alternatives.items()))
    extracted = expected_score([position], FIVE, "score-only")
    assert extracted.score == pytest.approx((0.6 * 4 + 0.2 * 3) / 0.8)
    assert extracted.missing_mass == pytest.approx(0.2)
    assert (extracted.status, extracted.rule) == ("scored", "prob")


def test_a_rating_that_no_one_token_says_has_no_probabilities() -> None:
    assert expected_score([word("Rating: fo"), word("ur")], FIVE, "rate-explain").status == "unparsed"
    first_is_no_rating = [word(text) for text in ("1", " is bad", ", my rating: ", "4")]
    assert expected_score(first_is_no_rating, FIVE, "score-only").status == "unparsed"


def test_one_text_may_stand_twice() -> None:
    position = Position("4", (("4", math.log(0.25)), ("4", math.log(0.25)), ("2", math.log(0.5))))
    extracted = expected_score([position], FIVE, "score-only")
    assert extracted.score == pytest.approx(3)
    assert extracted.missing_mass == pytest.approx(0)


@pytest.mark.parametrize(
    ("tokens", "form", "at"),
    [
        (["4"], "score-only", 0),
        (["Rating", ":", " ", "4", "\n", "It", " has", " ", "4", " parts"], "rate-explain", 3),
        (["1", ".", " Coherence", ":", " ", "4"], "rate-explain", 5),
        (["Rating", " (", "1", "-", "5", "):", " ", "5", "."], "rate-explain", 7),
        (["Rating", ":", " ", "2", "\n", "It", " has", " ", "23", " parts"], "rate-explain", 3),
        (["It", " has", " ", "4", "5", " words", ".", " ", "Rating", ":", " ", "4"], "analyze-rate", 11),
        (["\n", " ", "4", "\n", "\n", "The", " answer", " is", " ", "4", "."], "score-only", 2),
        (["1", "\n", "\n", "The", " answer", " is", " ", "1", "."], "score-only", 0),
        (["**", "4", "**"], "score-only", 1),
        (["4", "分"], "score-only", 0),
        (["4", ".", "0"], "score-only", 0),
        (["<think>", "Is", " it", " ", "3", "?", "</think>", "\n", "4"], "score-only", 8),
        (["<think>", "Is", " it", " ", "3", "?", "</think>", "4"], "score-only", 7),
        (["4", "<think>", "Is", " it", "?", "</think>"], "score-only", 0),
        (["From", " ", "1", " to", " ", "5", ",", " I", " give", " a", " ", "1", "."], "free-text", 11),
        (["It", " names", " ", "4", " people", ".", "\n", "Rating", ":", " ", "4"], "analyze-rate", 10),
        (["Rating", ":", " ", "4", "\n", "My", " score", ":", " ", "4"], "rate-explain", 3),
        (["Rating", ":", " ", "4", "\n", "Rating", ":", " ", "4"], "analyze-rate", 8),
        (["ĠRating", ":", "Ġ", "4", "Ċ", "2", "Ġerrors"], "rate-explain", 3),
        (["Four", " stars", "."], "stars", 0),
        (["4", "/", "5"], "score-only", 0),
        (["5", "/", "5"], "score-only", 0),
        (["4", "<|im_end|>"], "score-only", 0),
    ],
)  # fmt: skip
def test_the_place_is_where_the_score_is_said(tokens: list[str], form: AnswerForm, at: int) -> None:
    positions = [likely(token) if i == at else word(token) for i, token in enumerate(tokens)]
    assert expected_score(positions, FIVE, form).score == pytest.approx(3.5)


@pytest.mark.parametrize(
    ("tokens", "status"),
    [
        ([], "unparsed"),
        (["Good"], "unparsed"),
        (["There", " are", " ", "2", " errors"], "unparsed"),
        (["1", "-", "5"], "unparsed"),
        (["3", ".", "5"], "unparsed"),
        (["I", " cannot", " rate", " it"], "refused"),
        (["9"], "out_of_scale"),
        (["2", "3"], "unparsed"),
        (["23"], "unparsed"),
        (["2", "Window"], "unparsed"),
        (["2", "Window", " is", " a", " ", "2"], "unparsed"),
        (["The", " answer", " is", " ", "4"], "unparsed"),
        (["Rating", ":", " ", "4"], "unparsed"),
        (["Answer", ":", "\n\n", "4"], "unparsed"),
        (["1", ".", " Read", " the", " story", " and", " note", " its", " characters"], "unparsed"),
        (["1", ".", " Read", " the", " story", ".", "\n", "2", ".", " Rate", " it"], "unparsed"),
        (["3", " or", " ", "4"], "unparsed"),
        (["<think>", "It", " is", " a", " ", "4"], "unparsed"),
    ],
)
def test_an_answer_of_another_form_is_no_score(tokens: list[str], status: str) -> None:
    assert expected_score([likely(token) for token in tokens], FIVE, "score-only") == Extracted(
        status,  # type: ignore[arg-type]
        None,
        "bare" if status == "out_of_scale" else None,
    )


@pytest.mark.parametrize("form", ["analyze-rate", "rate-explain", "free-text"])
def test_an_answer_cut_off_before_its_rating_is_no_score(form: AnswerForm) -> None:
    tokens = ["The", " text", " is", " clear", ".", " I", " would", " give", " it", " a", " ", "4"]
    positions = [likely(token) for token in tokens]
    assert expected_score(positions, FIVE, form).status == "scored"
    assert expected_score(positions, FIVE, form, cut_off=True).status == "unparsed"


def test_no_mass_on_the_scale_is_no_score() -> None:
    assert expected_score([place("The", The=0.9)], FIVE, "score-only").status == "unparsed"
    position = Position("4", (("4", -math.inf), ("3", math.nan)))
    assert expected_score([position], FIVE, "score-only").status == "unparsed"


IMPOSSIBLE_PLACES = {
    "inf is none": (("4", math.inf), ("2", -1.0)),
    "5 is none": (("4", -0.5), ("2", 5.0)),
    "nan is none": (("4", -0.5), ("2", math.nan)),
    "the probabilities add up to 1.9": (("4", math.log(0.95)), ("2", math.log(0.95))),
    "the chosen token is not among the alternatives": (("3", math.log(0.5)), ("2", math.log(0.5))),
    "the chosen token is not among the alternatives ": (),
}


@pytest.mark.parametrize("why", IMPOSSIBLE_PLACES)
def test_impossible_log_probabilities_are_no_score(why: str) -> None:
    read = expected_score([Position("4", IMPOSSIBLE_PLACES[why])], FIVE, "score-only")
    assert read == Extracted("unparsed", None, f"impossible log-probabilities: {why.strip()}")
    letters = tuple(({"4": "B"}.get(token, "C"), logprob) for token, logprob in IMPOSSIBLE_PLACES[why])
    assert letter_masses([Position("B", letters)], 3) == read.rule


@pytest.mark.parametrize(
    "alternatives",
    [
        (("4", math.log(1.04)), ("3", -9999.0)),  # rounded, as OpenAI says 0 for a very likely token
        (("4", math.log(0.7)), ("3", math.log(0.34))),
        (("4", 0.0), ("3", -math.inf)),
        ((" 4", math.log(0.9)), ("3", math.log(0.1))),
    ],
)
def test_odd_but_possible_log_probabilities_are_scored(alternatives: tuple[tuple[str, float], ...]) -> None:
    assert expected_score([Position("4", alternatives)], FIVE, "score-only").status == "scored"


def test_letters_are_not_articles() -> None:
    extracted = expected_score([place("D", D=0.2, _B=0.2, a=0.6)], FIVE, "letters")
    assert extracted.score == pytest.approx(3)
    assert extracted.missing_mass == pytest.approx(0.6)
    assert expected_score([place("D", D=0.5, C=0.5)], FIVE, "letters").score == pytest.approx(3.5)


def test_letters_of_choices_are_read_where_the_answer_is_one_of_them() -> None:
    assert letter_masses([place("B", A=0.3, B=0.6)], 2) == pytest.approx([0.3, 0.6])
    assert letter_masses([place("C", A=0.3, C=0.6)], 2) is None
    assert letter_masses([word("("), place("A", A=0.9), word(")")], 2) == pytest.approx([0.9, 0.0])
    for tokens in (["\n"], [], ["Neither"], ["C"], ["B", "ad"]):
        assert letter_masses([word(each) for each in tokens], 2) is None


def test_tokens_are_normal_and_on_the_scale() -> None:
    tokens = score_tokens(FIVE, "score-only")
    assert all(normal(token) == token for token in tokens)
    assert {tokens[t] for t in ("4", "4.0", "four", "四")} == {4.0}
    assert set(tokens.values()) == {1.0, 2.0, 3.0, 4.0, 5.0}
    assert (
        score_tokens(Scale(min=0.0, max=9.0), "score-only").items()
        >= {"0": 0.0, "9": 9.0, "9.0": 9.0}.items()
    )
    assert score_tokens(FIVE, "letters") == {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0, "e": 5.0}


@pytest.mark.parametrize(
    ("low", "high", "form"),
    [
        (0.0, 100.0, "da"),
        (1.0, 10.0, "score-only"),
        (0.0, 0.5, "score-only"),
        (-1.0, 1.0, "stars"),
        (1.0, 30.0, "letters"),
    ],
)
def test_a_scale_of_more_than_one_token_is_an_error(low: float, high: float, form: AnswerForm) -> None:
    with pytest.raises(InputError, match="allowed: extraction 'parse'") as error:
        expected_score([word("1")], Scale(min=low, max=high), form)
    assert "\n" not in str(error.value)


LOGPROBS = st.floats(max_value=0.01) | st.just(math.nan)
TOKENS = st.sampled_from(
    ["1", " 2", "3", "4.0", "five", "四", "A", "b", "The", " ", "-", "/", ":", "Rating", ""]
)
POSITIONS = st.lists(
    st.builds(Position, TOKENS, st.lists(st.tuples(TOKENS, LOGPROBS), max_size=5).map(tuple)), max_size=6
)


@given(POSITIONS, st.sampled_from(["score-only", "analyze-rate", "stars", "letters"]))
def test_any_positions_give_a_score_on_the_scale_or_none(positions: list[Position], form: AnswerForm) -> None:
    extracted = expected_score(positions, FIVE, form)
    assert (
        (extracted.status == "scored")
        == (extracted.score is not None)
        == (extracted.missing_mass is not None)
    )
    if extracted.score is not None and extracted.missing_mass is not None:
        assert 1 <= extracted.score <= 5
        assert 0 <= extracted.missing_mass <= 1
