"""Classical metrics as judges, `metric/NAME`: overlap with a reference, likelihood by a local model.

The figures are those of the packages rouge-score, sacrebleu and nltk, in [0, 1]. `metric_judge` reads the
name and its settings and takes the function of that metric; `MetricJudge` compares each text by it with its
references or its source.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from importlib import import_module
from pathlib import Path
from statistics import fmean
from typing import Any

from dhp.core.errors import InputError, one_of, require
from dhp.core.records import Candidate, Rating
from dhp.core.sentences import prose_sentences
from dhp.core.specs import Scale, Task
from dhp.core.words import words
from dhp.judge.api import WIDE, Judge, computed_task, metric_name, split_settings
from dhp.plugins.metrics import NAMES

Score = Callable[[str, str], float]
"""(text, reference) -> figure."""
PARTS = {"f": "fmeasure", "recall": "recall", "precision": "precision"}
"""Setting `part` of ROUGE -> its name in the package."""
ROUGE = ("rouge1", "rouge2", "rougeL", "rougeLsum")


def overlap(name: str, part: str = "f") -> Score:
    """The function of a metric.

    It is one of `rouge1`, `rouge2`, `rougeL`, `rougeLsum` (of which `part` is `f`, `recall` or `precision`),
    `bleu`, `chrf`, `ter` and `meteor-exact`. Scores are in [0, 1] (TER may exceed 1); higher is better but
    for TER. Raises `InputError` if the package that computes it is not installed.
    """
    if name in ROUGE:
        return _rouge(name, PARTS[part])
    return _meteor_exact if name == "meteor-exact" else partial(_by_sacrebleu, name.upper())


@cache
def _scorer(kind: str) -> Any:
    require("rouge-score", purpose=f"metric/{kind}", extra="metrics")
    return import_module("rouge_score.rouge_scorer").RougeScorer([kind], tokenizer=_StemsOnce())


class _StemsOnce:
    """rouge-score's own tokens with stems; a reference, met with the text of each system, is stemmed once."""

    def __init__(self) -> None:
        tokenizer = import_module("rouge_score.tokenizers").DefaultTokenizer(use_stemmer=True)
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
    return "\n".join(prose_sentences(text))


@cache
def _sacrebleu(name: str) -> Any:
    require("sacrebleu", purpose=f"metric/{name.lower()}", extra="metrics")
    metrics = import_module("sacrebleu.metrics")
    # Else a text without a common four-gram has a BLEU of 0, as nearly all single sentences have.
    settings = {"effective_order": True} if name == "BLEU" else {}
    return getattr(metrics, name)(**settings)


def _by_sacrebleu(name: str, text: str, reference: str) -> float:
    score = float(_sacrebleu(name).sentence_score(text, [reference]).score) / 100
    # BLEU may be 100.00000000000004; TER may exceed 1 by right.
    return min(1.0, score) if name == "BLEU" else score


class _NoSynonyms:
    """A replacement of WordNet, which nltk does not include: no word has synonyms, hence `meteor-exact`."""

    @staticmethod
    def synsets(word: str) -> tuple[()]:
        return ()


def _meteor_exact(text: str, reference: str) -> float:
    from nltk.translate.meteor_score import single_meteor_score

    return float(single_meteor_score(words(reference), words(text), wordnet=_NoSynonyms()))


OVERLAPS: Mapping[str, bool] = {
    **dict.fromkeys(ROUGE, True),
    "bleu": True,
    "chrf": True,
    "ter": False,
    "meteor-exact": True,
}
"""Name -> whether higher is better."""


def distinct(n: str) -> Score:
    """Distinct-n (Li et al. 2016): the number of different n-grams of words, divided by that of all words.

    `n` is a whole number from 1, else `InputError`. Not a number for a text of fewer than `n` words.
    """
    if not n.isdecimal() or int(n) < 1:
        raise InputError(f"metric/distinct: n '{n}'; must be a whole number from 1")
    size = int(n)

    def score(text: str, _: str) -> float:
        tokens = words(text)
        if len(tokens) < size:
            return math.nan
        different = set()
        for start in range(len(tokens) - size + 1):
            different.add(tuple(tokens[start : start + size]))
        return len(different) / len(tokens)

    return score


LIKELIHOODS = ("bartscore", "loglikelihood", "perplexity")


def bertscore(path: str, layers: str) -> Score:
    """BERTScore's F (Zhang et al. 2020) by the package bert-score, in [0, 1].

    `path` is the folder of the model and `layers` the number of the layer whose outputs are compared. Raises
    `InputError` without them or the package.
    """
    folder = _folder("bertscore", path)
    if not layers.isdigit() or int(layers) < 1:
        raise InputError(f"metric/bertscore: layers '{layers}'; must be a whole number from 1")
    require("bert-score", purpose="metric/bertscore")
    scorer = import_module("bert_score").BERTScorer(model_type=folder, num_layers=int(layers))

    def score(text: str, reference: str) -> float:
        _, _, f = scorer.score([text], [reference])
        return min(1.0, max(0.0, float(f[0])))  # a mean of cosines, which may lie a little outside

    return score


def likelihood(name: str, path: str) -> Score:
    """How probable a text is to a model.

    `bartscore` is the mean log-probability of the text's tokens, given the text compared with, by an
    encoder-decoder (Yuan et al. 2021), `loglikelihood` that of the text alone, by a causal model, and
    `perplexity` its perplexity, exp(-loglikelihood), with its sign turned, as lower is better. Scores are at
    most 0; not a number for a text of fewer than two tokens. Raises `InputError` without a folder of the
    model, torch or transformers.
    """
    folder = _folder(name, path)
    require("torch", "transformers", purpose=f"metric/{name}", extra="hf")
    if name == "bartscore":
        return lambda text, source: _given_source(folder, text, source)
    if name == "loglikelihood":
        return lambda text, _: _alone(folder, text)
    return lambda text, _: -math.exp(-_alone(folder, text))


def _folder(name: str, path: str) -> str:
    if not path or not Path(path).is_dir():
        raise InputError(f"metric/{name}: path '{path}'; must be the folder of a model")
    return path


@cache
def _model(folder: str, kind: str) -> tuple[Any, Any]:
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
    model = getattr(transformers, kind).from_pretrained(folder, local_files_only=True)
    return tokenizer, model.eval()


def _given_source(folder: str, text: str, source: str) -> float:
    tokenizer, model = _model(folder, "AutoModelForSeq2SeqLM")
    inputs = tokenizer(source, return_tensors="pt", truncation=True)
    labels = tokenizer(text_target=text, return_tensors="pt", truncation=True).input_ids
    return _mean(model, labels, input_ids=inputs.input_ids, attention_mask=inputs.attention_mask)


def _alone(folder: str, text: str) -> float:
    tokenizer, model = _model(folder, "AutoModelForCausalLM")
    ids = tokenizer(text, return_tensors="pt", truncation=True).input_ids
    # The first token has no probability, as nothing stands before it.
    return math.nan if ids.shape[1] < 2 else _mean(model, ids, input_ids=ids)


def _mean(model: Any, labels: Any, **inputs: Any) -> float:
    """The mean log-probability of the labels."""
    import torch

    with torch.no_grad():
        return -float(model(labels=labels, **inputs).loss)


OVER_REFERENCES: dict[str, Callable[[Sequence[float]], float]] = {
    "mean": fmean,
    "max": max,
    "first": lambda scores: scores[0],
}
AGAINST = ("auto", "reference", "source")
ALONE = ("distinct", "loglikelihood", "perplexity")
"""Metrics that are computed from the text alone."""


@dataclass(frozen=True)
class MetricJudge(Judge):
    """A classical metric, computed against the reference of a text, against its source, or alone."""

    model: str
    name: str
    score: Score
    higher_is_better: bool
    against: str
    over_references: str
    protocol: str = "none"

    def own_task(self, task: Task, candidates: Sequence[Candidate] = ()) -> Task:
        """The task with this metric in place of its own."""
        scale = Scale(min=-WIDE, max=0) if self.name in LIKELIHOODS else Scale(min=0, max=1)
        return computed_task(task, metric_name(self.name), self.name, scale)

    def rate(self, candidates: Sequence[Candidate], task: Task) -> Iterator[Rating]:
        """One rating a text; one that has nothing to be compared with is failed."""
        (metric,) = task.metric_names
        for c in candidates:
            place = (c.example, c.variant, metric, 0)
            others = self._others(c)
            if not others:
                yield Rating(*place, None, "failed", f"no {self.against} to compare with")
                continue
            scores = [self.score(c.text, other) for other in others]
            score = OVER_REFERENCES[self.over_references](scores)
            if not self.higher_is_better:  # TER, which may exceed 1
                score = 1 - min(1.0, score)
            if math.isnan(score):
                yield Rating(*place, None, "failed", f"{self.name} is undefined")
            else:
                yield Rating(*place, score)

    def _others(self, c: Candidate) -> Sequence[str]:
        if self.name in ALONE:
            return [""]
        if self.against == "source" or (self.against == "auto" and not c.references):
            return [c.source] if c.source.strip() else []
        return c.references


def metric_judge(model: str, seed: int = 0) -> MetricJudge:
    """The judge called `metric/NAME?part=f&references=mean&against=reference&path=FOLDER&n=2`.

    `part` (`f`, `recall`, `precision`) is for ROUGE; `references` says how scores against several references
    become one (`mean`, `max`, `first`); `against` what the text is compared with (default `auto`: the
    reference if there is one, else the source); `path` is a local model (`bertscore`, `bartscore`,
    `loglikelihood`, `perplexity`), `layers` one of its layers (`bertscore`); `n` is the number of words in an
    n-gram (`distinct`, default 2). `distinct`, `loglikelihood` and `perplexity` look at the text alone.
    Raises `InputError` for an unknown name or setting, or a package that is not installed.
    """
    name = model.removeprefix("metric/").partition("?")[0]
    one_of("metric", name, NAMES, f"model '{model}'")
    known: set[str] = set()
    if name not in ALONE:
        known = {"references", "against"}
    # The function of the metric, made of its own settings.
    score: Score
    if name in LIKELIHOODS:
        _, settings = split_settings(model, {*known, "path"})
        score = likelihood(name, settings.get("path", ""))
    elif name == "distinct":
        _, settings = split_settings(model, {*known, "n"})
        score = distinct(settings.get("n", "2"))
    elif name == "bertscore":
        _, settings = split_settings(model, {*known, "path", "layers"})
        score = bertscore(settings.get("path", ""), settings.get("layers", ""))
    else:
        _, settings = split_settings(model, {*known, "part"} if name in ROUGE else known)
        score = overlap(name, _one_of(model, settings, "part", PARTS))
    over = _one_of(model, settings, "references", OVER_REFERENCES)
    against = _one_of(model, settings, "against", AGAINST)
    return MetricJudge(model, name, score, OVERLAPS.get(name, True), against, over)


def _one_of(model: str, settings: dict[str, str], key: str, allowed: Sequence[str] | dict[str, Any]) -> str:
    default, *_ = allowed
    value = settings.get(key, default)
    if value not in allowed:
        raise InputError(f"model '{model}': {key} '{value}'; allowed: {', '.join(allowed)}")
    return value
