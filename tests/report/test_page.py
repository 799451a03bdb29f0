"""The report of a run: every figure is there, any text is text, and it needs nothing but a browser."""

import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

import dhp
from dhp.analysis.results import Cell, Result, VariantResult
from dhp.content.catalog import variant_name
from dhp.core.verdicts import verdict_of
from dhp.report.charts import discernment_charts
from dhp.report.columns import METRICS, kind_columns
from dhp.report.findings import sentences
from dhp.report.page import html_report
from dhp.runs.reader import Run, read_run
from tests.browser import Page, in_browser, needs_chromium
from tests.llm.stub import stub_server
from tests.parsed import Parsed
from tests.quick import undrawn
from tests.wicked import EVIL, wicked_run

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
    parts = re.findall(r'<article class="result".*?</article>', page, flags=re.DOTALL)
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
            assert (attrs["href"] or "").partition("?")[0].removeprefix("#") in ids
        if tag == "svg":
            assert attrs["role"] == "img"
            assert len(attrs["aria-label"] or "") > 40
    styles = "".join(re.findall(r"<style>.*?</style>", page, flags=re.DOTALL))
    assert "url(" not in styles
    assert "@import" not in styles


def two(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}".replace("-0.00", "0.00")


def whole(value: float) -> str:
    """Whole per cent, a decimal near 50 and 60, where verdicts part; what is below is not rounded up."""
    near = next((n for n in (50, 60) if 0.05 <= abs(100 * value - n) < 0.5), None)
    just_below = next((n for n in (50, 60) if 1e-9 < n - 100 * value < 0.05), None)
    return f"{100 * value:.1f}" if near else f"{just_below - 0.1}" if just_below else f"{100 * value:z.0f}"


def percent(value: float | None) -> str:
    return "–" if value is None else f"{whole(value)}%"


def ends(value: tuple[float, float] | None) -> str:
    return "–" if value is None else f"{whole(value[0])}–{whole(value[1])}"


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
def test_every_kind_and_every_metric_has_its_row(
    name: str, pages: dict[str, str], request: pytest.FixtureRequest
) -> None:
    for result, parsed in sections(request.getfixturevalue(name), pages[name]):
        for row in all_rows(result):
            shown = parsed.row(row.level, variant_name(row.variant))[2:]
            expected = {
                "detection": f"{percent(row.detection)} {ends(row.detection_ci)}",
                "verdict": row.state.signed, "best metric": row.best_metric, "pairs": str(row.n),
                "not applicable": str(row.not_applicable), "to decide": row.needed, "D": two(row.d),
                "at least": "–" if row.at_least is None else f"{math.floor(100 * row.at_least)}%",
                "any text": percent(row.best.auroc if row.best else None),
                "p": chance(row.p), "D_EW": two(row.d_ew), "misplaced": percent(row.misplaced),
                "method": row.method or "–", "name in files": row.variant,
            }  # fmt: skip
            columns = [column.heading for column in kind_columns(all_rows(result), details=2)]
            check(shown, columns, expected)
            for metric, cell in row.metrics.items():
                check(parsed.row(variant_name(row.variant), metric)[2:], CELL_COLUMNS, figures(cell))


CELL_COLUMNS = [column.heading for column in METRICS]


def check(shown: list[str], columns: list[str], expected: dict[str, str | None]) -> None:
    """The cells below the columns that are expected, of which some may be left out as they are empty."""
    by_column = dict(zip(columns, shown, strict=True))
    known = [column for column in columns if column in expected]
    assert len(known) >= 5
    assert {column: by_column[column] for column in known} == {column: expected[column] for column in known}


def figures(cell: Cell) -> dict[str, str | None]:
    return {
        "detection": f"{percent(cell.detection)} {ends(cell.detection_ci)}", "fell": percent(cell.fell),
        "tied": percent(cell.tied), "rose": percent(cell.rose), "mean drop": two(cell.mean_drop),
        "in sd": two(cell.standardised_drop), "AUROC": two(cell.auroc), "p": chance(cell.p),
        "pairs": str(cell.n), "missing": str(cell.missing), "weight": percent(cell.weight),
    }  # fmt: skip


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
                del style[side]["histogram"]  # only the file has these
        for curve in found["curves"]:
            del curve["t75"], curve["doses"], curve["detection"]  # these are drawn
        for part in ("styles", "halo", "repeats", "curves", "usage"):
            for value in leaves(found[part]):
                assert words & {two(value), percent(value), f"{value:,.0f}"}, (part, value)
        assert f"{result.ratings['scored']:,}" in words
        if not result.curves:
            # A page of several results has these in the table above them.
            averages = {two(result.d_avg), two(result.d_min), two(result.d_avg_ew), two(result.d_min_ew)}
            assert averages <= words | set(parsed_page(pages[name]).text.split())


def test_no_part_for_what_was_not_run(pages: dict[str, str]) -> None:
    parsed = {name: parsed_page(page) for name, page in pages.items()}
    for name, there, not_there in (
        ("plain", "Halo", "T75"),
        ("plain", "Single scores and sample consistency", "The prompts"),
        ("dosed", "T75", "Single scores and sample consistency"),
        ("single", "foreign answers", "Halo"),
    ):
        assert there in parsed[name].text
        assert not_there not in parsed[name].text
    assert "D_avg" not in parsed["dosed"].text, "an average over doses would mean nothing"
    assert "harmless edits" not in parsed["plain"].text


def test_sentence_and_matrix_come_first_and_signatures_last(plain: Run, pages: dict[str, str]) -> None:
    text = " ".join(parsed_page(pages["plain"]).text.split())
    order = [
        *(str(sentence) for sentence in sentences(plain.results)),
        "Detection is how often",
        "D_avg D_min noticed detection",
        "What to do next",
        "Not scored lower",
        "Set by set",
        plain.results[0].signature,
        "Every pair of texts",
    ]
    places = [text.index(said) for said in order]
    assert places == sorted(places)


def test_the_matrix_has_a_cell_for_each_kind_and_result(plain: Run, pages: dict[str, str]) -> None:
    (table,) = re.findall(r'<table class="matrix">.*?</table>', pages["plain"], flags=re.DOTALL)
    parsed = Parsed(table)
    for place, row in enumerate(plain.results[0].variants):
        expected = [r.variants[place] for r in plain.results]
        shown = [" ".join(cell.split()) for cell in parsed.row(variant_name(row.variant))[1:]]
        assert shown == [
            f"{v.state.sign} {percent(v.detection)} {v.verdict} {ends(v.detection_ci)}" for v in expected
        ]
    classes = [attrs["class"] for tag, attrs in parsed.tags if tag == "td" and "class" in attrs]
    verdicts = [str(r.variants[place].verdict) for place in range(12) for r in plain.results]
    assert sorted(classes, key=str) == sorted(f"v {verdict.replace(' ', '-')}" for verdict in verdicts)


def test_one_result_needs_no_matrix(single: Run, pages: dict[str, str]) -> None:
    assert "matrix" not in re.findall(r'class="([a-z ]+)"', pages["single"])
    (table,) = re.findall(r'<table class="drawn">.*?</table>', pages["single"], flags=re.DOTALL)
    found = single.results[0]
    shown = [line[0] for line in Parsed(table).rows[1:]]
    assert shown == [variant_name(row.variant) for row in (*found.damage, *found.probes)]


@pytest.mark.slow
def test_the_chart_begins_below_the_lowest_limit_and_ends_at_100_percent(single: Run) -> None:
    first = single.results[0]
    drawn = ((0.75, (0.7, 0.85), "noticed"), (0.4, (0.2, 0.49), "preferred"), (None, None, "undecided"))
    rows = tuple(
        replace(row, detection=value, detection_ci=ends, verdict=verdict_of(verdict))
        for row, (value, ends, verdict) in zip(first.variants, drawn, strict=False)
    )
    changed = replace(first, variants=rows, controls=())
    page = html_report(replace(single, results=dhp.Results([changed])))
    (table,) = re.findall(r'<table class="drawn">.*?</table>', page, flags=re.DOTALL)
    lines = re.findall(r'<tr class="t ([a-z-]+)">.*?<td class="track"[^>]*>(.*?)</td>', table, re.DOTALL)
    at = {verdict: [float(x) for x in re.findall(r"--\w+: ([\d.]+)", marks)] for verdict, marks in lines}
    assert at["noticed"] == pytest.approx([0.5 / 0.8, 0.65 / 0.8, 0.55 / 0.8], abs=1e-4), "0 is at 20 %"
    assert at["preferred"] == pytest.approx([0, 0.29 / 0.8, 0.2 / 0.8], abs=1e-4)
    assert at["undecided"] == []


@pytest.mark.slow
def test_what_is_undefined_is_no_zero(single: Run) -> None:
    first = single.results[0]
    gone = replace(first.variants[0], d=None, d_ew=None, p=None, detection=None, detection_ci=None)
    page = html_report(
        replace(single, results=dhp.Results([replace(first, variants=(gone, *first.variants[1:]))]))
    )
    line = Parsed(page).row(gone.level, variant_name(gone.variant))
    columns = kind_columns((*first.damage, *first.probes), details=2)
    cells = dict(zip([column.heading for column in columns], line[2:], strict=True))
    assert [cells[name] for name in ("detection", "D", "p")] == ["–", "–", "–"]


@pytest.mark.slow
def test_prompts_usage_and_cost_of_a_language_model(tmp_path: Path) -> None:
    prices = dhp.Prices(prompt=1.0, completion=2.0)
    with stub_server() as url:
        settings = dhp.ModelSettings(base_url=url, cache=tmp_path / "cache", prices=prices)
        run = run_of(tmp_path / "run", "openai/stub", "mini/summeval", n=3, settings=settings)
    parsed = Parsed(html_report(run))
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


@pytest.fixture(scope="module")
def wicked(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Markup wherever a text of others can stand."""
    folder = tmp_path_factory.mktemp("wicked")
    made = read_run(wicked_run(folder))
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
    assert set(found) <= {*harmless, "br", "tfoot"}
    assert found.count("script") * len(RUNS) == harmless.count("script")


@pytest.mark.slow
@needs_chromium
def test_tables_sort_by_keyboard_and_nothing_is_cut_off(pages: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(pages["plain"], encoding="utf-8")
    table = "document.querySelector('.all table[data-sortable]')"
    column = f"[...({table}).tBodies[0].rows].map(row => row.cells[2].dataset.value)"

    async def act(page: Page) -> None:
        await page.run("document.querySelectorAll('.all').forEach((fold) => { fold.open = true; })")
        before = await page.run(column)
        await page.run(f"({table}).tHead.rows[0].cells[2].querySelector('button').focus()")
        await page.press("Enter", "Enter", 13, "\r")
        down = await page.run(column)
        assert down == sorted(before, key=float, reverse=True)
        await page.press(" ", "Space", 32, " ")
        assert await page.run(column) == sorted(before, key=float)
        for width in (320, 390, 1200):
            await page.resize(width)
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
        await page.run("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
        found = await page.run(contrasts)
        assert len(found) > 300
        assert min(found) >= 4.5

    in_browser(path, tmp_path / "browser", look)


def test_bars_of_d_have_a_line_at_1_and_name_every_figure(plain: Run, pages: dict[str, str]) -> None:
    pictures = re.findall(r'aria-label="(Bars of D on [^"]*)"', pages["plain"])
    assert len(pictures) == len({r.dataset for r in plain.results})
    for result in plain.results:
        (said,) = [each for each in pictures if f"on {result.dataset}," in each]
        assert "1 is p = 0.05" in said
        for row in result.variants:
            assert f"{result.judge} {two(row.d)}" in said.partition(f"{variant_name(row.variant)}: ")[2]


def test_many_judges_have_bars_for_the_averages_alone(single: Run) -> None:
    first = single.results[0]
    many = [replace(first, model=f"own/judge{number}") for number in range(7)]
    (picture,) = discernment_charts(many)
    assert "D_min: own/judge0" in picture
    assert variant_name(first.variants[0].variant) not in picture


@pytest.mark.slow
def test_several_judges_on_many_sets_have_a_folded_matrix_for_each_set(tmp_path: Path) -> None:
    with undrawn():
        results = dhp.run(["mock/ideal", "mock/blind"], "mini", n=2, out=tmp_path / "run")
    text = (tmp_path / "run" / "report.html").read_text("utf-8")
    folded = re.findall(r"<details[^>]*><summary>[^<]*<small>noticed: ([^<]*)</small>", text)
    assert len(folded) == 6
    counts = {(r.dataset, r.model): r.noticed_of for r in results}
    ideal, blind = (counts["mini/summeval", model] for model in ("mock/ideal", "mock/blind"))
    assert f"mock/ideal {ideal}, mock/blind {blind}" in folded
