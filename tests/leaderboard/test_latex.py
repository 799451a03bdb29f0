"""The matrix of judges and sets in LaTeX: its figures, its form, and that LaTeX takes it."""

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dhp.leaderboard.paper import as_latex
from dhp.leaderboard.reading import read_entries
from dhp.leaderboard.tables import make_tables
from tests.cli.conftest import Run
from tests.leaderboard.conftest import known, signed

EVIL = r"_^~\{}&%$# <é–>"


def body(latex: str) -> list[list[str]]:
    """The rows below the last heading, cell by cell."""
    inner = latex.partition(r"\midrule")[2].partition(r"\bottomrule")[0]
    return [row.removesuffix(r" \\").split(" & ") for row in inner.strip().splitlines()]


@pytest.mark.slow
def test_one_matrix_holds_d_and_detection_of_each_judge_on_each_set(runs: Path, dhp: Run) -> None:
    latex = dhp("leaderboard", str(runs), "--latex").out
    assert latex.count(r"\begin{tabular}") == 1
    assert re.search(r"@[0-9a-f]{8}", latex) is None, "no hashes"
    expected: dict[str, list[str]] = {}
    for (model, _), result in sorted(known(runs).items(), key=lambda item: item[0][1]):
        row = expected.setdefault(model.replace("_", r"\_"), [])
        row += [f"{result[name]:.2f}" for name in ("d_avg", "d_min")]
        row.append(f"{100 * result['detection']['avg']:.0f}")
    assert {name: cells for name, *cells in body(latex)} == expected
    (columns,) = re.findall(r"\\begin\{tabular\}\{(\w+)\}", latex)
    assert columns == "l" + "r" * (len(body(latex)[0]) - 1), "figures are aligned right"
    for opened in re.findall(r"\\begin\{(.*?)\}", latex):
        assert latex.count(f"\\begin{{{opened}}}") == latex.count(f"\\end{{{opened}}}")


def test_equal_names_are_numbered(
    edited: Callable[..., Path],
) -> None:
    def asked(protocol: str) -> Path:
        def change(result: dict[str, Any]) -> None:
            result.update(model="own/one", protocol=protocol)
            signed(result, "protocol", protocol)

        return edited(f"{protocol}.json", change)

    tables = make_tables(read_entries([asked("mine@aaaaaaaa"), asked("mine@bbbbbbbb")]))
    latex = as_latex(tables)
    assert [row[0] for row in body(latex)] == ["own/one (mine), 1", "own/one (mine), 2"]


@pytest.mark.slow
def test_latex_takes_it(edited: Callable[..., Path], tmp_path: Path) -> None:
    if (program := shutil.which("pdflatex")) is None:
        pytest.skip("there is no pdflatex")
    tables = make_tables(read_entries([edited("some.json", lambda r: r.update(model=EVIL))]))
    text = "\n".join(
        [
            r"\documentclass{article}\usepackage[utf8]{inputenc}\usepackage[T1]{fontenc}\usepackage{textcomp}",
            r"\usepackage{booktabs}\begin{document}",
            as_latex(tables * 4),
            r"\end{document}",
        ]
    )
    (tmp_path / "paper.tex").write_text(text, encoding="utf-8")
    command = [program, "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout[-2000:]
    assert (tmp_path / "paper.pdf").is_file()
