"""Commands take settings records: each field is an option, a default stands once, messages name options."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

import dhp as library
from dhp.cli.command import Command
from dhp.cli.messages import Messages
from dhp.cli.options import option_names, settings, stated
from dhp.core.errors import InputError
from dhp.core.options import option
from dhp.report.advice import advice
from tests.cli.conftest import Run, results_in


@dataclass(frozen=True)
class Rates:
    """How fast."""

    calls: float | None = option("Most calls.", default=None, name="--rpm", metavar="K")


@dataclass(frozen=True)
class Model:
    """Which model degrades texts."""

    name: str = option("Its name.", name="--degrading")
    steps: str = option("Its steps.", default="written", name="--degrading-steps")


def number(text: str) -> int:
    if not text.isdigit():
        raise ValueError(f"'{text}': must be a number")
    return int(text)


@dataclass(frozen=True)
class Settings:
    """How it is done.

    Further text.
    """

    timeout: float = option("Seconds.", default=120.0, metavar="SECONDS")
    store: bool = option("Store it.", default=True, name="--store/--no-store")
    refresh: bool = option("Ask again.", default=False)
    ties: bool | None = option("Ties.", default=None, name="--ties/--no-ties")
    n: int | None = option("Number.", default=None)
    doses: tuple[int, ...] = option(
        "Doses.", default=(), repeatable=True, read=lambda given: tuple(map(number, given))
    )
    rates: Rates = field(default_factory=Rates)
    model: Model | None = field(default=None, metadata={"record": Model})
    hidden: int = 7


def command(seen: list[Any], **known: Any) -> click.Command:
    @click.command(cls=Command, **known)
    @click.option("--out", "folder", default="x")
    @settings("how", Settings)
    def run(folder: str, how: Settings) -> None:
        """Do it."""
        seen.extend([how, stated()])

    return run


@pytest.fixture
def called() -> Callable[..., Any]:
    def call(*arguments: str) -> Any:
        seen: list[Any] = []
        done = CliRunner().invoke(command(seen), arguments, standalone_mode=False)
        if done.exception:
            raise done.exception
        return seen

    return call


def test_what_is_not_given_keeps_the_default_of_the_record(called: Callable[..., Any]) -> None:
    assert called() == [Settings(), []]


def test_each_field_is_an_option(called: Callable[..., Any]) -> None:
    typed = "--timeout 5 --no-store --refresh --no-ties --n 3 --doses 1 --doses 2 --rpm 10 --degrading m"
    how, given = called(*typed.split())
    plain = Settings(timeout=5.0, store=False, refresh=True, ties=False, n=3, doses=(1, 2))
    assert how == replace(plain, rates=Rates(10.0), model=Model("m"))
    assert given == "--timeout --no-store --refresh --no-ties --n --doses --rpm --degrading".split()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--doses", "x"), "--doses 'x': must be a number"),
        (("--degrading-steps", "auto"), "`how.model.steps`: requires `how.model.name`"),
    ],
)
def test_what_means_nothing_is_refused(
    called: Callable[..., Any], arguments: tuple[str, ...], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        called(*arguments)


def test_messages_name_parameters_by_options(capsys: pytest.CaptureFixture[str]) -> None:
    made = command([])
    messages = Messages(lambda _: option_names(made))
    for said, shown in (
        ("`timeout` 0: must be more", "--timeout 0: must be more"),
        ("`rates.calls` and `how.rates.calls`", "--rpm and --rpm"),
        ("`store=False`: no", "--no-store: no"),
        ("`n=None` is right", "--n default is right"),
        ("`model.steps`: requires `model.name`", "--degrading-steps: requires --degrading"),
        ("`folder`: is a file", "--out: is a file"),
        ("`how.scale`: is unknown", "`how.scale`: is unknown"),
        ("`nothing`: stays", "`nothing`: stays"),
    ):
        messages.say(said)
        assert capsys.readouterr().err == f"dhp: {shown}\n"
    messages.say("`how`: not used")
    assert capsys.readouterr().err.startswith(
        "dhp: --timeout, --store, --refresh, --ties, --n, --doses, --rpm"
    )


def test_help_shows_common_options_first_and_all_by_group() -> None:
    made = command([], common="--n --out")
    short, whole = (CliRunner().invoke(made, [name]).output for name in ("--help", "--help-all"))
    rows = [line.split()[0] for line in short.splitlines() if line.startswith("  --")]
    assert rows == ["--n", "--out", "--help-all", "--help"]
    assert "How it is done:\n  --timeout SECONDS" in whole
    assert "How fast:\n  --rpm K" in whole
    assert "Which model degrades texts:\n  --degrading TEXT" in whole
    assert "hidden" not in whole


ASKED = "benchmark --preset paper --model openai/judge --dataset mini/summeval --n 5 --dry-run"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")


@pytest.mark.slow
def test_it_asks_what_the_paper_asked(dhp: Run) -> None:
    """Originals and twelve kinds by four metrics, five answers each; each metric's steps are asked once."""
    shown = dhp(f"{ASKED} --perturb-model openai/other")
    assert shown.code == 0
    assert f"{5 * 13 * 4 * 5 + 4:,} ratings" in shown.out
    assert f"{5 * 6 + 6} texts" in shown.out
    assert "controls" not in shown.out


@pytest.mark.slow
def test_it_analyses_as_the_paper_did(dhp: Run) -> None:
    assert (
        dhp("benchmark --preset paper --model mock/noisy --dataset mini/story_cloze --n 6 --out r").code == 0
    )
    result = results_in("r")
    assert (result["statistics"], result["combination"]) == ("paper", "printed")
    assert not result["controls"]


def test_all_six_sets_unless_told_otherwise(dhp: Run) -> None:
    done = dhp("benchmark", "--preset", "paper", "--model", "openai/judge", "--dry-run")
    assert done.code == 2
    assert "summeval, sumpubmed, story_cloze, answer_equivalence, wmt22_deen, wmt22_zhen" in done.err


@pytest.mark.slow
def test_what_it_has_may_be_said_again(dhp: Run) -> None:
    same = "--samples 5 --temperature 0 --steps auto --statistics paper --no-controls"
    assert dhp(f"{ASKED} {same}").out == dhp(ASKED).out


def test_prompts_and_steps_of_ones_own_may_stand_beside_it(dhp: Run) -> None:
    Path("p.txt").write_text("Rate the coherence of {{output}}, a summary of {{source}}. Score:\n")
    one = f"{ASKED} --metric coherence"
    prompted = dhp(f"{one} --prompt-file p.txt")
    assert prompted.code == 0
    assert f"{5 * 13 * 5:,} ratings" in prompted.out, "no steps are asked for"
    Path("steps.yaml").write_text("coherence: [Read it., Score it.]\n")
    assert f"{5 * 13 * 5:,} ratings" in dhp(f"{one} --steps steps.yaml").out
    refused = dhp(f"{one} --steps written")
    assert refused.code == 2
    assert "--steps: " in refused.err


@pytest.mark.slow
def test_python_has_the_same_preset(dhp: Run) -> None:
    asked = "benchmark --preset paper --model mock/noisy --dataset mini/story_cloze --n 6 --out r"
    assert dhp(asked).code == 0
    (result,) = library.run("mock/noisy", "mini/story_cloze", n=6, preset="paper", progress=False)
    stored = results_in("r")
    assert result.signature == stored["signature"]
    assert (result.d_avg, result.d_min_ew) == (stored["d_avg"], stored["d_min_ew"])
    assert not [piece for piece in advice([result]) if "Harmless edits" in piece.text], "it forbids them"
    for given, name in (
        ({"controls": True}, "controls"),
        ({"protocol": "stars"}, "protocol"),
        ({"protocol": library.protocol("dhp", samples=1)}, "samples"),
        ({"analysis": library.AnalysisConfig(combination="joint")}, "combination"),
        ({"preset": "papr"}, "papr"),
    ):
        with pytest.raises(InputError, match=name):
            library.run("mock/noisy", "mini/story_cloze", **({"preset": "paper"} | given))
