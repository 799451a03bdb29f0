"""Nothing is written over what is no file of ours: each name that a command writes is planted as an obstacle.

Obstacles are a link, a dangling one, a second name of a file (hard link), a folder, and a pipe: two a name.

The names are those that a clean run of the command opens for writing, makes or replaces, temporary ones too.
"""

import json
import os
import re
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Run, write_stories
from tests.llm.stub import stub_server
from tests.plugins.batch.provider_server import Provider, provider_server
from tests.plugins.survey.test_survey import sheet

RUN = "benchmark --dataset mini/summeval --n 2 --metric fluency --quiet"
COMMANDS = {
    "benchmark": f"{RUN} --model openai/stub --base-url URL --samples 1 --out out --cache cache",
    "benchmark in runs": f"{RUN} --model openai/stub --base-url URL --samples 1 --name mine --cache cache",
    "batch": f"{RUN} --model openai/stub --base-url URL --samples 1 --out out --cache cache "
    "--batch-write requests.jsonl",
    "batch sent": f"{RUN} --model openai/stub --base-url PROVIDER --samples 1 --out out --cache cache "
    "--batch openai",
    "judge": "judge texts.jsonl --model mock/noisy --out rated.csv",
    "judge, parquet": "judge texts.jsonl --model mock/noisy --out rated.parquet",
    "perturb": "perturb --dataset mini/summeval --n 2 --out texts.out.jsonl",
    "freeze": "perturb --dataset mini/summeval --n 2 --freeze set",
    "gate": "gate run --min-detection 1 --junit junit.xml",
    "report": "report run --out page.html",
    "report in the run": "report run",
    "figures": "report run --figures figures",
    "compare": "compare run other --html compared.html",
    "leaderboard": "leaderboard site run --out board",
    "add to a board": "leaderboard add both --to board",
    "survey": "weights survey --task summarization --out survey.html",
    "votes": "weights aggregate votes.json --out weights.yaml --chart weights.html",
    "prepare": "data prepare story_cloze --data cloze.csv",
    "analyze": "analyze run/ratings.parquet --suite summeval --html analysis.html --quiet",
    "correlate": "correlate judged.csv --human human.csv --resamples 20 --html agreement.html",
    "power": "power --detection 90 --metrics 1 --kinds 1 --simulate 20 --html power.html",
    "chart": "show design --chart chart.html",
    "discernment": "evaluate --answers m=two.json --model openai/stub --base-url URL --out out "
    "--cache cache --discernment",
    "probe": "probe --model mock/noisy --dataset mini/summeval --n 2 --metric fluency --out out",
    "battle": "battle old.jsonl new.jsonl --model mock/noisy --out out",
    "questions": "evaluate --save-questions questions.json",
    "evaluate": "evaluate --answers m=answers.json --model openai/stub --base-url URL --out out "
    "--cache cache",
    "init": "init --dataset texts.jsonl --output output --source source --id id --metric tone --scale 1..5 "
    "--pass-mark 4 --base-url URL --model openai/stub --prompt-file own.txt --out dhp.out.yaml",
    "review": "review degraded --page review.html",
    "improve": "improve --dataset many.jsonl --prompt-file own.txt --metric tone --scale 1..5 --samples 1 "
    "--model openai/stub --base-url URL --out out --cache cache",
}
NAMED_BY_USER = {Path(name) for name in "out cache set board run runs figures home home/dhp".split()}
TASKS = {"brainstorming", "chat", "generation", "open_qa", "roleplay", "summarization"}
FOLDERS = {"batches", "battle", "best", "datasets", "examples", "mine", "original", "prompts"}
FOLDERS |= TASKS | {"ratings.parquet"}
"""Names under which a folder may stand: of ours, one of parts, or an empty one for a run."""
OBSTACLES = ("link to a file", "link to a folder", "dangling link", "hard link", "folder", "pipe")
LONGEST = 20.0
"""Seconds of a command that is refused, with two cores in use: one that reads a pipe would never end."""
MOST_WORK = 1.0
"""Seconds of CPU of a command that is refused: it looks where it will write before it works."""
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_RANDOM = re.compile(r"\.[a-z0-9_]{8}$|^dhp-[0-9a-f]{12}\.")
_seen: set[str] | None = None


def _heed(event: str, given: tuple[object, ...]) -> None:
    if _seen is None:
        return
    match event, given:
        case "open", (str() | os.PathLike() as path, _, int() as flags) if flags & _WRITES:
            _seen.add(str(path))
        case "os.mkdir", (str() | os.PathLike() as path, *_):
            _seen.add(str(path))
        case "os.rename", (_, str() | os.PathLike() as path, *_):
            _seen.add(str(path))
        case "sqlite3.connect", (str() as address,):
            _seen.add(address.removeprefix("file://").partition("?")[0])


@pytest.fixture(scope="module", autouse=True)
def heeding() -> None:
    sys.addaudithook(_heed)  # there is no way to take it back: it does nothing while `_seen` is None


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with stub_server() as url:
        yield url


@pytest.fixture
def provider() -> Iterator[Provider]:
    """What answers batches."""
    with provider_server(Provider()) as running:
        yield running


def plant(place: Path, kind: str, victim: Path) -> None:
    """Put an obstacle where a command will write."""
    match kind:
        case "link to a file":
            place.symlink_to(victim / "file")
        case "link to a folder":
            place.symlink_to(victim / "folder")
        case "dangling link":
            place.symlink_to(victim / "none")
        case "hard link":
            place.hardlink_to(victim / "file")
        case "folder":
            place.mkdir()
        case "pipe":
            os.mkfifo(place)


def written_names(dhp: Run, command: str) -> list[Path]:
    """Names below the working folder, without those that are made up anew each time."""
    global _seen
    here = Path.cwd()
    _seen = set()
    try:
        done = dhp(command)
    finally:
        seen, _seen = _seen, None
    assert done.code in (0, 1, 3), done.err
    paths = {Path(os.path.abspath(name)) for name in seen}  # noqa: PTH100  links must stay
    inside = {path.relative_to(here) for path in paths if path.is_relative_to(here)}
    fixed = {path for path in inside if not any(_RANDOM.search(part) for part in path.parts)}
    return sorted(fixed - {Path()})


def enter(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make it the working folder, with a cache of published data inside."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "home"))


@pytest.fixture
def given(dhp: Run, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder, made once, with what the commands are given; each test works in copies of it."""
    folder = tmp_path_factory.getbasetemp() / "given"
    if not folder.exists():
        folder.mkdir()
        enter(folder, monkeypatch)
        write_texts()
        make_runs(dhp)
        write_answers(dhp)
    return folder


def write_texts() -> None:
    """Texts, a prompt, scores and votes in the working folder."""
    many = [f'{{"id": "{i}", "source": "Ann has {i} cats.", "output": "She has {i}."}}\n' for i in range(20)]
    Path("many.jsonl").write_text("".join(many))
    lines = many[:4]
    Path("texts.jsonl").write_text("".join(lines))
    Path("own.txt").write_text("Rate the tone of this text from 1 to 5: {{output}}")
    for name in ("old", "new"):
        Path(f"{name}.jsonl").write_text("".join(lines).replace("She", name.title()))
    write_stories(5)
    for name, factor in (("judged", 3), ("human", 2)):
        rows = [f"s{i},m{j},tone,{factor * (i + j) % 5}" for i in range(6) for j in range(3)]
        Path(f"{name}.csv").write_text("\n".join(["source,system,metric,score", *rows, ""]))
    Path("votes.json").write_text(json.dumps(sheet(1)))


def make_runs(dhp: Run) -> None:
    """Three finished runs and a set of degraded texts."""
    for name, models in (("run", ["noisy"]), ("other", ["blind"]), ("both", ["noisy", "blind"])):
        done = dhp(f"{RUN} --out {name} " + " ".join(f"--model mock/{model}" for model in models))
        assert done.code == 0, done.err
    assert dhp("perturb --dataset mini/summeval --n 2 --freeze degraded").code == 0


def write_answers(dhp: Run) -> None:
    """Answers to the bundled questions, of all categories and of two."""
    assert dhp("evaluate --save-questions q").code == 0
    questions = json.loads(Path("q").read_text())
    answers = [{**q, "output": "Say no more."} for q in questions]
    Path("answers.json").write_text(json.dumps(answers))
    categories = sorted({each["category"] for each in answers})[:2]
    Path("two.json").write_text(json.dumps([each for each in answers if each["category"] in categories]))


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_no_name_that_is_written_is_followed(
    name: str,
    given: Path,
    dhp: Run,
    server: str,
    provider: Provider,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setattr("dhp.plugins.batch.jobs._FIRST_WAIT", 0.01)
    command = COMMANDS[name].replace("URL", server).replace("PROVIDER", f"{provider.url}/v1")

    def copy(label: str) -> Path:
        folder = tmp_path / label
        shutil.copytree(given, folder)
        enter(folder, monkeypatch)
        return folder

    copy("clean")
    names = written_names(dhp, command)
    assert names, "a command that writes nothing shows nothing"
    for number, path in enumerate(path for path in names if path not in NAMED_BY_USER):
        # A link to a file shows whether the name is followed at all. Of the other kinds each name meets one:
        # that the one door refuses all is a test of its own (tests/core/test_writing.py).
        for kind in (OBSTACLES[0], OBSTACLES[1 + (number + len(name)) % (len(OBSTACLES) - 1)]):
            folder = copy(f"{number} {kind}")
            victim, place = folder / "victim", folder / path
            (victim / "folder").mkdir(parents=True)
            (victim / "file").write_text("years of work")
            place.parent.mkdir(parents=True, exist_ok=True)
            if place.is_dir():
                shutil.rmtree(place)
            place.unlink(missing_ok=True)
            plant(place, kind, victim)
            before = place.lstat()
            begun, worked = time.monotonic(), time.process_time()
            done = dhp(command)
            worked = time.process_time() - worked
            where = f"{command}\n{path} as {kind}: exit {done.code}, {done.err}"
            assert (victim / "file").read_text() == "years of work", where
            assert sorted(p.name for p in victim.rglob("*")) == ["file", "folder"], where
            assert (place.lstat().st_mode, place.lstat().st_ino) == (before.st_mode, before.st_ino), where
            folder_may_be = kind == "folder" and path.name in FOLDERS
            assert done.code == 2 or folder_may_be, where
            assert "Traceback" not in done.err, where
            assert time.monotonic() - begun < LONGEST, where
            assert done.code != 2 or worked < MOST_WORK, f"{worked:.1f} s of work before {where}"
            shutil.rmtree(folder)


@pytest.mark.slow
def test_what_the_user_names_may_be_a_link(
    dhp: Run, server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    (tmp_path / "elsewhere").mkdir()
    for name in ("out", "cache", "set", "board", "runs"):
        (tmp_path / "elsewhere" / name).mkdir()
        (tmp_path / name).symlink_to(tmp_path / "elsewhere" / name)
    for command in ("benchmark", "benchmark in runs", "freeze"):
        done = dhp(COMMANDS[command].replace("URL", server))
        assert done.code == 0, done.err
    assert dhp("leaderboard site out --out board").code == 0
    for name, file in (
        ("out", "results.json"),
        ("cache", "replies.sqlite"),
        ("set", "README.md"),
        ("board", "index.html"),
        ("runs", "mine/results.json"),
    ):
        assert (tmp_path / name).is_symlink()
        assert (tmp_path / "elsewhere" / name / file).is_file(), name
