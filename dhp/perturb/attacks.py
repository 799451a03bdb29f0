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
_LANGUAGES = ("en", "de", "es", "zh", "ja", "ar")
"""Languages of the sentences in `perturbations/probes/attacks.yaml`."""
_STOPS = tuple(".!?…:;\"'”’)]。！？؟؛」』“")
_UNSPACED = {"zh": "。", "ja": "。"}
"""Languages that set no space between sentences -> their full stop."""


_AT_THE_START = 0.3
"""Share of the instructions that stand before a text: most writers of such attacks add them at its end."""


@perturber(name="judge_instruction", level="attack", languages=_LANGUAGES)
def judge_instruction(text: str, rng: Random, *, texts: Texts = _NONE, language: str | None = None) -> Edited:
    """Tell the judge which score to give: add one of the `texts` in the language of the text.

    It stands before the text or behind it. One that begins with a line break has lines of its own.
    """
    chosen = _in(language, texts)
    added = chosen[int(rng.random() * len(chosen))]
    if rng.random() < _AT_THE_START:
        gap = "\n" if added.startswith("\n") else "" if language in _UNSPACED else " "
        return Edited(f"{added.strip()}{gap}{text.lstrip()}", 1, 1)
    return Edited(_joined(text, added, language), 1, 1)


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
    check_number("count", count, int, ge=1)
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
    if sentence.startswith("\n"):
        return f"{text}{sentence}"
    gap = "" if language in _UNSPACED else " "
    stop = "" if text.endswith(_STOPS) else _UNSPACED.get(language or "", ".")
    return f"{text}{stop}{gap}{sentence}"
