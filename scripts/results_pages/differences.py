"""Judges of the same texts against each other, kind by kind."""

from itertools import combinations

import pandas as pd
from results_pages.parts import Table

from dhp.content.catalog import variant_name
from dhp.runs.compare import compare_rated, recorded_results
from dhp.stats.compare import Pair


def differences(frame: pd.DataFrame, command: str) -> Table:
    """Every two judges by detection, over all kinds and of each.

    Parameters
    ----------
    frame
        Recorded scores of several judges of one set.
    command
        Prints the same figures.
    """
    (found,) = compare_rated(recorded_results(frame))
    kinds = [variant_name(rows[0].variant).replace("_", " ") for rows in found.damage]
    columns = (found.scores["detection"].pairs, *found.by_variant)
    by_judges = [{(pair.first, pair.second): pair for pair in column} for column in columns]
    names = [name.removesuffix(" (none)") for name in found.judges]
    rows = tuple(
        (f"{names[one]} – {names[other]}", *(_shown(column[one, other]) for column in by_judges))
        for one, other in combinations(range(len(names)), 2)
    )
    return Table(
        "Judges against each other",
        "Detection of the first less that of the second in points of per cent, with its 95 % interval, "
        f"over the {found.n:,} examples that all judges rated; labels are swapped prompt by prompt. * tells "
        "judges apart at 0.05 (Holm): the mean over all pairs of judges, the kinds over all pairs and kinds.",
        ("judges", "mean", *kinds),
        rows,
        (command,),
        judges=False,
    )


def _shown(pair: Pair) -> str:
    ends = f"{pair.low * 100:+z.0f} to {pair.high * 100:+z.0f}"
    return f"{pair.difference * 100:+z.0f} [{ends}]{' *' if pair.p_holm <= 0.05 else ''}"
