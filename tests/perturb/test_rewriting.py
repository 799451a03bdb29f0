"""The stand-in that says sentences again: each rephrasing rule, and what holds for any text."""

import contextlib
import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dhp.content.catalog import read_list
from dhp.core.errors import InputError, NotApplicable
from dhp.core.records import Example
from dhp.core.text import sentences
from dhp.loaders.dataset import resolve_datasets
from dhp.perturb.api import Edited
from dhp.perturb.llm.acceptance import fault
from dhp.perturb.rewriting.clauses import orders
from dhp.perturb.rewriting.focus import emphasis, focuses
from dhp.perturb.rewriting.forms import forms, touches
from dhp.perturb.rewriting.moves import moves, swapped
from dhp.perturb.rewriting.perturber import rewriting_insertion_rule
from dhp.perturb.rewriting.speakers import speakers
from dhp.perturb.rewriting.tokens import Sentence, Style, tokenised, write
from dhp.perturb.rewriting.words import RephrasingLists, hits

LISTS = read_list("rephrasing", RephrasingLists)
SENTENCES = [
    "The council of Hartwell voted on Monday to close the old library.",
    "When the vote was over, Ines Calder praised the staff.",
    "It will move to Mill Street, but several residents oppose the plan.",
    "Opponents collected 2,150 signatures because they want a vote.",
    "Calder said that the new library would open in 2027.",
    "The old building was bought by a Bristol firm for 3 million pounds.",
    "Two volunteers, Ada and Tom, have also begun to pack 40,000 books.",
    "The mayor's critics, however, are not convinced.",
    "Most people in the town rarely borrow more than 5 books a year.",
]
SUMMARY = " ".join(SENTENCES)


def apply(text: str, seed: int = 0, count: object = "all", source: str = "") -> Edited:
    function = rewriting_insertion_rule.function
    assert function is not None
    result = function(
        text, random.Random(seed), example=Example("e", source, text), lists=read_list, count=count
    )
    assert isinstance(result, Edited)
    return result


def parsed(text: str, source: str = "") -> Sentence:
    sentence = Sentence.of(text, Style.of(text, source))
    assert sentence is not None
    return sentence


def ways(text: str, source: str = "") -> set[str]:
    """The sentence after each transformation alone, without other words."""
    s = parsed(text, source)
    found = [*orders(s), *speakers(s, LISTS), *forms(s, LISTS), *focuses(s, LISTS), *moves(s), *touches(s)]
    return {s.written(body) for body in found}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("He left because it was late.", "Because it was late, he left."),
        ("When the rain stopped, the men left.", "The men left when the rain stopped."),
        ("The team won the cup on Monday.", "On Monday, the team won the cup."),
        ("The team won the cup two weeks ago .", "Two weeks ago , the team won the cup ."),
        ("In Paris, the team won the cup.", "The team won the cup in Paris."),
        ("The plan was cheap, but it failed.", "Although the plan was cheap, it failed."),
        ("Although the plan was cheap, it failed.", "The plan was cheap, but it failed."),
        ("The plan was cheap, so they chose it.", "Because the plan was cheap, they chose it."),
        ("The plan failed, the mayor said.", "According to the mayor, the plan failed."),
        ("The mayor says that he was ill.", "According to the mayor, he was ill."),
        ("She says it is late.", "According to her, it is late."),
        ("According to police, the man has fled.", "The man has fled, according to police."),
        ("He was seen by the guards in March.", "The guards saw him in March."),
        ("The film will be shown by the museum.", "The museum will show the film."),
        ("The police arrested a man in May.", "A man was arrested by the police in May."),
        ("They have released the prisoners.", "The prisoners have been released by them."),
        ("Arlen beat Borth 2-1 on Sunday.", "Borth lost 2-1 to Arlen on Sunday."),
        ("The club's owner has resigned.", "The owner of the club has resigned."),
        ("Ada Brent, a clerk, was ill.", "A clerk, Ada Brent, was ill."),
        ("Ada Brent, 31, was ill.", "Ada Brent, aged 31, was ill."),
        ("The firm also built a bridge.", "In addition, the firm built a bridge."),
        ("The firm is currently building a bridge.", "Currently, the firm is building a bridge."),
        ("But the firm has failed.", "The firm has failed, however."),
        ("To test this, we sequenced the genes.", "We sequenced the genes in order to test this."),
        ("We sequenced the genes to find mutations.", "We sequenced the genes in order to find mutations."),
        ("They won't leave.", "They will not leave."),
        ("They can't leave.", "They cannot leave."),
        ("A book that was written by Ada was sold.", "A book written by Ada was sold."),
        ("He said that they would leave.", "He said they would leave."),
        ("They did not leave.", "They didn't leave."),
        ("They did not leave .", "They did n't leave ."),
        ("We visited 4 sites.", "We visited four sites."),
        ("recently, the gene was found in mice.", "the gene was recently found in mice."),
    ],
)
def test_a_transformation_keeps_what_is_said(before: str, after: str) -> None:
    assert after in ways(before)


@pytest.mark.parametrize(
    "text",
    [
        "They have returned sooner than was feared when two dams were built.",  # a comparison
        "When Ada Brent came, she was ill.",  # the pronoun would come first
        "He hoped that Leeds would play on Monday.",  # which of the two was on Monday?
        "He was ready for the game on Saturday.",
        "The mine has paid no tax and 30 of the men were sacked in March.",  # who did what in March?
        "They meet on 8 June, when Arlen will play.",  # the clause tells what happens then
        "He asked me if it was late.",
        "It is not clear if it was late.",
        "The work was done by 2028.",  # no doer
        "The man was hurt by falling.",
        "He was called the worst by his fans and left by his friends.",
        'He said, "I left because it was late."',  # a quotation stays
        "Bolt won the race on Monday.",  # a name or a word: nobody can tell
        "Most firms, banks and shops failed, but they did not give up, so they live.",
    ],
)
def test_where_the_meaning_would_change_the_order_stays(text: str) -> None:
    assert ways(text) <= {text.replace("did not", "didn't").replace("is not", "isn't")}


@pytest.mark.parametrize(
    ("text", "source", "after"),
    [
        ("Bolt won the race on Monday.", "The crowd saw Bolt win.", "On Monday, Bolt won the race."),
        ("Police won the case on Monday.", "The crowd saw police come.", "On Monday, police won the case."),
    ],
)
def test_the_source_tells_names_from_words(text: str, source: str, after: str) -> None:
    assert after in ways(text, source)


def test_emphasis_and_pairs() -> None:
    definite, indefinite = parsed("The firm built a bridge."), parsed("A firm built a bridge.")
    assert (body := emphasis(definite)) is not None
    assert definite.written(body) == "It was the firm that built a bridge."
    assert emphasis(indefinite) is None
    pair, phrase = parsed("it is found in sheep and goats."), parsed("it is found in old sheep and goats.")
    assert (body := swapped(pair, random.Random(0))) is not None
    assert pair.written(body) == "it is found in goats and sheep."
    assert swapped(phrase, random.Random(0)) is None


def replaced(text: str) -> dict[str, tuple[str, ...]]:
    s = parsed(text)
    return {write(s.body[h.start : h.end]).strip(): h.targets for h in hits(s.body, LISTS, s.style)}


@pytest.mark.parametrize(
    ("text", "words", "others"),
    [
        ("He purchased a car.", "purchased", ("bought",)),
        ("She is purchasing a car.", "purchasing", ("buying",)),
        ("She purchases a car.", "purchases", ("buys",)),
        ("He began to run.", "began to", ("started to",)),
        ("It was begun by them.", "begun", ("started",)),
        ("The movies were long.", "movies", ("films",)),
        ("More than 20 people came.", "More than", ("over", "upwards of")),
        ("He came because of the rain.", "because of", ("as a result of", "owing to", "on account of")),
    ],
)
def test_words_are_replaced_in_their_form(text: str, words: str, others: tuple[str, ...]) -> None:
    assert replaced(text)[words] == others


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("The plan was to reduce costs in Great Britain.", "Great"),
        ("He saw the claims of the two men.", "claims"),
        ("It was due to leave on Monday.", "due to"),
        ("Use of reduced doses is safe.", "reduced"),
        ("The film 'Purchased Cars' was long.", "Purchased"),
        ("He was given as many books as she was.", "many"),
        ("It is one of the best supplied towns.", "supplied"),
        ("She is going to Arlen.", "is going to"),
        ("His bail is set to 500 dollars.", "is set to"),
        ("The trial ran over 3 seasons.", "over"),
        ("He was sent away with a dog for company.", "company"),
        ("They will never meet again.", "again"),
    ],
)
def test_other_readings_of_a_word_stay(text: str, word: str) -> None:
    assert word not in replaced(text)


def test_the_article_agrees_with_the_new_word() -> None:
    drawn = {apply("He saw an enormous bird and a bizarre fish.", seed).text for seed in range(30)}
    assert any("a huge bird" in text for text in drawn)
    assert any("an odd fish" in text for text in drawn)
    assert not any(re.search(r"\ban (?:huge|vast|strange)|\ba odd", text) for text in drawn)


def inserted(originals: list[str], text: str) -> list[tuple[int, str]]:
    """(place of the source, rephrasing); fails where an original is gone, changed or out of order."""
    found: list[tuple[int, str]] = []
    k = 0
    for part in sentences(text):
        if k < len(originals) and part == originals[k]:
            k += 1
        else:
            found.append((k - 1, part))
    assert k == len(originals), f"sentence {k} is gone: {text}"
    return found


@settings(max_examples=60)
@given(st.permutations(SENTENCES), st.integers(1, 9), st.integers(0, 10_000))
def test_each_rephrasing_follows_its_source(parts: list[str], count: int, seed: int) -> None:
    result = apply(" ".join(parts), seed, count)
    made = inserted(parts, result.text)
    assert (result.asked, result.made) == (count, len(made))
    assert made
    assert len({place for place, _ in made}) == len(made)
    for place, said in made:
        source = parts[place]
        assert place >= 0
        assert said != source
        assert said.endswith(".")
        assert said[0].isupper()
        assert set(re.findall(r"\d[\d,]*", said)) <= set(re.findall(r"\d[\d,]*", source))
        names = set(re.findall(r"(?<=\w )[A-Z]\w+", said))
        assert names <= set(re.findall(r"[A-Z]\w+", source))


@given(st.integers(0, 10_000))
def test_smaller_counts_are_among_larger_ones(seed: int) -> None:
    made = [set(inserted(SENTENCES, apply(SUMMARY, seed, count).text)) for count in (1, 3, "all")]
    assert len(made[0]) == 1
    assert len(made[1]) == 3
    assert made[0] < made[1] < made[2]


def test_the_same_seed_gives_the_same_text_and_another_another() -> None:
    state = random.getstate()
    assert len({apply(SUMMARY, 5, 1).text for _ in range(3)}) == 1
    assert len({apply(SUMMARY, seed, 3).text for seed in range(20)}) > 15
    assert random.getstate() == state


@settings(max_examples=60)
@given(st.text(max_size=80) | st.text("the .,'\"`’ab()1?\nA", max_size=80), st.integers(0, 3))
def test_any_text_survives_or_is_not_applicable(text: str, seed: int) -> None:
    assert write(tokenised(text)) == text.rstrip() or text != text.rstrip()
    try:
        result = apply(text, seed)
    except NotApplicable:
        return
    assert len(result.text) > len(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Der Rat hat am Montag beschlossen, die alte Bibliothek zu schließen.", "not an English text"),
        ("委员会周一决定关闭旧图书馆。", "not an English text"),
        ("", "not an English text"),
        ("It sat.", "no sentence can be rephrased"),
        ('"He often left. She often came.', "no sentence can be rephrased"),
    ],
)
def test_not_applicable(text: str, reason: str) -> None:
    with pytest.raises(NotApplicable, match=reason):
        apply(text)


@pytest.mark.parametrize("count", [0, -1, True, 1.5, "some", None])
def test_a_count_that_is_none_is_refused(count: object) -> None:
    with pytest.raises(InputError, match="allowed: a whole number of at least 1, or all"):
        apply(SUMMARY, count=count)


@pytest.mark.parametrize(
    ("text", "between"),
    [
        ("He left because it was late. It sat.", " "),
        ("He left because it was late.\nIt sat.", "\n"),
        ("It sat .  He left because it was late .", "  "),
        ("He left because it was late", "\n"),
        ("It sat. He left because it was late", "\n"),
    ],
)
def test_sentences_are_separated_as_in_the_text(text: str, between: str) -> None:
    at = text.index("late") + 4
    at += len(re.match(r" ?\.|", text[at:]).group())  # type: ignore[union-attr]
    result = apply(text).text
    assert result.startswith(text[:at])
    assert result.endswith(text[at:])
    added = result[at : len(result) - len(text[at:])]
    assert added.startswith(between)
    assert added.strip().lower().startswith(("because", "since", "as"))
    assert " ." not in added or " ." in text


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("A short text. It says little.", "word " * 5000),
        ("It is old, although. But", ""),
        ("Each of them said so", "It is late."),
        (", said the old man.", ""),
        ("It is late, said, and they left because", ""),
        ("The list goes on" + "!?" * 10_000, ""),
    ],
)
def test_fragments_and_odd_sources(text: str, source: str) -> None:
    with contextlib.suppress(NotApplicable):
        assert len(apply(text, source=source).text) > len(text)


def test_a_state_that_bears_a_name_says_nothing() -> None:
    text = "Hartwell State University joined the old club because it was late."
    assert not any("ccording" in way for way in ways(text))


@pytest.mark.parametrize("name", ["mini/summeval", "mini/sumpubmed"])
def test_rephrasings_are_no_near_copies(name: str) -> None:
    (dataset,) = resolve_datasets([name])
    made = [(e.output, apply(e.output, 3, 1, e.source).text) for e in dataset.examples]
    faults = [fault("rewriting_insertion", before, after, 1) for before, after in made]
    assert faults.count(None) >= 0.85 * len(faults), faults


def test_far_rephrasings_come_first() -> None:
    near, far = (
        "She bought 31 of the 42 long red rugs that lay with 7 of the cups in the rain.",
        "He left because it was late.",
    )
    for seed in range(20):
        assert inserted([near, far], apply(f"{near} {far}", seed, 1).text)[0][0] == 1


def test_style_is_kept() -> None:
    assert apply("The team 's fans often came , but they left .").text.count(" ,") == 2
    lower = apply("the genes often act in mice because they are essential. it is found in mice.").text
    assert lower == lower.lower()


def test_every_entry_of_the_list_differs_from_its_key() -> None:
    for section in (LISTS.phrases, LISTS.verbs, LISTS.nouns):
        for key, targets in section.items():
            bare = re.sub(r" <\w+>", "", key)
            assert targets
            assert bare not in targets
            assert len(set(targets)) == len(targets)
            assert key == key.lower()
