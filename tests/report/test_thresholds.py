"""What is said of thresholds, by hand."""

from dataclasses import replace

import pandas as pd
import pytest

import dhp
from dhp.analysis.result_parts import DoseResponse, DoseThreshold
from dhp.report.findings import findings, sentences


@pytest.mark.parametrize(
    ("typos", "deletions", "said"),
    [
        (
            DoseThreshold(6.2, 4.1, 9.8),
            DoseThreshold(0.0, 0.0, 1.5),
            "notices 7 typos [5 to 10] and missing letters from 1 on in 400 characters",
        ),
        (
            DoseThreshold(6.2, 4.1, None),
            DoseThreshold(None, 11.7, None),
            "notices 7 typos [5 or more] in 400 characters; "
            "T75 not reached with 50 missing letters [12 or more]",
        ),
        (
            DoseThreshold(None, None, None),
            None,
            "T75 not reached with 50 typos in 400 characters; no T75 of missing letters",
        ),
    ],
)
def test_the_smallest_damage_seen_is_said(
    typos: DoseThreshold | None, deletions: DoseThreshold | None, said: str
) -> None:
    curves = tuple(
        DoseResponse(name, (1, 10, 50), t75=t75, characters=400)
        for name, t75 in (("random_typos", typos), ("random_deletions", deletions))
    )
    rows = [(f"e{i}", variant, "m", 1) for i in range(6) for variant in ("original", "v")]
    (result,) = dhp.analyze(pd.DataFrame(rows, columns=["example", "variant", "metric", "score"]))
    (sentence,) = sentences([findings(replace(result, curves=curves))])
    assert sentence.said == f"{said}."
