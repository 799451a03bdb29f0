"""One document in every printer: no word is lost, and what is no part or block of it is refused."""

import ast
import io
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

import dhp
from dhp.core.verdicts import MISSED, NOTICED
from dhp.report.document import (
    Alarm,
    Block,
    Chart,
    Code,
    Column,
    Edited,
    Facts,
    FirstThatFits,
    Fold,
    Heading,
    Listing,
    Note,
    Part,
    Points,
    Strong,
    Table,
    filled,
    item,
    plain_row,
    shaded,
)
from dhp.report.printout import Printout, text_for_programs
from dhp.report.terminal_printer import print_parts
from dhp.report.web import document_page, fragment, page
from tests.parsed import Parsed

PACKAGE = Path(dhp.__file__).parent

NAME = Column[Any]("name", item("name"), names=True, right=False)
SHARE = Column[Any](
    "share", item("share"), lambda s: "–" if s is None else f"{s:.0%}", "how many", ends=item("ends")
)
VERDICT = Column[Any]("verdict", item("verdict"), right=False)
ROWS = [
    {"name": "alpha", "share": 0.5, "ends": (0.4, 0.6), "verdict": NOTICED},
    {"name": "beta", "share": None, "ends": None, "verdict": MISSED},
    {"name": "gamma", "share": None, "ends": None, "verdict": MISSED},
]
TABLE = Table("the table", [NAME, SHARE, VERDICT], ROWS, word=item("verdict"))
EVERY_PART: list[Part] = [
    "sentence",
    Strong("strong"),
    Heading("heading", 3, id="here"),
    Note("note with `code`"),
    Alarm("alarm"),
    Code("signature|1"),
    Edited("edited", [("=", "kept "), ("-", "gone "), ("+", "come")]),
    TABLE,
    Listing([("listed", "beside")]),
    FirstThatFits([["widest"], ["narrow"]]),
    Chart([None], "below"),
    Facts({"fact": "12"}),
    Points(["point"]),
    Fold("folded", ["inside"]),
    Block(["block"], {"task": "x"}),
]
WORDS = (
    "sentence strong heading note with code alarm signature|1 edited kept gone come name share verdict alpha "
    "beta gamma 50% 40–60 noticed missed listed beside widest below fact 12 point folded inside block"
).split()


def in_terminal(parts: Sequence[Part]) -> str:
    stream = io.StringIO()
    print_parts(parts, Console(file=stream, width=120))
    return stream.getvalue()


def in_form(form: str) -> Callable[[Sequence[Part]], str]:
    return lambda parts: text_for_programs(Printout(parts), form)


def on_page(parts: Sequence[Part]) -> str:
    return Parsed(document_page("Title", "lead", parts)).text


def in_notebook(parts: Sequence[Part]) -> str:
    return Parsed(fragment(parts)).text


PRINTERS = {
    "terminal": in_terminal,
    "markdown": in_form("markdown"),
    "latex": in_form("latex"),
    "page": on_page,
    "notebook": in_notebook,
}


@pytest.mark.parametrize("printer", PRINTERS.values(), ids=PRINTERS)
def test_every_part_is_in_every_printer(printer: Callable[[Sequence[Part]], str]) -> None:
    printed = printer(EVERY_PART).replace("\\", "").replace("--", "–")
    assert [word for word in WORDS if word not in printed] == []
    assert "narrow" not in printed or printer is in_terminal


@pytest.mark.parametrize("printer", PRINTERS.values(), ids=PRINTERS)
@pytest.mark.parametrize("odd", [12, Fold("title", [None])], ids=["a number", "nothing in a fold"])  # type: ignore[list-item]
def test_what_is_no_part_is_refused(printer: Callable[[Sequence[Any]], str], odd: object) -> None:
    with pytest.raises(TypeError, match=r"int|NoneType"):
        printer(["sentence", odd])


@pytest.mark.parametrize("printer", [on_page, in_notebook])
@given(text=st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1))
def test_no_text_of_a_part_is_markup(printer: Callable[[Sequence[Part]], str], text: str) -> None:
    def tags(shown: str) -> list[str]:
        table = Table(shown, [Column[str](shown, str, names=True)], [shown])
        parts = [shown, Strong(shown), Heading(shown), Code(shown), table, Listing([(shown,)])]
        made = fragment(parts) if printer is in_notebook else document_page("t", "", parts)
        return [tag for tag, _ in Parsed(made).tags if tag != "wbr"]

    assert tags(f"<script>{text}</script>") == tags("text")


def test_a_cell_sorts_by_its_value_and_its_limits_stand_apart() -> None:
    made = document_page("t", "", [TABLE])
    assert re.search(r'data-value="0.5"[^>]*>50% <small>40–60</small>', made)
    assert "noticed" in Parsed(made).rows[1][2]
    undefined = re.findall(r"<td[^>]*>–", made)
    assert undefined
    assert not any("data-value" in cell for cell in undefined), "what is undefined has no value to sort by"


def test_rows_that_are_the_same_but_for_their_names_are_one_line_of_text_and_two_of_a_page() -> None:
    def names(rows: Sequence[Any]) -> str:
        return " and ".join(row["name"] for row in rows)

    folded = Table("", [NAME, SHARE, VERDICT], ROWS, folded=names)
    assert [line.split("  ")[0] for line in in_terminal([folded]).splitlines()[1:]] == [
        "alpha",
        "beta and gamma",
    ]
    assert [row[0] for row in Parsed(fragment([folded])).rows[1:]] == ["alpha", "beta", "gamma"]
    apart = Table("", [NAME, SHARE, VERDICT], ROWS, folded=names, group=lambda row: row["name"] == "beta")
    assert len(in_terminal([apart]).splitlines()) == 4, "rows of two groups are not one"


def test_a_column_of_a_part_of_a_row_is_the_same_column() -> None:
    inner = [("x", row) for row in ROWS]
    column = SHARE.on(item(1))
    assert [column.cell(row) for row in inner] == [SHARE.cell(row) for row in ROWS]
    assert plain_row([column], inner[0]) == {"share": 0.5, "share_low": 0.4, "share_high": 0.6}
    assert column.over(inner) == SHARE.over(ROWS) == "50%"
    optional = Column[Any]("empty", lambda row: None, optional=True)
    assert filled([NAME, optional], ROWS) == [NAME]
    assert shaded("s", str).cell(-0.5).shade == 0


@pytest.mark.parametrize("block", ["body", "mian"])
def test_a_block_that_the_parent_lacks_is_refused(tmp_path: Path, block: str) -> None:
    template = tmp_path / "odd.html"
    template.write_text('{% extends "base.html" %}{% block ' + block + " %}lost{% endblock %}")
    with pytest.raises(
        ValueError, match=rf"odd.html: block '{block}' is not in base.html; allowed: main, title"
    ):
        page(template)


def test_a_block_of_a_grandparent_and_one_inside_another_are_shown(tmp_path: Path) -> None:
    (tmp_path / "middle.html").write_text(
        '{% extends "base.html" %}{% block main %}{% block inner %}{% endblock %}{% endblock %}'
    )
    template = tmp_path / "leaf.html"
    template.write_text(
        '{% extends "middle.html" %}{% block title %}T{% endblock %}{% block inner %}shown{% endblock %}'
    )
    assert "shown" in page(template)


TABLES_OF_THEIR_OWN = {
    "document_macros.html",  # the printer
    "matrix.html",  # cells that open the explorer
    "side_by_side.html",  # two judges that the reader chooses
}


def test_all_tables_are_printed_by_the_printers() -> None:
    templates = [*PACKAGE.rglob("*.html")]
    assert {path.name for path in templates if "<table" in path.read_text("utf-8")} == TABLES_OF_THEIR_OWN
    headed = {path.name for path in templates if re.search("<th[ >]", path.read_text("utf-8"))}
    assert headed <= TABLES_OF_THEIR_OWN, "a heading is written in a declared column"


def test_code_writes_no_html_and_makes_no_table_of_plain_cells() -> None:
    makes_grids = set()
    for path in PACKAGE.rglob("*.py"):
        source = path.read_text("utf-8")
        if "Grid" in source:
            makes_grids.add(path.name)
        if not re.search("<(table|tr|td|th)[ >]", source):
            continue
        tree = ast.parse(source)
        texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
        tags = [text for text in texts if isinstance(text, str) and re.search("<(table|tr|td|th)[ >]", text)]
        assert tags == [], path
    assert makes_grids == {"plain_grid.py", "terminal_printer.py", "markdown.py", "latex.py"}
