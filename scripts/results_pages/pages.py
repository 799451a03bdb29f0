"""The results pages: HTML of the overview, sets and judges, and the overview in Markdown."""

import re
from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup
from results_pages.difficulty import HEADS, difficulties
from results_pages.overview import Line, columns_of, findings, lines_of, table_of
from results_pages.parts import Grid, SetFigures, Table, cell_text, judges_of, places_of
from results_pages.picture import pictures
from results_pages.texts import LEAD, LIMITS, TEXTS

from dhp.core.verdicts import verdicts_about
from dhp.report.labels import percent, percents
from dhp.report.markdown import markdown_table
from dhp.report.web import page

_RECENT = 2025
"""The year from which on judges stand unfolded."""
_TEMPLATES = Path(__file__).parent / "templates"


def judge_file(judge: str) -> str:
    """The file of a judge's page."""
    return f"{re.sub('[^a-z0-9.]+', '-', judge.lower()).strip('-')}.html"


def all_pages(sets: Sequence[SetFigures]) -> dict[str, str]:
    """Name -> text of every page, below the folder of the results."""
    judges = judges_of(sets)
    texts = {each.name: TEXTS[each.name] for each in sets}
    lines = lines_of(sets)
    index = _page(
        "results_index.html",
        "",
        texts,
        sets=sets,
        judges=judges,
        lead=LEAD,
        findings=[re.split(r"\*\*", sentence)[1:] for sentence in findings(sets)],
        recent=[line for line in lines if _is_recent(line)],
        older=[line for line in lines if not _is_recent(line)],
        columns=columns_of(lines),
        picture=_drawings(sets),
        limits=LIMITS,
    )
    made = {"index.html": index, "overview.md": overview_markdown(sets)}
    made["difficulty.html"] = _page(
        "results_difficulty.html", "", texts, found=difficulties(sets), heads=HEADS
    )
    for each in sets:
        made |= pictures(each) if each.name == "blind_spot" else {}
        made[f"sets/{each.name}.html"] = _page(
            "results_set.html", "../", texts, text=texts[each.name], figures=each
        )
    for judge in judges:
        made[f"judges/{judge_file(judge)}"] = _page(
            "results_judge.html",
            "../",
            texts,
            judge=judge,
            places=places_of(sets, judge),
            own_commands=own_commands,
        )
    return made


def _is_recent(line: Line) -> bool:
    return (TEXTS[line.figures.name].year or 0) >= _RECENT


def _drawings(sets: Sequence[SetFigures]) -> dict[str, Markup]:
    """Theme of the page -> the picture, which stands in the page itself."""
    return {
        name.removesuffix(".svg").rpartition("-")[2]: Markup(drawing)
        for each in sets
        if each.name == "blind_spot"
        for name, drawing in pictures(each).items()
    }


def _page(template: str, root: str, texts: object, **values: object) -> str:
    made = page(
        _TEMPLATES / template,
        styles=[_TEMPLATES / "results.css"],
        scripts=["tables.js"] if template == "results_index.html" else [],
        root=root,
        texts=texts,
        judge_file=judge_file,
        verdicts=verdicts_about("damage"),
        **values,
    )
    return re.sub(r"\n\s*\n+", "\n", made)


def own_commands(part: Grid | Table, judge: str) -> list[str]:
    """Of a part's commands those that name the judge; all, where none does."""
    return [c for c in part.commands if judge.lower() in c.lower()] or list(part.commands)


def overview_markdown(sets: Sequence[SetFigures]) -> str:
    """The overview for readers of the repository."""
    lines = [
        "# What real judges show",
        "",
        *(f"{number}. {sentence}" for number, sentence in enumerate(findings(sets), 1)),
        "",
        LEAD,
        "[index.html](index.html) is the same with tables that can be sorted, a page for each set and judge, "
        "all intervals, signatures and commands.",
        "",
        "## All judges",
        "",
        "The newest answers first; n: pairs a kind, the fewest and the most. D grows with n, and the sets "
        "differ: compare judges within a set only.",
        "",
        table_of(lines_of(sets)),
        "",
        "## Set by set",
        "",
        "Cells: detection, the chance that the damaged text got the lower score (50 % is blind), and its "
        f"95 % interval. {', '.join(verdict.signed for verdict in verdicts_about('damage'))}. Compare within "
        "a table, not across.",
    ]
    for each in sets:
        text = TEXTS[each.name]
        lines += ["", f"## {text.title}", "", text.what, "", text.shows, "", f"Source: {text.source}"]
        for part in each.shown:
            heading = f"{part.title}. {part.note}".strip() if len(each.shown) > 1 else part.note
            lines += ["", heading, "", _grid(part) if isinstance(part, Grid) else _table(part)]
        lines += ["", "Compute again (DATA is a folder of the published data):", "", "```"]
        lines += [*dict.fromkeys(command for part in each.shown for command in part.commands), "```"]
    lines += ["", "## Limits", "", *(f"- {limit}" for limit in LIMITS)]
    lines += [f"- {TEXTS[each.name].title}: {limit}" for each in sets for limit in TEXTS[each.name].limits]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)) + "\n"


def _grid(grid: Grid) -> str:
    rows = []
    for audit in grid.audits:
        row = [audit.name, audit.pairs, f"{percent(audit.detection)} {percents(audit.ci)}"]
        if grid.controlled:
            row.append(audit.harmless)
        rows.append([*row, *(cell_text(audit.cell(kind)) for kind in grid.kinds)])
    heads = ["judge", "n", "mean", *(["controls"] if grid.controlled else []), *grid.kinds]
    return markdown_table(heads, rows, range(1, len(heads)))


def _table(table: Table) -> str:
    return markdown_table(table.heads, table.rows, range(table.words, len(table.heads)))
