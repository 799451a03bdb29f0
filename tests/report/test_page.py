"""The report of a run: every figure is there, any text is text, and it needs nothing but a browser."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest

import dhp
from dhp.analysis.result_parts import Cell, VariantResult
from dhp.analysis.results import Result
from dhp.content.damage import variant_name
from dhp.report.labels import threshold
from dhp.report.page import html_report
from dhp.runs.reader import Run, read_run
from tests.browser import Page, in_browser, needs_chromium
from tests.llm.stub import stub_server

EVIL = "</script><script>hacked = 1</script>--><img src=x onerror='hacked = 2'>&amp;$x_1$"
VOID = {"meta", "br", "img", "path", "use", "rect", "input"}


class Parsed(HTMLParser):
    """A page as its tags, headings, tables and text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.headings: list[str] = []
        self.rows: list[list[str]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert self._open == [], "every element is closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note it."""
        self.tags.append((tag, dict(attrs)))
        if tag in VOID and tag not in ("path", "use", "rect"):
            return
        self._open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th") and self.rows:
            self.rows[-1].append("")
        elif tag in ("h1", "h2", "h3"):
            self.headings.append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note it."""
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        """It ends what was begun last."""
        assert self._open.pop() == tag
        self.text += " " * (tag in ("td", "th", "dt", "dd"))

    def handle_data(self, data: str) -> None:
        """Text of the page, of a heading, of a cell."""
        if "script" in self._open or "style" in self._open:
            return
        self.text += data
        if self._open and self._open[-1] in ("h1", "h2", "h3"):
            self.headings[-1] += data
        if {"td", "th"} & set(self._open):
            self.rows[-1][-1] += data

    def row(self, *start: str) -> list[str]:
        """The one row that starts with these cells."""
        (found,) = [r for r in self.rows if r[: len(start)] == list(start)]
        return [*found]


parsed_page = cache(Parsed)


def run_of(folder: Path, *args: object, **options: object) -> Run:
    dhp.run(*args, out=folder, **options)  # type: ignore[arg-type]
    return read_run(folder)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Two judges; neither probes nor doses."""
    judges = ["mock/noisy?samples=3", "baseline/surface"]
    return run_of(tmp_path_factory.mktemp("plain"), judges, "mini/summeval", n=12, controls=False)


@pytest.fixture(scope="module")
def dosed(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """With doses, controls and attacks; one of each probe goes wrong."""
    judge = "mock/ideal?harmless=1&padding=-1&random_typos=0.4"
    options = {"n": 12, "doses": (1, 10, 50), "controls": True, "attacks": True}
    return run_of(tmp_path_factory.mktemp("dosed"), judge, "mini/summeval", **options)


@pytest.fixture(scope="module")
def single(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A task with one metric."""
    folder = tmp_path_factory.mktemp("single")
    return run_of(folder, "baseline/surface", "mini/answer_equivalence", n=8, controls=True)


RUNS = ("plain", "dosed", "single")


@pytest.fixture(scope="module")
def pages(plain: Run, dosed: Run, single: Run) -> dict[str, str]:
    runs = zip(RUNS, (plain, dosed, single), strict=True)
    return {name: (run.folder / "report.html").read_text("utf-8") for name, run in runs}


def sections(run: Run, page: str) -> list[tuple[Result, Parsed]]:
    """Each result with its section of the page."""
    parts = re.findall(r'<section class="result".*?</section>', page, flags=re.DOTALL)
    return [(result, parsed_page(part)) for result, part in zip(run.results, parts, strict=True)]


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
def test_the_page_is_self_contained_and_described(name: str, pages: dict[str, str]) -> None:
    page = pages[name]
    parsed = parsed_page(page)
    ids = [attrs["id"] for tag, attrs in parsed.tags if "id" in attrs and tag not in ("path", "clippath")]
    assert len(set(ids)) == len(ids)
    for tag, attrs in parsed.tags:
        assert tag not in ("link", "img", "iframe", "object", "base")
        assert not [a for a in attrs if a.startswith("on") or a == "src"]
        if tag == "a":
            assert (attrs["href"] or "").removeprefix("#") in ids
        if tag == "svg":
            assert attrs["role"] == "img"
            assert len(attrs["aria-label"] or "") > 40
    styles = "".join(re.findall(r"<style>.*?</style>", page, flags=re.DOTALL))
    assert "url(" not in styles
    assert "@import" not in styles


def two(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}".replace("-0.00", "0.00")


def percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.0f}%"


def chance(p: float | None) -> str:
    return "–" if p is None else f"{p:.3f}" if p >= 0.001 else f"{p:.1e}"


def all_rows(result: Result) -> Sequence[VariantResult]:
    return (*result.variants, *result.controls, *result.attacks)


def leaves(found: object) -> Iterator[float]:
    if isinstance(found, dict):
        for each in found.values():
            yield from leaves(each)
    elif isinstance(found, list | tuple):
        for each in found:
            yield from leaves(each)
    elif isinstance(found, int | float) and not isinstance(found, bool):
        yield found


@pytest.mark.parametrize("name", RUNS)
def test_every_test_and_every_variant_has_its_row(
    name: str, pages: dict[str, str], request: pytest.FixtureRequest
) -> None:
    for result, parsed in sections(request.getfixturevalue(name), pages[name]):
        for row in all_rows(result):
            summary = parsed.row(variant_name(row.variant), row.method or "–")[2:]
            assert summary == [
                two(row.d), chance(row.p), chance(row.p_holm), chance(row.p_by), two(row.d_ew),
                chance(row.p_ew), two(row.effect_ew), str(row.not_applicable),
            ]  # fmt: skip
            for metric, cell in row.metrics.items():
                assert parsed.row(variant_name(row.variant), metric)[2:] == shown(cell)
            effects = [two(cell.effect) for cell in row.metrics.values()]
            assert [
                r
                for r in parsed.rows
                if r[1 : 1 + len(effects)] == effects and r[0] == variant_name(row.variant)
            ]
        for row in result.variants:
            line = parsed.row(row.level, variant_name(row.variant))
            assert line[2] == percent(row.detection)
            assert line[4] == two(row.d)
            assert line[-1] == percent(row.misplaced)
            assert two(row.effect) in line
            assert row.verdict in line


def shown(cell: Cell) -> list[str]:
    return [
        chance(cell.p), two(cell.effect), two(cell.mean_drop), percent(cell.fell), percent(cell.tied),
        percent(cell.rose), str(cell.n), str(cell.n_nonzero), str(cell.missing), percent(cell.weight),
        percent(cell.share), percent(cell.share_ew),
    ]  # fmt: skip


@pytest.mark.parametrize("name", RUNS)
def test_every_figure_of_the_results_is_there(
    name: str, pages: dict[str, str], request: pytest.FixtureRequest
) -> None:
    for result, parsed in sections(request.getfixturevalue(name), pages[name]):
        words = set(re.findall(r"-?[\d.,]+(?:e[+-]\d+)?%?", parsed.text))
        words |= {word.rstrip(".,") for word in words}
        found = result.to_dict()
        for style in found["styles"].values():
            for side in ("originals", "degraded"):
                del style[side]["histogram"]  # these are drawn
        for curve in found["curves"]:
            for line in curve["lines"].values():
                del line["threshold"], line["low"], line["high"]  # see below
        for part in ("styles", "halo", "repeats", "curves", "usage"):
            for value in leaves(found[part]):
                assert words & {two(value), percent(value), f"{value:,.0f}"}, (part, value)
        assert f"{result.ratings['scored']:,}" in words
        for curve in result.curves:
            for metric, line in curve.lines.items():
                assert [metric, *map(two, line.d), threshold(curve, line)] in parsed.rows
        if not result.curves:
            for key in ("d_avg", "d_min", "effect_avg"):
                value, weighted = getattr(result, key), getattr(result, f"{key}_ew")
                line = parsed.row("D" + key[1:] if key[0] == "d" else key, two(value))
                at_100 = [result.at_100.get(name) for name in (key, f"{key}_ew")]
                if result.at_100.get("d_avg") is not None:
                    expected = ["", ""] if key != "d_avg" else [two(value) for value in at_100]
                    assert [line.pop(4), line.pop(2)] == expected[::-1]
                assert line[2] == two(weighted)


def test_no_section_for_what_was_not_run(pages: dict[str, str]) -> None:
    parsed = {name: parsed_page(page) for name, page in pages.items()}
    for name, there, not_there in (
        ("plain", "Halo", "Controls and attacks"),
        ("plain", "Single scores and sample consistency", "Dose-response"),
        ("plain", "Where the drop fell, and where the weights expect it", "Prompts"),
        ("dosed", "Controls and attacks", "D by kind of damage"),
        ("dosed", "Dose-response", "Single scores and sample consistency"),
        ("single", "Controls and attacks", "Halo"),
        ("single", "Response style", "Where the drop fell, and where the weights expect it"),
    ):
        assert there in parsed[name].headings
        assert not_there not in parsed[name].headings
    assert "D_avg" not in parsed["dosed"].text, "an average over doses would mean nothing"


def test_several_results_have_an_overview_with_links(plain: Run, pages: dict[str, str]) -> None:
    page = pages["plain"]
    second = plain.results[1]
    assert 'href="#result-1"' in page
    assert 'id="result-2"' in page
    line = parsed_page(page).row(second.dataset, second.model)
    seen = sum(row.verdict == "noticed" for row in second.variants)
    found = second.detection
    assert found is not None
    assert line[2] == "12"
    assert line[3].startswith(f"{seen} of 12")
    assert line[4] == percent(found.avg)
    assert line[6:8] == [two(second.d_avg), two(second.d_min)]
    assert 'href="#result-1"' not in pages["single"]


def test_the_reading_names_what_is_missed(plain: Run, pages: dict[str, str]) -> None:
    first = plain.results[1]
    missed = next(row for row in first.variants if row.verdict == "undecided")
    text = " ".join(parsed_page(pages["plain"]).text.split())
    assert f"({percent(missed.detection)})" in text
    changed = replace(
        first,
        d_avg=5.0,
        d_avg_ew=3.0,
        d_min_variant="wrong_ending",
        variants=tuple(replace(r, verdict="missed") if r is missed else r for r in first.variants),
    )
    text = " ".join(Parsed(html_report(replace(plain, results=dhp.Results([changed])))).text.split())
    assert f"; misses {variant_name(missed.variant)}" in text
    assert "the blind spot is wrong endings" in text
    assert "confuses what kind" in text
    assert "confuses what kind" not in parsed_page(pages["plain"]).text


def test_what_is_undefined_is_no_zero(plain: Run) -> None:
    first = plain.results[1]
    gone = replace(first.variants[0], d=None, d_ew=None, p=None, p_ew=None, detection=None)
    page = html_report(
        replace(plain, results=dhp.Results([replace(first, variants=(gone, *first.variants[1:]))]))
    )
    assert re.search(r"<text[^>]*> undefined</text>", page)
    line = Parsed(page).row(gone.level, variant_name(gone.variant))
    assert (line[2], line[4], line[5]) == ("–", "–", "–")


def test_equal_weights_need_no_second_bar(single: Run, pages: dict[str, str]) -> None:
    assert all(row.d == row.d_ew for row in single.results[0].variants)
    assert "Bars of D for each" in pages["single"]
    assert "Bars of D and of D_EW for each" in pages["plain"]


@pytest.mark.slow
def test_prompts_usage_and_cost_of_a_language_model(tmp_path: Path) -> None:
    prices = dhp.Prices(prompt=1.0, completion=2.0)
    with stub_server() as url:
        settings = dhp.ModelSettings(base_url=url, cache=tmp_path / "cache", prices=prices)
        run = run_of(tmp_path / "run", "openai/stub", "mini/summeval", n=3, settings=settings)
    parsed = Parsed(html_report(run))
    assert "Prompts" in parsed.headings
    prompts = run.prompts
    assert len(prompts) == 4
    for each in prompts:
        assert each["prompt"] in parsed.text
    (result,) = run.results
    assert result.cost is not None
    words = parsed.text.split()
    assert f"{result.cost:,.4f}" in words
    for name in ("calls", "prompt_tokens", "completion_tokens"):
        assert f"{result.usage[name]:,}" in words
    assert json.dumps(run.manifest, indent=1) in parsed.text


class Wicked:
    """Its name and its reasons are markup."""

    model, protocol = f"own/{EVIL}", EVIL

    def rate(self, candidates: Sequence[object], task: object) -> Iterator[dhp.Rating]:
        """Score by length."""
        for c in candidates:
            for metric in task.metrics:  # type: ignore[attr-defined]
                score = len(c.text) % 5 + 1  # type: ignore[attr-defined]
                yield dhp.Rating(c.example, c.variant, metric.name, 0, score)  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def wicked(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Markup wherever a text of others can stand."""
    folder = tmp_path_factory.mktemp("wicked")
    texts = [
        {"id": f"{i}{EVIL}", "source": EVIL, "output": f"A cat sat down. {EVIL} The dog of Ann ran off {i}."}
        for i in range(6)
    ]
    data = folder / "data.jsonl"
    data.write_text("\n".join(map(json.dumps, texts)))
    options = {"task": "summarization", "suite": "summeval"}
    made = run_of(folder / "run", Wicked(), str(data), **options)
    prompt = dict.fromkeys(("model", "protocol", "dataset", "example", "metric", "answer", "prompt"), EVIL)
    (made.folder / "prompts.json").write_text(json.dumps([prompt]))
    first = made.results[0]
    result = replace(
        first,
        signature=EVIL,
        statistics=EVIL,
        weights=EVIL,
        d_min_variant=EVIL,
        left_out=(EVIL,),
        warnings=(EVIL,),
        failures={EVIL: 1},
        rules={EVIL: 1},
        usage={EVIL: 1},
        variants=(replace(first.variants[0], variant=EVIL, level=EVIL), *first.variants[1:]),
        attacks=(replace(first.variants[1], variant=EVIL, level="attack"),),
        styles={EVIL: first.styles["fluency"]},
    )
    return replace(made, results=dhp.Results([result, result]))


@pytest.mark.slow
def test_markup_stays_text(wicked: Run, pages: dict[str, str]) -> None:
    page = html_report(wicked)
    parsed = Parsed(page)
    assert parsed.text.count(EVIL) > 20
    harmless = [tag for name in RUNS for tag, _ in parsed_page(pages[name]).tags]
    found = [tag for tag, _ in parsed.tags]
    assert set(found) <= {*harmless, "br"}
    assert found.count("script") * len(RUNS) == harmless.count("script")


@pytest.mark.slow
@needs_chromium
def test_it_opens_without_faults_and_runs_no_text(wicked: Run, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(html_report(wicked), encoding="utf-8")

    async def look(page: Page) -> None:
        assert await page.run("typeof hacked") == "undefined"
        assert await page.run("document.images.length") == 0

    in_browser(path, tmp_path / "browser", look)


@pytest.mark.slow
@needs_chromium
def test_tables_sort_by_keyboard_and_nothing_is_cut_off(pages: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(pages["plain"], encoding="utf-8")
    table = "document.querySelector('table:has(tfoot)')"
    column = f"[...({table}).tBodies[0].rows].map(row => row.cells[2].dataset.value)"

    async def act(page: Page) -> None:
        before = await page.run(column)
        await page.run(f"({table}).tHead.rows[0].cells[2].querySelector('button').focus()")
        await page.press("Enter", "Enter", 13, "\r")
        down = await page.run(column)
        assert down == sorted(before, key=float, reverse=True)
        await page.press(" ", "Space", 32, " ")
        assert await page.run(column) == sorted(before, key=float)
        assert await page.run(f"({table}).tFoot.innerText.includes('D_avg')")
        for width in (320, 390, 1200):
            size = {"width": width, "height": 700, "deviceScaleFactor": 1, "mobile": width < 500}
            await page.call("Emulation.setDeviceMetricsOverride", **size)
            assert await page.run("document.documentElement.scrollWidth") <= width

    in_browser(path, tmp_path / "browser", act)


@pytest.mark.slow
@needs_chromium
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_stands_out_in_either_theme(pages: dict[str, str], tmp_path: Path, theme: str) -> None:
    path = tmp_path / "report.html"
    path.write_text(pages["dosed"], encoding="utf-8")
    contrasts = """(() => {
      const context = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
      const shown = (colour) => {
        context.clearRect(0, 0, 1, 1);
        context.fillStyle = colour;
        context.fillRect(0, 0, 1, 1);
        return [...context.getImageData(0, 0, 1, 1).data];
      };
      const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
        .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
        .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
      const behind = (e) => {
        for (; e; e = e.parentElement) {
          const colour = shown(getComputedStyle(e).backgroundColor);
          if (colour[3] === 255) return colour;
        }
      };
      return [...document.querySelectorAll("main :is(td, th, p, li, h1, h2, h3, dt, dd, svg text)")]
        .filter((e) => e.textContent.trim())
        .map((e) => {
          const style = getComputedStyle(e);
          const [a, b] = [shown(e instanceof SVGElement ? style.fill : style.color), behind(e)].map(light);
          return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        });
    })()"""

    async def look(page: Page) -> None:
        features = [{"name": "prefers-color-scheme", "value": theme}]
        await page.call("Emulation.setEmulatedMedia", features=features)
        found = await page.run(contrasts)
        assert len(found) > 300
        assert min(found) >= 4.5

    in_browser(path, tmp_path / "browser", look)
