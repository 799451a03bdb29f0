"""The signed-rank test (Wilcoxon 1945) in log space.

Under the null hypothesis each non-zero difference is positive with probability 1/2, so W+ is a sum of
independent two-point variables: a tie group of `size` differences adds `rank` times a Binomial(size, 1/2).
Ranks are doubled average ranks, hence integers.

`signed_rank` is the test. Its tail P(W+ >= w) comes from one of three functions, each of which says how exact
it is: `exact_log_tail` counts sign patterns tie group by tie group, `flip_log_tail` does so for sums of
clusters, and `tilted_log_tail` inverts the characteristic function for many differences.
"""

import math
from collections.abc import Iterator
from typing import Literal

import numpy as np
import numpy.typing as npt

from dhp.stats.arrays import Floats, Ints, cluster_index, cluster_sums

Method = Literal["exact", "scipy", "sign-flip"]
Alternative = Literal["greater", "two-sided"]
EXACT_UP_TO = 200
"""Non-zero differences up to which the exact null distribution is enumerated; beyond, that takes longer than
inversion. Chosen."""


def average_ranks(values: Floats) -> Floats:
    """The rank of each value, from 1 on; equal ones share their mean rank."""
    _, group, sizes = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((sizes.cumsum() - (sizes - 1) / 2)[group])


def signed_ranks(differences: Floats) -> Floats:
    """Signed ranks of the non-zero differences of each test, 0 for zeros and NaN; from shape (n, ...)."""
    x = np.nan_to_num(differences).reshape(len(differences), -1)
    ranks = np.zeros(x.shape)
    for column in range(x.shape[1]):
        nonzero = np.flatnonzero(x[:, column])
        moved = x[nonzero, column]
        ranks[nonzero, column] = np.sign(moved) * average_ranks(np.abs(moved))
    return ranks.reshape(differences.shape)


def signed_rank(
    differences: npt.ArrayLike,
    method: Method = "exact",
    alternative: Alternative = "greater",
    clusters: npt.ArrayLike | None = None,
) -> float:
    """Test whether paired differences tend to be positive, or to be anything but zero (Wilcoxon 1945).

    Parameters
    ----------
    differences : shape (n,)
        Original minus degraded. Equal magnitudes are ties, so values must lie on their exact grid: pass
        integer sums or those of `dhp.stats.arrays`, not differences of floating-point means.
    method
        `exact`: the null distribution given the observed ties, zeros dropped; enumerated up to 200 non-zero
        differences, beyond that computed by inversion of its characteristic function.
        `scipy`: what `scipy.stats.wilcoxon` does at its defaults, a normal approximation without
        continuity correction in most cases.
        `sign-flip`: as `exact`, with the differences themselves instead of their ranks (Fisher 1935);
        they must be multiples of 1/2, as two-order scores of pairwise verdicts are.
    alternative
        `greater`: a small p says that the differences are positive. `two-sided`: that they are positive or
        negative; p is twice the smaller tail, at most 1.
    clusters : shape (n,), optional
        Integers; examples with the same one change their sign together, so that nothing is assumed of how
        they depend (signed ranks summed by cluster: Rosner, Glynn and Lee 2006). Not under `scipy`, which
        takes all pairs for independent.

    Returns
    -------
    float
        Natural log of the p-value; 0.0 (p = 1) if all differences are zero.

    Raises
    ------
    ValueError
        If the array is empty, not one-dimensional or not finite; under `sign-flip` for other values; if
        `clusters` do not fit.
    """
    d = np.asarray(differences, dtype=np.float64)
    if d.ndim != 1 or d.size == 0 or not np.isfinite(d).all():
        raise ValueError(f"differences must have shape (n,) with n >= 1 and be finite, not {d.shape}")
    nonzero = d[d != 0]
    if nonzero.size == 0:
        return 0.0
    if method == "scipy":
        return _scipy_log_p(d, alternative)
    signed = _doubled(nonzero if method == "sign-flip" else signed_ranks(nonzero))
    if clusters is not None:
        index = cluster_index(cluster_index(clusters, d.size)[d != 0], nonzero.size)
        signed = cluster_sums(signed.astype(np.float64), index).astype(np.int64)
    ranks, sizes = np.unique(np.abs(signed[signed != 0]), return_counts=True)
    w = int(signed[signed > 0].sum())
    if alternative == "two-sided":  # the null distribution is symmetric
        w = max(w, int(ranks @ sizes) - w)
    log_p = _log_tail(ranks, sizes, w) if clusters is None else flip_log_tail(ranks, sizes, w)
    if alternative == "two-sided":
        log_p += math.log(2)
    return min(log_p, 0.0)


def _doubled(halves: Floats) -> Ints:
    """Multiples of 1/2 doubled, as integers; `ValueError` for other numbers."""
    doubled = 2 * halves
    integers = np.rint(doubled).astype(np.int64)
    if not np.array_equal(integers, doubled):
        raise ValueError("differences must be multiples of 1/2")
    return integers


def _log_tail(ranks: Ints, sizes: Ints, w: int) -> float:
    """log P(W >= w) of ranks."""
    if sizes.sum() <= EXACT_UP_TO:
        return exact_log_tail(ranks, sizes, w)
    return tilted_log_tail(ranks, sizes, w)


def _scipy_log_p(differences: Floats, alternative: Alternative) -> float:
    """The log of the p-value of `scipy.stats.wilcoxon`.

    If that is too small for a float, it is that of the normal approximation, which scipy uses then.
    """
    from scipy.special import log_ndtr
    from scipy.stats import wilcoxon

    p = float(wilcoxon(differences, alternative=alternative).pvalue)
    if p > 0:
        return min(math.log(p), 0.0)
    ranks = signed_ranks(differences[differences != 0])
    n = ranks.size
    _, sizes = np.unique(np.abs(ranks), return_counts=True)
    ties = float((sizes.astype(np.float64) ** 3 - sizes).sum())
    spread = math.sqrt((n * (n + 1) * (2 * n + 1) - ties / 2) / 24)
    distance = float(ranks[ranks > 0].sum()) - n * (n + 1) / 4
    if alternative == "two-sided":
        return float(log_ndtr(-abs(distance) / spread)) + math.log(2)
    return float(log_ndtr(-distance / spread))


_NEGLIGIBLE = 37.0
"""-log of a relative mass that no longer matters (8.5e-17)."""
_LATTICE_SHARE = 0.05
"""Share of the differences in one tie group from which on W has more than one lobe of frequencies: its steps
are as large as that rank."""
_NEAR_MAXIMUM = 20_000
"""Distance to the largest W, in units of the lattice, up to which patterns are counted."""
_CHUNK = 1 << 17
"""Frequencies that are in memory at a time."""
_MANY = 1 << 22
"""Frequencies from which on those without weight are skipped."""
_FEW = 20
"""Values up to which all sign patterns are listed: about a million patterns."""
_MOST_COUNTS = 20_000_000
"""Counts that `exact_log_tail` goes through in about 0.05 s."""


def _reduced(ranks: Ints, w: int) -> tuple[Ints, int]:
    """Both in units of the lattice; what lies between two sums counts as the upper one."""
    divisor = int(np.gcd.reduce(ranks))
    return ranks // divisor, -(-w // divisor)  # w is rounded up


def exact_log_tail(ranks: Ints, sizes: Ints, w: int) -> float:
    """log P(W >= w) by counting sign patterns, tie group by tie group; -inf above the largest sum.

    By symmetry P(W >= w) = P(W <= total - w), so only the lower part of the distribution is ever needed.
    All terms are positive, hence the relative error stays at rounding level far out in the tail.
    """
    if w <= 0:
        return 0.0
    ranks, w = _reduced(ranks, w)
    keep = int(ranks @ sizes) - w + 1  # sums from 0 to total - w
    if keep <= 0:
        return -math.inf
    counts = np.ones(1)  # how many patterns have each sum, times exp(log_scale)
    log_scale = -float(sizes.sum()) * math.log(2)
    for rank, size in zip(ranks.tolist(), sizes.tolist(), strict=True):
        if rank >= keep:
            continue
        grown = np.zeros(min(counts.size + rank * size, keep))
        most = min(size, (keep - 1) // rank)
        largest = math.comb(size, min(most, size // 2))  # divided by, so that no number overflows
        for k in range(most + 1):
            part = counts[: grown.size - k * rank]
            grown[k * rank : k * rank + part.size] += math.comb(size, k) / largest * part
        peak = float(grown.max())
        counts = grown / peak
        log_scale += math.log(largest) + math.log(peak)
    return log_scale + math.log(float(counts.sum()))


def flip_log_tail(values: Ints, sizes: Ints, w: int) -> float:
    """log P(W >= w) if the values are any whole numbers above 0, as signed ranks summed by cluster are.

    Exact, but if both the values and their number are large; then as `tilted_log_tail`.
    """
    if sizes.sum() <= _FEW:
        sums = np.zeros(1, dtype=np.int64)
        for value in np.repeat(values, sizes).tolist():
            sums = np.concatenate([sums, sums + value])
        share = float((sums >= w).mean())
        return math.log(share) if share else -math.inf
    if int(values @ sizes) * int(sizes.sum()) <= _MOST_COUNTS:
        return exact_log_tail(values, sizes, w)
    return tilted_log_tail(values, sizes, w)


def tilted_log_tail(ranks: Ints, sizes: Ints, w: int) -> float:
    """log P(W >= w) for many differences, by inverting the characteristic function of a tilted W.

    Exponential tilting moves the mean to `w` (the saddlepoint), so that the tail becomes a sum over the
    centre of a distribution, which the inversion on a finite window gives with negligible aliasing. Near the
    maximum, where the tilted distribution is far from normal, few patterns remain and are counted instead.
    Agrees with the exact tail to 1 % of p everywhere, mostly to 1e-6.
    """
    ranks, w = _reduced(ranks, w)
    total = int(ranks @ sizes)
    if w > total:
        return -math.inf
    if w <= 0:
        return 0.0
    if 2 * w <= total:  # the tilt is for the upper half: 1 less the other tail, by symmetry
        return math.log1p(-math.exp(tilted_log_tail(ranks, sizes, total - w + 1)))
    smooth = sizes.max() < _LATTICE_SHARE * sizes.sum()
    if w == total or (smooth and total - w <= _NEAR_MAXIMUM):
        return exact_log_tail(ranks, sizes, w)
    r, m = ranks.astype(np.float64), sizes.astype(np.float64)
    tilt = _saddlepoint(r, m, w)
    cumulant = _cumulant(r, m, tilt)
    probability = 1 / (1 + np.exp(-tilt * r))
    deviation = math.sqrt(float((m * r * r * probability * (1 - probability)).sum()))
    above, below = _window(r, m, tilt, cumulant, w, deviation)
    period = (above + below) | 1  # odd, so that frequencies beside 0 come in pairs
    top = period // 2
    if smooth:  # without a dominant tie group only the lobe around zero has any weight
        top = min(top, math.ceil(9 / deviation * period / (2 * math.pi)))
    mass = 0.0
    for frequency in _frequencies(top, period, ranks, sizes, probability):
        mass += _inverted(frequency, period, ranks, sizes, probability, tilt, w, above)
    return cumulant - tilt * w + math.log(mass)


def _cumulant(r: Floats, m: Floats, t: float) -> float:
    """log E exp(t W)."""
    return float((m * (np.logaddexp(0.0, t * r) - math.log(2))).sum())


def _saddlepoint(r: Floats, m: Floats, w: int) -> float:
    """The t at which the tilted mean is `w`, for w above the untilted mean, by safeguarded Newton steps."""
    low, high = 0.0, 1.0 / float(r.max())
    while float((m * r / (1 + np.exp(-high * r))).sum()) < w:
        low, high = high, 2 * high
    t = (low + high) / 2
    for _ in range(200):
        p = 1 / (1 + np.exp(-t * r))
        excess = float((m * r * p).sum()) - w
        low, high = (low, t) if excess > 0 else (t, high)
        step = t - excess / float((m * r * r * p * (1 - p)).sum())
        following = step if low < step < high else (low + high) / 2
        if abs(following - t) <= 1e-13 * t:
            break
        t = following
    return t


def _window(r: Floats, m: Floats, t: float, cumulant: float, w: int, deviation: float) -> tuple[int, int]:
    """How far above and below `w` the tilted distribution has any mass, by Chernoff bounds."""
    spans = []
    for delta in (8 / deviation, -8 / deviation):
        log_moment = _cumulant(r, m, t + delta) - cumulant - delta * w
        spans.append(math.ceil((log_moment + _NEGLIGIBLE) / abs(delta)))
    return spans[0], spans[1]


def _frequencies(top: int, period: int, ranks: Ints, sizes: Ints, probability: Floats) -> Iterator[Ints]:
    """The frequencies from 0 to `top` that may have weight, some at a time.

    Of very many only those near the multiples of period / rank of the largest tie group, which alone makes
    the others negligible: its factor is at most exp(-2 size p (1 - p) sin^2(angle / 2)).
    """
    g = int(np.argmax(sizes))
    rank, p = int(ranks[g]), float(probability[g])
    share = _NEGLIGIBLE / (float(sizes[g]) * p * (1 - p)) if 0 < p < 1 else 1.0
    if top < _MANY or share > _LATTICE_SHARE:
        for start in range(0, top + 1, _CHUNK):
            yield np.arange(start, min(start + _CHUNK, top + 1))
        return
    reach = math.ceil(period * math.asin(math.sqrt(share)) / math.pi)
    width = 2 * reach // rank + 2
    most = (top * rank + reach) // period  # the last multiple that any of them is near
    for start in range(0, most + 1, max(1, _CHUNK // width)):
        multiple = np.arange(start, min(start + max(1, _CHUNK // width), most + 1))
        first = -((reach - multiple * period) // rank)
        near = (first[:, None] + np.arange(width)).ravel()
        yield near[(near >= 0) & (near <= top)]


def _inverted(
    frequency: Ints,
    period: int,
    ranks: Ints,
    sizes: Ints,
    probability: Floats,
    tilt: float,
    w: int,
    above: int,
) -> float:
    """The share of these frequencies in sum_{x >= w} q(x) exp(-tilt (x - w)), q the tilted mass function."""
    log_size = np.zeros(frequency.size)
    angle = np.zeros(frequency.size)
    for g in np.argsort(-sizes, kind="stable"):
        turn = 2 * math.pi / period * (frequency * ranks[g] % period)
        p = probability[g]
        real, imaginary = 1 - p + p * np.cos(turn), p * np.sin(turn)
        log_size += sizes[g] * 0.5 * np.log(real * real + imaginary * imaginary + 1e-300)
        angle += sizes[g] * np.arctan2(imaginary, real)
        kept = log_size > -2 * _NEGLIGIBLE
        if not kept.all():
            frequency, log_size, angle = frequency[kept], log_size[kept], angle[kept]
    turn = 2 * math.pi / period * frequency
    z = -tilt - 1j * turn
    geometric = np.expm1(z * (above + 1)) / np.expm1(z)
    angle -= 2 * math.pi / period * (frequency * w % period)
    terms = (np.exp(log_size + 1j * angle) * geometric).real
    return float(np.where(frequency == 0, 1, 2) @ terms) / period  # a negative one is worth its positive one
