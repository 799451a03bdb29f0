"""The page of a comparison: verdicts side by side, and the texts whose verdict changed."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest

from dhp import run
from dhp.content.catalog import variant_name
from dhp.report.compared_page import compared_page
from dhp.runs.alike import rated_by_dataset
from dhp.runs.changed_pairs import changed_kinds
from dhp.runs.compare import compare_rated
from dhp.runs.reader import read_run
from tests.browser import Page, in_browser, needs_chromium
from tests.cli.conftest import Run, dhp
from tests.quick import undrawn_charts

__all__ = ["dhp", "undrawn_charts"]

EVIL = "<script>hacked=1</script>"
NAMES = ("before", "a & <b>'c'")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A judge that notices all and one that guesses; markup is in all degraded texts."""
    made = [tmp_path_factory.mktemp("runs") / name for name in NAMES]
    for folder, judge in zip(made, ("mock/ideal", "mock/noisy"), strict=True):
        run(judge, ("mini/summeval", "mini/story_cloze"), n=12, out=folder, progress=False)
        path = folder / "perturbed.jsonl"
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        for row in rows:
            row["text"] = row["text"] and EVIL + row["text"]
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    return made


@pytest.fixture(scope="module")
def page(folders: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("page") / "compared.html"
    rated = rated_by_dataset(map(read_run, folders))
    found = compare_rated(rated, resamples=200, quantities=("detection",))
    path.write_text(compared_page(rated, found, [read_run(folder) for folder in folders]), "utf-8")
    return path


def fell(folder: Path) -> pd.Series:
    """(dataset, example, variant) -> whether the mean score over the metrics fell, by the file of ratings."""
    scores = pd.read_parquet(folder / "ratings.parquet").pivot_table(
        index=["dataset", "example"], columns="variant", values="score", aggfunc="mean"
    )
    degraded = scores.drop(columns="original")
    return degraded.lt(scores["original"], axis=0).where(degraded.notna()).stack().dropna()


class Listed(HTMLParser):
    """(dataset, kind of damage) -> the texts listed as newly and as no longer noticed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: dict[tuple[str, str], dict[str, set[str]]] = {}
        self._tag = self._dataset = self._kind = self._way = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note it."""
        self._tag = tag

    def handle_endtag(self, tag: str) -> None:
        """What follows the way in which a text changed is its name."""
        self._tag = "name" if (tag, self._way != "") == ("b", True) else ""

    def handle_data(self, data: str) -> None:
        """Headings say where, items what."""
        if self._tag == "h2":
            self._dataset = data
        elif self._tag == "h3":
            self._kind = data.partition(":")[0]
        elif self._tag == "b" and data.endswith("noticed"):
            self._way = data
        elif self._tag == "name" and self._way:
            ways = self.found.setdefault((self._dataset, self._kind), {})
            ways.setdefault(self._way, set()).add(data.strip(",: \n"))
            self._way = ""


@pytest.mark.slow
def test_the_texts_whose_verdict_changed_are_those_of_the_ratings(folders: list[Path], page: Path) -> None:
    one, other = map(fell, folders)
    expected: dict[tuple[str, str], dict[str, set[str]]] = {}
    for (dataset, example, variant), now in other.items():
        if now != one[dataset, example, variant]:
            ways = expected.setdefault((dataset, variant_name(variant)), {})
            ways.setdefault("newly noticed" if now else "no longer noticed", set()).add(example)
    assert Listed(page.read_text("utf-8")).found == expected
    assert {way for ways in expected.values() for way in ways} == {"newly noticed", "no longer noticed"}


@pytest.mark.slow
def test_a_judge_against_itself_changes_no_text(folders: list[Path]) -> None:
    (same, *_) = rated_by_dataset(map(read_run, folders[1:])).values()
    assert all(not kind.pairs and kind.n == 12 for kind in changed_kinds(same[0], same[0]).values())


@pytest.mark.slow
def test_markup_in_texts_and_names_stays_text(page: Path) -> None:
    text = page.read_text("utf-8")
    assert "<script>hacked" not in text
    assert "&lt;script&gt;hacked" in text
    assert "<b>'c'" not in text


@pytest.mark.slow
def test_more_judges_have_verdicts_and_no_texts(folders: list[Path], tmp_path: Path) -> None:
    run("mock/blind", "mini/story_cloze", n=12, out=tmp_path / "blind", progress=False)
    rated = {
        "mini/story_cloze": rated_by_dataset(map(read_run, [*folders, tmp_path / "blind"]))[
            "mini/story_cloze"
        ]
    }
    text = compared_page(rated, compare_rated(rated, resamples=200, quantities=("detection",)))
    assert "Texts whose verdict changed" not in text
    heads = re.findall(r'<th scope="col">(.*?)<br>', text)
    assert [head.replace("<wbr>", "") for head in heads] == ["mock/ideal", "mock/noisy", "mock/blind"]


@pytest.mark.slow
def test_the_command_writes_the_page(dhp: Run, folders: list[Path]) -> None:
    done = dhp("compare", *map(str, folders), "--resamples", "50", "--html", "new/compared.html")
    assert done.code == 0, done.err
    assert done.out.endswith("page  new/compared.html\n")
    assert "Texts whose verdict changed" in Path("new/compared.html").read_text("utf-8")


@pytest.mark.slow
@needs_chromium
def test_a_number_of_texts_leads_to_them(page: Path, tmp_path: Path) -> None:
    async def act(found: Page) -> None:
        link = "document.querySelector('.matrix td a')"
        target = f"document.getElementById(decodeURIComponent({link}.hash.slice(1)))"
        assert not await found.run(f"{target}.checkVisibility()")
        await found.run(f"{link}.click()")
        await found.until(f"{target}.checkVisibility()")
        count = int(await found.run(f"{link}.textContent"))
        assert count == await found.run(f"{target}.nextElementSibling.querySelectorAll('li').length")
        assert await found.run("typeof hacked") == "undefined"
        for width in (390, 1400):
            await found.resize(width)
            assert await found.run("document.documentElement.scrollWidth") <= width

    in_browser(page, tmp_path, act)
