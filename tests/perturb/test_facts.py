"""Wrong facts by rule: borrowed from the table, found only by reading, and no more frequent than before."""

import json
import os
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import dhp
from dhp.content.catalog import read_list
from dhp.core.errors import NotApplicable
from dhp.core.records import Candidate, Example
from dhp.core.words import zipf
from dhp.perturb.api import Edited
from dhp.perturb.apply import Others
from dhp.perturb.edits import applied
from dhp.perturb.facts.balance import SLACK, Balance, Option
from dhp.perturb.facts.lists import FactLists
from dhp.perturb.facts.names import Names
from dhp.perturb.facts.negation import negations
from dhp.perturb.facts.values import Meaning, NumbersOfTable, other_number, shape
from dhp.perturb.facts.words import listed_words
from dhp.perturb.registry import builtin_perturbers
from tests.judges import ByRule

RULES = builtin_perturbers()
WHO = ["Anna Keller", "Maria Lopez", "Peter Brandt", "Thomas Weber", "Susan Clarke", "David Moore"]
TOWNS = ["Leeds", "Oslo", "Boston", "Vienna", "Dublin", "Lyon"]


def reports() -> list[Example]:
    """Two dozen reports, each about one person in one town, with the notes they were written from."""
    made = []
    for i in range(24):
        who, town, day = WHO[i % 6], TOWNS[(i * 5 + i // 6) % 6], ("Monday", "Tuesday", "Friday")[i % 3]
        said = "did not hear" if i % 2 else "heard"
        rose = "increased" if i % 4 < 2 else "decreased"
        source = f"Notes: {who} was in {town} on {day}. Guests: {12 + i}. Prices {rose}. Music: {said}."
        text = (
            f"Yesterday {who} was in {town} for a fair. On {day} all {12 + i} guests paid, prices {rose}. "
            f"In the evening she {said} the music from the street."
        )
        made.append(Example(str(i), source, text))
    return made


REPORTS = reports()
OTHERS = Others(REPORTS, 0, "reports")


def apply(name: str, example: Example, seed: int = 0, others: Others = OTHERS, **params: object) -> Edited:
    dose = params or {"k": 1}
    made = RULES[name](
        example.output,
        random.Random(f"{seed} {example.id}"),
        example=example,
        others=others.of(example),
        lists=read_list,
        **dose,
    )
    assert isinstance(made, Edited)
    assert made.text != example.output
    return made


def changes(old: str, new: str) -> list[tuple[str, str]]:
    before, after = re.findall(r"[\w'’]+", old), re.findall(r"[\w'’]+", new)
    codes = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return [(" ".join(before[a:b]), " ".join(after[c:d])) for tag, a, b, c, d in codes if tag != "equal"]


def all_changes(name: str, examples: Sequence[Example] = REPORTS, **params: object) -> list[tuple[str, str]]:
    found = list[tuple[str, str]]()
    for seed in range(4):
        for example in examples:
            try:
                found += changes(example.output, apply(name, example, seed, **params).text)
            except NotApplicable:
                continue
    return found


def test_a_wrong_name_is_that_of_another_text_and_of_the_same_kind_and_sex() -> None:
    women = {"Anna Keller", "Maria Lopez", "Susan Clarke"}
    found = set(all_changes("wrong_names", share=1.0))
    assert len(found) > 20
    for old, new in found:
        assert old != new
        assert (old in TOWNS and new in TOWNS) or {old, new} <= women or {old, new} <= set(WHO) - women


def test_a_name_is_wrong_wherever_it_stands_and_its_parts_follow_it() -> None:
    text = "In Leeds Anna Keller spoke. Later Keller's sister saw Anna in Leeds with Dr. Keller."
    example = Example("x", f"{text} More.", text)
    table = Others([*REPORTS, example], 0, "reports")
    for seed in range(8):
        made = RULES["wrong_names"](
            text, random.Random(seed), example=example, others=table.of(example), lists=read_list, share=1.0
        )
        assert "Keller" not in made.text
        assert "Anna" not in made.text
        assert "Leeds" not in made.text


def test_a_given_name_that_begins_a_sentence_belongs_to_the_name() -> None:
    text = "Later it rained. Maria Bogdan left."
    rows = [
        Example("a", f"{text} We met Bogdan.", text),
        Example("b", "We met Anna Keller.", "We met Anna Keller."),
    ]
    made = RULES["wrong_names"](
        text, random.Random(0), example=rows[0], others=Others(rows, 0, "x").of(rows[0]), lists=read_list, k=1
    )
    assert isinstance(made, Edited)
    assert made.text == "Later it rained. Anna Keller left."


def test_names_are_found_beside_sources_in_small_letters() -> None:
    source = " ".join(
        f"In {town.lower()} it rained, {who.lower()} said." for town, who in zip(TOWNS, WHO, strict=True)
    )
    rows = [Example(str(i), source * 3, f"They met in {town} at noon.") for i, town in enumerate(TOWNS)]
    elsewhere = Example("x", "They met in Cairo at noon.", "They met in Cairo at noon.")
    others = Others([*rows, elsewhere], 0, "x")
    made = RULES["wrong_names"](
        rows[0].output, random.Random(0), example=rows[0], others=others.of(rows[0]), lists=read_list, k=1
    )
    assert isinstance(made, Edited)
    assert made.text == elsewhere.output  # the source has all the other towns


def test_words_with_a_capital_that_are_no_names_stay() -> None:
    text = (
        "EXPRESS OR implied, this License and the API were read by the Prime Minister on Monday. Note that "
        "He and Anna Keller came to Leeds."
    )
    example = Example("x", text, text)
    table = Others([*REPORTS, example], 0, "reports")
    for seed in range(8):
        made = RULES["wrong_names"](
            text, random.Random(seed), example=example, others=table.of(example), lists=read_list, share=1.0
        )
        assert {old for old, _ in changes(text, made.text)} <= {"Anna Keller", "Leeds"}


def test_a_word_of_the_table_is_no_given_name_and_what_has_an_article_no_person() -> None:
    text = "The Summer Olympics came in summer. The Orlando Magic beat the Seattle Storm. Anna Keller saw it."
    example = Example("x", text, text)
    table = Others([*REPORTS, example], 0, "games")
    for seed in range(8):
        made = RULES["wrong_names"](
            text, random.Random(seed), example=example, others=table.of(example), lists=read_list, share=1.0
        )
        assert {old for old, _ in changes(text, made.text)} == {"Anna Keller"}


@pytest.mark.parametrize("year", [1066, 1340, 1492, 1538])
def test_a_year_of_long_ago_becomes_none_of_the_future(year: int) -> None:
    for seed in range(20):
        for is_far in (True, False):
            other = other_number(str(year), NumbersOfTable([]), random.Random(seed), Meaning(is_far))
            assert other is not None
            assert 900 < int(other) <= 1700


def test_what_would_be_the_same_again_is_not_changed_twice() -> None:
    text = "The rate was more expensive there."
    for seed in range(40):
        example = Example("x", f"{text} It was cheap, less or more.", text)
        table = Others([*REPORTS, example], 0, "rates")
        try:
            made = RULES["opposites"](
                text, random.Random(seed), example=example, others=table.of(example), lists=read_list, k=3
            )
        except NotApplicable:
            continue
        assert "less cheap" not in made.text


def test_a_name_that_the_source_has_not_stays() -> None:
    text = "Anna Keller came to Leeds."
    example = Example("x", "Somebody came.", text)
    with pytest.raises(NotApplicable, match="no name that the source has"):
        apply("wrong_names", example)
    with pytest.raises(NotApplicable, match="no name that the source has"):
        apply("wrong_names", Example("x", "", text))


def test_exchanged_names_are_two_of_the_text_in_different_sentences() -> None:
    text = "Anna Keller wrote to Leeds. In Oslo nobody answered. Maria Lopez paid for all of it."
    example = Example("x", text, text)
    made = apply("exchanged_names", example, share=1.0)
    assert made.text == "Maria Lopez wrote to Oslo. In Leeds nobody answered. Anna Keller paid for all of it."
    together = "Anna Keller and Maria Lopez came."
    with pytest.raises(NotApplicable, match="no two names of a kind"):
        apply("exchanged_names", Example("y", together, together))


STORIES = [
    Example(str(i), "", text)
    for i, text in enumerate(
        [
            "Mark lost his key. He looked for it, and he told himself to stay calm.",
            "Amy lost her key. She looked for it everywhere.",
            "The gentleman came late. Then he left.",
            "A woman came late. Then she left.",
        ]
    )
]


@pytest.mark.parametrize(
    ("number", "wrong"),
    [
        (0, "Mark lost his key. She looked for it, and she told herself to stay calm."),
        (1, "Amy lost her key. He looked for it everywhere."),
        (2, "The gentleman came late. Then she left."),
        (3, "A woman came late. Then he left."),
    ],
)
def test_a_person_is_of_the_other_sex_where_the_text_says_which_it_is(number: int, wrong: str) -> None:
    example, others = STORIES[number], Others(STORIES, 0, "stories")
    assert apply("exchanged_names", example, others=others).text == wrong


@pytest.mark.parametrize(
    "text",
    [
        "Mark met Amy at his house. He was glad.",  # "she" would be Amy
        "He was late again.",  # nothing says that it is a man
        "He or she is late, said the man.",
        "Kelly was late. He ran.",  # a name of both
    ],
)
def test_a_person_stays_where_another_sex_contradicts_nothing(text: str) -> None:
    others = Others([*STORIES, Example("x", "", text)], 0, "stories")
    with pytest.raises(NotApplicable):
        apply("exchanged_names", Example("x", "", text), others=others)


def test_over_a_table_numbers_go_as_often_as_they_come() -> None:
    table = [str(n) for n in (31, 32, 33, 34, 36, 37, 38, 39, 58, 59, 57)] * 400
    numbers, draw = NumbersOfTable([[number] for number in table]), random.Random(1)
    after = Counter(other_number(number, numbers, draw, Meaning(is_far=True)) or number for number in table)
    for number, before in Counter(table).items():
        assert before / 1.8 < after[number] < 1.8 * before
    assert after.keys() <= set(table)


@given(st.integers(1, 999_999), st.booleans(), st.booleans(), st.integers(0, 5))
def test_another_number_is_as_long_and_as_round(value: int, grouped: bool, is_far: bool, seed: int) -> None:
    number = f"{value:,}" if grouped else str(value)
    new = other_number(number, NumbersOfTable([]), random.Random(seed), Meaning(is_far))
    if new is None:
        return
    assert new != number
    if shape(number).is_year:  # a year is another year, however round
        assert (shape(new).form, shape(new).is_year) == ("0000", True)
        return
    assert shape(new) == shape(number)
    other = int(new.replace(",", ""))
    if not is_far:
        assert abs(other - value) <= max(value // 5, 5 * 10 ** shape(number).zeros)


def test_round_numbers_stay_round_hours_and_days_in_bounds_and_codes_untouched() -> None:
    for number, limit in (("12", 12), ("11", 12), ("28", 28), ("59", 59)):
        for seed in range(20):
            new = other_number(number, NumbersOfTable([]), random.Random(seed), Meaning(is_time=True))
            assert new is not None
            assert int(new) <= limit
    for seed in range(20):
        assert str(
            other_number("300", NumbersOfTable([]), random.Random(seed), Meaning(is_far=True))
        ).endswith("00")
    text = "COVID-19, F-16, v2.10 and ISO_9001 cost the house 300 euros."
    made = apply("wrong_numbers", Example("x", text, text), share=1.0)
    assert [old for old, _ in changes(text, made.text)] == ["300"]


def test_a_number_that_the_source_has_not_is_left_alone_unless_it_has_none() -> None:
    text = "It cost 40 euros."
    with pytest.raises(NotApplicable, match="no number that the source has"):
        apply("wrong_numbers", Example("x", "It was dear: 41 euros, 7 cents.", text))
    assert apply("wrong_numbers", Example("x", "It was dear.", text)).made == 1
    assert apply("wrong_numbers", Example("x", "", text)).made == 1


def test_far_numbers_are_more_than_half_away() -> None:
    for old, new in all_changes("wrong_numbers", k=1, far=True):
        if old.isdecimal():
            assert int(new) >= 1.5 * int(old) or 1.5 * int(new) <= int(old)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("We waited 1 week. Then it rained for days.", "1 week"),
        ("Step 2: cook the rice. Add salt and serve it.", "Step 2:"),
        ("Plants take in CO(2) by day and give it off.", "CO(2)"),
        ("The course takes three to four weeks of work.", "three to four"),
        ("In the year 2018-19 they sold 12 houses.", "2018-19"),
        ("Das Fest war am 16.3. gut besucht und hatte 12 Stände.", "16.3."),
        ("Die Sendung beginnt um 23.45 Uhr und hat 12 Teile.", "23.45 Uhr"),
        ("6: Add links and 12 pictures to the page.", "6: Add"),
    ],
)
def test_a_number_that_is_none_or_would_not_fit_stays(text: str, kept: str) -> None:
    example = Example("x", text, text)
    others = Others([*REPORTS, example], 0, "reports")
    for seed in range(8):
        try:
            made = RULES["wrong_numbers"](
                text, random.Random(seed), example=example, others=others.of(example), lists=read_list, k=3
            )
        except NotApplicable:
            continue
        assert isinstance(made, Edited)
        assert kept in made.text


@given(st.integers(0, 10_000), st.booleans())
def test_a_range_keeps_its_order_and_no_number_is_said_twice(seed: int, is_far: bool) -> None:
    text = "Bake it for 15 to 20 minutes and let it cool for 7-8 hours."
    example = Example("x", text, text)
    made = RULES["wrong_numbers"](
        text, random.Random(seed), example=example, others=[], lists=read_list, k=1, far=is_far
    )
    assert isinstance(made, Edited)
    low, high, least, most = map(int, re.findall(r"\d+", made.text))
    assert low < high
    assert least < most


def test_what_no_source_contradicts_is_far_from_the_truth() -> None:
    text = "The tower is 300 metres high and old."
    for seed in range(20):
        example = Example("x", "How high is the tower?", text)
        made = RULES["wrong_numbers"](
            text, random.Random(seed), example=example, others=[], lists=read_list, k=1
        )
        assert isinstance(made, Edited)
        (value,) = map(int, re.findall(r"\d+", made.text))
        assert value >= 450 or value <= 200


def fitting(text: str) -> set[tuple[str, str]]:
    """The words of lists in a text, each with one that can stand in its place."""
    words = listed_words(text, read_list("facts_en", FactLists))
    return {(word.word, other) for word in words for other in word.others}


@pytest.mark.parametrize(
    ("text", "shows"),
    [
        ("It has advantages and disadvantages.", ("disadvantages", "advantages")),
        ("You are in a difficult situation.", ("difficult", "easy")),
        ("He waited for about an hour there.", ("hour", "minute")),
        ("She starts a new job this week.", ("week", "day")),
        ("Slowly lower your legs to the floor.", ("lower", "higher")),
        ("It will be remembered for long.", ("remembered", "forgot")),
        ("It was directed by the maker of Mo' Better Blues.", ("better", "worse")),
        ("The car lost power on the way.", ("lost", "won")),
        ("It gives a high degree of cold protection.", ("cold", "hot")),
        ("She appeared in the Saturday Evening Post.", ("saturday", "monday")),
        ("They met there on Good Friday.", ("friday", "monday")),
        ("The item was never delivered.", ("never", "always")),
    ],
)
def test_a_word_that_would_not_fit_is_not_put_in(text: str, shows: tuple[str, str]) -> None:
    assert shows not in fitting(text)


def test_words_of_a_pair_take_each_others_place_in_the_same_places() -> None:
    lists = read_list("facts_en", FactLists)
    frames = [
        "It {} worked.",
        "The {} of them left.",
        "{} people came.",
        "They were {} it.",
        "a {} thing, or so",
    ]
    for group in (lists.groups["opposites"], lists.groups["described"], lists.groups["times"]):
        for word, others in group.items():
            for frame in frames:
                found = {new for old, new in fitting(frame.format(word)) if old == word}
                assert all((other, word) in fitting(frame.format(other)) for other in found & {*others})


def test_towns_countries_and_continents_take_each_others_place_by_themselves() -> None:
    names = Names([("", "")], read_list("facts_en", FactLists))
    kinds = [names.kind(name) for name in ("London", "France", "California", "Europe", "Los Angeles")]
    assert len({*kinds}) == len(kinds)
    assert names.kind("London") == names.kind("Oslo")
    assert names.kind("Human Resources") is None
    assert names.kind("Noe Valley") == names.kind("Hyde Park")


def test_dates_become_dates_that_the_table_has() -> None:
    days = {"Monday", "Tuesday", "Friday"}
    found = [pair for pair in all_changes("wrong_dates") if pair[0] in days]
    assert found
    assert {new for _, new in found} <= days


def test_negations_go_in_and_out_alike() -> None:
    found = Counter(all_changes("negation", k=1))
    assert found["did not hear", "heard"] == 48
    assert found["heard", "did not hear"] + found["heard", "didn't hear"] == 48


@pytest.mark.parametrize(
    ("stated", "denied"),
    [
        ("Anna was here , and she can swim .", "Anna was n't here , and she ca n't swim ."),
        ("Tom heard it , and he will come .", "Tom did n't hear it , and he wo n't come ."),
        ("Anna was here, and she can swim.", "Anna wasn't here, and she can't swim."),
    ],
)
def test_a_tokenised_text_is_denied_in_its_own_way(stated: str, denied: str) -> None:
    lists = read_list("facts_en", FactLists)

    def with_edits(text: str, way: str) -> str:
        places = [place for place in negations(text, lists) if place.way == way and "n't" in place.form]
        return applied(text, [place.edit for place in places])[0]

    assert with_edits(stated, "in") == denied
    assert with_edits(denied, "out") == stated


def test_where_all_texts_deny_alike_a_negation_would_stand_out() -> None:
    texts = [f"The pill did not help {who}." for who in WHO]
    examples = [Example(str(i), text, text) for i, text in enumerate(texts)]
    table = Others(examples, 0, "pills")
    with pytest.raises(NotApplicable, match="would not stand out"):
        RULES["negation"](
            texts[0],
            random.Random(0),
            example=examples[0],
            others=table.of(examples[0]),
            lists=read_list,
            k=1,
        )


@pytest.mark.parametrize(
    "text",
    [
        "She wondered if he could come.",
        "None of them could come.",
        "She wished she could come.",
        "He did not see any of them.",
        "She is not only tall.",
        "Can he come, or is he late?",
        "It rang before he could come.",
        "Look how he could come.",
        "It is later than he could come.",
    ],
)
def test_a_clause_that_says_the_same_with_a_negation_keeps_its_own(text: str) -> None:
    both = [
        Example("a", "", "He could come."),
        Example("b", "", "He could not come. He can't come. Is not it?"),
    ]
    example = Example("x", "", text)
    table = Others([*both, *REPORTS, example], 0, "clauses")
    for seed in range(10):
        with pytest.raises(NotApplicable):
            RULES["negation"](
                text, random.Random(seed), example=example, others=table.of(example), lists=read_list, k=1
            )


def test_opposites_go_both_ways() -> None:
    found = Counter(all_changes("opposites", k=1))
    assert found["increased", "decreased"] == found["decreased", "increased"] == 48


def test_doses_of_wrong_facts_nest_and_take_several_kinds() -> None:
    for example in REPORTS:
        kept = [set(changes(example.output, apply("wrong_facts", example, k=k).text)) for k in (1, 2, 4)]
        assert len(kept[0]) >= 1
        assert kept[0] <= kept[1] <= kept[2]
        assert apply("wrong_facts", example, k=4).made == 4


def test_over_a_table_a_word_goes_as_often_as_it_comes() -> None:
    more, less = [[Option(("more", "less"), (0, 4, "less"))]], [[Option(("less", "more"), (0, 4, "more"))]]
    balance = Balance([more] * 900 + [less] * 100)
    flows = Counter[str]()
    for number, places in enumerate([more] * 900 + [less] * 100):
        flows.update(new for _, _, new in balance.chosen(places, random.Random(number)))
    assert flows["more"] > 95
    assert flows["more"] / flows.total() == pytest.approx(1 / (1 + SLACK), abs=0.05)


def test_a_word_that_is_never_seen_comes_as_seldom_as_the_language_has_it() -> None:
    allowed = [[Option(("allowed", "forbidden"), (0, 7, "forbidden"))]]
    frequency = {"allowed": 0.9, "forbidden": 0.1}
    assert not any(Balance([allowed] * 20).chosen(allowed, random.Random(i)) for i in range(200))
    balance = Balance([allowed] * 20, frequency.__getitem__)
    assert sum(bool(balance.chosen(allowed, random.Random(i))) for i in range(200)) < 20


_CHANCES = """
from dhp.perturb.facts.balance import Balance, Option
words = "allowed forbidden safe unsafe able unable more less".split()
pairs = [*zip(words[::2], words[1::2]), *zip(words[1::2], words[::2])]
texts = [[[Option(pair, (0, 1, pair[1]))] for pair in pairs[: 1 + n % 5]] for n in range(40)]
print(sorted(Balance(texts, lambda word: len(word) / 7)._chances.items()))
"""


@pytest.mark.slow
def test_the_chances_are_the_same_in_every_process() -> None:
    """Their order must not be that of a set of words, which each process has for itself."""
    printed = set[str]()
    for seed in "12":
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        asked = [sys.executable, "-c", _CHANCES]
        printed.add(subprocess.run(asked, env=environment, capture_output=True, text=True, check=True).stdout)
    assert len(printed) == 1


def test_fillers_are_drawn_as_often_as_they_stand() -> None:
    """Over the table each name is taken about as often as it is put, so counting words tells nothing."""
    taken, put = Counter[str](), Counter[str]()
    for old, new in all_changes("wrong_names", k=1):
        taken[old] += 1
        put[new] += 1
    for name, count in taken.items():
        assert abs(count - put[name]) < 0.9 * max(count, put[name])


@given(
    st.text(max_size=80) | st.sampled_from(["😀", "one", "שלום עולם", "الكتاب", "あ。", "x" * 5000]),
    st.integers(0, 3),
)
def test_any_text_gets_a_changed_text_or_a_reason(text: str, seed: int) -> None:
    example = Example("x", text, text)
    for name in ("wrong_facts", "wrong_entities", "wrong_numbers", "exchanged_names"):
        try:
            made = RULES[name](text, random.Random(seed), example=example, others=[], lists=read_list, k=2)
        except NotApplicable:
            continue
        assert made.text != text
        assert 1 <= made.made <= made.asked == 2


def test_a_table_of_one_row_has_no_foreign_fact() -> None:
    text = "Anna Keller met Bob Stone in Leeds. The house cost 12 euros there."
    example = Example("x", f"{text} It rained.", text)
    rule, others = RULES["foreign_facts"], Others([example], 0, "one").of(example)
    for seed in range(20):
        with pytest.raises(NotApplicable, match="no fitting sentence"):
            rule(text, random.Random(seed), example=example, others=others, lists=read_list, k=1)


def test_a_foreign_fact_is_of_another_text_and_of_the_names_in_this_one() -> None:
    made = 0
    for example in REPORTS:
        try:
            after = apply("foreign_facts", example).text
        except NotApplicable:
            continue
        made += 1
        (new,) = {*re.split(r"(?<=[.]) ", after)} - {*re.split(r"(?<=[.]) ", example.output)}
        assert new not in example.source
        for name in (*WHO, *TOWNS):
            assert name not in new or name in example.output
    assert made > 6


BROKEN = [
    ('{"name": "Ann", "towns": ["Oslo", "Leeds"]}', json.loads),
    ('Here it is:\n```json\n[1, 2, {"a": 3}]\n```', lambda text: json.loads(text.split("```")[1][4:])),
]


@pytest.mark.parametrize(("text", "parse"), BROKEN)
def test_broken_data_no_longer_parse(text: str, parse: Callable[[str], object]) -> None:
    parse(text)
    for seed in range(10):
        broken = RULES["broken_form"](text, random.Random(seed), missing=0.1)
        assert isinstance(broken, str)
        with pytest.raises(json.JSONDecodeError):
            parse(broken)


def test_a_text_that_breaks_off_is_the_beginning_of_it_and_ends_within_a_sentence() -> None:
    text = "Ann came to Oslo on a cold day. She saw the harbour and the old town. Then she went home."
    minor, major = (RULES["broken_form"](text, random.Random(0), missing=part) for part in (0.1, 0.5))
    assert text.startswith(str(minor))
    assert str(minor).startswith(str(major))
    assert str(minor)[-1].isalpha()


@pytest.mark.parametrize(
    ("language", "rows"),
    [
        ("de", ["Das Haus ist groß und es ist neu.", "Das Haus ist nicht groß, aber der Preis ist höher."]),
        ("es", ["La casa es grande y no es nueva.", "El precio no es alto. El barco es grande."]),
        ("fr", ["La maison est grande.", "Le prix n'est pas haut et la ville est grande."]),
        ("zh", ["这座房子是新的，我们可以进去。", "他不是医生，价格不会上升。", "他会来，她不会来。"]),
    ],
)
@pytest.mark.parametrize("is_declared", [True, False])
def test_other_languages_have_facts_of_their_own(language: str, rows: list[str], is_declared: bool) -> None:
    declared = language if is_declared or language == "zh" else None
    examples = [Example(str(i), row, row, language=declared) for i, row in enumerate(rows)]
    table = Others(examples, 0, "rows")
    made = 0
    for example in examples:
        for seed in range(6):
            rng, others = random.Random(seed), table.of(example)
            try:
                result = RULES["negation"](
                    example.output, rng, example=example, others=others, lists=read_list, k=1
                )
            except NotApplicable:
                continue
            assert isinstance(result, Edited)
            made += result.text != example.output
    assert made


def words_of(candidate: Candidate) -> list[str]:
    return re.findall(r"\w+", candidate.text)


def looked_up(words: Sequence[str], source: str) -> float:
    """The best score but for words that the source has not."""
    known = set(re.findall(r"\w+", source))
    return max(1.0, 5 - 0.1 * sum(word not in known for word in words))


def checks_names(candidate: Candidate, metric: str) -> float:
    return looked_up([word for word in words_of(candidate) if word[0].isupper()], candidate.source)


def checks_all_but_names(candidate: Candidate, metric: str) -> float:
    return looked_up([word for word in words_of(candidate) if not word[0].isupper()], candidate.source)


def likes_frequent_words(candidate: Candidate, metric: str) -> float:
    words = words_of(candidate)
    return sum(zipf(word.lower()) for word in words) / len(words) / 2


@pytest.mark.parametrize(
    ("judge", "seen"),
    [
        (checks_names, {"wrong_names"}),
        (checks_all_but_names, {"wrong_numbers"}),
        (likes_frequent_words, set[str]()),
    ],
)
def test_a_run_tells_who_checks_names_from_who_does_not(
    judge: Callable[[Candidate, str], float], seen: set[str], tmp_path: Path
) -> None:
    dose = {"level": "word", "method": "rule", "params": {"k": 1}}
    kinds = {"wrong_names": dose, "wrong_numbers": dose}
    suite = {"suite": "own", "task": "any", "source": "two kinds of fact", "perturbers": kinds}
    (tmp_path / "suite.yaml").write_text(yaml.safe_dump(suite))
    rows = [{"source": example.source, "output": example.output} for example in REPORTS]
    result = dhp.run(ByRule(judge), rows, suite=str(tmp_path / "suite.yaml"), controls=False, progress=False)
    assert {row.variant for row in result.variants} == {*kinds}
    assert {row.variant for row in result.variants if row.state.is_noticed} == seen
