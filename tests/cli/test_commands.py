"""The commands as a user types them."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from .conftest import Run, results_in, write_rows, write_stories

SMALL = "--dataset mini/story_cloze --n 8"
MET = "Anna met {} friends in Rome."


def test_benchmark_prints_a_table_and_writes_the_run_folder(dhp: Run) -> None:
    done = dhp(f"benchmark --model baseline/surface {SMALL}")
    assert done.code == 0
    for text in ("mini/story_cloze", "typos", "undecided", "noticed", "baseline/surface: "):
        assert text in done.out
    assert "D_avg  D_min  noticed" in done.out
    assert "D_avg_EW" not in done.out, "nobody asked for weights"
    assert "seed:0" not in done.out
    detailed = dhp(f"benchmark --model baseline/surface {SMALL} --details --out d").out
    assert "D_avg_EW" in detailed
    assert "|method:authored+rule|" in detailed
    (folder,) = Path("runs").iterdir()
    tables = {"examples.jsonl", "perturbed.jsonl", "ratings.parquet"}
    assert {p.name for p in folder.iterdir()} == {"manifest.json", "results.json", "report.html", *tables}
    result = results_in(str(folder))
    assert (result["schema"], result["n"], result["model"]) == ("dhp.results/3", 8, "baseline/surface")
    assert result["ratings"]["asked"] == result["ratings"]["scored"] == 8 * 8 * 3
    ratings = pd.read_parquet(folder / "ratings.parquet")
    assert {"example", "variant", "metric", "sample", "score", "status", "model"} <= set(ratings.columns)


@pytest.mark.slow
def test_twice_the_same_and_a_different_seed(dhp: Run) -> None:
    command = f"benchmark --model baseline/surface {SMALL}"
    for folder, seed in (("a", 0), ("b", 0), ("c", 1)):
        assert dhp(f"{command} --seed {seed} --out {folder}").code == 0
    a, b, c = ({**results_in(folder), "created": "", "checksum": ""} for folder in "abc")
    assert a == b
    assert a != c
    assert Path("a/perturbed.jsonl").read_bytes() == Path("b/perturbed.jsonl").read_bytes()
    assert dhp(f"{command} --out a").code == 0, "the same run may write to its folder again"
    different = dhp(f"{command} --seed 1 --out a")
    assert different.code == 2
    assert "(seed differ)" in different.err


@pytest.mark.slow
def test_several_models_and_datasets_make_a_list(dhp: Run) -> None:
    models = "--model baseline/constant --model baseline/surface"
    assert dhp(f"benchmark {models} {SMALL} --dataset mini/answer_equivalence --out r").code == 0
    results = results_in("r")
    assert [(r["dataset"], r["model"]) for r in results] == [
        ("mini/story_cloze", "baseline/constant"),
        ("mini/story_cloze", "baseline/surface"),
        ("mini/answer_equivalence", "baseline/constant"),
        ("mini/answer_equivalence", "baseline/surface"),
    ]
    assert [r["d_avg"] > 0 for r in results] == [False, True, False, True]


def test_a_pass_mark_on_ratings_that_you_have(dhp: Run, tmp_path: Path) -> None:
    """Of six damaged texts two reach 7; of six originals one does not."""
    pairs = [(9, 7), (9, 6), (8, 5), (8, 8), (7, 2), (6, 1)]
    rows = [
        f"{i},{v},m,{s}"
        for i, pair in enumerate(pairs)
        for v, s in zip(("original", "worse"), pair, strict=True)
    ]
    (tmp_path / "r.csv").write_text("\n".join(["example,variant,metric,score", *rows]))
    found = json.loads(dhp("analyze", str(tmp_path / "r.csv"), "--pass-mark", "7", "--json").out)
    assert found["variants"][0]["passes"]["share"] == pytest.approx(2 / 6)
    assert found["pass_mark"]["fails"]["share"] == pytest.approx(1 / 6)


def test_analyze_reads_a_wide_table_and_writes_a_page(dhp: Run, tmp_path: Path) -> None:
    rows = [f"t{k},{4 + k % 2},{3 + k % 2}" for k in range(12)]
    (tmp_path / "wide.csv").write_text("\n".join(["ticket,clean,typos", *rows]))
    command = "analyze wide.csv --field example=ticket --field original=clean --name mine --dataset tickets"
    done = dhp(f"{command} --html page.html")
    assert done.code == 0
    assert "mine on tickets: 24 ratings of 12 examples" in done.out
    assert "notices typos" in (tmp_path / "page.html").read_text()
    assert "page  page.html" in done.out


def test_analyze_names_the_command_that_degrades_the_texts_of_a_log(dhp: Run, tmp_path: Path) -> None:
    entry = {"gradingResult": {"pass": True, "score": 0.9}, "response": {"output": "Hi."}, "vars": {"q": "a"}}
    (tmp_path / "log.json").write_text(json.dumps({"results": {"version": 3, "results": [entry]}}))
    (tmp_path / "r.csv").write_text("a,b\n1,2\n")
    assert "dhp perturb --dataset log.json --out set.csv" in dhp("analyze log.json").out
    assert dhp("analyze r.csv").code == 2


def test_analyze_reads_the_scores_in_a_log(dhp: Run, tmp_path: Path) -> None:
    entries = [
        {"gradingResult": {"pass": True, "score": 0.9 - 0.1 * damaged}, "vars": {"item": n, "copy": copy}}
        for n in range(6)
        for damaged, copy in enumerate(("original", "typos"))
    ]
    (tmp_path / "log.json").write_text(json.dumps({"results": {"version": 3, "results": entries}}))
    done = dhp("analyze log.json --field example=vars.item --field variant=vars.copy --html page.html")
    assert "the judge on log.json: 12 ratings of 6 examples" in done.out
    assert "the judge: notices typos" in done.out
    page = (tmp_path / "page.html").read_text()
    assert "All figures" in page, "the page is the report, not what is printed"
    assert "the judge" in page


@pytest.mark.slow
def test_analyze_gives_what_the_run_gave(dhp: Run) -> None:
    ran = dhp(f"benchmark --model baseline/surface {SMALL} --out r --json")
    from_run = json.loads(ran.out)
    from_table = json.loads(dhp("analyze r/ratings.parquet --suite story_cloze --json").out)
    for row, rated in zip(from_table["variants"], from_run["variants"], strict=True):
        assert row.pop("method") == ("rule" if rated.pop("method") == "rule" else None)
    for key in ("d_avg", "d_min", "d_avg_ew", "d_min_ew", "variants", "n", "weights", "ratings"):
        assert from_table[key] == from_run[key]


def test_perturb_writes_lines_and_shows_edits(dhp: Run, tmp_path: Path) -> None:
    done = dhp("perturb", "--dataset", "mini/summeval", "--n", "3", "--out", "p.jsonl", "--show", "1")
    assert done.code == 0
    assert re.search(r"random_deletions\.minor \(10 edits\): .*\w\[-\S-\]", done.out)
    rows = [json.loads(line) for line in (tmp_path / "p.jsonl").read_text().splitlines()]
    originals = {row["example"]: row["output"] for row in rows if row["variant"] == "original"}
    copies = [row for row in rows if row["variant"] != "original"]
    assert (len(originals), len(copies)) == (3, 3 * 13), "harmless edits, too"
    assert all(row["output"] != originals[row["example"]] and row["level"] for row in copies)


@pytest.mark.slow
def test_data_commands(dhp: Run) -> None:
    assert "ok  mini/wmt22_zhen: 24 examples" in dhp("data", "check").out
    assert "not prepared" in dhp("list", "datasets").out
    shown = dhp("show", "mini/summeval").out
    assert re.search(r"characters +\d{3}\.\d\n", shown)


@pytest.mark.slow
def test_prepare_then_run_a_published_dataset(dhp: Run) -> None:
    run = "benchmark --model baseline/surface --dataset"
    write_stories(6)
    before = dhp(f"{run} story_cloze")
    assert before.code == 2
    assert "dhp data prepare story_cloze --data FILE" in before.err
    prepared = dhp("data prepare story_cloze --data cloze.csv")
    assert "6 eligible examples" in prepared.out
    assert "note: the benchmark takes 100; runs take these 6" in prepared.out
    fewer = dhp(f"{run} story_cloze")
    assert fewer.code == 0
    assert fewer.err.count("6 examples qualify, the benchmark takes 100; its figures are of these 6") == 1
    every = dhp(f"{run} all --n 6 --out all")
    assert every.code == 0
    assert "dhp: left out of 'all': summeval " in every.err
    assert dhp(f"{run} story_cloze --data cloze.csv --n 6").code == 0
    assert "n = 6" in dhp("show story_cloze").out


@pytest.mark.slow
def test_own_file_perturber_and_suite(dhp: Run) -> None:
    Path("own.py").write_text(
        "import dhp\n"
        "@dhp.perturber(name='shout', level='word')\n"
        "def shout(text, rng, *, example):\n"
        "    return text.upper()\n"
    )
    write_rows("own.jsonl", [{"doc": MET.format(i), "summary": f"Anna met {i} friends."} for i in range(7)])
    data = "--dataset own.jsonl --field source=doc --field output=summary"
    base = f"benchmark --model baseline/surface {data} --perturber own:shout"
    added = dhp(f"{base} --task summarization")
    assert added.code == 0
    assert re.search(r"shout[^\n]* \d+% ", added.out)
    (folder,) = Path("runs").glob("own_jsonl-*")
    result = results_in(str(folder))
    assert "|weights:uniform" in result["signature"]
    variants = {row["variant"]: row for row in result["variants"]}
    assert {"shout", "random_typos.minor"} <= variants.keys()
    assert "reordering.minor" in result["left_out"], "it applies to no text of one sentence"
    suite = "suite: s\ntask: summarization\nsource: own\n"
    Path("s.yaml").write_text(suite + "perturbers: {shout: {level: word, method: rule}}\n")
    alone = dhp(f"{base} --suite s.yaml --out r")
    assert alone.code == 0
    assert "random_typos" not in alone.out


def test_ready_made_pairs_are_the_variants(dhp: Run) -> None:
    rows = [
        {"id": i, "source": text, "output": text, "perturbed": perturbed, "kind": kind}
        for i in range(8)
        for text in [f"Ann has {i} cats."]
        for kind, perturbed in (("number", f"Ann has {i}77 cats."), ("noise", f"Ann hsa {i} cqts."))
    ]
    write_rows("pairs.jsonl", rows)
    done = dhp("benchmark --model baseline/surface --dataset pairs.jsonl --task summarization")
    assert done.code == 0
    assert re.search(r"noise and number +\d", done.out), "equal rows of both kinds are one"


@pytest.mark.slow
def test_a_dataset_that_no_variant_applies_to_does_not_stop_the_others(dhp: Run) -> None:
    write_rows("own.jsonl", [{"source": MET.format(i), "output": MET.format(i)} for i in range(6)])
    suite = "suite: s\ntask: summarization\nsource: x\n"
    reordering = "{level: sentence, method: rule, params: {count: all}}"
    Path("s.yaml").write_text(f"{suite}perturbers: {{reordering: {reordering}}}\n")
    both = "--dataset own.jsonl --dataset mini/summeval --task summarization --suite s.yaml"
    assert dhp(f"benchmark --model baseline/surface {both} --out r").code == 0
    none, some = results_in("r")
    assert (none["d_avg"], none["variants"], none["left_out"]) == (None, [], ["reordering"])
    assert some["d_avg"] > 1


def test_version(dhp: Run) -> None:
    assert dhp("--version").out.startswith("dhp 0.")


@pytest.mark.parametrize("model", ["mock/blind", pytest.param("python:own.py:judge", marks=pytest.mark.slow)])
def test_harmless_edits_are_judged_by_default(dhp: Run, tmp_path: Path, model: str) -> None:
    (tmp_path / "own.py").write_text("def judge(*, outputs):\n    return len(outputs)\n")
    scale = ("--scale", "0..9999") if model.startswith("python") else ()
    given = ("benchmark", "--dataset", "mini/story_cloze", "--n", "2", "--json", "--model", model, *scale)

    def controls(*more: str) -> list[str]:
        return [row["variant"] for row in json.loads(dhp(*given, *more).out)["controls"]]

    assert controls() == controls("--doses", "1,5") == ["harmless"]
    assert controls("--controls") == ["identity", "harmless"]
    assert controls("--no-controls") == []


def test_recorded_scores_are_asked_for_no_harmless_edits(dhp: Run) -> None:
    rows = [f"s{i},Ann has {i} cats.,She has {i} cats.,She has dogs." for i in range(6)]
    Path("p.csv").write_text("\n".join(["id,source,output,perturbed", *rows]) + "\n")
    scores = [f"s{i},1,{i % 2}" for i in range(6)]
    Path("scores.csv").write_text("\n".join(["id,original,perturbed", *scores]) + "\n")
    judge = "--model recorded/scores.csv --task summarization"
    found = json.loads(dhp(f"benchmark {judge} --dataset p.csv --json").out)
    assert (found["controls"], found["ratings"]["failed"]) == ([], 0)


FULL = OSError(28, "No space left on device")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("where", "stop"),
    [
        ("examples.jsonl", KeyboardInterrupt),
        ("perturbed.jsonl", FULL),
        ("ratings.parquet", FULL),
        ("results.json", KeyboardInterrupt),
        ("report.html", FULL),
    ],
)
def test_stopped_while_writing(
    dhp: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    stop: BaseException | type[BaseException],
    where: str,
) -> None:
    command = "benchmark --model baseline/surface --dataset mini/story_cloze --n 5 --out r"
    with monkeypatch.context() as patched:
        replace = os.replace

        def stopping(source: Path, target: Path) -> None:
            if Path(target).name == where:
                raise stop
            replace(source, target)

        patched.setattr(os, "replace", stopping)
        outcome = dhp(command)
    assert outcome.code == 3
    assert outcome.err.splitlines()[-1].startswith("dhp: ")
    left = {p.name for p in (tmp_path / "r").iterdir()}
    assert where not in left
    written = ["manifest.json", "examples.jsonl", "perturbed.jsonl", "ratings.parquet", "results.json"]
    written.append("report.html")
    assert left == set(written[: written.index(where)])
    assert dhp(command).code == 0
    assert {p.name for p in (tmp_path / "r").iterdir()} == set(written)


def test_a_path_that_is_no_utf8_is_named(dhp: Run) -> None:
    done = dhp("benchmark", *shlex.split(SMALL), "--model", "mock/noisy", "--out", os.fsdecode(b"x\xff"))
    assert done.code == 2
    assert done.err.endswith(": is not UTF-8; allowed: UTF-8, also in paths\n")
    assert len(done.err.splitlines()) == 1


INTERRUPTED = """
import atexit, os, runpy, signal, sys

def interrupt():
    os.kill(os.getpid(), signal.SIGINT)

class AtImport:
    def find_spec(name, path=None, target=None):
        if name == moment:
            interrupt()

moment = sys.argv[1]
if moment == "exit":
    atexit.register(interrupt)
sys.meta_path.insert(0, AtImport)
del sys.argv[:2]
runpy.run_module(sys.argv[0], run_name="__main__")
"""


@pytest.mark.parametrize("module", ["dhp", "dhp.benchmark"])
@pytest.mark.parametrize(
    ("moment", "code", "said"),
    [
        ("dhp.cli.options", -signal.SIGINT, ""),
        ("dhp.cli.benchmark", 3, "dhp: stopped; repeat the command to resume"),
        ("exit", -signal.SIGINT, ""),
    ],
)
def test_control_c_shows_no_traceback_at_any_moment(module: str, moment: str, code: int, said: str) -> None:
    typed = [module, *(["benchmark"] if module == "dhp" else []), "--help"]
    command = [sys.executable, "-c", INTERRUPTED, moment, *typed]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.strip()) == (code, said)
