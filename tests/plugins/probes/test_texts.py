"""The texts of the probes: words and items stay, the same seed makes the same text, doses are whole."""

import random
import re
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dhp.content.catalog import read_task
from dhp.core.errors import InputError, NotApplicable
from dhp.core.records import Example
from dhp.core.specs import PerturberUse
from dhp.loaders.dataset import Dataset
from dhp.perturb.api import Edited
from dhp.perturb.builder import Builder
from dhp.perturb.llm.acceptance import LOST_NAMES, NEW_NAMES, TOO_CLOSE, TOO_LONG, UNCHANGED, fault
from dhp.perturb.registry import find_perturbers
from dhp.plugins.probes.options import PROBES
from dhp.plugins.probes.perturbers import item_order, layout
from dhp.plugins.probes.suite import DOSES, LABELS, probe_suite, without_lower_doses

WORDS = st.sampled_from(
    "The cat Ann Oslo sat ran 7 3.5 and or of with mats, dogs; - * 12. Mr. U.S. ».".split()
)
SENTENCES = st.lists(WORDS, min_size=1, max_size=9).map(lambda words: " ".join(words))
TEXTS = st.lists(SENTENCES, min_size=1, max_size=5).flatmap(
    lambda parts: st.sampled_from([". ", "! ", "\n", ".\n\n", "。"]).map(lambda gap: gap.join(parts) + ".")
)
LANGUAGES = st.sampled_from(["en", "de", "zh", None])


def words_of(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def laid_out(text: str, form: str, language: str | None = "en") -> str:
    made = layout(text, random.Random(0), form=form, language=language)
    assert isinstance(made, str)
    return made


@given(TEXTS, st.sampled_from(["bullets", "paragraphs", "bold"]), LANGUAGES)
def test_another_layout_keeps_every_word_in_its_order(text: str, form: str, language: str | None) -> None:
    try:
        made = laid_out(text, form, language)
    except NotApplicable:
        assume(False)
    assert words_of(made) == words_of(text)
    assert made != text
    plain = re.sub("^- ", "", made, flags=re.M) if form == "bullets" else made
    plain = plain.replace("**", "", 2) if form == "bold" else plain
    assert "".join(plain.split()) == "".join(text.split())


def test_each_form_is_what_it_says() -> None:
    text = "Dr. Wu came. She sat down. It rained."
    assert laid_out(text, "bullets") == "- Dr. Wu came.\n- She sat down.\n- It rained."
    assert laid_out(text, "paragraphs") == "Dr. Wu came.\n\nShe sat down.\n\nIt rained."
    assert laid_out("One.\n\nTwo.", "paragraphs") == "One. Two."
    assert laid_out(text, "bold") == "**Dr. Wu came.** She sat down. It rained."
    assert laid_out("今天下雨。我在家。", "bullets", "zh") == "- 今天下雨。\n- 我在家。"


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("One sentence.", "bullets"),
        ("*One* here. Two.", "bold"),
        ("See:\n```\nx\n```", "bold"),
        ("It is:\n- a\n- b", "paragraphs"),
    ],
)
def test_where_a_layout_is_impossible(text: str, form: str) -> None:
    with pytest.raises(NotApplicable):
        laid_out(text, form)


def reordered(text: str, seed: int = 0, language: str | None = "en") -> str:
    made = item_order(text, random.Random(seed), language=language)
    assert isinstance(made, Edited)
    return made.text


@given(
    st.lists(st.sampled_from(["red", "blue sky", "7", "Oslo, too", "x - y"]), min_size=2, max_size=6),
    st.sampled_from(["- ", "* ", "  • "]),
    st.integers(0, 99),
)
def test_the_items_of_a_list_stay_with_their_marks(items: list[str], mark: str, seed: int) -> None:
    text = "Before:\n" + "".join(f"{mark}{item}\n" for item in items) + "After."
    if len(set(items)) == 1:
        with pytest.raises(NotApplicable):
            reordered(text, seed)
        return
    made = reordered(text, seed)
    assert made == reordered(text, seed)
    assert made != text
    assert Counter(made.splitlines()) == Counter(text.splitlines())
    assert (made.splitlines()[0], made.splitlines()[-1]) == ("Before:", "After.")


@given(st.permutations(["Ann", "Bob", "Carl", "Dora"]), st.integers(0, 99))
def test_the_names_of_a_series_stay(names: list[str], seed: int) -> None:
    text = f"She met {', '.join(names[:-1])} and {names[-1]} in Oslo."
    made = reordered(text, seed)
    assert made != text
    assert re.fullmatch(r"She met \w+, \w+, \w+ and \w+ in Oslo\.", made)
    assert Counter(words_of(made)) == Counter(words_of(text))


@pytest.mark.parametrize(
    "text",
    [
        "He went to Paris, London and New York.",
        "They flew from New York, Paris and Rome.",
        "In Paris, London and Rome it rained.",
        "It came with apples, pears and orange juice.",
        "We had a cat, dog and mouse.",
        "They ran, jumped and fell.",
        "1. first\n2. second",
        "Nothing to be ordered here.",
    ],
)
def test_items_that_are_not_equal_stay(text: str) -> None:
    with pytest.raises(NotApplicable):
        reordered(text)


def test_a_series_in_another_language_stays() -> None:
    with pytest.raises(NotApplicable):
        reordered("He met Ann, Bob and Carl.", language="de")


def made_of(*outputs: str, seed: int = 0) -> dict[tuple[str, str], str | None]:
    """(example, variant) -> text, of all probes without a language model."""
    examples = [Example(str(i), "A source.", output, language="en") for i, output in enumerate(outputs)]
    suite = probe_suite(PROBES, "word_deletions")
    task = read_task("summarization")
    data = Dataset("own", examples, task, suite, examples)
    own = (layout, item_order)
    registry = find_perturbers(own, [suite])
    build = Builder(own, registry, seed, None, {}, None, False, None)
    return {(t.example, t.variant): t.text for t in without_lower_doses(build.perturbed(data)).texts}


LONG = (
    "The old man lived in Oslo with cats, dogs and birds. He read all day. It was a good life for him there."
)


def test_texts_depend_on_seed_and_example_alone() -> None:
    both, alone = made_of(LONG, "Another text. It is short."), made_of(LONG)
    assert {at: text for at, text in both.items() if at[0] == "0"} == alone
    assert made_of(LONG, seed=1) != alone


def test_every_dose_is_whole_and_holds_the_smaller_ones() -> None:
    texts = made_of(LONG, "Only four words here.")
    assert texts["1", "word_deletions.k8"] is None, "no half dose under its name"
    before = len(LONG.split())
    for k in DOSES:
        left = texts["0", f"word_deletions.k{k}"]
        padded = texts["0", f"padding.k{k}"]
        assert len(left.split()) == before - k
        assert all(word in padded for word in words_of(LONG))
    kept = [Counter(words_of(texts["0", f"word_deletions.k{k}"] or "")) for k in DOSES]
    assert all(larger <= smaller for smaller, larger in pairwise(kept))


def test_the_suite_of_each_probe() -> None:
    names = {v.name for v in probe_suite(PROBES, "word_deletions").variants}
    assert {name for name in names if name in LABELS} == LABELS.keys()
    assert names - LABELS.keys() == {f"{p}.k{k}" for p in ("padding", "word_deletions") for k in DOSES}
    levels = {v.perturber: v.level for v in probe_suite(PROBES, "random_typos").variants}
    assert (levels["layout"], levels["padding"], levels["random_typos"]) == ("control", "attack", "character")
    (only,) = probe_suite(["stability"], "random_typos").variants
    assert only.name == "random_typos.k4"
    assert isinstance(probe_suite(["verbosity"], "x").perturbers["padding"], PerturberUse)


def test_damage_that_cannot_be_counted_is_refused() -> None:
    with pytest.raises(InputError, match="`damage` 'reordering': takes no number of damages; "):
        probe_suite(["calibration"], "reordering")


ORIGINAL = "Ann Berg moved to Oslo in 1999. She felt at home there and soon bought a small house by the sea."
OTHER_WORDS = "In 1999 Ann Berg went to live in Oslo. The place suited her, and before long a hut was hers."


@pytest.mark.parametrize(
    ("revised", "reason"),
    [
        (OTHER_WORDS, None),
        (OTHER_WORDS.replace("in Oslo", "there"), LOST_NAMES),
        (OTHER_WORDS.replace("In 1999 ", ""), LOST_NAMES),
        (OTHER_WORDS.replace("went", "left Bergen"), NEW_NAMES),
        (OTHER_WORDS.replace("a hut", "2 huts"), NEW_NAMES),
        (ORIGINAL.replace("small", "little"), TOO_CLOSE),
        (ORIGINAL, UNCHANGED),
        (OTHER_WORDS + " The place suited her." * 8, TOO_LONG),
    ],
)
def test_a_paraphrase_keeps_names_and_numbers_and_changes_words(revised: str, reason: str | None) -> None:
    assert fault("paraphrase", ORIGINAL, revised, "all", language="en") == reason


def test_german_nouns_are_no_names() -> None:
    before = "Der Mann kaufte 1999 ein kleines Haus am Meer und lebte dort viele Jahre mit seinem Hund."
    after = "Viele Jahre wohnte er, nachdem er 1999 an der Küste eine Hütte erworben hatte, da mit dem Tier."
    assert fault("paraphrase", before, after, "all", language="de") is None
    assert fault("paraphrase", before, after.replace("1999", "2001"), "all", language="de") == LOST_NAMES
