"""The site: figures as in the results, filters, sorting, two judges side by side, names that are markup."""

import copy
import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pandas as pd
import pytest

from dhp.analysis.percent import whole_percent
from dhp.analysis.results import results_schema
from dhp.content.catalog import variant_name
from dhp.core.errors import InputError
from dhp.leaderboard.paper import as_latex
from dhp.leaderboard.reading import read_entries
from dhp.leaderboard.rows import SECONDS
from dhp.leaderboard.site import costs, dataset_file, sizes, write_site
from dhp.leaderboard.tables import as_csv, as_json, as_markdown, make_tables
from dhp.report.columns import D_AVG, D_MIN, DIFFERENCE
from tests.browser import Page, in_browser, needs_chromium
from tests.parsed import Parsed
from tests.quick import undrawn

from .conftest import MODELS, known, signed

CHART = {"wbr", "svg", "g", "defs", "path", "use", "text", "clippath", "rect"}
EVIL = "</script><script>hacked=1</script>/../../<img src=x onerror=hacked=2>|&_$%\\x{} 7B"


@pytest.fixture(scope="module", autouse=True)
def undrawn_charts() -> None:
    """Here charts are drawn."""


def document(path: Path) -> Parsed:
    return Parsed(path.read_text("utf-8"))


@pytest.fixture(scope="module")
def site(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of the three runs."""
    out = tmp_path_factory.mktemp("out") / "site"
    write_site(make_tables(read_entries([runs / name for name in MODELS])), out)
    return out


@pytest.mark.slow
def test_json_and_csv_hold_the_very_figures(runs: Path, site: Path) -> None:
    results = known(runs)
    tables = json.loads((site / "leaderboard.json").read_text())["tables"]
    seen = {}
    for table in tables:
        for row in table["rows"]:
            seen[row["model"], table["dataset"].partition("@")[0]] = row
    with (site / "leaderboard.csv").open(encoding="utf-8", newline="") as file:
        lines = {(r["model"], r["dataset"].partition("@")[0]): r for r in csv.DictReader(file)}
    assert seen.keys() == lines.keys() == results.keys()
    for key, result in results.items():
        for name in ("d_avg", "d_min", "d_avg_ew", "d_min_ew"):
            assert seen[key][name] == float(lines[key][name]) == result[name]
        for name, part in (("detection", "avg"), ("lowest_detection", "min")):
            ends = result["detection"]["ci"][part]
            assert seen[key][name] == float(lines[key][name]) == result["detection"][part]
            assert seen[key][f"{name}_ci"] == ends
            assert [float(lines[key][f"{name}_{end}"]) for end in ("low", "high")] == ends
        assert seen[key]["signature"] == lines[key]["signature"] == result["signature"]
        assert int(lines[key]["rank"]) == seen[key]["rank"]


@pytest.mark.slow
def test_printed_tables_hold_the_figures_in_per_cent(runs: Path, site: Path) -> None:
    markdown = re.sub(" +", " ", (site / "leaderboard.md").read_text())
    page = [row for row in document(site / "index.html").rows if len(row) > 7]
    for (model, _), r in known(runs).items():
        found = r["detection"]
        value, low, high = (100 * each for each in (found["avg"], *found["ci"]["avg"]))
        (harmless,) = [c for c in r["controls"] if c["variant"] == "harmless"]
        seen = sum(v["verdict"] == "noticed" for v in r["variants"])
        state = harmless["verdict"]
        if state not in ("still", "not tested"):
            state += f" {100 * harmless['detection']:.0f}%"
        lowest = f"{100 * found['min']:.0f}% {variant_name(found['min_variant'])}"
        interval = f"{value:.0f}% {low:.0f}–{high:.0f}"
        printed = [f"{r[name]:.2f}" for name in ("d_avg", "d_min")]
        printed += [f"{seen} of {len(r['variants'])}", interval, state, lowest]
        assert " | ".join(printed) in markdown
        assert any(row[1] == model and row[2:8] == printed for row in page)


@pytest.mark.slow
def test_every_link_leads_somewhere_and_nothing_is_loaded(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) == 2 + len(MODELS) + 2
    for path in pages:
        page = document(path)
        assert {"link", "img", "iframe"}.isdisjoint(page.elements)
        for link in page.links:
            target = (path.parent / link.partition("#")[0]).resolve()
            assert link.startswith("#") or target.is_file(), (path, link)
        assert "://" not in re.sub(r'xmlns\S*="http[^"]*"', "", path.read_text("utf-8"))


def test_the_page_of_a_dataset_holds_how_far_judges_agree_with_each_other(runs: Path, site: Path) -> None:
    """Pearson's rho over the originals, each score the mean over the metrics, from the files of ratings."""
    scores = {}
    for name in ("good", "noisy"):
        rows = pd.read_parquet(runs / name / "ratings.parquet")
        rows = rows[(rows.dataset == "mini/summeval") & (rows.variant == "original")]
        scores[name] = rows.groupby("example").score.mean()
    rho = np.corrcoef(scores["good"], scores["noisy"])[0, 1]
    parsed = Parsed((site / dataset_file("mini/summeval")).read_text("utf-8"))
    pair = {"mock/ideal, mock/noisy", "mock/noisy, mock/ideal"}
    (row,) = (row for row in parsed.rows if row[0] in pair)
    assert row[1] == f"{rho:.2f}"


@pytest.mark.slow
def test_the_schema_is_in_the_site(site: Path, runs: Path) -> None:
    schema = json.loads((site / "schema.json").read_text())
    assert schema == json.loads(json.dumps(results_schema()))
    jsonschema.validate(json.loads((runs / "good" / "results.json").read_text()), schema)


@pytest.mark.slow
def test_the_page_says_by_what_rule_ranks_were_found(site: Path, runs: Path, tmp_path: Path) -> None:
    assert "paired comparison of all judges" in (site / "index.html").read_text("utf-8")
    files = [runs / name / "results.json" for name in MODELS]
    write_site(make_tables(read_entries(files)), tmp_path / "site")
    text = (tmp_path / "site" / "index.html").read_text("utf-8")
    assert "95 % interval of detection lies wholly above" in text
    assert "share a group letter" not in text


@pytest.mark.slow
def test_a_site_takes_the_place_of_an_earlier_one_only(site: Path, runs: Path, tmp_path: Path) -> None:
    tables = make_tables(read_entries([runs / "good"]))
    out = tmp_path / "site"
    with undrawn():
        write_site(make_tables(read_entries([runs / "good", runs / "blind"])), out)
        write_site(tables, out)
    assert len(list((out / "models").iterdir())) == 1
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    for place, message in ((tmp_path / "mine", "holds other files"), (tmp_path / "file", "is a file")):
        with pytest.raises(InputError, match=message):
            write_site(tables, place)
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["notes.txt"]


@pytest.mark.slow
def test_markup_in_names_stays_text(edited: Callable[..., Path], tmp_path: Path) -> None:
    def change(result: dict[str, Any], name: str) -> None:
        result.update(model=name, dataset=name, protocol=name, warnings=[name])
        signed(result, "dataset", f"{name}@0")
        signed(result, "protocol", name)

    evil = EVIL.replace("|", "!")  # parts the signature
    made = {}
    for name in (evil, "harmless 7B"):
        out = tmp_path / ("evil" if name == evil else "good")
        tables = make_tables(read_entries([edited("some.json", lambda r, name=name: change(r, name))]))
        write_site(tables, out)
        assert sorted(p.name for p in out.parent.iterdir() if p.is_dir()) == sorted({out.name, *made})
        texts = {
            p.name if p.parent == out else p.parent.name: document(p).elements for p in out.rglob("*.html")
        }
        made[out.name] = {k: [t for t in tags if t not in CHART] for k, tags in texts.items()}
    assert made["evil"] == made["good"]
    (file,) = (tmp_path / "evil" / "models").iterdir()
    assert re.fullmatch(r"[A-Za-z0-9-]+\.html", file.name)


def test_results_without_variants_have_a_page(edited: Callable[..., Path], tmp_path: Path) -> None:
    empty: dict[str, object] = dict.fromkeys(("d_avg", "d_min", "d_avg_ew", "d_min_ew"))
    nothing = {"avg": None, "min": None, "min_variant": None, "ci": {"avg": None, "min": None}}
    file = edited("some.json", lambda r: r.update(empty, variants=[], detection=nothing))
    write_site(make_tables(read_entries([file])), tmp_path / "site")
    (row,) = [row for row in document(tmp_path / "site" / "index.html").rows if "–" in row[0]]
    assert row[2:6] == ["–", "–", "0 of 0", "–"]


def test_printed_tables_escape_what_they_must(edited: Callable[..., Path]) -> None:
    tables = make_tables(read_entries([edited("some.json", lambda r: r.update(model=EVIL))]))
    markdown, latex = as_markdown(tables), as_latex(tables)
    assert not re.search(r"(?<!\\)[<>&$]", markdown)
    (row,) = [line for line in markdown.splitlines() if line.lstrip("| ").startswith("–")]
    assert r"\|\&\_\$%\\x{} 7B" in row
    assert len(re.findall(r"(?<!\\)\|", row)) == 11, "as many cells as columns"
    assert r"|\&\_\$\%\textbackslash{}x\{\} 7B & " in latex
    assert json.loads(as_json(tables))["tables"][0]["rows"][0]["model"] == EVIL
    assert next(csv.DictReader(as_csv(tables).splitlines()))["model"] == EVIL


def test_lines_of_a_csv_file_may_lack_parts(edited: Callable[..., Path]) -> None:
    bare = edited("bare.json", lambda r: (signed(r, "suite", ""), r.update(model="own/bare")))
    whole = edited("whole.json", lambda r: r.update(model="own/whole"))
    lines = list(csv.DictReader(as_csv(make_tables(read_entries([bare, whole]))).splitlines()))
    assert {line["model"]: bool(line["suite"]) for line in lines} == {"own/bare": False, "own/whole": True}


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_no_cell_of_a_csv_file_is_a_formula(edited: Callable[..., Path], start: str) -> None:
    name = f'{start}HYPERLINK("x")'
    tables = make_tables(read_entries([edited("some.json", lambda r: r.update(model=name))]))
    (line,) = csv.DictReader(io.StringIO(as_csv(tables), newline=""))
    assert line["model"] == f"'{name}"
    assert float(line["d_avg"]) == tables[0].rows[0].entry.result.d_avg


@pytest.mark.slow
def test_control_characters_reach_no_page_and_no_table(edited: Callable[..., Path], tmp_path: Path) -> None:
    name = "own/a\x00b\x1b[31mc\x7f"

    def change(result: dict[str, Any]) -> None:
        result.update(model=name, warnings=[name])
        result["variants"][0]["variant"] = name

    tables = make_tables(read_entries([edited("some.json", change)]))
    write_site(tables, tmp_path / "site")
    for path in (tmp_path / "site").rglob("*.*"):
        if path.suffix in (".html", ".md", ".tex"):
            text = path.read_text("utf-8")
            assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]|\\u001b|\\u0000", text), path
            assert "own/a\ufffdb" in text.replace("<wbr>", "").replace("\\ufffd", "\ufffd"), path


@pytest.mark.slow
def test_a_false_alarm_stands_in_every_table_and_export(edited: Callable[..., Path], tmp_path: Path) -> None:
    def change(result: dict[str, Any]) -> None:
        alarm = copy.deepcopy(result["variants"][0]) | {"variant": "harmless", "level": "control"}
        result["controls"] = [alarm | {"verdict": "false alarm"}]

    tables = make_tables(read_entries([edited("some.json", change)]))
    write_site(tables, tmp_path / "site")
    for name in ("leaderboard.json", "leaderboard.csv", "leaderboard.md", "leaderboard.tex", "index.html"):
        assert "false alarm" in (tmp_path / "site" / name).read_text(), name
    for folder in ("models", "datasets"):
        (file,) = (tmp_path / "site" / folder).iterdir()
        assert "! false alarm" in Parsed(file.read_text()).text, folder
    assert "false alarm" in Parsed((tmp_path / "site" / "compare.html").read_text()).text


@pytest.mark.slow
def test_sizes_are_lines_within_a_family(edited: Callable[..., Path]) -> None:
    def change(result: dict[str, Any], model: str) -> None:
        result.update(model=model, protocol="none")

    def made(*models: str) -> Any:
        files = [edited(f"{i}.json", lambda r, m=m: change(r, m)) for i, m in enumerate(models)]
        (table,) = make_tables(read_entries(files))
        return sizes(table)

    chart = made(
        "hf/Qwen/Qwen1.5-4B-Chat", "hf/Qwen/Qwen1.5-7B-Chat", "openai/lmsys/vicuna-7b-v1.5", "own/plain"
    )
    assert [chart.count(f">{family}<") for family in ("qwen1.5", "vicuna", "own")] == [1, 1, 0]
    assert "qwen1.5 4B" in chart
    assert "(D_avg " in chart
    assert made("hf/Qwen/Qwen1.5-4B-Chat", "openai/lmsys/vicuna-7b-v1.5") is None


@pytest.mark.slow
def test_costs_are_points_of_judges_with_prices(edited: Callable[..., Path]) -> None:
    def made(*prices: float | None) -> Any:
        def change(result: dict[str, Any], name: str, cost: float | None) -> None:
            result.update(model=name, cost=cost)
            result["ratings"]["asked"] = 500

        files = [
            edited(f"{i}.json", lambda r, i=i, cost=cost: change(r, f"own/judge{i}", cost))
            for i, cost in enumerate(prices)
        ]
        (table,) = make_tables(read_entries(files))
        return costs(table)

    chart = made(2.0, None, 0.0, 0.05)
    assert "own/judge2 0, " in chart
    assert "own/judge3 0.1, " in chart, "0.05 for 500 judgements"
    assert "own/judge0 4, " in chart
    assert "own/judge1" not in chart
    assert made(2.0, None) is None


@pytest.mark.slow
def test_latency_stands_in_the_board_where_calls_were_timed(
    edited: Callable[..., Path], tmp_path: Path
) -> None:
    timed = edited("a.json", lambda r: r.update(model="own/timed", latency=[0.5, 2.25]))
    write_site(make_tables(read_entries([timed, edited("b.json", lambda r: None)])), tmp_path / "site")
    page = (tmp_path / "site" / dataset_file("mini/summeval")).read_text("utf-8")
    assert "0.5 / 2.2" in page
    write_site(make_tables(read_entries([edited("c.json", lambda r: None)])), tmp_path / "untimed")
    assert SECONDS.help in page
    assert SECONDS.help not in (tmp_path / "untimed" / "index.html").read_text("utf-8")


def board(edited: Callable[..., Path]) -> list[Path]:
    """Four judges of known facets on one dataset."""
    made = []
    for name, d in (("a/small-1B", 2.0), ("a/large-70B", 10.5), ("b/mid-7B", 9.0), ("b/mid-8B", None)):

        def change(result: dict[str, Any], name: str = name, d: float | None = d) -> None:
            result.update(model=name, d_avg=d)
            share = None if d is None else d / 10.6
            ends = None if share is None else [share - 0.02, share + 0.02]
            result["detection"].update(avg=share, ci={"avg": ends, "min": None})

        made.append(edited(f"{name.replace('/', '-')}.json", change))
    return made


@pytest.mark.slow
@needs_chromium
def test_filters_and_sorting_in_the_browser(runs: Path, edited: Callable[..., Path], tmp_path: Path) -> None:
    write_site(make_tables(read_entries([*board(edited), runs / "good"])), tmp_path / "site")
    shown = """[...document.querySelectorAll("%s tbody tr")].filter((row) => row.offsetParent)
        .map((row) => row.querySelector("th").textContent.trim())"""

    async def act(page: Page) -> None:
        async def choose(facet: str, value: str) -> list[str]:
            await page.choose(facet, value)
            found: list[str] = await page.run(shown % "section")
            return found

        everything = await page.run(shown % "section")
        assert len(everything) == 6
        assert await choose("provider", "a") == ["a/large-70B", "a/small-1B"]
        assert await page.run(shown % ".overview") == ["a/large-70B", "a/small-1B"]
        assert await page.run("document.querySelector('output').textContent") == "2 of 6 results shown"
        assert await choose("size", "40B and more") == ["a/large-70B"]
        assert await choose("dataset", "mini/answer_equivalence") == []
        await page.run("document.querySelector('button[type=reset]').click()")
        await page.until("document.querySelector('output').textContent === '6 of 6 results shown'")
        assert await choose("task", "question_answering") == ["mock/ideal"]
        assert await page.run(shown % ".overview") == ["mock/ideal"]
        assert await choose("task", "") == everything
        of_set = "section[data-dataset='mini/summeval']"
        detection = f"""[...document.querySelectorAll("{of_set} thead th")]
            .find((heading) => heading.textContent.startsWith("detection"))"""
        await page.run(f"{detection}.querySelector('button').focus()")
        first = shown % of_set
        await page.press("Enter", "Enter", 13, "\r")
        assert (await page.run(first))[:3] == ["mock/ideal", "a/large-70B", "b/mid-7B"]
        await page.press("Enter", "Enter", 13, "\r")
        ascending = await page.run(first)
        assert (ascending[0], ascending[-1]) == ("a/small-1B", "b/mid-8B"), "numbers sort as such, gaps last"
        await page.resize(390)
        assert await page.run("document.documentElement.scrollWidth") <= 390

    in_browser(tmp_path / "site" / "index.html", tmp_path / "browser", act)


@pytest.mark.slow
def test_two_judges_that_share_no_table_are_not_compared_first(
    edited: Callable[..., Path], tmp_path: Path
) -> None:
    """The best of all stands in a table with the worst only."""

    def change(result: dict[str, Any], name: str, detection: float) -> None:
        result["model"] = name
        result["detection"]["avg"] = detection
        result["detection"]["ci"]["avg"] = [detection - 0.01, detection]
        if name in ("own/best", "own/worst"):
            result["n"] = 99
            signed(result, "n", "99")

    judges = {"own/best": 1.0, "own/second": 0.9, "own/third": 0.8, "own/fourth": 0.7, "own/worst": 0.6}
    files = [
        edited(f"{name[4:]}.json", lambda r, name=name, d=d: change(r, name, d)) for name, d in judges.items()
    ]
    write_site(make_tables(read_entries(files)), tmp_path / "site")
    text = (tmp_path / "site" / "compare.html").read_text("utf-8")
    assert re.findall(r"<option [^>]*selected>(.*?)<", text) == ["own/second", "own/third"]


@pytest.mark.slow
@needs_chromium
def test_two_judges_are_compared_in_the_browser(site: Path, runs: Path, tmp_path: Path) -> None:
    results = known(runs)
    ideal, noisy = (results[m, "mini/summeval"] for m in ("mock/ideal", "mock/noisy"))
    facts = """[...document.querySelectorAll("section")].find((s) =>
        s.querySelector("h2").textContent === "mini/summeval")"""
    chosen = "[...document.querySelectorAll('select')].map((s) => s.selectedOptions[0].text)"

    async def act(page: Page) -> None:
        assert await page.run(chosen) == ["mock/ideal", "mock/noisy"], "the best two, not mock/blind"
        listed = await page.run("[...document.querySelector('select').options].map((o) => o.text)")
        await page.choose("one", str(listed.index("mock/noisy")))
        await page.choose("two", str(listed.index("mock/ideal")))
        sentence = await page.run(f"{facts}.querySelector('.difference').textContent")
        difference = ideal["detection"]["avg"] - noisy["detection"]["avg"]
        assert f"Difference of detection: +{100 * difference:.0f} points, 95 % interval +" in sentence
        rows = await page.run(
            f"[...{facts}.querySelectorAll('tr')].map((row) => [...row.cells]"
            ".filter((cell) => !cell.hidden).map((cell) => cell.textContent.trim()))"
        )
        heads, *figures = ([row[0].removesuffix("≠").strip(), *row[1:]] for row in rows)
        assert heads == ["", "mock/noisy", "mock/ideal", DIFFERENCE.heading]
        by_name = {name: cells for name, *cells in figures}
        assert list(by_name)[:3] == [D_AVG.heading, D_MIN.heading, "noticed"]
        for column in ("d_avg", "d_min"):
            heading = {"d_avg": D_AVG, "d_min": D_MIN}[column].heading
            assert by_name[heading][:2] == [f"{r[column]:.2f}" for r in (noisy, ideal)]
        for one, two in zip(noisy["variants"], ideal["variants"], strict=True):
            *cells, apart = by_name[variant_name(one["variant"])]
            for cell, variant in zip(cells, (one, two), strict=True):
                shown = [whole_percent(x) for x in (variant["detection"], *variant["detection_ci"])]
                assert re.findall(r"\d+(?:\.\d)?|[a-z]+", cell) == [
                    shown[0],
                    *variant["verdict"].split(),
                    *shown[1:],
                ]
            expected = 100 * (two["detection"] - one["detection"])
            assert float(apart.replace("−", "-")) == pytest.approx(expected, abs=0.51)
        assert by_name["harmless edits"][0].startswith(noisy["controls"][0]["verdict"])
        seen = sum(v["verdict"] == "noticed" for v in noisy["variants"])
        assert by_name["noticed"][0] == f"{seen} of {len(noisy['variants'])}"
        assert not await page.run(f"{facts}.querySelector('.parts').checkVisibility()")
        assert "one=mock%2Fnoisy" in await page.run("location.hash")

    in_browser(site / "compare.html", tmp_path / "browser", act)
