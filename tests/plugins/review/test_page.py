"""The page of a review, from the opened page to the saved file, in a browser without a screen."""

import json
from pathlib import Path

import pytest

from dhp.core.records import Example, PerturbedText, Variant
from dhp.perturb.sets import read_set, write_set
from dhp.plugins.review.reviews import Pair, read_reviewable, review_page
from tests.browser import Page, in_browser, needs_chromium
from tests.cli.conftest import Run
from tests.plugins.review.sets import one_text, set_of, words

KEYS = {"left": ("ArrowLeft", "ArrowLeft", 37), "right": ("ArrowRight", "ArrowRight", 39)}


async def press(page: Page, *keys: str) -> None:
    for key in keys:
        await page.press(*(KEYS.get(key) or (key, f"Key{key.upper()}", ord(key.upper()), key)))


def side(pair: Pair, *, damaged: bool) -> str:
    """The key that says which one is worse."""
    return "left" if pair.degraded_is_left == damaged else "right"


@needs_chromium
def test_keys_decide_and_the_saved_file_says_what_they_said(dhp: Run, tmp_path: Path) -> None:
    write_set(tmp_path / "set", [set_of(5)])
    assert dhp("review", "set", "--page", "page.html").out.startswith("page.html: 5 texts to review")
    pairs = list(read_reviewable(tmp_path / "set").pairs.values())

    async def answer(page: Page) -> None:
        async def shown(script: str) -> str:
            return str(await page.run(f"document.{script}.textContent"))

        await page.run("document.getElementById('reviewer').focus()")
        await page.call("Input.insertText", text="editor <b>")
        await page.press("Enter", "Enter", 13, "\r")
        assert "typos" not in await shown("getElementById('stage')"), "the kind shows before the answer"
        await press(page, "a")
        assert await shown("getElementById('count')") == "0 of 5 reviewed"
        await press(page, side(pairs[0], damaged=True))
        assert "the changed text is worse" in await shown("getElementById('stage')")
        assert "typos" in await shown("querySelector('#stage h2')")
        assert await shown("querySelector('ins')") == "x"
        await press(page, "a", side(pairs[1], damaged=False), "n")
        await page.call("Input.insertText", text="no damage")
        await page.press("Escape", "Escape", 27)
        await press(page, "r", "s", "e")
        area = "document.getElementById('edit')"
        assert await page.run(f"{area}.value") == pairs[2].degraded.text
        await page.run(f"{area}.value = {json.dumps(pairs[2].original)}")
        await page.press("Enter", "Enter", 13)
        assert await page.run("document.getElementById('count').textContent") == "2 of 5 reviewed"
        keep = "document.querySelector('#stage .actions button').click()"
        await page.run(keep)
        assert "equals the original" in await shown("getElementById('warning')")
        await page.run(f"{area}.value = 'Quite </script> another text.'")
        await page.run(keep)
        await press(page, "u", "r", "s", "a", "u", "u", "e")
        await page.run(f"{area}.value = 'Quite </script> another text.'")
        await page.run(keep)
        await press(page, "a")
        assert await shown("getElementById('count')") == "4 of 5 reviewed"
        await page.run("window.isOld = true")
        await page.run("location.reload()")
        await page.until("!window.isOld && document.readyState === 'complete'")
        assert await shown("getElementById('count')") == "4 of 5 reviewed"
        assert await page.run("document.getElementById('reviewer').value") == "editor <b>"
        await page.run("document.getElementById('save').click()")
        await page.saved()

    in_browser(tmp_path / "page.html", tmp_path / "browser", answer)
    (file,) = (tmp_path / "browser" / "downloads").iterdir()
    saved = json.loads(file.read_text("utf-8"))
    assert saved["set"] == read_reviewable(tmp_path / "set").hash
    said = [(r["example"], r["worse"], r["decision"], r.get("text"), r["note"]) for r in saved["reviews"]]
    examples = [pair.degraded.example for pair in pairs]
    assert said == [
        (examples[0], "degraded", "accept", None, ""),
        (examples[1], "original", "reject", None, "no damage"),
        (examples[2], "same", "edit", "Quite </script> another text.", ""),
        (examples[3], "same", "accept", None, ""),
    ]
    done = dhp("review", "set", "--reviewed", file, "--freeze", "new")
    assert "editor <b>: 4 of 5 texts reviewed, 1 not reviewed, which stay as they are" in done.out
    texts = {t.example: t for t in read_set(tmp_path / "new")["own"].texts}
    assert texts[examples[1]].reason == "rejected in review: no damage"
    assert (texts[examples[2]].text, texts[examples[2]].by_hand) == ("Quite </script> another text.", True)


@needs_chromium
def test_untrusted_text_is_no_markup_and_narrow_screens_show_all(tmp_path: Path) -> None:
    evil = "Good. </p></script><script>hacked = 1</script><!--<img src=x onerror='hacked = 2'>"
    variant = Variant(f"<i>{evil}", f"<i>{evil}", "word", "rule", None)
    example = Example("<b>1", "", evil)
    text = PerturbedText(example.id, variant.name, f"<u>{evil}")
    write_set(tmp_path / "set", [one_text(example, variant, text)])
    path = tmp_path / "page.html"
    source = {("own", example.id): {"Article <i>": evil}}
    path.write_text(review_page(read_reviewable(tmp_path / "set"), source), encoding="utf-8")

    async def look(page: Page) -> None:
        await page.resize(390)
        for key in ("left", "e"):
            assert evil in await page.run("document.getElementById('stage').textContent")
            assert await page.run("document.documentElement.scrollWidth") <= 390
            await press(page, key)
        assert await page.run("typeof hacked") == "undefined"
        made = "document.querySelectorAll('main :is(img, i, b, u, script:not(#data))').length"
        assert await page.run(made) == 0
        await page.run(
            "localStorage.setItem(localStorage.key(0), '{'); window.isOld = true; location.reload()"
        )
        await page.until("!window.isOld && document.readyState === 'complete'")
        warned = await page.run("document.getElementById('warning').textContent")
        assert warned == "What this browser kept of the review cannot be read; it begins anew."
        await press(page, "left")
        assert await page.run("document.querySelectorAll('ins').length") > 0

    in_browser(path, tmp_path / "browser", look)


@pytest.mark.slow
@needs_chromium
def test_a_page_of_2000_texts_opens(tmp_path: Path) -> None:
    write_set(tmp_path / "set", [set_of(2000, words(120))])
    path = tmp_path / "page.html"
    path.write_text(review_page(read_reviewable(tmp_path / "set")), encoding="utf-8")

    async def look(page: Page) -> None:
        assert await page.run("document.querySelector('#stage h2').textContent") == "Pair 1 of 2000"
        assert await page.run("document.getElementById('count').textContent") == "0 of 2000 reviewed"

    in_browser(path, tmp_path / "browser", look)
