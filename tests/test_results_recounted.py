"""The results pages of recorded judges, recounted cell by cell from the raw files; nothing of dhp is used."""

import csv
import json
import re
from collections.abc import Iterable
from html import unescape
from pathlib import Path

import pytest
from scipy.stats import binomtest

pytestmark = pytest.mark.realdata

SETS = Path(__file__).resolve().parent.parent / "docs" / "results" / "sets"
KINDS = {"subtle": "subtle error", "obvious": "obvious error"}


def table(name: str, title: str) -> list[list[str]]:
    """The rows of the table below a heading of a set's page, as text; the head first."""
    part = (SETS / f"{name}.html").read_text("utf-8").partition(f"<h2>{title}</h2>")[2]
    rows = re.findall("<tr>.*?</tr>", part.partition("</table>")[0], re.S)
    cells = (re.findall("<t[hd].*?</t[hd]>", row, re.S) for row in rows)
    return [[unescape(" ".join(re.sub("<[^>]*>", " ", cell).split())) for cell in row] for row in cells]


def control(name: str, judge: str) -> tuple[str, str]:
    """State and detection of a judge's control, with its pairs."""
    page = (SETS / f"{name}.html").read_text("utf-8")
    found = re.search(rf"<p>{re.escape(judge)}, [^:]*: ([a-z ]+), (\S+ \[.*?\], \d+) pairs\.</p>", page)
    assert found, judge
    return found[1], found[2]


def shows(cell: str, share: float, n: int | None = None) -> bool:
    """Whether a cell shows a share, rounded as it is there, and the number of pairs.

    A share just below 50 or 60 per cent is not rounded up to it.
    """
    value = re.search(r"(\d+)(\.\d+)?%", cell)
    assert value, cell
    digits = len(value[2] or ".") - 1
    shown, exact = float(value[0][:-1]), 100 * share
    below = any(limit - 0.5 <= exact < limit - 1e-9 and shown == limit - 1 for limit in (50, 60))
    near = below or abs(shown - exact) <= 0.5 * 10**-digits + 1e-9
    return near and (n is None or cell.endswith(f"n {n}"))


def detected(pairs: Iterable[tuple[float, float]]) -> tuple[float, int]:
    """Share of pairs (good, worse) in which the worse one got less, ties half; and the number of pairs."""
    found = [(good > worse) + (good == worse) / 2 for good, worse in pairs]
    return sum(found) / len(found), len(found)


def blind_spot(real: Path) -> dict[tuple[str, str, str], dict[str, str]]:
    """(judge, condition, variant) -> task -> what the judge answered."""
    found: dict[tuple[str, str, str], dict[str, str]] = {}
    with (real / "blind_spot" / "scores.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            found.setdefault((row["judge"], row["condition"], row["variant"]), {})[row["task"]] = row["score"]
    return found


def plain(answers: dict[tuple[str, str, str], dict[str, str]], judge: str, variant: str) -> dict[str, float]:
    return {task: float(score) for task, score in answers[judge, "plain", variant].items()}


def test_errors_scored_lower_on_the_blind_spot(real: Path) -> None:
    answers = blind_spot(real)
    head, *rows = table("blind_spot", "Wrong answers scored lower")
    assert head == ["judge", "mean", "controls", *KINDS.values()]
    assert {row[0] for row in rows} == {judge for judge, *_ in answers}
    for judge, mean, _, *cells in rows:
        clean = plain(answers, judge, "clean")
        found = [
            detected((clean[task], score) for task, score in plain(answers, judge, kind).items())
            for kind in KINDS
        ]
        assert all(shows(cell, *each) for cell, each in zip(cells, found, strict=True)), judge
        assert shows(mean, sum(share for share, _ in found) / 2, 42)
        padded = plain(answers, judge, "padded").items()
        share, n = detected(
            (clean[task], score) for task, score in padded if task.startswith(("code", "math"))
        )
        _, figures = control("blind_spot", judge)
        assert shows(figures, share)
        assert figures.endswith(f"], {n}")


def test_errors_below_the_clean_answer_as_counted_elsewhere(real: Path) -> None:
    """42 of 42 and so on: counts of the subtle errors below clean, made independently of this project."""
    counted = {
        "gpt-5.5-2026-04-23": (42, 0.333),
        "claude-opus-5-default": (42, 0.976),
        "claude-sonnet-5-default": (42, 0.952),
        "claude-haiku-4-5-20251001": (38, 0.881),
        "gemini-3.8-flash": (41, 0.786),
        "grok-4.20-0309-reasoning": (41, 0.762),
        "grok-4.20-0309-non-reasoning": (35, 0.571),
        "qwen3-235b-a22b-instruct-2507": (39, 0.810),
        "glm-5": (41, 0.845),
        "gpt-oss-120b": (42, 0.952),
    }
    passing = {(row[0], row[1]): row[2:] for row in table("blind_spot", "What passes at each mark")}
    at_six = passing["judge", "answers"].index("6")
    answers = blind_spot(real)
    for judge, (below, failing) in counted.items():
        clean = plain(answers, judge, "clean")
        assert sum(score < clean[task] for task, score in plain(answers, judge, "subtle").items()) == below
        shown = [float(passing[judge, f"{kind}: passes"][at_six].rstrip("%")) for kind in KINDS.values()]
        assert 1 - sum(shown) / 200 == pytest.approx(failing, abs=0.006)


def test_what_passes_at_each_mark_on_the_blind_spot(real: Path) -> None:
    answers = blind_spot(real)
    (_, _, *marks), *rows = table("blind_spot", "What passes at each mark")
    assert marks == ["10", *"98765432"]
    assert len(rows) == 30
    shown = {"subtle error: passes": "subtle", "obvious error: passes": "obvious", "clean: fails": "clean"}
    for judge, texts, *cells in rows:
        scores = plain(answers, judge, shown[texts]).values()
        for mark, cell in zip(marks, cells, strict=True):
            passing = sum(score >= float(mark) for score in scores) / len(scores)
            assert shows(cell, 1 - passing if shown[texts] == "clean" else passing), (judge, texts, mark)
    for judge, subtle, obvious, clean, *_ in table("blind_spot", "What passes at 7")[1:]:
        for kind, cell in (("subtle", subtle), ("obvious", obvious), ("clean", clean)):
            passing = [score >= 7 for score in plain(answers, judge, kind).values()]
            hits = sum(passing) if kind != "clean" else len(passing) - sum(passing)
            limits = binomtest(hits, len(passing)).proportion_ci(method="exact")
            assert shows(cell, hits / len(passing))
            assert cell.endswith(f"[{limits.low * 100:.0f}–{limits.high * 100:.0f}]")


def test_errors_that_are_known_and_pass(real: Path) -> None:
    answers = blind_spot(real)
    rows = table("blind_spot", "Knows but passes")[1:]
    assert [row[0] for row in rows] == list(dict.fromkeys(j for j, asked, _ in answers if asked == "detect"))
    for judge, subtle, clean, *cells in rows:
        for variant, cell in (("subtle", subtle), ("clean", clean)):
            said = list(answers[judge, "detect", variant].values())
            assert cell == f"{said.count('yes')} of {said.count('yes') + said.count('no')}"
        scores = plain(answers, judge, "subtle")
        known = [scores[t] for t, said in answers[judge, "detect", "subtle"].items() if said == "yes"]
        for mark, cell in zip((6, 7, 8), cells, strict=True):
            passing = sum(score >= mark for score in known)
            assert cell.endswith(f", {passing} of {len(known)}")
            assert shows(cell, passing / len(known))


def test_checkpoints_of_a_translation_system(real: Path) -> None:
    """All 276 cells; of the first checkpoint not told only what follows from the row itself."""
    folder = real / "mslc24"
    letters = dict(line.split("\t") for line in (folder / "mapping" / "en-de.tsv").read_text().splitlines())
    head, *rows = table("mslc24", "Earlier checkpoints scored lower")
    assert head[2:] == [f"checkpoint {letter}" for letter in "ABCDEFGHIJKL"]
    assert len(rows) == 23
    shown = {row[0].removesuffix(" (MSLC24)"): row[2:] for row in rows}
    for path in (folder / "metric-scores" / "en-de").iterdir():
        scores: dict[str, list[float]] = {}
        for line in path.read_text("utf-8").splitlines():
            _, number, score = line.split("\t")
            scores.setdefault(letters[number][0], []).append(float(score))
        cells = shown.pop(re.sub(r"-(src|refA)\.seg\.score$", "", path.name))
        for letter, cell in zip("ABCDEFGHIJKL", cells, strict=True):
            share, n = detected(zip(scores["M"], scores[letter], strict=True))
            assert shows(cell, share, n), (path.name, letter)
    assert not shown


def test_metrics_that_see_no_translation_are_blind(real: Path) -> None:
    grid = {row[0]: row[2:] for row in table("mslc24", "Earlier checkpoints scored lower")}
    first = {row[0]: row[1:] for row in table("mslc24", "The first checkpoint no longer told from the last")}
    for name in ("sentinel-src (MSLC24)", "sentinel-ref (MSLC24)"):
        assert all(cell.startswith("○ 50%") for cell in grid[name])
        assert first[name][:2] == ["A", "0 of 12"]
    for name, cells in list(grid.items())[1:]:
        not_told = [letter for letter, cell in zip("ABCDEFGHIJKL", cells, strict=True) if cell[0] not in "●"]
        assert first[name][:2] == [not_told[0], f"{12 - len(not_told)} of 12"]


def test_a_judge_that_passes_wrong_answers(real: Path) -> None:
    accepted: dict[str, dict[str, float]] = {}
    for name in ("full_context", "specific", "vague"):
        conversations = json.loads((real / "locomo_judge" / f"{name}.json").read_text("utf-8"))
        accepted[name] = {
            each["question_id"]: sum(each["llm_judgments"].values()) / 3
            for answers in conversations["detailed_results"].values()
            for each in answers
        }
    good = accepted["full_context"]
    _, (_, _, *cells) = table("locomo_judge", "Wrong answers accepted less often")
    rows = table("locomo_judge", "What passes")[1:]
    for kind, cell in zip(("specific", "vague"), cells, strict=True):
        share, n = detected((good[question], score) for question, score in accepted[kind].items())
        assert shows(cell, share, n)
    published = {"specific": "10.6%", "vague": "62.8%", "full_context": "7.4%"}
    for (_, _, majority, every), (kind, printed) in zip(rows, published.items(), strict=True):
        passing = sum(score > 0.5 for score in accepted[kind].values()) / 1540
        mean = sum(accepted[kind].values()) / 1540
        assert shows(majority, passing if kind != "full_context" else 1 - passing)
        assert shows(every, mean if kind != "full_context" else 1 - mean)
        assert every == printed


def test_a_fixed_text_wins(real: Path) -> None:
    lines = (real / "nullmodel" / "preferences.jsonl").read_text("utf-8").splitlines()
    preferences = [json.loads(line)["preference"] for line in lines]
    lost = sum(preference < 1.5 for preference in preferences)
    assert (lost, len(preferences)) == (129, 805)
    (row,) = table("nullmodel", "A fixed text in place of an answer")[1:]
    assert row[2].startswith("raised")
    assert shows(row[3], lost / 805)
    assert shows(row[4], 1 - lost / 805)
    assert row[5] == "805"


def test_verdicts_in_both_orders_and_length(real: Path) -> None:
    judges = json.loads((real / "llm_judge_bench" / "results.json").read_text("utf-8"))
    rows = {row[0]: row[2:] for row in table("llm_judge_bench", "Right answers preferred, in both orders")}
    lengths = {row[0]: row[1:] for row in table("llm_judge_bench", "Length alone")}
    for own in (each for each in judges.values() if "_model" in each):
        name = own["_model"]
        for part, cell in zip(("pos", "verb"), rows[name][1:], strict=True):
            # the right answer stands in place A, then in place B
            orders = (answers[part] for answers in own["items"].values())
            right = [(a["winner"] == "A") + (b["winner"] == "B") for a, b in orders]
            assert shows(cell, sum(right) / 2 / 39, 39)
        longer = [(a["winner"] == "B") + (b["winner"] == "A") for a, b in own["ties"].values()]
        assert lengths[name] == [str(longer.count(wins)) for wins in (2, 1, 0)] + ["29"]
        state, figures = control("llm_judge_bench", name)
        assert state == "prefers edits"
        assert shows(figures, 1 - sum(longer) / 2 / 29)


def said(name: str) -> str:
    """The text of a set's page above its first table."""
    page = (SETS / f"{name}.html").read_text("utf-8").partition("<h1>")[2].partition("<h2>")[0]
    return unescape(" ".join(re.sub("<[^>]*>", " ", page).split()))


def whole(cell: str) -> int:
    found = re.search(r"(\d+)%", cell)
    assert found
    return int(found[1])


def test_sentences_say_what_the_tables_show() -> None:
    blind = said("blind_spot")
    lower = [whole(row[3]) for row in table("blind_spot", "Wrong answers scored lower")[1:]]
    assert f"in {min(lower)} to {max(lower)} % of the pairs" in blind
    passing = {row[0]: row[1:] for row in table("blind_spot", "What passes at 7")[1:]}
    subtle = sorted((whole(cells[0]), judge) for judge, cells in passing.items())
    assert f"pass {subtle[0][0]} to {subtle[-1][0]} % of the time" in blind
    assert [judge for _, judge in subtle[-2:]] == ["gpt-5.5-2026-04-23", "grok-4.20-0309-non-reasoning"]
    assert f"lets {whole(passing['gpt-5.5-2026-04-23'][1])} % of the obvious ones pass" in blind
    assert [whole(cells[2]) for cells in passing.values() if whole(cells[2])] == [2], "one answer of 42"
    known = table("blind_spot", "Knows but passes")[1:]
    named = [int(row[1].split()[0]) for row in known]
    let = [whole(row[4]) for row in known]
    assert f"name {min(named)} to {max(named)} of the 42 subtle errors" in blind
    assert f"let {min(let)} to {max(let)} % of those pass" in blind

    first = {
        row[0].removesuffix(" (MSLC24)"): row
        for row in table("mslc24", "The first checkpoint no longer told from the last")
    }
    k = {name: whole(row[5]) for name, row in first.items() if name != "judge"}
    assert k["COMET-22"] == k["PrismRefMedium"] == max(k.values())
    seeing = [share for name, share in k.items() if name not in ("sentinel-src", "sentinel-ref")]
    assert k["XLsimMqm"] == min(seeing)
    for name, rest in (("COMET-22", ""), ("GEMBA-ESA", " (GPT-4)"), ("BLEU", ""), ("XLsimMqm", "")):
        assert f"{k[name]} % for {name}{rest}" in said("mslc24")

    assert {row[3] for row in table("locomo_judge", "What passes")[1:3]} == {"10.6%", "62.8%"}
    assert "10.6 % of the specific and 62.8 % of the vague" in said("locomo_judge")
    _, (_, _, specific, vague) = table("locomo_judge", "Wrong answers accepted less often")
    assert f"vague ones is {whole(vague)} %, of the specific ones {whole(specific)} %" in said("locomo_judge")

    (fixed,) = table("nullmodel", "A fixed text in place of an answer")[1:]
    assert f"in {fixed[4][:-1]} % of the pairs" in said("nullmodel")

    right = [
        whole(c)
        for row in table("llm_judge_bench", "Right answers preferred, in both orders")[1:]
        for c in row[3:]
    ]
    longer = [int(row[1]) for row in table("llm_judge_bench", "Length alone")[1:]]
    assert f"{min(right)} to {max(right)} % of the wrong answers" in said("llm_judge_bench")
    assert f"in {min(longer)} to {max(longer)} of the 29 pairs" in said("llm_judge_bench")


def test_the_picture_of_the_readme_shows_what_was_recorded(real: Path) -> None:
    """Rows from the judge that lets the least pass to that of the most; four figures each."""
    answers = blind_spot(real)
    judges = {judge for judge, condition, _ in answers if condition == "plain"}
    counted = {}
    for judge in judges:
        clean = plain(answers, judge, "clean")
        wrong = [plain(answers, judge, variant) for variant in KINDS]
        counted[judge] = [
            *(detected((clean[task], scores[task]) for task in clean)[0] for scores in wrong),
            *(sum(score >= 7 for score in scores.values()) / len(scores) for scores in wrong),
        ]
    for theme in ("light", "dark"):
        svg = (SETS.parent / f"blind-spot-{theme}.svg").read_text("utf-8")
        words = re.findall("<text[^>]*>(.*?)</text>", svg)
        drawn = [word for word in words if word in judges]
        assert drawn == sorted(
            judges, key=lambda j: (sum(counted[j][2:]), -sum(counted[j][:2]), drawn.index(j))
        )
        for judge in judges:
            place = words.index(judge) + 1
            for cell, share in zip(words[place : place + 8 : 2], counted[judge], strict=True):
                assert shows(cell, share), (judge, cell, share)


def test_the_newest_answers_stand_first() -> None:
    page = (SETS.parent / "overview.md").read_text("utf-8")
    lines = page.partition("## All judges")[2].partition("## Set by set")[0].splitlines()
    head, _, *rows = [
        [c.strip() for c in line.strip("| ").split("|")] for line in lines if line.startswith("|")
    ]
    assert head[4:10] == ["damaged pass", "mean pass", "good fail", "noticed", "detection", "read"]
    assert head[-2:] == ["D_avg", "D_min"]
    years = [row[0] for row in rows]
    assert years == sorted(years, key=lambda year: -int(year) if year != "–" else 0)
    assert {"2026", "2024", "2023", "–"} <= set(years)
    assert len(rows) > 60


def test_the_overview_opens_with_three_findings_and_their_intervals(real: Path) -> None:
    page = (SETS.parent / "overview.md").read_text("utf-8")
    findings = [line for line in page.splitlines()[:8] if re.match(r"\d\. ", line)]
    assert [len(re.findall(r"\d+% \[[\d.–]+\]", line)) for line in findings] == [3, 2, 1]
    scores = plain(blind_spot(real), "gpt-5.5-2026-04-23", "subtle").values()
    passed = sum(score >= 7 for score in scores)
    low, high = binomtest(passed, len(scores)).proportion_ci(method="exact")
    assert f"{passed / len(scores):.0%} [{low * 100:.0f}–{high * 100:.0f}] of them pass" in findings[0]


def test_silence_on_claudes_answers(real: Path) -> None:
    """Detection with silence as ties, without the silent pairs, and the accuracy of JudgeBench's rule."""
    worth = {"original": 1, "tie": 0, "degraded": -1}
    judged: dict[str, dict[str, list[list[int | None]]]] = {}
    with (real / "judgebench_claude" / "verdicts.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            orders = [worth.get(row[order]) for order in ("original_first", "original_second")]
            judged.setdefault(row["model"], {}).setdefault(row["variant"], []).append(orders)
    head, *rows = table("judgebench_claude", "Right answers preferred, in both orders")
    silence = {row[0]: row[1:] for row in table("judgebench_claude", "What silence does")}
    assert len(rows) == len(judged) == 3
    for judge, mean, *cells in rows:
        ties, left_out = {}, {}
        for kind, pairs in judged[judge].items():
            ties[kind] = detected((sum(v or 0 for v in pair), 0) for pair in pairs)
            left_out[kind] = detected((a + b, 0) for a, b in pairs if a is not None and b is not None)
        assert all(shows(cell, *ties[kind]) for kind, cell in zip(head[2:], cells, strict=True)), judge
        every = [pair for pairs in judged[judge].values() for pair in pairs]
        right = sum(sum(v or 0 for v in pair) > 0 for pair in every)
        missing, silent, alone, counted, accuracy = silence[judge]
        assert shows(missing, sum(pair.count(None) for pair in every) / 540)
        assert silent == f"{sum(pair == [None, None] for pair in every)} of 270"
        assert shows(alone, sum(share for share, _ in left_out.values()) / 4)
        assert shows(counted, sum(share for share, _ in ties.values()) / 4)
        assert shows(mean, sum(share for share, _ in ties.values()) / 4)
        assert accuracy == f"{right / 270:.1%} ({right} of 270)"


def test_the_words_on_silence_are_those_of_its_table() -> None:
    words = said("judgebench_claude")
    rows = {row[0]: row[1:] for row in table("judgebench_claude", "What silence does")}
    minimax, glm, mercury = (rows[judge] for judge in ("minimax-m2", "glm-4.7", "mercury-coder"))
    assert f"no verdict in {minimax[0][:-1]} % of its answers and GLM-4.7 in {glm[0][:-1]} %" in words
    for column in (2, 3):
        shares = [whole(row[column]) for row in (minimax, glm, mercury)]
        assert f"{shares[0]}, {shares[1]} and {shares[2]} %" in words
    published = [row[4].partition("%")[0] for row in (minimax, glm, mercury)]
    assert published == ["46.3", "59.3", "62.6"]
    assert f"{published[0]}, {published[1]} and {published[2]} %" in words


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def graded_passages(real: Path) -> dict[str, dict[str, dict[str, float | None]]]:
    """Judge -> grade by people -> example -> the judge's score, None without one."""
    found: dict[str, dict[str, dict[str, float | None]]] = {}
    for row in rows_of(real / "trec_rag" / "scores.csv"):
        judge = row["model"].partition(" (")[0].lower().replace(" ", "-")
        graded = found.setdefault(judge, {}).setdefault(row["variant"], {})
        graded[row["example"]] = float(row["score"]) if row["score"] else None
    return found


def test_passages_that_people_graded(real: Path) -> None:
    """Detection with silence as a tie, over the three grades; nine judges."""
    scores = graded_passages(real)
    head, *rows = table("trec_rag", "Passages of a lower grade scored lower")
    assert head == ["judge", "mean", "grade 0", "grade 1", "grade 2"]
    assert {row[0] for row in rows} == scores.keys()
    assert len(rows) == 9
    for judge, mean, *cells in rows:
        shares = []
        for grade, cell in zip(head[2:], cells, strict=True):
            good, worse = scores[judge]["original"], scores[judge][grade]
            drops = [(good[example], score) for example, score in worse.items()]
            known = [(a, b) if a is not None and b is not None else (0.0, 0.0) for a, b in drops]
            share, n = detected(known)
            assert shows(cell, share, n), (judge, grade)
            shares.append(share)
        assert shows(mean, sum(shares) / 3)


def test_what_passes_and_who_is_silent_on_graded_passages(real: Path) -> None:
    scores = graded_passages(real)
    for judge, silent, mark, *cells in table("trec_rag", "What passes at each mark")[1:]:
        own = scores[judge]
        asked = [score for grade in own.values() for score in grade.values()]
        assert shows(silent, asked.count(None) / len(asked)), judge
        for grade, cell in zip(("grade 0", "grade 1", "grade 2"), cells[:3], strict=True):
            passing = [score is not None and score >= float(mark) for score in own[grade].values()]
            assert shows(cell, sum(passing) / len(passing)), (judge, mark, grade)
        failing = [score is not None and score < float(mark) for score in own["original"].values()]
        assert shows(cells[3], sum(failing) / len(failing)), (judge, mark)
    for judge, *cells in table("trec_rag", "Score by people's grade")[1:]:
        for grade, cell in zip(("original", "grade 2", "grade 1", "grade 0"), cells, strict=True):
            known = [score for score in scores[judge][grade].values() if score is not None]
            assert cell == f"{sum(known) / len(known):.2f} ({len(known)})"


def test_the_words_on_graded_passages_are_those_of_its_tables() -> None:
    words = said("trec_rag")
    passing = {(row[0], row[2]): row for row in table("trec_rag", "What passes at each mark")[1:]}
    for judge, name in (
        ("gemini-2.5-pro", "88"),
        ("gemini-3.1-pro-preview", "81"),
        ("deepseek-v4-pro", "61"),
    ):
        assert passing[judge, "2"][1] == f"{name}%"
        assert f"{name} %" in words
    rows = table("trec_rag", "Passages of a lower grade scored lower")[1:]
    silent = [row for row in rows if whole(passing[row[0], "2"][1]) > 50]
    assert all(cell[0] in "◐○" for row in silent for cell in row[2:])
    speaking = [row for row in rows if row not in silent]
    lowest = [whole(row[2]) for row in speaking]
    assert f"{min(lowest)} to {max(lowest)} % of the pairs" in words
    assert f"nobody sees more than {max(whole(row[4]) for row in rows)} %" in words
    for judge in ("gpt-5.5", "qwen-3.6-plus"):
        row = passing[judge, "2"]
        assert f"{whole(row[5])} " in words
        assert f"{whole(row[6])} " in words
    asked = [row for row in table("trec_rag", "When to ask a person")[1:] if row[1] == "2"]
    better = [row[0] for row in asked if row[3] != "too few" and not re.search(r"\[-|\[0\.0", row[5])]
    assert len(better) == 1


def test_reason_against_verdict_on_screenshots(real: Path) -> None:
    defects = [r for r in rows_of(real / "uijudge" / "verdicts.csv") if r["variant"] != "original"]
    head, *rows = table("uijudge", "Reason against verdict")
    assert head[1:] == ["pages", "seen and named", "seen, not named", "named, yet passed", "neither"]
    for kind, pages, *cells in rows:
        own = [r for r in defects if kind in ("all defects", r["variant"])]
        pairs = [(r["verdict"] == "false", r["named"] == "true") for r in own]
        wanted = [(True, True), (True, False), (False, True), (False, False)]
        assert pages == str(len(own))
        assert cells == [str(pairs.count(pair)) for pair in wanted], kind
    assert rows[0] == ["all defects", "110", "34", "10", "16", "50"]
    words = said("uijudge")
    assert "no to 44 of the 110" in words
    assert "Of the 66 pages that pass it names the defect of 16" in words


def test_harmless_changes_of_small_judges(real: Path) -> None:
    """Each share by a plain count; 20 of 26 false alarms for the order of the rubric."""
    scores: dict[tuple[str, str], dict[str, float]] = {}
    for row in rows_of(real / "small_judges" / "scores.csv"):
        scores.setdefault((row["model"], row["variant"]), {})[row["example"]] = float(row["score"])
    changes = ("rubric_order: reversed", "rubric_order: random", "verbosity: verbose", "verbosity: terse")
    rows = table("small_judges", "Changes that must not count")[1:]
    assert len(rows) == 26
    for judge, *cells in rows:
        for change, cell in zip(changes, cells, strict=True):
            good = scores[judge, "original"]
            share, _ = detected((good[example], score) for example, score in scores[judge, change].items())
            assert shows(cell, share), (judge, change)
    alarmed = [row for row in rows if any("false alarm" in cell for cell in row[1:3])]
    longer = [row[3] for row in rows]
    words = said("small_judges")
    assert f"false alarm for {len(alarmed)} of the 26" in words
    assert f"preferred by {sum('prefers' in cell for cell in longer)}" in words
    assert f"scored lower by {sum('false alarm' in cell for cell in longer)}" in words
    assert not any(all("still" in cell for cell in row[1:]) for row in rows)


def test_damaged_texts_that_pass_before_a_person_is_asked(real: Path) -> None:
    """The mean over the worse texts of each example, of those with all scores, at the marks of the pages."""
    scores = graded_passages(real)
    for judge, mark, _, passing, *_ in table("trec_rag", "When to ask a person")[1:]:
        if passing == "too few":
            continue
        shares = []
        for example in scores[judge]["original"]:
            worse = [scores[judge][g].get(example) for g in ("grade 0", "grade 1", "grade 2")]
            known = [score >= float(mark) for score in worse if score is not None]
            shares += [sum(known) / len(known)] if known else []
        assert shows(passing, sum(shares) / len(shares)), (judge, mark)


def test_kinds_from_what_everybody_sees_to_what_nobody_sees() -> None:
    """The page on difficulty, counted from the grids of the sets' own pages."""
    page = (SETS.parent / "difficulty.html").read_text("utf-8")
    for name, title in (
        ("trec_rag", "Passages of a lower grade scored lower"),
        ("rewardbench2", "Worse answers rated lower"),
        ("agents", "Faulty runs trusted less"),
    ):
        head, *rows = table(name, title)
        first = 2 if head[2] != "controls" else 3
        part = page.partition(f'<h2><a href="sets/{name}.html">')[2].partition("</table>")[0]
        told = [
            [
                unescape(" ".join(re.sub("<[^>]*>", " ", c).split()))
                for c in re.findall("<t[hd].*?</t[hd]>", r, re.S)
            ]
            for r in re.findall("<tr>.*?</tr>", part, re.S)[1:]
        ]
        for kind, noticed, *_ in told:
            cells = [row[head.index(kind)] for row in rows]
            assert noticed == f"{sum(cell.startswith('●') for cell in cells)} of {len(rows)}"
        order = [int(noticed.partition(" ")[0]) for _, noticed, *_ in told]
        assert order == sorted(order, reverse=True)
        assert len(told) == len(head) - first
