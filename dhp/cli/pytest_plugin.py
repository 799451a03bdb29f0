"""A plug-in of pytest: the fixture `judge_audit`, which fails a test like `dhp gate`."""

import inspect
import warnings
from collections.abc import Callable, Collection
from dataclasses import replace
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
    min_detection
        The least detection that every result must have, in per cent, as for `dhp gate`.
    must_notice
        Kinds of damage that must be shown to be noticed; default: `all` without any other limit.
    max_pass, max_fail
        At the pass mark (`analysis=dhp.AnalysisConfig(pass_mark=7)`): the share of the damaged texts of any
        kind that may pass, and of the originals that may fail, in per cent.
    max_missing
        The share of its scores, in per cent, that a kind of text may lack; default: that of `dhp gate`.
    require_proof, ignore_controls
        Whether what is undecided fails too, and whether a judge with a false alarm may pass.
    **options
        Further keywords of `dhp.run`, such as `judge_settings` and `n`.

    Raises
    ------
    pytest.fail.Exception
        With the line of `dhp gate`. Where that is undecided and no proof is required, the line is a warning.
    InputError, TypeError
        For a limit out of range; for a keyword that is none, with the near name.
    """
    return _audit


def _audit(
    judge: object,
    dataset: Any = "mini",
    *,
    min_detection: float | None = None,
    must_notice: str | Collection[str] = (),
    max_pass: float | None = None,
    max_fail: float | None = None,
    max_missing: float | None = None,
    require_proof: bool = False,
    ignore_controls: bool = False,
    **options: Any,
) -> "Results":
    from dhp.core.options import as_list, check_keywords
    from dhp.run import run
    from dhp.runs.conditions import Gate
    from dhp.runs.gate import check_run

    known = [*inspect.signature(_audit).parameters, *inspect.signature(run).parameters]
    check_keywords("judge_audit", options, [name for name in known if name != "options"])
    limited = any(limit is not None for limit in (min_detection, max_pass, max_fail))
    gate = Gate(
        min_detection=min_detection,
        must_notice=as_list(must_notice) if must_notice or limited else ["all"],
        max_pass=max_pass,
        max_fail=max_fail,
        require_proof=require_proof,
        ignore_controls=ignore_controls,
    )
    if max_missing is not None:
        gate = replace(gate, max_missing=max_missing)
    results = run(judge, dataset, **options)
    found = check_run(results, gate)
    if not found.passed:
        pytest.fail(found.line, pytrace=False)
    if found.state == "undecided":
        warnings.warn(found.line, stacklevel=2)
    return results
