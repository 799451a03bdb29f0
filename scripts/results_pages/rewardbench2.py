"""RewardBench 2: eight ratings each of three language models of 2026, and the scores of a reward model."""

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from results_pages.asking import asking_table
from results_pages.parts import Grid, SetFigures, Table, audit_of, differences, tabled
from results_pages.recorded_scores import read_recorded_scores
from scipy.stats import t

import dhp
from dhp.core.records import ORIGINAL

_ANALYZE = tabled("rewardbench2", "dhp analyze ratings.csv --details")
_MARKS = (6.5, 7.0)
_REWARD_MODEL = "skywork"
_ONE = tabled(
    "rewardbench2",
    "python -c \"import dhp, pandas; f = pandas.read_csv('ratings.csv'); [print(k, r.model, r.detection.avg) "
    "for k in range(8) for r in dhp.analyze(f[f['sample'] == k])]\"",
)


def rewardbench2(data: Path) -> SetFigures:
    """Detection of each judge by kind, judges against each other, and eight ratings against one."""
    frame = rewardbench2_ratings(data)
    grid = Grid(
        "Worse answers rated lower",
        "Each worse answer is a pair with the good one of its prompt. Eight ratings are averaged; the "
        "reward model gave one score.",
        tuple(audit_of(r, r.model) for r in dhp.analyze(frame)),
        (_ANALYZE,),
    )
    tables = (
        differences(frame, tabled("rewardbench2", "dhp compare ratings.csv")),
        _eight_against_one(frame),
        _asking(frame),
    )
    return SetFigures("rewardbench2", (grid,), tables, (grid,))


def _asking(frame: pd.DataFrame) -> Table:
    """At two marks, of the judges that rate from 1 to 10."""
    rated = frame[~frame["model"].str.startswith(_REWARD_MODEL)]
    marked = [(mark, dhp.analyze(rated, analysis=dhp.AnalysisConfig(pass_mark=mark))) for mark in _MARKS]
    commands = tuple(
        tabled("rewardbench2", f"dhp analyze ratings.csv --pass-mark {mark:g}") for mark in _MARKS
    )
    return asking_table(marked, commands)


def rewardbench2_ratings(data: Path) -> pd.DataFrame:
    """The ratings of all judges."""
    return read_recorded_scores("rewardbench2", *sorted((data / "rewardbench2_judges").glob("*.jsonl")))


def _eight_against_one(frame: pd.DataFrame) -> Table:
    found = {
        str(model): losses(own)
        for model, own in frame.groupby("model", sort=False)
        if own["sample"].nunique() > 1
    }
    kinds = list(next(iter(found.values())))
    rows = []
    for model, own in found.items():
        eight = float(np.mean([own[kind][0] for kind in kinds]))
        one = float(np.mean([own[kind][1] for kind in kinds]))
        error = math.sqrt(sum(own[kind][2] ** 2 for kind in kinds)) / len(kinds)
        clusters = sum(own[kind][3] for kind in kinds)
        cells = [_loss(*own[kind]) for kind in kinds]
        rows.append((model, f"{eight:.1%}", f"{one:.1%}", _loss(eight, one, error, clusters), *cells))
    return Table(
        "Eight ratings against one",
        "Mean detection by the mean of eight ratings, and by one: the mean over the eight single ones. "
        "What one loses, in points of per cent, with its 95 % interval by Student's t over prompts. The "
        "second command prints detection by each single rating.",
        ("judge", "eight", "one", "one loses, mean", *kinds),
        tuple(rows),
        (_ANALYZE, _ONE),
    )


def losses(ratings: pd.DataFrame) -> Mapping[str, tuple[float, float, float, int]]:
    """Kind -> detection by the mean of all ratings, by one, the standard error of the difference, prompts.

    One judge's ratings; the error takes the pairs of a prompt together.
    """
    wide = ratings.pivot(index=["cluster", "example", "variant"], columns="sample", values="score").astype(
        float
    )
    good = wide.xs(ORIGINAL, level="variant")
    found = {}
    for kind in dict.fromkeys(v for v in ratings["variant"] if v != ORIGINAL):
        worse = wide.xs(kind, level="variant")
        paired = good.loc[worse.index]
        every = _detected(paired.mean(axis=1), worse.mean(axis=1))
        single = pd.concat([_detected(paired[k], worse[k]) for k in wide.columns], axis=1)
        drops = every.sub(single.mean(axis=1)).dropna()
        by_prompt = (drops - drops.mean()).groupby(level="cluster").sum()
        count = len(by_prompt)
        error = math.sqrt(float((by_prompt**2).sum()) * count / (count - 1)) / len(drops)
        found[kind] = float(every.mean()), float(single.mean().mean()), error, count
    return found


def _detected(good: pd.Series, worse: pd.Series) -> pd.Series:
    """1 where the worse answer got less, a half where it got the same or a score lacks."""
    return (np.sign((good - worse).round(9).fillna(0.0)) + 1) / 2


def _loss(eight: float, one: float, error: float, clusters: int) -> str:
    width = float(t.ppf(0.975, clusters - 1)) * error
    lost = eight - one
    return f"{lost * 100:.1f} [{(lost - width) * 100:.1f} to {(lost + width) * 100:.1f}]"
