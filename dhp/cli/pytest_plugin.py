"""A plug-in of pytest: the fixture `judge_audit`, which fails a test like `dhp gate`."""

import inspect
import warnings
from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from dhp.analysis.results import Results


@pytest.fixture(scope="session")
def judge_audit() -> "Callable[..., Results]":
    """`judge_audit(judge, dataset="mini", min_detection=90)`: runs it and returns the results.

    Parameters
    ----------
    judge
        What `dhp.run` takes as a model: a function, a scorer of a framework, a name.
    dataset
        As for `dhp.run`; default: the bundled data.
    min_detection, must_notice, max_pass, max_fail, max_drop, against, require_proof, ...
        Conditions, all of `dhp.gate` and with the same meaning. Without a limit: `must_notice="all"`.
    **options
        Further keywords of `dhp.run`, such as `judge_settings` and `n`.

    Raises
    ------
    pytest.fail.Exception
        With the line of `dhp gate`. If that is undecided and no proof is required, the line is a warning.
    InputError, TypeError
        For a limit out of range; for an unknown keyword, with the near name.
    """
    return _audit


def _audit(judge: object, dataset: Any = "mini", **options: Any) -> "Results":
    from dhp.core.errors import DhpError, UnknownKeyword

    __tracebackhide__ = True
    try:
        return _audited(judge, dataset, **options)
    except (DhpError, UnknownKeyword) as e:  # pytest then shows the line of the test, and none of ours
        raise e.with_traceback(None) from None


def _audited(judge: object, dataset: Any, **options: Any) -> "Results":
    from dhp.core.options import check_keywords
    from dhp.run import run
    from dhp.runs.conditions import Gate
    from dhp.runs.gate import check_run

    names = [field.name for field in fields(Gate)]
    check_keywords("judge_audit", options, [*inspect.signature(run).parameters, *names])
    conditions = {name: options.pop(name) for name in names if name in options}
    # `Gate` refuses to hold without any limit; a test without one asks for all damage.
    limits = ("min_detection", "max_pass", "max_fail", "against", "must_notice")
    if all(conditions.get(limit) in (None, (), [], "") for limit in limits):
        conditions["must_notice"] = "all"
    gate = Gate(**conditions)  # before the run, which may cost money
    results = run(judge, dataset, **options)
    outcome = check_run(results, gate)
    if not outcome.passed:
        pytest.fail(outcome.sentence, pytrace=False)
    if outcome.state == "undecided":
        # 3 leads past `_audited` and `_audit` to the line of the test.
        warnings.warn(outcome.sentence, stacklevel=3)
    return results
