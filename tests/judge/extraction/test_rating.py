"""What an answer says is read; what it does not say is never invented."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhp.core.answer_forms import AnswerForm
from dhp.core.records import RatingStatus
from dhp.core.specs import Scale
from dhp.judge.extraction.extracted import Extracted
from dhp.judge.extraction.rating import read_rating

FIVE, THREE, HUNDRED, UNIT = (
    Scale(min=float(low), max=float(high)) for low, high in [(1, 5), (1, 3), (0, 100), (0, 1)]
)
FIRST: AnswerForm = "rate-explain"
LAST: AnswerForm = "analyze-rate"

SCORED: list[tuple[AnswerForm, str, float, str]] = [
    # bare
    ("score-only", "4", 4, "bare"),
    ("score-only", " 4\n", 4, "bare"),
    ("score-only", "**4**", 4, "bare"),
    ("score-only", "`4`", 4, "bare"),
    ("score-only", "(4)", 4, "bare"),
    ("score-only", "# 4", 4, "bare"),
    ("score-only", "- 4", 4, "bare"),
    ("score-only", "3.5", 3.5, "bare"),
    ("score-only", "4,5", 4.5, "bare"),
    ("score-only", "４", 4, "bare"),
    ("score-only", "３．５分", 3.5, "bare"),
    ("score-only", "3½", 3.5, "bare"),
    ("score-only", "Four.", 4, "bare"),
    ("score-only", "three and a half", 3.5, "bare"),
    ("score-only", "3 1/2", 3.5, "bare"),
    ("score-only", "four point five", 4.5, "bare"),
    ("score-only", "四分", 4, "bare"),
    ("score-only", "三分半", 3.5, "bare"),
    ("score-only", "三点五分", 3.5, "bare"),
    (FIRST, "4. Because the summary misses 2 names.", 4, "bare"),
    (FIRST, "4 because 2 names are missing", 4, "bare"),
    (FIRST, "2 - The text jumps.", 2, "bare"),
    (FIRST, "2 (somewhat)\nThere were 5 speakers in 2019.", 2, "bare"),
    ("free-text", "Yes, 2.", 2, "bare"),
    ("free-text", "The text is somewhat coherent (2). It has 3 parts.", 2, "bare"),
    ("free-text", "It does not follow from the conversation. 1", 1, "bare"),
    (LAST, "There are 2 errors in 3 sentences.\n\n4", 4, "bare"),
    (LAST, "1. The plot is clear.\n2. The names are right.\n3. It is short.\n\n4", 4, "bare"),
    # labelled
    (FIRST, "Rating: 3", 3, "labelled"),
    (FIRST, "**Rating:** 3\nRationale: 4 names are wrong.", 3, "labelled"),
    ("score-only", "1. 2", 2, "bare"),
    (FIRST, "Rating:\n3\nThe 2 paragraphs differ.", 3, "bare"),
    (FIRST, "## Rating\n\n3", 3, "bare"),
    (FIRST, "Rating (1-5): 3", 3, "labelled"),
    (FIRST, "Score (out of 5): 4", 4, "labelled"),
    (FIRST, "Rating on a scale of 1 to 5: 4", 4, "labelled"),
    (FIRST, "Rating for coherence: **4**/5", 4, "named"),
    (FIRST, "Rating - 4", 4, "labelled"),
    (FIRST, "Rating: four stars", 4, "labelled"),
    (FIRST, "Rating: 3. The summary has 2 errors. A score of 5 would need none.", 3, "labelled"),
    (FIRST, "On a scale of 1 to 5, where 1 is the lowest and 5 the highest. Rating: 2", 2, "labelled"),
    (FIRST, "1 = poor\n2 = fair\n3 = good\nRating: 2", 2, "labelled"),
    (FIRST, '{"score": 4, "reason": "2 errors"}', 4, "json"),
    (FIRST, '```json\n{"reason": "2 errors of 3", "overall_score": "4"}\n```', 4, "json"),
    (FIRST, "<score>4</score>", 4, "labelled"),
    (FIRST, r"The final answer is $\boxed{4}$.", 4, "labelled"),
    (FIRST, r"\boxed{\text{3}}", 3, "labelled"),
    (FIRST, "评分：4分", 4, "labelled"),
    (FIRST, "评分（1-5分）：３分。理由：有2个错误。", 3, "labelled"),
    (LAST, "The 3 main points are there; 2019 is wrong.\n\nFinal score: 4", 4, "labelled"),
    (LAST, "Rating: 2 at first sight.\nFinal rating: 3", 3, "labelled"),
    (LAST, "I would give a score of 5 if it were shorter. Rating: 4\nIt has 2 parts.", 4, "labelled"),
    (LAST, "1. Read it: score of 2.\n2. Check it.\nRating: 4", 4, "labelled"),
    (LAST, "Step 1: read. Step 2: compare. Overall rating: 3", 3, "labelled"),
    # stated
    (LAST, "It lacks cohesion, resulting in a score of 2 for fluency.", 2, "stated"),
    (LAST, "It lacks cohesion, therefore it scores a one.", 1, "stated"),
    (LAST, "The score for Naturalness for this text is 2.", 2, "named"),
    (LAST, "It says nothing of the 3 victims. I would give it a 3 out of 5.", 3, "stated"),
    (LAST, "On a scale of 1-5, I'd rate this summary a solid 4.", 4, "stated"),
    (LAST, "It earns a 4 rather than a score of 5.", 4, "stated"),
    (LAST, "从1到5，我给4分。", 4, "stated"),
    (LAST, "文章有3个错误，所以打三分。", 3, "stated"),
    (LAST, "I would give it less than a 4. I rate it 3.", 3, "stated"),
    (LAST, "My score is a 4, though with more detail it could get a 5.", 4, "labelled"),
    (LAST, "Final rating → 4", 4, "labelled"),
    (LAST, "I'd say that this is a solid 4.", 4, "stated"),
    (FIRST, "So my verdict is [[4]].", 4, "labelled"),
    (FIRST, "Rating: three-and-a-half", 3.5, "labelled"),
    (FIRST, "Rating (1 = worst, 5 = best): 3", 3, "labelled"),
    # fractions
    (FIRST, "4/5", 4, "fraction"),
    (FIRST, "4 / 5 - it names 3 people", 4, "fraction"),
    (FIRST, "three out of five", 3, "fraction"),
    (FIRST, "五分之四", 4, "fraction"),
    (FIRST, r"$\frac{4}{5}$", 4, "fraction"),
    # named
    (FIRST, "- Coherence: 4", 4, "named"),
    (FIRST, "1. Coherence: 4", 4, "named"),
    (FIRST, "3. Coherence: 4", 4, "named"),
    (FIRST, "| Metric | Value |\n|---|---|\n| Coherence | 4 |", 4, "named"),
    (FIRST, '{"coherence": 4, "reason": "2 errors"}', 4, "json"),
    (FIRST, "连贯性：4", 4, "named"),
    (LAST, "It ignores the question. Coherence: 1", 1, "named"),
    # stars
    ("stars", "4 stars", 4, "stars"),
    ("stars", "Four stars. The 5-star hotel is missing.", 4, "stars"),
    ("stars", "3.5 stars", 3.5, "stars"),
    ("stars", "★★★☆☆", 3, "stars"),
    ("stars", "⭐️⭐️⭐️", 3, "stars"),
    ("stars", "★★★½☆", 3.5, "stars"),
    ("stars", "★", 1, "stars"),
    ("stars", "⭐ 4", 4, "bare"),
    ("stars", "三星", 3, "stars"),
    ("stars", "四颗星", 4, "stars"),
    # reasoning blocks
    (FIRST, "<think>Rating: 2? No.</think>\nRating: 4", 4, "labelled"),
    (FIRST, "Maybe a score of 2.\n</think>\n\n4", 4, "bare"),
    # a refusal that rates after all is a rating
    (FIRST, "I'm sorry, but the text is poor. Rating: 1", 1, "labelled"),
]

FAILED: list[tuple[AnswerForm, str, RatingStatus, str | None]] = [
    ("score-only", "", "unparsed", None),
    ("score-only", "somewhat", "unparsed", None),
    ("score-only", "N/A", "unparsed", None),
    ("score-only", "Rating: N/A", "unparsed", None),
    ("score-only", "Rating: 1-5", "unparsed", None),
    ("score-only", "Assign a rating of 1, 2, 3, 4, or 5.", "unparsed", None),
    ("score-only", "5 being the best, 1 being the worst", "unparsed", None),
    ("score-only", "请从1到5打分，1分最低，5分最高", "unparsed", None),
    ("score-only", "1至5分", "unparsed", None),
    ("score-only", "3-4", "unparsed", None),
    ("score-only", "Rating: 3-4. It has 2 parts.", "unparsed", None),
    ("score-only", "I'd rate it between 3 and 4.", "unparsed", None),
    ("score-only", "3 or 4", "unparsed", None),
    ("score-only", "Rating: 1/2/3/4/5", "unparsed", None),
    (LAST, "There are 2 errors.", "unparsed", None),
    (LAST, "The 3 main points are covered.", "unparsed", None),
    (LAST, "The match ended 2-1 in 2019.", "unparsed", None),
    (LAST, "It covers 3 out of 5 key facts.", "unparsed", None),
    (LAST, "十分清楚，一致性很好。", "unparsed", None),
    (LAST, "1. Read the text. 2. Check the facts.", "unparsed", None),
    (LAST, "1. Does the answer fit the question?\n\nIt does not.", "unparsed", None),
    (LAST, "As said in step 3, GPT-4 won $5.", "unparsed", None),
    (LAST, "Errors: 2", "unparsed", None),
    (FIRST, "<think>Rating: 4", "unparsed", None),
    (LAST, "She scored 3 points; the score was 3-2.", "unparsed", None),
    ("score-only", "6", "out_of_scale", "bare"),
    ("score-only", "0", "out_of_scale", "bare"),
    ("score-only", "-1", "out_of_scale", "bare"),
    ("score-only", "Rating: −2", "out_of_scale", "labelled"),
    ("score-only", "8/10", "out_of_scale", "fraction"),
    ("score-only", "Score: 3/10", "out_of_scale", "labelled"),
    ("score-only", "Score: 80%", "out_of_scale", "labelled"),
    ("score-only", "Rating: 10", "out_of_scale", "labelled"),
    ("score-only", "On a scale of 1 to 10, I give it a 4.", "out_of_scale", "stated"),
    ("stars", "★★★☆", "out_of_scale", "stars"),
    (FIRST, "I cannot rate this text.", "refused", None),
    (FIRST, "As an AI language model I am unable to rate it on a scale of 1-5.", "refused", None),
    (FIRST, "I'm sorry, but there are only 2 sentences here.", "refused", None),
    (FIRST, "抱歉，我无法评分。", "refused", None),
]


@pytest.mark.parametrize(("form", "text", "score", "rule"), SCORED)
def test_a_rating_is_read(form: AnswerForm, text: str, score: float, rule: str) -> None:
    assert read_rating(text, FIVE, form) == Extracted("scored", score, rule)


@pytest.mark.parametrize(("form", "text", "status", "rule"), FAILED)
def test_a_failure_is_no_score(form: AnswerForm, text: str, status: RatingStatus, rule: str | None) -> None:
    assert read_rating(text, FIVE, form) == Extracted(status, None, rule)


@pytest.mark.parametrize(
    ("scale", "form", "text", "status", "score"),
    [
        (HUNDRED, "da", "85", "scored", 85),
        (HUNDRED, "da", "85%", "scored", 85),
        (HUNDRED, "da", "Score: 85/100", "scored", 85),
        (HUNDRED, "da", "Score (0-100): 85", "scored", 85),
        (HUNDRED, "da", "I'd give this translation 72.5 out of 100.", "scored", 72.5),
        (HUNDRED, "da", "八十五分", "scored", 85),
        (HUNDRED, "da", "百分之八十", "scored", 80),
        (HUNDRED, "da", "0", "scored", 0),
        (HUNDRED, "da", "About 80% of the facts are right.", "unparsed", None),
        (HUNDRED, "da", "1,000", "out_of_scale", None),
        (HUNDRED, "da", "Score: 4/5", "out_of_scale", None),
        (UNIT, "score-only", "0", "scored", 0),
        (UNIT, "score-only", "Score (0-1): 0.7", "scored", 0.7),
        (UNIT, "score-only", "Score: .5", "scored", 0.5),
        (UNIT, "score-only", "2", "out_of_scale", None),
        (THREE, "score-only", "1/3", "scored", 1),
        (THREE, "analyze-rate", "It keeps 2/3 of the text. 3/3", "scored", 3),
    ],
)
def test_other_scales(
    scale: Scale, form: AnswerForm, text: str, status: RatingStatus, score: float | None
) -> None:
    extracted = read_rating(text, scale, form)
    assert (extracted.status, extracted.score) == (status, score)


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("D", "D"),
        ("d", "D"),
        ("(D)", "D"),
        ("**D**", "D"),
        ("A", "A"),
        ("Ｄ", "D"),
        ("Answer: D", "D"),
        ("The answer is (D).", "D"),
        ("答案：D", "D"),
        (r"$\boxed{D}$", "D"),
        ("D. The summary is fluent.", "D"),
        ("A. The summary is poor.", "A"),
        ("D) fluent", "D"),
        ("I choose B because it is a good text.", "B"),
        ("A summary that covers it all.\n\nE", "E"),
        ("Options A-E. Verdict: C", "C"),
        ("A. Poor B. Fair C. Good\nAnswer: B", "B"),
        ("Because the facts are CORRECT, my verdict is D", "D"),
        ("<think>A or B?</think>E", "E"),
    ],
)
def test_letters(text: str, letter: str) -> None:
    assert read_rating(text, FIVE, "letters") == Extracted("scored", float(" ABCDE".index(letter)), "letter")


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("A summary that covers it all.", "unparsed"),
        ("I think the text is good.", "unparsed"),
        ("Because the facts are CORRECT", "unparsed"),
        ("Both are Excellent.", "unparsed"),
        ("B or C", "unparsed"),
        ("A/B", "unparsed"),
        ("A-E", "unparsed"),
        ("A. Poor\nB. Fair\nC. Good", "unparsed"),
        ("4", "unparsed"),
        ("F", "out_of_scale"),
        ("Answer: Z", "out_of_scale"),
        ("I cannot choose between them.", "refused"),
    ],
)
def test_letters_that_are_no_verdict(text: str, status: RatingStatus) -> None:
    assert read_rating(text, FIVE, "letters").status == status


def test_a_letter_off_the_scale_is_a_verdict_only_where_one_is_asked_for() -> None:
    three = Scale(min=1, max=3)
    assert read_rating("Vitamin (D) is never named.", three, "letters").status == "unparsed"
    assert read_rating("Answer: D", three, "letters").status == "out_of_scale"


FORMS = st.sampled_from(["score-only", "free-text", "rate-explain", "analyze-rate", "da", "stars", "letters"])
PIECES = st.sampled_from(
    "Rating score of out is a 1 2 3 4 5 6 0 10 - / ( ) . , : ** four and half point ★ ☆ 四 分 半 之 从 到 %"
    " ⟦ ⟧ <think> </think> A B E or between to where being lowest \n | { } $ \\boxed{ ½ ٤ ² ① 1e9".split(" ")
)
TEXTS = st.text() | st.lists(PIECES).map(" ".join) | st.lists(PIECES).map("".join)


@pytest.mark.slow
@given(TEXTS, FORMS, st.sampled_from([FIVE, THREE, HUNDRED, UNIT]))
def test_no_text_is_an_error_or_a_score_off_the_scale(text: str, form: AnswerForm, scale: Scale) -> None:
    extracted = read_rating(text, scale, form)
    assert (extracted.score is not None) == (extracted.status == "scored")
    assert extracted.status in ("scored", "unparsed", "refused", "out_of_scale")
    if extracted.score is not None:
        assert scale.min <= extracted.score <= scale.max
        assert extracted.rule is not None


@given(
    st.integers(1, 5), st.sampled_from(["{} stars", "Rating: {}", "I give it a {}.", "{}/5", "- Fluency: {}"])
)
def test_words_around_the_rating_change_nothing(score: int, wording: str) -> None:
    noise = "It has 3 parts and 2 errors, on a scale of 1-5, as of 2019."
    text = wording.format(score)
    for form, answer in ((FIRST, f"{text}\n{noise}"), (LAST, f"{noise}\n{text}")):
        assert read_rating(answer, FIVE, form).score == score


LONG = (
    "9",
    "(",
    "4 ",
    "a ",
    "score of ",
    "1. ",
    "⭐",
    "☆★",
    "一",
    "Rating: ",
    "<think>",
    "1-5 ",
    "\n",
    "3.",
    "{",
    "A-",
)


@pytest.mark.parametrize("unit", LONG)
def test_long_answers_are_read(unit: str) -> None:
    text = unit * (100_000 // len(unit))
    assert read_rating(text, FIVE, FIRST).score in (None, 1.0)
    assert read_rating(text, FIVE, "letters").score in (None, 1.0)


def test_of_a_very_long_answer_beginning_and_end_are_read() -> None:
    filler = "The text goes on and on. " * 40_000
    assert read_rating(f"Rating: 4\n{filler}", FIVE, FIRST).score == 4
    assert read_rating(f"{filler}\nRating: 4", FIVE, LAST).score == 4
    assert read_rating(f"{filler}\nRating: 4\n{filler}", FIVE, LAST).status == "unparsed"
