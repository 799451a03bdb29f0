"""Ratings in parts: merged they are those of the whole table."""

from collections.abc import Iterator
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dhp
from dhp.analysis import merged_ratings as module
from dhp.analysis.merged_ratings import merged_ratings, ratings_of_file
from dhp.analysis.split_ratings import split_ratings
from dhp.core.errors import InputError

STATUSES = ("unparsed", "refused", "failed")


@st.composite
def tables(draw: st.DrawFn) -> pd.DataFrame:
    """Ratings with gaps, several samples, variants and metrics that not all examples have, clusters."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    samples, clustered, masses = draw(st.integers(1, 3)), draw(st.booleans()), draw(st.booleans())
    rows: list[dict[str, Any]] = []
    for model in ("a", "b"):
        for e in range(draw(st.integers(1, 8))):
            variants = ["original", *(v for v in ("x", "y", "z") if rng.random() < 0.7)]
            for metric in ("m", "n") if rng.random() < 0.8 else ("n",):
                for variant in variants:
                    for sample in range(samples):
                        scored = rng.random() < 0.8
                        rows.append(
                            {
                                "example": f"e{e}",
                                "variant": variant,
                                "metric": metric,
                                "sample": sample,
                                "score": float(rng.integers(1, 6)) if scored else None,
                                "status": "scored" if scored else str(rng.choice(STATUSES)),
                                "level": None if variant == "original" else f"level {variant}",
                                "raw": None if scored else str(rng.choice(["too long", "no server", ""])),
                                "rule": "labelled" if scored and rng.random() < 0.5 else None,
                                "model": model,
                            }
                            | ({"cluster": f"c{e // 2}"} if clustered else {})
                            | ({"missing_mass": rng.random() if scored else None} if masses else {})
                        )
    return pd.DataFrame(rows)


def parts_of(table: pd.DataFrame, ends: list[int]) -> Iterator[pd.DataFrame]:
    """The table cut behind some examples of each model."""
    for _, own in table.groupby("model", sort=False):
        names = list(dict.fromkeys(own["example"]))
        bounds = sorted({0, len(names), *(end % (len(names) + 1) for end in ends)})
        for start, end in pairwise(bounds):
            yield own[own["example"].isin(names[start:end])]


def assert_same(one: Any, other: Any) -> None:
    """That two sets of ratings hold the same, in the same order of variants and metrics."""
    left, right = asdict(one), asdict(other)
    for name, value in left.items():
        if name in ("place", "means", "asked", "unread", "clusters", "samples", "missing_mass", "failures"):
            continue
        assert value == right[name], name
    for name in ("means", "asked", "unread"):
        np.testing.assert_array_equal(left[name], right[name])
    for metric, scores in one.samples.items():
        if scores.size or other.samples[metric].size:  # without any score the number of columns says nothing
            np.testing.assert_array_equal(scores, other.samples[metric])
    assert (one.clusters is None) == (other.clusters is None)
    if one.clusters is not None:
        np.testing.assert_array_equal(one.clusters, other.clusters)
    assert (one.missing_mass is None) == (other.missing_mass is None)
    assert one.missing_mass is None or one.missing_mass == pytest.approx(other.missing_mass, rel=1e-12)
    assert one.failures == other.failures
    assert one.digest == other.digest


@pytest.mark.slow
@settings(max_examples=settings().max_examples // 2)  # each takes a tenth of a second
@given(tables(), st.lists(st.integers(0, 8), max_size=4))
def test_merged_parts_are_the_whole_table(table: pd.DataFrame, ends: list[int]) -> None:
    whole = list(split_ratings(table))
    merged = merged_ratings(parts_of(table, ends))
    assert [each.model for each in merged] == [each.model for each in whole]
    for one, other in zip(whole, merged, strict=True):
        # Variants and metrics stand in the order in which the parts have them, which is that of the table.
        assert_same(one, other)


def write_parts(folder: Path, table: pd.DataFrame, ends: list[int]) -> Path:
    folder.mkdir()
    for number, part in enumerate(parts_of(table, ends)):
        part.to_parquet(folder / f"part-{number}.parquet")
    return folder


def ratings(examples: int = 6, **columns: Any) -> pd.DataFrame:
    rows = [
        {
            "example": f"e{e}",
            "variant": v,
            "metric": "m",
            "score": 5.0 - e % 2 - (v != "original"),
        }
        for e in range(examples)
        for v in ("original", "worse")
    ]
    return pd.DataFrame(rows).assign(model="j", **columns)


def test_a_part_is_read_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_parts(tmp_path / "r.parquet", ratings(status="scored"), [2, 4])
    monkeypatch.setattr(module, "read_ratings", None)
    (found,) = ratings_of_file(folder)
    assert found.examples == tuple(f"e{i}" for i in range(6))
    ratings(status="scored").to_parquet(tmp_path / "one.parquet", row_group_size=4)
    (again,) = ratings_of_file(tmp_path / "one.parquet")
    assert again.digest == found.digest


def test_an_example_in_two_parts_is_read_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = ratings(status="scored")
    table.to_parquet(tmp_path / "r.parquet", row_group_size=3)
    (whole,) = split_ratings(table)
    read, paths = module.read_ratings, []
    monkeypatch.setattr(module, "read_ratings", lambda path, *_, **__: paths.append(path) or read(path))
    (found,) = ratings_of_file(tmp_path / "r.parquet")
    assert paths == [tmp_path / "r.parquet"]
    assert found.examples == whole.examples
    assert_same(whole, found)


def test_errors_count_rows_in_the_whole(tmp_path: Path) -> None:
    table = ratings(status="scored")
    table.loc[9, "score"] = np.inf
    table.to_parquet(tmp_path / "r.parquet", row_group_size=4)
    with pytest.raises(InputError, match=r"r\.parquet: row 10: "):
        dhp.analyze(tmp_path / "r.parquet")


def test_a_variant_with_two_levels_in_two_parts_is_named(tmp_path: Path) -> None:
    table = ratings(status="scored", level="word")
    table.loc[table["example"] == "e5", "level"] = "character"
    folder = write_parts(tmp_path / "r.parquet", table, [5])
    with pytest.raises(InputError, match="variant 'worse' has two levels, 'word' and 'character'"):
        dhp.analyze(folder)


def test_a_table_without_status_is_noted_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    table = ratings()
    table.loc[[1, 9], "score"] = None
    dhp.analyze(write_parts(tmp_path / "r.parquet", table, [2, 4]))
    assert [r.getMessage().count("2 rows") for r in caplog.records] == [1]
