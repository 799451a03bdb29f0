"""The terminal says the verdict, shows any text as text, and needs neither colour nor width."""

import io
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from dhp.analysis.results import DoseResponse, DoseThreshold, Result, Results
from dhp.report.document import Part
from dhp.report.labels import t75
from dhp.report.terminal import before_after, results_in_terminal
from dhp.report.terminal_printer import print_parts
from tests.report.made import control, dose_response, result, row

EVIL = "<script>alert(1)</script>[bold red]x[/]"
TYPOS = "random_typos.minor"


def printed(*results: Result, width: int = 110, details: bool = False, **options: object) -> str:
    console = Console(file=io.StringIO(), width=width, **options)  # type: ignore[arg-type]
    print_parts(results_in_terminal(Results(results), details=details), console)
    stream = console.file
    assert isinstance(stream, io.StringIO)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())


def test_one_judge_on_several_sets_is_a_table_and_a_sentence() -> None:
    alarmed = result(
        row(TYPOS, d=7.77),
        row("reordering", "missed", 0.5),
        dataset="mini/a",
        controls=(control("false alarm", 0.8),),
        d_avg=4.339,
        d_min=0.2,
    )
    other = result(row(TYPOS, d=7.77), dataset="mini/longer")
    assert printed(alarmed, other).splitlines() == [
        "own/judge on 2 sets of mini: 200 ratings of 48 examples",
        "data    D_avg  D_min  noticed  detection  controls         lowest kind",
        "a        4.34   0.20   1 of 2  70% 65–70  false alarm 80%  50% reordered sentences",
        "longer      –      –   1 of 1  90% 85–90  still            90% typos, minor",
        "",
        "own/judge: notices typos; misses reordered sentences; false alarm on harmless edits (1 of 2 sets).",
    ]


@pytest.mark.parametrize(("width", "tables"), [(80, 2), (100, 1), (120, 1), (200, 1)])
def test_several_sets_have_a_line_each_from_80_columns_on(width: int, tables: int) -> None:
    """A narrow terminal leaves out the lowest kind, and then has a table for each judge."""
    judges, sets = ("openai/one", "openai/another-model"), ("story_cloze", "answer_equivalence")
    telling = {"d_avg": 4.3, "controls": (control("not tested", n=7),)}
    shown = printed(
        *(
            result(row("random_deletions.minor", d=7.8), model=model, dataset=f"mini/{name}", **telling)
            for name in sets
            for model in judges
        ),
        width=width,
    )
    lines = shown.partition("\n\n")[0].splitlines()
    assert max(map(len, lines)) <= width
    heads = [line for line in lines if "D_avg" in line]
    assert len(heads) == tables
    assert len(lines) == tables * 2 + len(sets) * len(judges), "titles, headings and a line for each result"
    assert all(head.endswith("lowest kind") for head in heads) == (width >= 120)


def test_many_results_are_judges_by_sets_the_best_first() -> None:
    """Instead of a line for each; these come with details."""
    sets = ("story_cloze", "summeval", "sumpubmed")
    found = [
        result(row(TYPOS, detection=share), model=model, dataset=f"mini/{name}")
        for name in sets
        for model, share in (("own/low", 0.6), ("own/high", 0.9), ("own/middle", 0.7))
    ]
    lines = printed(*found).splitlines()
    assert lines[1].split() == ["judge", *sets]
    assert [line.split()[0] for line in lines[2:5]] == ["own/high", "own/middle", "own/low"]
    assert lines[2].split()[1:] == ["90%", "1", "of", "1"] * 3
    assert not any("D_avg" in line for line in lines)
    assert sum(line.startswith("own/high ") for line in printed(*found, details=True).splitlines()) == 3


def test_one_result_shows_its_kinds_worst_first_and_equal_ones_once() -> None:
    still = {"metrics": {"quality": replace(row("x").metrics["quality"], fell=0.0, tied=1.0)}}
    rows = [row(f"blind{k}", "missed", 0.5, **still) for k in range(5)]
    text = printed(result(row(TYPOS), *rows, row("random_typos.major")))
    lines = text.splitlines()
    assert lines[0] == "set: own/judge, 24 examples"
    assert lines[1].split() == ["kind", "detection", "verdict", "pairs"]
    assert lines[2].startswith("blind0, blind1, blind2, blind3 and blind4: no score moved  ")
    assert lines[3].startswith("typos (minor, major)  ")
    assert lines[4].startswith("harmless edits")
    assert lines[5] == ""


def test_a_row_of_many_kinds_names_all_of_them_in_lines_of_sixty_columns() -> None:
    many = [row(f"a_rather_long_name_{k}") for k in range(12)]
    lines = printed(result(*many), width=1000).splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith("a_rather"))
    named = lines[start : lines.index(next(line for line in lines if line.startswith("harmless")))]
    assert named[0].index("90%") <= 63
    assert all(len(line) <= 62 for line in named[1:])
    assert " ".join(named).count("a_rather_long_name_") == 12
    assert all("noticed" not in line for line in named[1:])


def test_d_weights_signature_and_remarks_stand_in_the_details_alone() -> None:
    shown = result(
        row(TYPOS, d=7.77, d_ew=6.66, misplaced=0.25), weights="design", d_avg=5.5, left_out=("gone",)
    )
    plain, full = printed(shown, width=130), printed(shown, width=130, details=True)
    for said in ("7.77", "6.66", "D_avg 5.50", "design", shown.signature, "25%"):
        assert said not in plain
        assert said in full


def test_at_most_three_notes_without_details() -> None:
    warned = result(row(TYPOS), warnings=tuple(f"beware {k}" for k in range(5)))
    assert printed(warned).count("note: beware") == 3
    assert printed(warned, details=True).count("note: beware") == 5


def test_too_few_examples_are_one_line() -> None:
    few = result(row(TYPOS, "undecided", n=2), n=2)
    assert printed(few) == "own/judge: needs 5 examples or more for a verdict."
    several = printed(few, result(row(TYPOS), dataset="other")).splitlines()
    assert "needs 5 examples" in next(line for line in several if line.startswith("set "))


@pytest.mark.parametrize("width", [40, 60, 80, 140])
def test_no_line_is_wider_than_the_terminal_and_every_figure_is_there(width: int) -> None:
    long = f"own/{'n' * 20}"
    shown = [
        result(row("grammatical_errors.minor", "missed", 0.51), model=model, dataset=data)
        for model in ("own/judge", long)
        for data in ("mini/answer_equivalence", "mini/b")
    ]
    text = printed(
        *shown, width=width, details=True, force_terminal=True, no_color=True, legacy_windows=False
    )
    plain = "\n".join(line for line in text.splitlines() if "dataset:" not in line)
    assert (
        max(len(line.replace("\x1b[1m", "").replace("\x1b[0m", "")) for line in plain.splitlines()) <= width
    )
    for said in (long, "51%", "41–61", "missed", "still"):
        assert said in plain


def test_the_kinds_of_a_row_are_wrapped_before_a_row_takes_several_lines() -> None:
    alike = [row(f"{name}.minor") for name in ("random_typos", "reordering", "random_deletions")]
    lines = printed(result(*alike), width=66).splitlines()
    head = next(line for line in lines if line.startswith("kind"))
    start = lines.index(head)
    assert lines[start + 1].startswith("typos (minor), reordered sentences")
    assert lines[start + 1].endswith("noticed     24") == head.endswith("verdict  pairs")
    assert lines[start + 2].startswith("  ")
    assert "detection" not in lines[start + 1]


def test_doses_show_detection_by_dose_and_the_threshold() -> None:
    dosed = result(row("random_typos.k4"), curves=(dose_response(3.0),))
    text = printed(dosed)
    assert "detection  55%  80%  98%  3 [2 to over 16]" in text
    assert "own/judge on set: notices 3 typos [2 to over 16] in 80 characters." in text
    assert "noticed  detection" not in text


def test_markup_in_names_shows_as_text() -> None:
    evil = result(
        row(EVIL, level=EVIL, best_metric=EVIL),
        model=EVIL,
        dataset=EVIL,
        signature=EVIL,
        left_out=(EVIL,),
        warnings=(EVIL,),
    )
    assert printed(evil, width=400, details=True).count(EVIL) >= 8
    assert "\x1b" not in printed(replace(evil, model="a\x1b[2J"), width=400)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (DoseThreshold(4.2, 2.0, 8.0), "4.2 [2 to 8]"),
        (DoseThreshold(4.0, 0.0, None), "4 [under 1 to over 50]"),
        (DoseThreshold(0.0, 0.0, 2.5), "under 1 [under 1 to 2.5]"),
        (DoseThreshold(4.0, None, None), "4"),
        (DoseThreshold(None, 20.0, None), "not reached [20 to over 50]"),
        (DoseThreshold(None, None, None), "not reached"),
        (None, "–"),
    ],
)
def test_a_threshold_says_where_it_lies(found: DoseThreshold | None, words: str) -> None:
    assert t75(DoseResponse("random_typos", (1, 5, 50), t75=found)) == words


def shown(part: Part, **options: Any) -> str:
    stream = io.StringIO()
    print_parts([part], Console(file=stream, width=110, **options))
    return stream.getvalue().rstrip()


def test_before_and_after() -> None:
    mat = ("Two cats sat on the mat.", "Two ctas sat on the mat.", "word", "1 edits")
    assert shown(before_after("typos", *mat)) == "typos (1 edits): Two [-cats-]{+ctas+} sat on the mat."
    coloured = shown(before_after("typos", *mat), color_system="standard", force_terminal=True)
    assert not {"\x1b[32", "\x1b[92"} & {code[:4] for code in coloured.split("m")}, "damage is not green"
    replaced = before_after("other", "Two cats sat.", "Nobody came by at all!", "sentence")
    assert shown(replaced) == "other: Nobody came by at all!"
    inserted = before_after("more", "It sat.", "It sat. A long sentence of other things came in.", "sentence")
    assert shown(inserted) == "more: It sat. {+A long sentence of other things came in.+}"


def three_judges(*datasets: str) -> list[Result]:
    """A good judge between two that detect less; all miss reordered sentences."""
    figures = {"own/low": 0.4, "own/high": 0.9, "own/mid": 0.6}
    return [
        result(
            row(TYPOS, "noticed" if high > 0.8 else "undecided", high),
            row("reordering", "missed", 0.1),
            model=model,
            dataset=name,
        )
        for name in datasets
        for model, high in figures.items()
    ]


def test_three_judges_stand_beside_each_other_the_best_first_and_the_lowest_kind_first() -> None:
    lines = printed(*three_judges("set")).splitlines()
    assert lines[1].split()[0] == "judge"
    assert "data" not in lines[1], "there is one set, which the title names"
    assert [line.split()[0] for line in lines[2:5]] == ["own/high", "own/mid", "own/low"]
    assert lines[6:10] == [
        "detection in per cent by kind on set, lowest first",
        "kind                 own/high    own/mid       own/low",
        "reordered sentences  10 missed   10 missed     10 missed",
        "typos, minor         90 noticed  60 undecided  40 undecided",
    ]
    assert "by kind" not in printed(*three_judges("set")[:2])


def test_of_several_sets_the_matrix_has_means_and_counts() -> None:
    text = printed(*three_judges("mini/a", "mini/b"))
    assert "typos, minor         90 2/2    60 0/2   40 0/2" in text


def test_long_names_of_judges_are_numbered_and_a_narrow_matrix_has_figures_alone() -> None:
    judges = [
        replace(each, model=f"own/a-name-of-many-characters-{each.model}") for each in three_judges("set")
    ]
    wide = printed(*judges)
    assert "J1  own/a-name-of-many-characters-own/high" in wide
    assert "typos, minor         90 noticed  60 undecided  40 undecided" in wide
    assert "typos, minor         90  60  40" in printed(*judges, width=40)


def test_what_holds_of_every_judge_is_said_once() -> None:
    lines = printed(*three_judges("set")).splitlines()
    assert [line for line in lines if "reordered" in line and ":" in line] == [
        "every judge: misses reordered sentences."
    ]
    assert "own/high: notices typos." in lines
    assert printed(*three_judges("set")[:2]).count("misses reordered sentences") == 2
