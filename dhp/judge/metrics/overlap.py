"""Overlap of a text with one reference (ROUGE, BLEU, chrF, TER, METEOR's exact and stem matches), distinct-n.

The figures are those of the packages rouge-score, sacrebleu and nltk, in [0, 1].
"""

import math
from collections.abc import Callable, Mapping
from functools import cache, lru_cache, partial
from typing import Any

from dhp.core.errors import InputError
from dhp.core.text import words

Score = Callable[[str, str], float]
"""(text, reference) -> figure."""
PARTS = {"f": "fmeasure", "recall": "recall", "precision": "precision"}
"""What of ROUGE is reported."""
ROUGE = ("rouge1", "rouge2", "rougeL", "rougeLsum")


def overlap(name: str, part: str = "f") -> Score:
    """The function of a metric.

    Parameters
    ----------
    name
        `rouge1`, `rouge2`, `rougeL`, `rougeLsum`, `bleu`, `chrf`, `ter` or `meteor-exact`.
    part
        Of ROUGE: `f`, `recall` or `precision`.

    Returns
    -------
    Score
        In [0, 1] (TER may exceed 1), higher is better but for TER.

    Raises
    ------
    InputError
        Where the package that computes it is not installed.
    """
    if name in ROUGE:
        return _rouge(name, PARTS[part])
    return _meteor_exact if name == "meteor-exact" else partial(_by_sacrebleu, name.upper())


def need(package: str, metric: str) -> Any:
    """An optional package; raises `InputError` where it is not installed."""
    import importlib

    try:
        return importlib.import_module(package)
    except ImportError:
        raise InputError(
            f"metric/{metric}: needs the package {package.partition('.')[0].replace('_', '-')}; "
            'pip install "dhp-benchmark[metrics]"'
        ) from None


@cache
def _scorer(kind: str) -> Any:
    scorer = need("rouge_score.rouge_scorer", kind)
    return scorer.RougeScorer([kind], tokenizer=_StemsOnce())


class _StemsOnce:
    """rouge-score's own tokens with stems; a reference, met with the text of each system, is stemmed once."""

    def __init__(self) -> None:
        tokenizer = need("rouge_score.tokenizers", "rouge").DefaultTokenizer(use_stemmer=True)
        self.tokenize = lru_cache(maxsize=4096)(tokenizer.tokenize)


def _rouge(kind: str, part: str) -> Score:
    scorer = _scorer(kind)

    def score(text: str, reference: str) -> float:
        if kind == "rougeLsum":
            text, reference = _by_lines(text), _by_lines(reference)
        return float(getattr(scorer.score(reference, text)[kind], part))

    return score


@lru_cache(maxsize=4096)
def _by_lines(text: str) -> str:
    """One sentence per line, as rougeLsum wants it."""
    from dhp.core.text import sentences

    return "\n".join(sentences(text))


@cache
def _sacrebleu(name: str) -> Any:
    metrics = need("sacrebleu.metrics", name.lower())
    return getattr(metrics, name)(**({"effective_order": True} if name == "BLEU" else {}))


def _by_sacrebleu(name: str, text: str, reference: str) -> float:
    score = float(_sacrebleu(name).sentence_score(text, [reference]).score) / 100
    return min(1.0, score) if name == "BLEU" else score  # BLEU may be 100.00000000000004


class _NoSynonyms:
    """A replacement of WordNet, which nltk does not include: no word has synonyms."""

    @staticmethod
    def synsets(word: str) -> tuple[()]:
        return ()


def _meteor_exact(text: str, reference: str) -> float:
    from nltk.translate.meteor_score import single_meteor_score

    from dhp.core.text import words

    return float(single_meteor_score(words(reference), words(text), wordnet=_NoSynonyms()))


NAMES: Mapping[str, bool] = {
    **dict.fromkeys(ROUGE, True),
    "bleu": True,
    "chrf": True,
    "ter": False,
    "meteor-exact": True,
}
"""Name -> whether higher is better."""


def distinct(n: str) -> Score:
    """Distinct-n (Li et al. 2016): the number of different n-grams of words, divided by that of all words.

    Parameters
    ----------
    n
        Words in an n-gram: a whole number from 1.

    Returns
    -------
    Score
        In [0, 1]. Not a number for a text of fewer than `n` words.

    Raises
    ------
    InputError
        For another `n`.
    """
    if not n.isdecimal() or int(n) < 1:
        raise InputError(f"metric/distinct: n '{n}'; allowed: a whole number from 1")
    size = int(n)

    def score(text: str, _: str) -> float:
        own = words(text)
        if len(own) < size:
            return math.nan
        return len({tuple(own[i : i + size]) for i in range(len(own) - size + 1)}) / len(own)

    return score
