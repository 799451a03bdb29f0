"""Charts as files: each in three forms, in colours of its own, with the figures that it shows."""

import csv
import re
from pathlib import Path

import pytest

from dhp.analysis.results import Results
from dhp.core import hiding
from dhp.core.errors import InputError
from dhp.report.charts import COLOURS
from dhp.report.figures import write_figures
from tests.cli.conftest import Run, dhp
from tests.report.made import dose_response, result, row

__all__ = ["dhp"]

SEEN = result(row("random_typos.minor", d=2.5, detection=0.8))


@pytest.mark.slow
def test_each_chart_is_svg_pdf_and_its_figures(tmp_path: Path) -> None:
    results = [SEEN, result(row("random_typos.minor"), model="../../evil <x>")]
    found = write_figures(results, tmp_path / "new", ("kinds", "D"))
    assert {path.parent for path in found} == {tmp_path / "new"}
    assert {path.name for path in found} == {path.name for path in (tmp_path / "new").iterdir()}
    assert [path.suffix for path in found] == [".svg", ".pdf", ".csv"] * (len(found) // 3)
    for path in found:
        data = path.read_bytes()
        if path.suffix == ".svg":
            assert data.count(b"<svg") == 1
            assert not [colour for colour in COLOURS.values() if colour.encode() in data], "not of the page"
        if path.suffix == ".pdf":
            assert data.startswith(b"%PDF-")
    kinds, d = (
        next(p for p in found if p.suffix == ".csv" and p.name.startswith(n)) for n in ("kinds", "D-")
    )
    with kinds.open() as file:
        rows = list(csv.DictReader(file))
    assert [each["kind"] for each in rows] == ["typos, minor", "harmless edits"]
    assert float(rows[0]["detection"]) == 0.8
    with d.open() as file:
        assert ("typos, minor", "2.5") in {(each["of"], each["d"]) for each in csv.DictReader(file)}


@pytest.mark.slow
def test_doses_are_drawn_too_and_the_same_results_give_the_same_files(tmp_path: Path) -> None:
    dosed = result(curves=(dose_response(3.0),))
    one, two = (write_figures([dosed], tmp_path / name) for name in "ab")
    assert {re.match("[a-z]+", path.name)[0] for path in one} == {"doses"}  # type: ignore[index]
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in two]


@pytest.mark.slow
def test_several_results_are_one_chart_of_judges_by_kinds(tmp_path: Path, dhp: Run) -> None:
    other = result(row("random_typos.minor", detection=0.4), model="other")
    found = write_figures([SEEN, other], tmp_path)
    assert [path.name for path in found] == [f"kinds-by-judge.{form}" for form in ("svg", "pdf", "csv")]
    with found[-1].open() as file:
        cells = [(each["kind"], each["of"], each["detection"]) for each in csv.DictReader(file)]
    assert cells == [("typos, minor", SEEN.judge, "0.8"), ("typos, minor", other.judge, "0.4")]
    with pytest.raises(InputError, match="unknown chart 'kindz'; allowed: overview, kinds"):
        write_figures([SEEN], tmp_path, ["kindz"])


def test_other_forms_are_refused(tmp_path: Path, dhp: Run) -> None:
    done = dhp("report", str(tmp_path), "--figures", str(tmp_path / "f"), "--out", "x.html")
    assert done.code == 2
    assert "--figures: " in done.err
    assert Results([SEEN]).plot().get_size_inches()[0] == 7


@pytest.mark.slow
def test_a_secret_is_in_no_name_and_no_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Letters of an SVG and of a PDF are outlines and packed: the pages are those of the hidden name."""
    hides, secret = result(SEEN.variants[0], model="***"), "gate-of-figures-1"
    (tmp_path / "hidden").mkdir()
    plain = write_figures([hides], tmp_path / "hidden", ("kinds", "D"))
    monkeypatch.setattr(hiding, "_replacements", ((secret, "***"),))
    found = write_figures([result(SEEN.variants[0], model=secret)], tmp_path / "shown", ("kinds", "D"))
    assert [path.name for path in found] == [path.name for path in plain]
    assert [path.read_bytes() for path in found] == [path.read_bytes() for path in plain]
