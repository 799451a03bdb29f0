"""Sentences of texts with Markdown and lists; what is hidden from rules for letters and words."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhp.core.markdown import mark_length, masked
from dhp.core.sentences import sentences

LISTS = [
    (
        "en",
        "1. Boil the water. 2. Add the pasta and some salt. 3. Serve.",
        ["1. Boil the water.", "2. Add the pasta and some salt.", "3. Serve."],
    ),
    (
        "en",
        "Here is the plan:\n1. Boil the water.\n2. Add the pasta. Stir it.\n",
        ["Here is the plan:", "1. Boil the water.", "2. Add the pasta.", "Stir it."],
    ),
    ("en", "- Red onions\n- **Salt**\n\nDone.", ["- Red onions", "- **Salt**", "Done."]),
    ("en", "Either (a) you go, or (b) you stay.", ["Either (a) you go, or (b) you stay."]),
    ("en", "Two ways: (a) you go, (b) you stay.", ["Two ways:", "(a) you go,", "(b) you stay."]),
    ("en", "A. Paris\nB. London", ["A. Paris", "B. London"]),
    ("en", "A. Smith left.\nHe is back.", ["A. Smith left.", "He is back."]),
    (
        "en",
        "It was broken\nat a width. Then it\nwent on.",
        ["It was broken\nat a width.", "Then it\nwent on."],
    ),
    ("en", "The vote was 4 to 1. She won. 2. place was his.", None),
    (
        "en",
        "THE AUTHORS AND DISTRIBUTORS SPECIFICALLY DISCLAIM ANY\nWARRANTIES. THEY HAVE NO DUTY.",
        ["THE AUTHORS AND DISTRIBUTORS SPECIFICALLY DISCLAIM ANY\nWARRANTIES.", "THEY HAVE NO DUTY."],
    ),
    (
        "en",
        "No checks will be performed with regard to SUB_MIN,\nSUB_MAX, or both. Go on.",
        ["No checks will be performed with regard to SUB_MIN,\nSUB_MAX, or both.", "Go on."],
    ),
    ("en", "Dear Ms Hart,\nThe parcel is here.", ["Dear Ms Hart,", "The parcel is here."]),
    ("en", "She met the\nMayor. He left.", ["She met the\nMayor.", "He left."]),
    ("en", "**Stop. Wait** now. Go on.", ["**Stop. Wait** now.", "Go on."]),
    ("en", "It is good.\n— Anna Smith", ["It is good.", "— Anna Smith"]),
    (
        "en",
        "EXAMPLES\nThis is one that goes\non and on. So.",
        ["EXAMPLES", "This is one that goes\non and on.", "So."],
    ),
    ("en", "Step 1: Mix. Stir.\nStep 2: Bake.", ["Step 1: Mix.", "Stir.", "Step 2: Bake."]),
    (
        "ja",
        "長野県の女性が新型コロナウイルスに感染していることがこの日の夕方にわ\nかりました。雨は止みました。",
        [
            "長野県の女性が新型コロナウイルスに感染していることがこの日の夕方にわ\nかりました。",
            "雨は止みました。",
        ],
    ),
    (
        "zh",
        "但是一般情况下足浴盆是不会有带电问题的，但也不排除少数产品在出厂时没\n有严格把关。请小心。",
        ["但是一般情况下足浴盆是不会有带电问题的，但也不排除少数产品在出厂时没\n有严格把关。", "请小心。"],
    ),
    (
        "ja",
        "送信します。milter は残ります。3 回です。",
        ["送信します。", "milter は残ります。", "3 回です。"],
    ),
    ("ja", "「行く。milter だ」と言った。", ["「行く。milter だ」と言った。"]),
    (
        "de",
        "Die Schritte: 1. Wasser kochen. 2. Nudeln zugeben. Am 3. Mai essen.",
        ["Die Schritte:", "1. Wasser kochen.", "2. Nudeln zugeben.", "Am 3. Mai essen."],
    ),
    (
        "de",
        "Wir trafen uns am\n3. Mai in Bonn. Es war kalt.",
        ["Wir trafen uns am\n3. Mai in Bonn.", "Es war kalt."],
    ),
    (
        "zh",
        "步骤如下：\n1、把水烧开。\n二、放入面条。加盐。",
        ["步骤如下：", "1、把水烧开。", "二、放入面条。", "加盐。"],
    ),
    ("fr", "Il faut :\n• du pain\n• du vin. Merci.", ["Il faut :", "• du pain", "• du vin.", "Merci."]),
    ("en", "## Method\n\nWe ran. It held.\n\n| a | b |\n|---|---|\n| 1. | 2. |", ["We ran.", "It held."]),
    ("en", "Run this:\n```\nx = 1. # no. Yes.\n```\nIt prints. Good.", ["Run this:", "It prints.", "Good."]),
]


def test_one_dash_is_no_list() -> None:
    assert mark_length("It is good.\n— Anna Smith", 12) == 0
    assert mark_length("– one thing\n– another", 0) == 2


@pytest.mark.parametrize(("language", "text", "expected"), LISTS)
def test_a_mark_belongs_to_what_follows(language: str, text: str, expected: list[str] | None) -> None:
    cut = sentences(text, language)
    if expected is None:  # no list: 1 and 2 do not follow on from each other
        assert not any(sentence.strip("(). ").isdecimal() for sentence in cut[:-1])
    else:
        assert cut == expected


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        (
            "See [the page](http://a.b/c_(d)) or http://x.org/y?z=1.",
            ["[the page](http://a.b/c_(d))", "http://x.org/y?z=1"],
        ),
        ("Call `f(1)` or ``a`b``, **now**.", ["`f(1)`", "``a`b``", "**", "**"]),
        ("1. Go\n   - [x] Stop\n> 2) Wait", ["1.", "- [x]", "> 2)"]),
        (
            "# Head\ntext\nTitle\n=====\n**Bold line**\n---",
            ["# Head", "Title", "=====", "**Bold line**", "---"],
        ),
        ("It costs 3.50 euros, or 4 * 5 = 20.", []),
        ("On 3. May 5) came.", []),
    ],
)
def test_what_is_hidden(text: str, hidden: list[str]) -> None:
    mask = masked(text)
    assert len(mask.text) == len(text)
    assert list(mask.pieces.values()) == hidden
    assert mask.restored(mask.text) == text


WORD = st.sampled_from("stone river makes under bright seven house walks never paper cloud green".split())
SENTENCE = st.lists(WORD, min_size=3, max_size=7).map(lambda words: " ".join(words).capitalize() + ".")
PROSE = st.lists(SENTENCE, min_size=1, max_size=3).map(" ".join)


@st.composite
def markdown(draw: st.DrawFn) -> tuple[str, list[str], list[int]]:
    """A document, its sentences, and the numbers of the lines that are no prose."""
    lines: list[str] = []
    prose: list[str] = []
    fixed: list[int] = []
    for _ in range(draw(st.integers(1, 5))):
        kind = draw(st.sampled_from(["paragraph", "numbers", "bullets", "heading", "code", "table"]))
        items = draw(st.lists(SENTENCE, min_size=1, max_size=3))
        if kind == "paragraph":
            lines.append(" ".join(items))
            prose += items
        elif kind in ("numbers", "bullets"):
            sign = draw(st.sampled_from(["{}.", "{})", "({})"] if kind == "numbers" else ["-", "*", "•"]))
            marked = [f"{sign.format(i)} {item}" for i, item in enumerate(items, 1)]
            lines += marked
            prose += marked
        else:
            body = {
                "heading": ["## " + items[0]],
                "code": ["```", *items, "```"],
                "table": ["| a | b |", "|---|---|", *(f"| {item} | 1. |" for item in items)],
            }[kind]
            fixed += range(len(lines), len(lines) + len(body))
            lines += body
        lines.append("")
    return "\n".join(lines), prose, fixed


@given(markdown())
def test_generated_markdown_is_cut_at_its_sentences(document: tuple[str, list[str], list[int]]) -> None:
    text, prose, fixed = document
    assert sentences(text, "en") == prose
    shown = masked(text).text.splitlines()
    assert not any(map(str.isalnum, "".join(shown[line] for line in fixed)))
    assert masked(text).restored(masked(text).text) == text


@given(st.text())
def test_any_text_is_restored_and_cut_in_order(text: str) -> None:
    mask = masked(text)
    assert len(mask.text) == len(text)
    assert mask.restored(mask.text) == text
    found = [text.find(sentence) for sentence in sentences(text, "en")]
    assert -1 not in found
    assert all(mark_length(text, i) >= 0 for i in range(len(text)))
    assert all(a <= b for a, b in pairwise(sorted(found)))


def test_tildes_that_underline_a_heading_begin_no_code() -> None:
    text = "Lexers\n~~~~~~\n\nThey read one language each."
    assert masked(text).text.endswith("They read one language each.")
    fenced = "~~~\nx = 1\n~~~\n\nThey read one language each."
    assert "x = 1" not in masked(fenced).text
