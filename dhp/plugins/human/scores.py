"""Scores of systems' outputs by judges or humans, and the agreement of human raters.

`read_scores` checks a table. `scores_by_judge` and `human_scores` make of it for each metric an array of
samples or raters x sources x systems (`Scores`). `shared_items` says which sources and systems two of them
have in common, and `Scores.at` brings both into that order.
"""

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dhp.core.errors import InputError, suggest
from dhp.core.numbers import number_hint, numbers_of
from dhp.core.rating_forms import OVERALL
from dhp.core.tables import is_blank, read_table
from dhp.stats.arrays import Floats
from dhp.stats.krippendorff import krippendorff_alpha

if TYPE_CHECKING:
    import pandas as pd

NEEDED = ("source", "score")
"""What every table of scores has."""
OPTIONAL = ("sample", "model", "protocol", "rater", "status")
"""Further columns that it may have."""
_ALONE = {"system": "", "metric": OVERALL}
"""Column that a table may lack, and what then stands in it."""


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of one judge, or of all human raters together, by one metric."""

    sources: tuple[str, ...]
    systems: tuple[str, ...]
    samples: Floats
    """Shape (samples or raters, sources, systems); NaN without a score."""

    def at(self, sources: Sequence[str], systems: Sequence[str]) -> Floats:
        """The samples in the order of these names, shape (samples, sources, systems); NaN without a score."""
        row_of = {name: i for i, name in enumerate(self.sources)}
        column_of = {name: j for j, name in enumerate(self.systems)}
        # What it has not is at -1: a row and a column of NaN behind the last ones.
        rows = [row_of.get(name, -1) for name in sources]
        columns = [column_of.get(name, -1) for name in systems]
        padded = np.pad(self.samples, ((0, 0), (0, 1), (0, 1)), constant_values=np.nan)
        chosen: Floats = padded[:, rows][:, :, columns]
        return chosen


def mean_over(samples: Floats) -> Floats:
    """Means over the first axis, without the NaN in it; NaN if it holds nothing else."""
    defined = ~np.isnan(samples)
    count = defined.sum(axis=0)
    total = np.where(defined, samples, 0.0).sum(axis=0)
    means: Floats = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
    return means


def read_frame(file: "str | Path") -> "pd.DataFrame":
    """A table as it is; raises `InputError` for a file that holds none."""
    import pandas as pd

    return pd.DataFrame([dict(row.values) for row in read_table(Path(file)).rows])


def read_scores(source: "str | Path | pd.DataFrame", role: str = "ratings") -> "pd.DataFrame":
    """A checked table of scores.

    It has the columns `source, score` and perhaps `system, metric, sample, model, protocol, rater, status`;
    an empty score is a rating that failed. `role` is what messages call it. Raises `InputError` for a missing
    column, a score that is not a number, or a duplicate item.
    """
    import pandas as pd

    place = role if isinstance(source, pd.DataFrame) else str(source)
    frame = source.copy() if isinstance(source, pd.DataFrame) else read_frame(source)
    for column in NEEDED:
        if column not in frame:
            raise InputError(f"{place}: column '{column}' is missing; {suggest(column, frame.columns)}")
    lacking = {name: value for name, value in _ALONE.items() if name not in frame}
    frame = frame.assign(**lacking)
    ours = ("source", *_ALONE, "score", *OPTIONAL)
    # Any further column would tell duplicate rows apart below.
    frame = frame[[column for column in ours if column in frame]]
    empty = frame["score"].map(is_blank).astype(bool)
    score = numbers_of(frame["score"].mask(empty))
    wrong = score.isna() & ~empty
    wrong |= score.abs() == float("inf")  # it would take over every mean and correlation
    if wrong.any():
        row = int(wrong.to_numpy().argmax())
        value = frame["score"].iloc[row]
        hint = number_hint(value)
        raise InputError(f"{place}: row {row + 1}: score '{value}'; must be a number or nothing{hint}")
    # Names may be numbers in one file and texts in another: `1` is to meet `"1"`.
    texts = [column for column in frame if column not in ("score", "sample")]
    frame = frame.astype(dict.fromkeys(texts, str)).assign(score=score.astype(float))
    keys = [column for column in frame if column not in ("score", "status")]
    twice = frame.duplicated(keys)
    if twice.any():
        row = int(twice.to_numpy().argmax())  # the first one
        item = []
        for key in keys:
            if key not in lacking:
                item.append(f"{key} '{frame[key].iloc[row]}'")
        further = [name for name in ("system", "sample", "rater") if name not in keys or name in lacking]
        hint = f"; a column {' or '.join(further)} may tell them apart" if further else ""
        raise InputError(f"{place}: row {row + 1}: duplicate row of {', '.join(item)}{hint}")
    return frame


def scores_by_metric(frame: "pd.DataFrame") -> dict[str, Scores]:
    """Metric -> scores, of a table that holds one judge or the human raters."""
    import pandas as pd

    by_metric = {}
    axes = [column for column in ("sample", "rater") if column in frame]
    for metric, part in frame.groupby("metric", sort=False):
        source, sources = pd.factorize(part["source"])
        system, systems = pd.factorize(part["system"])
        # Samples and raters are one axis: what tells two scores of one item apart.
        # `dropna=False`: else rows with an empty sample or rater would have no number.
        sample = part.groupby(axes, sort=False, dropna=False).ngroup().to_numpy() if axes else 0
        values = np.full((int(np.max(sample, initial=0)) + 1, len(sources), len(systems)), np.nan)
        values[sample, source, system] = part["score"].to_numpy()
        by_metric[str(metric)] = Scores(tuple(sources), tuple(systems), values)
    return by_metric


def judges(frame: "pd.DataFrame") -> dict[str, "pd.DataFrame"]:
    """Name of a judge (its model, and its protocol if there are several) -> its ratings."""
    keys = [column for column in ("model", "protocol") if column in frame]
    if not keys:
        return {"judge": frame}
    names = frame[keys[0]]
    if len(keys) > 1 and frame["protocol"].nunique() > 1:
        names = frame["model"] + " (" + frame["protocol"] + ")"
    return {str(name): part for name, part in frame.groupby(names, sort=False)}


def scores_by_judge(table: "str | Path | pd.DataFrame") -> dict[str, dict[str, Scores]]:
    """Judge -> metric -> scores, of a file or table of ratings; raises `InputError` for a broken one."""
    by_judge = judges(read_scores(table))
    return {name: scores_by_metric(part) for name, part in by_judge.items()}


def human_scores(table: "str | Path | pd.DataFrame") -> dict[str, Scores]:
    """Metric -> scores of the human raters, of a file or table; raises `InputError` for a broken one."""
    return scores_by_metric(read_scores(table, "human"))


def shared_metrics(name: str, metrics: Iterable[str], known: Collection[str]) -> list[str]:
    """The metrics of a judge that people rated, too; raises `InputError` if they share no metric."""
    shared = [metric for metric in metrics if metric in known]
    if not shared:
        raise InputError(
            f"human: no metric of judge '{name}' ({', '.join(metrics)}); allowed: {', '.join(known)}"
        )
    return shared


def shared_items(
    people: Scores, judge: Scores, name: str, has: str, say: str = "people"
) -> tuple[list[str], list[str]]:
    """The sources and the systems of both, in the order of people's; raises `InputError` for none.

    `has` and `say` are for messages: what is missing, and who else names sources and systems.
    """
    rated_sources, rated_systems = set(judge.sources), set(judge.systems)
    sources = [source for source in people.sources if source in rated_sources]
    systems = [system for system in people.systems if system in rated_systems]
    # A table without systems has one, without a name, which the other table does not have.
    for lacks, has_it, which in ((judge, people, "ratings"), (people, judge, "human")):
        # A chain: the one has a single system without a name, the other has not.
        if lacks.systems == ("",) != has_it.systems:
            raise InputError(
                f"{which}: column 'system' is missing; the other table has it, e.g. '{has_it.systems[0]}'"
            )
    if not sources or not systems:
        what, rated, known = "source", judge.sources[0], people.sources[0]
        if sources:
            what, rated, known = "system", judge.systems[0], people.systems[0]
        raise InputError(
            f"human: no {what} of judge '{name}' {has}: the judge rated e.g. '{rated}', {say} e.g. '{known}'"
        )
    return sources, systems


@dataclass(frozen=True, slots=True)
class RaterAgreement:
    """Agreement of the raters of one metric."""

    raters: int
    """Number of human raters."""
    alpha: float | None
    """Krippendorff's alpha, interval level; None if all ratings are equal."""
    ceiling: float | None
    """Largest pooled Pearson correlation that a perfect judge can be expected to have with the raters' mean:
    the square root of the mean's reliability (Spearman-Brown with alpha as the reliability of one rater)."""


def rater_agreement(samples: Floats) -> RaterAgreement | None:
    """Agreement of several raters.

    Samples have the shape (raters, sources, systems), NaN if a rater did not rate an item. None for a
    single rater.
    """
    if len(samples) < 2:
        return None
    table = samples.reshape(len(samples), -1)
    alpha = krippendorff_alpha(table)
    if alpha is None:
        return RaterAgreement(len(samples), None, None)
    ratings = (~np.isnan(table)).sum(axis=0)
    per_item = float(ratings[ratings > 1].mean())
    # Spearman-Brown with the mean number of raters, as items may have different ones.
    reliability = per_item * alpha / (1 + (per_item - 1) * alpha) if alpha > 0 else 0.0
    return RaterAgreement(len(samples), alpha, math.sqrt(reliability))
