"""JSON in an answer: decoded whole, and read by its keys, never inside its strings.

`split` parts the objects of an answer from its words. Objects are decoded also if they are written
carelessly; what somebody else wrote is left out, and what its own keys take back. `of_rating` and
`of_metrics` look for the keys of a rating, in the object and one level below.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from re import Match
from typing import Any, NamedTuple

from dhp.judge.extraction.plain import AS_ASKED, SAYS, plain, unquoted
from dhp.judge.extraction.words import any_of, words_of

_MOST_OBJECTS = 200
"""Objects of an answer that are looked at, so that one of any length is read fast."""
_LAYERS = 3
"""How often braces around an object are taken off: prompts that show `{{"score": 4}}` are answered so."""
_BRACE = re.compile(r'[{}\[\]]|"(?:[^"\\]|\\.)*"|"', re.S)
"""A brace, a bracket, or a text between quotation marks, whose own braces count for nothing: `"a { b"`."""
_MENDED = re.compile(
    r'(?P<string>"(?:[^"\\]|\\.)*")'  # a text, in which nothing is mended
    r"|'(?P<single>(?:[^'\\]|\\.)*)'"  # 'text'
    r"|(?P<comment>//[^\n]*|/\*.*?\*/|#[^\n]*)"  # a comment as in JavaScript or Python
    r"|(?P<comma>,(?=\s*(?:(?://|#)[^\n]*\s*)*[}\]]))"  # {"score": 4,}
    r"|(?P<word>\b(?:None|True|False)\b)"
    r"|(?P<key>(?<=[{,\s])[A-Za-z_]\w*(?=\s*:))",  # {score: 4}
    re.S,
)
"""What makes careless JSON, and the texts in which nothing is mended."""
_WORDS = {"None": "null", "True": "true", "False": "false"}
"""Python's words and those of JSON."""
_LONE_BACKSLASH = re.compile(r'\\(?!["\\/bfnrt]|u[0-9a-fA-F]{4})')
"""A backslash that begins no escape of JSON, as in `\\alpha`."""
_SOMEBODY_SAYS = re.compile(
    rf"(?:{SAYS}|<tool_call|\[TOOL_CALLS|\bnot\b|\binstead\b|\bif\b|\bexample\b|e\.g\.)", re.I
)
"""Words before an object by which it is an example, a quotation or a call of a tool: `The format is e.g. `"""

SCORE_KEYS = frozenset(
    "score rating value grade mark stars points verdict answer label result judgement judgment"
    " bewertung punktzahl gesamtnote puntuación puntaje calificación punteggio voto pontuação оценка балл"
    " 评分 得分 分数 总分 評価 スコア 点数 評点 점수 평점 평가".split()
)
"""Words of keys that hold a rating."""
_OF_WHOLE = frozenset("final overall total my the".split())
"""Words that may stand beside them."""
_CHANGED = frozenset("revised adjusted updated corrected new after net".split())
"""Words of a key that give a second rating beside the first one: `revised_score`."""
_WRAPPERS = frozenset("evaluation assessment output response data feedback review analysis summary".split())
"""Keys of an object that holds the whole answer."""
_SCALE = re.compile(r"[(\[][^()\[\]]*[)\]]")
"""The scale in a key, ` (1-5)` of `Coherence (1-5)`."""
_REMARKS = frozenset("status state note remark comment".split())
"""Keys whose text may say that the rating is void."""
_NAMING_KEYS = ("metric", "name", "criterion", "aspect", "dimension", "criteria", "category", "key")
"""Keys that hold the name of a metric: `{"metric": "coherence", "score": 4}`."""
_CASE_CHANGE = re.compile(r"(?<=[a-z])(?=[A-Z])")
"""Where a word of `finalScore` ends."""


class Part(NamedTuple):
    """An object in an answer, and where it stands."""

    value: Any
    start: int
    end: int


def split(text: str, high: float = math.nan) -> tuple[list[Any], str]:
    """The judge's own objects in an answer, and its words outside of all objects, plain and unquoted.

    `high` is the upper end of the scale, if there is one.
    """
    parts = _objects(text)
    words = unquoted(plain(_without_objects(text, parts)))
    return _own(text, parts, high), words


def own_objects(text: str) -> list[Any]:
    """The objects that the judge wrote itself, and that do not take their own rating back."""
    return _own(text, _objects(text), math.nan)


def _objects(text: str) -> list[Part]:
    """The outermost JSON objects of a text and lists of objects, as far as they can be decoded."""
    if "{" not in text:
        return []
    parts: list[Part] = []
    for start, end in _spans(text):
        value = _decoded(text[start:end])
        first = value[0] if isinstance(value, list) and value else value
        if isinstance(first, dict):
            parts.append(Part(value, start, end))
    return parts


def _own(text: str, parts: Sequence[Part], high: float) -> list[Any]:
    """The values that the judge wrote itself, and does not take back."""
    values = []
    for part in parts:
        if not _somebody_says(text, part.start) and not _is_disputed(part.value, high):
            values.append(part.value)
    return values


def _somebody_says(text: str, start: int) -> bool:
    """Whether the sentence before an object, or the line above it, says that somebody else wrote it."""
    lead = re.sub(r"`+\w*\s*\Z", "", text[max(0, start - 300) : start])  # without the opening of a code block
    *lines_above, before = lead.split("\n")
    if not before.strip():
        filled = [line for line in lines_above if line.strip()]
        if filled and filled[-1].rstrip().endswith(":"):  # `The text ends with:`
            before = filled[-1]
    sentence = re.split(r"[.!?](?:\s+|\Z)", before)[-1]
    return _SOMEBODY_SAYS.search(AS_ASKED.sub("", sentence)) is not None


_OF_SCALE = frozenset("scale range max maximum highest upper top denominator out".split())
"""Words of keys that name the scale: `max_score`, `out_of`."""
_BESIDE_SCALE = _OF_SCALE | frozenset("of score rating points value possible limit end is the".split())
"""All words that such a key may have."""
_NOTHING = frozenset(("", "0", "0.0", "no", "none", "null", "false", "n/a", "ok"))
"""Texts by which a key says nothing: `{"score": 4, "error": "none"}`."""
_VOID = re.compile(rf"\W*(?:an? |only |just )?{any_of('void')}\W*", re.I)
"""A remark that the rating is void: `a draft`, `Pending.`"""


def _is_disputed(value: object, high: float) -> bool:
    """Whether keys beside the rating take it back, change it, or name another scale.

    The keys of an object within it count, too, if there is only one.
    """
    if not isinstance(value, dict):
        return False
    for key, inner in value.items():
        words = frozenset(key_words(str(key)))
        names_the_scale = words & _OF_SCALE and words <= _BESIDE_SCALE  # `scale`, `max_score`
        numbers = re.findall(r"\d+(?:\.\d+)?", str(inner))  # of `1 to 10` the last is the upper end
        if names_the_scale and numbers and not math.isnan(high) and float(numbers[-1]) != high:
            return True
        text = (as_text(inner) or "").strip().lower()
        if words & words_of("denying_keys") and text not in _NOTHING:  # `"error": "no text"`
            return True
        if words & words_of("affirming_keys") and text in ("no", "false"):  # `"valid": false`
            return True
        if words & _REMARKS and text not in _NOTHING and _VOID.fullmatch(text):
            return True
    within = [inner for inner in value.values() if isinstance(inner, dict)]
    return len(within) == 1 and _is_disputed(within[0], high)


def _without_objects(text: str, parts: Sequence[Part]) -> str:
    """The text with a quotation mark instead of each object."""
    kept, start = "", 0
    for part in parts:
        kept += text[start : part.start] + "“”"
        start = part.end
    return kept + text[start:]


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Where braces or brackets open and the same one closes, the outermost ones."""
    depth = start = count = 0
    for mark in _BRACE.finditer(text):
        sign = mark[0][0]  # a text in quotation marks is one mark: braces in it count for nothing
        if sign in "{[":
            if depth == 0:
                start = mark.start()
            depth += 1
        elif sign in "}]" and depth:
            depth -= 1
            if depth == 0:
                yield start, mark.end()
                count += 1
                if count == _MOST_OBJECTS:
                    return


def _decoded(text: str) -> Any:
    """The value of a JSON text, also if it is written carelessly; None if it is no JSON at all."""
    if "{" not in text:
        return None
    for _ in range(_LAYERS):
        mended = _LONE_BACKSLASH.sub(r"\\\\", _MENDED.sub(_mended, text))
        for each in (text, mended):
            try:
                return json.loads(each, strict=False)  # lines may break inside a text
            except (ValueError, RecursionError):
                continue
        has_double_braces = text.startswith("{") and text[1:].lstrip().startswith("{")
        if not has_double_braces:
            return None
        text = text[1:-1].strip()
    return None


def _mended(match: Match[str]) -> str:
    """A piece of careless JSON as it should be written."""
    if match["string"]:
        return match[0]
    if match["single"] is not None:
        inner = match["single"].replace("\\'", "'").replace('"', '\\"')
        return f'"{inner}"'
    if match["word"]:
        return _WORDS[match[0]]
    if match["key"]:
        return f'"{match[0]}"'
    return ""  # a comment, or a comma too many


def key_words(key: str) -> list[str]:
    """The words of a key in small letters: of `finalScore` and `final_score` the same."""
    parted = _CASE_CHANGE.sub(" ", key)
    return re.sub(r"[\W_]+", " ", parted).lower().split()


def as_text(value: object, keys: frozenset[str] = SCORE_KEYS) -> str | None:
    """A value as text; of an object the value of its one rating. None for anything else."""
    if isinstance(value, dict):
        ratings = []
        for key, inner in value.items():
            if _is_rating_key(key_words(str(key)), keys):
                ratings.append(inner)
        return as_text(ratings[0], frozenset()) if len(ratings) == 1 else None
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value) if isinstance(value, int | float | str) else None


def _is_rating_key(words: Sequence[str], keys: frozenset[str]) -> bool:
    """Whether a key names a rating and nothing else: `score`, `final_rating`, but not `max_score`."""
    rest = [word for word in words if word not in _OF_WHOLE]
    if not _CHANGED.isdisjoint(rest):  # `revised_score`, which then contradicts `score`
        return not keys.isdisjoint(rest)
    if rest or not words:
        return len(rest) == 1 and rest[0] in keys
    return "my" not in words and keys is SCORE_KEYS  # `overall` alone names a score, and no verdict


def of_rating(
    value: Any, names: Sequence[str], keys: frozenset[str] = SCORE_KEYS, known: Sequence[str] = ()
) -> set[str]:
    """What an object says the rating is, by its keys and those one level below.

    Several texts if it contradicts itself. A key that is one of `names` counts first, then one of ratings,
    then one of `known`.
    """
    of_names: set[str] = set()
    of_ratings: set[str] = set()
    of_known: set[str] = set()
    for key, inner in _pairs(value):
        text = as_text(inner)
        if text is None:
            continue
        named = key_words(_SCALE.sub("", key))
        if _names_metric(named, names):
            of_names.add(text)
        if _is_rating_key(key_words(key), keys):
            of_ratings.add(text)
        if _names_metric(named, known):
            of_known.add(text)
    return of_names or of_ratings or of_known


def of_metrics(value: Any, metrics: Mapping[str, str]) -> dict[str, str]:
    """Metric -> what an object says of it; `metrics` has the name of each -> what it is called in prompts."""
    by_metric: dict[str, str] = {}
    for key, inner in _pairs(value):
        text = as_text(inner)
        if text is None:
            continue
        named = key_words(_SCALE.sub("", key))
        for name, label in metrics.items():
            if _names_metric(named, (name, label)):
                by_metric[name] = text
    if not by_metric and len(metrics) == 1:  # `score` alone is enough
        texts = of_rating(value, ())
        return dict.fromkeys(metrics, texts.pop()) if len(texts) == 1 else {}
    return by_metric


def _names_metric(words: Sequence[str], names: Sequence[str]) -> bool:
    """Whether the words of a key are one of the names, `_score` and the like behind it or not."""
    written = {"".join(words)}
    if len(words) > 1 and words[-1] in ("score", "rating", "grade"):
        written.add("".join(words[:-1]))
    joined = {"".join(key_words(name)) for name in names}
    return not joined.isdisjoint(written)


def _pairs(value: Any) -> Iterator[tuple[str, Any]]:
    """The keys of an object, and of those within it; of a list of objects with names those names."""
    if isinstance(value, list):
        for each in value:
            name = _name_in(each)
            if name is not None:
                yield name, _without_name(each)
            elif len(value) == 1:
                yield from _pairs(each)
    elif isinstance(value, dict):
        name = _name_in(value)
        if name is not None and name.lower() in words_of("criteria"):
            yield name, _without_name(value)
        else:
            yield from _pairs_of_keys(value)


def _name_in(value: Any) -> str | None:
    """The metric that an object says it is about: `{"metric": "coherence", "score": 4}`."""
    if not isinstance(value, dict):
        return None
    for key in _NAMING_KEYS:
        name = value.get(key)
        if isinstance(name, str):
            return name
    return None


def _without_name(value: Mapping[Any, Any]) -> dict[Any, Any]:
    """An object without the keys that may hold the name of its metric."""
    return {key: inner for key, inner in value.items() if key not in _NAMING_KEYS}


def _pairs_of_keys(value: Mapping[Any, Any]) -> Iterator[tuple[str, Any]]:
    """The keys of an object, and of those within it that have no rating of their own."""
    for key, inner in value.items():
        yield str(key), inner
        if isinstance(inner, list):
            yield from _pairs(inner)
        elif not isinstance(inner, dict):
            continue
        elif _WRAPPERS.issuperset(key_words(str(key))):
            yield from _pairs(inner)
        elif as_text(inner) is None:  # no rating of its own: its keys may be those of metrics
            for inner_key, inner_value in inner.items():
                if not isinstance(inner_value, list):
                    yield str(inner_key), inner_value
