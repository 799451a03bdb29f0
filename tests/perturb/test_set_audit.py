"""Audits: figures worked by hand, every planted oddity named, tables that fit."""

import re
from collections.abc import Sequence
from io import StringIO

import pytest
from rich.console import Console

from dhp.cli.perturb import audit_shown
from dhp.content.catalog import read_task
from dhp.core.records import Audit, Example, PerturbedText, Variant
from dhp.loaders.dataset import Dataset
from dhp.perturb.perturbed_dataset import PerturbedDataset
from dhp.perturb.set_audit import FAR, MOST_OUTLIERS, Spread, VariantAudit, audited
from dhp.report.terminal_printer import print_parts

GOOD = "The old mill by the river was sold in the spring of that year to a baker from the next valley."


TYPOS = Variant("typos.minor", "typos", "character", "rule", "minor")


def part(
    texts: Sequence[PerturbedText],
    *,
    variant: Variant = TYPOS,
    outputs: Sequence[str] | None = None,
) -> PerturbedDataset:
    ids = list(dict.fromkeys(t.example for t in texts))
    originals = outputs or [f"{GOOD} {i}" for i in ids]
    examples = tuple(Example(i, "S", o) for i, o in zip(ids, originals, strict=True))
    dataset = Dataset("mini/x", examples, read_task("summarization"), None, examples)
    return PerturbedDataset(dataset, (variant,), (), tuple(texts), "own", 3)


def one(found: PerturbedDataset) -> VariantAudit:
    (result,) = audited(found)
    return result


def alike(count: int) -> list[PerturbedText]:
    """Texts with one letter more than their originals, and their edits counted."""
    return [
        PerturbedText(str(i), "typos.minor", f"{GOOD} {i}s", audit=Audit(4, 4, 1, 0.99))
        for i in range(10, 10 + count)
    ]


def test_figures_by_hand() -> None:
    texts = [
        PerturbedText("a", "typos.minor", "abcd", audit=Audit(5, 5, 0, 0.8)),
        PerturbedText("b", "typos.minor", "abcdefgh", audit=Audit(5, 3, 0, 0.6), rejected=("too long",)),
        PerturbedText("c", "typos.minor", None, "too short", rejected=("same text", "too long")),
        PerturbedText("d", "typos.minor", None, "too short"),
    ]
    found = one(part(texts, outputs=["abcde", "abcd", "x", "y"]))
    assert (found.n, found.applicable, found.asked, found.made) == (4, 2, 10, 8)
    assert found.similarity == Spread(pytest.approx(0.7), 0.6, 0.8)
    assert found.length_change == Spread(pytest.approx(40), pytest.approx(-20), pytest.approx(100))
    assert found.not_applicable == {"too short": 2}
    assert found.rejected == {"too long": 2, "same text": 1}
    assert (found.duplicates, found.unchanged, found.outliers) == (0, 0, {})


def test_what_is_not_counted_is_none() -> None:
    found = one(part([PerturbedText("a", "typos.minor", "abce")], outputs=["abcd"]))
    assert (found.asked, found.made, found.similarity) == (None, None, Spread(0.75, 0.75, 0.75))
    nothing = one(part([PerturbedText("a", "typos.minor", None, "too short")]))
    assert (nothing.applicable, nothing.similarity, nothing.length_change) == (0, None, None)


def test_a_planted_length_is_named() -> None:
    long = PerturbedText("odd", "typos.minor", GOOD * 2, audit=Audit(4, 4, 1, 0.99))
    ((example, why),) = one(part([*alike(12), long])).outliers.items()
    assert example == "odd"
    assert re.fullmatch(r"length change \+\d+ %, the median is \+1 %", why)


def test_a_planted_similarity_is_named() -> None:
    far = PerturbedText("odd", "typos.minor", f"{GOOD} odds", audit=Audit(4, 4, 1, 0.7))
    assert one(part([*alike(12), far])).outliers == {"odd": "similarity 0.70, the median is 0.99"}
    near = PerturbedText("odd", "typos.minor", f"{GOOD} odds", audit=Audit(4, 4, 1, 0.99 - 0.01 * FAR))
    assert one(part([*alike(12), near])).outliers == {}


def test_a_far_value_is_measured_by_the_deviation_of_the_others() -> None:
    """0.80, 0.82, ..., 0.98, odd: median 0.88, MAD 0.06, so far is beyond 3.5 x 0.06 / 0.6745 = 0.31."""
    spread = [
        PerturbedText(str(i), "names", f"{GOOD} {i}s", audit=Audit(None, None, 1, 0.8 + 0.02 * i))
        for i in range(10)
    ]
    variant = Variant("names", "names", "word", "llm", None)
    for similarity, named in ((0.58, []), (0.56, ["odd"])):
        odd = PerturbedText("odd", "names", f"{GOOD} odds", audit=Audit(None, None, 1, similarity))
        outliers = one(part([*spread, odd], variant=variant)).outliers
        assert list(outliers) == named


def test_few_edits_low_similarity_and_repeated_texts_are_named() -> None:
    few = PerturbedText("few", "typos.minor", f"{GOOD} fews", audit=Audit(4, 1, 1, 0.99))
    half = PerturbedText("half", "typos.minor", f"{GOOD} halfs", audit=Audit(4, 2, 1, 0.99))
    low = PerturbedText("low", "typos.minor", f"{GOOD} lows", audit=Audit(4, 4, 1, 0.3))
    twins = [
        PerturbedText(i, "typos.minor", f"{GOOD} twin", audit=Audit(4, 4, 1, 0.99)) for i in ("one", "two")
    ]
    found = one(part([*twins, low, few, half, *alike(9)]))
    assert list(found.outliers.items()) == [
        ("few", "1 of 4 edits made"),
        ("low", "similarity 0.30, low for a minor degree"),
        ("two", "same text as example 'one'"),
    ]
    assert found.duplicates == 2


def test_texts_left_as_they_were_are_counted_and_come_first() -> None:
    texts = [PerturbedText(str(i), "typos.minor", f"{GOOD} {i}") for i in range(10, 17)]
    found = one(part([*alike(3), *texts[3:]]))
    assert found.unchanged == 4
    assert set(found.outliers.values()) == {"equals the original"}
    control = Variant("same", "same", "control", "rule", None)
    as_control = one(part([PerturbedText(t.example, "same", t.text) for t in texts], variant=control))
    assert (as_control.unchanged, as_control.outliers) == (7, {})
    assert len(one(part(texts)).outliers) == MOST_OUTLIERS < one(part(texts)).unchanged


def printed(found: PerturbedDataset, width: int) -> list[str]:
    out = StringIO()
    print_parts(audit_shown([found, found]), Console(file=out, width=width, color_system=None))
    return out.getvalue().splitlines()


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_table_fits_and_says_what_to_look_at(width: int) -> None:
    few = PerturbedText(
        "[red]few[/]\x1b[2J", "typos.minor", "cut", audit=Audit(4, 1, 1, 0.02), rejected=("[/b]",)
    )
    none = PerturbedText("none", "typos.minor", None, "[blue]short")
    lines = printed(part([*alike(12), few, none]), width)
    text = "\n".join(lines)
    table = [line for line in lines if line.startswith(("variant", "typos.minor "))]
    assert len(table) == 4
    assert all(len(line.rstrip()) <= width for line in table)
    assert "13/14" in table[1]
    assert "  typos.minor, example '[red]few[/]\ufffd[2J': 1 of 4 edits made" in lines
    assert "  typos.minor: not applicable: 1 × [blue]short" in lines
    assert "  typos.minor: answers rejected: 1 × [/b]" in lines
    assert "  typos.minor: 49 of 52 edits made" in lines
    assert "\x1b" not in text
    assert ("from – to" in table[0]) == (width >= 80)


def test_a_fault_is_told_where_its_column_is_dropped() -> None:
    lines = printed(part([PerturbedText(str(i), "typos.minor", f"{GOOD} {i}") for i in range(6)]), 60)
    assert "  typos.minor: 6 texts equal their original (must be 0)" in lines
