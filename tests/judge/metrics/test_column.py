"""`column/NAME`: what stands in a table of texts, and nothing where nothing stands there."""

from pathlib import Path

import pandas as pd
import pytest

import dhp
from dhp.core.errors import InputError
from dhp.judge.metrics.column import column_judge


@pytest.fixture
def texts(tmp_path: Path) -> str:
    rows = [
        {"id": "a", "system": "x", "source": "S", "output": "O", "BLEURT": "-0.5"},
        {"id": "a", "system": "y", "source": "S", "output": "P", "BLEURT": "1.25"},
        {"id": "b", "system": "x", "source": "T", "output": "Q", "BLEURT": ""},
        {"id": "b", "system": "y", "source": "T", "output": "R", "BLEURT": "high"},
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "texts.csv", index=False)
    return str(tmp_path / "texts.csv")


@pytest.mark.parametrize(("query", "sign"), [("", 1), ("?better=lower", -1)])
def test_scores_of_a_column(texts: str, query: str, sign: int) -> None:
    frame = dhp.judge(f"column/BLEURT{query}", texts)
    assert set(frame["metric"]) == {"bleurt"}
    assert list(frame["score"][:2]) == [-0.5 * sign, 1.25 * sign]
    assert list(frame["status"][2:]) == ["failed", "unparsed"]


def test_faults(texts: str) -> None:
    with pytest.raises(InputError, match="no column 'BLUERT'; did you mean 'BLEURT'"):
        dhp.judge("column/BLUERT", texts)
    with pytest.raises(InputError, match="degraded texts have no column"):
        dhp.run("column/BLEURT", "mini/summeval", n=2)
    for name, message in (
        ("column/", "its column is missing"),
        ("column/x?worse=1", "unknown setting 'worse'"),
    ):
        with pytest.raises(InputError, match=message):
            column_judge(name)
    with pytest.raises(InputError, match="better 'up'; allowed: higher, lower"):
        column_judge("column/x?better=up")
