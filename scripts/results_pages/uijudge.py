"""UIJudge: a judge of 2026 on screenshots, clean pages against pages with one planted defect."""

from pathlib import Path

import pandas as pd
from results_pages.asking import asking_table
from results_pages.parts import Grid, SetFigures, Table, audit_of, tabled

import dhp
from dhp.analysis.reasons import Named, together
from dhp.core.tables import read_table

_COLUMNS = ("example", "variant", "verdict", "confidence", "metric", "model", "dataset", "cluster", "named")
_ANALYZE = tabled("uijudge", "dhp analyze ratings.csv --pass-mark true --details")


def uijudge(data: Path) -> SetFigures:
    """Detection by defect, and whether the judge names what it saw or let pass."""
    frame = uijudge_ratings(data)
    results = dhp.analyze(frame, analysis=dhp.AnalysisConfig(pass_mark=0.5))
    grid = Grid(
        "Pages with a defect fail their criterion",
        "The judge saw a screenshot and said whether the page meets a criterion. A pair is a clean page and "
        "the same with one defect planted against that criterion. alt-garble and alt-strip change the "
        "alternative text of pictures, which no screenshot shows: a negative control.",
        tuple(audit_of(r, r.model) for r in results),
        (_ANALYZE,),
    )
    named = _named(results[0])
    return SetFigures("uijudge", (grid,), (named, asking_table([(0.5, results)], (_ANALYZE,))), (grid, named))


def uijudge_ratings(data: Path) -> pd.DataFrame:
    """Verdicts with confidence, and of defects whether an open answer named them."""
    table = read_table(data / "uijudge" / "verdicts.csv")
    table.need(_COLUMNS)
    return pd.DataFrame([row.values for row in table.rows], dtype=object)[list(_COLUMNS)]


def _named(result: dhp.Result) -> Table:
    """Verdict against reason, over all defects and for each."""
    rows = [("all defects", *_counts(together([*result.reasons.values()])))]
    rows += [(kind, *_counts(result.reasons[kind])) for kind in sorted(result.reasons)]
    return Table(
        "Reason against verdict",
        "Pages with a defect. Seen: the verdict is no. Named: asked openly what is wrong with the page, the "
        "judge names the criterion that the defect breaks. A defect that is seen and not named is a right "
        "verdict for a reason unknown or wrong; one that is named and passes was known.",
        ("defect", "pages", "seen and named", "seen, not named", "named, yet passed", "neither"),
        tuple(rows),
        ("python scripts/results.py DATA --only uijudge --out pages",),
        judges=False,
    )


def _counts(pages: Named) -> list[str]:
    counts = (pages.texts, pages.seen_named, pages.seen_only, pages.named_only, pages.neither)
    return [str(count) for count in counts]
