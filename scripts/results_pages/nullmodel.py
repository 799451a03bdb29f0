"""NullModel: one fixed text without meaning against GPT-4 Turbo's answers, judged by GPT-4 Turbo."""

from pathlib import Path

import pandas as pd
from results_pages.parts import SetFigures, Table

import dhp
from dhp.core.records import ORIGINAL
from dhp.core.tables import read_table
from dhp.report.labels import percent, percents

JUDGE = "GPT-4 Turbo, AlpacaEval 2"
_ANALYZE = (
    "python scripts/results.py DATA --ratings nullmodel > ratings.csv && dhp analyze ratings.csv --details"
)


def nullmodel(data: Path) -> SetFigures:
    """One row: an attack, a change that must not raise a score."""
    (result,) = dhp.analyze(nullmodel_ratings(data))
    (attack,) = result.attacks
    assert attack.detection is not None
    row = (
        result.model,
        attack.variant,
        attack.state,
        f"{percent(attack.detection)} [{percents(attack.detection_ci)}]",
        f"{percent(1 - attack.detection)}",
        str(attack.n),
    )
    table = Table(
        "A fixed text in place of an answer",
        "The judge saw both and said by the probabilities of its tokens which it prefers. Detection is the "
        "share of the instructions on which it prefers the answer, with its 95 % interval.",
        ("judge", "attack", "state", "detection", "the fixed text wins", "pairs"),
        (row,),
        (_ANALYZE,),
        words=3,
        signatures=(result.signature,),
    )
    return SetFigures("nullmodel", (), (table,), (table,))


def nullmodel_ratings(data: Path) -> pd.DataFrame:
    """Preference as two scores that add up to 1: of the answer, and of the fixed text."""
    rows = []
    for row in read_table(data / "nullmodel" / "preferences.jsonl").rows:
        fixed = float(row.text("preference")) - 1
        for variant, score in ((ORIGINAL, 1 - fixed), ("fixed text", fixed)):
            rows.append(
                {
                    "model": JUDGE,
                    "dataset": "nullmodel",
                    "example": row.text("id"),
                    "variant": variant,
                    "metric": "preference",
                    "score": score,
                    "level": "attack",
                }
            )
    return pd.DataFrame(rows)
