"""Whether copies are told from originals without reading: by the n-grams of their characters alone.

A judge that reads nothing must not pass for one that does. A logistic regression on the 1- to 3-grams of
characters is trained on some pairs of original and copy and asked about the others. Where it tells them
apart, a kind of damage shows by what stands in the text, not by what the text says.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

LEAST = 40
"""Pairs below which nothing is said."""
MOST = 150
"""Pairs of which so many are looked at."""
SHOWS = 0.65
"""AUC above which a kind of content is to be read by a person."""
_FOLDS = 5
_LONGEST = 3
_FEATURES = 15_000
_PENALTY = 0.1
"""Weight of the squared coefficients against the summed loss."""


@dataclass(frozen=True, slots=True)
class Shortcut:
    """How well copies are told from originals by n-grams, on pairs left out of the training."""

    auc: float
    """P(a copy is taken for one rather than an original), in [0, 1]; 0.5 is blind."""
    pairs: float
    """The same for a copy beside its own original."""
    n: int
    """Pairs that were looked at."""


def shortcut(
    originals: Sequence[str], copies: Sequence[str], clusters: Sequence[str] | None = None
) -> Shortcut | None:
    """Whether copies are told from their originals, in the same order; None for fewer than `LEAST` pairs.

    Pairs of one of the `clusters`, such as the texts of one source, are trained on or asked about together:
    else it would be learnt what they are about. None, too, for fewer clusters than folds.
    """
    import numpy as np

    n = min(len(originals), MOST)
    of_pairs = [str(i) for i in range(n)] if clusters is None else clusters[:n]
    position = {cluster: i for i, cluster in enumerate(dict.fromkeys(of_pairs))}
    if n < LEAST or len(position) < _FOLDS:
        return None
    texts = [text for pair in zip(originals[:n], copies[:n], strict=True) for text in pair]
    is_copy = np.tile([0.0, 1.0], n)
    fold = np.repeat([position[cluster] % _FOLDS for cluster in of_pairs], 2)
    grams = [_grams(text) for text in texts]
    scores = np.empty(2 * n)
    for each in range(_FOLDS):
        train, test = np.flatnonzero(fold != each), np.flatnonzero(fold == each)
        weights = _features([grams[i] for i in train], grams)
        coefficients = _fitted(weights[train], is_copy[train])
        scores[test] = weights[test] @ coefficients
    of_originals, of_copies = scores[::2], scores[1::2]
    beside = np.sign(of_copies[:, None] - of_originals[None, :])
    return Shortcut(float((1 + beside.mean()) / 2), float((1 + np.diagonal(beside).mean()) / 2), n)


def _grams(text: str) -> Counter[str]:
    return Counter(text[i : i + size] for size in range(1, _LONGEST + 1) for i in range(len(text) - size + 1))


def _features(known: Sequence[Counter[str]], texts: Sequence[Counter[str]]) -> Any:
    """A sparse matrix, a row of length 1 for each text: 1 + log counts, weighed by rarity among the known."""
    import numpy as np
    from scipy.sparse import csr_matrix

    held = Counter(gram for grams in known for gram in grams)
    columns = {gram: i for i, (gram, count) in enumerate(held.most_common(_FEATURES)) if count > 1}
    rarity = {gram: np.log((1 + len(known)) / (1 + held[gram])) + 1 for gram in columns}
    values, indices, starts = list[float](), list[int](), [0]
    for grams in texts:
        row = [(columns[g], (1 + np.log(count)) * rarity[g]) for g, count in grams.items() if g in columns]
        length = float(np.sqrt(sum(value * value for _, value in row))) or 1.0
        indices += [column for column, _ in row]
        values += [value / length for _, value in row]
        starts.append(len(indices))
    return csr_matrix((values, indices, starts), shape=(len(texts), max(len(columns), 1)))


def _fitted(rows: Any, is_copy: Any) -> Any:
    """The coefficients of a logistic regression with a penalty on their squares."""
    import numpy as np
    from scipy.optimize import minimize

    signs = 2 * is_copy - 1

    def loss(coefficients: Any) -> tuple[float, Any]:
        margins = signs * (rows @ coefficients)
        penalty = _PENALTY * coefficients @ coefficients / 2
        slope = rows.T @ (-signs * (0.5 * (1 - np.tanh(margins / 2)))) + _PENALTY * coefficients
        return float(np.logaddexp(0, -margins).sum() + penalty), slope

    return minimize(loss, np.zeros(rows.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 100}).x
