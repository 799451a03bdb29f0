"""Pages in a browser without a screen, driven over the DevTools protocol."""

import asyncio
import contextlib
import json
import shutil
import subprocess
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

CHROMIUM = shutil.which("chromium")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --remote-debugging-port=0"
).split()


_PATIENCE = 60
"""Seconds in which even a busy machine does what is waited for."""


class Refused(Exception):
    """The browser does not carry out a call."""


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
            got = await self._socket.receive_json(timeout=_PATIENCE)
            if got.get("id") == self._sent:
                if "error" in got:
                    raise Refused(got["error"]["message"])
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

    async def resize(self, width: int) -> None:
        """Show the page in a window of this width, as on a phone where it is narrow."""
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        await self.call("Emulation.setDeviceMetricsOverride", **size)

    async def choose(self, name: str, value: str) -> None:
        """Choose a value in the list of this name, as a user does."""
        found = await self.run(f"""(() => {{
          const field = document.querySelector('select[name={name}]');
          field.value = {json.dumps(value)};
          for (const kind of ['input', 'change']) field.dispatchEvent(new Event(kind, {{bubbles: true}}));
          return field.selectedIndex;
        }})()""")
        assert found >= 0, f"no choice {value!r} of {name}"

    async def open(self, path: Path) -> None:
        """Open a file and wait until it is there."""
        for domain in ("Page", "Network", "Runtime", "Log"):
            await self.call(f"{domain}.enable")
        await self.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(self.downloads))
        await self.call("Page.navigate", url=path.as_uri())
        await self.until("document.readyState === 'complete' && location.protocol === 'file:'")

    async def until(self, script: str) -> None:
        """Wait until an expression is true."""
        async for _ in _again_and_again():
            with contextlib.suppress(Refused):  # as the page is being left for the next
                if await self.run(script):
                    return
        raise AssertionError(f"never true: {script}")

    async def reload(self, until: str) -> None:
        """Load the page anew until an expression is true: a busy browser may do so before it keeps things."""
        async for _ in _again_and_again():
            await self.run("window.isOld = true; location.reload()")
            await self.until("!window.isOld && document.readyState === 'complete'")
            if await self.run(until):
                return
        raise AssertionError(f"never true: {until}")

    async def saved(self, count: int = 1) -> list[Path]:
        """The files that were saved."""
        async for _ in _again_and_again():
            await self.run("0")
            found = sorted(self.downloads.glob("*.json"))
            if len(found) == count:
                return found
        raise AssertionError(f"saved: {list(self.downloads.iterdir())}")


async def _again_and_again() -> AsyncIterator[None]:
    """Comes back until patience is at an end."""
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        yield
        await asyncio.sleep(0.05)


async def _port(profile: Path) -> str:
    file = profile / "DevToolsActivePort"
    async for _ in _again_and_again():
        text = file.read_text() if file.exists() else ""
        if "\n" in text:
            return text.split()[0]
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

    asyncio.run(asyncio.wait_for(go(), 4 * _PATIENCE))
