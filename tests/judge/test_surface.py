"""The surface judge: fair, bounded, and it sees the flaws it was built to see."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhp.core.errors import InputError
from dhp.core.records import ORIGINAL, Candidate, Example
from dhp.core.specs import Metric, Scale, Task
from dhp.judge.judges.surface import METRICS, SurfaceJudge


def task(*metrics: str, low: float = 1, high: float = 5) -> Task:
    made = [
        Metric(
            name=name, scale=Scale(min=low, max=high), definition="d", steps=["s"], question="q", antonym="a"
        )
        for name in metrics
    ]
    return Task.model_construct(task="any", instruction="i", source_label="S", output_label="O", metrics=made)


ALL = task(*METRICS)

ARTICLE = (
    "The city council of Oakridge voted on Tuesday to close the old bridge over the Lorne. Engineers found "
    "cracks in 14 of its 40 steel beams during an inspection in March. Mayor Helen Brandt said that safety "
    "came first and promised a ferry for commuters. Shop owners in the lower town fear that customers will "
    "stay away. Repairs are expected to cost 3.2 million dollars and to last until 2027."
)
SUMMARY = (
    "The council of Oakridge voted to close the old bridge over the Lorne. Engineers found cracks in 14 of "
    "its steel beams. Mayor Helen Brandt promised a ferry for commuters. Shop owners fear that customers "
    "will stay away. Repairs are expected to cost 3.2 million dollars."
)
NEWS = Example("news", ARTICLE, SUMMARY)

GERMAN = Example(
    "german",
    "Die Reederei Brammer hat am Montag in Kiel 114 neue Stellen angekündigt. Rund 1.200 Bewerber haben sich "
    "nach Angaben von Merle Thomsen bereits gemeldet, 38 davon aus Lübeck.",
    "The shipping company Brammer announced 114 new jobs in Kiel on Monday. According to Merle Thomsen, "
    "around 1,200 applicants have already come forward, 38 of them from Lübeck.",
)

PARAGRAPH = (
    "Lake Baikal fills a rift valley in southern Siberia. Its bottom lies 1,642 meters below the surface, "
    "which explains why the lake holds a fifth of all unfrozen fresh water. Only one river, the Angara, "
    "carries water out of it. The nerpa is a seal that lives nowhere else."
)
BAIKAL = Example(
    "baikal",
    PARAGRAPH,
    "Its bottom lies 1,642 meters down, so Lake Baikal holds a fifth of all fresh water.",
    {"question": "Why does Lake Baikal hold so much fresh water?"},
)

STORY = Example(
    "story",
    "Marta planted six tomatoes on her balcony in April. She watered them every evening. In July a heat wave "
    "came, so she carried the pots into the shade. By August the branches bent under heavy red fruit.",
    "Marta gave some of the red fruit to her neighbors in August.",
)


def shown(example: Example, variant: str, text: str) -> Candidate:
    return Candidate(example.id, variant, text, example.source, example.fields)


def scores(
    candidates: Sequence[Candidate], judged: Task = ALL, judge: SurfaceJudge | None = None
) -> dict[tuple[str, str, str], float]:
    ratings = list((judge or SurfaceJudge()).rate(candidates, judged))
    assert len({(r.example, r.variant, r.metric) for r in ratings}) == len(ratings)
    assert len(ratings) == len(candidates) * len(judged.metrics)
    assert all((r.score is None) == (r.status == "failed") and r.sample == 0 for r in ratings)
    return {(r.example, r.variant, r.metric): r.score for r in ratings if r.score is not None}


def rated(example: Example, text: str) -> Mapping[str, float]:
    found = scores([shown(example, ORIGINAL, text)])
    return {metric: score for (_, _, metric), score in found.items()}


# Flaws ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("example", "metric", "good", "bad"),
    [
        (NEWS, "fluency", "voted to close the old bridge", "votde to clsoe the od brigde"),
        (NEWS, "consistency", "Helen Brandt", "Jonas Keller"),
        (NEWS, "consistency", "cracks in 14", "cracks in 27"),
        (NEWS, "consistency", "a ferry for commuters", "a zeppelin for astronauts"),
        (NEWS, "relevance", "voted to close the old bridge over the Lorne", "met and had coffee and cake"),
        (GERMAN, "accuracy", "114", "411"),
        (GERMAN, "accuracy", "1,200", "1,300"),
        (GERMAN, "accuracy", " According to Merle Thomsen, around 1,200", " Around 1,200"),
        (GERMAN, "fluency", "announced 114 new jobs", "annonuced 114 nw jbos"),
        (STORY, "coherence", "the red fruit", "the old stamps"),
        (BAIKAL, "answer_quality", "1,642 meters", "9,821 meters"),
        (BAIKAL, "answer_quality", "bottom lies", "bttom lise"),
    ],
)
def test_a_planted_flaw_lowers_the_metric(example: Example, metric: str, good: str, bad: str) -> None:
    damaged = example.output.replace(good, bad)
    assert damaged != example.output
    assert rated(example, damaged)[metric] < rated(example, example.output)[metric]


def test_reversed_sentences_lower_coherence_and_hardly_anything_else() -> None:
    parts = SUMMARY.split(". ")
    backwards = ". ".join(part.removesuffix(".") for part in reversed(parts)) + "."
    good, bad = rated(NEWS, SUMMARY), rated(NEWS, backwards)
    assert bad["coherence"] < good["coherence"] - 1
    for metric in ("consistency", "fluency", "relevance"):
        assert bad[metric] == pytest.approx(good[metric], abs=0.1)


def test_the_answer_to_another_question_is_poor() -> None:
    other = "The council closed the bridge because engineers found cracks in 14 of its 40 beams."
    assert rated(BAIKAL, other)["answer_quality"] < rated(BAIKAL, BAIKAL.output)["answer_quality"] - 1


def test_the_ending_of_another_story_is_poor() -> None:
    other, own = rated(STORY, "Devon reached the bus stop in time."), rated(STORY, STORY.output)
    assert other["coherence"] < own["coherence"] - 1
    assert other["consistency"] < own["consistency"] - 1


def test_more_typos_cost_more() -> None:
    few = SUMMARY.replace("council", "cuoncil").replace("cracks", "crcaks")
    many = few.replace("bridge", "brdige").replace("Engineers", "Engniers").replace("commuters", "cmmuters")
    good, less, least = (rated(NEWS, text)["fluency"] for text in (SUMMARY, few, many))
    assert least < less < good


def test_good_texts_score_well() -> None:
    for example, metrics in (
        (NEWS, ("fluency", "consistency", "coherence", "relevance")),
        (GERMAN, ("fluency", "accuracy")),
        (BAIKAL, ("answer_quality",)),
        (STORY, ("fluency", "consistency", "coherence")),
    ):
        found = rated(example, example.output)
        assert min(found[metric] for metric in metrics) > 3.5, (example.id, found)


# Languages and habits -------------------------------------------------------------------------------


def test_chinese_numbers_are_compared_by_their_digits() -> None:
    text = "The company sold 120,000 cars and 93 million phones in the year 2026."
    chinese = Example("zh", "这家公司在２０２６年卖出了12万辆汽车和9300万部手机。", text)
    assert (
        rated(chinese, text.replace("93 million", "39 million"))["accuracy"]
        < rated(chinese, text)["accuracy"]
    )
    same = Example("zh", chinese.source.replace("12万", "120000"), text)
    assert rated(same, text)["accuracy"] == pytest.approx(rated(chinese, text)["accuracy"], abs=0.2)


def test_an_abbreviation_ends_no_sentence() -> None:
    assert rated(NEWS, "Repairs are expected to last, e.g. until 2027.")["fluency"] == 5


# Fairness -------------------------------------------------------------------------------------------


def _some() -> list[Candidate]:
    examples = (NEWS, GERMAN, BAIKAL, STORY)
    originals = [shown(example, ORIGINAL, example.output) for example in examples]
    return originals + [shown(example, "cut", example.output[:40]) for example in examples]


def test_the_same_texts_get_the_same_scores_in_any_order() -> None:
    judge = SurfaceJudge()
    first = scores(_some(), judge=judge)
    assert scores(_some(), judge=judge) == first
    assert scores(_some()[::-1]) == first
    assert len(set(first.values())) > 10


def test_a_score_does_not_depend_on_the_other_texts_nor_on_the_label() -> None:
    base = scores(_some())
    others = [replace(c, text="Qwrt zxcv 99!") if c.variant == "cut" else c for c in _some()]
    changed = scores(others)
    relabelled = scores([replace(c, variant="x" + c.variant) for c in _some()])
    for (example, variant, metric), score in base.items():
        if variant == ORIGINAL:
            assert changed[example, variant, metric] == score
        assert relabelled[example, "x" + variant, metric] == score
    assert changed != base


def test_the_reference_is_not_looked_at() -> None:
    blank = Example(NEWS.id, NEWS.source, "Something else entirely.", NEWS.fields)
    text = "The council closed the bridge."
    assert rated(blank, text) == rated(NEWS, text)


# Bounds ---------------------------------------------------------------------------------------------


@given(text=st.text(), source=st.text(), question=st.text())
def test_any_text_gets_a_score_within_the_scale(text: str, source: str, question: str) -> None:
    candidate = shown(Example("e", source, "", {"question": question}), ORIGINAL, text)
    found = scores([candidate], task(*METRICS, low=-3, high=7.5))
    assert all(-3 <= score <= 7.5 for score in found.values())


@pytest.mark.parametrize(
    "text", ["", " ", "x", ".", "中", "\x00", "()" * 500, "y" * 5000, "1.1" * 2000 + "a", "a" * 100_000]
)
@pytest.mark.parametrize("source", ["", "y" * 5000, ARTICLE])
def test_strange_texts_are_rated_in_good_time(text: str, source: str) -> None:
    found = rated(Example("e", source, ""), text)
    assert all(1 <= score <= 5 for score in found.values())


def test_a_text_that_gives_nothing_to_go_by_has_no_score() -> None:
    empty = shown(Example("e", "", ""), ORIGINAL, "It is what it is.")
    ratings = {r.metric: r for r in SurfaceJudge().rate([empty], ALL)}
    assert (ratings["coherence"].score, ratings["coherence"].status) == (None, "failed")
    assert ratings["fluency"].score == 5


def test_a_text_without_words_gets_the_least() -> None:
    assert set(rated(NEWS, " ... ").values()) == {1.0}


def test_the_scale_is_used_linearly() -> None:
    candidates = [shown(NEWS, ORIGINAL, SUMMARY.replace("bridge", "brdige"))]
    five = scores(candidates)
    unit = scores(candidates, task(*METRICS, low=0, high=100))
    for key, score in five.items():
        assert unit[key] == pytest.approx((score - 1) * 25, abs=0.2)


def test_an_unknown_metric_is_an_error_that_names_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"'fluencey'.*did you mean 'fluency'.*accuracy.*relevance"):
        SurfaceJudge().rate([], task("fluency", "fluencey"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("the color of the theater", "the colour of the theatre"),
        ("it cost 20 euros and 5 million dollars", "it cost €20 and $5 million"),
        ("it grew by 31 percent to 8,150", "it grew by 31% to 8150"),
        ('he said "no" to the mayor\'s plan', "he said “no” to the mayor’s plan"),
        ("they won 3-1 in five years", "they won 3–1 in 5 years"),
        ("the judgment of the neighbors on sulfur", "the judgement of the neighbours on sulphur"),
        ("at 8 am they did not reorganize the catalog", "at 8 a.m. they didn't reorganise the catalogue"),
    ],
)
def test_ways_of_writing_score_alike(one: str, other: str) -> None:
    """By every metric, whichever of them the source uses."""
    for source in (one, other):
        example = Example("way", f"It is known that {source}.", f"It is known that {one}.")
        first, second = (dict(rated(example, f"It is known that {each}.")) for each in (one, other))
        # A translation is judged complete by its letters, of which there may be one or two more.
        assert first.pop("accuracy") == pytest.approx(second.pop("accuracy"), abs=0.2)
        assert first == second
