"""Languages of texts, their bounds of sentences and words, and how frequent words are."""

import subprocess
import sys

import pytest
import wordfreq
from hypothesis import assume, given
from hypothesis import strategies as st

from dhp.core.code import is_code
from dhp.core.english import FUNCTION_WORDS, PRONOUNS
from dhp.core.errors import NotApplicable
from dhp.core.language import NAMES, WITHOUT_SPACES, declared_language, language_name, text_language
from dhp.core.markdown import masked
from dhp.core.sentences import _spans_of_short_piece, sentence_spans, sentences
from dhp.core.words import SEGMENTED, word_spans, zipf

# A text with a bar at each bound of its sentences.
MARKED = [
    ("de", "Die Abgabefrist endet zum 1. April. |Danach werden keine Anträge mehr angenommen."),
    ("de", "Am 3. Oktober 1990 wurde gefeiert. |Seitdem ist der Tag ein Feiertag."),
    ("de", "Im 19. Jahrhundert wuchs die Stadt. |Kaiser Wilhelm II. besuchte sie zweimal."),
    ("de", "Das kostet z. B. 4,50 Euro. |Dr. Weber findet das zu teuer."),
    ("de", "Wann beginnt der Kurs? |Er beginnt am 15. |Das steht im Brief."),
    ("de", "„Kommst du mit?“, fragte Anna. |„Nein!“, rief er. |Dann ging sie allein."),
    ("es", "El Sr. García llegó a las 8 a. m. del lunes. |La reunión ya había empezado."),
    ("es", "¿Quién lo sabe? |¡Nadie! |Así terminó la historia."),
    ("zh", "他问：“你去哪儿？”|我没有回答。|天已经黑了。"),
    ("zh", "“太好了！”她说。|我们都笑了。|价格是3.5元。"),
    ("ja", "「もう帰るの？」と母が聞いた。|私は黙っていた。"),
    ("ja", "彼は「行かない。」と言った。|価格は3.5ドルです！|高すぎます。"),
    ("ar", "قال د. أحمد إن السعر ارتفع بنسبة 3.5 بالمئة. |ثم سكت الجميع."),
    ("ar", "هل رأيت أخي؟ |لا، لم أره اليوم!"),
    ("en", "Dr. Smith paid $3.50 at 5 p.m. on Monday. |Then he left."),
    ("en", "It came from Phaethon, No. 3200 of its kind. |Is it near? |No. |3 of them are."),
    (None, "Die Frist endet zum 1. April. |Danach ist Schluss."),
]


@pytest.mark.parametrize(("language", "marked"), MARKED)
def test_sentences_end_where_a_reader_ends_them(language: str | None, marked: str) -> None:
    assert sentences(marked.replace("|", ""), language) == [part.strip() for part in marked.split("|")]


@given(st.text(max_size=60), st.sampled_from([None, *NAMES]))
def test_bounds_are_in_order_and_hold_all_letters(text: str, language: str | None) -> None:
    for spans in (sentence_spans, word_spans):
        try:
            found = spans(text, language)
        except NotApplicable:
            assert language in WITHOUT_SPACES - set(SEGMENTED)
            continue
        ends = [0, *(bound for span in found for bound in span), len(text)]
        assert ends == sorted(ends)
        shown = masked(text).text if spans is sentence_spans else text  # headings and code are in no sentence
        outside = "".join(shown[a:b] for a, b in zip(ends[::2], ends[1::2], strict=True))
        assert not any(map(str.isalnum, outside))
        assert all(any(c.isalnum() or c == "_" for c in text[a:b]) for a, b in found)


@pytest.mark.parametrize(
    ("language", "marked"),
    [
        ("de", "Die| Straße| ist| 3,5| km| lang."),
        ("ar", "وصل| القطار| متأخراً."),
        ("zh", "市政府|宣布|明年|将|在|南部|修建|新|的|图书馆。"),
        ("ja", "市は|来年、|新しい|図書館を|建てる。"),
        ("th", "วันนี้|อากาศ|ดี|มาก"),
    ],
)
def test_words(language: str, marked: str) -> None:
    text = marked.replace("|", "")
    words = [text[a:b] for a, b in word_spans(text, language)]
    expected = [part.strip() for part in marked.split("|")]
    joints = [{len("".join(w[:i])) for i in range(len(w) + 1)} for w in (words, expected)]
    assert len(joints[0] & joints[1]) >= 0.75 * len(joints[1]), words
    if language not in WITHOUT_SPACES:
        assert words == expected


def test_words_of_khmer_cannot_be_told_apart() -> None:
    with pytest.raises(NotApplicable, match="Khmer text cannot be split into words"):
        word_spans("សួស្តី", "km")


@pytest.mark.parametrize(
    ("text", "declared", "language"),
    [
        ("Das ist gut.", None, None),
        ("Das ist gut.", "de", "de"),
        ("Das ist gut.", "de-AT", "de"),
        ("Das ist gut.", " German ", "de"),
        ("print(1)", "Python 3", "python 3"),
        ("今天天气很好。", None, "zh"),
        ("今天の天気", "zh", "zh"),
        ("今日は天気がいい。", None, "ja"),
        ("《の》是一个日本假名，中文里也常用作“的”字，尤其在商店招牌上。", None, "zh"),
        ("오늘 날씨가 좋다", None, "ko"),
        ("วันนี้อากาศดี", None, "th"),
        ("وصل القطار", None, None),
        ("Поезд пришёл", None, None),
        ("Meeting in 東京 tomorrow at noon", None, None),
        ("1234 ...", None, None),
        ("", "", None),
    ],
)
def test_a_language_is_declared_or_told_by_its_script(
    text: str, declared: str | None, language: str | None
) -> None:
    assert text_language(text, declared) == language


def test_names_of_languages() -> None:
    assert (language_name("de"), language_name("de", "zh"), language_name(None)) == ("German", "德语", "")
    assert language_name("python 3") == "python 3"
    assert all(declared_language(name) == code for code, (name, _) in NAMES.items())


PIECES = [
    "cat",
    "Dogs",
    "approx",
    "Dr",
    "e.g",
    "No",
    "7",
    "A",
    ".",
    "!",
    "?",
    "...",
    '"',
    ")",
    "\u201d",
    "\u3002",
]
GAPS = ["", " ", "  ", "\t", "\u00a0", "\u3000", "-", ", "]


@given(st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from(GAPS)), max_size=25))
def test_bounds_found_piece_by_piece_are_those_of_the_whole_text(drawn: list[tuple[str, str]]) -> None:
    text = "".join(piece + gap for piece, gap in drawn)
    assume(not (text.strip() and is_code([text])))  # as `cat"cat` alone is
    assert sentence_spans(text, "en") == list(_spans_of_short_piece.__wrapped__(text))


@pytest.mark.parametrize("word", ["the", "house", "photosynthesis", "it's"])
def test_zipf_is_that_of_the_list_unrounded(word: str) -> None:
    assert zipf(word) == pytest.approx(wordfreq.zipf_frequency(word, "en", "large"), abs=0.0051)


def test_an_unlisted_word_has_frequency_0() -> None:
    assert zipf("krelbomtex") == 0.0


def test_every_pronoun_is_a_function_word() -> None:
    assert "herself" in PRONOUNS
    assert PRONOUNS <= FUNCTION_WORDS


TOKENISING = """
import sys
from dhp.core.markdown import masked
from dhp.core.sentences import sentences
from dhp.core.words import words
text = "Dr. Gray can't come at 5 p.m. today. She's ill."
before = sentences(text), words(text)
assert not [name for name in sys.modules if name.partition(".")[0] in ("nltk", "scipy")], "loads too much"
import nltk
from nltk.tokenize import NLTKWordTokenizer
from nltk.tokenize.punkt import PunktSentenceTokenizer
assert nltk.stem.porter.PorterStemmer().stem("running") == "run"
whole = [token for sentence in before[0] for token in NLTKWordTokenizer().tokenize(sentence)]
assert before[1] == [token for token in whole if any(map(str.isalnum, token))]
print(len(before[0]))
"""


@pytest.mark.slow
def test_tokenising_loads_no_more_of_nltk_than_it_needs_and_leaves_it_whole_for_others() -> None:
    run = subprocess.run([sys.executable, "-c", TOKENISING], capture_output=True, text=True, check=False)
    assert (run.stdout, run.stderr) == ("2\n", "")


@pytest.mark.parametrize(
    "lines",
    [
        (
            "The library moves to the old post office in Mill Street, so that",
            "Hartwell has one place for books.",
        ),
        ("IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY", "CLAIM OR DAMAGES."),
        ("Die Unterlagen liegen im Amt aus, und wir bitten darum, dass die", "Steuerbescheinigung mitkommt."),
    ],
)
def test_a_short_paragraph_that_fills_its_lines_is_not_cut_at_them(lines: tuple[str, str]) -> None:
    text = "\n".join(lines)
    assert sentences(text, None) == [text]


def test_a_japanese_stop_before_a_small_letter_is_an_end() -> None:
    assert sentences("これを使用します。milter は便利です。", "ja") == [
        "これを使用します。",
        "milter は便利です。",
    ]


def test_words_of_latin_letters_in_chinese_are_whole() -> None:
    text = "我们用docker运行mysql8.0和GitHub的服务器"
    words = [text[a:b] for a, b in word_spans(text, "zh")]
    for latin in ("docker", "mysql8.0", "GitHub"):
        assert sum(latin in word for word in words) == 1
