"""A plug-in of pytest: the fixture `judge_audit`, which fails a test like `dhp gate`."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from dhp.analysis.results import Results


@pytest.fixture(scope="session")
def judge_audit() -> "Callable[..., Results]":
    """`judge_audit(judge, dataset="mini", min_d_min=1, min_detection=0.9)`: runs it and returns the results.

    Parameters
    ----------
    judge
        What `dhp.run` takes as a model: a function, a scorer of a framework, a name.
    dataset
        As for `dhp.run`; default: the bundled data.
    min_d_min, min_d_avg, min_detection
        The least that every result must have, as for `dhp gate`, but detection as a share in [0, 1]; default:
        D_min of 1 where none is named.
    **options
        Further keywords of `dhp.run`, such as `judge_settings` and `n`.

    Raises
    ------
    pytest.fail.Exception
        With the line of `dhp gate`.
    """
    return _audit


def _audit(
    judge: object,
    dataset: Any = "mini",
    *,
    min_d_min: float | None = None,
    min_d_avg: float | None = None,
    min_detection: float | None = None,
    **options: Any,
) -> "Results":
    from dhp.run import run
    from dhp.runs.gate import Gate, check_results

    if min_d_min is min_d_avg is min_detection is None:
        min_d_min = 1.0
    gate = Gate(min_d_min, min_d_avg, None if min_detection is None else 100 * min_detection)
    results = run(judge, dataset, **options)
    verdict = check_results(results, gate)
    if not verdict.met:
        pytest.fail(verdict.line, pytrace=False)
    return results
