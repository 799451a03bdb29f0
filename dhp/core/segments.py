"""Bounds of sentences and words in the language of a text.

English: `core.text`. Sentences of other languages: sentencex, with rules of our own for German ordinals and
quoted speech. Words of languages without spaces: BudouX. Why these two: docs/languages.md.
"""

import functools
import re
from typing import Any

from dhp.core.errors import NotApplicable
from dhp.core.language import WITHOUT_SPACES, language_name
from dhp.core.text import sentence_spans as english_spans
from dhp.core.text import trimmed

Span = tuple[int, int]
"""(start, end)."""

_ORDINAL = re.compile(r"(?:^|\s)(?:\d{1,3}|[IVX]+)\.$")
_GERMAN_STARTS = frozenset(
    "Aber Als Am An Auch Auf Aus Bei Bis Da Dabei Dadurch Dafür Damit Danach Dann Darauf Das Dazu Dem Den "
    "Denn Der Des Deshalb Die Dies Diese Dieser Dieses Doch Dort Du Ein Eine Einen Einer Er Es Euch Für "
    "Hier Ich  Ihr Ihre Im In Ist Jetzt Kein Keine Man Mit Nach Nun Nur Ob Oder Schon Sein Seine Seit So "
    "Sie Später Trotzdem  Um Und Unter Vom Von Vor Während Warum Was Weil Wenn Wer Wie Wir Wo Zu Zum Zur "
    "Zwar".split()
)
"""Words that begin a sentence after "am 15." and are no noun of an ordinal."""
_SPOKEN = re.compile(r"[」』”]$")
_SAYS = {
    "ja": re.compile(r"(?:と|って|は|が|を|の|に|で|も|、)"),
    "zh": re.compile(r"[^，。！？；：、“”\s没沒不]{0,4}(?:说|說|问|問|道|喊|叫)"),
}
"""How a sentence goes on behind quoted speech."""
_ARABIC_INITIAL = re.compile(r"(?:^|\s)[\u0621-\u064a]\.$")
_CJK = r"\u3040-\u30ff\u3400-\u9fff"
_TOKEN = re.compile(rf"[{_CJK}]|[^\s{_CJK}]*[^\W{_CJK}][^\s{_CJK}]*")
_TRADITIONAL = frozenset("們個這來說時國會學對後為過與們還")
SEGMENTED = {"ja": "ja", "zh": "zh-hans", "th": "th"}
"""Languages without spaces that can be split into words -> the model of BudouX."""


def sentence_spans(text: str, language: str | None) -> list[Span]:
    """The bounds of the sentences of a text, without the white space between them.

    Parameters
    ----------
    text
        Any text.
    language
        Its code as `text_language` gives it; None and `en` take the rules for English, which know Chinese and
        Japanese marks too.

    Returns
    -------
    list of (int, int)
        Start and end of each sentence; a piece without letters or digits belongs to the one before it.
    """
    if language in (None, "en"):
        return english_spans(text)
    from sentencex import segment

    spans: list[Span] = []
    start = 0
    for piece in segment(language, text):
        end = start + len(piece)
        if spans and _goes_on(text[slice(*spans[-1])].rstrip(), piece, language):
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
        start = end
    return trimmed(text, spans)


def _goes_on(before: str, after: str, language: str) -> bool:
    """Whether a piece belongs to the sentence before it."""
    if before.endswith(".") and after[:1].islower():
        return True
    if language == "de":
        following = re.match(r"\w+", after)
        return bool(_ORDINAL.search(before) and following and following[0] not in _GERMAN_STARTS)
    if language == "ar":
        return bool(_ARABIC_INITIAL.search(before))
    if language == "ja" and before.endswith("。") and after.startswith("の"):
        return True  # a name: モーニング娘。の
    says = _SAYS.get(language)
    return bool(says and _SPOKEN.search(before) and says.match(after))


def sentences(text: str, language: str | None) -> list[str]:
    """The sentences of a text; see `sentence_spans`."""
    return [text[start:end] for start, end in sentence_spans(text, language)]


def word_spans(text: str, language: str | None) -> list[Span]:
    """The bounds of the words of a text: what is between white space and holds a letter or digit.

    Words of Chinese, Japanese (bunsetsu, as texts with spaces set them apart) and Thai are those of BudouX.
    In texts of other languages each Chinese or Japanese character counts as one.

    Raises
    ------
    NotApplicable
        For a language without spaces that BudouX does not know.
    """
    if language not in WITHOUT_SPACES:
        return [m.span() for m in _TOKEN.finditer(text)]
    if language not in SEGMENTED:
        raise NotApplicable(f"{language_name(language)} text cannot be split into words")
    model = SEGMENTED[language]
    if language == "zh" and any(c in _TRADITIONAL for c in text):
        model = "zh-hant"
    spans = []
    for run in re.finditer(r"\S+", text):
        start = run.start()
        for chunk in _parser(model).parse(run.group()):
            if any(map(str.isalnum, chunk)):
                spans.append((start, start + len(chunk)))
            start += len(chunk)
    return spans


@functools.cache
def _parser(model: str) -> Any:
    import budoux

    load = {
        "ja": budoux.load_default_japanese_parser,
        "zh-hans": budoux.load_default_simplified_chinese_parser,
        "zh-hant": budoux.load_default_traditional_chinese_parser,
        "th": budoux.load_default_thai_parser,
    }
    return load[model]()
