"""The report in a browser: nothing off-screen, no word or figure broken, short as it opens, in print too."""

from dataclasses import replace
from pathlib import Path

import pytest

import dhp
from dhp.report.page import html_report
from dhp.runs.reader import read_run
from tests.browser import Page, in_browser, needs_chromium
from tests.unsealed import unsealed

pytestmark = [pytest.mark.slow, needs_chromium]

OFF_SCREEN = """(() => {
  const end = document.documentElement.clientWidth + 1;
  const scrolls = (e) => e && (getComputedStyle(e).overflowX !== 'visible' || scrolls(e.parentElement));
  return [...document.querySelectorAll('main *')].filter((e) => {
    const box = e.getBoundingClientRect();
    return box.width && (box.right > end || box.left < -1) && !scrolls(e.parentElement);
  }).map((e) => `${e.tagName} ${e.className} ${e.textContent.slice(0, 40)}`);
})()"""
BROKEN = """[...document.querySelectorAll('main :is(td.number, th.number)')].filter((cell) => {
  const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    const range = document.createRange();
    for (const word of text.data.matchAll(/[^\\s–]+/g)) {
      range.setStart(text, word.index);
      range.setEnd(text, word.index + word[0].length);
      if (new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size > 1) return true;
    }
  }
  return false;
}).map((cell) => cell.textContent)"""
SIDES = """[...document.querySelectorAll('main .wide')].filter((e) => e.checkVisibility() &&
  e.scrollWidth > document.documentElement.clientWidth).map((e) => e.textContent.trim().slice(0, 60))"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two judges, one with a long name, on two datasets."""
    folder: Path = tmp_path_factory.mktemp("run")
    long = "mock/noisy?sensitivity=0.2&random_typos=0&noise=0.25&step=0"
    dhp.run(("baseline/surface", long), ("mini/summeval", "mini/story_cloze"), n=6, controls=True, out=folder)
    run = read_run(folder)
    named = [
        replace(r, model=f"{r.model}&{'x' * 60}") if r.model.startswith("mock") else r for r in run.results
    ]
    frame = run.ratings
    frame.loc[frame["model"].str.startswith("mock"), "model"] += f"&{'x' * 60}"
    frame.to_parquet(folder / "ratings.parquet")
    unsealed(folder)
    path = folder / "long.html"
    path.write_text(html_report(replace(read_run(folder), results=dhp.Results(named))), encoding="utf-8")
    return path


@pytest.mark.parametrize("width", [360, 390, 768, 1400])
def test_nothing_is_off_screen_and_no_figure_is_broken(page: Path, tmp_path: Path, width: int) -> None:
    async def act(found: Page) -> None:
        await found.resize(width)
        assert await found.run("document.documentElement.scrollWidth") <= width
        assert await found.run(OFF_SCREEN) == []
        await found.run("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
        await found.until("document.querySelectorAll('.pair').length > 0")
        assert await found.run("document.documentElement.scrollWidth") <= width
        assert await found.run(OFF_SCREEN) == []
        assert await found.run(BROKEN) == []

    in_browser(page, tmp_path, act)


def test_the_page_is_short_as_it_opens_and_unpacks_no_text(page: Path, tmp_path: Path) -> None:
    async def act(found: Page) -> None:
        await found.resize(1400)
        assert await found.run("document.documentElement.scrollHeight") < 4400  # with a table of results
        assert await found.run("document.querySelectorAll('.pair').length") == 0
        await found.run("document.querySelector('.matrix td a').click()")
        await found.until("document.querySelectorAll('.pair').length > 0")
        assert await found.run("document.getElementById('explorer').open")

    in_browser(page, tmp_path, act)


def test_print_cuts_no_table(page: Path, tmp_path: Path) -> None:
    async def act(found: Page) -> None:
        await found.resize(794)  # A4 at 96 dots an inch
        await found.call("Emulation.setEmulatedMedia", media="print")
        assert await found.run("document.querySelector('.matrix').checkVisibility()")
        assert not await found.run("document.getElementById('explorer').checkVisibility()")
        assert await found.run(SIDES) == []

    in_browser(page, tmp_path, act)
