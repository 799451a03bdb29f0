"""No text of a page covers another, on a phone and on a wide screen; no page is wider, no level skipped."""

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from dhp.cli.main import main
from tests.browser import Page, in_browser, needs_chromium

pytestmark = [pytest.mark.slow, needs_chromium]

OVERLAPS = """(() => {
  // What is seen of each piece of text: its boxes, cut where an element around it scrolls or hides.
  const boxes = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode()); ) {
    const parent = node.parentElement;
    if (!node.textContent.trim() || parent.closest("script, style, option, .sr")) continue;
    if (!parent.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const { left, right, top, bottom } of range.getClientRects()) {
      const box = { left, right, top, bottom, node };
      for (let around = parent; around; around = around.parentElement) {
        if (around === document.body || getComputedStyle(around).overflowX === "visible") continue;
        const edge = around.getBoundingClientRect();
        box.left = Math.max(box.left, edge.left);
        box.right = Math.min(box.right, edge.right);
        box.top = Math.max(box.top, edge.top);
        box.bottom = Math.min(box.bottom, edge.bottom);
      }
      if (box.right - box.left > 2 && box.bottom - box.top > 2) boxes.push(box);
    }
  }
  boxes.sort((one, two) => one.top - two.top);
  const found = [];
  boxes.forEach((one, place) => {
    for (const two of boxes.slice(place + 1)) {
      if (two.top >= one.bottom) break;
      const high = Math.min(one.bottom, two.bottom) - two.top;
      const wide = Math.min(one.right, two.right) - Math.max(one.left, two.left);
      const least = 0.4 * Math.min(one.bottom - one.top, two.bottom - two.top);
      // A line box is higher than its letters, so lines may touch.
      if (one.node !== two.node && wide > 2 && high > least)
        found.push(`${one.node.textContent.trim()} | ${two.node.textContent.trim()}`);
    }
  });
  return found;
})()"""


LEVELS = "[...document.querySelectorAll('h1, h2, h3, h4, h5')].map((heading) => +heading.tagName[1])"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Pages of each kind, of runs of the bundled texts."""
    folder = tmp_path_factory.mktemp("pages")
    answers = " ".join(f"--answers {each}" for each in answered(folder))
    few = "--model mock/noisy --dataset mini/summeval"
    commands = f"""
        benchmark --model mock/noisy --n 8 --out {folder}/runs/noisy --quiet
        benchmark --model mock/lenient --n 8 --out {folder}/runs/lenient --quiet
        benchmark --model baseline/surface --n 8 --out {folder}/runs/surface --quiet
        benchmark {few} --doses 1,2,4 --pass-mark 4 --out {folder}/doses --quiet
        probe {few} --out {folder}/probe
        compare {folder}/runs/noisy {folder}/runs/lenient --html {folder}/compared.html
        evaluate {answers} --model mock/noisy --out {folder}/evaluation
        perturb --dataset mini/summeval --n 4 --freeze {folder}/set
        review {folder}/set --page {folder}/review.html
        weights survey --task summarization --out {folder}/survey.html
        leaderboard site {folder}/runs/noisy {folder}/runs/lenient {folder}/runs/surface --out {folder}/board
        report {folder}/runs
    """
    for command in commands.strip().splitlines():
        with pytest.raises(SystemExit) as done:
            main(command.split())
        assert done.value.code in (0, None), command
    return sorted(
        path for path in folder.rglob("*.html") if "models" not in path.parts or "noisy" in path.name
    )


def answered(folder: Path) -> list[Path]:
    """Answers of two models to the bundled questions; their evaluation also has a page of their battle."""
    questions = folder / "questions.json"
    with pytest.raises(SystemExit):
        main(["evaluate", "--save-questions", str(questions)])
    files = [folder / "first.json", folder / "another.json"]
    for file in files:
        rows = [{**row, "output": f"By the {file.stem}."} for row in json.loads(questions.read_text("utf-8"))]
        file.write_text(json.dumps(rows), "utf-8")
    return files


@pytest.mark.parametrize("width", [390, 1400])
def test_no_text_covers_another(pages: list[Path], width: int, tmp_path: Path) -> None:
    assert {"battle", "evaluation", "probe", "doses", "runs", "board"} <= {path.parent.name for path in pages}
    assert {"review.html", "survey.html", "compared.html"} <= {path.name for path in pages}
    faults: list[str] = []
    for number, path in enumerate(pages):
        in_browser(path, tmp_path / str(number), overlaps(width, f"{path.parent.name}/{path.name}", faults))
    assert faults == []


def test_a_planted_overlap_is_found(tmp_path: Path) -> None:
    faults: list[str] = []
    style = "position: absolute; top: 10px; left: {}px"
    texts = "".join(f'<p style="{style.format(left)}">text {left}</p>' for left in (0, 20, 300))
    (tmp_path / "x.html").write_text(f"<!doctype html><body>{texts}</body>")
    in_browser(tmp_path / "x.html", tmp_path / "browser", overlaps(390, "x", faults))
    wider = "x at 390: is wider"  # a page that does not say that it fits a phone is laid out for a screen
    assert faults == [wider, "x at 390: text 0 | text 20"]


def overlaps(width: int, name: str, faults: list[str]) -> Callable[[Page], object]:
    """Notes the texts of a page that cover each other."""

    async def act(page: Page) -> None:
        await page.resize(width)
        if await page.run("document.documentElement.scrollWidth") > width:
            faults.append(f"{name} at {width}: is wider")
        faults.extend(f"{name} at {width}: {fault}" for fault in await page.run(OVERLAPS))
        levels = await page.run(LEVELS)
        skipped = [after for before, after in pairwise([0, *levels]) if after > before + 1]
        faults.extend(
            f"{name}: a heading of level {level} follows none of the level above" for level in skipped
        )

    return act
