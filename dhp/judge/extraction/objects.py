"""JSON in an answer: decoded whole, and read by its keys, never inside its strings.

`objects` finds what is JSON and decodes it, also if it is written carelessly. `own_objects` leaves out what
somebody else wrote, and what its own keys take back. `of_rating` and `of_metrics` look for the keys of a
rating, in the object and one level below.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from re import Match
from typing import Any, NamedTuple

from dhp.judge.extraction.plain import AS_ASKED, SAYS
from dhp.judge.extraction.words import any_of, words_of

_MOST_OBJECTS = 200
_LAYERS = 3
"""How often braces around an object are taken off: prompts that show `{{"score": 4}}` are answered so."""
_BRACE = re.compile(r'[{}\[\]]|"(?:[^"\\]|\\.)*"|"', re.S)
_MENDED = re.compile(
    r'(?P<string>"(?:[^"\\]|\\.)*")'
    r"|'(?P<single>(?:[^'\\]|\\.)*)'"
    r"|(?P<comment>//[^\n]*|/\*.*?\*/|#[^\n]*)"
    r"|(?P<comma>,(?=\s*(?:(?://|#)[^\n]*\s*)*[}\]]))"
    r"|(?P<word>\b(?:None|True|False)\b)"
    r"|(?P<key>(?<=[{,\s])[A-Za-z_]\w*(?=\s*:))",
    re.S,
)
_WORDS = {"None": "null", "True": "true", "False": "false"}
_LONE_BACKSLASH = re.compile(r'\\(?!["\\/bfnrt]|u[0-9a-fA-F]{4})')
_SOMEBODY_SAYS = re.compile(
    rf"(?:{SAYS}|<tool_call|\[TOOL_CALLS|\bnot\b|\binstead\b|\bif\b|\bexample\b|e\.g\.)", re.I
)

SCORE_KEYS = frozenset(
    "score rating value grade mark stars points verdict answer label result judgement judgment"
    " bewertung punktzahl gesamtnote puntuación puntaje calificación punteggio voto pontuação оценка балл"
    " 评分 得分 分数 总分 評価 スコア 点数 評点 점수 평점 평가".split()
)
_OF_WHOLE = frozenset("final overall total my the".split())
_CHANGED = frozenset("revised adjusted updated corrected new after net".split())
_WRAPPERS = frozenset("evaluation assessment output response data feedback review analysis summary".split())
"""Keys of an object that holds the whole answer."""
_SCALE = re.compile(r"[(\[][^()\[\]]*[)\]]")
"""`Coherence (1-5)`"""
_REMARKS = frozenset("status state note remark comment".split())
_NAMING_KEYS = ("metric", "name", "criterion", "aspect", "dimension", "criteria", "category", "key")


class Part(NamedTuple):
    """An object in an answer, and where it stands."""

    value: Any
    start: int
    end: int


def objects(text: str) -> list[Part]:
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


def own_objects(text: str, parts: Sequence[Part], high: float = math.nan) -> Iterator[Any]:
    """The objects that the judge wrote itself, and that do not take their own rating back.

    `high` is the upper end of the scale, if there is one.
    """
    for part in parts:
        if not _somebody_says(text, part.start) and not _is_disputed(part.value, high):
            yield part.value


def _somebody_says(text: str, start: int) -> bool:
    """Whether the sentence before an object, or the line above it, says that somebody else wrote it."""
    lead = re.sub(r"`+\w*\s*\Z", "", text[max(0, start - 300) : start])  # without the opening of a code block
    *lines, before = lead.split("\n")
    above = next((line for line in reversed(lines) if line.strip()), "")
    if not before.strip() and above.rstrip().endswith(":"):
        before = above
    sentence = re.split(r"[.!?](?:\s+|\Z)", before)[-1]
    return _SOMEBODY_SAYS.search(AS_ASKED.sub("", sentence)) is not None


_OF_SCALE = frozenset("scale range max maximum highest upper top denominator out".split())
_BESIDE_SCALE = _OF_SCALE | frozenset("of score rating points value possible limit end is the".split())
_NOTHING = frozenset(("", "0", "0.0", "no", "none", "null", "false", "n/a", "ok"))
_VOID = re.compile(rf"\W*(?:an? |only |just )?{any_of('void')}\W*", re.I)


def _is_disputed(value: object, high: float) -> bool:
    """Whether keys beside the rating take it back, change it, or name another scale.

    The keys of an object within it count, too, if there is only one.
    """
    if not isinstance(value, dict):
        return False
    for key, inner in value.items():
        words = frozenset(key_words(str(key)))
        names_the_scale = words & _OF_SCALE and words <= _BESIDE_SCALE  # `scale`, `max_score`
        numbers = re.findall(r"\d+(?:\.\d+)?", str(inner))
        if names_the_scale and numbers and not math.isnan(high) and float(numbers[-1]) != high:
            return True
        text = (as_text(inner) or "").strip().lower()
        if words & words_of("denying_keys") and text not in _NOTHING:
            return True
        if words & words_of("affirming_keys") and text in ("no", "false"):
            return True
        if words & _REMARKS and text not in _NOTHING and _VOID.fullmatch(text):
            return True
    within = [inner for inner in value.values() if isinstance(inner, dict)]
    return len(within) == 1 and _is_disputed(within[0], high)


def without_objects(text: str, parts: Sequence[Part]) -> str:
    """The text with a quotation mark instead of each object."""
    kept, start = [], 0
    for part in parts:
        kept += [text[start : part.start], "“”"]
        start = part.end
    return "".join([*kept, text[start:]])


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
        if not (text.startswith("{") and text[1:].lstrip().startswith("{")):
            return None
        text = text[1:-1].strip()
    return None


def _mended(match: Match[str]) -> str:
    if match["string"]:
        return match[0]
    if match["single"] is not None:
        return '"' + match["single"].replace("\\'", "'").replace('"', '\\"') + '"'
    if match["word"]:
        return _WORDS[match[0]]
    return f'"{match[0]}"' if match["key"] else ""


def key_words(key: str) -> list[str]:
    """The words of a key in small letters: of `finalScore` and `final_score` the same."""
    return re.sub(r"[\W_]+", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", key)).lower().split()


def as_text(value: object, keys: frozenset[str] = SCORE_KEYS) -> str | None:
    """A value as text; of an object the value of its one rating. None for anything else."""
    if isinstance(value, dict):
        ratings = [inner for key, inner in value.items() if _is_rating_key(key_words(str(key)), keys)]
        return as_text(ratings[0], frozenset()) if len(ratings) == 1 else None
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value) if isinstance(value, int | float | str) else None


def _is_rating_key(words: Sequence[str], keys: frozenset[str]) -> bool:
    """Whether a key names a rating and nothing else: `score`, `final_rating`, but not `max_score`."""
    rest = [word for word in words if word not in _OF_WHOLE]
    if not _CHANGED.isdisjoint(rest):
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
        text, named = as_text(inner), key_words(_SCALE.sub("", key))
        for name, label in metrics.items():
            if text is not None and _names_metric(named, (name, label)):
                by_metric[name] = text
    if not by_metric and len(metrics) == 1:
        texts = of_rating(value, ())
        return dict.fromkeys(metrics, texts.pop()) if len(texts) == 1 else {}
    return by_metric


def _names_metric(words: Sequence[str], names: Sequence[str]) -> bool:
    """Whether the words of a key are one of the names, `_score` and the like behind it or not."""
    written = {"".join(words)}
    if len(words) > 1 and words[-1] in ("score", "rating", "grade"):
        written.add("".join(words[:-1]))
    return any("".join(key_words(name)) in written for name in names)


def _pairs(value: Any) -> Iterator[tuple[str, Any]]:
    """The keys of an object, and of those within it; of a list of objects with names those names."""
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, dict):
            name = next((each[key] for key in _NAMING_KEYS if isinstance(each.get(key), str)), None)
            if name is not None and (each is not value or name.lower() in words_of("criteria")):
                yield name, {k: v for k, v in each.items() if k not in _NAMING_KEYS}
                value = None  # its other keys are of that metric: `{"metric": "coherence", "score": 4}`
            elif isinstance(value, list) and len(value) == 1:
                yield from _pairs(each)
    for key, inner in value.items() if isinstance(value, dict) else ():
        yield str(key), inner
        if isinstance(inner, dict) and _WRAPPERS.issuperset(key_words(str(key))):
            yield from _pairs(inner)
        elif isinstance(inner, dict) and as_text(inner) is None:
            yield from ((str(k), v) for k, v in inner.items() if not isinstance(v, list))
        elif isinstance(inner, list):
            yield from _pairs(inner)
