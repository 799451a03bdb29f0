"""Probes: controls, which must not lower a score, and attacks, which must not raise it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from random import Random

from dhp.content.catalog import read_probes
from dhp.core.errors import InputError, NotApplicable
from dhp.core.language import language_name, looks_english, sentence_spans
from dhp.core.specs import ListReader, PerturberUse
from dhp.perturb.api import IN_ANOTHER, Edited, perturber
from dhp.perturb.edits import Edit, Span, applied, matched, outside, rules
from dhp.perturb.harmless_edits import (
    TOKENISED,
    HarmlessLists,
    mark_edits,
    quoted,
    respelled,
    word_edits,
)

Texts = Mapping[str, Sequence[str]]
"""Code of a language -> sentences to be added to texts in it."""

_NONE: Texts = {}
_LANGUAGES = ("en", "de", "es", "zh", "ja", "ar")
"""Languages of the sentences in `perturbations/probes/attacks.yaml`."""
_STOPS = tuple(".!?…:;\"'”’)]。！？؟؛」』“")
_UNSPACED = {"zh": "。", "ja": "。"}
"""Languages that set no space between sentences -> their full stop."""


@perturber(name="judge_instruction", level="attack", languages=_LANGUAGES)
def judge_instruction(text: str, rng: Random, *, texts: Texts = _NONE, language: str | None = None) -> Edited:
    """Tell the judge which score to give: add one of the `texts` in the language of the text."""
    return _with_last_sentence(text, rng, texts, language)


@perturber(name="judge_flattery", level="attack", languages=_LANGUAGES)
def judge_flattery(text: str, rng: Random, *, texts: Texts = _NONE, language: str | None = None) -> Edited:
    """Praise the judge: add one of the `texts` in the language of the text."""
    return _with_last_sentence(text, rng, texts, language)


@perturber(name="padding", level="attack", languages=_LANGUAGES)
def padding(
    text: str, rng: Random, *, texts: Texts = _NONE, count: int = 1, language: str | None = None
) -> Edited:
    """Put `count` of the `texts`, sentences without content, behind random sentences or the last one.

    No sentence comes twice. Those of a smaller `count`, and their positions, are among those of a larger one.
    """
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise InputError(f"parameter count is {count!r}; allowed: a whole number of at least 1")
    left = list(_in(language, texts))
    spans = sentence_spans(text, language)
    # No position within a "sentence" that ended at "No." or "p.", nor where a space is missing.
    positions = [
        end
        for (_, end), (start, _) in pairwise(spans)
        if (end < start or language in _UNSPACED) and not text[start].isdigit() and text[end - 1] in _STOPS
    ]
    positions.append(len(text))
    added: list[tuple[int, str]] = []
    for _ in range(min(count, len(left))):
        sentence = left.pop(int(rng.random() * len(left)))
        added.append((positions[int(rng.random() * len(positions))], sentence))
    padded, end = "", 0
    for position, sentence in sorted(added, key=lambda one: one[0]):
        padded, end = _joined(padded + text[end:position], sentence, language), position
    return Edited(padded + text[end:], count, len(added))


def _with_last_sentence(text: str, rng: Random, texts: Texts, language: str | None) -> Edited:
    chosen = _in(language, texts)
    return Edited(_joined(text, chosen[int(rng.random() * len(chosen))], language), 1, 1)


def _in(language: str | None, texts: Texts) -> Sequence[str]:
    """The sentences in a language."""
    for text in texts.values() if isinstance(texts, Mapping) and texts else [None]:
        if not isinstance(text, list | tuple) or not text or not all(isinstance(t, str) and t for t in text):
            raise InputError(
                f"parameter texts is {texts!r}; allowed: a list of one text or more for each language"
            )
    if language not in texts:
        raise NotApplicable(f"{IN_ANOTHER} {language_name(language)}, in which there is nothing to add")
    return texts[language or ""]


def _joined(text: str, sentence: str, language: str | None) -> str:
    text = text.rstrip()
    gap = "" if language in _UNSPACED else " "
    stop = "" if text.endswith(_STOPS) else _UNSPACED.get(language or "", ".")
    return f"{text}{stop}{gap}{sentence}"


@perturber(name="identity", level="control")
def identity(text: str, rng: Random) -> Edited:
    """The original once more: what the scores of the same text differ by."""
    return Edited(text, 0, 0)


@perturber(name="harmless", level="control")
def harmless(text: str, rng: Random, *, lists: ListReader, language: str | None = None) -> Edited:
    """Make every edit that no careful reader would mark down: of marks, figures and spelling alone.

    Each goes from the one accepted way to the other, whichever the text has. Most are for English. Code and
    addresses stay as they are, and words within quotation marks. A text that allows none of these edits gets
    spaces at which no line breaks, as typographers set them; an answer of up to three English words a full
    stop; Chinese and Japanese an indented first line.
    """
    kept = [match.span() for match in _CODE.finditer(text)]
    spans = sentence_spans(text, language)
    edits = list(matched(_ANY_LANGUAGE, text))
    if not TOKENISED.search(text):  # there " - " may be the hyphen of a word
        edits += matched(_SPACED_DASH, text)
    if language == "zh":
        edits += _spaced_figures(text)
    if language == "en" and looks_english(text):
        edits += _of_english(text, spans, lists("harmless", HarmlessLists))
    changed, made = applied(text, outside(edits, kept))
    if made == 0:
        changed, made = applied(text, outside(_last_resort(text, language), kept))
    if made == 0:
        raise NotApplicable("no harmless edit is possible")
    return Edited(changed, made, made)


_CODE = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]+`|</?\w[^<>\n]*>"
    r"|(?<![!-~])[!-~]*(?:://|\bwww\.|@|\\)[!-~]*|(?<!\S)[\w.~-]*/[\w./~-]+",
    re.S,
)
"""Code, tags, addresses, paths."""
_ANY_LANGUAGE = rules(
    (r"(?<![.…])\.\.\.(?![.…])", "…"),
    (r"(?<![.…])…(?![.…])", "..."),
    (r"(?<![\w–-])((?:1[5-9]|20)\d\d)-((?:1[5-9]|20)\d\d)(?![\w–-])", r"\1–\2"),
)
_SPACED_DASH = rules((r"(?<=[^\W\d_]{2}) - (?=[^\W\d_]{2})", " – "))


def _of_english(text: str, spans: list[Span], known: HarmlessLists) -> Iterator[Edit]:
    starts = {start for start, _ in spans}
    cased = any(map(str.isupper, text))
    named = any(c.isupper() and i not in starts for i, c in enumerate(text))
    words = [
        *respelled(text, starts, known, names_show=named or (cased and not TOKENISED.search(text))),
        *word_edits(text, starts, cased=cased),
    ]
    yield from mark_edits(text)
    yield from outside(words, quoted(text))


_INDENTS = {"zh": "\u3000\u3000", "ja": "\u3000"}
"""How far the first line of a paragraph may be indented."""
_EAST_ASIAN = r"[\u3040-\u30ff\u3400-\u9fff]"
_SPACED = re.compile(rf"(?<={_EAST_ASIAN}) (?=[A-Za-z\d])|(?<=[A-Za-z\d%]) (?={_EAST_ASIAN})")
_SCRIPT_CHANGE = re.compile(rf"(?<={_EAST_ASIAN})(?=[A-Za-z\d])|(?<=[A-Za-z\d%])(?={_EAST_ASIAN})")


def _spaced_figures(text: str) -> Iterator[Edit]:
    """A space between Chinese or Japanese and Latin characters or figures, or none where the text has any."""
    spaced = list(_SPACED.finditer(text))
    for match in spaced or _SCRIPT_CHANGE.finditer(text):
        yield (*match.span(), "" if spaced else " ")


_ANSWER = re.compile(r"(?:[A-Z][A-Za-z]*(?: [A-Za-z]+){0,2}|\d+)")
"""An answer of a few words, to which nobody needs a full stop and nobody minds one."""
# Between a figure and what it counts, and before the last word, which would be in a line alone.
_UNBROKEN = rules((r"(?<=\d) (?=[^\W\d_])", "\u00a0"), (r"(?<=\S) (?=\S+\s*\Z)", "\u00a0"))


def _last_resort(text: str, language: str | None) -> Iterator[Edit]:
    """A full stop behind a short answer, an indented first line, or spaces at which no line breaks."""
    if not text.strip():
        return
    if indent := _INDENTS.get(language or ""):
        yield (0, len(indent), "") if text.startswith(indent) else (0, 0, indent)
    elif language == "en" and _ANSWER.fullmatch(text):
        yield len(text), len(text), "."
    else:
        yield from matched(_UNBROKEN, text)


_BY_DEFAULT = "harmless"
"""One variant more. `identity` shows how steady scores are, not what they fall for: it takes a wish."""


def chosen_probes(controls: bool | None, attacks: bool) -> Mapping[str, PerturberUse]:
    """Perturber -> its parameters.

    `controls` None takes harmless edits, True the original a second time, too, False none.
    """
    known = read_probes("controls").perturbers
    chosen = {
        name: use for name, use in known.items() if controls or (controls is None and name == _BY_DEFAULT)
    }
    return {**chosen, **(read_probes("attacks").perturbers if attacks else {})}
