"""A word of a verdict and a column of results are declared once: one more of each is on every surface."""

import ast
import contextlib
import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import dhp
from dhp.analysis import results as records
from dhp.analysis.results import Results, VariantResult
from dhp.cli.main import main
from dhp.content.catalog import kind_name
from dhp.core import verdicts
from dhp.core.files import indented_json
from dhp.core.records import Example
from dhp.core.verdicts import NOTICED, STILL, VERDICTS, Verdict, foremost, in_sentence, verdict_of
from dhp.leaderboard.rows import BESIDE, COST, MODEL, PROTOCOL, RANK, SCORED, SECONDS
from dhp.report.columns import (
    AVERAGES,
    DIFFERENCE,
    KIND,
    KINDS,
    METRICS,
    NEWLY,
    NO_LONGER,
    PAPER,
    RUNS,
    legend,
)
from dhp.report.compared_page import compared_page
from dhp.report.document import Column
from dhp.report.findings import sentences
from dhp.report.page import write_report
from dhp.report.runs_index import write_index
from dhp.runs.alike import rated_by_dataset
from dhp.runs.compare import compare_rated
from dhp.runs.reader import read_run
from tests.quick import undrawn_charts
from tests.report.made import result, row
from tests.unsealed import unsealed

__all__ = ["undrawn_charts"]

PACKAGE = Path(dhp.__file__).parent
WORD, SIGN, MEANING = "half noticed", "◒", "noticed in every second text"


OTHER_MEANING = {
    "leaderboard/site.py",  # fields of files
    "leaderboard/tables.py",
    "judge/judges/mock.py",  # the mock judge that is called blind
    "plugins/human/labels.py",  # states of an agreement
    "plugins/probes/statistics.py",  # states of a habit
    "report/junit.py",  # states of a condition of a gate
    "runs/gate.py",
    "runs/gate_findings.py",
    "runs/level_shift.py",
    "runs/losses.py",
    "cli/pytest_plugin.py",
}


@pytest.fixture
def seventh() -> Iterator[Verdict]:
    """One more word on damage, as one more entry of the table makes it."""
    yield Verdict(
        WORD,
        about="damage",
        standing="weak",
        sign=SIGN,
        style="magenta",
        fill=("#fedcba", "#123456"),
        mark=("#abcdef", "#654321"),
        phrase="half notices {}",
        explanation=MEANING,
    )
    del VERDICTS[WORD]
    records._adapter.cache_clear()


@pytest.fixture
def run_with_it(seventh: Verdict, tmp_path: Path) -> Path:
    """A finished run that says the word of its first kind of damage."""
    records._adapter.cache_clear()
    folder = tmp_path / "run"
    (result,) = dhp.run("mock/ideal", "mini/story_cloze", n=8, out=folder, progress=False)
    unsealed(folder)
    first = replace(result.variants[0], verdict=seventh)
    (folder / "results.json").write_text(
        indented_json(replace(result, variants=(first, *result.variants[1:])).to_dict()), encoding="utf-8"
    )
    dhp.run("mock/noisy", "mini/story_cloze", n=8, out=tmp_path / "other", progress=False)
    return folder


def table_of(folder: Path, capsys: pytest.CaptureFixture[str], *options: str) -> str:
    """What `dhp report --table` prints."""
    with contextlib.suppress(SystemExit):
        main(["report", str(folder), "--table", *options])
    return capsys.readouterr().out


def surfaces(folder: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    """Every form in which the results of a run show."""
    found: dict[str, str] = {}
    for name in ("terminal", "markdown", "csv", "latex"):
        found[name] = table_of(folder, capsys, "--details", *([] if name == "terminal" else [f"--{name}"]))
    results = read_run(folder).results
    found["page"] = write_report(folder, progress=None).read_text("utf-8")
    alone = folder.parent / "alone.json"  # a board recomputes the verdicts of a whole run
    alone.write_bytes((folder / "results.json").read_bytes())
    site = dhp.leaderboard(alone, folder.parent / "site", progress=False).parent
    found["board"] = "".join(path.read_text("utf-8") for path in site.rglob("models/*.html"))
    found["index"] = write_index(folder.parent).read_text("utf-8")
    runs = [read_run(folder), read_run(folder.parent / "other")]
    rated = rated_by_dataset(runs)
    found["compared"] = compared_page(rated, compare_rated(rated, resamples=99), runs)
    found["notebook"] = results._repr_html_()
    found["print"] = str(results)
    found["frame"] = results.to_frame().to_csv()
    return found


@pytest.mark.slow
def test_a_seventh_word_is_on_every_surface(
    run_with_it: Path, seventh: Verdict, capsys: pytest.CaptureFixture[str]
) -> None:
    found = surfaces(run_with_it, capsys)
    assert [name for name, text in found.items() if WORD not in text] == []
    results = read_run(run_with_it).results
    (sentence,) = sentences(results)
    assert "half notices" in str(sentence)
    for name in ("page", "board", "notebook"):
        assert ".half-noticed { --fill: light-dark(#fedcba, #123456)" in found[name], name
    assert f"{SIGN} {WORD}: {MEANING}" in found["page"], "the key"
    assert results[0].variants[0].state is seventh
    assert results[0].noticed_of == "5 of 6", "it is no good word"


@pytest.mark.slow
def test_one_more_column_is_on_every_surface(run_with_it: Path, capsys: pytest.CaptureFixture[str]) -> None:
    of_kind = Column[VariantResult]("double pairs", lambda row: 2 * row.n, str, "twice the pairs")
    of_run = Column[dhp.Result]("size in words", lambda result: f"about {result.n}", str, "the size")
    KINDS.append(of_kind)
    RUNS.append(of_run)
    try:
        found = surfaces(run_with_it, capsys)
    finally:
        KINDS.remove(of_kind)
        RUNS.remove(of_run)
    by_kind = ("csv", "frame")  # with details these hold a row for each kind
    assert [name for name, text in found.items() if "about 8" not in text and name not in by_kind] == []
    for name in ("index", "compared"):  # these name kinds, and have no table of them
        del found[name]
    for name, text in found.items():
        assert "double pairs" in text or "double_pairs" in text, name
        assert re.search(r"\b16\b", text), name


HEADINGS = {
    column.heading
    for column in (
        *(RANK, MODEL, PROTOCOL, COST, SECONDS, SCORED, *BESIDE),
        *(KIND, *KINDS, *METRICS, *RUNS, *PAPER, DIFFERENCE, NEWLY, NO_LONGER),
    )
}


def spelled_headings(text: str) -> set[str]:
    """The headings of columns that a template or script spells, also with more after a comma."""
    heads = re.findall(r"<th[^>]*>(?:<span[^>]*>)?([^<{]+)|\"th\", \"([^\"]+)", text)
    return HEADINGS & {(in_markup or in_script).split(",")[0].strip() for in_markup, in_script in heads}


def test_no_template_or_script_spells_the_heading_of_a_column() -> None:
    files = [path for path in (PACKAGE / "report" / "assets").iterdir() if path.suffix in (".html", ".js")]
    assert len(files) > 10
    spelled = {path.name: names for path in files if (names := spelled_headings(path.read_text("utf-8")))}
    assert spelled == {}
    planted = '<th scope="col" class="drawn">detection, drawn</th><th>{{ KIND.heading }}</th><th>judge</th>'
    assert spelled_headings(planted) == {"detection"}
    assert spelled_headings('made("th", "difference", { scope: "col" })') == {"difference"}


@pytest.mark.slow
def test_columns_of_files_hold_plain_values(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "run"
    (result,) = dhp.run("mock/noisy", "mini/story_cloze", n=8, out=folder, progress=False)
    (line,) = csv.DictReader(io.StringIO(table_of(folder, capsys, "--csv")))
    assert float(line["d_avg"]) == result.d_avg
    assert float(line["d_min"]) == result.d_min
    ends = tuple(float(line[f"detection_{end}"]) for end in ("low", "high"))
    assert ends == result.detection.ci["avg"]


def test_no_other_file_spells_a_word() -> None:
    """Code asks the table: a word stands as a text of its own nowhere else."""
    words = {str(word) for word in VERDICTS}
    others = {"core/verdicts.py", *OTHER_MEANING}
    spelt = {}
    for path in PACKAGE.rglob("*.py"):
        if str(path.relative_to(PACKAGE)) in others:
            continue
        source = path.read_text("utf-8")
        if not any(f'"{word}"' in source for word in words):
            continue
        texts = {
            node.value
            for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
        if found := texts & words:
            spelt[str(path.relative_to(PACKAGE))] = sorted(found)
    assert spelt == {}


def test_words_are_ordered_once() -> None:
    ordered = [str(word) for word in in_sentence("damage")]
    assert sorted(("missed", "noticed", "preferred"), key=ordered.index) == ["noticed", "preferred", "missed"]
    assert foremost([NOTICED, verdict_of("missed")]) == "missed"
    assert foremost([NOTICED, verdict_of("faint"), verdict_of("undecided")]) is NOTICED
    assert foremost([verdict_of("faint"), verdict_of("undecided")]) == "faint"
    assert json.loads(json.dumps({"said": STILL})) == {"said": "still"}
    assert verdicts.verdicts_about("run") == ["mute", "blind"]
    with pytest.raises(KeyError):
        verdict_of("half noticed")


@pytest.mark.slow
def test_a_result_says_its_figures_in_the_words_of_the_terminal() -> None:
    results = dhp.run("baseline/surface", "mini/story_cloze", progress=False)
    shown = str(results)
    assert "D_avg  D_min  noticed  detection" in shown
    assert "wrong endings" in shown
    assert "wrong_ending" not in shown
    assert repr(results[0].variants[0]).startswith("VariantResult(missing letters: noticed, ")


@pytest.mark.slow
def test_with_the_papers_statistics_its_table_comes_first() -> None:
    settings = dhp.AnalysisConfig(statistics="paper")
    results = dhp.run("baseline/surface", "mini/story_cloze", analysis=settings, progress=False)
    (result,) = results
    heads = [line.split() for line in str(results).splitlines() if line.startswith("data ")]
    assert heads[0] == "data D_avg D_min D_avg_EW D_min_EW kinds with D < 1".split()
    assert heads[1][:4] == ["data", "D_avg", "D_min", "noticed"]
    low = {row.variant for row in result.variants if row.d < 1}
    assert low == {"wrong_ending", "grammatical_errors"}
    assert "grammatical errors, wrong endings" in str(results)
    assert "EW: design weights, not the experts'." in str(results)


@pytest.mark.parametrize(
    ("weights", "said"), [("voted", "EW: voted weights."), ("uniform", ""), ("design", "")]
)
def test_weights_of_experts_have_their_own_columns(weights: str, said: str) -> None:
    shown = str(Results([result(row("typos", d=0.5), weights=weights, d_avg_ew=4.51, d_min_ew=0.53)]))
    assert ("4.51      0.53  typos" in shown) == ("D_avg_EW" in shown) == bool(said)
    assert said in shown


@pytest.mark.slow
def test_a_run_with_doses_has_the_table_of_its_doses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    dhp.run("mock/noisy", "mini/story_cloze", n=6, doses={"random_typos": [1, 8]}, out=folder, progress=False)
    shown = table_of(folder, capsys)
    assert "typos: detection by dose" in shown
    assert "D_avg" not in shown, "an average over doses would mean nothing"


def test_an_average_without_some_kinds_of_the_suite_is_marked_and_says_which() -> None:
    whole = replace(result(), d_avg=2.5, d_min=1.0, d_avg_ew=2.0, d_min_ew=0.5)
    whole = replace(whole, variants=tuple(replace(v, d=v.d or 1.0, n=20) for v in whole.variants))
    partial = replace(whole, left_out=("grammatical_errors.minor", "rewriting_insertion.minor"))
    assert [column.shown(whole) for column in AVERAGES] == ["2.50", "1.00", "2.00", "0.50"]
    assert [column.shown(partial) for column in AVERAGES] == ["2.50†", "1.00†", "2.00†", "0.50†"]
    assert legend([whole]) == []
    (line,) = legend([whole, partial])
    count, levels = len(whole.variants), ", ".join(dict.fromkeys(v.level for v in whole.variants))
    assert line == (
        f"† over {count} of {count + 2} kinds of damage ({levels}), without grammatical errors (minor), "
        f"{kind_name('rewriting_insertion.minor')} (minor)"
    )


@pytest.mark.slow
def test_rules_that_stand_in_for_a_model_are_marked_on_every_surface(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    examples = [Example(str(i), "A start.", f"Bob won {i} cups. He was glad.") for i in range(6)]
    settings = {"task": "story_completion", "suite": "story_cloze", "language": "en"}
    mine = dhp.Dataset.of(examples, name="mine", **settings)
    folder = tmp_path / "run"
    results = dhp.run("mock/noisy", mine, out=folder, progress=False)
    said = "(rule): without a perturb model rules stand in: "
    named = ("wrong names (rule)", "grammatical errors (rule)")
    page = (folder / "report.html").read_text()
    for shown in (str(results), table_of(folder, capsys, "--details"), page):
        assert said in shown
        assert all(name in shown for name in named)
        assert "typos (rule)" not in shown
    rows = csv.DictReader(io.StringIO(table_of(folder, capsys, "--details", "--csv")))
    in_table = {row["name_in_files"]: row["stand_in"] for row in rows if row["level"] != "control"}
    stored = json.loads((folder / "results.json").read_text())["variants"]
    in_json = {row["variant"]: row["stand_in"] or "" for row in stored}
    assert in_table == in_json
    assert in_json["grammatical_errors"] == "grammar_slips"
    assert in_json["random_typos"] == ""
    assert {row["method"] for row in stored} == {"rule"}
