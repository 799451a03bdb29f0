"""Languages: declared or told by the script; bounds of sentences and words; English words.

English: `core.text`. Sentences of other languages: sentencex, with rules of our own for German ordinals and
quoted speech. Words of languages without spaces: BudouX. Why these two: docs/languages.md.
"""

import functools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from dhp.core.errors import NotApplicable
from dhp.core.markdown import in_prose
from dhp.core.text import sentence_spans as english_spans
from dhp.core.text import trimmed

NAMES: Mapping[str, tuple[str, str]] = {
    "ar": ("Arabic", "阿拉伯语"),
    "bn": ("Bengali", "孟加拉语"),
    "cs": ("Czech", "捷克语"),
    "da": ("Danish", "丹麦语"),
    "de": ("German", "德语"),
    "el": ("Greek", "希腊语"),
    "en": ("English", "英语"),
    "es": ("Spanish", "西班牙语"),
    "et": ("Estonian", "爱沙尼亚语"),
    "fa": ("Persian", "波斯语"),
    "fi": ("Finnish", "芬兰语"),
    "fr": ("French", "法语"),
    "he": ("Hebrew", "希伯来语"),
    "hi": ("Hindi", "印地语"),
    "hu": ("Hungarian", "匈牙利语"),
    "id": ("Indonesian", "印度尼西亚语"),
    "is": ("Icelandic", "冰岛语"),
    "it": ("Italian", "意大利语"),
    "ja": ("Japanese", "日语"),
    "km": ("Khmer", "高棉语"),
    "ko": ("Korean", "韩语"),
    "lo": ("Lao", "老挝语"),
    "lt": ("Lithuanian", "立陶宛语"),
    "lv": ("Latvian", "拉脱维亚语"),
    "my": ("Burmese", "缅甸语"),
    "nl": ("Dutch", "荷兰语"),
    "no": ("Norwegian", "挪威语"),
    "pl": ("Polish", "波兰语"),
    "pt": ("Portuguese", "葡萄牙语"),
    "ro": ("Romanian", "罗马尼亚语"),
    "ru": ("Russian", "俄语"),
    "sv": ("Swedish", "瑞典语"),
    "sw": ("Swahili", "斯瓦希里语"),
    "ta": ("Tamil", "泰米尔语"),
    "th": ("Thai", "泰语"),
    "tr": ("Turkish", "土耳其语"),
    "uk": ("Ukrainian", "乌克兰语"),
    "ur": ("Urdu", "乌尔都语"),
    "vi": ("Vietnamese", "越南语"),
    "zh": ("Chinese", "中文"),
}
"""Code of ISO 639 -> the name in English and in Chinese, the languages in which judges are asked."""
_CODES = {name.lower(): code for code, (name, _) in NAMES.items()}
_TAG = re.compile(r"([a-z]{2,3})(?:[-_][a-z0-9]+)*", re.I)

_LETTER = re.compile(r"[^\W\d_]")
_KANA = "\u3041-\u3096\u30a1-\u30fa\u31f0-\u31ff\uff66-\uff9d"
_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_OF_ONE_LANGUAGE = {
    language: re.compile(f"[{letters}]")
    for language, letters in {
        "el": "\u0370-\u03ff\u1f00-\u1fff",
        "ko": "\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3",
        "th": "\u0e00-\u0e7f",
        "lo": "\u0e80-\u0eff",
        "my": "\u1000-\u109f",
        "km": "\u1780-\u17ff",
        "cjk": _KANA + _HAN,
    }.items()
}
"""Scripts that only one language uses; kana distinguish Japanese from Chinese."""
_LEAST_KANA = 0.1
"""Share of kana, among kana and Chinese characters, from which a text is Japanese."""
WITHOUT_SPACES = frozenset("zh ja th lo km my".split())
"""Languages that set no space between words."""


def declared_language(name: str | None) -> str | None:
    """The code of a language that is given as a tag (`de`, `zh-Hant`) or by its English name.

    What is neither is kept as it is, in lower case: no perturber knows it. None stays None.
    """
    if name is None or not name.strip():
        return None
    plain = name.strip().lower()
    if plain in _CODES:
        return _CODES[plain]
    tag = _TAG.fullmatch(plain)
    return tag[1] if tag else plain


def text_language(text: str, declared: str | None = None) -> str | None:
    """The language of a text: the declared one, else the only one that is written in its script.

    None if more than one language is written in the script that most letters are of (Latin, Cyrillic,
    Arabic, Devanagari and others), and for a text without letters.
    """
    known = declared_language(declared)
    if known is not None:
        return known
    if text.isascii():
        return None
    letters = len(_LETTER.findall(text))
    for language, script in _OF_ONE_LANGUAGE.items():
        if 2 * sum(c.isalpha() for c in script.findall(text)) > letters:
            if language != "cjk":
                return language
            kana = len(re.findall(f"[{_KANA}]", text))
            return "ja" if kana >= _LEAST_KANA * len(script.findall(text)) else "zh"
    return None


def language_name(code: str | None, language: str = "en") -> str:
    """What a language is called in English or Chinese; its code if no name is known, `` for None."""
    if code is None or code not in NAMES:
        return code or ""
    return NAMES[code][language == "zh"]


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
_TOKEN = re.compile(rf"[{_CJK}]|[^\s{_CJK}]+")
_WORD_CHARACTER = re.compile(r"\w")
_TRADITIONAL = frozenset("們個這來說時國會學對後為過與們還")
SEGMENTED = {"ja": "ja", "zh": "zh-hans", "th": "th"}
"""Languages without spaces that can be split into words -> the model of BudouX."""


def sentence_spans(text: str, language: str | None) -> list[Span]:
    """The bounds of the sentences of a text, without the white space between them.

    No language, and `en`, take the rules for English, which know Chinese and Japanese marks too. A piece
    without letters or digits belongs to the sentence before it, the mark of a list to the one that follows.
    Code, tables and headings are in no sentence.
    """
    if language in (None, "en"):
        return english_spans(text)
    return in_prose(text, functools.partial(_spans_of_piece, language=language))


def _spans_of_piece(text: str, language: str) -> list[Span]:
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
    if language in _STOPPED:
        spans = [part for span in spans for part in _at_stops(text, span)]
    return trimmed(text, spans)


_STOPPED = ("ja", "zh")
_STOP_BEFORE_LATIN = re.compile(r"[。！？](?=\s*[a-z])")
"""A full stop that ends a sentence though a small letter follows, as in "します。milter は"."""


def _at_stops(text: str, span: Span) -> Iterator[Span]:
    start, end = span
    for stop in _STOP_BEFORE_LATIN.finditer(text, start, end):
        yield start, stop.end()
        start = stop.end()
    yield start, end


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

    Words of Chinese, Japanese and Thai are those of BudouX. No Chinese word that wordfreq lists is cut, and a
    Japanese bunsetsu is two words if a particle stands behind its noun.
    In texts of other languages each Chinese or Japanese character counts as one. Raises `NotApplicable` for a
    language without spaces that BudouX does not know.
    """
    if language not in WITHOUT_SPACES:
        return [m.span() for m in _TOKEN.finditer(text) if _WORD_CHARACTER.search(m[0])]
    if language not in SEGMENTED:
        raise NotApplicable(f"{language_name(language)} text cannot be split into words")
    model = SEGMENTED[language]
    if language == "zh" and any(c in _TRADITIONAL for c in text):
        model = "zh-hant"
    spans = []
    for run in re.finditer(r"\S+", text):
        start = run.start()
        for chunk in _whole_words(_parser(model).parse(run.group()), language):
            if any(map(str.isalnum, chunk)):
                spans.append((start, start + len(chunk)))
            start += len(chunk)
    return spans


def _whole_words(chunks: Iterable[str], language: str) -> list[str]:
    """The chunks of BudouX without bounds within words, and with those before Japanese particles."""
    whole = _with_whole_latin_words(chunks)
    if language == "zh":
        return _with_whole_chinese_words(whole)
    if language == "ja":
        return [part for chunk in whole for part in _noun_and_particle(chunk)]
    return whole


_PARTICLES = (
    "は が を に で と へ も の や から まで より では には とは へは にも でも とも への との での からの "
    "までの"
).split()
_BEHIND_NOUN = re.compile(
    rf"(?<=[{_HAN}\u30a1-\u30fcA-Za-z0-9０-９Ａ-ｚ々%％」』）)])(?:{'|'.join(_PARTICLES)})(?=[、。，．！？]*$)"
)


def _noun_and_particle(chunk: str) -> tuple[str, ...]:
    """A Japanese bunsetsu, in two if a particle stands behind what is no hiragana: 図書館を."""
    particle = _BEHIND_NOUN.search(chunk)
    return (chunk[: particle.start()], chunk[particle.start() :]) if particle else (chunk,)


_LONGEST_CHINESE_WORD = 5
_RARE = math.log(1e-8)
"""Logarithm of the share of a Chinese character that is not listed as a word."""


def _with_whole_chinese_words(chunks: Sequence[str]) -> list[str]:
    """The chunks, of which none ends within a word of the likeliest division into listed words."""
    run = "".join(chunks)
    inside = _inside_words(run)
    whole: list[str] = []
    end = 0
    for chunk in chunks:
        if end in inside:
            whole[-1] += chunk
        else:
            whole.append(chunk)
        end += len(chunk)
    return whole


def _inside_words(run: str) -> set[int]:
    """The positions within words if a text is divided so that the product of their frequencies is highest."""
    known = _chinese_logs()
    best, starts = [0.0], [0]
    for end in range(1, len(run) + 1):
        start = end - 1
        likely = best[start] + known.get(run[start], _RARE)
        for longer in range(max(0, end - _LONGEST_CHINESE_WORD), start):
            word = known.get(run[longer:end])
            if word is not None and best[longer] + word > likely:
                start, likely = longer, best[longer] + word
        best.append(likely)
        starts.append(start)
    inside, end = set[int](), len(run)
    while end:
        inside.update(range(starts[end] + 1, end))
        end = starts[end]
    return inside


@functools.cache
def _chinese_logs() -> Mapping[str, float]:
    """Logarithms of the shares of Chinese words, in simplified characters."""
    from wordfreq import get_frequency_dict

    return {word: math.log(share) for word, share in get_frequency_dict("zh", wordlist="large").items()}


_LATIN = re.compile(r"[A-Za-z0-9_.+#-]")


def _with_whole_latin_words(chunks: Iterable[str]) -> list[str]:
    """The chunks, of which none ends within a word of Latin letters or a number."""
    whole: list[str] = []
    for chunk in chunks:
        if whole and _LATIN.match(whole[-1][-1:]) and _LATIN.match(chunk):
            latin = re.match(r"[A-Za-z0-9_.+#-]+", chunk)
            taken = latin[0] if latin else ""
            whole[-1] += taken
            chunk = chunk[len(taken) :]
        if chunk:
            whole.append(chunk)
    return whole


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


PRONOUNS = frozenset(
    "he him his himself she her hers herself they them their theirs themselves it its itself "
    "i me my mine myself we us our ours ourselves".split()
)
ARTICLES = frozenset("a an the".split())
POSSESSIVES = frozenset("my your their our its".split())
PREPOSITIONS = frozenset("of from into with at by for to in on under over about between during among".split())
CONJUNCTIONS = frozenset("and or but because than if although while".split())
AUXILIARIES = frozenset("is are was were has had does did am".split())
"""Finite forms only."""
CONNECTIVES = frozenset(
    "but and so then however therefore thus also moreover furthermore instead nevertheless consequently "
    "meanwhile otherwise yet still hence similarly this these those such another both".split()
)
FUNCTION_WORDS = frozenset(
    "not no nor be been being have having do doing done that which who whom whose what when where why how "
    "there here as it's i'm don't n't s t you your yours all any each few more most other some only own same "
    "very just too up down out off again once before after above below through until against he's she's "
    "without within upon per via one will would can could should must may might".split()
).union(PRONOUNS, ARTICLES, POSSESSIVES, PREPOSITIONS, CONJUNCTIONS, AUXILIARIES, CONNECTIVES)
"""Words that say little about the topic."""

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_COMMON = FUNCTION_WORDS | frozenset(
    "though since onto every they're we're didn't wasn't weren't isn't aren't doesn't hasn't haven't "
    "hadn't won't wouldn't couldn't can't".split()
)
"""Words by which English is recognised."""
_FOREIGN = frozenset(
    "der die das und ist nicht ein eine einen dem den des mit für auf von zu im wird werden sich auch les "
    "une est dans pour pas que qui sur avec sont el los las una por para con del como más pero il lo gli che "
    "di non della sono het een niet van voor och att det som på är og på não uma os com".split()
)
SHORT = 8
"""Words below which a text need not hold a function word."""
_LEAST = 0.08


def looks_english(text: str) -> bool:
    """Whether the letters are Latin and, in a longer text, enough of the words are English function words."""
    letters = [c for c in text if c.isalpha()]
    if not letters or sum(c.isascii() for c in letters) < 0.9 * len(letters):
        return False
    words = [word.lower() for word in _WORD.findall(text)]
    english = sum(word in _COMMON for word in words)
    foreign = sum(word in _FOREIGN for word in words)
    if len(words) < SHORT:
        return foreign <= english or foreign == 0
    return english >= _LEAST * len(words) and english > foreign


@functools.cache
def _frequencies(language: str) -> Mapping[str, float]:
    from wordfreq import available_languages, get_frequency_dict

    is_listed = language in available_languages("best")
    return dict(get_frequency_dict(language, wordlist="best")) if is_listed else {}


def word_frequency(word: str, language: str | None) -> float:
    """Share of a lower-case word in texts of a language; 0 if it is not listed."""
    return _frequencies(language).get(word, 0.0) if language else 0.0


@functools.lru_cache(maxsize=65536)
def zipf(word: str) -> float:
    """log10 of the occurrences of a lower-case word per 10^9 words of English; 0 if it is not listed."""
    frequency = word_frequency(word, "en")
    return max(0.0, math.log10(frequency) + 9) if frequency else 0.0
