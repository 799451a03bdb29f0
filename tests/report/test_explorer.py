"""The explorer shows what was rated, all of it or what it says, and any text as text."""

import base64
import gzip
import json
import random
import shutil
from collections.abc import Awaitable, Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dhp
from dhp.content.catalog import variant_name
from dhp.core.records import ORIGINAL, PROBES, Candidate, Rating
from dhp.core.specs import Task
from dhp.report import web
from dhp.report.explorer import CUTS, explorer_data, shortened
from dhp.report.page import html_report
from dhp.runs.reader import Run, read_run
from tests.browser import Page, in_browser, needs_chromium
from tests.quick import undrawn_charts
from tests.unsealed import unsealed

__all__ = ["undrawn_charts"]

EVIL = "</script><script>hacked = 1</script><img src=x onerror='hacked = 2'><b>&amp;"
SILENT = "reordering.minor"


class Moody:
    """Rates by chance and talks in markup; says nothing usable at times, and nothing of one variant."""

    model = "moody <i>"
    protocol = "none"
    samples = 2

    def rate(self, candidates: Sequence[Candidate], task: Task) -> Iterator[Rating]:
        """Two samples of each text and metric."""
        for c in candidates:
            for metric in task.metric_names:
                draw = random.Random(f"{c.example} {c.variant} {metric}")
                for k in range(2):
                    place = (c.example, c.variant, metric, k)
                    if c.variant == SILENT:
                        yield Rating(*place, None, "failed", f"timed out {EVIL}")
                    elif draw.random() < 0.1:
                        yield Rating(*place, None, "unparsed", "I would rather not say.")
                    else:
                        score = draw.randint(2, 4)
                        yield Rating(*place, score, "scored", f"{EVIL} So my rating is {score}")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("explored") / "run"
    dhp.run(
        [Moody(), "baseline/surface"],
        "mini/summeval",
        controls=True,
        out=folder,
    )
    return read_run(folder)


@pytest.fixture(scope="module")
def page(run: Run) -> Path:
    return run.folder / "report.html"


def unpacked(data: str) -> dict[str, Any]:
    return dict(json.loads(gzip.decompress(base64.b64decode(data))))


def rebuilt(data: dict[str, Any]) -> list[tuple[Any, ...]]:
    """(model, example, variant, metric, score, status, raw) of each rating."""
    rows = []
    for judge in data["judges"]:
        part = data["datasets"][judge["dataset"]]
        names = [ORIGINAL, *(v["name"] for v in part["variants"])]
        for example, ratings in zip(part["examples"], judge["examples"], strict=True):
            for name, scores, answers in zip(names, ratings["scores"], ratings["answers"], strict=True):
                for metric, by_score, by_answer in zip(
                    judge["metrics"], scores or [], answers or [], strict=bool(scores)
                ):
                    for score, answer in zip(by_score, by_answer, strict=True):
                        scored = not isinstance(score, str)
                        status = "scored" if scored else score
                        rows.append(
                            (
                                *(judge["model"], example["id"], name, metric),
                                *(score if scored else None, status, answer),
                            )
                        )
    return rows


@pytest.mark.slow
def test_the_data_are_the_ratings(run: Run) -> None:
    frame = run.ratings
    columns = ["model", "example", "variant", "metric", "score", "status", "raw"]
    expected = [
        tuple(None if pd.isna(value) else value for value in row)
        for row in frame[columns].itertuples(index=False)
    ]
    found = rebuilt(unpacked(explorer_data(run)))
    assert len(found) == len(expected) > 24 * 13 * 4 * 3
    assert set(found) == set(expected)
    assert {row[5] for row in found} == {"scored", "unparsed", "failed"}


@pytest.mark.slow
def test_the_data_are_the_drops_and_the_texts(run: Run) -> None:
    data = unpacked(explorer_data(run))
    part = data["datasets"]["mini/summeval"]
    names = [v["name"] for v in part["variants"]]
    for judge, rated in zip(data["judges"], run.rated, strict=True):
        for v, name in enumerate(names):
            for m, metric in enumerate(judge["metrics"]):
                drops = [e["drops"][v] and e["drops"][v][m] for e in judge["examples"]]
                known = [d for d in drops if d is not None]
                probe = part["variants"][v]["level"] in PROBES
                counted = rated.ratings.of_pairs_read() if probe else rated.ratings
                differences = counted.differences(name, metric)
                assert known == pytest.approx(differences[~np.isnan(differences)], rel=1e-5)
                cell = next(
                    c.metrics[metric]
                    for c in (*rated.result.variants, *rated.result.controls)
                    if c.variant == name
                )
                assert len(known) == cell.n
                if cell.fell is not None:
                    assert sum(d > 0 for d in known) == round(cell.fell * cell.n)
    texts = {(row["example"], row["variant"]): row["text"] for row in run.perturbed}
    originals = {e["id"]: e for e in run.examples}
    assert len(part["examples"]) == len(originals) == 24
    for e in part["examples"]:
        assert (e["original"], e["source"]) == (originals[e["id"]]["output"], originals[e["id"]]["source"])
        for name, changes in zip(names, e["changes"], strict=True):
            text = texts[e["id"], name]
            assert (changes is None) == (text is None)
            if changes is not None:
                assert "".join(change[1:] for change in changes if change[0] != "-") == text


@pytest.mark.slow
def test_every_pair_has_a_name_in_words_and_a_snippet_of_its_change(run: Run) -> None:
    (part,) = unpacked(explorer_data(run))["datasets"].values()
    assert [v["words"] for v in part["variants"]] == [variant_name(v["name"]) for v in part["variants"]]
    for e in part["examples"]:
        for changes, snippet in zip(e["changes"], e["snippets"], strict=True):
            changed = [c for c in changes or () if c[0] != "="]
            assert [s[0] for s in snippet or () if s[0] != "="][:1] == [c[0] for c in changed[:1]]


@pytest.mark.slow
def test_the_same_run_gives_the_same_characters(run: Run) -> None:
    assert explorer_data(run) == explorer_data(read_run(run.folder))


@pytest.mark.slow
def test_what_does_not_fit_is_cut_from_its_middle(run: Run) -> None:
    whole = explorer_data(run)
    assert unpacked(whole)["cut"] == {"source": None, "answer": None, "examples": None}
    cuts = []
    for share in (0.95, 0.8, 0.65):
        data = explorer_data(run, int(share * len(whole)))
        assert len(data) <= share * len(whole)
        cuts.append(CUTS.index(type(CUTS[0])(**unpacked(data)["cut"])))
    assert 0 < cuts[0] <= cuts[1] <= cuts[2]
    data = unpacked(explorer_data(run, int(0.8 * len(whole))))
    length = data["cut"]["source"]
    sources = {e["id"]: e["source"] for e in run.examples}
    for e in data["datasets"]["mini/summeval"]["examples"]:
        assert e["source"] == shortened(sources[e["id"]], length)
    least = unpacked(explorer_data(run, 1))
    assert least["cut"]["examples"] == 20
    assert len(least["datasets"]["mini/summeval"]["examples"]) == 20
    assert {row[6] for row in rebuilt(least)} == {"", None}
    scores = {row[:6] for row in rebuilt(unpacked(whole))}
    assert {row[:6] for row in rebuilt(least)} < scores


@pytest.mark.slow
def test_of_a_large_run_the_first_examples_are_shown(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = unpacked(explorer_data(run))
    monkeypatch.setattr("dhp.report.explorer.MOST_EXAMPLES", 3)
    few = unpacked(explorer_data(run))
    assert few["cut"]["examples"] == 3
    for name, dataset in few["datasets"].items():
        assert dataset["examples"] == whole["datasets"][name]["examples"][:3]
    for less, more in zip(few["judges"], whole["judges"], strict=True):
        assert less["examples"] == more["examples"][:3]


def test_each_cut_leaves_no_more_than_the_one_before() -> None:
    def limit(value: int | None) -> float:
        return float("inf") if value is None else value

    for milder, harder in pairwise(CUTS):
        assert milder != harder
        for name in ("source", "answer", "examples"):
            assert limit(getattr(harder, name)) <= limit(getattr(milder, name))


@given(st.text(max_size=60), st.integers(0, 70))
def test_a_shortened_text_keeps_both_ends(text: str, length: int) -> None:
    short = shortened(text, length)
    if len(text) <= length:
        assert short == text
    elif length == 0:
        assert short == ""
    else:
        start, end = short.split(" […] ") if "[…]" not in text else (text[: length - length // 3], "")
        assert text.startswith(start)
        assert text.endswith(end)
        assert len(start) >= 2 * len(end)
        assert len(short) == length + len(" […] ")


LINES = """[...document.querySelectorAll('.pair > summary')].map((line) =>
  [line.querySelector('.name').title, line.querySelector('.name small').textContent])"""
STATUS = "document.querySelector('.explorer [role=status]').textContent"


OPEN = "document.getElementById('explorer').open = true"
CONTROLS = ("identity", "harmless")


async def ready(page: Page) -> None:
    await page.run(OPEN)
    await page.until(f"{STATUS}.includes('pair')")


async def choose(page: Page, **wanted: str) -> None:
    for name, value in wanted.items():
        await page.choose(name, value)


async def all_lines(page: Page) -> list[tuple[str, str]]:
    while not await page.run("document.querySelector('.explorer > button').hidden"):
        await page.run("document.querySelector('.explorer > button').click()")
    return [(variant, example) for variant, example in await page.run(LINES)]


def explored(path: Path, folder: Path, act: Callable[[Page], Awaitable[None]]) -> None:
    async def go(page: Page) -> None:
        await ready(page)
        await act(page)

    in_browser(path, folder, go)


def drops_of(run: Run, judge: int, metric: str | None) -> "pd.Series[float]":
    """The drop of each rated (variant, example), by pandas from the ratings; NaN where there is none.

    Damage of which a side has no score that the judge could have given is a tie.
    """
    frame = run.ratings
    model = run.results[judge].model
    mine = frame[frame["model"] == model]
    mine = mine.assign(score=pd.to_numeric(mine["score"]))
    means = mine.pivot_table(
        index=["variant", "example"], columns="metric", values="score", dropna=False, sort=False
    )
    degraded = means.drop(index=ORIGINAL, level="variant")
    original = means.loc[ORIGINAL].reindex(degraded.index.get_level_values("example"))
    drops = pd.DataFrame(original.to_numpy() - degraded.to_numpy(), degraded.index, means.columns).round(9)
    asked = mine.set_index(["variant", "example"]).index
    drops = drops[drops.index.isin(asked)]
    is_damage = ~drops.index.get_level_values("variant").isin(CONTROLS)
    said = mine.assign(said=mine["status"] != "failed").pivot_table(
        index=["variant", "example"], columns="metric", values="said", aggfunc="any"
    )
    both = said.reindex(drops.index) & said.loc[ORIGINAL].reindex(
        drops.index.get_level_values("example")
    ).set_axis(drops.index)
    drops = drops.mask(drops.isna() & both & is_damage[:, None], 0.0)
    chosen: pd.Series[float] = drops[metric] if metric else drops.mean(axis=1).round(9)
    return chosen


@pytest.mark.slow
@needs_chromium
def test_filters_and_orders_give_the_pairs_of_the_ratings(run: Run, page: Path, tmp_path: Path) -> None:
    async def act(page: Page) -> None:
        for judge, metric in ((0, None), (0, "fluency"), (1, "coherence")):
            drops = drops_of(run, judge, metric)
            await choose(page, result=str(judge), metric=metric or "", variant="", verdict="", order="")
            assert await page.run(STATUS) == f"{len(drops)} of {len(drops)} pairs"
            for order, sign in (("", 1), ("detected", -1)):
                await choose(page, order=order)
                lines = await all_lines(page)
                assert sorted(lines) == sorted(drops.index)
                known = [(order == "" and line[0] in CONTROLS, sign * drops[line]) for line in lines]
                known = [pair for pair in known if pair[1] == pair[1]]
                assert known == sorted(known), "controls come after damage"
                assert drops[lines][len(known) :].isna().all()
            kinds = {
                "fell": drops > 0,
                "tied rose": drops <= 0,
                "tied": drops == 0,
                "rose": drops < 0,
                "none": drops.isna(),
            }
            for verdict, holds in kinds.items():
                await choose(page, verdict=verdict)
                assert sorted(await all_lines(page)) == sorted(drops[holds].index)
                assert await page.run(STATUS) == f"{holds.sum()} of {len(drops)} pairs"
            await choose(page, verdict="tied rose", variant="random_typos.minor", order="example")
            holds = kinds["tied rose"] & (drops.index.get_level_values(0) == "random_typos.minor")
            lines = await all_lines(page)
            ids = [e["id"] for e in run.examples]
            assert lines == sorted(drops[holds].index, key=lambda line: ids.index(line[1]))

    explored(page, tmp_path, act)


@pytest.mark.slow
@needs_chromium
def test_a_pair_is_opened_by_keyboard_and_shows_texts_scores_and_answers(
    run: Run, page: Path, tmp_path: Path
) -> None:
    async def act(page: Page) -> None:
        await choose(page, variant="random_typos.minor", order="example")
        await page.run("document.querySelector('.explorer [name=text]').focus()")
        await page.press("Tab", "Tab", 9)
        assert await page.run("document.activeElement.matches('.pair:first-child > summary')")
        await page.press("Enter", "Enter", 13, "\r")
        await page.until("!!document.querySelector('.pair[open] .body')")
        text = await page.run("document.querySelector('.pair .sides').innerText")
        first = next(run.examples)
        assert first["output"] in text
        after = """[...document.querySelectorAll('.pair .sides > :last-child .text > :not(del)')]
          .map((e) => e.textContent).join('')"""
        degraded = {(t["example"], t["variant"]): t["text"] for t in run.perturbed}
        assert await page.run(after) == degraded[first["id"], "random_typos.minor"]
        assert await page.run("document.querySelectorAll('.pair del').length") > 0
        frame = run.ratings
        mine = frame[(frame["model"] == Moody.model) & (frame["example"] == first["id"])]
        for number, metric in enumerate(run.results[0].variants[0].metrics):
            cells = (
                f"[...document.querySelectorAll('.pair tbody tr')[{number}].cells].map((c) => c.innerText)"
            )
            found = await page.run(cells)
            assert found[0] == metric
            for place, variant in ((1, ORIGINAL), (3, "random_typos.minor")):
                rows = mine[(mine["variant"] == variant) & (mine["metric"] == metric)]
                said = [
                    f"{r.score:g}" if r.status == "scored" else r.status for r in rows.itertuples(index=False)
                ]
                assert found[place].split() == said
        await page.run(
            "[...document.querySelectorAll('.body > details > summary')].forEach((s) => s.click())"
        )
        await page.until("document.querySelectorAll('.pair pre').length === 16")
        answers = await page.run("[...document.querySelectorAll('.pair pre')].map((p) => p.textContent)")
        rows = mine[mine["variant"].isin([ORIGINAL, "random_typos.minor"])]
        assert sorted(answers) == sorted(rows["raw"])
        assert first["source"] in await page.run(
            "document.querySelector('.body > details .text').textContent"
        )

    explored(page, tmp_path, act)


@pytest.mark.slow
@needs_chromium
def test_a_missing_score_shows_its_reason(page: Path, tmp_path: Path) -> None:
    async def act(page: Page) -> None:
        await choose(page, variant=SILENT)
        assert await page.run(STATUS) == "24 of 336 pairs"
        await page.run("document.querySelector('.pair > summary').click()")
        await page.until("!!document.querySelector('.pair[open] .body')")
        await page.run("[...document.querySelectorAll('.body > details')].at(-1).open = true")
        await page.until("!!document.querySelector('.body pre')")
        assert f"timed out {EVIL}" in await page.run("document.querySelector('.body').innerText")
        assert "– no score" in await page.run("document.querySelector('.pair > summary').innerText")

    explored(page, tmp_path, act)


@pytest.mark.slow
@needs_chromium
def test_markup_in_any_name_and_text_shows_as_text(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "evil"
    shutil.copytree(run.folder, folder)
    names = {"reordering.major": f"v{EVIL}", "fluency": f"m{EVIL}", "news-01": f"e{EVIL}"}
    for file in ("results.json", "perturbed.jsonl", "examples.jsonl"):
        text = (folder / file).read_text("utf-8")
        for old, new in names.items():
            text = text.replace(json.dumps(old), json.dumps(new))
        (folder / file).write_text(text, encoding="utf-8")
    frame = pd.read_parquet(folder / "ratings.parquet").replace(names)
    frame.to_parquet(folder / "ratings.parquet")
    lines = [json.loads(line) for line in (folder / "examples.jsonl").read_text("utf-8").splitlines()]
    lines[0] |= {"source": f"s{EVIL}", "output": f"o{EVIL}", "fields": {f"f{EVIL}": f"t{EVIL}"}}
    (folder / "examples.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    path = tmp_path / "evil.html"
    path.write_text(html_report(read_run(unsealed(folder))), encoding="utf-8")

    async def act(page: Page) -> None:
        await choose(page, variant=f"v{EVIL}", metric=f"m{EVIL}", order="example")
        await page.run("document.querySelector('.pair > summary').click()")
        await page.until("!!document.querySelector('.pair[open] .body')")
        await page.run(
            "[...document.querySelectorAll('.body > details > summary')].forEach((s) => s.click())"
        )
        await page.until("!!document.querySelector('.pair pre')")
        shown = await page.run("document.querySelector('.pair').textContent")
        for letter in "vmesoft":
            assert f"{letter}{EVIL}" in shown, letter
        assert (
            await page.run("document.querySelectorAll('.explorer :is(img, b b, .pairs script)').length") == 0
        )
        assert await page.run("typeof hacked") == "undefined"

    explored(path, tmp_path / "browser", act)


@pytest.mark.slow
@needs_chromium
def test_more_lines_narrow_screens_and_linked_choices(page: Path, tmp_path: Path) -> None:
    async def act(page: Page) -> None:
        assert len(await page.run(LINES)) == 50
        await page.run("document.querySelector('.explorer > button').focus()")
        await page.press("Enter", "Enter", 13, "\r")
        assert len(await page.run(LINES)) == 100
        place = "[...document.querySelectorAll('.pair > summary')].indexOf(document.activeElement)"
        assert await page.run(place) == 50, "reading goes on at the first new line"
        await choose(page, variant="random_typos.minor", metric="fluency", verdict="fell")
        chosen, address = await page.run(STATUS), await page.run("location.hash")
        await choose(page, variant="", metric="", verdict="")
        assert await page.run(STATUS) == "336 of 336 pairs"
        await page.run(f"location.hash = {json.dumps(address)}")
        await page.until(f"{STATUS} === {json.dumps(chosen)}")
        await page.run("document.querySelectorAll('.pair > summary').forEach((s) => s.click())")
        await page.until("!!document.querySelector('.pair[open] .body')")
        await page.resize(360)
        assert await page.run("document.querySelector('.explorer').scrollWidth") <= 360

    explored(page, tmp_path, act)


@pytest.mark.slow
@needs_chromium
def test_texts_are_searched_and_one_pair_is_linked_to(run: Run, page: Path, tmp_path: Path) -> None:
    examples = list(run.examples)
    first = examples[3]
    word = max(first["output"].split(), key=len).strip(".,")
    search = """(text) => {
      const field = document.querySelector("[name=text]");
      field.value = text;
      field.dispatchEvent(new Event("input", { bubbles: true }));
    }"""

    async def act(page: Page) -> None:
        await page.run(f"({search})({json.dumps(word.upper())})")
        found = {example for _, example in await all_lines(page)}
        holding = {e["id"] for e in examples if word.lower() in f"{e['output']} {e['source']}".lower()}
        assert first["id"] in found
        assert found >= holding
        assert len(found) < len(examples), "others do not hold the word"
        assert "text=" in await page.run("location.hash")
        await page.run(f"({search})('no text holds this')")
        assert (await page.run(STATUS)).startswith("0 of ")
        await page.run(f"({search})('')")
        await choose(page, variant="random_typos.minor", order="example")
        await page.run("document.querySelectorAll('.pair > summary')[2].click()")
        await page.until("!!document.querySelector('.pair[open] .body a')")
        (variant, example) = (await page.run(LINES))[2]
        link = await page.run("document.querySelector('.pair[open] .body a').getAttribute('href')")
        await choose(page, variant="", order="")
        await page.run(f"location.hash = {json.dumps(link)}")
        await page.until(f"{STATUS}.startsWith('1 of ')")
        assert await page.run(LINES) == [[variant, example]]
        await page.until("!!document.querySelector('.pair[open] .body')")
        await choose(page, verdict="fell")
        assert not (await page.run(STATUS)).startswith("1 of "), "a choice leaves the pair"

    explored(page, tmp_path, act)


@pytest.mark.slow
@needs_chromium
def test_keys_open_pair_after_pair_and_go_to_the_search(page: Path, tmp_path: Path) -> None:
    async def act(found: Page) -> None:
        await found.run("document.querySelector('#explorer summary').click()")
        await found.until("document.querySelectorAll('.pair').length > 2")
        places = "[...document.querySelectorAll('.pair')].flatMap((each, at) => each.open ? [at] : [])"
        for key, place in (("j", 0), ("j", 1), ("k", 0), ("k", 0)):
            await found.press(key, f"Key{key.upper()}", ord(key.upper()), key)
            await found.until(f"JSON.stringify({places}) === '[{place}]'")
        assert await found.run(places) == [0], "there is no pair before the first"
        await found.press("/", "Slash", 191, "/")
        await found.until("document.activeElement.name === 'text'")
        await found.press("j", "KeyJ", 74, "j")
        await found.until("document.activeElement.value === 'j'")

    in_browser(page, tmp_path, act)


@pytest.mark.slow
@needs_chromium
def test_a_browser_that_cannot_unpack_says_so(page: Path, tmp_path: Path) -> None:
    old = tmp_path / "old.html"
    text = page.read_text("utf-8").replace('"DecompressionStream" in window', '"NoSuchThing" in window')
    script = web.asset("explorer.js")
    changed = script.replace('"DecompressionStream" in window', '"NoSuchThing" in window')
    assert changed != script
    old.write_text(text.replace(web._sha256(script), web._sha256(changed)), encoding="utf-8")

    async def act(page: Page) -> None:
        await page.run(OPEN)
        await page.until(f"{STATUS}.includes('too old')")
        assert await page.run("document.querySelector('.explorer form').hidden")

    in_browser(old, tmp_path / "browser", act)
