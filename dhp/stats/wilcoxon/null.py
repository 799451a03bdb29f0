"""Null distribution of W+, the signed-rank statistic, given the ties, and its upper tails in log space.

Under the null hypothesis each non-zero difference is positive with probability 1/2, so W+ is a sum of
independent two-point variables: a tie group of `size` differences adds `rank` times a Binomial(size, 1/2).
Ranks are doubled average ranks, hence integers.
"""

import math
from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from dhp.stats.arrays import Floats, Ints

_NEGLIGIBLE = 37.0  # -log of a relative mass that no longer matters (8.5e-17)
_LATTICE_SHARE = 0.05
_NEAR_MAXIMUM = 20_000  # distance to the largest W, in units of the lattice
_CHUNK = 1 << 17
_MANY = 1 << 22  # frequencies of which those without weight are skipped
_FEW = 20  # values of which all sign patterns are listed
_MOST_COUNTS = 20_000_000  # that `exact_log_tail` goes through in about 0.05 s


def _reduced(ranks: Ints, w: int) -> tuple[Ints, int]:
    divisor = int(np.gcd.reduce(ranks))
    return ranks // divisor, w // divisor


def exact_log_tail(ranks: Ints, sizes: Ints, w: int) -> float:
    """log P(W >= w) by counting sign patterns, tie group by tie group; `w` must be attainable.

    By symmetry P(W >= w) = P(W <= total - w), so only the lower part of the distribution is ever needed.
    All terms are positive, hence the relative error stays at rounding level far out in the tail.
    """
    if w <= 0:
        return 0.0
    ranks, w = _reduced(ranks, w)
    keep = int(ranks @ sizes) - w + 1
    counts = np.ones(1)
    log_scale = -float(sizes.sum()) * math.log(2)
    for rank, size in zip(ranks.tolist(), sizes.tolist(), strict=True):
        if rank >= keep:
            continue
        grown = np.zeros(min(counts.size + rank * size, keep))
        most = min(size, (keep - 1) // rank)
        largest = math.comb(size, min(most, size // 2))
        for k in range(most + 1):
            part = counts[: grown.size - k * rank]
            grown[k * rank : k * rank + part.size] += math.comb(size, k) / largest * part
        peak = float(grown.max())
        counts = grown / peak
        log_scale += math.log(largest) + math.log(peak)
    return log_scale + math.log(float(counts.sum()))


def flip_log_tail(values: Ints, sizes: Ints, w: int) -> float:
    """log P(W >= w) where the values are any whole numbers above 0, as signed ranks summed by cluster are.

    Exact, but where both the values and their number are large; then as `tilted_log_tail`.
    """
    if sizes.sum() <= _FEW:
        sums = np.zeros(1, dtype=np.int64)
        for value in np.repeat(values, sizes).tolist():
            sums = np.concatenate([sums, sums + value])
        return math.log(float((sums >= w).mean()))
    small = int(values @ sizes) * int(sizes.sum()) <= _MOST_COUNTS
    return (exact_log_tail if small else tilted_log_tail)(values, sizes, w)


def tilted_log_tail(ranks: Ints, sizes: Ints, w: int) -> float:
    """log P(W >= w) for many differences, by inverting the characteristic function of a tilted W.

    Exponential tilting moves the mean to `w` (the saddlepoint), so that the tail becomes a sum over the
    centre of a distribution, which the inversion on a finite window gives with negligible aliasing. Near the
    maximum, where the tilted distribution is far from normal, few patterns remain and are counted instead.
    Agrees with the exact tail to 1 % of p everywhere, mostly to 1e-6.
    """
    ranks, w = _reduced(ranks, w)
    total = int(ranks @ sizes)
    if 2 * w <= total:
        return math.log1p(-math.exp(tilted_log_tail(ranks, sizes, total - w + 1))) if w > 0 else 0.0
    smooth = sizes.max() < _LATTICE_SHARE * sizes.sum()
    if w == total or (smooth and total - w <= _NEAR_MAXIMUM):
        return exact_log_tail(ranks, sizes, w)
    r, m = ranks.astype(np.float64), sizes.astype(np.float64)
    tilt = _saddlepoint(r, m, w)
    cumulant = _cumulant(r, m, tilt)
    probability = 1 / (1 + np.exp(-tilt * r))
    deviation = math.sqrt(float((m * r * r * probability * (1 - probability)).sum()))
    above, below = _window(r, m, tilt, cumulant, w, deviation)
    period = (above + below) | 1
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
        if not (kept := log_size > -2 * _NEGLIGIBLE).all():
            frequency, log_size, angle = frequency[kept], log_size[kept], angle[kept]
    turn = 2 * math.pi / period * frequency
    z = -tilt - 1j * turn
    geometric = np.expm1(z * (above + 1)) / np.expm1(z)
    angle -= 2 * math.pi / period * (frequency * w % period)
    terms = (np.exp(log_size + 1j * angle) * geometric).real
    return float(np.where(frequency == 0, 1, 2) @ terms) / period


_LOG_2 = float(np.log(2))
_NEWTON_STEPS = 100
_AT_THE_MEAN = 0.05  # z below which the correction of the normal tail cancels to nothing
_FEW_DIFFERENCES = 16  # non-zero differences
_STEPS_FROM_MAXIMUM = 200  # distance of W to its largest value, in steps of its lattice
_LEAPS = 17  # the same distance in largest ranks: nearer, W may move in leaps
_NEGLIGIBLE_LOG_P = -40.0  # log p below which a few per cent of p no longer count
_SMALLEST = -28.0  # log p down to which the error of p is held to one per cent: p = 7e-13
_COMBINATIONS = 2000  # of the counts of the tie groups but one, up to which they are always enumerated
_MOST_COMBINATIONS = 1e6  # and up to which they are where that matters
_TABLE = 1000  # largest binomial size tabulated; 2**-1000 is still a normal number
_CELL = 0.5  # time for a cell of a table of tails, in units of that for a combination
_AT_ONCE = 1 << 17  # combinations


def log_tails(ranks: Ints, sizes: Ints, w: Ints) -> Floats:
    """log P(W+ >= w) of many signed-rank tests, the exact tail of `signed_rank` or close to it.

    Parameters
    ----------
    ranks : shape (tests, groups)
        `doubled_ranks` of `sizes`, or other whole numbers that the signs are given to.
    sizes : shape (tests, groups)
        How many differences of each magnitude, in increasing order, each test has; a group may be empty.
    w : shape (tests,)
        The doubled W+ observed.

    Returns
    -------
    shape (tests,)
        Exact where differences or tie groups are few, or W+ is close to its largest value, so that it moves
        in leaps that no smooth tail follows; else `saddlepoint_log_tails`. 0 where there is no difference.
        For p >= 1e-12 the error of p is below 0.1 % without ties and 0 where tie groups are few, as of whole
        scores or of up to fifty means of five. Of a hundred such means its 99th percentile is 0.2 % and its
        largest about 1 %, of two hundred 1 % and 4 % (`scripts/bootstrap.py`).
    """
    m, missing = sizes.sum(axis=1), _missing(ranks, sizes, w)
    combinations = np.where(m <= _TABLE, _combinations(ranks, sizes, missing), np.inf)
    exact = combinations <= _COMBINATIONS
    logs = np.zeros(len(sizes))
    logs[~exact] = saddlepoint_log_tails(ranks[~exact], sizes[~exact], w[~exact])
    exact |= (m <= _FEW_DIFFERENCES) | (
        (missing <= _STEPS_FROM_MAXIMUM * _steps(ranks)) & (logs > _NEGLIGIBLE_LOG_P)
    )
    clumpy = (combinations <= _MOST_COMBINATIONS) & (missing <= _LEAPS * ranks.max(axis=1))
    exact |= clumpy & (logs > _SMALLEST)
    logs[exact] = exact_log_tails(ranks[exact], sizes[exact], w[exact])
    return logs


def doubled_ranks(sizes: Ints) -> Ints:
    """Twice the average rank of each tie group, 0 where it is empty; shape (tests, groups)."""
    return np.where(sizes > 0, 2 * np.cumsum(sizes, axis=1) - sizes + 1, 0)


def exact_log_tails(ranks: Ints, sizes: Ints, w: Ints) -> Floats:
    """log P(W >= w) of many tests by counting sign patterns.

    `ranks` are `doubled_ranks` of `sizes`, shape (tests, groups); `w` has shape (tests,) and is attainable.
    """
    missing = _missing(ranks, sizes, w)
    few = _combinations(ranks, sizes, missing) <= _MOST_COMBINATIONS
    few &= sizes.sum(axis=1) <= _TABLE
    logs = np.empty(len(sizes))
    logs[few] = _enumerated(ranks[few], sizes[few], missing[few])
    logs[~few] = _convolved(ranks[~few], sizes[~few], missing[~few])
    below = 2 * w <= (ranks * sizes).sum(axis=1)
    with np.errstate(divide="ignore"):
        logs[below] = np.log1p(-np.exp(logs[below]))
    return np.minimum(np.where(w == 0, 0.0, logs), 0.0)


def _missing(ranks: Ints, sizes: Ints, w: Ints) -> Ints:
    """What the sum of the other ranks may not exceed, in the smaller of P(W >= w) and P(W < w).

    The null distribution is symmetric, so that P(W < w) = P(W >= total - w + step) on its lattice.
    """
    total = (ranks * sizes).sum(axis=1)
    missing: Ints = np.where(2 * w > total, total - w, np.maximum(w - _steps(ranks), 0))
    return missing


def _steps(ranks: Ints) -> Ints:
    """The step of the lattice on which W lies, shape (tests,)."""
    steps: Ints = np.maximum(np.gcd.reduce(ranks, axis=1), 1)
    return steps


def _combinations(ranks: Ints, sizes: Ints, missing: Ints) -> Floats:
    """An upper bound of how many counts of the tie groups are within `missing`; one group is left out.

    It is the one with most counts.
    """
    most = _most(ranks, sizes, missing)
    with np.errstate(over="ignore"):
        bound: Floats = most.prod(axis=1, dtype=np.float64) / most.max(axis=1, initial=1)
    return bound


def _most(ranks: Ints, sizes: Ints, missing: Ints) -> Ints:
    """How many counts of each tie group are within `missing`, shape (tests, groups)."""
    most: Ints = np.minimum(sizes, missing[:, None] // np.maximum(ranks, 1)) + 1
    return most


def _enumerated(ranks: Ints, sizes: Ints, missing: Ints) -> Floats:
    """log P(W <= missing): all counts of some tie groups meet those of the others (Horowitz and Sahni 1974).

    The first groups, those with most counts, are laid out in a table of their joint distribution function;
    it is looked up once for each combination of the counts of the others.
    """
    most = _most(ranks, sizes, missing)
    alone = np.where(most == 1, sizes, 0)  # in groups of which none can be within `missing`
    logs: Floats = -_LOG_2 * alone.sum(axis=1)
    counted = max(int((most > 1).sum(axis=1).max(initial=0)), 1)
    order = np.argsort(-most, axis=1, kind="stable")[:, :counted]
    most, r, s = (np.take_along_axis(a, order, axis=1) for a in (most, ranks, sizes))
    r, s = np.where(most == 1, 1, r), np.where(most == 1, 0, s)
    tabled: Floats = np.cumprod(most, axis=1, dtype=np.float64)
    steps: Ints = np.gcd.accumulate(r, axis=1)
    length = np.minimum(missing[:, None], np.cumsum(r * s, axis=1)) // steps + 1
    cost = tabled + tabled[:, -1:] / tabled + _CELL * length
    last = cost.argmin(axis=1)  # of the tabled groups
    at = np.arange(len(sizes)), last
    steps, length = steps[at], length[at]
    tests = np.lexsort((length, last))
    cuts = (np.diff(np.cumsum(cost[at][tests]) // _AT_ONCE) > 0) | (np.diff(last[tests]) > 0)
    for one in np.split(tests, np.flatnonzero(cuts) + 1):
        if one.size:
            first = int(last[one[0]]) + 1
            logs[one] += np.log(_met(r[one], s[one], missing[one], first, steps[one], int(length[one].max())))
    return logs


def _met(ranks: Ints, sizes: Ints, missing: Ints, first: int, steps: Ints, length: int) -> Floats:
    """P(W <= missing); the `first` groups in a table of this length, on the lattice with these steps."""
    row, most = length * np.arange(len(sizes)), missing // steps
    test, left, mass = _counts(ranks[:, :first] // steps[:, None], sizes[:, :first], most)
    table = np.bincount((row + most)[test] - left, weights=mass, minlength=length * row.size)
    rows = table.reshape(-1, length)
    np.cumsum(rows, axis=1, out=rows)
    test, left, mass = _counts(ranks[:, first:], sizes[:, first:], missing)
    if (steps > 1).any():
        left = left // steps[test]
    mass *= table[row[test] + np.minimum(left, length - 1)]
    within: Floats = np.bincount(test, weights=mass, minlength=len(sizes)).astype(np.float64)
    return within


def _counts(ranks: Ints, sizes: Ints, missing: Ints) -> tuple[Ints, Ints, Floats]:
    """All counts of these groups within `missing`: of which test, what they leave of it, and their mass."""
    binomials = _binomials(-(-int(sizes.max(initial=0)) // 100) * 100)
    width, binomials = len(binomials), binomials.ravel()
    test, left, mass = np.arange(len(sizes)), missing, np.ones(len(sizes))
    for g in range(sizes.shape[1] - 1, -1, -1):
        size, rank = sizes[test, g], ranks[test, g]
        times = np.minimum(size, left // rank) + 1
        start = np.cumsum(times) - times
        at = np.arange(int(times.sum()))  # the count is at - start
        left = np.repeat(left + rank * start, times) - np.repeat(rank, times) * at
        mass = np.repeat(mass, times) * binomials[at + np.repeat(size * width - start, times)]
        test = np.repeat(test, times)
    return test, left, mass


@lru_cache(maxsize=1)
def _binomials(largest: int) -> Floats:
    """P(X = k) of X ~ Binomial(size, 1/2), shape (largest + 1, largest + 1) by size and k."""
    mass = np.zeros((largest + 1, largest + 1))
    mass[0, 0] = 1.0
    for size in range(1, largest + 1):
        mass[size] = mass[size - 1] / 2
        mass[size, 1:] += mass[size - 1, :-1] / 2
    return mass


def _convolved(ranks: Ints, sizes: Ints, missing: Ints) -> Floats:
    """log P(W <= missing), one distinct test after another; only ranks up to `missing` matter."""
    if not len(sizes):
        return np.empty(0)
    m = sizes.sum(axis=1)
    within = np.where(ranks <= missing[:, None], sizes, 0)
    keys = np.column_stack([within, m, missing])
    _, first, which = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    tails = np.empty(first.size)
    for i, test in enumerate(first):
        there = sizes[test] > 0
        r, s = ranks[test, there], sizes[test, there]
        tails[i] = exact_log_tail(r, s, int(r @ s) - int(missing[test]))
    return tails[which]


def saddlepoint_log_tails(ranks: Ints, sizes: Ints, w: Ints) -> Floats:
    """log P(W >= w), approximately, for doubled ranks as in `dhp.stats.wilcoxon.null`.

    `ranks` (0 where a group is empty) and `sizes` have shape (tests, groups), `w` and the result (tests,).
    Lugannani and Rice (1980) with the term of second order and the continuity correction for a lattice
    (Daniels 1987), whose step is the greatest common divisor of the ranks. Exact where all differences are
    positive.
    """
    from scipy.special import log_ndtr

    step = _steps(ranks)
    r = ranks / step[:, None]
    total = (ranks * sizes).sum(axis=1)
    # The distance from the mean in steps, less half a step. The distribution is symmetric.
    distance = (w - total / 2) / step - 0.5
    x = np.abs(distance)
    tilt = _saddlepoints(r, sizes, x)
    half = tilt[:, None] * r / 2
    cumulant = (sizes * (half + np.log1p(np.exp(-2 * half)) - _LOG_2)).sum(axis=1)
    z = np.sqrt(np.maximum(2 * (tilt * x - cumulant), 0))
    tails = log_ndtr(-z)
    relative = _correction(r, sizes, tilt, half, z) * np.exp(-z * z / 2 - tails) / np.sqrt(2 * np.pi)
    tails += np.log1p(np.maximum(relative, -0.9))
    below = distance < 0
    tails[below] = np.log1p(-np.exp(np.minimum(tails[below], -_LOG_2)))
    tails = np.where(w == total, -sizes.sum(axis=1) * _LOG_2, tails)
    return np.minimum(np.where(w == 0, 0.0, tails), 0.0)


def _correction(r: Floats, sizes: Ints, tilt: Floats, half: Floats, z: Floats) -> Floats:
    """What is added to the normal tail, in units of the normal density at z; odd in z, hence 0 near 0."""
    tanh = np.tanh(half)
    part = sizes * r * r / 4 * (1 - tanh * tanh)
    variance = part.sum(axis=1)
    off = (z > _AT_THE_MEAN) & (variance > 0)
    z, tilt, variance = np.where(off, z, 1), np.where(off, tilt, 1), np.where(off, variance, 1)
    skewness = -(part * r * tanh).sum(axis=1) / variance**1.5
    kurtosis = (part * r * r * (3 * tanh * tanh - 1)).sum(axis=1) / (2 * variance * variance)
    deviation = np.sqrt(variance)
    u = 2 * np.sinh(tilt / 2) * deviation
    slope = 0.5 / np.tanh(tilt / 2)  # of -log sinh(tilt / 2)
    second = kurtosis / 8 - 5 * skewness**2 / 24 - skewness * slope / (2 * deviation)
    second -= (2 * slope**2 - 0.25) / (2 * variance)
    return np.where(off, (1 + second) / u - 1 / z + 1 / z**3, 0.0)


def _saddlepoints(r: Floats, sizes: Ints, distance: Floats) -> Floats:
    """The tilt >= 0 under which the mean of W, in steps from its centre, is `distance`, by Newton steps.

    The mean is concave in a tilt >= 0, so Newton's steps from 0 go up to the root and never past it.
    """
    tilt = np.zeros(distance.size)
    open_ = np.flatnonzero(distance < (r * sizes).sum(axis=1) / 2)
    half, weighted, aim = r[open_] / 2, sizes[open_] * r[open_] / 2, distance[open_]
    now = tilt[open_]
    for _ in range(_NEWTON_STEPS):
        tanh = np.tanh(now[:, None] * half)
        lacking = aim - (weighted * tanh).sum(axis=1)
        move = lacking / (weighted * half * (1 - tanh * tanh)).sum(axis=1)
        now = now + move
        tilt[open_] = now
        going = np.abs(move) > 1e-9 * now
        if not going.any():
            break
        if going.mean() < 0.7:
            open_, now, aim = open_[going], now[going], aim[going]
            half, weighted = half[going], weighted[going]
    return tilt
