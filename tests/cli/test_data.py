"""`dhp show` of datasets, and options that a command refuses."""

import re
from pathlib import Path

import pytest

from dhp.content.catalog import DATASETS, read_card

from .conftest import Run


def test_showing_published_data_says_why_figures_differ(dhp: Run, tmp_path: Path) -> None:
    for folder, section in (("text", "The whole section."), ("abstract", "What was known before.")):
        (tmp_path / "pub" / folder).mkdir(parents=True)
        (tmp_path / "pub" / folder / f"{folder}_1.txt").write_text(f"BACKGROUND\n{section}\nRESULTS\nNone.\n")
    shown = dhp("show", "sumpubmed", "--data", "pub")
    assert shown.code == 0, shown.err
    assert re.search(r"characters +22.0 +803.5", shown.out)
    assert "differs: The paper says of its choice" in shown.out
    assert "n = 1" in shown.out
    assert "allowed with one of" in dhp("show", "mini/summeval", "--data", "pub").err
    assert "did you mean 'mini/summeval'" in dhp("show", "mini/sumeval").err


def test_only_longer_sections_where_asked(dhp: Run, tmp_path: Path) -> None:
    """Abstracts of 22 and 30 characters: the longer one alone has more than 22."""
    for folder, texts in (
        ("text", ("The whole section.", "Another section.")),
        ("abstract", ("What was known before.", "What was not known until then.")),
    ):
        (tmp_path / "pub" / folder).mkdir(parents=True)
        for number, text in enumerate(texts, 1):
            file = tmp_path / "pub" / folder / f"{folder}_{number}.txt"
            file.write_text(f"BACKGROUND\n{text}\nRESULTS\nNone.\n")
    asked = ("show", "sumpubmed", "--data", "pub")
    figures = {k: dhp(*asked, "--min-characters", k).out for k in ("21", "22")}
    assert re.search(r"n = 2\n.*\n  characters +26\.0", figures["21"])
    assert re.search(r"n = 1\n.*\n  characters +30\.0", figures["22"])
    assert "no example qualifies" in dhp(*asked, "--min-characters", "30").err
    prepared = dhp("data", "prepare", "sumpubmed", "--data", "pub", "--min-characters", "22")
    assert "sumpubmed: 1 eligible examples" in prepared.out
    run = ("benchmark", "--model", "mock/noisy", "--dataset", "sumpubmed", "--n", "2", "--data", "pub")
    assert dhp(*run, "--min-characters", "22").code == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("show sumpubmed --min-characters 600", "--min-characters: counts where a published set is read"),
        ("benchmark --model mock/noisy --min-characters 600", "give --data, or dhp data prepare with it"),
        ("data prepare summeval --data pub --min-characters 9", "'summeval' has no such condition"),
        ("show sumpubmed --data pub --min-characters -1", "--min-characters -1: allowed: 0 or more"),
    ],
)
def test_a_minimum_that_means_nothing_is_refused(dhp: Run, arguments: str, message: str) -> None:
    done = dhp(*arguments.split())
    assert (done.code, message in done.err, done.err.count("\n")) == (2, True, 1)


def test_showing_a_bundled_set_speaks_of_itself(dhp: Run) -> None:
    for name in DATASETS:
        shown = dhp("show", f"mini/{name}").out
        card = read_card(name)
        assert f"of the kind of {card.title}" in shown
        assert "written for this project" in shown
        assert "licence: Apache-2.0" in shown
        assert card.selection not in shown
        assert card.citation not in shown
        assert "paper" not in shown


@pytest.mark.parametrize(
    "option",
    [
        "--protocol da",
        "--samples 3",
        "--prompt-file x.txt",
        "--base-url http://x/v1",
        "--dtype float32",
        "--no-seed",
    ],
)
def test_judges_that_ask_no_model_refuse_what_they_do_not_use(dhp: Run, option: str) -> None:
    done = dhp("benchmark", "--model", "mock/ideal", "--dataset", "mini/summeval", *option.split())
    assert done.code == 2
    name = option.split()[0]
    assert f"{name}: is for language models, and mock/ideal asks none; leave it out" in done.err


def test_a_json_prompt_file_is_named_as_such(dhp: Run, tmp_path: Path) -> None:
    (tmp_path / "prompts.json").write_text('{"prompt": "Rate {{output}}"}')
    shown = dhp("show", "dhp", "--prompt-file", "coherence=prompts.json")
    assert shown.code == 2
    assert "prompts.json: is a JSON file; allowed: plain text" in shown.err


def test_a_set_that_is_not_prepared_is_shown_without_its_texts(dhp: Run) -> None:
    """Why its figures will differ from the paper's, and how to get it."""
    for name, why in (
        ("sumpubmed", "short sections may have been left out"),
        ("wmt22_deen", "texts have 437"),
    ):
        shown = dhp("show", name)
        assert shown.code == 0
        text = " ".join(shown.out.split())
        assert why in text
        assert f"{name} is not prepared yet: dhp data prepare {name}" in text
