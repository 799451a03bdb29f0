"""How sure a discernment score is: the paired bootstrap over examples.

One resample of the examples serves all variants, metrics and models, so that what they share stays shared.
Sources: Efron 1979 (bootstrap), Davison and Hinkley 1997, Bickel, Goetze and van Zwet 1997 (draws of another
size than the sample).
"""

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from dhp.stats.design import Design, Scores
from dhp.stats.wilcoxon.resampled import draws, subsets

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """Scores of the data, of resamples of its examples, and without each example in turn."""

    resamples: Scores
    """t = resamples; their p-values are those of `log_tails` (or scipy's), close to the exact ones."""
    point: Scores
    """t = 1: the data themselves, with the p-values of `signed_rank`."""
    left_out: Scores
    """t = n, example by example (the jackknife)."""


def bootstrap(design: Design, rng: np.random.Generator, *, resamples: int = 2000) -> Bootstrap:
    """Resample the examples, and compute every score anew.

    Parameters
    ----------
    design
        The differences, and how they are tested.
    rng
        The only source of randomness.
    resamples
        At least 1; else `ValueError`.
    """
    if resamples < 1:
        raise ValueError(f"resamples must be at least 1, not {resamples}")
    drawn = [design.sampled(times) for times in draws(design.n, design.n, resamples, rng)]
    return Bootstrap(Scores.joined(drawn), design.point, design.without_each())


def discernment_at_n(
    design: Design, rng: np.random.Generator, *, size: int = 100, resamples: int = 1000
) -> Scores:
    """Discernment as it would be on `size` examples, to compare where the numbers of examples differ.

    The mean (t = 1) over subsets drawn without replacement where there are more than `size` examples. Where
    there are fewer, over draws with replacement: an extrapolation, as if further examples were like these.

    Parameters
    ----------
    design, rng
        As for `bootstrap`.
    size, resamples
        At least 1; else `ValueError`.
    """
    if size < 1 or resamples < 1:
        raise ValueError(f"size and resamples must be at least 1, not {size} and {resamples}")
    n = design.n
    if n == size:
        return design.point
    samples = draws(n, size, resamples, rng) if n < size else subsets(n, size, resamples, rng)
    drawn = Scores.joined([design.sampled(times) for times in samples])
    return Scores(**{f.name: _mean(getattr(drawn, f.name))[None] for f in fields(Scores)})


def _mean(values: Floats) -> Floats:
    """Over the samples in which it is defined; NaN where it is in none."""
    there = ~np.isnan(values)
    total = np.where(there, values, 0.0).sum(axis=0)
    mean: Floats = np.where(there.any(axis=0), total / np.maximum(there.sum(axis=0), 1), np.nan)
    return mean
