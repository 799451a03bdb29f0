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

import pytest
from markdown_it import MarkdownIt
from rich.console import Console

import dhp as library
from dhp.content.catalog import variant_name
from dhp.report.findings import sentences
from dhp.report.labels import percent, percents, t75
from dhp.report.notes import notes
from dhp.report.printout import Printout, text_for_programs
from dhp.report.terminal import results_in_markdown, results_in_terminal
from dhp.report.terminal_printer import print_parts
from dhp.runs.reader import read_run

from .conftest import Outcome, Run, write_stories

MODEL = ("--model", "baseline/surface")
FORMS = ("--csv", "--markdown", "--quiet", "--json")
SMALL = ("--dataset", "mini/story_cloze", "--n", "8", "--out", "r")
EVIL = "a|b\\|c*d*_e_<script>x</script>[l](u)`$~\n# h &amp; \x1b[1m"


@pytest.fixture(scope="module")
def results() -> library.Results:
    return library.run("baseline/surface", ["mini/story_cloze", "mini/wmt22_deen"], n=8, controls=False)


@pytest.fixture(scope="module")
def probed() -> library.Results:
    """With a control that lowers the score, an attack that raises it, and curves."""
    judge = "mock/ideal?harmless=1&padding=-1"
    return library.run(judge, "mini/summeval", n=8, controls=True, attacks=True, doses=(1, 10))


def csv_text(results: library.Results) -> str:
    return text_for_programs(Printout((), frame=results.to_frame), "csv")


def markdown_text(results: library.Results) -> str:
    return text_for_programs(Printout(results_in_markdown(results)), "markdown")


def benchmark(dhp: Run, *options: str) -> Outcome:
    return dhp("benchmark", *MODEL, *SMALL, *options)


def rows_of(text: str) -> list[list[str]]:
    """The cells of all tables, as a reader of the rendered Markdown sees them; bold ones with stars."""
    page = MarkdownIt("commonmark").enable("table").render(text)
    rows = re.findall(r"<tr>(.*?)</tr>", page, re.S)
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S) for row in rows]
    return [[re.sub(r"</?strong>", "**", cell) for cell in row] for row in cells]


@pytest.mark.slow
def test_each_form_is_written_alone_by_run_and_analysis(dhp: Run) -> None:
    ran = {form: benchmark(dhp, form) for form in FORMS}
    (result,) = read_run(Path("r")).results
    analysed = {form: dhp(f"analyze r/ratings.parquet --suite story_cloze {form}") for form in FORMS}
    (again,) = library.analyze("r/ratings.parquet", suite="story_cloze")
    for found, outcomes in ((result, ran), (again, analysed)):
        results = library.Results([found])
        assert json.loads(outcomes["--json"].out)["d_avg"] == found.d_avg
        assert outcomes["--csv"].out == csv_text(results)
        assert outcomes["--markdown"].out == markdown_text(results)
        assert outcomes["--quiet"].out == ""
    written = json.loads(Path("r/results.json").read_text("utf-8"))
    del written["checksum"]  # of the figures beside the ratings in that folder
    assert json.loads(ran["--json"].out) == written
    assert "report  r/report.html" in ran["--json"].err
    assert {outcome.err for outcome in analysed.values()} == {""}


@pytest.mark.slow
def test_csv_has_a_row_for_each_dataset_variant_and_metric_with_every_digit(results: library.Results) -> None:
    rows = list(csv.DictReader(io.StringIO(csv_text(results))))
    cells = {
        (r.dataset, v.variant, m): (v, cell)
        for r in results
        for v in (*r.variants, *r.controls)
        for m, cell in v.metrics.items()
    }
    assert len(rows) == len(cells)
    for row in rows:
        variant, cell = cells[row["dataset"], row["variant"], row["metric"]]
        assert (row["model"], row["level"]) == ("baseline/surface", variant.level)
        assert row["d"] == "" if variant.d is None else float(row["d"]) == variant.d
        figures = {"p": cell.p, "log10_p": cell.log10_p, "detection": cell.detection, "tied": cell.tied}
        for name, expected in (figures | {"weight": cell.weight, "in_sd": cell.standardised_drop}).items():
            shown = row[f"metric_{name}"]
            assert shown == "" if expected is None else float(shown) == expected
        assert (int(row["metric_pairs"]), row["verdict"]) == (cell.n, variant.verdict)


@pytest.mark.slow
def test_csv_keeps_what_is_undefined_empty_and_what_is_odd_whole(results: library.Results) -> None:
    first = results[0]
    row = replace(first.variants[0], variant='a,"b"', d=None)
    odd = library.Results([replace(first, model="m,\n1", variants=(row,))])
    rows = list(csv.DictReader(io.StringIO(csv_text(odd))))
    assert {(r["model"], r["variant"], r["d"]) for r in rows} == {("m,\n1", 'a,"b"', "")}


@pytest.mark.slow
def test_markdown_begins_with_the_sentence_and_the_verdict_and_has_the_figures() -> None:
    (result,) = library.run("baseline/surface", "mini/story_cloze", n=8)
    text = markdown_text(library.Results([result]))
    found = result
    (sentence,) = sentences([found])
    assert text.replace("\\", "").startswith(f"**{sentence}**\n\n### baseline/surface on mini/story_cloze: ")
    verdict, _, kinds = text.partition("### mini/story_cloze: baseline/surface")
    averages = [f"{found.d_avg:.2f}", f"{found.d_min:.2f}"]
    assert rows_of(verdict)[1][:4] == [result.dataset, *averages, found.noticed_of]
    heading, *rows = rows_of(kinds)
    assert heading == ["kind", "detection", "verdict", "best metric", "pairs"]
    for row, v in zip(rows, (*found.damage, *found.probes), strict=True):
        figures = f"{percent(v.detection)} {percents(v.detection_ci)}"
        assert row == [variant_name(v.variant), figures, v.verdict, v.best_metric, str(v.n)]
    listed = [line[2:].replace("\\", "") for line in kinds.splitlines() if line.startswith("- ")]
    assert listed == [*notes(result), f"`{result.signature}`"]
    assert "D_avg_EW" not in text


@pytest.mark.slow
def test_markdown_of_several_results(results: library.Results) -> None:
    text = markdown_text(results)
    titles = [line for line in text.splitlines() if line.startswith("### ")]
    assert titles[0].startswith("### baseline/surface on 2 sets of mini: ")
    assert titles[1:] == [f"### {r.dataset}: baseline/surface, 8 examples" for r in results]


@pytest.mark.slow
def test_markdown_shows_probes_and_curves(probed: library.Results) -> None:
    rows = rows_of(markdown_text(probed))
    for probe in (*probed[0].controls, *probed[0].attacks):
        name = variant_name(probe.variant)
        assert [row[2] for row in rows if len(row) == 5 and name in row[0]] == [probe.verdict]
    assert [row[1:] for row in rows if row[0] == "detection"] == [
        [*(f"{d:.0%}" for d in curve.detection), t75(curve)] for curve in probed[0].curves
    ]


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
    assert tags <= {"h3", "table", "thead", "tbody", "tr", "th", "td", "strong", "ul", "li", "code", "p"}
    assert page.count("<h3>") == 2
    assert "\x1b" not in text
    shown = "a|b\\|c*d*_e_&lt;script&gt;x&lt;/script&gt;[l](u)`$~ # h &amp;amp; \ufffd[1m"
    assert rows_of(text)[1][0] == shown
    assert rows_of(text)[3][0] == shown


@pytest.mark.slow
def test_quiet_prints_nothing_but_errors(dhp: Run, tmp_path: Path) -> None:
    write_stories(2)
    assert dhp("data prepare story_cloze --data cloze.csv").code == 0
    command = ("benchmark", *MODEL, "--dataset", "all", "--n", "2", "--out", "r")
    assert "left out of 'all'" in dhp(*command).err
    done = dhp(*command, "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert (tmp_path / "r" / "report.html").exists()
    wrong = dhp("benchmark --model baseline/surfac --quiet")
    assert (wrong.code, wrong.out, wrong.err.count("\n")) == (2, "", 1)


def printed(results: library.Results, width: int, **options: object) -> str:
    stream = io.StringIO()
    console = Console(file=stream, width=width, **options)  # type: ignore[arg-type]
    print_parts(results_in_terminal(results, details=True), console)
    return stream.getvalue()


@pytest.mark.parametrize("width", [60, 80, 132, 200])
def test_no_name_is_broken_where_it_fits(results: library.Results, width: int) -> None:
    text = printed(results, width)
    for result in results:
        for v in result.variants:
            assert re.search(rf"^{re.escape(variant_name(v.variant))}( |$)", text, re.M) or (
                variant_name(v.variant).replace(", ", " ") in text
            )


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_no_character_is_lost_where_it_cannot_be_written(results: library.Results, encoding: str) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, errors="replace")
    print_parts(results_in_terminal(results, details=True), Console(file=stream, width=200))
    stream.flush()
    assert "????" not in raw.getvalue().decode(encoding)


@pytest.mark.slow
def test_a_reader_that_goes_away_is_not_a_gate_that_failed(tmp_path: Path) -> None:
    rows = [f"{e},{v},m,{3 - (v != 'original')}" for e in range(9) for v in ("original", "x")]
    (tmp_path / "r.csv").write_text("\n".join(["example,variant,metric,score", *rows]) + "\n")
    analyze = f"{shlex.quote(sys.executable)} -m dhp analyze r.csv"
    command = f"{analyze} | head -c 1 >/dev/null; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() in ("141", "0"), "0 where all was written before"
    assert done.stderr == ""


@pytest.mark.slow
def test_a_file_gets_the_whole_table(dhp: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert benchmark(dhp).out.splitlines()[1].split()[0] == "kind"
    monkeypatch.setenv("COLUMNS", "60")
    assert benchmark(dhp).out.splitlines()[2].startswith("    detection "), "two lines a kind"


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_without_unicode(dhp: Run, monkeypatch: pytest.MonkeyPatch, encoding: str) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding=encoding))
    done = dhp("benchmark --model baseline/constant --dataset mini/story_cloze --n 5")
    sys.stdout.flush()
    assert done.code == 0
    assert b"missing letters" in raw.getvalue()
    assert b"?" in raw.getvalue()


def test_control_characters_never_reach_the_terminal(dhp: Run, tmp_path: Path) -> None:
    for name, score in (("bad.csv", "one"), ("good.csv", "2")):
        rows = [f"{e},original,m,3\n{e},v\033[2J,m,{score}" for e in range(6)]
        (tmp_path / name).write_text("\n".join(["example,variant,metric,score", *rows]) + "\n")
        outcome = dhp("analyze", name)
        assert "\033" not in outcome.out + outcome.err
    assert "v\ufffd[2J" in outcome.out
