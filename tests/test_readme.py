"""What README and docs show is true: code runs, suites are read, tables are what the program prints."""

import re
from pathlib import Path

import pytest

import dhp
from dhp.content.catalog import names_of, read_suite, read_task
from dhp.judge.factory import request_builder
from dhp.perturb.registry import find_perturbers
from dhp.perturb.suites import check_suite
from tests.llm.stub import stub_server
from tests.plugins.improve.planted import PROMPT, planted_server, write_tickets

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("README", "docs/asking", "docs/costs", "docs/own-data", "docs/own-judge", "docs/own-perturber")
README = "\n".join((ROOT / f"{name}.md").read_text(encoding="utf-8") for name in PAGES)


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.S)


@pytest.mark.slow
def test_the_judge_of_ones_own(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = [block for block in blocks("python") if "def rate" in block]
    exec(code, {})
    assert float(capsys.readouterr().out) > 0


def test_an_audit_of_a_function(capsys: pytest.CaptureFixture[str]) -> None:
    short, long = [block for block in blocks("python") if "def my_judge" in block]
    exec(short, {})
    assert "12" in capsys.readouterr().out
    exec(long, {})
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 12
    assert all("detection" in line and "D = " in line for line in lines)


@pytest.mark.slow
@pytest.mark.parametrize("page", ["README", "docs/own-prompt"])
def test_the_run_of_ones_own_prompt_is_one_call(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it stands on the page, but for the address of the server and the number of texts."""
    text = (ROOT / f"{page}.md").read_text(encoding="utf-8")
    (code,) = [
        each for each in re.findall(r"```python\n(.*?)```", text, re.S) if 'prompt="prompt.txt"' in each
    ]
    monkeypatch.chdir(tmp_path)
    write_tickets(Path("tickets.csv"), 8)
    Path("prompt.txt").write_text(PROMPT, encoding="utf-8")
    with planted_server(lambda prompt: 0.5) as server:
        names = {"dhp": dhp}
        code = code.replace("http://localhost:8000", server.url).replace(
            'out="runs/v1"', "progress=None, n=6"
        )
        exec(code, names)
    (result,) = names["results"]  # type: ignore[misc]
    assert result.pass_mark.mark == "7"
    assert result.read == 1


@pytest.mark.slow
def test_a_language_model_from_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (code,) = [block for block in blocks("python") if "dhp.ModelSettings" in block]
    names: dict[str, object] = {}
    with stub_server() as url:
        exec(code.replace("http://localhost:8000/v1", url), names)
    results = names["results"]
    assert isinstance(results, dhp.Results)
    assert [r.protocol.partition("@")[0] for r in results] == ["dhp", "analyze-rate"]
    assert (tmp_path / "run" / "results.json").exists()


@pytest.mark.slow
def test_the_perturber_and_the_suite_of_ones_own(tmp_path: Path) -> None:
    rule, *by_model = [block for block in blocks("python") if "@dhp.perturber" in block]
    names: dict[str, object] = {}
    for code in (rule, *by_model):
        exec(code, names)
    own = names["drop_articles"]
    assert isinstance(own, dhp.Perturber)
    file = tmp_path / "my.yaml"
    (suite,) = [block for block in blocks("yaml") if "perturbers:" in block and "drop_articles" in block]
    file.write_text(suite)
    check_suite(read_suite(str(file)), find_perturbers([own]))
    result = dhp.run("baseline/surface", "mini/summeval", suite=str(file), perturbers=[own])
    assert [v.variant for v in result.variants] == [
        "drop_articles.minor",
        "drop_articles.major",
        "reordering.major",
    ]


def test_the_metric_of_ones_own(tmp_path: Path) -> None:
    (task,) = [block for block in blocks("yaml") if "metrics:" in block]
    (tmp_path / "mine.yaml").write_text(task)
    assert read_task(str(tmp_path / "mine.yaml")).metric_names == ("brevity",)


def test_the_protocol_of_ones_own(tmp_path: Path) -> None:
    (protocol,) = [block for block in blocks("yaml") if block.startswith("protocol:")]
    (tmp_path / "mine.yaml").write_text(protocol)
    asked = request_builder(dhp.protocol(str(tmp_path / "mine.yaml")))
    (first, *_) = asked.requests([dhp.Candidate("e", "original", "A.", "B.")], read_task("summarization"))
    assert first.prompt.endswith("只填一个 1 到 5 之间的数字。连贯性：")


def test_the_protocols_are_those_that_there_are() -> None:
    section = README.partition("# How a judge is asked")[2].partition("## Which one")[0]
    rows = [line.split("|") for line in section.splitlines() if line.startswith("| `")]
    shown = {name: row for row in rows for name in re.findall(r"`([a-z-]+)`", row[1])}
    assert set(shown) == set(names_of("protocol"))
    for name, row in shown.items():
        protocol = dhp.protocol(name)
        assert row[3].strip() == protocol.steps
        assert int(row[4].split(",")[0]) == protocol.samples
        here = "the model's" if protocol.temperature is None else f"{protocol.temperature:g}"
        assert row[5].strip() in ("", here)
