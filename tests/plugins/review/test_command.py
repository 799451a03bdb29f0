"""`dhp review`: what reviews say of a set, the set that is made of them, and bad input."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from dhp.core.records import IDENTITY, Audit, Example, PerturbedText, Variant
from dhp.perturb.sets import read_card, read_set, write_set
from dhp.plugins.review.reviews import Pair, ReviewableSet, checks, read_reviewable, review_page
from tests.browser import Page, in_browser, needs_chromium
from tests.cli.conftest import Run
from tests.plugins.review.sets import TYPOS, one_text, set_of, words

CUT = Variant("cut", "cut", "sentence", "rule", None)


@pytest.fixture
def reviewable(tmp_path: Path) -> ReviewableSet:
    """Ten texts of two kinds."""
    write_set(tmp_path / "set", [set_of(10, variants=(TYPOS, CUT))])
    return read_reviewable(tmp_path / "set")


def said(variant: str, example: int, worse: str = "degraded", decision: str = "accept", **more: str) -> Any:
    key = {"dataset": "own", "variant": variant, "example": f"e{example}"}
    return key | {"worse": worse, "decision": decision} | more


def write_review(
    path: Path, reviewable: ReviewableSet, reviews: Sequence[Any] = (), **changes: object
) -> None:
    saved = {
        "schema": "dhp.review/1",
        "set": reviewable.hash,
        "id": path.stem,
        "reviewer": path.stem,
        "date": "2026-05-31",
        "reviews": list(reviews),
    }
    path.write_text(json.dumps(saved | changes), encoding="utf-8")


def test_the_card_says_how_much_damage_is_damage(dhp: Run, tmp_path: Path, reviewable: ReviewableSet) -> None:
    worse = ["degraded"] * 8 + ["same", "original"]
    ann = [said("typos", k, w) for k, w in enumerate(worse)] + [said("cut", 0), said("cut", 1, "same")]
    ann[0] |= {"decision": "reject", "note": "reads well"}
    ann[1] |= {"decision": "edit", "text": "An edited text."}
    write_review(tmp_path / "ann.json", reviewable, ann)
    done = dhp("review", "set", "--reviewed", "ann.json", "--freeze", "new")
    assert done.code == 0
    assert "ann: 12 of 20 texts reviewed, 8 not reviewed, which stay as they are" in done.out
    assert "rejected: 1, edited by hand: 1" in done.out
    assert "19 texts frozen in new" in done.out
    assert "alpha" not in done.out
    review = read_card(tmp_path / "new").review
    assert (review.of, review.texts, review.reviewers) == (reviewable.hash, 20, {"ann": 12})
    assert (review.rejected, review.by_hand, review.alpha) == (1, 1, None)
    typos, cut = review.kinds
    assert (typos.variant, typos.texts, typos.worse, typos.same, typos.better) == ("typos", 10, 0.8, 0.1, 0.1)
    # Wilson (1927) with t of 9 degrees of freedom and 9.066 effective texts, 10 (6.4 + 0.5) / (64 / 9 + 0.5).
    n, p, t = 9.0657, 0.8, 2.26216
    middle, half = p + t * t / (2 * n), t * (p * (1 - p) / n + t * t / (4 * n * n)) ** 0.5
    ends = (middle - half) / (1 + t * t / n), (middle + half) / (1 + t * t / n)
    assert (typos.low, typos.high) == pytest.approx(ends, abs=1e-4)
    assert (cut.texts, cut.worse, cut.same) == (2, 0.5, 0.5)
    texts = {(t.variant, t.example): t for t in read_set(tmp_path / "new")["own"].texts}
    assert (texts["typos", "e0"].text, texts["typos", "e0"].reason) == (
        None,
        "rejected in review: reads well",
    )
    edited = texts["typos", "e1"]
    assert (edited.text, edited.by_hand) == ("An edited text.", True)
    assert edited.audit.edit_distance > 1
    assert not any(t.by_hand for key, t in texts.items() if key != ("typos", "e1"))
    assert read_set(tmp_path / "new")["own"].origins == {"typos": "typos, 1 by hand"}
    readme = (tmp_path / "new" / "README.md").read_text("utf-8")
    assert "| own | typos | 10 | 80% |" in readme
    assert "- ann: 12 of 20 texts" in readme


def test_two_reviewers(dhp: Run, tmp_path: Path, reviewable: ReviewableSet) -> None:
    same = [said("typos", k) for k in range(10)]
    write_review(tmp_path / "ann.json", reviewable, [*same, said("cut", 0, decision="edit", text="First.")])
    other = [said("typos", 0, decision="reject"), *same[1:], said("cut", 0, decision="edit", text="Second.")]
    write_review(tmp_path / "ben.json", reviewable, other)
    done = dhp("review", "set", "--reviewed", "ann.json", "--reviewed", "ben.json", "--freeze", "new")
    assert "Krippendorff's alpha 1.00" in done.out, "defined though both see all damage"
    texts = {(t.variant, t.example): t.text for t in read_set(tmp_path / "new")["own"].texts}
    assert texts["typos", "e0"] is None, "one rejection rejects"
    assert texts["cut", "e0"] == "First."
    flipped = [r | {"worse": "original" if r["example"] in ("e1", "e2", "e3") else "degraded"} for r in same]
    write_review(tmp_path / "ben.json", reviewable, flipped)
    done = dhp("review", "set", "--reviewed", "ann.json", "--reviewed", "ben.json", "--freeze", "other")
    review = read_card(tmp_path / "other").review
    assert review.alpha < 0.6
    assert review.kinds[0].worse == pytest.approx(0.85), "the mean of 1 and 0.7, by text"


def test_reviewers_of_one_name_or_none_are_told_apart(
    dhp: Run, tmp_path: Path, reviewable: ReviewableSet
) -> None:
    for file, reviewer in (("a", "Ann"), ("b", " Ann "), ("c", ""), ("d", "Ann")):
        write_review(tmp_path / f"{file}.json", reviewable, [said("typos", 0)], reviewer=reviewer)
    files = [part for file in "abcd" for part in ("--reviewed", f"{file}.json")]
    assert dhp("review", "set", *files, "--freeze", "new").code == 0
    names = ["Ann", "Ann (2)", "reviewer 3", "Ann (4)"]
    assert read_card(tmp_path / "new").review.reviewers == dict.fromkeys(names, 1)


def test_a_reviewed_set_is_judged_and_reviewed_again(
    dhp: Run, tmp_path: Path, reviewable: ReviewableSet
) -> None:
    write_review(tmp_path / "a.json", reviewable, [said("typos", 0, decision="edit", text="By hand.")])
    assert dhp("review", "set", "--reviewed", "a.json", "--freeze", "new").code == 0
    again = read_reviewable(tmp_path / "new")
    assert (True, "edited by hand") in checks(again)["own", "typos", "e0"]
    write_review(tmp_path / "b.json", again, [said("typos", 1, decision="edit", text="This too.")])
    assert dhp("review", "new", "--reviewed", "b.json", "--freeze", "newer").code == 0
    assert read_set(tmp_path / "newer")["own"].origins == {"typos": "typos, 2 by hand"}


@pytest.mark.slow
def test_a_set_from_the_page_to_the_benchmark(dhp: Run, tmp_path: Path) -> None:
    assert dhp("perturb", "--dataset", "mini/summeval", "--n", "4", "--freeze", "set").code == 0
    assert dhp("review", "set", "--page", "p.html", "--dataset", "mini/summeval").code == 0
    page = (tmp_path / "p.html").read_text("utf-8")
    reviewable = read_reviewable(tmp_path / "set")
    assert next(iter(reviewable.parts["mini/summeval"].dataset.examples)).output[:40] in page
    assert "Article" in page
    assert "passes the checks of its kind of damage" in page
    rejected = [
        dict(zip(("dataset", "variant", "example"), key, strict=True))
        | {"worse": "same", "decision": "reject"}
        for key in reviewable.pairs
        if key[1] == "random_typos.minor"
    ]
    write_review(tmp_path / "a.json", reviewable, rejected)
    assert dhp("review", "set", "--reviewed", "a.json", "--freeze", "new").code == 0
    judged = dhp(
        *("benchmark", "--model", "baseline/surface", "--dataset", "mini/summeval", "--n", "4"),
        *("--perturbed", "new", "--out", "run"),
    )
    assert judged.code == 0
    rows = [json.loads(line) for line in (tmp_path / "run" / "perturbed.jsonl").read_text().splitlines()]
    reasons = {row["reason"] for row in rows if row["variant"] == "random_typos.minor"}
    assert reasons == {"rejected in review"}


def test_checks_say_what_is_to_be_looked_at(tmp_path: Path) -> None:
    names = Variant("fictional_named_entities", "fictional_named_entities", "word", "llm", None, {"count": 1})
    original = "The bridge in Lisbon was opened by Maria Costa in the spring of the year."
    example = Example("a", "", original)
    unfit = "Something else was said about quite another thing in a new way by all of them there."
    good = original.replace("Lisbon", "Porto")
    for number, (text, wanted) in enumerate([(good, True), (unfit, False)]):
        made = PerturbedText("a", names.name, text, audit=Audit(3, 2, 9, 0.5), rejected=("too long",))
        write_set(tmp_path / str(number), [one_text(example, names, made)])
        (found,) = checks(read_reviewable(tmp_path / str(number))).values()
        passed = {said: passed for passed, said in found}
        assert passed["2 of 3 edits made"] is False
        assert passed["an earlier answer was rejected: too long"] is False
        assert ("passes the checks of its kind of damage" in passed) == wanted


def test_pairs_are_in_random_order_on_random_sides(tmp_path: Path) -> None:
    write_set(tmp_path / "set", [set_of(400)])
    pairs = list(read_reviewable(tmp_path / "set").pairs.values())
    assert 150 < sum(pair.degraded_is_left for pair in pairs) < 250
    assert [pair.degraded.example for pair in pairs] != [f"e{number}" for number in range(400)]
    assert pairs == list(read_reviewable(tmp_path / "set").pairs.values())


def test_texts_that_equal_their_original_are_not_asked_for(dhp: Run, tmp_path: Path) -> None:
    same = Variant(IDENTITY, IDENTITY, "control", "rule", None)
    example = Example("a", "", "A text.")
    write_set(tmp_path / "set", [one_text(example, same, PerturbedText("a", IDENTITY, example.output))])
    done = dhp("review", "set", "--page", "p.html")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "no text differs from its original" in done.err


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"set": "0" * 64}, "is a review of another set, 000000000000; allowed: of set"),
        ({"schema": "dhp.votes/1"}, "schema is 'dhp.votes/1'; allowed: dhp.review/1"),
        (
            {"reviews": [said("typos", 0, decision="maybe")]},
            "decision 'maybe': unknown; allowed: accept, edit, reject",
        ),
        ({"reviews": [said("typos", 99)]}, "reviews.0: the set has no pair of 'own', 'typos', 'e99'"),
        ({"reviews": [said("typos", 0)] * 2}, "reviews.1: a second review of the same text"),
        ({"reviews": [said("typos", 0, decision="edit")]}, "decision 'edit' does not go with the text"),
        ({"reviews": [said("typos", 0, text="x")]}, "decision 'accept' does not go with the text"),
        ({"reviews": [said("typos", 0, decision="edit", text=" ")]}, "the text is empty"),
        (
            {"reviews": [said("typos", 0, decision="edit", text="A good text about a bridge 0.")]},
            "the edited text equals one of the pair",
        ),
    ],
)
def test_a_broken_review_is_one_line(
    dhp: Run, tmp_path: Path, reviewable: ReviewableSet, changes: dict[str, Any], message: str
) -> None:
    write_review(tmp_path / "a.json", reviewable, **changes)
    done = dhp("review", "set", "--reviewed", "a.json", "--freeze", "new")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "a.json: " in done.err
    assert message in done.err
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("set", "say what to do: --page FILE.html, or --reviewed FILE.json"),
        ("set --page p.html --reviewed a.json", "--page: "),
        ("set --page p.html --freeze new", "--freeze: requires --reviewed"),
        ("set --reviewed a.json --dataset mini", "--dataset: requires --page"),
        ("set --page p.html --dataset mini/summeval", "mini/summeval"),
        ("none --page p.html", "none: no perturbation set"),
        ("set --reviewed cut.json", "cut.json: "),
        ("set --reviewed a.json --reviewed a.json", "a.json: the same review as a.json"),
        ("set --reviewed a.json --freeze set", "another perturbation set"),
    ],
)
def test_bad_usage_is_one_line(
    dhp: Run, tmp_path: Path, reviewable: ReviewableSet, arguments: str, message: str
) -> None:
    write_review(tmp_path / "a.json", reviewable, [said("typos", 0, decision="reject")])
    (tmp_path / "cut.json").write_text('{"schema": "dhp.review/1", "set"')
    done = dhp("review", *arguments.split())
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert message in done.err


KEYS = {"left": ("ArrowLeft", "ArrowLeft", 37), "right": ("ArrowRight", "ArrowRight", 39)}


async def press(page: Page, *keys: str) -> None:
    for key in keys:
        await page.press(*(KEYS.get(key) or (key, f"Key{key.upper()}", ord(key.upper()), key)))


def side(pair: Pair, *, damaged: bool) -> str:
    """The key that says which one is worse."""
    return "left" if pair.degraded_is_left == damaged else "right"


@pytest.mark.slow
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
        await page.reload("document.getElementById('count').textContent === '4 of 5 reviewed'")
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


@pytest.mark.slow
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
        await page.run("localStorage.setItem(place, '{')")
        await page.reload("document.getElementById('warning').textContent")
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
