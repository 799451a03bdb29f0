"""`dhp list` and `dhp show`: everything that can be named, by kind, and more of one."""

import re
from pathlib import Path

import pytest

from dhp.cli.show import KINDS, judge_form
from dhp.content.catalog import DATASETS, names_of, read_card
from dhp.perturb.registry import builtin_perturbers

from .conftest import Run


def first_words(text: str) -> list[str]:
    return [line.split()[0] for line in text.splitlines()]


def test_each_kind_lists_what_there_is(dhp: Run) -> None:
    assert first_words(dhp("list").out) == [*KINDS, "more:"]
    assert first_words(dhp("list", "datasets").out) == [
        "mini/NAME",
        "mini/conversations",
        *names_of("dataset"),
    ]
    assert first_words(dhp("list", "protocols").out) == [
        *names_of("protocol"),
        *names_of("pairwise protocol"),
    ]
    assert sorted(first_words(dhp("list", "perturbers").out)) == sorted(builtin_perturbers())
    assert first_words(dhp("list", "weights").out) == list(names_of("weights"))
    assert {"openai/NAME", "metric/rouge1", "mock/noisy"} <= set(first_words(dhp("list", "judges").out))


def test_damage_has_both_names_and_is_found_by_both(dhp: Run) -> None:
    (row,) = [line for line in dhp("list", "perturbers").out.splitlines() if "random_deletions" in line]
    assert row.split()[:4] == ["random_deletions", "missing", "letters", "character"]
    shown = dhp("show", "missing letters")
    assert shown.out == dhp("show", "random_deletions").out
    assert "suite summeval: random_deletions.minor {'k': 10}; random_deletions.major {'k': 50}" in shown.out


def test_no_name_is_of_two_kinds() -> None:
    names = [row[0] for rows in KINDS.values() for row in rows()]
    assert len(names) == len(set(names))
    assert not [
        name for name in names if judge_form(name) and (name, judge_form(name)) not in KINDS["judges"]()
    ]


def test_judges_are_shown_by_their_form(dhp: Run) -> None:
    assert dhp("show", "openai/gpt-4o").out.startswith("openai/gpt-4o: a model of OpenAI")
    assert "noise 1.0" in dhp("show", "mock/noisy").out
    assert dhp("show", "python:nothing.py:judge").out.startswith("python:nothing.py:judge: a judge that you")


def write_articles(place: Path, *articles: tuple[str, str]) -> None:
    """Texts and abstracts in the form of SumPubMed."""
    for number, article in enumerate(articles, 1):
        for folder, section in zip(("text", "abstract"), article, strict=True):
            (place / folder).mkdir(parents=True, exist_ok=True)
            file = place / folder / f"{folder}_{number}.txt"
            file.write_text(f"BACKGROUND\n{section}\nRESULTS\nNone.\n")


def test_showing_published_data_says_why_figures_differ(dhp: Run, tmp_path: Path) -> None:
    write_articles(tmp_path / "pub", ("The whole section.", "What was known before."))
    shown = dhp("show", "sumpubmed", "--data", "pub")
    assert shown.code == 0, shown.err
    assert re.search(r"characters +22.0 +803.5", shown.out)
    assert "differs: The paper says of its choice" in shown.out
    assert "n = 1" in shown.out


def test_only_longer_sections_where_asked(dhp: Run, tmp_path: Path) -> None:
    """Abstracts of 22 and 30 characters: the longer one alone has more than 22."""
    short, long = "What was known before.", "What was not known until then."
    write_articles(tmp_path / "pub", ("The whole section.", short), ("Another section.", long))
    asked = ("show", "sumpubmed", "--data", "pub")
    figures = {k: dhp(*asked, "--min-characters", k).out for k in ("21", "22")}
    assert re.search(r"n = 2\n.*\n  characters +26\.0", figures["21"])
    assert re.search(r"n = 1\n.*\n  characters +30\.0", figures["22"])
    assert "no example qualifies" in dhp(*asked, "--min-characters", "30").err
    prepared = dhp("data", "prepare", "sumpubmed", "--data", "pub", "--min-characters", "22")
    assert "sumpubmed: 1 eligible examples" in prepared.out
    run = ("benchmark", "--model", "mock/noisy", "--dataset", "sumpubmed", "--n", "2", "--data", "pub")
    assert dhp(*run, "--min-characters", "22").code == 2


@pytest.mark.slow
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
        assert f"dhp data prepare {name}" in text
