"""Fictional named entities by rule: one entity or all of them, consistently, each kind in its shape."""

import random
import re
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhp.content.catalog import read_list
from dhp.core.errors import InputError, NotApplicable
from dhp.core.records import Example
from dhp.core.registry import Registry
from dhp.loaders.dataset import resolve_datasets
from dhp.perturb.api import Edited
from dhp.perturb.apply import perturb
from dhp.perturb.entities import finder as entity_finder
from dhp.perturb.entities.finder import finder_name
from dhp.perturb.entities.perturber import fictional_named_entities_rule
from dhp.perturb.entities.types import EntityLists
from dhp.perturb.entities.words import like_acronym, like_term, takes_an, zipf

NEWS = (
    "Orla Pettigrew won 31 to 24 on Tuesday in Oslo. The judge said Pettigrew owes Falmont Bank 2,150 euros "
    "since 1987, an 8 per cent rise. Falmont Bank and the BBC declined to comment."
)
ENGLISH = "It is said that {} was there, and that this is all we know about it."
PIPELINE = entity_finder._pipeline
WORD = re.compile(r"\w+(?:,\d+)*")
words = st.sampled_from(
    "the a an in of and to said Pettigrew Oslo London Marta King 12 1987 3,400 0 1 007 8% p53 B-52 BBC dna "
    "kinase <dig> May Monday three dozens ' \" . , - 's é ß İ ǅ ٣ ½ first dog cats 10-12 9:30 am".split()
)
any_text = st.lists(words, max_size=40).map(" ".join) | st.text(
    st.characters(exclude_categories=["Cs"]), max_size=60
).map(ENGLISH.format)


@pytest.fixture(autouse=True)
def rules_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No installed pipeline has a say, whatever the machine has."""
    monkeypatch.setattr(entity_finder, "_pipeline", lambda: None)


def apply(text: str, seed: int = 0, count: int | str = "all", source: str = "") -> Edited:
    function = fictional_named_entities_rule.function
    assert function is not None
    example = Example("e", source, text)
    result = function(text, random.Random(seed), example=example, lists=read_list, count=count)
    assert isinstance(result, Edited)
    return result


def becomes(sentence: str, seed: int = 0, source: str = "") -> list[str]:
    """What stands in the places of the words that change."""
    before, after = sentence.split(), apply(sentence, seed, source=source).text.split()
    assert len(before) == len(after)
    return [b for a, b in zip(before, after, strict=True) if a != b]


@given(any_text, st.integers(0, 5), st.sampled_from([1, 2, "all"]))
def test_any_text_is_changed_or_not_applicable(text: str, seed: int, count: int | str) -> None:
    try:
        result = apply(text, seed, count)
    except NotApplicable:
        return
    assert result.text != text
    assert result.text.count("<dig>") == text.count("<dig>")
    assert 1 <= result.made <= result.asked
    assert result == apply(text, seed, count)


@pytest.mark.parametrize("count", [0, -1, True, 1.5, "some", None])
def test_a_count_that_is_none_is_refused(count: object) -> None:
    with pytest.raises(InputError, match="allowed: a whole number of at least 1, or all"):
        apply(NEWS, count=count)  # type: ignore[arg-type]


@given(st.integers(0, 500))
def test_one_entity_is_replaced_everywhere_and_alike_among_all(seed: int) -> None:
    one, everything = apply(NEWS, seed, 1), apply(NEWS, seed)
    assert (one.asked, one.made) == (1, 1)
    assert everything.asked == everything.made > 5
    tokens = re.compile(r"\w+(?:,\d+)*|\W")
    before, minor, major = (tokens.findall(t) for t in (NEWS, one.text, everything.text))
    assert len(before) == len(minor) == len(major)
    changed = [i for i, (a, b) in enumerate(zip(before, minor, strict=True)) if a != b]
    assert changed
    new = {before[i]: minor[i] for i in changed}
    numbers = ({"31", "24"}, {"2,150"}, {"1987"}, {"8", "an"})
    entities = ({"Orla", "Pettigrew"}, {"Falmont"}, {"Oslo"}, {"BBC"}, *numbers)
    assert any(set(new) <= entity for entity in entities), new
    assert not set(new) - {"an"} & set(minor), "a mention is left"
    assert all(minor[i] == major[i] for i in changed), "not nested"


@given(st.integers(0, 300))
def test_doses_are_nested(seed: int) -> None:
    texts = [WORD.findall(apply(NEWS, seed, k).text) for k in range(1, 9)]
    before = WORD.findall(NEWS)
    changed = [{(i, b) for i, (a, b) in enumerate(zip(before, t, strict=True)) if a != b} for t in texts]
    assert all(small < large for small, large in pairwise(changed))


def test_weekdays_come_last() -> None:
    assert all("Tuesday" in apply(NEWS, seed, 7).text for seed in range(40))
    assert "Tuesday" not in apply(NEWS).text


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(
    ("sentence", "shapes"),
    [
        ("He paid 4,150 euros for it.", [r"[1-9],\d\d[1-9]|[1-9],\d\d0"]),
        ("It costs £9.4m in the end.", [r"£[1-9]\.[1-9]m"]),
        ("About 48,000 homes were dark.", [r"[1-9][1-9],000"]),
        ("It fell by 87% in all.", [r"[1-9]\d%"]),
        ("It was 100 per cent of them.", [r"[1-9]\d"]),
        ("It was built in 1926 by the sea.", [r"(?:18|19)\d\d"]),
        ("It was all over by the 1960s.", [r"(?:19|20)\d0s\."]),
        ("They met on 31 October and left.", [r"\d\d", r"January|March|May|July|August|December"]),
        ("They met at 9:30 and left.", [r"[1-9]:(?:00|15|45|30)"]),
        ("He scored in the 83rd minute.", [r"\d\d(?:st|nd|rd|th)"]),
        ("They saw three of the boats.", [r"two|four|five|six|seven|eight|nine"]),
        ("There were twenty-one boats there.", [r"[a-z]+ty-[a-z]+"]),
        ("It is two-thirds of the cost.", [r"[a-z]+-[a-z]+s"]),
        ("They came in dozens of boats.", []),
        ("We will meet on Monday.", [r"[A-Z][a-z]+day\."]),
        ("Then Mr Pettigrew's bike was gone.", [r"[A-Z][a-z]+'s"]),
        ("She went to Barnard College then.", [r"[A-Z][a-z]+"]),
        ("This is the work of the UNESCO.", [r"[AEOU][^AEOU][AEOU][^AEOU]{2}[AEOU]\."]),
        ("They bought an Italian car there.", [r"an?", r"[A-Z][a-z]+ian"]),
        ("She is a Swedish doctor there.", [r"an?", r"[A-Z][a-z]+ish"]),
        ("They flew in the B-52 there.", [r"[B-Z]-[1-9]\d"]),
        ("The Falcons won, as the Falcons do.", [r"[A-Z][a-z]+s", r"[A-Z][a-z]+s"]),
        ("All the NGOs were there.", [r"[A-Z]{3}s"]),
        ("They paid £16million for it.", [r"£[1-9]\dmillion"]),
        ("It is the worst since 2011 this year.", [r"(?:19|20)\d\d"]),
        ("They left on the 23rd.", [r"(?:1\d|2[0-8])(?:st|nd|rd|th)\."]),
        ("They met Storm Pettigrew there.", [r"[A-Z][a-z]+"]),
        ("The serial is " + "1." * 3000 + "1 here.", [r"[\d.]{6001}"]),
    ],
)  # fmt: skip
def test_each_kind_keeps_its_shape(sentence: str, shapes: list[str], seed: int) -> None:
    new = becomes(sentence, seed)
    if sentence.startswith(("They bought", "She is")):  # The article changes only where it must.
        new = [re.search(r"(\w+) \w+(?:ian|ish)", apply(sentence, seed).text)[1], new[-1]]  # type: ignore[index]
    if shapes:
        assert len(new) == len(shapes), new
        assert all(re.fullmatch(shape, word) for shape, word in zip(shapes, new, strict=True)), new
    else:
        assert new[0] in ("hundreds", "thousands", "millions")


@pytest.mark.parametrize(
    ("spoken", "an"),
    [
        *((s, True) for s in ("8", "80,000", "11", "18-year", "NHS", "Italian", "Umbrian", "ulcer", "xkl")),
        *((s, False) for s in ("110", "1,100", "23", "UK", "unit", "European", "user", "one", "PDK")),
    ],
)
def test_articles(spoken: str, an: bool) -> None:
    assert takes_an(spoken) is an


@pytest.mark.parametrize("seed", range(20))
def test_articles_agree_with_what_follows(seed: int) -> None:
    text = apply("He is an 18-year-old from an Oslo suburb and a Leeds fan with an NHS card.", seed).text
    for article, word in re.findall(r"\b(an?) ([\w-]+)", text):
        assert (article == "an") == takes_an(word), text


@pytest.mark.parametrize("seed", range(20))
def test_ranges_keep_their_order(seed: int) -> None:
    new = apply("It ran from 1792 to 1798 and cost between 10 and 12 pounds, so they lost 12-16.", seed).text
    numbers = [int(n) for n in re.findall(r"\d+", new)]
    assert numbers[0] + 6 == numbers[1], "the years of a text move together"
    assert numbers[2] < numbers[3]
    assert numbers[4] < numbers[5]


@given(st.integers(0, 200))
def test_the_past_stays_past_and_the_future_future(seed: int) -> None:
    years = re.findall(r"\d{4}", apply("It was built in 2021 and is to be closed in 2031.", seed).text)
    assert int(years[0]) <= 2025 < int(years[1])


def test_letters_that_are_none_are_no_acronym() -> None:
    assert apply("It is known that \u2167\u2167 was there with Pettigrew.").text


def test_the_surname_alone_and_the_club_alone_follow() -> None:
    text = "Then Orla Pettigrew left. It was Pettigrew who met Falmont Rovers, and Falmont lost to Pettigrew."
    new = apply(text, count="all").text
    surname = re.search(r"Then \w+ (\w+) left", new)
    club = re.search(r"met (\w+) Rovers, and (\w+) lost", new)
    assert surname is not None
    assert club is not None
    assert new.count(surname[1]) == 3
    assert club[1] == club[2] != "Falmont"


def test_a_surname_of_two_persons_is_left_where_only_one_of_them_is_replaced() -> None:
    text = "Then Orla Pettigrew met Marta Pettigrew, and a Pettigrew laughed."
    for seed in range(30):
        new = apply(text, seed, 1).text
        assert new.count("Pettigrew") == 2


def test_first_names_keep_their_gender() -> None:
    lists = read_list("entities", EntityLists)
    for seed in range(10):
        she, he = becomes("Then Marta met Walter there.", seed)
        assert she in lists.female
        assert he in lists.male


@pytest.mark.parametrize(
    "sentence",
    [
        "Traders were not happy with that.",
        "Nobody was there at all.",
        "Undeterred, they went on with it.",
        "The president and the minister said no.",
        "I think that I may march with them.",
        "In the end it was over.",
        "It is at https://a.example/b-12?x=3 and <dig> is there.",
        "This is 1 of those that are gone.",
        "It is over! \U0001f605 With that they left.",
        "Dim light is all that there was.",
        "Newlyweds were there with the other two.",
        "It is known that they senesce.",
    ],
)
def test_nothing_is_mistaken_for_an_entity(sentence: str) -> None:
    with pytest.raises(NotApplicable, match="no name, number or term found"):
        apply(sentence)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "...",
        "42",
        "Der Bürgermeister von Kiel hat die Brücke am Montag für 12 Millionen Euro gekauft.",
        "市长周一以一千二百万欧元买下了这座桥。",
    ],
)
def test_texts_of_other_languages_or_of_none(text: str) -> None:
    with pytest.raises(NotApplicable):
        apply(text)


def test_a_capital_at_the_beginning_is_a_name_where_the_source_shows_it() -> None:
    sentence = "Plover was late for it again."
    with pytest.raises(NotApplicable):
        apply("Traders were late for it again.", source="There the traders were late.")
    new = apply(sentence, source="That is when they saw Plover in the garden.").text
    assert re.fullmatch(r"[A-Z][a-z]+ was late for it again\.", new)
    assert new != sentence


@pytest.mark.parametrize("seed", range(10))
def test_lower_cased_biomedical_text(seed: int) -> None:
    text = (
        "the protease brevinase cleaves aspergillus oryzae proteins in <dig> of the p53 mutants, and "
        "brevinases of a. oryzae need dna in china."
    )
    new = apply(text, seed).text
    assert new == new.lower()
    assert "<dig>" in new
    match = re.fullmatch(
        r"the p\w+ase (\w+ase) cleaves (a\w+us) (o\w+ae) proteins in <dig> of the (\w\d\d) mutants, and "
        r"(\w+ase)s of a\. (o\w+ae) need (\w{3}) in (\w+)\.",
        new,
    )
    assert match is not None, new
    assert match[1] == match[5] != "brevinase"
    assert match[3] == match[6] != "oryzae"
    assert match[4] != "p53"
    assert match[7] != "dna"
    assert match[8] != "china"


def test_tokenised_news() -> None:
    text = "Orla Pettigrew left Falmont 's ground . Pettigrew , 22 , said she 's fit and `` ready to run . ''"
    new = apply(text).text
    assert re.fullmatch(
        r"\w+ (\w+) left (\w+) 's ground \. \1 , (\d\d) , said she 's fit and `` ready to run \. ''", new
    ), new


def test_a_text_that_names_nobody_has_things_exchanged() -> None:
    text = "The loaf came out flat and as hard as the bench."
    minor, major = apply(text, 3, 1).text, apply(text, 3).text
    assert minor != text
    assert re.fullmatch(r"The \w+ came out flat and as hard as the \w+\.", major)


def test_inventions_are_invented() -> None:
    lists = read_list("entities", EntityLists)
    made = [*lists.female, *lists.male, *lists.first]
    for parts in (lists.surname, lists.place, lists.name):
        made += [start + end for start in parts.starts for end in parts.ends]
    made += [start + end for start in lists.demonym for end in ("ian", "ish", "ese", "i")]
    assert not [name for name in made if zipf(name.lower()) > 0]
    assert "Smith" not in made, "and yet the test would notice:"
    assert zipf("smith") > 0
    things = [thing for group in lists.swaps for thing in group]
    assert len(things) == len(set(things)), "a thing of two kinds"


@given(st.integers(0, 200))
def test_no_invention_stands_in_the_text_or_source(seed: int) -> None:
    lists = read_list("entities", EntityLists)
    crowd = "They met " + " and ".join(lists.female[:-2]) + " there."
    new = apply("In the end Marta left it.", seed, source=crowd).text
    assert any(name in new for name in lists.female[-2:])


def test_acronyms_and_terms_by_hand() -> None:
    rng = random.Random(1)
    for _ in range(50):
        assert re.fullmatch(r"[^aeou][^aeou][^aeou]", like_acronym("nhs", rng))
        assert re.fullmatch(r"[aeou][^aeou][aeou]\.[aeou]\.", like_acronym("umo.a.", rng))
        term = like_term("coagulase", ["ldr", "rv"], ["ase"], rng)
        assert re.fullmatch(r"c[aeiu](?:ldr|rv)ase", term), term


@pytest.mark.parametrize("name", sorted(d.name for d in resolve_datasets(["mini"])))
def test_every_mini_text_takes_both_degrees(name: str) -> None:
    (dataset,) = resolve_datasets([name])
    perturber = fictional_named_entities_rule
    made = list(
        perturb(dataset.examples, perturber.variants, Registry("perturber", {perturber.name: perturber}),
                dataset=name, lists=read_list)
    )  # fmt: skip
    assert len(made) == 2 * len(dataset.examples)
    assert [p.reason for p in made if p.text is None] == []
    minor, major = made[: len(dataset.examples)], made[len(dataset.examples) :]
    assert all(p.audit and p.audit.made == 1 for p in minor)
    assert sum(p.audit.edit_distance for p in major if p.audit) >= sum(
        p.audit.edit_distance for p in minor if p.audit
    )


@pytest.fixture
def trained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An installed package with a tiny English pipeline that knows quillfoxes from one template."""
    spacy = pytest.importorskip("spacy", reason="spaCy is not installed")
    from spacy.training import Example as Training

    nlp = spacy.blank("en")
    nlp.add_pipe("ner").add_label("PERSON")
    names = ["quillfox", "brannoch", "teasel", "marlow", "vantry"]
    texts = [f"they saw {name} in the garden today" for name in names]
    training = [
        Training.from_dict(nlp.make_doc(t), {"entities": [(9, 9 + len(n), "PERSON")]})
        for t, n in zip(texts, names, strict=True)
    ]
    nlp.initialize(lambda: training)
    for _ in range(30):
        nlp.update(training)
    nlp.meta.update(name="tiny_ner", version="1.2.0")
    package = tmp_path / "en_tiny_ner"
    package.mkdir()
    nlp.to_disk(package / "en_tiny_ner-1.2.0")
    (package / "meta.json").write_text((package / "en_tiny_ner-1.2.0" / "meta.json").read_text())
    (package / "__init__.py").write_text(
        "from spacy.util import load_model_from_init_py\n\n\n"
        "def load(**overrides):\n    return load_model_from_init_py(__file__, **overrides)\n"
    )
    info = tmp_path / "en_tiny_ner-1.2.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: en_tiny_ner\nVersion: 1.2.0\n")
    (info / "entry_points.txt").write_text("[spacy_models]\nen_tiny_ner = en_tiny_ner\n")
    monkeypatch.setattr(entity_finder, "_pipeline", PIPELINE)
    monkeypatch.syspath_prepend(str(tmp_path))
    PIPELINE.cache_clear()
    yield "en_tiny_ner 1.2.0"
    PIPELINE.cache_clear()
    sys.modules.pop("en_tiny_ner", None)


def test_an_installed_pipeline_finds_the_names(trained: str) -> None:
    assert finder_name() == trained
    new = apply("they saw quillfox in the garden today").text
    assert re.fullmatch(r"they saw [a-z]+ in the \w+ today", new)
    assert "quillfox" not in new
    assert "12" not in apply("they saw quillfox in the garden today at 12").text, "numbers by the rules"
