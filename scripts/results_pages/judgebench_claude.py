"""JudgeBench on Claude's answers: three judges in both orders, of which two often give no verdict."""

from pathlib import Path

import pandas as pd
from results_pages.parts import Audit, Grid, SetFigures, Table, audit_of, tabled

import dhp
from dhp.core.rating_forms import ORDERS, preferred
from dhp.core.tables import read_table
from dhp.report.labels import percent, percents

_ANALYZE = "dhp analyze DATA/judgebench_claude/verdicts.csv --details"
_ANALYZE_READ = tabled("judgebench_claude_read", "dhp analyze ratings.csv")
_BATTLE = "dhp battle --recorded DATA/judgebench_claude/verdicts.csv"


def judgebench_claude(data: Path) -> SetFigures:
    """Detection with silence as ties, and what becomes of it if silent pairs are left out."""
    frame = _verdicts(data)
    audits = tuple(audit_of(r, r.model) for r in dhp.analyze(frame))
    grid = Grid(
        "Right answers preferred, in both orders",
        "Both answers were shown, in both orders. Verdicts that flip with the order are ties, and so is a "
        "pair without a verdict; where one order has none, the other decides.",
        audits,
        (_ANALYZE,),
    )
    return SetFigures("judgebench_claude", (grid,), (_silence(audits, data),), (grid,))


def _verdicts(data: Path) -> pd.DataFrame:
    """What the judges preferred in both orders; empty where there is no verdict."""
    table = read_table(data / "judgebench_claude" / "verdicts.csv")
    table.need(["example", "variant", *ORDERS, "model", "dataset"])
    return pd.DataFrame([row.values for row in table.rows], dtype=object)


def judgebench_claude_read(data: Path) -> pd.DataFrame:
    """What the judges preferred, without the pairs that lack a verdict in some order."""
    frame = _verdicts(data)
    return frame[_signs(frame).notna().all(axis=1)]


def _signs(frame: pd.DataFrame) -> pd.DataFrame:
    """1 if the right answer is preferred, -1 if the wrong one is, 0 for a tie, NaN if nothing is said."""
    return pd.DataFrame({order: frame[order].map(preferred) for order in ORDERS}, dtype=float)


def _silence(audits: tuple[Audit, ...], data: Path) -> Table:
    frame = _verdicts(data)
    signs = _signs(frame)
    read_alone = {r.model: r.detection for r in dhp.analyze(judgebench_claude_read(data))}
    rows = []
    for audit in audits:
        own = signs[frame["model"] == audit.judge]
        right = int((own.sum(axis=1) > 0).sum())  # no verdict counts 0, as the authors have it
        alone = read_alone[audit.judge]
        rows.append(
            (
                audit.judge,
                f"{own.isna().to_numpy().mean():.1%}",
                f"{int(own.isna().all(axis=1).sum())} of {len(own)}",
                f"{percent(alone.avg)} {percents(alone.ci['avg'])}",
                f"{percent(audit.detection)} {percents(audit.ci)}",
                f"{right / len(own):.1%} ({right} of {len(own)})",
            )
        )
    return Table(
        "What silence does",
        "The share of verdicts that are missing, and the pairs without any; mean detection if pairs that "
        "lack a verdict are left out, and if silence is a tie. Accuracy is the rule of JudgeBench: the share "
        "of all pairs in which the two verdicts together favour the right answer; a tie or silence in both "
        "orders is wrong. The last command prints it by kind, in the column together.",
        ("judge", "no verdict", "silent pairs", "left out", "as ties", "accuracy"),
        tuple(rows),
        (_ANALYZE_READ, _ANALYZE, _BATTLE),
    )
