"""Metrics by a local language model: BERTScore, BARTScore, log-likelihood and perplexity."""

import math
from functools import cache
from pathlib import Path
from typing import Any

from dhp.core.errors import InputError
from dhp.judge.metrics.overlap import Score, need

LIKELIHOODS = ("bartscore", "loglikelihood", "perplexity")


def bertscore(path: str, layers: str) -> Score:
    """BERTScore's F (Zhang et al. 2020) by the package bert-score, in [0, 1].

    Parameters
    ----------
    path
        Folder of the model.
    layers
        Number of the layer whose outputs are compared.

    Raises
    ------
    InputError
        Without a folder, a number of layers, or the package.
    """
    folder = _folder("bertscore", path)
    if not layers.isdigit() or int(layers) < 1:
        raise InputError(f"metric/bertscore: layers '{layers}'; allowed: a whole number from 1")
    scorer = need("bert_score", "bertscore").BERTScorer(model_type=folder, num_layers=int(layers))

    def score(text: str, reference: str) -> float:
        _, _, f = scorer.score([text], [reference])
        return min(1.0, max(0.0, float(f[0])))

    return score


def likelihood(name: str, path: str) -> Score:
    """How probable a text is to a model.

    Parameters
    ----------
    name
        `bartscore`: the mean log-probability of the text's tokens, given the text compared with, by an
        encoder-decoder (Yuan et al. 2021). `loglikelihood`: that of the text alone, by a causal model.
        `perplexity`: its perplexity, exp(-loglikelihood), with its sign turned, as lower is better.
    path
        Folder of the model.

    Returns
    -------
    Score
        At most 0; higher is better. Not a number for a text of fewer than two tokens.

    Raises
    ------
    InputError
        Without a folder, torch or transformers.
    """
    folder = _folder(name, path)
    need("torch", name)
    need("transformers", name)
    if name == "bartscore":
        return lambda text, source: _given_source(folder, text, source)
    if name == "loglikelihood":
        return lambda text, _: _alone(folder, text)
    return lambda text, _: -math.exp(-_alone(folder, text))


def _folder(name: str, path: str) -> str:
    if not path or not Path(path).is_dir():
        raise InputError(f"metric/{name}: path '{path}'; allowed: the folder of a model")
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
    return math.nan if ids.shape[1] < 2 else _mean(model, ids, input_ids=ids)


def _mean(model: Any, labels: Any, **inputs: Any) -> float:
    """The mean log-probability of the labels."""
    import torch

    with torch.no_grad():
        return -float(model(labels=labels, **inputs).loss)
