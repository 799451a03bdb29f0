"""Figures that others published, recomputed from the answers and scores that they released."""

import csv
import importlib.metadata
import json
import re
import runpy
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from dhp.content.catalog import read_card
from tests.scripts import SCRIPTS, loaded

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = SCRIPTS / "reproduce.py"
ROUGE_CELLS = {"summeval": 72, "newsroom": 72, "realsumm": 18, "bagel": 27}


@pytest.fixture(scope="module")
def script() -> SimpleNamespace:
    return loaded("reproduce")


def published() -> dict[tuple[str, ...], float]:
    """(Paper, table, row, column) -> figure."""
    with (SCRIPTS / "published.csv").open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file)
    return {tuple(places): float(value) for *places, value in rows}


def test_every_published_figure_stands_once_in_the_file() -> None:
    with (SCRIPTS / "published.csv").open(encoding="utf-8", newline="") as file:
        assert len(list(csv.reader(file))) - 1 == len(published())


def test_the_table_of_selections_quotes_the_published_statistics() -> None:
    page = (ROOT / "docs" / "datasets.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \| Table 2 of the paper \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", page, re.M)
    figures = published()
    for row, name in zip(rows, ("SumPubMed", "WMT-22 German-to-English"), strict=True):
        places = [("Wang et al. 2025", "Table 2", name, c) for c in ("characters", "words", "sentences")]
        assert [float(figure) for figure in row] == [figures[place] for place in places]


def test_the_cards_hold_the_published_statistics() -> None:
    rows = {
        "SummEval": "summeval",
        "SumPubMed": "sumpubmed",
        "Story Cloze Test": "story_cloze",
        "Answer Equivalence": "answer_equivalence",
        "WMT-22 German-to-English": "wmt22_deen",
        "WMT-22 Chinese-to-English": "wmt22_zhen",
    }
    figures = {(row, column): v for (paper, _, row, column), v in published().items() if "2025" in paper}
    assert len(figures) == 18
    for (row, column), figure in figures.items():
        assert getattr(read_card(rows[row]).paper, column) == figure


def test_the_page_counts_the_published_figures(script: SimpleNamespace) -> None:
    """What can be checked without data: of each part all figures are compared, and the counts add up."""
    page = (ROOT / "docs" / "agreement.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)`: .* \| (\d+) \| (\d+) \| \S+ \|$", page, re.M)
    assert [part for part, _, _ in rows] == list(script.SAID)
    assert all(int(within) <= int(figures) for _, figures, within in rows)
    total, within = (sum(int(row[i]) for row in rows) for i in (1, 2))
    assert f"\n{total} published figures, {within} within 0.002:\n" in page
    figures = {part: int(n) for part, n, _ in rows}
    assert {part: figures[part] for part in ROUGE_CELLS} == ROUGE_CELLS
    answers = sum("Chiang" in paper for paper, *_ in published())
    assert figures["topical_chat"] == figures["topical_chat_ours"] == answers


@pytest.mark.parametrize(
    ("text", "reference", "recall"),
    [
        ("the cat < UNK > sat", "the cat sat", 2 / 3),  # its input is HTML: the rest is not read
        ("the cat < UNK > . sat", "the cat sat", 1),  # of the sentence alone
        ("owed", "owe", 0),  # stems of Porter; words of three letters have none, so "owe" is kept
        ("owing", "owed", 1),
    ],
)
def test_rouge_reads_as_the_program_of_the_study(
    script: SimpleNamespace, text: str, reference: str, recall: float
) -> None:
    pytest.importorskip("rouge_score", reason="ROUGE needs rouge-score")
    rated = (script.Candidate("e", "s", text, "", references=(reference,)), {})
    ((_, found),) = script.rouge([rated], "rouge1", script.RougeTables({}, "recall")).items()
    assert found == pytest.approx(recall, abs=1e-5)


def test_f_is_made_of_what_is_printed(script: SimpleNamespace) -> None:
    """Recall 1/3 and precision 1/7 are .33333 and .14286 there; F is of these, to five decimals."""
    pytest.importorskip("rouge_score", reason="ROUGE needs rouge-score")
    rated = (script.Candidate("e", "s", "a b c d e f g", "", references=("a x y",)), {})
    ((_, found),) = script.rouge([rated], "rouge1", script.RougeTables({})).items()
    assert found == round(2 * 0.33333 * 0.14286 / (0.33333 + 0.14286), 5)


@pytest.mark.slow
@pytest.mark.realdata
@pytest.mark.parametrize(("part", "cells"), ROUGE_CELLS.items())
def test_rouge(script: SimpleNamespace, real: Path, part: str, cells: int) -> None:
    """All agree: half a unit of the last printed digit, and a little for how the study made its means."""
    pytest.importorskip("rouge_score", reason="ROUGE needs rouge-score")
    found = list(script.rouge_rows(real, part))
    assert len(found) == cells
    for cell in found:
        assert cell.ours == pytest.approx(cell.published, abs=0.001), cell
        assert not cell.why


@pytest.mark.slow
@pytest.mark.realdata
@pytest.mark.parametrize(("reading", "apart"), [("our reading", 0.0055), ("first digit", 0.0025)])
def test_topical_chat(script: SimpleNamespace, real: Path, reading: str, apart: float) -> None:
    """All agree, but for the two mislabelled rows of Table 2."""
    cells = list(script.topical_chat(real, reading))
    assert len(cells) == 40
    for cell in cells:
        mislabelled = cell.table == "Table 2" and cell.row.startswith(("Rate", "Analyze"))
        if not mislabelled:
            assert cell.ours == pytest.approx(cell.published, abs=apart), cell
        assert bool(cell.why) == (abs(cell.ours - cell.published) > 0.002), cell


@pytest.mark.slow
@pytest.mark.realdata
def test_the_mislabelled_rows_are_what_the_output_says(script: SimpleNamespace, real: Path) -> None:
    """Table 2: Rate-explain prints the released analyze_rate, Analyze-rate the Pearson of Table 4."""
    printed = published()
    for metric in ("naturalness", "coherence"):
        scores = script.judged(real / "topical_chat", metric, "analyze_rate", "analyze-rate", "first digit")
        for column, level in (("Pearson", "pooled"), ("Kendall", "per_source")):
            ours = script.value(*scores, level, column.lower())
            row = (script.CHIANG, "Table 2", "Rate-explain, no Auto-CoT", f"{metric}, {column}")
            assert ours == pytest.approx(printed[row], abs=0.0025)
        row = (script.CHIANG, "Table 2", "Analyze-rate, no Auto-CoT", f"{metric}, Pearson")
        assert script.value(*scores, "per_source", "pearson") == pytest.approx(printed[row], abs=0.0015)


@pytest.mark.slow
@pytest.mark.realdata
def test_every_larger_difference_has_its_cause(script: SimpleNamespace, real: Path) -> None:
    cells = list(script.statistics(real))
    assert len(cells) == 9
    assert all(cell.why in script.REASONS.values() for cell in cells if cell.why)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A folder of data that holds three texts of BAGEL."""
    (tmp_path / "bagel").mkdir()
    rows = [
        {"id": str(i), "source": "inform()", "output": text, "references": ["a b c"]}
        | {"informativeness": i, "naturalness": -i, "quality": i * i}
        for i, text in enumerate(("x y z", "a y z", "a b z"))
    ]
    text = "\n".join(map(json.dumps, rows))
    (tmp_path / "bagel" / "bagel.jsonl").write_text(text, encoding="utf-8")
    return tmp_path


def test_cells_as_json(script: SimpleNamespace, small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """ROUGE-1 rises from text to text: its Spearman is 1 with informativeness and -1 with naturalness."""
    pytest.importorskip("rouge_score", reason="ROUGE needs rouge-score")
    script.main([str(small), "bagel", "--json"])
    printed, said = capsys.readouterr()
    assert said == ""
    cells = {(cell["row"], cell["column"]): cell for cell in json.loads(printed)}
    assert len(cells) == 27
    first = cells["ROUGE-1", "informativeness, Spearman"]
    assert first["ours"] == pytest.approx(1)
    assert (first["paper"], first["table"], first["published"]) == ("Wang et al. 2023", "Table 7", 0.092)
    assert cells["ROUGE-1", "naturalness, Spearman"]["ours"] == pytest.approx(-1)


@pytest.mark.parametrize(
    ("arguments", "without", "said"),
    [
        (("DATA", "bagle"), "none", "bagle"),
        (("DATA", "bagel", "--write"), "none", "without PART"),
        (("DATA", "topical_chat"), "none", "topical_chat.json"),
        (("DATA", "bagel"), "rouge-score", "rouge-score"),
    ],
)
def test_what_is_missing_is_said_in_one_line(
    small: Path,
    arguments: tuple[str, ...],
    without: str,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    installed = importlib.metadata.version

    def version(name: str) -> str:
        if name == without:
            raise importlib.metadata.PackageNotFoundError(name)
        return installed(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    given = [str(small) if each == "DATA" else each for each in arguments]
    monkeypatch.setattr(sys, "argv", [str(SCRIPT), *given])
    with pytest.raises(SystemExit) as stopped:
        runpy.run_path(str(SCRIPT), run_name="__main__")
    printed, error = capsys.readouterr()
    assert (stopped.value.code, printed) == (2, "")
    assert said in error
    assert len(error.splitlines()) == 1


@pytest.mark.slow
@pytest.mark.realdata
def test_auto_cot_against_none_and_free_text(script: SimpleNamespace, real: Path) -> None:
    """The studies' conclusions: written steps bring nothing significant, an open answer follows coherence."""
    tests = {(pair, metric): test for pair, metric, test in script.compared(real)}
    for metric in ("naturalness", "coherence"):
        assert tests["geval against geval_no_auto_cot", metric].p_two_sided > 0.05
        assert tests["llm_eval_no_cot against geval_no_auto_cot", metric].t > 0
    assert tests["llm_eval_no_cot against geval_no_auto_cot", "coherence"].p_two_sided < 0.01


@pytest.mark.slow
@pytest.mark.realdata
def test_recorded_answers_of_a_judge_of_summeval(script: SimpleNamespace, real: Path) -> None:
    """All 1,200 answers about each metric are read; the systems are ranked much as experts rank them."""
    found = script.recorded_judge(real)
    assert [judge.judge for judge in found.judges] == [
        "gpt-3.5-turbo-0301 (rts)",
        "gpt-3.5-turbo-0301 (stareval)",
    ]
    for judge in found.judges:
        for metric in judge.metrics:
            assert metric.items >= 0.985 * 1200
            for one in metric.correlations:
                assert one.ci[0] <= one.value <= one.ci[1]
        assert judge.mean["system.spearman"] > 0.85
    assert {pair.metric for pair in found.pairs} == {"coherence", "consistency", "fluency", "relevance"}
