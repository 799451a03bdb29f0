"""Texts in other languages than English: what is done to them, what is not, and how that is said."""

import json
import logging
from pathlib import Path

import pytest

import dhp
from dhp.content.catalog import read_suite
from dhp.core.errors import InputError
from dhp.core.language import language_name
from dhp.core.records import Example, PerturbedText, parse_variant
from dhp.core.sentences import sentences
from dhp.core.words import word_spans
from dhp.loaders.dataset import Dataset
from dhp.perturb.api import TOO_MUCH, perturber
from dhp.perturb.apply import NO_FARTHER
from dhp.perturb.facts.kinds import CONTENT
from dhp.perturb.registry import find_perturbers

TEXTS = {
    "de": [
        "Die neue Brücke wird zum 1. April eröffnet. Der Bau hat 12 Millionen Euro gekostet. "
        "Viele Anwohner hatten dagegen geklagt. Jetzt sparen sie jeden Tag eine halbe Stunde.",
        "Im 19. Jahrhundert war die Mühle das größte Haus im Dorf. Heute wohnen dort 3 Familien. "
        "Der Müller, Hr. Brandt, führt Besucher herum. Das kostet ca. 5 Euro.",
    ],
    "es": [
        "El ayuntamiento abrirá dos bibliotecas en el barrio. La Sra. Gil dirige el proyecto desde 2019. "
        "¿Quién pagará los libros? Nadie lo sabe todavía.",
        "La cosecha de aceitunas fue mala este año. Llovió solo 14 días en toda la primavera. "
        "Los agricultores piden ayuda al gobierno. Esperan una respuesta antes del verano.",
    ],
    "zh": [
        "市政府宣布明年将在南部郊区修建两座新的图书馆。工程预计需要18个月。居民们对此表示欢迎。他们已经等了很多年。",
        "这条河每年春天都会涨水。去年有40户人家的房子被淹。今年村里修了一道新的堤坝。大家终于可以放心了。",
    ],
    "ja": [
        "市は来年、南部の郊外に二つの新しい図書館を建てると発表した。工事には18か月かかる予定だ。"
        "住民はこの計画を歓迎している。長い間待っていたからだ。",
        "この川は毎年春になると水が増える。去年は40軒の家が浸水した。今年、村は新しい堤防を作った。"
        "みんなやっと安心して眠れるようになった。",
    ],
    "ar": [
        "أعلنت البلدية أنها ستبني مكتبتين جديدتين في الضواحي الجنوبية. سيستغرق العمل 18 شهراً. "
        "رحب السكان بالخطة. لقد انتظروا سنوات طويلة.",
        "يرتفع ماء النهر كل ربيع. في العام الماضي غمرت المياه 40 بيتاً. بنت القرية هذا العام سداً جديداً. "
        "صار الناس ينامون مطمئنين.",
    ],
}
"""Written for these tests: four sentences each, a number in digits in each."""


def data(language: str, declared: bool = True) -> Dataset:
    fields = {"language": language} if declared else {}
    examples = [Example(str(i), "", text, fields) for i, text in enumerate(TEXTS[language])]
    return Dataset.of(examples, name=f"texts.{language}", task="essay.yaml")


@pytest.fixture(autouse=True)
def task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    metric = "{name: clarity, scale: {min: 1, max: 5}, definition: d, steps: [s], question: q, antonym: a}"
    Path("essay.yaml").write_text(
        f"task: essay\ninstruction: Write an essay.\noutput_label: Essay\nmetrics: [{metric}]\n"
    )


def _made(text: PerturbedText) -> bool:
    """Whether there is a text, but where it has no such fact or no room for more."""
    of_facts = parse_variant(text.variant).perturber in CONTENT
    return text.text is not None or text.reason == NO_FARTHER or of_facts


@pytest.mark.slow
@pytest.mark.parametrize("language", TEXTS)
def test_every_general_rule_works_in_every_language(language: str) -> None:
    (made,) = dhp.perturb_datasets(data(language), controls=True, attacks=True)
    by_variant = {(t.example, t.variant): t for t in made.texts}
    expected = {v.name for v in read_suite("general").variants}
    assert {v for _, v in by_variant} == expected | {
        "identity",
        "harmless",
        "judge_instruction",
        "judge_flattery",
        "padding",
    }
    for (_, variant), text in by_variant.items():
        assert _made(text), (variant, text.reason)
    for i, original in enumerate(TEXTS[language]):
        text = {v: by_variant[str(i), v].text or "" for v in expected}
        before = sentences(original, language)
        assert len(before) == 4
        assert sorted(sentences(text["reordering.major"], language)) == sorted(before)
        assert len(sentences(text["sentence_deletion.minor"], language)) == 3
        assert len(sentences(text["sentence_repetition.minor"], language)) == 5
        other = sentences(TEXTS[language][1 - i], language)
        assert set(sentences(text["sentence_insertion.minor"], language)) - set(before) <= set(other)
        fewer = len(word_spans(original, language)) - len(word_spans(text["word_deletions.major"], language))
        assert fewer >= 3
        assert sorted(text["word_swaps.minor"]) == sorted(original)


def test_typos_hit_neighbouring_keys_in_english_alone() -> None:
    for language, expected in (("en", True), ("de", False)):
        examples = [Example(str(i), "", "ffff " * 20, {"language": language}) for i in range(2)]
        (made,) = dhp.perturb_datasets(Dataset.of(examples, name="f", task="essay.yaml"))
        typos = "".join(t.text or "" for t in made.texts if t.variant == "random_typos.major")
        assert bool(set(typos) & set("drtgvc")) == expected, "keys beside f"
        assert "fffff" in typos, "a key hit twice"


def test_what_is_lost_to_the_language_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    mixed = Dataset.of(
        [
            *data("de").examples,
            Example("en", "", "The hall is new. It has 2 doors.", {"language": "English"}),
        ],
        name="mixed",
        task="essay.yaml",
    )
    english = perturber(name="only_english", level="word", languages=["en"])(
        lambda text, rng, *, example: f"{text} x"
    )
    with caplog.at_level(logging.WARNING, "dhp"):
        (made,) = dhp.perturb_datasets(mixed, perturbers=[english])
    assert caplog.messages == [
        "mixed: language of the texts: German 2, English 1: not applicable: only_english (2 of 3 "
        "texts); left: 36 of 36 variants"
    ]
    reasons = [t.reason for t in made.texts if t.variant == "only_english"]
    assert reasons == ["the text is in German; allowed: English"] * 2 + [None]


@pytest.mark.slow
def test_a_kind_for_another_language_counts_nowhere(caplog: pytest.LogCaptureFixture) -> None:
    for_chinese = dhp.perturber(name="chinese", level="word", languages=["zh"])(lambda text, rng: text + "的")
    judge = dhp.run("baseline/surface", "mini/summeval", perturbers=for_chinese, progress=False)
    assert "not applicable: chinese" in caplog.text
    assert {row.variant for row in judge.variants} == {v.name for v in read_suite("summeval").variants}
    assert not judge.not_averaged


def test_a_language_that_is_not_declared_is_not_guessed(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "dhp"):
        (made,) = dhp.perturb_datasets(data("es", declared=False), attacks=True)
    assert caplog.messages == [
        "texts.es: language of the texts: not declared 2: not applicable: judge_instruction, judge_flattery, "
        "padding; left: 35 of 38 variants; set `text_language`, a column `language`, or output_language "
        "in the task"
    ]
    (reason,) = {t.reason for t in made.texts if t.variant == "padding"}
    assert reason == (
        "the language of the text is not declared; allowed: English, German, Spanish, Chinese, Japanese, "
        "Arabic"
    )
    caplog.clear()
    (made,) = dhp.perturb_datasets(data("zh", declared=False), attacks=True)  # the script tells
    assert not caplog.messages
    assert all(_made(t) for t in made.texts)


def test_the_language_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "essays.jsonl"
    file.write_text("".join(json.dumps({"output": text}) + "\n" for text in TEXTS["de"]))
    (made,) = dhp.perturb_datasets(str(file), task="essay.yaml", text_language="de", attacks=True)
    assert {e.language for e in made.dataset.examples} == {"de"}
    assert all(_made(t) for t in made.texts)
    Path("german.yaml").write_text(Path("essay.yaml").read_text() + "output_language: de\n")
    (made,) = dhp.perturb_datasets(str(file), task="german.yaml", attacks=True)
    assert all(_made(t) for t in made.texts)
    with pytest.raises(InputError, match="`text_language`: unknown language 'klingon'; allowed: ar, "):
        dhp.perturb_datasets(str(file), task="essay.yaml", text_language="klingon")
    with pytest.raises(InputError, match="`text_language` is for data of your own"):
        dhp.perturb_datasets("mini", text_language="de")


def test_every_example_knows_its_language_when_it_is_loaded() -> None:
    """Its own field comes first, then what is declared for all, then a script that one language has."""
    texts = [
        Example("own", "", "It is new.", {"language": "English"}),
        Example("declared", "", "市政府宣布明年将在南部郊区修建两座新的图书馆。"),
    ]
    loaded = Dataset.of(texts, name="mixed", task="essay.yaml", language="de")
    assert [e.language for e in loaded.examples] == [e.language for e in loaded.pool] == ["en", "de"]
    undeclared = Dataset.of(texts, name="mixed", task="essay.yaml")
    assert [e.language for e in undeclared.examples] == ["en", "zh"]
    latin = Dataset.of([Example("1", "", "Il est tard.")], name="latin", task="essay.yaml")
    assert [e.language for e in latin.examples] == [None]


def test_other_texts_are_drawn_in_the_language_of_the_text() -> None:
    examples = [
        Example(f"{language}{i}", "", text, {"language": language})
        for language in ("de", "es", "zh")
        for i, text in enumerate(TEXTS[language])
    ]
    mixed = Dataset.of(examples, name="mixed", task="essay.yaml")
    (made,) = dhp.perturb_datasets(mixed)
    inserted = [t for t in made.texts if t.variant.startswith("sentence_insertion")]
    assert len(inserted) == 2 * len(examples)
    for text in inserted:
        language, i = text.example[:2], int(text.example[2])
        known = "".join(TEXTS[language])
        original = sentences(TEXTS[language][i], language)
        added = set(sentences(text.text or "", language)) - set(original)
        assert added or text.reason == NO_FARTHER
        assert all(sentence in known for sentence in added)


def test_languages_of_a_perturber_are_checked() -> None:
    with pytest.raises(InputError, match=r"languages is \['xx'\]; allowed: any, words, or a list of ar, "):
        perturber(name="one", level="word", languages=["xx"])
    for known in find_perturbers().values():
        assert known.languages in ("any", "words") or all(language_name(code) for code in known.languages)


def test_no_deletion_takes_more_than_half() -> None:
    long_word = "Donaudampfschifffahrtsgesellschaftskapitän"
    texts = [
        f"{long_word} fährt.",
        f"Er fährt. {long_word} ist sein Beruf, und das seit vielen langen Jahren.",
    ]
    # Declared as a language of which no function words are known.
    examples = [Example(str(i), "", text, {"language": "nl"}) for i, text in enumerate(texts)]
    reasons = set()
    for seed in range(6):
        (made,) = dhp.perturb_datasets(Dataset.of(examples, name="short", task="essay.yaml"), seed=seed)
        for text in made.texts:
            original = texts[int(text.example)]
            if text.text and "deletion" in text.variant:
                left = len("".join(text.text.split()))
                assert 2 * left >= len("".join(original.split())), text.variant
        reasons |= {t.reason for t in made.texts}
    assert TOO_MUCH in reasons


def test_the_translation_task_names_the_languages_of_the_data() -> None:
    pairs = [Example("1", "Good morning.", "Guten Morgen.", {"language": "de", "source_language": "en"})]
    task = Dataset.of(pairs, name="en-de", task="translation").task
    assert task.in_language("en").instruction == "Translate the English source text into German."
    assert task.in_language("zh").instruction == "把英语原文翻译成德语。"
    unknown = Dataset.of([Example("1", "a", "b")], name="x", task="translation").task
    assert unknown.in_language("en").instruction == "Translate the source text into the target language."
    assert unknown.in_language("zh").instruction == "把原文翻译成目标语言。"
