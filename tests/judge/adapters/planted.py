"""A judge of a planted sensitivity, and what must come out of it: the stubs of all frameworks follow it."""

import math
from collections.abc import Mapping
from functools import cache

import pytest

import dhp
from dhp.core.records import ORIGINAL

DATASET = "mini/summeval"
_SAYS_NOTHING = dhp.JudgeSettings()


@cache
def _texts() -> Mapping[str, tuple[str, str]]:
    """Text -> variant and example, of every text of the set."""
    (part,) = dhp.perturb_datasets(DATASET)
    return {c.text: (c.variant, c.example) for c in part.candidates()}


def planted(text: str) -> float | None:
    """Typing errors cost 0.3, all else nothing; two texts with minor errors get no score, one raises."""
    variant, example = _texts()[text]
    examples = list(dict.fromkeys(e for _, e in _texts().values()))
    place = examples.index(example)
    if variant == "random_typos.minor" and place < 2:
        return None
    if variant == "random_typos.minor" and place == 2:
        raise RuntimeError("planted")
    lost = 0.3 if variant.startswith("random_typos") else 0.0
    return 0.9 - (place % 5) / 100 - lost


def found_in(prompt: str) -> str:
    """The text that a prompt shows: the longest that it holds."""
    return max((text for text in _texts() if text in prompt), key=len)


def check_planted(
    judge: object, settings: dhp.JudgeSettings = _SAYS_NOTHING, *, unparsed: int = 2, failed: int = 1
) -> dhp.Result:
    """Run the judge on the set: D and failures must be as planted."""
    (found,) = dhp.run(judge, DATASET, judge_settings=settings)
    d = {v.variant: v.d for v in found.variants}
    all_fell = math.log(2) / -math.log(0.05)  # of n pairs: p = 2 ** -n
    assert d["random_typos.major"] == pytest.approx(24 * all_fell)
    assert d["random_typos.minor"] == pytest.approx(21 * all_fell)
    assert {name: each for name, each in d.items() if "typos" not in name} == pytest.approx(
        dict.fromkeys([name for name in d if "typos" not in name], 0.0)
    )
    assert (found.ratings["unparsed"], found.ratings["failed"]) == (unparsed, failed), found.failures
    assert found.ratings["scored"] == found.ratings["asked"] - 3
    assert sum(variant == ORIGINAL for variant, _ in _texts().values()) == 24
    return found
