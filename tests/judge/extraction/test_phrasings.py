"""Phrasings that mislead readers of ratings; what is stated as the rating counts, and not the last number."""

import pytest

from dhp.core.protocol_spec import AnswerForm
from dhp.core.specs import Scale
from dhp.judge.extraction.rating import read_rating

FIVE = Scale(min=1, max=5)
LAST: AnswerForm = "analyze-rate"
FORMS: tuple[AnswerForm, ...] = ("rate-explain", "analyze-rate", "free-text")
CASES: dict[str, list[tuple[str, float | None]]] = {
    "hypothetical": [
        ("The summary is a 4 out of 5. What keeps it from being a perfect 5 out of 5 is its length.", 4),
        ("I rate it a 4. A clearer ending would make it a 5.", 4),
        ("Rating: 3. With better transitions it could be a 4.", 3),
        ("It deserves a 3; had it named the mayor it would have earned a 5.", 3),
        ("I'd give this a 2. To get a 4 it would have to mention the vote.", 2),
        ("Score: 4. It falls just short of a 5.", 4),
        ("My rating is 3, since a 5 would require no omissions.", 3),
        ("Overall a 4 out of 5, not quite a 5 because of one slip.", 4),
        ("This earns a 2 out of 5. What prevents it from being a 3 is the missing date.", 2),
        ("I would rate this 4, though some readers might give it a 5.", 4),
        ("The text gets a 3. It is close to a 4, but the last line contradicts the first.", 3),
        ("Nothing stops this from being a 5. Rating: 5", 5),
        ("It is tempting to give a 5, but I settle on 4.", 4),
        ("I considered a 2, but ultimately the rating is 3.", 3),
        ("Although one may argue for a 4, I give it a 3.", 3),
        ("If it had cited its source, it would be a 5 out of 5. As it stands, 3 out of 5.", 3),
        ("A 5 would be too generous, so I give a 4.", 4),
        ("Were the grammar fixed, this would score 5. Currently it scores 3.", 3),
        ("Perhaps a 4 on a good day, but today my score is 2.", 2),
    ],
    "breakdown": [
        ("I give it a score of 4 out of 5.\n* Factual alignment: 5/5\n* Omissions: 1/5", 4),
        ("Overall score: 3\nGrammar: 5/5\nStyle: 2/5", 3),
        ("Grammar: 5/5\nStyle: 2/5\nOverall: 3/5", 3),
        ("Final rating: 4\n- accuracy 5\n- brevity 3", 4),
        ("Accuracy: 5/5, Brevity: 2/5. Overall, I'd rate this 4/5.", 4),
        ("Rating: 4\n\nDetails: 2 points for clarity, 1 point for order, 1 point for tone.", 4),
        ("1 point for the plot, 2 points for the characters. Total rating: 3", 3),
        ("Consistency of main points: 5\nRating: 3", 3),
        ("Total: 4 out of 5 (2 for content, 2 for form)", 4),
    ],
    "reason first": [
        ("The text repeats itself twice and has 3 typos. Rating: 2", 2),
        ("There are 2 errors in 5 sentences, which is acceptable. I rate it 3.", 3),
        ("It names 4 of the 5 events. So the score is 4.", 4),
        ("The story covers 1990 to 1995 and is clear throughout. 5", 5),
        ("They won 3 to 1 in the final. Coherence: 4", 4),
        ("In paragraph 2 the tense changes. Score = 3", 3),
        ("Both claims hold. Therefore: 5/5", 5),
        ("The summary omits 1 key fact. Hence my score: 3/5.", 3),
        ("Sentence 3 contradicts sentence 1. Final Answer: 2", 2),
        ("The text reads well.\n\n**Rating:** 4", 4),
        ("The text reads well.\n\n### Score\n4", 4),
        ("It has three parts, of which two are weak. I would say 2.", 2),
        ("Good flow. My verdict: four out of five.", 4),
        ("Overall, this merits four stars.", 4),
        ("The fluency is excellent (5).", 5),
        ("In terms of coherence, I'd put this at 3.", 3),
        ("I'd score it as a 3.", 3),
        ("I am assigning it a 2.", 2),
        ("This is worth a 4.", 4),
        ("A solid 4.", 4),
        ("4 - mostly consistent.", 4),
        ("4/5 - mostly consistent", 4),
        ("Answer: (4)", 4),
        ("The answer is \\boxed{4}.", 4),
        ("Rating - 4", 4),
        ("score:4", 4),
        ('{"score": 4, "reason": "2 slips"}', 4),
        ('```json\n{"rating": 3}\n```', 3),
        ("I rate the coherence of this summary as 3 out of 5.", 3),
        ("Coherence score: 3 (out of 5)", 3),
        ("Rating (1-5): 4", 4),
        ("Rating [1-5]: 4", 4),
        ("On a scale of 1 to 5, I would rate this a 4.", 4),
        ("The rating is 4 on the 1-5 scale.", 4),
        ("<score>4</score>", 4),
        ("<rating>4</rating> because 2 facts are missing", 4),
    ],
    "none": [
        ("1. Read the story and note its characters.\n2. Compare them.", None),
        ("Step 1: Read the source. Step 2: Compare.", None),
        ("There are 2 errors.", None),
        ("It was published in 2014.", None),
        ("2 of the 3 facts are right.", None),
        ("3-4", None),
        ("Between 3 and 4.", None),
        ("3 or 4", None),
        ("I can't decide.", None),
        ("The summary is good.", None),
        ("At 5 p.m. the council met.", None),
        ("Chapter 4 is missing.", None),
        ("The first 3 sentences repeat.", None),
        ("The score could be anywhere from 2 to 4.", None),
        ("It needs 3 more sentences.", None),
        ("Top 5 reasons to visit.", None),
        ("The team scored 3 goals.", None),
        ("It rated 3 films in one day.", None),
        ("Out of 5 facts, 4 are right.", None),
        ("Rating: N/A", None),
        ("Score: -", None),
    ],
    "chinese": [
        ("【评分】4", 4),
        ("我给予5分的评分。", 5),
        ("综合来看，最终4分", 4),
        ("评分：3分，因为有2处错误。", 3),
        ("得分：4/5", 4),
        ("这篇摘要可以得3分。", 3),
        ("满分5分，我打4分。", 4),
        ("如果更短，可以得5分。评分：4", 4),
        ("有3个错误。", None),
        ("总分5分，得分2分", 2),
        ("我认为这个摘要值得4分", 4),
        ("四分", 4),
        ("评分:4分（满分5分）", 4),
    ],
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", CASES)
def test_a_phrasing_is_read_as_it_is_meant(kind: str, form: AnswerForm) -> None:
    read = {text: read_rating(text, FIVE, form).score for text, _ in CASES[kind]}
    assert read == dict(CASES[kind])


# Where the reason comes first --------------------------------------------------------------------------

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
