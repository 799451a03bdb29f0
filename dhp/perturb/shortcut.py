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
"""Pairs below which nothing is said: chosen."""
MOST = 150
"""Pairs that are looked at, at most: chosen, as more take longer."""
SHOWS = 0.65
"""AUC above which a kind of content is to be read by a person: chosen."""
_FOLDS = 5
"""Parts of the pairs, each of which is asked about once: a usual number."""
_LONGEST = 3  # characters of an n-gram
_FEATURES = 15_000  # n-grams that are looked at, the most frequent ones
_PENALTY = 0.1
"""Weight of the squared coefficients against the summed loss: chosen."""


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
    position = dict[str, int]()  # cluster -> its place among all, by which it gets its fold
    for cluster in of_pairs:
        position.setdefault(cluster, len(position))
    if n < LEAST or len(position) < _FOLDS:
        return None

    # Originals and copies take turns, a pair in one fold: what is learnt of one would tell the other.
    texts = list[str]()
    for pair in zip(originals[:n], copies[:n], strict=True):
        texts += pair
    is_copy = np.tile([0.0, 1.0], n)
    fold = np.repeat([position[cluster] % _FOLDS for cluster in of_pairs], 2)
    grams = [_grams(text) for text in texts]
    scores = np.empty(2 * n)
    for each in range(_FOLDS):
        train, test = np.flatnonzero(fold != each), np.flatnonzero(fold == each)
        weights = _features([grams[i] for i in train], grams)
        coefficients = _fitted(weights[train], is_copy[train])
        scores[test] = weights[test] @ coefficients

    # Each copy beside each original: 1 if it scores higher, 0 if as high, -1 if lower.
    of_originals, of_copies = scores[::2], scores[1::2]
    beside = np.sign(of_copies[:, None] - of_originals[None, :])
    auc = float((1 + beside.mean()) / 2)
    pairs = float((1 + np.diagonal(beside).mean()) / 2)
    return Shortcut(auc, pairs, n)


def _grams(text: str) -> Counter[str]:
    """How often the text has each of its n-grams."""
    grams = Counter[str]()
    for size in range(1, _LONGEST + 1):
        grams.update(text[i : i + size] for i in range(len(text) - size + 1))
    return grams


def _features(known: Sequence[Counter[str]], texts: Sequence[Counter[str]]) -> Any:
    """A sparse matrix, a row of length 1 for each text: 1 + log counts, weighed by rarity among the known."""
    import numpy as np
    from scipy.sparse import csr_matrix

    # Texts that hold an n-gram. What a single text holds says nothing of the others.
    held = Counter[str]()
    for grams in known:
        held.update(grams.keys())
    columns, rarity = dict[str, int](), dict[str, float]()
    for i, (gram, count) in enumerate(held.most_common(_FEATURES)):
        if count > 1:
            columns[gram] = i
            rarity[gram] = np.log((1 + len(known)) / (1 + count)) + 1

    # The three lists of a matrix in compressed rows: values, their columns, where each row begins.
    values, indices, starts = list[float](), list[int](), [0]
    for grams in texts:
        row = list[float]()
        for gram, count in grams.items():
            if gram in columns:
                indices.append(columns[gram])
                row.append((1 + np.log(count)) * rarity[gram])
        square = sum(value * value for value in row)
        length = float(np.sqrt(square)) or 1.0  # a text without any has a row of zeros
        values += [value / length for value in row]
        starts.append(len(indices))
    return csr_matrix((values, indices, starts), shape=(len(texts), max(len(columns), 1)))


def _fitted(rows: Any, is_copy: Any) -> Any:
    """The coefficients of a logistic regression with a penalty on their squares."""
    import numpy as np
    from scipy.optimize import minimize

    signs = 2 * is_copy - 1

    def loss(coefficients: Any) -> tuple[float, Any]:
        """The loss with its gradient. `logaddexp` and `tanh` stay finite where `exp` would not."""
        margins = signs * (rows @ coefficients)
        penalty = _PENALTY * coefficients @ coefficients / 2
        slope = rows.T @ (-signs * (0.5 * (1 - np.tanh(margins / 2)))) + _PENALTY * coefficients
        return float(np.logaddexp(0, -margins).sum() + penalty), slope

    return minimize(loss, np.zeros(rows.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 100}).x
