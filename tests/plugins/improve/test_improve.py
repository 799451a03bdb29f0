"""`dhp improve` against a server whose judge notices more with one of the changes; mistakes of users."""

import re
import shutil
from pathlib import Path

import pytest
import yaml

from tests.cli.conftest import Run
from tests.plugins.improve.planted import PROMPT, Sees, planted_server, write_tickets

COMMAND = (
    "improve --model openai/judge --field source=ticket --field output=summary --metric usefulness "
    "--scale 1..10 --samples 1 --prompt-file prompt.txt --dataset mine.csv --no-controls"
)


def better_with(words: str, low: float = 0.4, high: float = 0.8) -> Sees:
    return lambda prompt: high if words in prompt else low


@pytest.fixture
def tickets(dhp: Run) -> Run:
    write_tickets(Path("mine.csv"), 60)
    Path("prompt.txt").write_text(PROMPT, encoding="utf-8")
    return dhp


@pytest.mark.slow
def test_the_planted_change_is_found_and_written(tickets: Run) -> None:
    with planted_server(better_with("What the ratings mean")) as server:
        done = tickets(f"{COMMAND} --base-url {server.url}/v1")
        assert done.code == 0, done.err
        helps = r"^describe the points, on the other 30 texts: \+\d+ points .*, p .*: it helps$"
        assert re.search(helps, done.out, re.M)
        written = yaml.safe_load(Path("runs/improve/dhp.yaml").read_text("utf-8"))
        (file,) = written["prompt-file"]
        assert "What the ratings mean" in Path(file).read_text("utf-8")
        again = tickets("benchmark --config runs/improve/dhp.yaml --n 30 --quiet")
        assert again.code == 0, again.err


@pytest.mark.slow
def test_at_a_pass_mark_fewer_errors_are_what_helps(tickets: Run) -> None:
    """On a wider scale the mark moves with it; a benchmark by the written file has it."""
    with planted_server(better_with("1 to 100")) as server:
        done = tickets(f"{COMMAND} --base-url {server.url}/v1 --pass-mark 7")
        assert done.code == 0, done.err
        assert re.search(
            r"^as it was: at your mark of 7, \d+% of damaged texts pass and \d+%", done.out, re.M
        )
        assert re.search(r"^wider scale, on the other 30 texts: \+\d+ points .*: it helps$", done.out, re.M)
        assert re.search(
            r"^there at your mark of 7 and 70, [\d.]+% instead of [\d.]+% of damaged", done.out, re.M
        )
        assert yaml.safe_load(Path("runs/improve/dhp.yaml").read_text("utf-8"))["pass-mark"] == ["70"]
        again = tickets("benchmark --config runs/improve/dhp.yaml --n 30 --quiet")
        assert again.code == 0, again.err


@pytest.mark.slow
def test_no_key_stands_in_the_file_that_is_written(tickets: Run) -> None:
    with planted_server(better_with("two steps")) as server:
        done = tickets(f"{COMMAND} --base-url {server.url}/v1 --body api_key=hunter2 --body user=me")
        assert done.code == 0, done.err
    text = Path("runs/improve/dhp.yaml").read_text("utf-8")
    assert "hunter2" not in text
    assert "# *** stands for a key: fill it in before.\n" in text
    assert yaml.safe_load(text)["body"] == ["api_key=***", "user=me"]


@pytest.mark.slow
def test_nothing_is_written_where_nothing_helps(tickets: Run) -> None:
    with planted_server(lambda prompt: 0.4) as server:
        done = tickets(f"{COMMAND} --base-url {server.url}/v1")
    assert done.code == 0, done.err
    assert done.out.endswith("nothing helped\n")
    assert not Path("runs/improve/dhp.yaml").exists()


@pytest.mark.slow
def test_a_command_stopped_at_its_limit_goes_on_and_pays_once(tickets: Run) -> None:
    with planted_server(better_with("two steps")) as server:
        command = f"{COMMAND} --base-url {server.url}/v1"
        stopped = tickets(f"{command} --max-calls 500")
        assert stopped.code == 3
        assert "--max-calls 500" in stopped.err
        first = len([call for call in server.calls if call.method == "POST"])
        assert first <= 500, "the limit holds for all runs together"
        assert tickets(command).code == 0
        bodies = [call.raw for call in server.calls if call.method == "POST"]
        assert len(bodies) == len({*bodies}), "no request is sent twice"
        asked = len(server.calls)
        assert tickets(command).code == 0
        assert len(server.calls) == asked


@pytest.mark.slow
def test_a_judge_without_a_fault_has_nothing_to_improve(tickets: Run) -> None:
    with planted_server(lambda prompt: 1.0, noise=False) as server:
        done = tickets(f"{COMMAND} --base-url {server.url}/v1")
    assert done.out.endswith("nothing to improve: all damage is detected\n")


@pytest.mark.slow
def test_a_dry_run_asks_nothing_and_sums_up(tickets: Run) -> None:
    with planted_server(lambda prompt: 0.4) as server:
        done = tickets(f"{COMMAND} --base-url {server.url}/v1 --dry-run --price-in 1 --price-out 1")
        assert done.code == 0, done.err
        assert not [call for call in server.calls if call.method == "POST"]
    assert not Path("runs").exists()
    assert re.search(r"all together: [\d,]+ calls, [\d,]+ tokens, cost [\d.]+, at most", done.out)
    assert re.search(r"^reason first +[\d,]+ +", done.out, re.MULTILINE)  # a row each, not a block
    assert done.out.count("tokens are estimates") == 1


@pytest.mark.slow
def test_a_folder_of_another_prompt_is_refused_before_anything_is_asked(tickets: Run) -> None:
    with planted_server(lambda prompt: 0.4) as server:
        command = f"{COMMAND} --base-url {server.url}/v1"
        assert tickets(f"{command} --max-calls 0").code == 3
        Path("prompt.txt").write_text(PROMPT.replace("useful", "helpful"), encoding="utf-8")
        done = tickets(command)
        assert done.code == 2
        assert "--out runs/improve: " in done.err
        assert not [call for call in server.calls if call.method == "POST"]


def test_nothing_is_written_through_a_link(tickets: Run) -> None:
    Path("elsewhere").mkdir()
    command = f"{COMMAND} --base-url http://127.0.0.1:9/v1"
    assert tickets(command).code == 2, "no server"
    for name in ("prompts", "original", "best"):
        place = Path("runs/improve") / name
        shutil.rmtree(place, ignore_errors=True)
        place.symlink_to(Path("elsewhere").resolve())
        done = tickets(command)
        assert done.code == 2
        assert f"runs/improve/{name}: is a symbolic link" in done.err
        place.unlink()
    assert not [*Path("elsewhere").iterdir()]


def test_a_server_that_refuses_ends_the_command(tickets: Run) -> None:
    with planted_server(lambda prompt: 0.4) as server:
        port = server.port
    done = tickets(f"{COMMAND} --base-url http://127.0.0.1:{port}/v1 --retries 0")
    assert done.code in (2, 3)
    assert "helped" not in done.out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--n 6", "6 examples, 3 to choose a change by and 3 to confirm it; allowed: 10 or more each"),
        ("--model baseline/surface", "--model baseline/surface: has no prompt that could be changed"),
        ("--prompt-file promt.txt", "promt.txt"),
        ("--metric clarity", "prompt.txt"),
        ("--dataset mini", "--dataset"),
        ("--protocol swap", "--protocol"),
        ("--pass-mark 12", "--pass-mark 12"),
    ],
)
def test_mistakes_are_said_in_one_line(tickets: Run, options: str, said: str) -> None:
    done = tickets(f"{COMMAND} {options}")
    assert done.code == 2
    assert said in done.err
    assert done.err.count("\n") == 1
