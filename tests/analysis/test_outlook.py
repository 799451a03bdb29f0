"""How many examples would decide: what a pilot can promise, with planted judges."""

import numpy as np
import numpy.typing as npt
import pytest

from dhp.analysis.outlook import LIMIT, examples_to_decide
from dhp.analysis.verdict_rule import verdicts
from dhp.core.verdicts import NOTICED, UNDECIDED
from dhp.stats.detection import detection
from dhp.stats.flips import flip_log_p

Floats = npt.NDArray[np.float64]
Range = tuple[int, int] | None


def signs(n: int, *shares: float, tied: float = 0.0, metrics: int = 1) -> Floats:
    """Shape (n, kinds, metrics): of each kind this share falls, ties counted half, by every metric alike."""
    columns = []
    for share in shares:
        tie = round(n * tied)
        fell = round(n * share - tie / 2)
        column = np.array([1.0] * fell + [0.0] * tie + [-1.0] * (n - fell - tie))
        columns.append(np.random.default_rng(n).permutation(column))
    return np.repeat(np.stack(columns, axis=1)[:, :, None], metrics, axis=2)


def needed(differences: Floats, clusters: npt.NDArray[np.int64] | None = None, limit: int = LIMIT) -> Range:
    """Of the first kind, beside eleven others that are as open."""
    every = np.repeat(differences[:, :1], 12, axis=1)
    found = examples_to_decide(
        every, [UNDECIDED] * 12, np.ones(12), floor=0.6, clusters=clusters, limit=limit
    )
    return found[0]


def test_what_is_far_from_the_floor_needs_few_examples() -> None:
    seen, blind = needed(signs(40, 0.75)), needed(signs(100, 0.47))
    assert seen is not None
    assert blind is not None
    assert 40 < seen[0] <= seen[1] < 150
    assert 100 < blind[0] < blind[1]


@pytest.mark.slow
@pytest.mark.parametrize("metrics", [1, 4])
def test_what_lies_at_the_floor_cannot_be_told_from_it(metrics: int) -> None:
    assert needed(signs(1000, 0.575, metrics=metrics)) is None


def test_no_more_examples_than_there_are() -> None:
    blind = needed(signs(100, 0.47))
    assert blind is not None
    assert needed(signs(100, 0.47), limit=blind[1] // 2) is None


def test_ties_save_examples() -> None:
    some, none = needed(signs(100, 0.48, tied=0.8)), needed(signs(100, 0.48))
    assert some is not None
    assert none is None or some[1] < none[1]


def test_examples_of_one_cluster_count_as_fewer() -> None:
    x = signs(60, 0.7)
    alone = needed(x)
    clustered = needed(np.repeat(x, 3, axis=0), np.repeat(np.arange(60), 3))
    assert alone is not None
    assert clustered is None or clustered[1] > 2 * alone[1]


def test_what_is_decided_and_what_has_no_pairs_needs_none() -> None:
    x = np.concatenate([signs(40, 0.75, 0.75), np.full((40, 1, 1), np.nan)], axis=1)
    found = examples_to_decide(x, [NOTICED, UNDECIDED, UNDECIDED], np.ones(3), floor=0.6)
    assert found[0] is None
    assert found[1] is not None
    assert found[2] is None


def test_a_metric_that_was_not_rated_changes_nothing() -> None:
    x = signs(40, 0.75)
    assert needed(np.concatenate([x, np.full(x.shape, np.nan)], axis=2)) is not None


@pytest.mark.slow
@pytest.mark.parametrize("metrics", [2, 4])
def test_the_best_of_blind_metrics_does_not_seem_to_see(metrics: int) -> None:
    """Four metrics that are blind each by itself need more examples to be missed than one; see 12 pilots."""
    rng = np.random.default_rng(metrics)
    lows = []
    for _ in range(12):
        x = rng.choice([-1.0, 1.0], size=(60, 12, metrics))
        found = examples_to_decide(x, [UNDECIDED] * 12, np.ones(12), floor=0.6)
        lows += [each[1] for each in found if each is not None]
    assert lows
    assert np.median(lows) > 200  # a single one: (2.64 + 0.84)^2 / 4 / 0.1^2 = 303, where 0.5 is known


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["halo", "independent", "one sees"])
def test_what_is_promised_is_kept(shape: str) -> None:
    """With the second number 80 % are decided, within ten points and the error of the runs."""
    rng = np.random.default_rng(len(shape))
    truth = np.array([0.5, 0.5, 0.6, 0.65, 0.65, 0.75])

    def draw(n: int) -> Floats:
        falls = np.repeat(truth[:, None], 4, axis=1)
        if shape == "one sees":
            falls[:, 1:] = 0.5
        latent = rng.random((n, 6, 1 if shape == "halo" else 4))
        return np.where(np.broadcast_to(latent, (n, 6, 4)) < falls, 1.0, -1.0)

    kept = []
    for _ in range(25):
        x = draw(30)
        words = verdicts(detection(x, ["a"] * 6), flip_log_p(x, resamples=499))
        found = examples_to_decide(x, words, np.ones(6), floor=0.6)
        whole = np.concatenate([x, draw(max((most[1] for most in found if most), default=30))])
        for v, ends in enumerate(found):
            if ends is not None:
                longer = whole[: ends[1]]
                word = verdicts(detection(longer, ["a"] * 6), flip_log_p(longer, resamples=499))[v]
                kept.append(word.is_good or word.is_bad)
    assert len(kept) > 20
    assert np.mean(kept) >= 0.7 - 2 * (0.7 * 0.3 / len(kept)) ** 0.5
