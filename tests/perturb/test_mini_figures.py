"""Figures of the bundled data that no change of the code may move."""

import json
import math
from pathlib import Path

import pytest

import dhp

ROWS = json.loads((Path(__file__).parent.parent / "data" / "mini_figures.json").read_text())
"""Rule variants: [judge, dataset, variant, {"combined": [D, p, ...], metric: [p, ...]}], seed 0; what
follows is no longer made."""


@pytest.mark.slow
@pytest.mark.parametrize("judge", ["mock/noisy", "baseline/surface"])
def test_the_figures_of_rule_variants_are_as_they_were(judge: str) -> None:
    found: dict[tuple[str, str], dict[str, list[float]]] = {}
    for result in dhp.run(judge, "mini"):
        for row in result.variants:
            figures = {"combined": [row.d, row.p]}
            for metric, cell in row.metrics.items():
                figures[metric] = [cell.p]
            found[result.dataset, row.variant] = figures
    pinned = [row for row in ROWS if row[0] == judge]
    assert len(pinned) == 33
    for _, dataset, variant, figures in pinned:
        assert found[dataset, variant].keys() == figures.keys()
        for name, values in figures.items():
            for new, old in zip(found[dataset, variant][name], values, strict=False):
                assert math.isclose(new, old, rel_tol=1e-12, abs_tol=1e-12), (dataset, variant, name)
