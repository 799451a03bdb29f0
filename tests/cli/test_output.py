"""Results in other forms: each holds what the run holds, alone on standard output."""

import csv
import io
import json
import re
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pandas as pd
import pytest
from markdown_it import MarkdownIt
from rich.console import Console

import dhp as library
from dhp.analysis.result_parts import VariantResult
from dhp.content.damage import variant_name
from dhp.report.formats import csv_text, markdown_text
from dhp.report.labels import figure, most_hurt, percent, percents
from dhp.report.notes import notes
from dhp.report.terminal import print_results
from dhp.runs.reader import read_run
from dhp.stats.verdict import Verdict

from .conftest import Outcome, Run

MODEL = ("--model", "baseline/surface")
SMALL = ("--dataset", "mini/story_cloze", "--n", "8", "--out", "r")
EVIL = "a|b\\|c*d*_e_<script>x</script>[l](u)`$~\n# h &amp; \x1b[1m"


@pytest.fixture(scope="module")
def results() -> library.Results:
    return library.run("baseline/surface", ["mini/story_cloze", "mini/wmt22_deen"], n=8, controls=False)


@pytest.fixture(scope="module")
def probed() -> library.Results:
    """With a control that lowers the score, an attack that raises it, and curves."""
    judge = "mock/ideal?harmless=1&padding=-1"
    return library.run(
        judge,
        "mini/summeval",
        n=8,
        controls=True,
        attacks=True,
        doses=(1, 10),
    )


def benchmark(dhp: Run, *options: str) -> Outcome:
    return dhp("benchmark", *MODEL, *SMALL, *options)


def rows_of(text: str) -> list[list[str]]:
    """The cells of all tables, as a reader of the rendered Markdown sees them; bold ones with stars."""
    page = MarkdownIt("commonmark").enable("table").render(text)
    rows = re.findall(r"<tr>(.*?)</tr>", page, re.S)
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S) for row in rows]
    return [[re.sub(r"</?strong>", "**", cell) for cell in row] for row in cells]


def test_json_is_the_file(dhp: Run, tmp_path: Path) -> None:
    done = benchmark(dhp, "--json")
    assert done.code == 0
    assert done.out == (tmp_path / "r" / "results.json").read_text(encoding="utf-8")
    assert "written to r: " in done.err


def test_csv_holds_every_digit(dhp: Run, tmp_path: Path) -> None:
    done = benchmark(dhp, "--csv")
    rows = list(csv.DictReader(io.StringIO(done.out)))
    (result,) = read_run(tmp_path / "r").results
    tested = (*result.variants, *result.controls)
    cells = {(v.variant, m): (v, cell) for v in tested for m, cell in v.metrics.items()}
    assert len(rows) == len(cells) == (6 + 2) * 3
    for row in rows:
        variant, cell = cells[row["variant"], row["metric"]]
        assert (row["model"], row["dataset"], row["level"]) == (result.model, result.dataset, variant.level)
        assert row["d"] == "" if variant.d is None else float(row["d"]) == variant.d
        for name in ("p", "effect", "tied", "weight", "share_ew"):
            expected = getattr(cell, name)
            assert row[name] == "" if expected is None else float(row[name]) == expected
        assert (int(row["n"]), int(row["n_nonzero"])) == (cell.n, cell.n_nonzero)


def test_csv_has_a_row_for_each_dataset_variant_and_metric(results: library.Results) -> None:
    frame = pd.read_csv(io.StringIO(csv_text(results)), float_precision="round_trip")
    key = ["model", "protocol", "dataset", "variant", "metric"]
    assert not frame.duplicated(key).any()
    expected = results.to_frame()
    assert frame[key].values.tolist() == expected[key].values.tolist()
    assert frame["log10_p"].tolist() == expected["log10_p"].tolist()


def test_csv_keeps_what_is_undefined_empty_and_what_is_odd_whole(results: library.Results) -> None:
    first = results[0]
    row = replace(first.variants[0], variant='a,"b"', d=None)
    odd = library.Results([replace(first, model="m,\n1", variants=(row,))])
    rows = list(csv.DictReader(io.StringIO(csv_text(odd))))
    assert {(r["model"], r["variant"], r["d"]) for r in rows} == {("m,\n1", 'a,"b"', "")}


def test_markdown_has_the_figures_of_the_run(dhp: Run, tmp_path: Path) -> None:
    done = benchmark(dhp, "--markdown")
    (result,) = read_run(tmp_path / "r").results
    heading, *rows = rows_of(done.out)
    assert heading[:7] == ["level", "variant", "detection", "95 %", "verdict", "D", "D_EW"]
    assert heading[7:] == ["effect", "most hurt", "pairs"]
    plain = {row[1].strip("*"): [cell.strip("*") for cell in row] for row in rows}
    for v in result.variants:
        expected = [percent(v.detection), percents(v.detection_ci), v.verdict, figure(v.d), figure(v.d_ew)]
        assert plain[variant_name(v.variant)][2:9] == [*expected, figure(v.effect), most_hurt(v)]
        assert plain[variant_name(v.variant)][9] == str(v.metrics["fluency"].n)
    assert [row[0] for row in rows][:6] == ["character", "", "word", "", "sentence", ""]
    assert result.detection is not None
    detections = [row[2] for row in rows if row[1].startswith(("**detection", "**lowest"))]
    assert detections == [f"**{percent(value)}**" for value in (result.detection.avg, result.detection.min)]
    averages = [row for row in rows if row[1].startswith("**D_")]
    assert [row[5] for row in averages] == [f"**{figure(result.d_avg)}**", f"**{figure(result.d_min)}**", ""]
    assert result.d_min_variant is not None
    assert averages[1][1] == f"**D_min {variant_name(result.d_min_variant)}**"
    bold = [row[1].strip("*") for row in rows if row[5].startswith("**")]
    bold = [cell for cell in bold if cell not in ("D_avg", averages[1][1].strip("*"))]
    assert bold == [variant_name(result.d_min_variant)], "the worst variant is bold"
    listed = [line[2:].replace("\\", "") for line in done.out.splitlines() if line.startswith("- ")]
    assert listed == [*notes(result), f"`{result.signature}`"]


def test_markdown_of_several_results(results: library.Results) -> None:
    text = markdown_text(results)
    titles = [line for line in text.splitlines() if line.startswith("### ")]
    assert titles == [f"### {r.dataset} · baseline/surface · n = 8" for r in results]


def test_markdown_shows_probes_and_curves(probed: library.Results) -> None:
    text = markdown_text(probed)
    assert f"**warning: control '{variant_name('harmless')}' lowered the score" in text
    rows = rows_of(text)
    verdicts = {row[0]: row[2] for row in rows if len(row) == 6}
    assert verdicts[f"**{variant_name('harmless')}**"] == "**lowered**"
    assert verdicts[f"**{variant_name('padding')}**"] == "**raised**"
    assert verdicts[variant_name("identity")] == "passed over"
    assert [row for row in rows if row[0] == "**combined**"]
    assert "D_avg" not in text.replace("D_avg would", ""), "an average over doses would mean nothing"


def test_names_are_no_markup(results: library.Results) -> None:
    first = results[0]
    row = replace(first.variants[-1], variant=EVIL, level=EVIL)
    evil = replace(
        first, model=EVIL, dataset=EVIL, signature=EVIL, d_min_variant=EVIL, variants=(row,), left_out=(EVIL,)
    )
    evil = replace(evil, warnings=(EVIL,), failures={EVIL: 2})
    text = markdown_text(library.Results([evil]))
    page = MarkdownIt("commonmark", {"html": True}).enable(["table"]).render(text)
    tags = set(re.findall(r"<(\w+)", page))
    assert tags <= {"h3", "table", "thead", "tbody", "tr", "th", "td", "strong", "ul", "li", "code"}
    assert page.count("<h3>") == 1
    assert "\x1b" not in text
    shown = "a|b\\|c*d*_e_&lt;script&gt;x&lt;/script&gt;[l](u)`$~ # h &amp;amp; \ufffd[1m"
    assert rows_of(text)[1][:2] == [f"**{shown}**", f"**{shown}**"]


def test_quiet_prints_nothing_but_errors(dhp: Run, tmp_path: Path) -> None:
    sentences = ",".join(f"InputSentence{k}" for k in (1, 2, 3, 4))
    endings = "RandomFifthSentenceQuiz1,RandomFifthSentenceQuiz2,AnswerRightEnding"
    rows = [f"s{i},Tom ran {i} miles.,He fell.,It hurt.,He sat.,He was fine {i}.,He flew.,1" for i in "ab"]
    (tmp_path / "cloze.csv").write_text("\n".join([f"InputStoryid,{sentences},{endings}", *rows]))
    assert dhp("data", "prepare", "story_cloze", "--from", "cloze.csv").code == 0
    command = ("benchmark", *MODEL, "--dataset", "all", "--n", "2", "--out", "r")
    assert "left out of 'all'" in dhp(*command).err
    done = dhp(*command, "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert (tmp_path / "r" / "report.html").exists()
    wrong = dhp("benchmark", "--model", "baseline/surfac", *SMALL, "--quiet")
    assert (wrong.code, wrong.out) == (2, "")
    assert "did you mean" in wrong.err


@pytest.mark.parametrize("command", ["benchmark", "analyze"])
def test_at_most_one_form(dhp: Run, tmp_path: Path, command: str) -> None:
    arguments = (*MODEL, *SMALL) if command == "benchmark" else ("ratings.csv",)
    done = dhp(command, *arguments, "--csv", "--quiet")
    assert (done.code, done.out) == (2, "")
    assert done.err == "dhp: --csv and --quiet: contradict each other; give at most one\n"
    assert list(tmp_path.iterdir()) == [], "it is said before anything is done"


def test_a_dry_run_has_no_results_to_print(dhp: Run) -> None:
    done = benchmark(dhp, "--dry-run", "--json")
    assert (done.code, done.out) == (2, "")
    assert "--json: cannot be used with --dry-run" in done.err


@pytest.mark.slow
def test_analyze_in_every_form(dhp: Run, tmp_path: Path) -> None:
    benchmark(dhp, "--quiet")
    command = ("analyze", tmp_path / "r" / "ratings.parquet", "--suite", "story_cloze")
    (run,) = read_run(tmp_path / "r").results
    assert json.loads(dhp(*command, "--json").out)["d_avg"] == run.d_avg
    frame = pd.read_csv(io.StringIO(dhp(*command, "--csv").out))
    rows = (*run.variants, *run.controls)
    assert set(frame["d"].dropna()) == {v.d for v in rows if v.d is not None}
    marked = dhp(*command, "--markdown")
    assert rows_of(marked.out)[9][5] == f"**{figure(run.d_avg)}**"
    assert marked.err == ""
    assert dhp(*command, "--quiet").out == ""


def printed(results: library.Results, width: int, **options: object) -> str:
    stream = io.StringIO()
    print_results(results, Console(file=stream, width=width, **options), details=True)  # type: ignore[arg-type]
    return stream.getvalue()


def test_the_worst_variant_is_bold_in_the_terminal(results: library.Results) -> None:
    text = printed(results, 124, force_terminal=True, color_system="standard")
    worst = results[0].d_min_variant
    lines = [
        line
        for line in text.splitlines()
        if re.search(r"\d%", line) and any(word in line for word in get_args(Verdict))
    ]
    bold = [line for line in lines if "\x1b[1m" in line]
    assert worst is not None
    assert [variant_name(worst) in line for line in lines[:6]].count(True) == 1
    assert len(bold) == len(results)
    assert variant_name(worst) in bold[0]


@pytest.mark.parametrize("width", [60, 80, 124, 200])
def test_no_name_is_broken_where_it_fits(results: library.Results, width: int) -> None:
    text = printed(results, width)
    for result in results:
        for v in result.variants:
            assert re.search(rf"(^|  ){re.escape(variant_name(v.variant))} .*{v.verdict}", text, re.M)


@pytest.mark.parametrize(("encoding", "barred"), [("utf-8", True), ("ascii", False), ("latin-1", False)])
def test_no_bar_where_it_could_not_be_drawn(results: library.Results, encoding: str, barred: bool) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, errors="replace")
    print_results(results, Console(file=stream, width=200), details=True)
    stream.flush()
    text = raw.getvalue().decode(encoding)
    assert ("│████" in text) == barred
    assert "????" not in text


def moved(variant: VariantResult, d: float | None, *counts: tuple[int, int]) -> VariantResult:
    """With (pairs not tied, pairs) for its metrics."""
    names = list(variant.metrics)[: len(counts)]
    cells = {
        m: replace(variant.metrics[m], n=n, n_nonzero=k) for m, (k, n) in zip(names, counts, strict=True)
    }
    return replace(variant, d=d, metrics=cells)


@pytest.mark.parametrize(
    ("d", "counts", "said"),
    [
        (0.5, [(3, 24), (5, 24)], "at most 5 of 24 pairs"),
        (0.5, [(3, 24), (6, 24)], None),
        (0.5, [(0, 24), (0, 24)], "at most 0 of 24 pairs"),
        (0.5, [(10, 100), (19, 100)], "at most 19 of 100 pairs"),
        (0.5, [(10, 100), (20, 100)], None),
        (1.2, [(3, 24), (5, 24)], None),
        (None, [(3, 24), (0, 0)], None),
        (0.5, [(0, 4), (0, 4)], None),
    ],
)
def test_few_scores_that_move_are_said_where_something_was_missed(
    results: library.Results, d: float | None, counts: list[tuple[int, int]], said: str | None
) -> None:
    row = moved(results[0].variants[0], d, *counts)
    found = [note for note in notes(replace(results[0], variants=(row,))) if "few scores move" in note]
    assert found == ([f"few scores move: {variant_name(row.variant)} ({said} are not tied)"] if said else [])


def test_one_note_for_all_that_hardly_move() -> None:
    result = library.run("baseline/constant", "mini/summeval", n=8)[0]
    (note,) = [note for note in notes(result) if "few scores move" in note]
    assert note.endswith("(at most 0 of 8 pairs are not tied), and 9 more variants")


@pytest.mark.slow
def test_a_reader_that_goes_away_is_not_a_gate_that_failed(tmp_path: Path) -> None:
    rows = [f"{e},{v},m,{3 - (v != 'original')}" for e in range(9) for v in ("original", "x")]
    (tmp_path / "r.csv").write_text("\n".join(["example,variant,metric,score", *rows]) + "\n")
    analyze = f"{shlex.quote(sys.executable)} -m dhp analyze r.csv"
    command = f"{analyze} | head -c 1 >/dev/null; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() in ("141", "0"), "0 where all was written before"
    assert done.stderr == ""


def test_a_file_gets_the_whole_table(dhp: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert benchmark(dhp).out.splitlines()[1].split()[0] == "level"
    monkeypatch.setenv("COLUMNS", "60")
    assert "    95 % " in benchmark(dhp).out.splitlines()[2], "two lines a variant"
