"""Where the reason comes first, the rating is what is stated as the rating, and not the last number."""

import pytest

from dhp.core.protocol_spec import AnswerForm
from dhp.core.specs import Scale
from dhp.judge.extraction.rating import read_rating

FIVE = Scale(min=1.0, max=5.0)
LAST: AnswerForm = "analyze-rate"

HYPOTHETICAL = [
    (
        "The ending earns a 4 out of 5. A missing name is all that keeps it from being a perfect 5 out of 5.",
        4,
    ),
    ("This recap is a 3 out of 5; two wrong dates prevent it from being a 5 out of 5.", 3),
    ("I rate the story 3 out of 5. One more scene would make it a 5 out of 5.", 3),
    ("It gets a 2 out of 5. With a clearer plot it could be a 4 out of 5.", 2),
    ("I would give the text a 4 out of 5. Fixing the typos could bring it to a score of 5.", 4),
    ("A score of 3 is fair. To earn a score of 5, the reply needs the date.", 3),
    ("My rating is a 4. If it named the mayor, I would give it a 5.", 4),
    ("I'd give this a 4, since some commas are off. It would have been a 5 without those slips.", 4),
    ("The reply scores a 3, though a stronger opening might have earned it a score of 4.", 3),
    ("I give it a 4 out of 5, and not a 5 out of 5, as the order is odd.", 4),
    ("A 4 out of 5 is right, rather than a 5 out of 5.", 4),
    ("The text deserves a score of 4. Odd verbs hinder it from reaching a score of 5.", 4),
    ("The answer scores a 2 out of 5. It falls short of a 3 out of 5 for want of facts.", 2),
    ("It rates a 4 out of 5: nearly a 5 out of 5, but for the last line.", 4),
    ("I score it a 3 out of 5. A score of 5 would require every fact of the article.", 3),
    ("I settle on a score of 4. A 5 out of 5 would need smoother links.", 4),
    ("I'd say it is worth a score of 4. With more detail, it would be a 5 out of 5.", 4),
    ("The translation earns a 4 out of 5, as the tone does not merit a 5 out of 5.", 4),
    ("I gave it a 3 out of 5 because it lacks what is needed for a score of 5.", 3),
    ("Score of 4 out of 5: it stops just short of being a 5 out of 5.", 4),
    ("It receives a 4 out of 5. Had it kept the names, it would be a 5 out of 5.", 4),
    ("A score of 4 out of 5; shorter sentences help to elevate its style to a perfect 5 out of 5.", 4),
    ("It earns 4 out of 5, as the tone is flat, which prevents it from reaching a perfect 5 out of 5.", 4),
    ("I deducted 1 point for the typo, so I score it a 4 out of 5, not a 5 out of 5.", 4),
]
SAID_AFTER_ALL = [
    ("It could be improved by more detail, so I would give it a 4 out of 5.", 4),
    ("The gaps keep it from being complete, resulting in a score of 3 out of 5.", 3),
    ("It is not quite fluent, with minor slips, and I would score it a 4 out of 5.", 4),
    ("It might confuse a reader, therefore it scores a 2 out of 5.", 2),
    ("The summary is not faithful to the article and gets a 1 out of 5.", 1),
    ("If I had to choose, I would give it a 3 out of 5.", 3),
    ("I would rate it a 5 at first sight. However, the dates are wrong, which leads to a score of 3.", 3),
    ("The names are right, earning a fluency score of 5. But the order is off, for a final score of 4.", 4),
    ("It does not say if the vote was held, hence I would give it a score of 3 out of 5.", 3),
    ("I have to give it a 2 out of 5.", 2),
    ("I believe a score of 4 would be fair.", 4),
    ("It appears to be a 4 out of 5.", 4),
]
BREAKDOWN = [
    ("I give it a score of 4 out of 5.\n* Factual support: 5/5\n* Gaps: 1/5", 4),
    ("It earns a 3 out of 5. * Order of events: 4/5 * Links: 2/5", 3),
    ("A score of 2 out of 5, made up of:\n- Consistency of main points: 5\n- Consistency of names: 1", 2),
    ("Therefore I score it a 3 out of 5.\n1. Plot: 4\n2. People: 2", 3),
    ("Final score: 4/5\n\nHow I got there:\n* Grammar score: 5/5\n* Style score: 3/5", 4),
    ("Grammar score: 5/5\nStyle score: 2/5\nOverall score: 3/5", 3),
    ("It is a solid 4 out of 5. The first line is clear. (5/5) The second is dull. (2/5)", 4),
    ("I give it a 3 out of 5: 1 point for the plot, 2 points for the style.", 3),
    ("Rating: 3\nAccuracy rating: 5\nCoverage rating: 1", 3),
    ("This reply scores a 4 out of 5 for relevance.\n| Names | 5 |\n| Dates | 3 |", 4),
]
PARTS_IN_A_LIST = [
    (
        "The gaps lead to a score of 4 out of 5.\n\nMy breakdown:\n\n1. Facts: all are there. Score: 5/5.\n"
        "2. Context: the vote is missing. Score: 3/5.\n3. Style: it is hard to",
        4,
    ),
    ("I score it a 4 out of 5. The breakdown:\n1. Facts: all there. Score: 5/5.\n2. Context: the", 4),
    ("A score of 2 out of 5 is fair.\n* The names are right. Score: 4\n* The dates are not. Score: 1", 2),
    ("Here is a breakdown: plot 5/5, style 3/5. All in all I would score it a 4 out of 5.", 4),
]
RESULTS = [
    ("The recap scores a 2 out of 5. It gives the final score of the match as 3 to 1.", 2),
    ("It deserves a 3 out of 5, as it says that she scored 5 in 3 games.", 3),
    ("A 4 out of 5. It leaves out that they won by a score of 4-2.", 4),
]
NOT_RATED = [
    "It could be a 5.",
    "Only a clearer ending would make it a 5 out of 5.",
    "Nothing should prevent it from being a 5 out of 5.",
    "A score of 5 would require more.",
    "* Consistency of main points: 5\n* Consistency of names: 2",
    "* Facts: 5/5\n* Gaps: 1/5",
    "1 point for the plot and 2 points for the style.",
    "Response 1: 4\nResponse 2: 2",
    "Summary A: 5/5, and Summary B is shorter.\nSummary B: 2/5",
    "If it had an ending, I would give it a 4.",
]
WORDINGS = [
    ("The reply stays on the subject throughout, a perfect relevance (5).", 5),
    ("Each point of the article is there: perfect relevance (5) in my eyes.", 5),
    ("All sentences follow from each other, making it a 5 in terms of coherence.", 5),
    ("Too many gaps, making this summary a 2.", 2),
    ("The reply has nothing to do with the talk, so it scores 1 point.", 1),
    ("Since every fact is wrong, this summary scores only 1 point.", 1),
    ("The recap names none of the people at all. - 1", 1),
    ("The verbs are wrong throughout. - 2.", 2),
    ("语言流畅，没有错误。【评分】4", 4),
    ("【最终得分】：3分", 3),
    ("摘要遗漏了一个要点，因此给予4分的评分。", 4),
    ("内容完整，故给予5分的评价。", 5),
    ("结构清楚，有少量重复，最终4分。", 4),
    ("综合来看，最后3分。", 3),
    ("Response 1: 3\nResponse 2: 3", 3),
]


@pytest.mark.parametrize(
    ("text", "score"),
    [*HYPOTHETICAL, *SAID_AFTER_ALL, *BREAKDOWN, *PARTS_IN_A_LIST, *RESULTS, *WORDINGS],
    ids=lambda value: str(value)[:60],
)
def test_the_stated_rating_is_read(text: str, score: float) -> None:
    read = read_rating(text, FIVE, LAST)
    assert (read.status, read.score) == ("scored", score)


@pytest.mark.parametrize("text", NOT_RATED)
def test_what_is_not_stated_is_no_rating(text: str) -> None:
    assert read_rating(text, FIVE, LAST).status == "unparsed"


@pytest.mark.parametrize(("text", "score"), HYPOTHETICAL)
def test_a_hypothetical_before_the_rating_changes_nothing(text: str, score: float) -> None:
    for spoken in (
        "It could have been a 5 out of 5.",
        "Nothing but a typo keeps it from being a 5 out of 5.",
    ):
        assert read_rating(f"{spoken} {text}", FIVE, LAST).score == score
