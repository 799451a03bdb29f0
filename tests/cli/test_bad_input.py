"""Bad input: one clear line, exit code 2, nothing left behind."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from .conftest import Run

MODEL = ("benchmark", "--model", "baseline/surface")
OWN = (*MODEL, "--dataset", "pairs.jsonl", "--task", "summarization")
GOOD = [{"id": str(i), "source": f"Ann has {i} cats.", "output": f"She has {i}."} for i in range(4)]


def lines(rows: list[dict[str, object]]) -> str:
    return "\n".join(map(json.dumps, rows)) + "\n"


def ratings(**changes: object) -> str:
    rows: list[dict[str, object]] = [
        {"example": e, "variant": v, "metric": "fluency", "score": 3}
        for e in "ab"
        for v in ("original", "random_typos.minor")
    ]
    rows[1].update(changes)
    return lines(rows)


PAIRS = [
    {"source": "Ann has cats.", "output": "Cats.", "perturbed": p, "kind": k}
    for k, p in (("a", "C"), ("b", "D"))
]
FILES = {
    "pairs.jsonl": lines(PAIRS),
    "pair.jsonl": lines(PAIRS[:1]),
    "equal.jsonl": lines([{**pair, "perturbed": pair["output"]} for pair in PAIRS]),
    "dose.yaml": "suite: s\ntask: summarization\nsource: x\n"
    "perturbers: {random_typos: {level: character, method: rule, params: {k: -1}}}\n",
    "own.yaml": "suite: s\ntask: summarization\nsource: x\n"
    "perturbers: {reordering: {level: sentence, method: rule, params: {count: all}}}\n",
    "r_half.jsonl": '{"example": "a", "variant": "\\ud800", "metric": "m", "score": 1}\n',
    "r_list.jsonl": '{"example": ["a"], "variant": "v", "metric": "m", "score": 1}\n',
    "r_optional.csv": "example,variant,metric,score,modle\na,original,fluency,3,x\n",
    "good.jsonl": lines(GOOD),
    "empty.jsonl": "",
    "broken.jsonl": lines(GOOD) + '{"id": "9", "source":\n',
    "twice.jsonl": lines([*GOOD, GOOD[0]]),
    "blank.jsonl": lines([*GOOD, {"id": "9", "source": "x", "output": " "}]),
    "columns.jsonl": lines([{"id": "1", "source": "x", "outptu": "y"}]),
    "table.xlsx": "x",
    "suite.yaml": "suite: s\ntask: summarization\nsource: x\n"
    "perturbers: {random_typo: {level: character, method: rule}}\n",
    "r.jsonl": ratings(),
    "r_text.jsonl": ratings(score="good"),
    "r_variant.jsonl": ratings(variant="random_typo.minor"),
    "r_orphan.jsonl": ratings(example="c"),
    "r_broken.jsonl": ratings() + "{\n",
    "r_columns.csv": "example,variant,metrics,score\na,original,fluency,3\n",
    "r_empty.csv": "",
    "r_ragged.csv": "example,variant,metric,score\na,original,fluency,3,9,9\n",
    "r_binary.parquet": "not parquet",
    "a_file": "x",
}
CASES = [
    ((*MODEL, "--dataset", "missing.jsonl", "--task", "summarization"), "missing.jsonl: does not exist"),
    ((*MODEL, "--dataset", "empty.jsonl", "--task", "summarization"), "empty.jsonl: is empty"),
    ((*MODEL, "--dataset", "broken.jsonl", "--task", "summarization"), "broken.jsonl: line 5"),
    (
        (*MODEL, "--dataset", "twice.jsonl", "--task", "summarization"),
        "twice.jsonl: line 5: duplicate id '0'",
    ),
    (
        (*MODEL, "--dataset", "blank.jsonl", "--task", "summarization"),
        "blank.jsonl: line 5: column 'output' is empty",
    ),
    ((*MODEL, "--dataset", "columns.jsonl", "--task", "summarization"), "did you mean 'outptu'"),
    (
        (*MODEL, "--dataset", "good.jsonl"),
        "say what its texts are by --task; allowed: bagel, conversation, data_to_text, ",
    ),
    (
        (*MODEL, "--dataset", "good.jsonl", "--task", "summary"),
        "unknown task 'summary'; did you mean 'summarization'",
    ),
    (
        (*MODEL, "--dataset", "good.jsonl", "--task", "question_answering"),
        "example '0': task 'question_answering' needs a field",
    ),
    (
        (*MODEL, "--dataset", "good.jsonl", "--task", "summarization", "--n", "5"),
        "5 examples asked for, 4 there",
    ),
    (
        (*MODEL, "--dataset", "good.jsonl", "--task", "summarization", "--field", "output"),
        "must have the form OURS=THEIRS",
    ),
    ((*MODEL, "--dataset", "table.xlsx"), "unknown kind of file '.xlsx'; allowed: .csv, .json, .jsonl"),
    ((*MODEL, "--dataset", "table.xlsx", "--task", "summarization"), "unknown kind of file '.xlsx'"),
    ((*MODEL, "--dataset", "mini/sumeval"), "did you mean 'mini/summeval'"),
    ((*MODEL, "--dataset", "summevall"), "unknown dataset 'summevall'; did you mean 'summeval'"),
    ((*MODEL, "--dataset", "all"), "no dataset is prepared yet: dhp data prepare NAME"),
    ((*MODEL, "--dataset", "mini/summeval", "--n", "999"), "999 examples asked for, 24 there"),
    ((*MODEL, "--dataset", "mini/summeval", "--n", "0"), "n is 0; allowed: 1 to 24"),
    ((*MODEL, "--dataset", "mini/summeval", "--dataset", "mini"), "two datasets are called 'mini/summeval'"),
    ((*MODEL, "--dataset", "mini/summeval", "--data", "good.jsonl"), "--data goes with one --dataset"),
    ((*MODEL, "--dataset", "summeval", "--data", "missing"), "missing: does not exist"),
    ((*MODEL, "--dataset", "mini/summeval", "--task", "translation"), "--task is for data of your own"),
    (
        (*MODEL, "--dataset", "mini/summeval", "--suite", "wmt22_deen"),
        "suite 'wmt22_deen' is for task 'translation'",
    ),
    (
        (*MODEL, "--dataset", "mini/summeval", "--suite", "suite.yaml"),
        "unknown perturber; did you mean 'random_typos'",
    ),
    ((*MODEL, "--dataset", "mini/summeval", "--suite", "no.yaml"), "suite file no.yaml: does not exist"),
    ((*MODEL, "--dataset", "mini/summeval", "--weights", "desing"), "did you mean 'design'"),
    ((*MODEL, "--dataset", "mini/summeval", "--statistics", "papr"), "did you mean 'paper'"),
    (
        (*MODEL, "--dataset", "mini/summeval", "--combination", "fisher"),
        "unknown combination 'fisher'; allowed: hmp",
    ),
    ((*MODEL, "--dataset", "mini/summeval", "--perturber", "nothing"), "must have the form module:function"),
    ((*MODEL, "--dataset", "mini/summeval", "--out", "a_file"), "a_file: is a file"),
    ((*MODEL, "--dataset", "mini/summeval", "--out", "a_file/below"), "cannot be written"),
    ((*MODEL, "--dataset", "mini/summeval", "--out", "."), "holds other files and no run"),
    ((*MODEL, "--dataset", "mini/summeval", "--seed", "x"), "'--seed': 'x' is not a valid integer"),
    (
        (*MODEL, "--dataset", "mini/summeval", "--suite", "dose.yaml"),
        "'news-01': parameter k is -1; allowed: a whole",
    ),
    (
        (*MODEL, "--dataset", "good.jsonl", "--task", "summarization", "--field", "outptu=id"),
        "did you mean 'output'",
    ),
    (
        (
            *MODEL,
            "--dataset",
            "good.jsonl",
            "--task",
            "summarization",
            "--field",
            "a=id",
            "--field",
            "a=source",
        ),
        "'a' is mapped twice",
    ),
    (
        (*MODEL, "--dataset", "equal.jsonl", "--task", "summarization"),
        "equal.jsonl: no pair is left (2 equal); allowed: pairs of two different texts",
    ),
    (
        (*OWN, "--where", "kind=c"),
        "pairs.jsonl: no row has kind = c; found: a, b",
    ),
    ((*OWN, "--where", "knd=a"), "column 'knd' of --where is missing; did you mean 'kind'?"),
    ((*OWN, "--where", "kind"), "--where 'kind': must have the form COLUMN=VALUE"),
    (
        (*OWN, "--field", "better=kind"),
        "column 'kind' is 'a'; allowed: 'output' or 'perturbed' for the better",
    ),
    ((*OWN, "--field", "better=lable"), "--field better=lable: column 'lable' is missing"),
    (
        (*OWN, "--field", "output=outs[0].text"),
        "--field output=outs[0].text: column 'outs[0].text' is missing",
    ),
    ((*MODEL, "--dataset", "mini/summeval", "--where", "a=b"), "--where is for data of your own"),
    ((*MODEL, "--dataset", "bump"), "bump is not prepared yet: dhp data prepare bump"),
    ((*MODEL, "--dataset", "bump", "--data", "pairs.jsonl"), "column 'article_id' for 'id' is missing"),
    (("data", "prepare", "bump", "--data", "empty"), "empty: does not exist"),
    (("data", "prepare", "bump", "--data", "pairs.jsonl", "--field", "id=no"), "column 'no' for 'id' is m"),
    (
        ("data", "prepare", "story_cloze", "--data", "x", "--field", "id=no"),
        "--field: is for published pairs",
    ),
    (
        (*MODEL, "--dataset", "pair.jsonl", "--task", "summarization", "--suite", "summeval"),
        "no suite can be used",
    ),
    (
        ("perturb", "--dataset", "good.jsonl", "--task", "summarization", "--out", "good.jsonl"),
        "is the input",
    ),
    (("perturb", "--dataset", "mini/summeval", "--suite", "own.yaml", "--out", "own.yaml"), "is the input"),
    (("analyze", "r_half.jsonl"), "r_half.jsonl: line 1: column 'variant' holds a lone surrogate"),
    (("analyze", "r_list.jsonl"), "r_list.jsonl: line 1: column 'example' holds a list"),
    (("show", "mini"), "'mini': unknown name; dhp list shows all names"),
    (("perturb", "--dataset", "mini/summeval", "--out", "."), "is not a regular file"),
    (("analyze", "r_optional.csv"), "r_optional.csv: unknown column 'modle'; did you mean 'model'"),
    (("analyze", "x" * 300 + ".csv"), "File name too long"),
    ((*MODEL, "--modl", "x"), "--model"),
    (("benchmark",), "--model: is missing; name a judge, e.g. openai/NAME"),
    (("benchmark", "--model", "baseline/surfac"), "did you mean 'baseline/surface'"),
    (("benchmrak",), "No such command 'benchmrak'"),
    (("perturb", "--dataset", "mini"), "say where the texts go: --out FILE.jsonl, --freeze DIR, or --show K"),
    (("perturb", "--dataset", "mini/summeval", "--out", "a_file/p.jsonl"), "cannot be written"),
    (("show", "summevall"), "did you mean 'summeval'"),
    (("data", "prepare", "story_cloze"), "nothing to download"),
    (("analyze", "missing.csv"), "missing.csv: does not exist"),
    (("analyze", "."), ".: is a folder"),
    (("analyze", "table.xlsx"), "unknown kind of file '.xlsx'"),
    (("analyze", "r_text.jsonl"), "r_text.jsonl: row 2: score 'good' is not a number"),
    (
        ("analyze", "r_variant.jsonl", "--suite", "summeval"),
        "r_variant.jsonl: variant 'random_typo.minor' is not in the suite 'summeval'; did you mean",
    ),
    (("analyze", "r_orphan.jsonl"), "r_orphan.jsonl: example 'c' has no rating of its original"),
    (("analyze", "r_broken.jsonl"), "r_broken.jsonl: line 5: broken JSON"),
    (("analyze", "r_columns.csv"), "r_columns.csv: column 'metric' is missing; did you mean 'metrics'"),
    (("analyze", "r_empty.csv"), "r_empty.csv: is empty"),
    (("analyze", "r_ragged.csv"), "r_ragged.csv: row 1: 6 values; allowed: 4"),
    (("analyze", "r_binary.parquet"), "r_binary.parquet: not a Parquet file"),
    (("analyze", "r.jsonl", "--weights", "design"), "weights 'design' hold several tasks"),
]


@pytest.mark.parametrize(
    ("arguments", "message"), CASES, ids=lambda v: " ".join(v) if isinstance(v, tuple) else ""
)
def test_one_line_exit_two_nothing_written(
    dhp: Run, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
    outcome = dhp(*arguments)
    assert outcome.code == 2
    assert message in outcome.err
    assert outcome.err.startswith("dhp: ")
    assert outcome.err.count("\n") == 1
    assert outcome.out == ""
    assert {p.name for p in tmp_path.iterdir()} == set(FILES)


def test_a_broken_manifest_is_not_overwritten(dhp: Run, tmp_path: Path) -> None:
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / "manifest.json").write_text("{")
    outcome = dhp(*MODEL, "--dataset", "mini/story_cloze", "--out", "r")
    assert outcome.code == 2
    assert "manifest.json is broken" in outcome.err


def test_a_manifest_of_another_version_is_a_different_run(dhp: Run, tmp_path: Path) -> None:
    command = (*MODEL, "--dataset", "mini/story_cloze", "--n", "5", "--out", "r")
    assert dhp(*command).code == 0
    manifest = json.loads((tmp_path / "r" / "manifest.json").read_text())
    manifest["identity"]["novelty"] = 1
    (tmp_path / "r" / "manifest.json").write_text(json.dumps(manifest))
    assert "holds a different run (novelty differ)" in dhp(*command).err


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_without_unicode(dhp: Run, monkeypatch: pytest.MonkeyPatch, encoding: str) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding=encoding))
    done = dhp("benchmark", "--model", "baseline/constant", "--dataset", "mini/story_cloze", "--n", "5")
    sys.stdout.flush()
    assert done.code == 0
    assert b"missing letters" in raw.getvalue()
    assert b"?" in raw.getvalue()


SLOW = """
import time
from dhp.judge.judges.mock import ConstantJudge
from dhp.cli.main import main
rate = ConstantJudge.rate
def slowly(self, candidates, task):
    for rating in rate(self, candidates, task):
        time.sleep(0.02)
        yield rating
ConstantJudge.rate = slowly
main(["benchmark", "--model", "baseline/constant", "--dataset", "mini/story_cloze", "--out", "r"])
"""


@pytest.mark.slow
def test_control_c_leaves_no_half_written_file_and_exits_with_three(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", SLOW], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not (tmp_path / "r" / "manifest.json").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.3)
    os.kill(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 3
    assert err.splitlines()[-1] == "dhp: stopped; repeat the command to resume"
    assert "Traceback" not in err
    assert [path.name for path in (tmp_path / "r").glob("[!.]*")] == ["manifest.json"]


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
    command = (*MODEL, "--dataset", "mini/story_cloze", "--n", "5", "--out", "r")
    with monkeypatch.context() as patched:
        replace = os.replace

        def stopping(source: Path, target: Path) -> None:
            if Path(target).name == where:
                raise stop
            replace(source, target)

        patched.setattr(os, "replace", stopping)
        outcome = dhp(*command)
    assert outcome.code == 3
    assert outcome.err.splitlines()[-1].startswith("dhp: ")
    left = {p.name for p in (tmp_path / "r").iterdir()}
    assert where not in left
    written = ["manifest.json", "examples.jsonl", "perturbed.jsonl", "ratings.parquet", "results.json"]
    written.append("report.html")
    assert left == set(written[: written.index(where)])
    assert dhp(*command).code == 0
    assert {p.name for p in (tmp_path / "r").iterdir()} == set(written)


def test_control_characters_never_reach_the_terminal(dhp: Run, tmp_path: Path) -> None:
    for name, score in (("bad.csv", "one"), ("good.csv", "2")):
        rows = [f"{e},original,m,3\n{e},v\033[2J,m,{score}" for e in range(6)]
        (tmp_path / name).write_text("\n".join(["example,variant,metric,score", *rows]) + "\n")
        outcome = dhp("analyze", name)
        assert "\033" not in outcome.out + outcome.err
    assert "v\ufffd[2J" in outcome.out


def test_a_folder_is_never_replaced_by_a_file(dhp: Run, tmp_path: Path) -> None:
    (tmp_path / "thesis" / "chapter").mkdir(parents=True)
    (tmp_path / "thesis" / "chapter" / "one.txt").write_text("years of work")
    assert dhp("perturb", "--dataset", "mini/summeval", "--out", "thesis").code == 2
    assert (tmp_path / "thesis" / "chapter" / "one.txt").read_text() == "years of work"
