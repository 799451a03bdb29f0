"""The results pages show what the recorded files hold: figures recomputed by scipy alone."""

import json
import math
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd
import pytest
from scipy.stats import binomtest, wilcoxon

import dhp
from dhp.runs.reader import read_run

ROOT = Path(__file__).resolve().parent.parent
JUDGES = ROOT / "docs" / "results" / "judges"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """`scripts/results.py` as a module."""
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import results  # type: ignore[import-not-found]

    return results  # type: ignore[no-any-return]


def shown(page: str, heading: str, kind: str) -> tuple[str, str, str]:
    """Detection, D and pairs of a kind of damage on a judge's page, in the first part below a heading."""
    part = page.partition(f"<h3>{heading}:")[2]
    row = part.partition(f"<th>{kind}</th>")[2].partition("</tr>")[0]
    _, detection, _, n = (re.sub("<[^>]*>", "", cell) for cell in re.findall("<td.*?</td>", row))
    folded = part.partition("<details")[2].partition("</details>")[0]
    d = re.search(rf"{re.escape(kind)}: ([\d.]+\d)", folded)
    assert d
    return detection, d[1], n


def discernment(p: float) -> str:
    return f"{math.log(p) / math.log(0.05):.2f}"


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def right(folder: Path, model: str, subset: str) -> list[tuple[bool, bool]]:
    """Whether the better output was chosen, as given and swapped; answers that name none are left out."""
    labels = {row["id"]: row["label"] for row in rows_of(folder / "pairs.jsonl") if row["subset"] == subset}
    found = []
    for row in rows_of(folder / f"answers-{model}.jsonl"):
        if row["protocol"] == "Vanilla" and row["id"] in labels:
            given, swapped = (
                re.search(r"Output \((a|b)\)", row[f"answer_{o}"]) for o in ("as_given", "swapped")
            )
            if given and swapped:
                better = "ab"[labels[row["id"]] - 1]
                found.append((given[1] == better, swapped[1] != better))
    return found


def sign_test(choices: list[tuple[bool, bool]]) -> tuple[str, str, str]:
    """Detection, D and N by a binomial test: verdicts that flip with the order are ties."""
    wins, losses = sum(a and b for a, b in choices), sum(not a and not b for a, b in choices)
    share = (wins + (len(choices) - wins - losses) / 2) / len(choices)
    p = binomtest(wins, wins + losses, alternative="greater").pvalue
    return f"{share:.0%}", discernment(p), str(len(choices))


def bias(choices: list[tuple[bool, bool]]) -> str:
    """Share of flips with Clopper and Pearson's interval."""
    flips = sum(a != b for a, b in choices)
    low, high = binomtest(flips, len(choices)).proportion_ci(method="exact")
    return f"{flips / len(choices):.0%} [{low * 100:.0f}–{high * 100:.0f}]"


@pytest.mark.realdata
def test_a_rank_test_of_bump(real: Path) -> None:
    """BERTScore on wrong pronouns: an article a pair, no zeros and no ties, so scipy's exact test holds."""
    rows = json.loads((real / "bump" / "task1_dataset.json").read_text("utf-8"))
    scores = [row["scores"] for row in rows if row["corrected_error_type"] == "Coreference Error"]
    drops = [each["BERTScore_reference"] - each["BERTScore_edited"] for each in scores]
    assert len({abs(drop) for drop in drops} - {0.0}) == len(drops)
    page = (JUDGES / "bertscore-bump.html").read_text("utf-8")
    assert shown(page, "BERTScore (BUMP)", "Coreference Error") == (
        f"{sum(drop > 0 for drop in drops) / len(drops):.0%}",
        discernment(wilcoxon(drops, alternative="greater", method="exact").pvalue),
        str(len(drops)),
    )


@pytest.mark.realdata
@pytest.mark.parametrize("subset", ["Natural", "Manual", "GPTInst"])
def test_sign_tests_and_position_bias_of_llmbar(real: Path, subset: str) -> None:
    choices = right(real / "llmbar", "gpt-4", subset)
    page = (JUDGES / "gpt-4.html").read_text("utf-8")
    assert shown(page, "Vanilla", subset) == sign_test(choices)
    table = page.partition("<h2>Position bias")[2]
    assert bias(choices) in table.partition(">Vanilla</td>")[2].partition("</tr>")[0]


def cells(page: str, row: str) -> list[str]:
    """The cells of the first row with this head, without tags; a line break is a space."""
    (head,) = re.findall(rf"<tr><th[^>]*>(?:<a[^>]*>)?{re.escape(row)}<.*?</tr>", page, re.S)[:1]
    return [" ".join(re.sub("<[^>]*>", " ", cell).split()) for cell in re.findall("<td.*?</td>", head, re.S)]


@pytest.mark.realdata
@pytest.mark.parametrize("judge", ["gpt-5.4", "gpt-5.4-mini", "claude-sonnet-4.6"])
def test_judges_of_2026_by_a_plain_count(real: Path, judge: str) -> None:
    """Shares of rejected answers below the good one by the mean of eight ratings, and by one.

    Ties count half, and so does a pair of which one answer has no rating.
    """
    shares: dict[str, list[float]] = {}
    singles: dict[str, list[list[float]]] = {}
    for row in rows_of(real / "rewardbench2_judges" / f"{judge}.jsonl"):
        good, *others = row["scores"]
        for worse in others:
            means = [[x for x in side if x is not None] for side in (good, worse)]
            drop = sum(means[0]) / len(means[0]) - sum(means[1]) / len(means[1]) if all(means) else 0.0
            shares.setdefault(row["subset"], []).append(_share(drop))
            single = singles.setdefault(row["subset"], [[] for _ in range(8)])
            for found, a, b in zip(single, good, worse, strict=True):
                found.append(_share(0.0 if a is None or b is None else a - b))
    page = (JUDGES.parent / "sets" / "rewardbench2.html").read_text("utf-8")
    names = re.findall("<th>(.*?)</th>", page.partition('class="grid"')[2].partition("</thead>")[0])[2:]
    told = dict(zip(names, cells(page, judge)[1:], strict=True))
    for kind, found in shares.items():
        mean = sum(found) / len(found)
        assert told[kind].startswith(f"● {mean:.0%} ")
        assert told[kind].endswith(f"n {len(found)}")
    eight, one, *_ = cells(page.partition("<h2>Eight ratings against one")[2], judge)
    assert eight == f"{sum(sum(f) / len(f) for f in shares.values()) / 5:.1%}"
    by_one = [sum(sum(f) / len(f) for f in each) / 8 for each in singles.values()]
    assert one == f"{sum(by_one) / 5:.1%}"


def _share(drop: float) -> float:
    return 0.5 if abs(drop) < 1e-9 else float(drop > 0)


def test_what_one_rating_loses_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two prompts, two ratings: the mean detects both pairs, single ratings one and a half of them."""
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    from results_pages.rewardbench2 import losses  # type: ignore[import-not-found]

    scores = {"a": {"original": (5, 5), "K": (4, 5)}, "b": {"original": (5, 3), "K": (1, 6)}}
    ratings = [
        (prompt, prompt, variant, sample, score)
        for prompt, own in scores.items()
        for variant, pair in own.items()
        for sample, score in enumerate(pair)
    ]
    frame = pd.DataFrame(ratings, columns=["cluster", "example", "variant", "sample", "score"])
    # a: mean 1, single 1 and 1/2; b: mean 1 (4 against 3.5), single 1 and 0: drops 1/4 and 1/2
    assert losses(frame) == {"K": (1.0, 0.625, pytest.approx(0.125), 2)}


def test_published_accuracies_come_out_exactly() -> None:
    page = (JUDGES.parent / "sets" / "judgebench.html").read_text("utf-8")
    table = page.partition("<h2>Against the published accuracies")[2]
    for judge in ("Skywork-Reward-Gemma-2-27B", "o1-mini-2024-09-12"):
        published = cells(table, judge)
        counted = cells(table.partition(f">{judge}<")[2], judge)
        assert (published[0], counted[0]) == ("published", "counted here")
        assert [c.partition(" (")[0] for c in counted[1:]] == published[1:]


def test_the_recorded_run_follows_from_its_ratings() -> None:
    folder = JUDGES.parent / "smollm2"
    (told,) = read_run(folder).results
    (found,) = dhp.analyze(str(folder / "ratings.parquet"))
    for one, other in zip(told.variants, found.variants, strict=True):
        assert (one.variant, one.verdict, one.d) == (other.variant, other.verdict, pytest.approx(other.d))
        assert one.detection_ci == pytest.approx(other.detection_ci)


def hand_made(folder: Path) -> Path:
    """Eight pairs whose first output is better: rated alone, and compared with four flips."""
    made = folder / "llmbar"
    made.mkdir()
    scores = ((2, 1), (3, 1), (4, 1), (5, 1), (6, 1), (7, 1), (1, 8), (5, 5))
    pairs = [{"id": f"p{i}", "subset": "Natural", "label": 1} for i in range(8)]
    about = [{"id": f"p{i}", "model": "tiny"} for i in range(8)]
    answers = [
        {**each, "protocol": "Rating", "score_1": str(one), "score_2": str(two)}
        for each, (one, two) in zip(about, scores, strict=True)
    ]
    answers += [
        {
            **each,
            "protocol": "Vanilla",
            "answer_as_given": "Output (a)",
            "answer_swapped": "Output (a)" if i < 4 else "Output (b)",
        }
        for i, each in enumerate(about)
    ]
    published = {"model": "tiny", "protocol": "Rating", "subset": "Natural"}
    counts = {"correct_False": "6 / 8 = 75%", "correct_True": "7 / 8 = 87.5%", "correct_both": "6 / 8 = 75%"}
    for name, rows in (("pairs", pairs), ("answers-tiny", answers), ("published", [published | counts])):
        (made / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return folder


@pytest.mark.slow
def test_figures_of_a_small_table_by_hand(script: ModuleType, tmp_path: Path) -> None:
    pages = script.all_pages(script.made(hand_made(tmp_path), ["llmbar"]))
    page = pages["judges/tiny.html"]
    rank_test = wilcoxon([1, 2, 3, 4, 5, 6, -7], alternative="greater", method="exact")
    assert shown(page, "Rating", "Natural") == ("81%", discernment(rank_test.pvalue), "8")
    choices = right(tmp_path / "llmbar", "tiny", "Natural")
    assert shown(page, "Vanilla", "Natural") == sign_test(choices) == ("75%", "0.93", "8")
    assert "50% [16–84]" in page
    assert bias(choices) == "50% [16–84]"


def test_what_is_missing_is_one_line_and_the_rest_is_made(
    script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = script.made(hand_made(tmp_path), ["llmbar", "bump"])
    assert [each.name for each in found] == ["llmbar"]
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("left out: bump: ")
    assert "task1_dataset.json" in line


def test_pages_out_of_date_are_named(script: ModuleType, tmp_path: Path) -> None:
    pages = script.all_pages(script.made(hand_made(tmp_path), ["llmbar"]))
    script.write(pages, tmp_path / "site")
    assert script.differing(pages, tmp_path / "site") == []
    (tmp_path / "site" / "index.html").write_text("old", "utf-8")
    assert script.differing(pages, tmp_path / "site") == ["index.html"]
