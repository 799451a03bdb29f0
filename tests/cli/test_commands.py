"""The commands as a user types them."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest

import dhp as library
from dhp.content.catalog import variant_name

from .conftest import Run

SMALL = ("--dataset", "mini/story_cloze", "--n", "8")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run."""
    folder = tmp_path_factory.mktemp("run") / "r"
    library.run("baseline/surface", "mini/story_cloze", n=8, out=folder)
    return folder


def test_benchmark_prints_a_table_and_writes_the_run_folder(dhp: Run, tmp_path: Path) -> None:
    done = dhp("benchmark", "--model", "baseline/surface", *SMALL)
    assert done.code == 0
    for text in (
        "mini/story_cloze",
        "typos",
        "undecided",
        "noticed",
        "baseline/surface: ",
    ):
        assert text in done.out
    assert "D_avg" not in done.out
    assert "seed:0" not in done.out
    detailed = dhp("benchmark", "--model", "baseline/surface", *SMALL, "--details", "--out", "d").out
    assert "D_avg" in detailed
    assert "|method:authored+rule|" in detailed
    (folder,) = (tmp_path / "runs").iterdir()
    files = {p.name for p in folder.iterdir()}
    tables = {"examples.jsonl", "perturbed.jsonl", "ratings.parquet"}
    assert files == {"manifest.json", "results.json", "report.html", *tables}
    result = json.loads((folder / "results.json").read_text())
    assert (result["schema"], result["n"], result["model"]) == ("dhp.results/3", 8, "baseline/surface")
    assert result["ratings"]["asked"] == result["ratings"]["scored"] == 8 * 8 * 3
    ratings = pd.read_parquet(folder / "ratings.parquet")
    assert {"example", "variant", "metric", "sample", "score", "status", "model"} <= set(ratings.columns)


def without_times(text: str) -> str:
    return re.sub(r'"created": "[^"]*"', "", text)


@pytest.mark.slow
def test_twice_the_same_and_a_different_seed(dhp: Run, tmp_path: Path) -> None:
    for folder, seed in (("a", "0"), ("b", "0"), ("c", "1")):
        assert (
            dhp("benchmark", "--model", "baseline/surface", *SMALL, "--seed", seed, "--out", folder).code == 0
        )
    a, b, c = (without_times((tmp_path / f / "results.json").read_text()) for f in "abc")
    assert a == b
    assert a != c
    assert (tmp_path / "a" / "perturbed.jsonl").read_bytes() == (
        tmp_path / "b" / "perturbed.jsonl"
    ).read_bytes()
    again = dhp("benchmark", "--model", "baseline/surface", *SMALL, "--out", "a")
    assert again.code == 0, "the same run may write to its folder again"
    otherwise = dhp("benchmark", "--model", "baseline/surface", *SMALL, "--statistics", "paper", "--out", "a")
    assert otherwise.code == 2
    assert "a: holds a different run (analysis differ)" in otherwise.err
    different = dhp("benchmark", "--model", "baseline/surface", *SMALL, "--seed", "1", "--out", "a")
    assert different.code == 2
    assert "a: holds a different run (seed differ); choose another folder" in different.err


@pytest.mark.slow
def test_several_models_and_datasets_make_a_list(dhp: Run, tmp_path: Path) -> None:
    models = ("--model", "baseline/constant", "--model", "baseline/surface")
    assert dhp("benchmark", *models, *SMALL, "--dataset", "mini/answer_equivalence", "--out", "r").code == 0
    results = json.loads((tmp_path / "r" / "results.json").read_text())
    assert [(r["dataset"], r["model"]) for r in results] == [
        ("mini/story_cloze", "baseline/constant"),
        ("mini/story_cloze", "baseline/surface"),
        ("mini/answer_equivalence", "baseline/constant"),
        ("mini/answer_equivalence", "baseline/surface"),
    ]
    assert [r["d_avg"] > 0 for r in results] == [False, True, False, True]


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_analyze_gives_what_the_run_gave(dhp: Run, finished: Path, tmp_path: Path, suffix: str) -> None:
    ratings = pd.read_parquet(finished / "ratings.parquet")
    file = tmp_path / f"ratings{suffix}"
    if suffix == ".csv":
        ratings.to_csv(file, index=False)
    elif suffix == ".jsonl":
        ratings.to_json(file, orient="records", lines=True)
    else:
        ratings.to_parquet(file)
    done = dhp("analyze", file, "--suite", "story_cloze", "--json")
    from_run, from_table = json.loads((finished / "results.json").read_text()), json.loads(done.out)
    made_by = {row["variant"]: row.pop("method") for row in from_run["variants"]}
    for row in from_table["variants"]:
        method = row.pop("method")
        assert method == (made_by[row["variant"]] if made_by[row["variant"]] == "rule" else None)
    for key in ("d_avg", "d_min", "d_avg_ew", "d_min_ew", "variants", "n", "weights", "ratings"):
        assert from_table[key] == from_run[key]


def test_perturb_writes_lines_and_shows_edits(dhp: Run, tmp_path: Path) -> None:
    done = dhp("perturb", "--dataset", "mini/summeval", "--n", "3", "--out", "p.jsonl", "--show", "1")
    assert done.code == 0
    assert re.search(r"random_deletions\.minor \(10 edits\): .*\w\[-\S-\]", done.out)
    rows = [json.loads(line) for line in (tmp_path / "p.jsonl").read_text().splitlines()]
    assert len(rows) == 3 * 13, "harmless edits, too"
    assert all(row["audit"]["similarity"] < 1 for row in rows)


def test_data_commands(dhp: Run) -> None:
    assert "ok  mini/wmt22_zhen: 24 examples" in dhp("data", "check").out
    assert "not prepared" in dhp("list", "datasets").out
    shown = dhp("show", "mini/summeval").out
    assert re.search(r"characters +\d{3}\.\d\n", shown)


@pytest.mark.slow
def test_prepare_then_run_a_published_dataset(dhp: Run, tmp_path: Path) -> None:
    header = "InputStoryid,InputSentence1,InputSentence2,InputSentence3,InputSentence4,"
    header += "RandomFifthSentenceQuiz1,RandomFifthSentenceQuiz2,AnswerRightEnding"
    rows = [
        f"s{i},Tom ran {i} miles.,He fell.,It hurt.,He rested.,He felt better {i}.,He flew {i}.,1"
        for i in range(6)
    ]
    (tmp_path / "cloze.csv").write_text("\n".join([header, *rows]) + "\n")
    before = dhp("benchmark", "--model", "baseline/surface", "--dataset", "story_cloze")
    assert before.code == 2
    assert "story_cloze is not prepared yet: dhp data prepare story_cloze --data FILE" in before.err
    prepared = dhp("data", "prepare", "story_cloze", "--data", "cloze.csv")
    assert "6 eligible examples" in prepared.out
    assert "note: the benchmark takes 100; runs with fewer need --n 6" in prepared.out
    fewer = dhp("benchmark", "--model", "baseline/surface", "--dataset", "story_cloze")
    assert fewer.code == 2
    assert "6 examples qualify, the benchmark takes 100; allowed: --n 6" in fewer.err
    every = dhp("benchmark", "--model", "baseline/surface", "--dataset", "all", "--n", "6", "--out", "all")
    assert every.code == 0
    assert "dhp: left out of 'all': summeval is not prepared yet: dhp data prepare summeval" in every.err
    published = ("--dataset", "story_cloze", "--data", "cloze.csv", "--n", "6")
    assert dhp("benchmark", "--model", "baseline/surface", *published).code == 0
    assert "n = 6" in dhp("show", "story_cloze").out


@pytest.mark.slow
def test_own_file_perturber_and_suite(dhp: Run, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "import dhp\n"
        "@dhp.perturber(name='shout', level='word')\n"
        "def shout(text, rng, *, example):\n"
        "    return text.upper()\n"
    )
    lines = [{"doc": f"Anna met {i} friends in Rome.", "summary": f"Anna met {i} friends."} for i in range(7)]
    (tmp_path / "own.jsonl").write_text("\n".join(map(json.dumps, lines)))
    fields = ("--field", "source=doc", "--field", "output=summary")
    base = (
        "benchmark",
        "--model",
        "baseline/surface",
        "--dataset",
        "own.jsonl",
        *fields,
        "--perturber",
        "own:shout",
    )
    added = dhp(*base, "--task", "summarization")
    assert added.code == 0
    assert re.search(r"shout[^\n]* \d+% ", added.out)
    result = json.loads(next(Path("runs").glob("own_jsonl-*")).joinpath("results.json").read_text("utf-8"))
    assert "|weights:uniform" in result["signature"]
    variants = {row["variant"]: row for row in result["variants"]}
    assert {"shout", "random_typos.minor"} <= variants.keys()
    assert (variants["reordering.minor"]["n"], variants["reordering.minor"]["not_applicable"]) == (0, 7)
    use = "{level: word, method: rule}"
    (tmp_path / "s.yaml").write_text(
        f"suite: s\ntask: summarization\nsource: own\nperturbers: {{shout: {use}}}\n"
    )
    alone = dhp(*base, "--suite", "s.yaml", "--out", "r")
    assert alone.code == 0
    assert "random_typos" not in alone.out


def test_ready_made_pairs_are_the_variants(dhp: Run, tmp_path: Path) -> None:
    rows = [
        {
            "id": i,
            "source": f"Ann has {i} cats.",
            "output": f"Ann has {i} cats.",
            "perturbed": p,
            "kind": kind,
        }
        for i in range(8)
        for kind, p in (("number", f"Ann has {i}77 cats."), ("noise", f"Ann hsa {i} cqts."))
    ]
    (tmp_path / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    done = dhp(
        "benchmark", "--model", "baseline/surface", "--dataset", "pairs.jsonl", "--task", "summarization"
    )
    assert done.code == 0
    assert re.search(r"number +\d", done.out)
    assert re.search(r"noise +\d", done.out)


@pytest.mark.parametrize("width", [50, 60, 80, 100, 140])
def test_tables_fit_the_terminal(
    dhp: Run, finished: Path, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    done = dhp("analyze", finished / "ratings.parquet", "--suite", "story_cloze")
    lines = [line.rstrip() for line in done.out.splitlines()]
    table = lines[: lines.index("")]
    assert max(map(len, table)) <= width
    assert any(line.startswith("    detection") for line in table) == (width < 80), "figures below the name"
    names = [variant_name(v.variant) for v in library.analyze(finished / "ratings.parquet")[0].variants]
    assert all(any(line.startswith(name) for line in table) for name in names), "names are not broken"


def test_too_few_examples_get_one_line(dhp: Run, tmp_path: Path) -> None:
    lines = [{"source": f"Ann met {i} friends in Rome.", "output": f"Anna {i}."} for i in range(3)]
    (tmp_path / "own.jsonl").write_text("\n".join(map(json.dumps, lines)))
    done = dhp(
        *("benchmark", "--model", "baseline/surface", "--dataset", "own.jsonl", "--task", "summarization"),
        *("--suite", "summeval"),
    )
    assert done.out.splitlines()[0] == "baseline/surface: needs 5 examples or more for a verdict."
    assert len(done.out.splitlines()) == 3


@pytest.mark.slow
def test_a_dataset_that_no_variant_applies_to_does_not_stop_the_others(dhp: Run, tmp_path: Path) -> None:
    lines = [
        {"source": f"Ann met {i} friends in Rome.", "output": f"Anna met {i} friends."} for i in range(6)
    ]
    (tmp_path / "own.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (tmp_path / "s.yaml").write_text(
        "suite: s\ntask: summarization\nsource: x\n"
        "perturbers: {reordering: {level: sentence, method: rule, params: {count: all}}}\n"
    )
    both = (
        "--dataset",
        "own.jsonl",
        "--dataset",
        "mini/summeval",
        "--task",
        "summarization",
        "--suite",
        "s.yaml",
    )
    assert dhp("benchmark", "--model", "baseline/surface", *both, "--out", "r").code == 0
    none, some = json.loads((tmp_path / "r" / "results.json").read_text())
    assert (none["d_avg"], none["variants"][0]["not_applicable"]) == (None, 6)
    assert some["d_avg"] > 1


def test_version(dhp: Run) -> None:
    assert dhp("--version").out.startswith("dhp 0.")


@pytest.mark.parametrize("model", ["mock/blind", "python:own.py:judge"])
def test_harmless_edits_are_judged_by_default(dhp: Run, tmp_path: Path, model: str) -> None:
    (tmp_path / "own.py").write_text("def judge(*, outputs):\n    return len(outputs)\n")
    scale = ("--scale", "0..9999") if model.startswith("python") else ()
    given = ("benchmark", "--dataset", "mini/story_cloze", "--n", "2", "--json", "--model", model, *scale)

    def controls(*more: str) -> list[str]:
        return [row["variant"] for row in json.loads(dhp(*given, *more).out)["controls"]]

    assert controls() == controls("--doses", "1,5") == ["harmless"]
    assert controls("--controls") == ["identity", "harmless"]
    assert controls("--no-controls") == []


def test_recorded_scores_are_asked_for_no_harmless_edits(dhp: Run, tmp_path: Path) -> None:
    rows = [f"s{i},Ann has {i} cats.,She has {i} cats.,She has dogs.,1,{i % 2}" for i in range(6)]
    (tmp_path / "p.csv").write_text("\n".join(["id,source,output,perturbed,good,bad", *rows]) + "\n")
    done = dhp(
        *("benchmark", "--model", "column/good?perturbed=bad", "--dataset", "p.csv"),
        *("--task", "summarization", "--json"),
    )
    found = json.loads(done.out)
    assert (found["controls"], found["ratings"]["failed"]) == ([], 0)
