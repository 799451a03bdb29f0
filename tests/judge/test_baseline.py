"""The floor: judges that look at nothing notice nothing."""

import numpy as np
import pytest

import dhp
from dhp.core.errors import InputError
from dhp.judge.factory import find_judge


def test_constant_judge_has_d_zero() -> None:
    results = dhp.run("baseline/constant", "mini/summeval", n=5)
    assert (results.d_avg, results.d_min) == (0.0, 0.0)


@pytest.mark.slow
def test_random_judge_is_seeded_and_blind() -> None:
    frames = [dhp.run("baseline/random", "mini/story_cloze", seed=s).to_frame() for s in (0, 0, 1)]
    one, same, other = frames
    assert one.equals(same)
    assert not one.equals(other)
    d = [
        v.d
        for seed in range(12)
        for r in dhp.run("baseline/random", "mini/answer_equivalence", seed=seed)
        for v in r.variants
    ]
    assert np.mean(np.array(d) >= 1) < 0.15, "near the nominal 5 to 7 per cent of a true null"


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("baseline/surfac", "unknown model 'baseline/surfac'; did you mean 'baseline/surface'"),
        ("surface", "must have the form provider/name"),
    ],
)
def test_unknown_models(model: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        find_judge(model)
