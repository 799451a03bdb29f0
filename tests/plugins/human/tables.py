"""Tables of scores, as people and judges give them."""

from collections.abc import Sequence

import numpy as np
import pandas as pd


def table(
    values: np.ndarray, metric: str = "fluency", systems: Sequence[str] = (), **more: object
) -> pd.DataFrame:
    """A row for each source and system of an array of scores, with further columns of one value."""
    rows = []
    for i, row in enumerate(values):
        for j, score in enumerate(row):
            system = systems[j] if systems else f"m{j}"
            rows.append({"source": f"s{i}", "system": system, "metric": metric, "score": score, **more})
    return pd.DataFrame(rows)
