"""The results pages: HTML of the overview, sets and judges, the overview in Markdown, the README's table."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from results_pages.parts import Audit, Grid, SetFigures, Table, cell_text, judges_of, places_of
from results_pages.texts import LEAD, LIMITS, TEXTS

from dhp.report.formats import markdown_table
from dhp.report.labels import percent, percents
from dhp.report.web import page

_TEMPLATES = Path(__file__).parent / "templates"
_README_ROWS = (
    ("llmbar", "GPT-4", "Rating"),
    ("llmbar", "ChatGPT", "Rating"),
    ("llmbar", "ChatGPT", "Vanilla"),
    ("bump", "FactCC (BUMP)", ""),
)
"""Set, judge and way of asking of the README's rows."""


def judge_file(judge: str) -> str:
    """The file of a judge's page."""
    return f"{re.sub('[^a-z0-9.]+', '-', judge.lower()).strip('-')}.html"


def all_pages(sets: Sequence[SetFigures]) -> dict[str, str]:
    """Name -> text of every page, below the folder of the results."""
    judges = judges_of(sets)
    texts = {each.name: TEXTS[each.name] for each in sets}
    index = _page("results_index.html", "", texts, sets=sets, judges=judges, lead=LEAD, limits=LIMITS)
    made = {"index.html": index, "overview.md": overview_markdown(sets)}
    for each in sets:
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


def _page(template: str, root: str, texts: object, **values: object) -> str:
    made = page(
        _TEMPLATES / template,
        styles=[_TEMPLATES / "results.css"],
        root=root,
        texts=texts,
        judge_file=judge_file,
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
        LEAD,
        "[index.html](index.html) is the same with a page for each set and judge, all intervals, "
        "signatures and commands.",
        "",
        "Cells: detection, the chance that the damaged text got the lower score (50 % is blind), and its "
        "95 % interval. "
        "● noticed, ◐ undecided, ○ missed, ▼ missed and the damage preferred. Compare within a table, not "
        "across.",
    ]
    for each in sets:
        text = TEXTS[each.name]
        lines += ["", f"## {text.title}", "", text.what, "", text.shows]
        for part in each.shown:
            heading = f"{part.title}. {part.note}".strip() if len(each.shown) > 1 else part.note
            lines += ["", heading, "", _grid(part) if isinstance(part, Grid) else _table(part)]
        lines += ["", "Compute again (DATA is a folder of the published data):", "", "```"]
        lines += [*dict.fromkeys(command for part in each.shown for command in part.commands), "```"]
    lines += ["", "## Limits", "", *(f"- {limit}" for limit in LIMITS)]
    lines += [f"- {TEXTS[each.name].title}: {limit}" for each in sets for limit in TEXTS[each.name].limits]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)) + "\n"


def _grid(grid: Grid) -> str:
    rows = [
        [
            _name(a),
            str(a.n),
            f"{percent(a.detection)} {percents(a.ci)}",
            *(cell_text(a.cell(k)) for k in grid.kinds),
        ]
        for a in grid.audits
    ]
    return markdown_table(["judge", "N", "mean", *grid.kinds], rows, range(1, 3 + len(grid.kinds)))


def _table(table: Table) -> str:
    return markdown_table(table.heads, table.rows, range(table.words, len(table.heads)))


def _name(audit: Audit) -> str:
    return f"{audit.judge}, {audit.way}" if audit.way else audit.judge


def readme_table(sets: Sequence[SetFigures]) -> str:
    """Some rows for the README; a row whose set was not made is left out."""
    known = {(s.name, a.judge, a.way): a for s in sets for g in s.grids for a in g.audits}
    rows = []
    for key in _README_ROWS:
        if (audit := known.get(key)) is None:
            continue
        low = audit.lowest
        worst = "–" if low is None else f"{low.kind}: {percent(low.detection)} [{percents(low.ci)}]"
        figures = [audit.noticed, f"{percent(audit.detection)} [{percents(audit.ci)}]", worst]
        rows.append([TEXTS[key[0]].title, _name(replace(audit, judge=_plain(audit.judge))), *figures])
    return markdown_table(["set", "judge", "noticed", "detection", "lowest"], rows, [3])


def _plain(judge: str) -> str:
    return judge.partition(" (")[0]
