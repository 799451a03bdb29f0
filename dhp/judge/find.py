"""Judges by name, `provider/name`."""

from collections.abc import Callable

from dhp.errors import InputError, near
from dhp.judge.api import Judge
from dhp.judge.baseline import ConstantJudge, RandomJudge
from dhp.judge.mock import mock_judge
from dhp.judge.recorded import RecordedJudge
from dhp.judge.surface import SurfaceJudge
from dhp.llm.find import PROVIDERS
from dhp.registry import Registry

_BASELINES: dict[str, Callable[[int], Judge]] = {
    "baseline/constant": lambda seed: ConstantJudge(),
    "baseline/random": RandomJudge,
    "baseline/surface": lambda seed: SurfaceJudge(),
}

_FINDERS: dict[str, Callable[[str, int], Judge]] = {
    "baseline": lambda model, seed: Registry("model", _BASELINES)[model](seed),
    "mock": mock_judge,
    "replay": lambda model, seed: RecordedJudge(model),
}


def find_judge(model: str, *, seed: int = 0) -> Judge:
    """The judge called `provider/name` that asks no language model.

    Names: `baseline/NAME`, `mock/KIND?dial=value` and `replay/FILE?setting=value`. Raises `InputError` with
    the near name for an unknown one.
    """
    provider, slash, _ = model.partition("/")
    if not slash:
        providers = ", ".join(sorted([*_FINDERS, *PROVIDERS]))
        raise InputError(
            f"model '{model}': must have the form provider/name, e.g. openai/gpt-4o-mini; "
            f"providers: {providers}"
        )
    if provider not in _FINDERS:
        known = near(provider, [*_FINDERS, *PROVIDERS])
        raise InputError(f"model '{model}': unknown provider '{provider}'; {known}")
    return _FINDERS[provider](model, seed)
