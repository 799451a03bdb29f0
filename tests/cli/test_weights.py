"""`dhp weights`, and the survey page from the opened page to the weights, in a browser without a screen."""

import asyncio
import json
import shutil
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from dhp.content import read_suite, read_task, read_weights
from dhp.records import Example
from dhp.survey import Issue, Survey, make_survey, survey_page

from .conftest import Run

CHROMIUM = shutil.which("chromium")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --remote-debugging-port=0"
).split()
ISSUES = list(read_suite("summeval").perturbers)


class Page:
    """A page of a browser, driven over the DevTools protocol."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse, downloads: Path) -> None:
        self._socket = socket
        self._sent = 0
        self.downloads = downloads
        self.requests: list[str] = []
        self.faults: list[object] = []

    async def call(self, method: str, **params: object) -> dict[str, Any]:
        """Call a method; what the page reports meanwhile is noted."""
        self._sent += 1
        await self._socket.send_json({"id": self._sent, "method": method, "params": params})
        while True:
            got = await self._socket.receive_json(timeout=30)
            if got.get("id") == self._sent:
                assert "error" not in got, got
                result: dict[str, Any] = got["result"]
                return result
            self._note(got["method"], got["params"])

    def _note(self, event: str, params: dict[str, Any]) -> None:
        if event == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif event in ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled"):
            self.faults.append(params)

    async def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        got = await self.call("Runtime.evaluate", expression=script, returnByValue=True, userGesture=True)
        assert "exceptionDetails" not in got, got
        return got["result"].get("value")

    async def press(self, key: str, code: str, number: int, text: str = "") -> None:
        """Press a key and let it go."""
        for kind in ("keyDown", "keyUp"):
            extra = {"text": text} if kind == "keyDown" and text else {}
            await self.call(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=code,
                windowsVirtualKeyCode=number,
                **extra,
            )

    async def open(self, path: Path) -> None:
        """Open a file and wait until it is there."""
        for domain in ("Page", "Network", "Runtime", "Log"):
            await self.call(f"{domain}.enable")
        await self.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(self.downloads))
        await self.call("Page.navigate", url=path.as_uri())
        await self.until("document.readyState === 'complete' && location.protocol === 'file:'")

    async def until(self, script: str) -> None:
        """Wait until an expression is true."""
        for _ in range(200):
            if await self.run(script):
                return
            await asyncio.sleep(0.05)
        raise AssertionError(f"never true: {script}")

    async def saved(self, count: int = 1) -> list[Path]:
        """The files that were saved."""
        for _ in range(200):
            await self.run("0")
            if len(found := sorted(self.downloads.glob("*.json"))) == count:
                return found
            await asyncio.sleep(0.05)
        raise AssertionError(f"saved: {list(self.downloads.iterdir())}")


async def _port(profile: Path) -> str:
    for _ in range(300):
        file = profile / "DevToolsActivePort"
        if file.exists() and "\n" in (text := file.read_text()):
            return text.split()[0]
        await asyncio.sleep(0.1)
    raise AssertionError("the browser opened no port")


@asynccontextmanager
async def opened_page(path: Path, folder: Path) -> AsyncIterator[Page]:
    """The page in a browser of its own."""
    profile, downloads = folder / "profile", folder / "downloads"
    downloads.mkdir(parents=True)
    browser = subprocess.Popen(
        [str(CHROMIUM), *FLAGS, f"--user-data-dir={profile}", "about:blank"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        address = f"http://127.0.0.1:{await _port(profile)}/json"
        async with aiohttp.ClientSession() as session:
            async with session.get(address) as answer:
                target = next(t for t in await answer.json() if t["type"] == "page")
            async with session.ws_connect(target["webSocketDebuggerUrl"], max_msg_size=0) as socket:
                page = Page(socket, downloads)
                await page.open(path)
                yield page
    finally:
        browser.terminate()
        browser.wait(30)


def in_browser(path: Path, folder: Path, act: Callable[[Page], Awaitable[None]]) -> None:
    """Open the page, act on it, and check that it asked nothing of a network and reported no fault."""

    async def go() -> None:
        async with opened_page(path, folder) as page:
            await act(page)
            assert not page.faults
            assert {url for url in page.requests if not url.startswith("blob:file:")} == {path.as_uri()}

    asyncio.run(asyncio.wait_for(go(), 120))


@needs_chromium
def test_from_the_opened_page_to_the_weights(dhp: Run, tmp_path: Path) -> None:
    done = dhp("weights", "survey", "--task", "summarization", "--out", "survey.html")
    assert done.code == 0
    assert "6 questions on coherence, consistency, fluency, relevance" in done.out

    async def answer(page: Page) -> None:
        assert await page.run("document.querySelectorAll(':checked').length") == 0
        assert await page.run("document.getElementById('count').textContent") == "0 of 6 answered"
        for number, issue in enumerate(ISSUES, 1):
            await page.run(f"document.querySelector('input[name={issue}]').focus()")
            await page.press(" ", "Space", 32, " ")
            assert await page.run("document.getElementById('bar').value") == number
        await page.run("document.querySelector('input[name=random_typos]').focus()")
        await page.press("ArrowDown", "ArrowDown", 40)
        await page.press("ArrowDown", "ArrowDown", 40)
        await page.run("document.getElementById('expert').focus()")
        await page.call("Input.insertText", text="linguist <b>")
        await page.run("document.getElementById('save').focus()")
        await page.press("Enter", "Enter", 13, "\r")
        await page.saved()
        assert await page.run("document.getElementById('warning').hidden") is True

    in_browser(tmp_path / "survey.html", tmp_path / "browser", answer)
    (file,) = (tmp_path / "browser" / "downloads").iterdir()
    saved = json.loads(file.read_text("utf-8"))
    assert file.name == f"votes-summarization-{saved['id']}.json"
    assert (saved["schema"], saved["task"]) == ("dhp.votes/1", "summarization")
    assert saved["survey"] == make_survey("summarization").hash
    assert saved["metrics"] == list(read_task("summarization").metric_names)
    assert saved["answers"] == dict.fromkeys(ISSUES, "coherence") | {"random_typos": "fluency"}
    done = dhp("weights", "aggregate", file, "--out", "own.yaml", "--chart", "own.html")
    assert done.code == 0
    assert "experts: 1 (linguist <b>)" in done.out
    row = read_weights("own.yaml").row("summarization", "random_typos")
    assert row == {"coherence": 0, "consistency": 0, "fluency": 1, "relevance": 0}
    assert "linguist &lt;b&gt;" in (tmp_path / "own.html").read_text("utf-8")


@needs_chromium
def test_the_page_warns_of_open_questions_and_shows_markup_as_text(tmp_path: Path) -> None:
    evil = "Good. </p></script><script>hacked = 1</script><img src=x onerror='hacked = 2'>"
    made = Issue("random_typos", "character", Example("1", evil, evil), {"": f"{evil} <i>"})
    more = Issue("word_deletions", "sentence", Example("1", evil, evil), {"": evil[6:]})
    path = tmp_path / "survey.html"
    path.write_text(survey_page(Survey(read_task("translation"), (made, more))), encoding="utf-8")

    async def answer(page: Page) -> None:
        assert await page.run("typeof hacked") == "undefined"
        assert await page.run("document.querySelectorAll('main img, main script, main i').length") == 0
        assert evil in await page.run("document.body.textContent")
        await page.run("document.querySelector('input[value=fluency]').click()")
        await page.run("document.getElementById('save').click()")
        warning = await page.run("document.getElementById('warning').textContent")
        assert warning == "Not answered yet: 1 of 22. Word deletionsSave all the same"
        assert await page.run("document.activeElement.id") == "warning"
        assert not list(page.downloads.iterdir())
        await page.run("document.getElementById('anyway').click()")
        (file,) = await page.saved()
        answers = json.loads(file.read_text("utf-8"))["answers"]
        assert answers == {"random_typos": "fluency", "word_deletions": None}
        await page.call(
            "Emulation.setDeviceMetricsOverride", width=320, height=600, deviceScaleFactor=1, mobile=True
        )
        assert await page.run("document.documentElement.scrollWidth") <= 320

    in_browser(path, tmp_path / "browser", answer)


@needs_chromium
def test_a_page_that_breaks_its_rules_is_noticed(tmp_path: Path) -> None:
    survey = Survey(
        read_task("translation"), (Issue("random_typos", "word", Example("1", "a", "b"), {"": "c"}),)
    )
    injected = survey_page(survey).replace("</main>", "<script>hacked = 1</script></main>")
    path = tmp_path / "survey.html"
    path.write_text(injected, encoding="utf-8")

    async def look(page: Page) -> None:
        assert await page.run("typeof hacked") == "undefined"
        assert "Content Security Policy" in json.dumps(page.faults)
        page.faults.clear()

    in_browser(path, tmp_path / "browser", look)


def sheet(number: int, **changes: object) -> str:
    """The answers of an expert who says fluency, but for reordering."""
    saved = {
        "schema": "dhp.votes/1",
        "id": f"{number:016x}",
        "survey": "28672bb4793a",
        "task": "summarization",
        "metrics": list(read_task("summarization").metric_names),
        "date": "2026-05-31",
        "answers": dict.fromkeys(ISSUES, "fluency") | {"reordering": "coherence"},
    }
    return json.dumps(saved | changes)


def test_votes_are_counted_shown_and_used(dhp: Run, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(sheet(1))
    (tmp_path / "b.json").write_text(sheet(2))
    undecided = dict.fromkeys(ISSUES, "fluency") | {"random_typos": None}
    (tmp_path / "c.json").write_text(sheet(3, answers=undecided))
    done = dhp("weights", "aggregate", "a.json", "b.json", "c.json", "--out", "own.yaml")
    assert done.code == 0
    assert "note: questions left open, which count for no metric: 1" in done.out
    shown = dhp("weights", "show", "own.yaml", "--chart", "own.html")
    lines = [line.split() for line in shown.out.splitlines()]
    assert ["reordering", "0.67", "0.00", "0.33", "0.00"] in lines
    assert ["random_typos", "0.00", "0.00", "1.00", "0.00"] in lines
    assert "experts: 3" in shown.out
    assert "agreement, summarization: Fleiss' kappa 0." in shown.out
    page = (tmp_path / "own.html").read_text("utf-8")
    assert '<td style="--weight: 67%">0.67</td>' in page
    judged = dhp(
        *("benchmark", "--model", "baseline/surface", "--dataset", "mini/summeval", "--n", "5"),
        *("--weights", "own.yaml", "--out", "run"),
    )
    assert judged.code == 0
    result = json.loads((tmp_path / "run" / "results.json").read_text("utf-8"))
    assert "weights:own.v1@" in result["signature"]


def test_the_weights_that_ship(dhp: Run) -> None:
    listed = dhp("weights", "list").out
    assert [line.split()[0] for line in listed.splitlines()] == ["design", "uniform"]
    shown = dhp("weights", "show", "design").out
    assert ["reordering", "0.80", "0.10", "0.10", "0.00"] in [line.split() for line in shown.splitlines()]
    assert "perturbers without a row: uniform" in dhp("weights", "show", "uniform").out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("survey --task sumarization --out s.html", "did you mean 'summarization'"),
        ("survey --task question_answering --out s.html", "has one metric, answer_quality"),
        ("survey --task summarization", "Missing option '--out'"),
        ("survey --task summarization --out .", "is no file"),
        ("aggregate a.json no.json --out w.yaml", "no.json: does not exist"),
        ("aggregate a.json a.json --out w.yaml", "a.json: the same answers as a.json"),
        ("aggregate a.json --out w.json", "--out w.json: unknown kind of file '.json'; allowed: .yaml"),
        ("aggregate a.json --out My-votes.yaml", "'My-votes' is not a name; allowed: lower-case"),
        ("aggregate --out w.yaml", "Missing argument"),
        ("show desing", "unknown weights 'desing'; did you mean 'design'"),
        ("show design --chart .", "is no file"),
    ],
)
def test_bad_input_is_one_line(dhp: Run, tmp_path: Path, arguments: str, message: str) -> None:
    (tmp_path / "a.json").write_text(sheet(1))
    done = dhp("weights", *arguments.split())
    assert done.code == 2
    assert message in done.err
    assert done.err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]
