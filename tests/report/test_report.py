"""Reports show any text as text, say what is missing, and need no colour."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

import dhp
from dhp.content.damage import variant_name
from dhp.report.labels import threshold
from dhp.report.overview import print_overview
from dhp.report.terminal import before_after, print_results

EVIL = "<script>alert(1)</script>[bold red]x[/]"


@pytest.fixture(scope="module")
def results() -> dhp.Results:
    return dhp.run("baseline/surface", "mini/story_cloze", n=8)


def printed(results: dhp.Results, width: int = 110, **options: object) -> str:
    console = Console(file=io.StringIO(), width=width, **options)  # type: ignore[arg-type]
    print_results(results, console)
    stream = console.file
    assert isinstance(stream, io.StringIO)
    return stream.getvalue()


@pytest.fixture(scope="module")
def dosed() -> dhp.Results:
    """With doses, controls and attacks; one of each probe goes wrong."""
    judge = "mock/ideal?harmless=1&padding=-1&random_typos=0.4"
    return dhp.run(judge, "mini/summeval", n=12, doses=(1, 10, 50), controls=True, attacks=True)


def test_markup_in_names_shows_as_text(results: dhp.Results) -> None:
    first = results[0]
    row = replace(first.variants[0], variant=EVIL, level=EVIL)
    evil = dhp.Results(
        [
            replace(
                first,
                model=EVIL,
                dataset=EVIL,
                signature=EVIL,
                d_min_variant=EVIL,
                variants=(row,),
                left_out=(EVIL,),
            )
        ]
    )
    assert EVIL in printed(evil, width=300)


def test_verdict_does_not_rely_on_colour(results: dhp.Results) -> None:
    plain = printed(results, no_color=True)
    assert "\x1b[3" not in plain
    assert "noticed" in plain
    assert "undecided" in plain
    assert "\x1b" not in printed(results)


def test_missing_ratings_and_undefined_scores_are_said(results: dhp.Results) -> None:
    first = results[0]
    cell = replace(
        first.variants[0].metrics["fluency"],
        p=None,
        log10_p=None,
        n=0,
        missing=8,
        effect=None,
        mean_drop=None,
    )
    row = replace(first.variants[0], metrics={"fluency": cell}, d=None, d_ew=None, p=None, p_ew=None)
    ratings = {"asked": 40, "scored": 32, "unparsed": 3, "refused": 5, "out_of_scale": 0, "failed": 0}
    text = printed(dhp.Results([replace(first, variants=(row,), ratings=ratings, levels="none")]), width=200)
    assert "8 of 40 ratings have no score (unparsed 3, refused 5)" in text
    assert "a metric has no pair left, so D is undefined" in text
    assert "levels unknown" in text
    assert "undefined" in text


def test_few_pairs_are_enough_for_the_printed_equation() -> None:
    few = {
        c: dhp.run("baseline/surface", "mini/summeval", n=3, analysis=dhp.AnalysisConfig(combination=c))
        for c in ("hmp", "printed")
    }
    assert "fewer than 5 pairs" in printed(few["hmp"])
    assert "fewer than 5 pairs" not in printed(few["printed"])


def test_before_and_after() -> None:
    line = before_after("typos", "Two cats sat on the mat.", "Two ctas sat on the mat.", "word", "1 edits")
    assert line.plain == "typos (1 edits): Two [-cats-]{+ctas+} sat on the mat."
    replaced = before_after("other", "Two cats sat.", "Nobody came by at all!", "sentence")
    assert replaced.plain == "other: Nobody came by at all!"
    inserted = before_after("more", "It sat.", "It sat. A long sentence of other things came in.", "sentence")
    assert inserted.plain == "more: It sat. {+A long sentence of other things came in.+}"


@pytest.mark.parametrize("width", [60, 80, 120])
def test_probes_and_curves_in_the_terminal(dosed: dhp.Results, width: int) -> None:
    text = printed(dosed, width=width, no_color=True)
    tables = [line for line in text.splitlines() if not line.startswith("  ")]
    assert max(map(len, tables)) <= width
    for probe, verdict in (("identity", "passed over"), ("harmless", "lowered"), ("padding", "raised")):
        assert [line for line in tables if line.startswith(variant_name(probe)) and verdict in line]
    lines = [line.split() for line in tables if line.startswith("combined")]
    assert all(line[1:4] for line in lines)
    assert len(lines) == 2
    assert "D_avg" not in text
    assert "largest D of a control" in text


def test_a_threshold_says_where_it_lies(dosed: dhp.Results) -> None:
    curve = dosed[0].curves[1]
    line = replace(curve.lines["combined"], threshold=4.0, low=1.0, high=None)
    assert threshold(curve, line) == "4 [≤ 1, > 50]"
    assert threshold(curve, replace(line, threshold=1.0, high=2.5)) == "≤ 1 [≤ 1, 2.5]"
    assert threshold(curve, replace(line, threshold=None, low=20.0)) == "> 50 [20, > 50]"
    assert threshold(curve, replace(line, threshold=None, low=None)) == "> 50"
    assert threshold(curve, replace(line, d=(None,) * 3, threshold=None, low=None)) == "–"


@pytest.mark.parametrize("width", [50, 80, 140, 220])
def test_the_verdict_shows_every_figure_at_any_width_and_breaks_no_name(
    results: dhp.Results, width: int
) -> None:
    long = f"mock/{'n' * 40}"
    several = dhp.Results([*results, *(replace(r, model=long) for r in results)])
    console = Console(width=width, file=io.StringIO(), no_color=True)
    print_overview(several, console)
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert max(map(len, text.splitlines())) <= width
    words = " ".join(text.split())
    assert words.count(long) >= 2
    for heading in ("noticed", "detection", "D_avg", "D_min", "controls", "blind spots"):
        assert heading in words
    for r in results:
        assert f"{r.d_avg:.2f}" in words
        assert f"{r.d_min:.2f}" in words


def test_notes_name_the_judge_where_there_are_several(results: dhp.Results) -> None:
    first = results[0]
    warned = dhp.Results([replace(first, warnings=("beware",), model="one"), replace(first, model="two")])
    (line,) = [line for line in printed(warned, width=200).splitlines() if "beware" in line]
    assert line.strip() == f"warning: beware [one on {first.dataset}]"
