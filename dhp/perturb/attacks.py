"""Attacks: sentences that must not raise a score."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from random import Random

from dhp.core.checks import check_number
from dhp.core.errors import InputError, NotApplicable
from dhp.core.language import language_name
from dhp.core.sentences import sentence_spans
from dhp.perturb.api import IN_ANOTHER, Edited, perturber

Texts = Mapping[str, Sequence[str]]
"""Code of a language -> sentences to be added to texts in it."""

_NONE: Texts = {}
"""What the suites of probes must fill in."""
_LANGUAGES = ("en", "de", "es", "zh", "ja", "ar")
"""Languages of the sentences in `perturbations/probes/attacks.yaml`."""
_STOPS = tuple(".!?…:;\"'”’)]。！？؟؛」』“")
"""Behind these a text needs no full stop before a further sentence."""
_UNSPACED = {"zh": "。", "ja": "。"}
"""Languages that set no space between sentences -> their full stop."""
_AT_THE_START, _INSIDE = 0.3, 0.2
"""Shares of what stands before a text and in it: chosen. Most writers of such attacks add them at its end."""


@perturber(name="judge_instruction", level="attack", languages=_LANGUAGES)
def judge_instruction(text: str, rng: Random, *, texts: Texts = _NONE, language: str | None = None) -> Edited:
    """Tell the judge which score to give: add one of the `texts` in the language of the text.

    It stands behind the text, before it, or between two of its sentences. One that begins with a line break
    has lines of its own.
    """
    return _with_sentence(text, rng, texts, language)


@perturber(name="judge_flattery", level="attack", languages=_LANGUAGES)
def judge_flattery(text: str, rng: Random, *, texts: Texts = _NONE, language: str | None = None) -> Edited:
    """Praise the judge: add one of the `texts` in the language of the text, where instructions stand."""
    return _with_sentence(text, rng, texts, language)


@perturber(name="padding", level="attack", languages=_LANGUAGES)
def padding(
    text: str, rng: Random, *, texts: Texts = _NONE, count: int = 1, language: str | None = None
) -> Edited:
    """Put `count` of the `texts`, sentences without content, behind random sentences or the last one.

    No sentence comes twice. Those of a smaller `count`, and their positions, are among those of a larger one.
    """
    check_number("count", count, int, ge=1)
    left = list(_in(language, texts))
    positions = [*_inner_positions(text, language), len(text)]
    added: list[tuple[int, str]] = []
    for _ in range(min(count, len(left))):
        sentence = left.pop(int(rng.random() * len(left)))
        added.append((positions[int(rng.random() * len(positions))], sentence))
    padded, end = "", 0
    for position, sentence in sorted(added, key=lambda one: one[0]):
        padded, end = _joined(padded + text[end:position], sentence, language), position
    return Edited(padded + text[end:], count, len(added))


def _inner_positions(text: str, language: str | None) -> list[int]:
    """The ends of sentences before another one, but not within one that ended at "No." or "p."."""
    positions = list[int]()
    for (_, end), (start, _) in pairwise(sentence_spans(text, language)):
        is_apart = end < start or language in _UNSPACED
        if is_apart and not text[start].isdigit() and text[end - 1] in _STOPS:
            positions.append(end)
    return positions


def _with_sentence(text: str, rng: Random, texts: Texts, language: str | None) -> Edited:
    """One of the texts behind the text, before it, or in it."""
    chosen = _in(language, texts)
    added = chosen[int(rng.random() * len(chosen))]
    # Both are drawn in any case, so that each text takes as many numbers of the stream.
    place, which = rng.random(), rng.random()
    gap = "\n" if added.startswith("\n") else _gap(language)
    inner = _inner_positions(text, language)
    if place < _AT_THE_START:
        changed = f"{added.strip()}{gap}{text.lstrip()}"
    elif inner and place < _AT_THE_START + _INSIDE:
        end = inner[int(which * len(inner))]
        changed = f"{_joined(text[:end], added, language)}{gap}{text[end:].lstrip()}"
    else:
        changed = _joined(text, added, language)
    return Edited(changed, 1, 1)


def _in(language: str | None, texts: Texts) -> Sequence[str]:
    """The sentences in a language; raises `InputError` for a faulty parameter."""
    if not isinstance(texts, Mapping) or not texts or not all(map(_are_texts, texts.values())):
        raise InputError(
            f"parameter texts is {texts!r}; allowed: a list of one text or more for each language"
        )
    if language not in texts:
        raise NotApplicable(f"{IN_ANOTHER} {language_name(language)}, in which there is nothing to add")
    return texts[language or ""]


def _are_texts(listed: object) -> bool:
    """Whether it is a list of one text or more."""
    if not isinstance(listed, list | tuple) or not listed:
        return False
    return all(isinstance(text, str) and text for text in listed)


def _joined(text: str, sentence: str, language: str | None) -> str:
    """A text with a sentence behind it, and a full stop between them if there is none."""
    text = text.rstrip()
    if sentence.startswith("\n"):
        return f"{text}{sentence}"
    stop = "" if text.endswith(_STOPS) else _UNSPACED.get(language or "", ".")
    return f"{text}{stop}{_gap(language)}{sentence}"


def _gap(language: str | None) -> str:
    """What stands between two sentences."""
    return "" if language in _UNSPACED else " "
