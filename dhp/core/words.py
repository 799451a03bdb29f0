"""Bounds of the words of a text, and how common a word is.

Words of Chinese, Japanese and Thai, which set no spaces, are those of BudouX: docs/languages.md says why.
"""

import functools
import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dhp.core.errors import NotApplicable
from dhp.core.language import CJK, HAN, WITHOUT_SPACES, language_name
from dhp.core.nltk_modules import nltk_module
from dhp.core.sentences import Span, sentences

SEGMENTED = {"ja": "ja", "zh": "zh-hans", "th": "th"}
"""Languages without spaces that can be split into words -> the model of BudouX."""
# One Chinese or Japanese character, or whatever else stands between white space: `well-known,`
_TOKEN = re.compile(rf"[{CJK}]|[^\s{CJK}]+")
_WORD_CHARACTER = re.compile(r"\w")
# Common characters that are written otherwise in simplified Chinese.
_TRADITIONAL = frozenset("們個這來說時國會學對後為過與們還")


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
    if language == "zh" and any(c in _TRADITIONAL for c in text):  # no simplified text has any of these
        model = "zh-hant"
    spans = []
    for run in re.finditer(r"\S+", text):
        # BudouX gives pieces without their places: these follow from their lengths.
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
        return list(itertools.chain.from_iterable(map(_noun_and_particle, whole)))
    return whole


_PARTICLES = (
    "は が を に で と へ も の や から まで より では には とは へは にも でも とも への との での からの "
    "までの"
).split()
_BEHIND_NOUN = re.compile(
    rf"(?<=[{HAN}\u30a1-\u30fcA-Za-z0-9０-９Ａ-ｚ々%％」』）)])(?:{'|'.join(_PARTICLES)})(?=[、。，．！？]*$)"
)


def _noun_and_particle(chunk: str) -> tuple[str, ...]:
    """A Japanese bunsetsu, in two if a particle stands behind what is no hiragana: 図書館を."""
    particle = _BEHIND_NOUN.search(chunk)
    return (chunk[: particle.start()], chunk[particle.start() :]) if particle else (chunk,)


# Characters of the longest listed word that is looked for.
_LONGEST_CHINESE_WORD = 5
_RARE = math.log(1e-8)
"""Logarithm of the share of a Chinese character that is not listed as a word."""


def _with_whole_chinese_words(chunks: Sequence[str]) -> list[str]:
    """The chunks, joined if one ends within a word of the likeliest division into listed words."""
    run = "".join(chunks)
    inside = _inside_words(run)
    whole: list[str] = []
    end = 0
    for chunk in chunks:
        # `end` is where the chunk begins: within a word it goes on with the chunk before it.
        if end in inside:
            whole[-1] += chunk
        else:
            whole.append(chunk)
        end += len(chunk)
    return whole


def _inside_words(run: str) -> set[int]:
    """The positions within words if a text is divided so that the product of their frequencies is highest."""
    known = _chinese_logs()
    # For each end: the sum of logarithms of the likeliest words up to it, and where the last one starts.
    best, starts = [0.0], [0]
    for end in range(1, len(run) + 1):
        # First the last character by itself, then each longer word that ends here.
        start = end - 1
        likely = best[start] + known.get(run[start], _RARE)
        for longer in range(max(0, end - _LONGEST_CHINESE_WORD), start):
            word = known.get(run[longer:end])
            if word is not None and best[longer] + word > likely:
                start, likely = longer, best[longer] + word
        best.append(likely)
        starts.append(start)
    # Back from the end, word by word.
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


# A character of `GPT-4`, `C++` or `3.5`, which BudouX may cut.
_LATIN = re.compile(r"[A-Za-z0-9_.+#-]")


def _with_whole_latin_words(chunks: Iterable[str]) -> list[str]:
    """The chunks, each with all of a word of Latin letters, or of a number, that begins in it."""
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


def words(text: str) -> list[str]:
    """Tokens of NLTK's word tokeniser that hold a letter or digit; punctuation marks do not count."""
    tokens: list[str] = []
    for sentence in sentences(text):
        tokens += _treebank().tokenize(sentence)
    return [token for token in tokens if any(map(str.isalnum, token))]


@functools.cache
def _treebank() -> Any:
    return nltk_module("nltk.tokenize.destructive").NLTKWordTokenizer()


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
