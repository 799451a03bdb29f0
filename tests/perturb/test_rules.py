"""Rule perturbers: exact doses, nested degrees, survival of any text, isolation from global state."""

import random
import re
import string
import unicodedata
from collections import Counter
from itertools import groupby, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from dhp.content.catalog import read_list
from dhp.core.errors import InputError, NotApplicable
from dhp.core.markdown import masked
from dhp.core.records import Example
from dhp.core.sentences import sentences
from dhp.loaders.resolve import resolve_datasets
from dhp.perturb.api import Edited
from dhp.perturb.registry import builtin_perturbers
from dhp.perturb.rules.typing_errors import TYPOS, TypedText

RULES = builtin_perturbers()
SUMMARY = (
    "The council of Hartwell voted 9 to 4 on 12 May to close the old library. It will move to Mill Street, "
    "where 300 square metres stand empty. Mayor Ines Calder called it a new start. Opponents collected 2,150 "
    "signatures and want a vote of all citizens."
)
# Anything but surrogates; weighted towards digits of other scripts, which the typo package trips over.
any_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=80) | st.text(
    "aZ9٣½²ßİǅ é.\n", max_size=60
)

sentences_of_words = st.lists(
    st.sampled_from("Ann Bob 12 3,5 the cat। slept. No! 他们 去了。 well-known “here” हिन्दी".split()),
    max_size=25,
).map(" ".join)


def apply(name: str, text: str, seed: int = 0, others: tuple[str, ...] = (), **params: object) -> Edited:
    perturber = RULES[name]
    extra: dict[str, object] = {"lists": read_list} if perturber.wants("lists") else {}
    if perturber.wants("example"):
        extra["example"] = Example("text", "", text)
    if perturber.wants("others"):
        extra["others"] = [Example(str(i), "", other) for i, other in enumerate(others)]
    result = perturber.function(text, random.Random(seed), **extra, **params)
    return result if isinstance(result, Edited) else Edited(result, 1, 1)


def alphanumeric(text: str) -> int:
    return sum(map(str.isalnum, text))


def is_subsequence(short: str, long: str) -> bool:
    letters = iter(long)
    return all(c in letters for c in short)


@given(any_text, st.integers(1, 60), st.integers(0, 5))
def test_deletions_take_exactly_k_letters_or_digits(text: str, k: int, seed: int) -> None:
    letters = alphanumeric(masked(text, codes=True).text)  # a slip in a code is no typing error
    if letters < 2:
        with pytest.raises(NotApplicable):
            apply("random_deletions", text, seed, k=k)
        return
    result = apply("random_deletions", text, seed, k=k)
    dose = min(k, letters // 2)
    assert (result.asked, result.made) == (k, dose)
    marks = sum(unicodedata.category(c)[0] == "M" for c in text)
    assert len(text) - dose - marks <= len(result.text) <= len(text) - dose
    assert alphanumeric(result.text) == alphanumeric(text) - dose
    assert is_subsequence(result.text, text)


@given(
    st.lists(st.sampled_from(["e\u0301", "u\u0308", "हि", "n", "o", " "]), min_size=20).map("".join),
    st.sampled_from(["random_deletions", "random_typos"]),
    st.integers(0, 9),
)
def test_a_letter_is_never_parted_from_its_accent(text: str, name: str, seed: int) -> None:
    clusters = {"e\u0301", "u\u0308", "हि"}
    for k in (1, 10):
        try:
            made = apply(name, text * (60 if seed == 9 else 1), seed, k=k).text
        except NotApplicable:
            continue
        marks = [i for i, c in enumerate(made) if unicodedata.category(c)[0] == "M"]
        assert all(made[i - 1 : i + 1] in clusters for i in marks)


@given(st.integers(0, 10_000))
def test_minor_deletions_are_among_the_major_ones(seed: int) -> None:
    rng = random.Random(seed)  # all letters distinct
    letters = " ".join(
        "".join(rng.sample(case, 26)) for case in (string.ascii_lowercase, string.ascii_uppercase)
    )
    minor = apply("random_deletions", letters, seed, k=5).text
    major = apply("random_deletions", letters, seed, k=20).text
    assert is_subsequence(major, minor)


@given(any_text, st.integers(1, 30), st.integers(0, 5))
def test_typos_survive_any_text_and_change_it(text: str, k: int, seed: int) -> None:
    try:
        result = apply("random_typos", text, seed, k=k)
    except NotApplicable:
        assert alphanumeric(masked(text, codes=True).text) < 2
        return
    assert 1 <= result.made <= min(k, alphanumeric(text) // 2)
    assert OSA.distance(text, result.text) >= result.made


@pytest.mark.parametrize("k", [10, 50])
def test_typos_reach_the_dose_on_ordinary_text(k: int) -> None:
    results = [apply("random_typos", SUMMARY, seed, k=k) for seed in range(40)]
    assert {result.made for result in results} == {k}
    assert len({result.text for result in results}) == 40


def test_each_typo_takes_the_text_further_and_smaller_doses_come_first() -> None:
    texts = [apply("random_typos", SUMMARY, 7, k=k).text for k in range(1, 40)]
    distances = [OSA.distance(SUMMARY, text) for text in texts]
    assert all(0 < b - a <= 2 for a, b in pairwise([0, *distances]))
    assert all(abs(len(a) - len(b)) <= 1 for a, b in pairwise([SUMMARY, *texts])), "one edit at a time"


def test_typos_in_a_long_text_are_spread_and_reach_the_dose() -> None:
    text = " ".join([SUMMARY] * 60)
    minor, major = (apply("random_typos", text, 3, share=share) for share in (0.01, 0.1))
    assert (minor.asked, major.asked) == (minor.made, major.made)
    assert OSA.distance(text, major.text) >= 0.9 * major.made
    quarter = len(text) // 4
    first = OSA.distance(text[:quarter], major.text[:quarter])
    assert abs(first - major.made / 4) < 0.2 * major.made / 4


DOSED = sorted(
    name for name in RULES if "share" in RULES[name].parameters and "pipeline" not in RULES[name].parameters
)
OTHERS = ("Another text, of 3 sentences. It says 7 things. All of them are new!", "他们去了。天气很好！")


@pytest.mark.parametrize("name", DOSED)
def test_a_dose_that_is_none_is_refused(name: str) -> None:
    by_count = "k" in RULES[name].parameters
    for k in (0, -3, True, 2.5, "ten") if by_count else ():
        with pytest.raises(InputError, match=r"`k` .*: (is of type \w+; )?must be (1|a whole)"):
            apply(name, SUMMARY, others=OTHERS, k=k)
    for share in (0, -0.1, 1.1, True, "all"):
        with pytest.raises(InputError, match=r"`share` .*: (is of type \w+; )?must be (more|a num)"):
            apply(name, SUMMARY, others=OTHERS, share=share)
    amount = "k" if by_count else "count"
    for params in ({}, {amount: 2, "share": 0.5}):
        with pytest.raises(InputError, match=f"give exactly one of the parameters {amount} and share"):
            RULES[name].check_params(params, "here")


@pytest.mark.slow
@pytest.mark.parametrize("name", DOSED)
@given(
    text=any_text | sentences_of_words,
    low=st.floats(0.01, 1),
    high=st.floats(0.01, 1),
    seed=st.integers(0, 3),
)
def test_any_text_survives_and_a_larger_share_takes_it_further(
    name: str, text: str, low: float, high: float, seed: int
) -> None:
    low, high = sorted((low, high))
    try:
        minor, major = (apply(name, text, seed, OTHERS, share=share) for share in (low, high))
    except NotApplicable:
        return
    assert minor.text.strip()
    assert text not in (minor.text, major.text)
    assert minor.made <= minor.asked
    assert minor.made <= major.made
    assert minor == apply(name, text, seed, OTHERS, share=low), "the same stream gives the same text"


def test_a_share_is_of_the_letters_words_numbers_or_sentences() -> None:
    text = "Ann, Bob and Cy ate 12 of 30 figs. They slept 8 hours. Then it was 9 or 10."
    letters = alphanumeric(text)
    shares = {
        "random_deletions": letters,
        "random_typos": letters,
        "word_deletions": 19,
        "word_swaps": 19,
        "sentence_deletion": 3,
        "sentence_repetition": 3,
        "sentence_insertion": 3,
    }
    for name, total in shares.items():
        assert apply(name, text, others=OTHERS, share=0.4).asked == round(0.4 * total), name
        assert apply(name, text, others=OTHERS, share=0.001).asked == 1
    assert apply("reordering", text, share=0.1).asked == 2


@given(st.integers(0, 300), st.integers(2, 40))
def test_swaps_exchange_neighbours_and_nest(seed: int, count: int) -> None:
    words = [f"w{i}" for i in range(count)]
    moved = {}
    for k in (2, 6):
        result = apply("word_swaps", " ".join(words) + ".", seed, k=k)
        after = result.text.rstrip(".").split()
        assert Counter(after) == Counter(words), "punctuation stays"
        moved[k] = {(i, word) for i, word in enumerate(after) if word != words[i]}
        assert all(abs(i - words.index(word)) == 1 for i, word in moved[k])
        assert len(moved[k]) == 2 * result.made
    assert moved[2] <= moved[6]


CLAUSES = {
    "en": "the a of in with and house Ann went old is to city she".split(),
    "de": "die eine im von mit und Haus Anna ging alte ist zu Stadt sie".split(),
    "zh": "他 在 新 的 图书馆 和 学生 很 好 了 把 去 全球 面临".split(),
}


@pytest.mark.parametrize("language", [*CLAUSES, None])
@given(data=st.data(), seed=st.integers(0, 9))
def test_no_word_moves_across_a_mark(language: str | None, data: st.DataObject, seed: int) -> None:
    space, marks = ("", "，。；：") if language == "zh" else (" ", ",.;:")
    words = st.sampled_from(CLAUSES[language or "en"])
    clauses = data.draw(st.lists(st.lists(words, min_size=1, max_size=6), min_size=1, max_size=5))
    ends = data.draw(st.lists(st.sampled_from(marks), min_size=len(clauses), max_size=len(clauses)))
    text = space.join(space.join(clause) + end for clause, end in zip(clauses, ends, strict=True))
    try:
        after = apply("word_swaps", text, seed, language=language, k=4).text
    except NotApplicable:
        return
    before, behind = (re.split(f"[{marks}]", each) for each in (text, after))
    assert [Counter("".join(each.split())) for each in before] == [
        Counter("".join(e.split())) for e in behind
    ]


ADJECTIVES = {"en": "old new big red small".split(), "de": "alte neue große rote kleine".split()}
FRAMES = {
    "en": "They saw a {} {} door in the {} {} house of their friends.",
    "de": "Sie sahen eine {} {} Tür neben der {} {} Mühle und eine {} Uhr.",
}


@pytest.mark.parametrize("language", FRAMES)
@given(data=st.data(), seed=st.integers(0, 99))
def test_a_word_that_nobody_misses_is_neither_deleted_nor_moved(
    language: str, data: st.DataObject, seed: int
) -> None:
    adjectives = st.sampled_from(ADJECTIVES[language])
    words = data.draw(st.lists(adjectives, min_size=5, max_size=5))
    text = FRAMES[language].format(*words)
    for spoken in (language, None):
        left = Counter(apply("word_deletions", text, seed, language=spoken, k=1).text.split())
        assert not {*(Counter(text.split()) - left)} & {*ADJECTIVES[language]}
        after = apply("word_swaps", text, seed, language=spoken, k=1).text.split()
        moved = [word for word, old in zip(after, text.split(), strict=True) if word != old]
        assert not set(moved) <= set(ADJECTIVES[language])


@pytest.mark.parametrize(
    ("text", "fluent"),
    [
        ("新的图书馆和大的广场都很漂亮。", "新图书馆和大的广场都很漂亮。"),
        ("他把书给了学生的老师，学生很高兴。", "他把书给学生的老师，学生很高兴。"),
        ("民主事业在全球面临挑战，政府已经开始讨论。", "民主事业在全球面临挑战，政府开始讨论。"),
    ],
)
def test_chinese_words_are_missed(text: str, fluent: str) -> None:
    assert fluent not in {apply("word_deletions", text, seed, language="zh", k=1).text for seed in range(40)}


@pytest.mark.parametrize(
    "words",
    [
        "全球 的 搜索 服务 在 去年 出现 了 最大 的 模块 错误".split(),
        "他们 把 软件包 和 一部分 数据 给 了 上个月 来 的 学生".split(),
        "各地 的 旅客 将 在 机场 接受 检测 ， 政府 已经 宣布 了 两道 防线".split(),
    ],
)
def test_no_chinese_word_is_turned_inside(words: list[str]) -> None:
    for seed in range(40):
        after = apply("word_swaps", "".join(words), seed, language="zh", k=2).text
        assert all(word in after for word in words), after


JAPANESE = (
    "彼らは昨日、新しい図書館を見学し、館長の話を聞いた。雨が降ったので、遠足は中止になった。",
    "市は来年、駅前の広場に記念碑を建てる。費用は寄付金でまかなうことが決まった。",
)
BROKEN = re.compile(
    r"(?:^|[、。])(?:は|が|を|に(?!は)|へ|の|も|や|より|まで|では|には|からの)"
    r"|[はがをも][はがをにへのもや]|[はがをのもや]。"
)
"""A particle with nothing before it, behind one that allows none, or at the end of a sentence."""


@pytest.mark.parametrize("text", JAPANESE)
def test_missing_words_break_a_japanese_sentence(text: str) -> None:
    assert not BROKEN.search(text)
    for seed in range(40):
        after = apply("word_deletions", text, seed, language="ja", share=0.06).text
        assert BROKEN.search(after), after


CAPITALS = "The museum in Bonn shows a ship. It was built by Anna. In May the town will buy the old ship."


def test_a_sentence_begins_with_a_capital_after_swaps_too() -> None:
    names = {"Bonn", "Anna", "May"}
    for seed in range(60):
        after = apply("word_swaps", CAPITALS, seed, language="en", share=0.5).text
        for sentence in after.rstrip(".").split(". "):
            first, *others = sentence.split()
            assert first[0].isupper()
            assert {word for word in others if word[0].isupper()} <= names


def test_swapped_words_are_of_many_kinds() -> None:
    """Pairs of an article and a noun alone would be one pattern; today they are 18 % in public sets."""
    swapped = Counter[str]()
    (data,) = resolve_datasets(["mini/summeval"])
    for example in data.examples:
        after = apply("word_swaps", example.output, language="en", share=0.03).text
        pairs = zip(example.output.lower().split(), after.lower().split(), strict=True)
        swapped.update(old for old, new in pairs if old != new)
    articles = sum(swapped[word] for word in ("a", "an", "the"))
    assert 2 * swapped.total() > 100
    assert articles < 0.3 * swapped.total() / 2


def test_a_relative_pronoun_moves_only_if_no_other_swap_is_known() -> None:
    text = "Es gibt Leute, die auch gerne lesen, und einen Hund im Haus der Familie."
    swapped = {apply("word_swaps", text, seed, language="de", k=1).text for seed in range(60)}
    assert len(swapped) > 2
    assert not any("auch die" in each for each in swapped)


def test_where_no_word_is_missed_none_is_deleted() -> None:
    with pytest.raises(NotApplicable, match="no words are known without which the sentence breaks"):
        apply("word_deletions", "Nice old red doors, big blue windows.", language="en", k=1)
    assert apply("word_deletions", "Nice old red doors, big blue windows.", language="fi", k=1).made == 1


@given(st.integers(0, 200), st.integers(2, 8))
def test_sentences_go_come_twice_or_come_from_elsewhere_and_nest(seed: int, count: int) -> None:
    parts = [f"Sentence number {i} stands here." for i in range(count)]
    text = " ".join(parts)
    for k in (1, 3):
        gone = apply("sentence_deletion", text, seed, k=k)
        kept = sentences(gone.text)
        assert kept == [part for part in parts if part in kept]
        assert len(parts) - len(kept) == gone.made == min(k, count // 2), "at most half of the text"
        twice = sentences(apply("sentence_repetition", text, seed, k=k).text)
        assert [part for part, _ in groupby(twice)] == parts
        assert len(twice) == count + min(k, count)
        others = tuple(f"Other text {i}. It is new {i}." for i in range(5))
        added = sentences(apply("sentence_insertion", text, seed, others, k=k).text)
        assert [s for s in added if s in parts] == parts
        assert len({s.rstrip(".")[-1] for s in added if s not in parts}) == k, "each of another example"
    for name in ("sentence_deletion", "sentence_repetition", "sentence_insertion"):
        less, more = (Counter(sentences(apply(name, text, seed, others, k=k).text)) for k in (1, 3))
        assert more <= less if name == "sentence_deletion" else less <= more


def test_central_sentences_are_those_that_share_most_words_with_the_source() -> None:
    parts = [
        "It was a lovely morning for everybody who had come to the square.",
        "The council closed the library.",
        "Visitors wept, and nobody knew what to say about it.",
        "The library holds ancient manuscripts of the council.",
    ]
    source = "The council of the town closed the library with its ancient manuscripts."
    text = " ".join(parts)
    for seed in range(8):
        for k, kept in ((1, parts[:3]), (2, [parts[0], parts[2]])):
            gone = RULES["sentence_deletion"](
                text, random.Random(seed), example=Example("x", source, text), k=k, central=True
            )
            assert isinstance(gone, Edited)
            assert sentences(gone.text) == kept


def test_without_a_source_any_sentence_is_central() -> None:
    text = "The first one is here. The second one is here. The third one is here."
    gone = {apply("sentence_deletion", text, seed, k=1, central=True).text for seed in range(20)}
    assert len(gone) == 3


def test_chinese_is_split_without_spaces() -> None:
    text = "昆明的铁路已经铺完。十月开始试运行！市民很高兴。"
    assert sorted(apply("word_swaps", text, k=3).text) == sorted(text)
    shorter = apply("word_deletions", text, k=4)
    assert (alphanumeric(text) - alphanumeric(shorter.text), " " in shorter.text) == (4, False)
    assert " " not in apply("sentence_repetition", text, k=2).text
    assert len(sentences(apply("sentence_deletion", text, k=1).text)) == 2
    assert " " not in apply("sentence_insertion", text, others=OTHERS[1:], k=1).text


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("word_swaps", "same same same", "no two neighbouring words differ"),
        ("word_swaps", "Alone.", "no two neighbouring words differ"),
        ("sentence_deletion", "One sentence only.", "fewer than two sentences"),
        ("sentence_repetition", "...", "no sentence"),
        ("sentence_insertion", OTHERS[0], "no other example with another sentence"),
        *(("word_deletions", text, "fewer than two words") for text in ("", "word", "...", "?!")),
        *(
            ("reordering", text, "fewer than two different sentences")
            for text in ("Only one sentence here.", "Same again. Same again.", "", "No end mark at all")
        ),
    ],
)
def test_what_cannot_be_done_is_not_applicable(name: str, text: str, reason: str) -> None:
    dose = {"count": 2} if name == "reordering" else {"k": 1}
    with pytest.raises(NotApplicable, match=reason):
        apply(name, text, others=OTHERS[:1], **dose)


def test_nine_never_becomes_ten() -> None:
    for seed in range(200):
        assert "10" not in apply("random_typos", "9999, 9999, 9999", seed, k=1).text


@pytest.mark.parametrize("name", ["random_typos", "random_deletions"])
def test_the_callers_random_state_is_untouched(name: str) -> None:
    random.seed(11)
    expected = [random.random() for _ in range(3)]
    random.seed(11)
    first = random.random()
    one = apply(name, SUMMARY, 3, k=10).text
    random.seed(99)  # what the caller does to the global generator has no influence either
    two = apply(name, SUMMARY, 3, k=10).text
    random.seed(11)
    assert [random.random() for _ in range(3)] == expected
    assert first == expected[0]
    assert one == two


@given(st.integers(0, 300), st.integers(2, 60))
def test_word_deletions_remove_consecutive_words_and_nest(seed: int, count: int) -> None:
    words = [f"w{i:02}" for i in range(count)]
    kept = {}
    for k in (5, 25):
        result = apply("word_deletions", " ".join(words), seed, k=k)
        kept[k] = result.text.split()
        gone = [w for w in words if w not in kept[k]]
        assert len(gone) == result.made == min(k, count // 2)
        start = words.index(gone[0])
        assert words[start : start + len(gone)] == gone
    assert set(kept[25]) <= set(kept[5])


@pytest.mark.parametrize("language", [*CLAUSES, None])
@given(data=st.data(), seed=st.integers(0, 9))
def test_deletions_nest_and_are_consecutive_in_every_language(
    language: str | None, data: st.DataObject, seed: int
) -> None:
    joint = "" if language == "zh" else " "
    words = data.draw(st.lists(st.sampled_from(CLAUSES[language or "en"]), min_size=8, max_size=40))
    text = joint.join(words)
    kept = ""
    for k in (1, 2, 3, 4, 6, 9, 15):
        try:
            result = apply("word_deletions", text, seed, language=language, k=k)
        except NotApplicable:
            continue
        assert len(result.text) < len(text)
        assert not kept or is_subsequence(result.text, kept), "nested"
        cut = range(len(result.text) + 1)
        assert any(text.startswith(result.text[:i]) and text.endswith(result.text[i:].lstrip()) for i in cut)
        kept = result.text


@given(st.integers(0, 200), st.integers(2, 7))
def test_reordering_moves_sentences(seed: int, count: int) -> None:
    parts = [f"Sentence number {i} stands here." for i in range(count)]
    for how, moved in ((2, 2), ("all", count)):
        result = apply("reordering", " ".join(parts), seed, count=how)
        after = sentences(result.text)
        assert Counter(after) == Counter(parts)
        assert sum(a != b for a, b in zip(after, parts, strict=True)) == moved == result.made


def test_reordering_keeps_white_space_between_places() -> None:
    assert (
        apply("reordering", "One is first.\n\nTwo is second.", count="all").text
        == "Two is second.\n\nOne is first."
    )


@pytest.mark.parametrize("name", ["random_ending", "random_answer"])
def test_texts_of_others_are_never_the_own_text(name: str) -> None:
    others = ("Right.", "Other one.", "Other two.", "Right.")
    drawn = {apply(name, "Right.", seed, others=others).text for seed in range(50)}
    assert drawn == {"Other one.", "Other two."}
    with pytest.raises(NotApplicable):
        apply(name, "Right.", others=("Right.",))


def test_wrong_ending_is_the_datasets() -> None:
    function = RULES["wrong_ending"].function
    rng = random.Random(0)
    assert function("Right.", rng, example=Example("1", "", "Right.", {"wrong_ending": "Wrong."})) == "Wrong."
    for fields in ({}, {"wrong_ending": "Right."}):
        with pytest.raises(NotApplicable):
            function("Right.", rng, example=Example("1", "", "Right.", fields))


TYPED = st.one_of(
    st.text("abzAZ019 _.,'\n\u00e9\u00df", max_size=40),
    st.sampled_from(
        ["", " ", "a", "Happy  birthday, Ms_O'Neill!", "10 + 9 = 19", "Stra\u00dfe \u0663", "\u0661 is one"]
    ),
)


@given(TYPED, st.integers(0, 2**64 - 1), st.lists(st.sampled_from(sorted(TYPOS)), max_size=12))
def test_errors_are_those_of_the_package(text: str, seed: int, kinds: list[str]) -> None:
    from typo import Errer, StrErrer
    from typo.keyboardlayouts import en_default

    state, own = random.getstate(), random.Random(seed)
    try:
        theirs, typed = StrErrer(text, seed=seed), TypedText(text)
        assert Errer.random is en_default.random is random
        for kind in kinds:
            draw, _ = TYPOS[kind]
            try:
                getattr(theirs, kind)()
            except KeyError:
                try:
                    draw(typed, own)
                except KeyError:
                    continue
                raise AssertionError("the package knows no such key") from None
            edit = draw(typed, own)
            if edit is not None:
                typed.change(edit)
            assert typed.text == theirs.result
    finally:
        random.setstate(state)
