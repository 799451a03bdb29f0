"""Plug-ins: those here, and a package of somebody else that uses most hooks."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path

import pytest

import dhp
from dhp.content import catalog
from dhp.content.yaml_files import content_folder
from dhp.core import plugins
from dhp.core.errors import InputError
from dhp.core.plugins import Plugin, load_target, offered

CHECKOUT = Path(dhp.__file__).parents[1]
PARTS = ("dhp", "perturbations", "expert_weights", "datasets", "protocols", "pyproject.toml")


NAMES = sorted(path.parent.name for path in CHECKOUT.glob("dhp/plugins/*/__init__.py"))


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package and its content."""
    folder = tmp_path_factory.mktemp("copy")
    for part in PARTS:
        path = CHECKOUT / part
        (shutil.copytree if path.is_dir() else shutil.copy)(path, folder / part)
    return folder


@contextmanager
def without(copy: Path, names: Sequence[str]) -> Iterator[None]:
    """Within it these plug-ins lie elsewhere."""
    for name in names:
        (copy / "dhp" / "plugins" / name).rename(copy / name)
    yield
    for name in names:
        (copy / name).rename(copy / "dhp" / "plugins" / name)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_first_command_runs_without_a_plugin(name: str, copy: Path, tmp_path: Path) -> None:
    """Neither code nor bundled texts need any of them."""
    first = (
        f"-m dhp.benchmark --model mock/ideal --dataset mini --n 5 --quiet --out {tmp_path / 'out'}".split()
    )
    with without(copy, [name]):
        done = subprocess.run([sys.executable, *first], cwd=copy, capture_output=True, text=True)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    assert len(json.loads((tmp_path / "out" / "results.json").read_text())) == 6


@pytest.mark.slow
def test_content_is_whole_without_any_plugin(copy: Path) -> None:
    with without(copy, NAMES):
        check = [sys.executable, "-m", "dhp", "data", "check"]
        done = subprocess.run(check, cwd=copy, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "ok  suite summeval" in done.stdout
    assert "conversations" not in done.stdout


def test_content_names_no_perturber_of_a_plugin() -> None:
    names = re.compile(rf"\b(?:{'|'.join(offered('perturbers'))})\b")
    looked_at = 0
    for part in ("perturbations", "expert_weights", "datasets", "protocols"):
        for path in content_folder(part).rglob("*.*"):
            assert names.search(path.read_text("utf-8")) is None, path
            looked_at += 1
    assert looked_at > 50


PACKAGE = '''
import click
import json
import os
import pandas as pd
import sys
from dataclasses import dataclass
from dhp.core.options import option
from dhp.core.plugins import Plugin
from dhp.core.records import Rating
from dhp.judge.adapters.adapter import Adapter
from dhp.llm.records import Reply
from dhp.plugins.batch.providers import BatchProvider, State

class Length:
    model, protocol = "length/words", "none"
    def rate(self, candidates, task):
        for c in candidates:
            for metric in task.metrics:
                yield Rating(c.example, c.variant, metric.name, 0, min(5.0, 1 + len(c.text.split()) / 10))

def judge(name, seed):
    return Length()

@dataclass(frozen=True)
class Same:
    """One answer to all."""
    answer_all: str | None = option("Answer all with this.", default=None, metavar="TEXT")

    multi_sample, discounted, calls_functions = True, False, False

    @property
    def is_used(self):
        return self.answer_all is not None

    def check_dry_run(self): ...

    def open(self, context):
        return Filler(self.answer_all)

class Filler:
    collects, taken = False, 0

    def __init__(self, text):
        self.text = text

    def check(self, model, endpoint=None): ...

    def answer(self, target, requests):
        for request in requests:
            replies = {sample: Reply(self.text, "stop", 9, 1, 1) for sample in request.samples}
            target.keep(request, replies)
            yield request, replies

    def fill(self): ...

    def end(self): ...

class Ruler:
    def measured(self, text):
        return min(1.0, len(text) / 1000)

def adapt(scorer):
    if isinstance(scorer, Ruler):
        fields = {"text": ("output",)}
        call = lambda given: scorer.measured(given["text"])
        return Adapter(shape="ruler", name="length", fields=fields, scale=(0, 1), call=call)

def scorers_of(path):
    return [Ruler()] if str(path).endswith("ruler.jsonl") else None

def notes(result):
    return [f"{result.n} examples were measured"]

def ratings_in(path, fields):
    if path.name != "lengths.jsonl":
        return None
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return pd.DataFrame([{**row, "score": len(row["text"])} for row in rows])

class Threes:
    """A provider of batches that answers 3 to all."""
    sent = {}

    def __init__(self, endpoint): ...

    def submit(self, path, tag):
        self.sent[tag] = [json.loads(line) for line in path.read_text().splitlines()]
        return tag

    def find(self, tag, count, since, known):
        return tag if tag in self.sent else None

    def state(self, batch):
        return State("done", ended=True, answers=len(self.sent[batch]), every=True)

    def results(self, batch):
        for line in self.sent[batch]:
            message = {"role": "assistant", "content": "3"}
            choices = [{"index": 0, "finish_reason": "stop", "message": message}]
            body = {"choices": choices, "usage": {"prompt_tokens": 9, "completion_tokens": 1}}
            response = {"status_code": 200, "body": body}
            yield {"custom_id": line["custom_id"], "response": response, "error": None}

    def cancel(self, batch): ...

THREES = BatchProvider(Threes, "")

@click.command()
def greet():
    """Say hello."""
    print("hello")

PLUGIN = Plugin(
    "tiny",
    "a test",
    commands={"greet": ("tiny_plugin:greet", "Say hello.")},
    functions={"tiny_judge": "tiny_plugin:judge"},
    judges={"length": "tiny_plugin:judge"},
    forms={"length/words": "counts words"},
    fillers={"same": "tiny_plugin:Same"},
    batch_providers={"threes": "tiny_plugin:THREES"},
    scorers={"ruler": "tiny_plugin:adapt"},
    log_scorers={"ruler": "tiny_plugin:scorers_of"},
    log_ratings={"ruler": "tiny_plugin:ratings_in"},
    notes={"measured": "tiny_plugin:notes"},
)
'''


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of packages in which the tiny one is installed."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "tiny_plugin.py").write_text(PACKAGE)
    about = folder / "tiny_plugin-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: tiny-plugin\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[dhp.plugins]\ntiny = tiny_plugin:PLUGIN\n")
    return folder


def command(site: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    code = (
        f"import sys; sys.path.append({str(site)!r}); from dhp.cli.main import main; main({[*arguments]!r})"
    )
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, cwd=site, check=False
    )


@pytest.mark.slow
def test_a_command_of_others_is_listed_and_runs(site: Path) -> None:
    assert command(site, "greet").stdout == "hello\n"
    assert "greet" in command(site, "--help").stdout.splitlines()[-1]
    assert "Say hello." in command(site, "--help-all").stdout


@pytest.mark.slow
def test_a_judge_of_others_is_a_model(site: Path) -> None:
    done = command(site, "benchmark", "--model", "length/words", "--dataset", "mini/story_cloze", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["model"] == "length/words"
    assert "counts words" in command(site, "list", "judges").stdout
    unknown = command(site, "benchmark", "--model", "lenght/words")
    assert (unknown.returncode, unknown.stderr.count("\n")) == (2, 1)
    assert "'length'?" in unknown.stderr


@pytest.mark.slow
def test_a_filler_of_others_has_options_and_answers(site: Path) -> None:
    nobody = ("--model", "openai/m", "--base-url", "http://127.0.0.1:9/v1", "--cache", "replies")
    texts = ("benchmark", "--dataset", "mini/story_cloze", "--n", "2", "--no-controls")
    done = command(site, *texts, *nobody, "--answer-all", "3", "--json")
    assert done.returncode == 0, done.stderr
    ratings = json.loads(done.stdout)["ratings"]
    assert ratings["asked"] == ratings["scored"] > 0
    both = command(site, *texts, *nobody, "--answer-all", "3", "--batch-write", "requests.jsonl")
    assert both.returncode == 2
    assert both.stderr.count("\n") == 1
    assert "--batch-write: " in both.stderr
    assert "Answer all with this." in command(site, "benchmark", "--help-all").stdout


@pytest.mark.slow
def test_a_provider_of_batches_of_others_answers(site: Path) -> None:
    nobody = ("--model", "openai/m", "--base-url", "http://127.0.0.1:9/v1", "--cache", "batched")
    texts = ("benchmark", "--dataset", "mini/story_cloze", "--n", "2", "--no-controls", "--samples", "1")
    done = command(site, *texts, *nobody, "--batch", "threes", "--json")
    assert done.returncode == 0, done.stderr
    ratings = json.loads(done.stdout)["ratings"]
    assert ratings["asked"] == ratings["scored"] > 0
    unknown = command(site, *texts, *nobody, "--batch", "treees")
    assert "threes" in unknown.stderr, "the message names what plug-ins add"


@pytest.mark.slow
def test_a_log_of_others_names_its_scorers_and_notes_are_added(site: Path) -> None:
    rows = [
        {"output": f"It has rained in the valley for {i} days, and the river rises."} for i in range(2, 9)
    ]
    (site / "ruler.jsonl").write_text("\n".join(map(json.dumps, rows)))
    done = command(site, "benchmark", "--dataset", "ruler.jsonl", "--no-controls", "--details")
    assert done.returncode == 0, done.stderr
    assert "7 examples were measured" in done.stdout
    assert "length" in done.stdout


@pytest.mark.slow
def test_scores_in_a_log_of_others_are_analysed(site: Path) -> None:
    texts = [("original", "abcd"), ("cut", "abc")]
    rows = [{"example": str(n), "variant": v, "text": t} for n in range(6) for v, t in texts]
    (site / "lengths.jsonl").write_text("\n".join(map(json.dumps, rows)))
    done = command(site, "analyze", "lengths.jsonl")
    assert "notices cut" in done.stdout, done.stderr


def test_a_folder_that_nobody_may_read_stops_no_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scandir = os.scandir

    def refused(folder: str | Path) -> Iterator[os.DirEntry[str]]:
        if Path(folder) == tmp_path:
            raise PermissionError(13, "Permission denied", str(folder))
        return scandir(folder)

    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(os, "scandir", refused)
    plugins.plugins.cache_clear()
    try:
        assert "correlate" in offered("commands")
    finally:
        plugins.plugins.cache_clear()


def test_each_hook_has_two_users_or_one_of_others() -> None:
    names = [field.name for field in fields(Plugin) if field.name not in ("name", "help", "extra")]
    users = {name: sum(bool(getattr(each, name)) for each in plugins.plugins()) for name in names}
    assert {name for name, count in users.items() if count < 2 and f"    {name}={{" not in PACKAGE} == set()


@pytest.mark.slow
def test_a_function_of_others_is_one_of_dhp(site: Path) -> None:
    code = f"import sys; sys.path.append({str(site)!r}); import dhp; print(dhp.tiny_judge('x', 0).model)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "length/words\n"


NO_TARGETS = ("name", "help", "forms", "content", "extra")


def test_every_target_of_ours_exists() -> None:
    hooks = [field.name for field in fields(Plugin) if field.name not in NO_TARGETS]
    targets = [offer for hook in hooks for offer in offered(hook).values()]
    assert len(targets) >= 30
    for offer in targets:
        assert load_target(offer if isinstance(offer, str) else offer[0]) is not None
    assert "correlate" in dir(dhp)


def test_content_of_one_name_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "perturbations").mkdir()
    (tmp_path / "perturbations" / "general.yaml").write_text("suite: general")
    others = (*plugins.plugins(), Plugin("mine", "x", content=tmp_path))
    monkeypatch.setattr(catalog, "plugins", lambda: others)
    with pytest.raises(InputError, match=r"general\.yaml: has the name of .*general\.yaml; must have"):
        catalog.read_suite("general")


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (Plugin("mine", "x", commands={"review": ("a:b", "x")}), "both add 'review' to their commands"),
        ("no plug-in", "is no dhp.core.plugins.Plugin"),
    ],
)
def test_what_does_not_fit_is_one_line(monkeypatch: pytest.MonkeyPatch, other: object, message: str) -> None:
    class Entry:
        name, value = "mine", "mine:PLUGIN"

        def load(self) -> object:
            return other

    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [Entry()])
    monkeypatch.setattr(plugins, "_may_register", lambda place: True)
    plugins.plugins.cache_clear()
    try:
        with pytest.raises(InputError, match=message):
            offered("commands")
    finally:
        plugins.plugins.cache_clear()
