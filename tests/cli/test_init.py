"""`dhp init` writes what `dhp benchmark --config` takes."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
import yaml
from click.core import ParameterSource
from click.testing import CliRunner

from dhp.cli.benchmark import benchmark
from dhp.cli.init import init
from tests.llm.stub import stub_server

from .conftest import Run, write_tickets

GIVEN = ("--dataset", "t.csv", "--output", "summary", "--source", "ticket", "--metric", "usefulness")
MORE = (
    *("--id", "", "--scale", "1..10", "--pass-mark", "", "--prompt-file", "p.txt"),
    *("--base-url", "", "--model", "openai/x"),
)


@pytest.mark.slow
def test_what_it_writes_runs(dhp: Run, tmp_path: Path) -> None:
    write_tickets("t.csv")
    done = dhp("init", *GIVEN, *MORE)
    assert done.code == 0, done.err
    assert "{{ticket}}" in (tmp_path / "p.txt").read_text()
    written = (tmp_path / "dhp.yaml").read_text()
    assert dhp("init", *GIVEN, *MORE).code == 0, "the same again"
    other = dhp("init", "--metric", "tone")
    assert (other.code, "--metric: dhp.yaml has 'usefulness'" in other.err) == (2, True)
    assert (tmp_path / "dhp.yaml").read_text() == written, "nothing is overwritten"
    command = ("benchmark", "--config", "dhp.yaml", "--cache", "c", "--json")
    with stub_server() as url:
        ran = dhp(*command, "--base-url", url)
        other = dhp(*command, "--base-url", url, "--model", "openai/other")
    assert ran.code == 0, ran.err
    result = json.loads(ran.out)
    assert (result["model"], result["scales"]) == ("openai/x", {"usefulness": [1, 10]})
    assert other.code == 0, other.err
    assert json.loads(other.out)["model"] == "openai/other", "the command line overrides the file"


def test_an_unknown_column_is_named(dhp: Run) -> None:
    write_tickets("t.csv")
    done = dhp("init", *GIVEN[:2], "--output", "sumary", *GIVEN[4:], *MORE)
    assert (done.code, "'summary'" in done.err) == (2, True)


@pytest.mark.slow
def test_every_option_may_stand_in_the_file(dhp: Run, tmp_path: Path) -> None:
    options = [p for p in benchmark.params if isinstance(p, click.Option)]
    assert len(options) > 50
    for parameter in options:
        if parameter.opts[0] in ("--config", "--help", "--help-all"):
            continue
        name = max(parameter.opts, key=len).removeprefix("--")
        value = "true" if parameter.is_flag else _value(parameter)
        (tmp_path / "c.yaml").write_text(f"{name}: {value}\n")
        context = click.Context(benchmark, info_name="benchmark")
        benchmark.parse_args(context, ["--config", "c.yaml", *([] if name == "model" else ["--model", "m"])])
        found = context.params[str(parameter.name)]
        shown = found[0] if isinstance(found, tuple) else found
        assert str(shown).lower().removesuffix(".0") == value, name
        assert context.get_parameter_source(str(parameter.name)) is ParameterSource.DEFAULT_MAP, name


def _value(parameter: click.Option) -> str:
    if isinstance(parameter.type, click.types.IntParamType):
        return "3"
    return "55.5" if isinstance(parameter.type, click.types.FloatParamType) else "some text"


def test_it_asks_again_until_an_answer_can_be_used_and_goes_on_where_it_stopped(
    dhp: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tickets("t.csv")
    with stub_server("--model", "tiny") as url:
        monkeypatch.setattr(
            "sys.stdin", io.StringIO("x.csv\nt.csv\nsumary\nsummary\nticket\npriority\nid\nuse\n5..5\n")
        )
        first = dhp("init")
        assert (first.code, first.err.startswith("dhp: stopped")) == (3, True)
        for said in (
            "x.csv: ",
            "8 rows; columns: id, ticket, summary, priority",
            "'summary'?",
            "column 'priority': has equal values; choose one that names each row, or none",
            "scale 5..5: its ends are equal",
        ):
            assert said in first.out
        assert "5..5" not in (tmp_path / "dhp.yaml").read_text()
        (tmp_path / "p.txt").write_text("{{tickt}}\n{{summary}}")
        monkeypatch.setattr(
            "sys.stdin", io.StringIO(f"1..10\n70\n7\n{url}\nopenai/tinny\ntiny\np.txt\nown.txt\n")
        )
        second = dhp("init")
    assert second.code == 0, second.err
    assert second.out.startswith(
        "dhp.yaml has: dataset t.csv, output summary, source ticket, id id, metric use\n"
    )
    assert "70: " in second.out
    assert "models: tiny" in second.out
    assert "the server has no 'tinny'" in second.out
    assert "'{{tickt}}'" in second.out
    assert yaml.safe_load((tmp_path / "dhp.yaml").read_text()) == {
        "dataset": "t.csv",
        "field": {"output": "summary", "source": "ticket", "id": "id"},
        "metric": "use",
        "scale": "1..10",
        "pass-mark": "7",
        "base-url": url,
        "model": "openai/tiny",
        "prompt-file": "own.txt",
    }
    assert (tmp_path / "own.txt").read_text().startswith("ticket: {{ticket}}\n\nsummary: {{summary}}\n\nRate")


@pytest.mark.parametrize(
    ("stated", "scale", "mark"),
    [
        ("from 1 to 10", "1..10", ""),
        ("from 0 to 3", "0..3", ""),
        ("from 1 to 10, on a scale of 1 to 7", "1..5", "4"),
    ],
)
def test_a_prompt_that_states_another_scale_answers_the_question_of_the_scale(
    stated: str, scale: str, mark: str, dhp: Run, tmp_path: Path
) -> None:
    """A mark on the scale that was said before is left out; a prompt of two scales says nothing."""
    write_tickets("t.csv")
    (tmp_path / "p.txt").write_text(f"{{ticket}} {{summary}}\nGive a rating {stated}. Rating:")
    prompt = ("--scale", "1..5", "--pass-mark", "4", "--prompt-file", "p.txt")
    done = dhp("init", *GIVEN, "--id", "", *prompt, "--base-url", "", "--model", "openai/x")
    written = yaml.safe_load((tmp_path / "dhp.yaml").read_text())
    assert (written["scale"], written.get("pass-mark", "")) == (scale, mark)
    assert ("which is taken" in done.out) == (scale != "1..5")


@pytest.mark.parametrize("answers", ["\n" * 1000, "no/such.csv\n" * 1000, ""])
def test_it_does_not_ask_for_ever(answers: str) -> None:
    asked = CliRunner().invoke(init, [], input=answers)
    assert asked.exit_code != 0
    assert asked.output.count("Table of good texts") <= 11


def test_answers_of_any_form_are_read_again_as_they_were(dhp: Run, tmp_path: Path) -> None:
    names = ["no", "a: b # c", "1.50"]
    (tmp_path / "t.csv").write_text(f"{';'.join(names)}\nA.;B.;C.\nD.;E.;F.\n")
    given = ("--dataset", "t.csv", "--output", names[1], "--source", names[0], *GIVEN[6:], *MORE)
    assert dhp("init", *given).code == 0
    assert dhp("init", *given).code == 0, "nothing differs"
    written = yaml.safe_load((tmp_path / "dhp.yaml").read_text())
    assert written["field"] == {"output": names[1], "source": names[0]}
    shown = dhp("benchmark", "--config", "dhp.yaml", "--dry-run")
    assert shown.code == 0, shown.err


@pytest.mark.slow
def test_what_is_in_the_file_is_overridden_by_the_command_line(dhp: Run, tmp_path: Path) -> None:
    write_tickets("t.csv")
    assert dhp("init", *GIVEN, *MORE).code == 0
    with (tmp_path / "dhp.yaml").open("a") as file:
        file.write("\nn: 3\nname: filed\nsamples: 1\n")
    command = ("benchmark", "--config", "dhp.yaml", "--cache", "c", "--json")
    with stub_server() as url:
        filed = json.loads(dhp(*command, "--base-url", url, "--out", "a").out)
        over = ("--scale", "1..5", "--n", "4", "--name", "said", "--metric", "tone", "--dataset", "u.csv")
        (tmp_path / "u.csv").write_text((tmp_path / "t.csv").read_text())
        (tmp_path / "p.txt").write_text("{ticket} {summary}\nThe tone:")
        said = json.loads(dhp(*command, "--base-url", url, "--out", "b", *over).out)
    assert (filed["scales"], filed["n"], filed["protocol"][:6]) == ({"usefulness": [1, 10]}, 3, "filed@")
    assert (said["scales"], said["n"], said["protocol"][:5]) == ({"tone": [1, 5]}, 4, "said@")
    assert said["dataset"] == "u.csv"


ROOT = Path(__file__).resolve().parents[2]
WALK = r"""
python -c "print('ticket;summary'); [print(f'Printer X{i} stopped on Monday and beeps, says Ann.;Printer X{i} of Ann stopped on Monday. It beeps.') for i in range(6)]" > tickets.csv
printf 'Ticket: {ticket}\nSummary: {summary}\nUsefulness from 1 to 10:' > v1.txt
printf 'Summary: {{summary}}\nOf this ticket: {{ticket}}\nHow useful is it, from 1 to 10?' > v2.txt
OWN="--dataset tickets.csv --field source=ticket --field output=summary --metric usefulness --scale 1..10 --samples 1"
python -m dhp.benchmark --model openai/NAME --base-url $URL $OWN --prompt-file v1.txt --name v1
python -m dhp.benchmark --model openai/NAME --base-url $URL $OWN --prompt-file v2.txt --name v2
python -m dhp compare runs/v1 runs/v2
python -m dhp gate runs/v2 --against runs/v1 --max-drop 100
"""  # noqa: E501


@pytest.mark.slow
def test_two_prompts_are_run_compared_and_gated(tmp_path: Path) -> None:
    assert len(WALK.strip().splitlines()) == 8
    with stub_server("--say", "tests.cli.says:by_length") as url:
        paths = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        settings = {"URL": url, "PATH": paths, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(tmp_path / "c")}
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", WALK],
            cwd=tmp_path,
            env={**os.environ, **settings},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    for name in ("v1", "v2"):
        assert done.stdout.count(f"openai/NAME ({name}): ") == 1, "a sentence for each prompt"
    assert "not met" not in done.stdout
    assert "v1" in done.stdout.rpartition("written to")[2]
