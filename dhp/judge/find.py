"""Judges by name, `provider/name`."""

from collections.abc import Callable

from dhp.errors import InputError, near
from dhp.judge.api import Judge
from dhp.judge.baseline import ConstantJudge, RandomJudge
from dhp.judge.surface import SurfaceJudge
from dhp.registry import Registry

_BASELINES: dict[str, Callable[[int], Judge]] = {
    "baseline/constant": lambda seed: ConstantJudge(),
    "baseline/random": RandomJudge,
    "baseline/surface": lambda seed: SurfaceJudge(),
}


def find_judge(model: str, *, seed: int = 0) -> Judge:
    """The judge called `provider/name`; raises `InputError` with the near name for an unknown one."""
    if "/" not in model:
        raise InputError(f"model '{model}': must have the form provider/name; {near(model, _BASELINES)}")
    return Registry("model", _BASELINES)[model](seed)
