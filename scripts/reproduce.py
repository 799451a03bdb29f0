"""Published agreement figures beside ours, from published data and recorded answers.

python scripts/reproduce.py ../shared/data [PART ...]

Parts: topical_chat (Tables 2 and 4 of Chiang and Lee 2023, gpt-3.5-turbo-0613, two of their four metrics),
summeval, newsroom, realsumm, bagel (ROUGE rows of Tables 1 to 5 and 7 of Wang et al. 2023),
judge (answers of gpt-3.5-turbo-0301 that Shen et al. 2023 released, ours alone), williams (two judges of
Topical-Chat). Default: all. Each cell: published, ours, difference.
"""

import gzip
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from statistics import fmean

import numpy as np
import pandas as pd

from dhp.content.catalog import read_task
from dhp.core.protocol_spec import AnswerForm
from dhp.core.records import Candidate
from dhp.core.specs import Scale
from dhp.judge.extraction.rating import read_rating
from dhp.judge.judges.recorded import dialogue_id
from dhp.judge.metrics.judge import metric_judge
from dhp.loaders.rated import RatedText, human_scores, read_rated
from dhp.plugins.human.agreement import Agreement, correlate
from dhp.plugins.human.comparison import Williams, williams
from dhp.plugins.human.correlation import Coefficient, Level, correlations
from dhp.run import judge_texts
from dhp.stats.arrays import Floats

TOPICAL_CHAT: dict[tuple[str, AnswerForm], dict[str, tuple[float | None, float, float]]] = {
    ("geval", "score-only"): {"naturalness": (0.393, 0.445, 0.358), "coherence": (0.468, 0.498, 0.391)},
    ("geval_no_auto_cot", "score-only"): {
        "naturalness": (0.408, 0.431, 0.331),
        "coherence": (0.443, 0.507, 0.404),
    },
    ("llm_eval_no_cot", "free-text"): {
        "naturalness": (0.464, 0.572, 0.476),
        "coherence": (0.524, 0.523, 0.426),
    },
    ("rate_explain", "rate-explain"): {
        "naturalness": (None, 0.621, 0.512),
        "coherence": (None, 0.472, 0.425),
    },
    ("analyze_rate", "analyze-rate"): {
        "naturalness": (0.524, 0.573, 0.470),
        "coherence": (0.477, 0.486, 0.416),
    },
}
"""Pearson pooled (Table 2), Pearson and Kendall per source (Table 4). What Table 2 calls rate-explain is
analyze-rate, and it lacks the other one."""
TOPICAL_COLUMNS: tuple[tuple[Level, Coefficient], ...] = (
    ("pooled", "pearson"),
    ("per_source", "pearson"),
    ("per_source", "kendall"),
)
PRINTED = Path(__file__).with_name("published_rouge.csv")
"""The ROUGE rows of Wang et al. 2023, with the number of the table. Their ROUGE-L is rougeLsum."""
ROUGE_OPTIONS = {"realsumm": "part=recall", "bagel": "part=precision&references=max"}
"""Where not F1, averaged over the references: what comes nearest to the printed figures."""
COEFFICIENTS: tuple[Coefficient, ...] = ("spearman", "pearson", "kendall")
Cell = tuple[str, float, float]


def grid(texts: list[RatedText], metric: str) -> tuple[Floats, dict[tuple[str, str], tuple[int, int]]]:
    """Human scores, shape (sources, systems), and the place of each text in it."""
    sources = {s: i for i, s in enumerate(dict.fromkeys(t.source_id for t in texts))}
    systems = {s: i for i, s in enumerate(dict.fromkeys(t.system for t in texts))}
    places = {(t.source_id, t.system): (sources[t.source_id], systems[t.system]) for t in texts}
    human = np.full((len(sources), len(systems)), np.nan)
    for text in texts:
        human[places[text.source_id, text.system]] = text.scores[metric]
    return human, places


def value(human: Floats, judge: Floats, level: Level, coefficient: Coefficient) -> float:
    (found,) = correlations(human, judge, levels=[level], coefficients=[coefficient], resamples=0)
    return float("nan") if found.value is None else found.value


def first_digit(answer: str, form: AnswerForm) -> float | None:
    """The study's own reading, in which 2.5 is 2: the first digit, after reasons the one behind "rating"."""
    found = re.search(r"rating:?\D*(\d)" if form == "analyze-rate" else r"(\d)", answer, re.I)
    return float(found[1]) if found else None


def judged(folder: Path, metric: str, protocol: str, form: AnswerForm, reading: str) -> tuple[Floats, Floats]:
    """Human scores and the judge's means of Topical-Chat, shape (dialogues, systems)."""
    human, places = grid(read_rated("topical_chat", folder / "topical_chat.json"), metric)
    judge = np.full(human.shape, np.nan)
    file = folder / "chatgpt_responses" / f"gpt3.5_{metric[:3]}_{protocol}.json.gz"
    for row in json.loads(gzip.decompress(file.read_bytes())):
        scores = [s for a in row["all_responses"] if (s := _read(a, form, reading)) is not None]
        judge[places[dialogue_id(row["source"], row["context"]), row["system_id"]]] = (
            fmean(scores) if scores else np.nan
        )
    return human, judge


def topical_chat(folder: Path, reading: str = "ours") -> Iterator[Cell]:
    for (protocol, form), metrics in TOPICAL_CHAT.items():
        for metric, printed in metrics.items():
            human, judge = judged(folder, metric, protocol, form, reading)
            for (level, coefficient), published in zip(TOPICAL_COLUMNS, printed, strict=True):
                if published is not None:
                    cell = f"topical_chat {protocol} {metric} {coefficient}, {level}"
                    yield cell, published, value(human, judge, level, coefficient)


def _read(answer: str, form: AnswerForm, reading: str) -> float | None:
    if reading == "first digit":
        return first_digit(answer, form)
    return read_rating(answer, Scale(min=1, max=3), form).score


def rouge(texts: list[RatedText], model: str) -> dict[tuple[str, str], float]:
    """The score of each text against its references."""
    judge = metric_judge(model)
    task = judge.own_task(read_task("summarization"))
    candidates = [
        Candidate(t.source_id, t.system, t.output, t.source, references=t.references) for t in texts
    ]
    return {(r.example, r.variant): r.score or 0.0 for r in judge.rate(candidates, task)}


def flat_bagel(file: Path) -> list[RatedText]:
    """BAGEL laid out as one JSON object a line."""
    return [
        RatedText(
            row["id"],
            "system",
            row["source"],
            row["output"],
            references=tuple(row["references"]),
            scores={metric: row[metric] for metric in ("informativeness", "naturalness", "quality")},
        )
        for row in map(json.loads, file.read_text(encoding="utf-8").splitlines())
    ]


def rouge_rows(folder: Path, name: str) -> Iterator[Cell]:
    """The ROUGE rows of a set, stemmed, beside the printed ones."""
    file = folder / name / f"{name}.jsonl"
    texts = flat_bagel(file) if name == "bagel" else read_rated(name, file)
    printed = pd.read_csv(PRINTED)
    for kind, rows in printed[printed["dataset"] == name].groupby("judge", sort=False):
        scores = rouge(texts, f"metric/{kind}?{ROUGE_OPTIONS.get(name, 'part=f')}")
        for row in rows.to_dict("records"):
            human, places = grid(texts, row["metric"])
            judge = np.full(human.shape, np.nan)
            for key, place in places.items():
                judge[place] = scores[key]
            for coefficient in COEFFICIENTS:
                cell = f"Table {row['table']}, {name} {kind} {row['metric']} {coefficient}, {row['level']}"
                yield cell, row[coefficient], value(human, judge, row["level"], coefficient)


def recorded_judge(folder: Path) -> Agreement:
    """gpt-3.5-turbo-0301 on 12 systems of SummEval, reason then score and stars, by the user's own way."""
    data = f"summeval={folder / 'summeval' / 'summeval.jsonl'}"
    file = folder / "judge_responses" / "summeval_gpt-3.5-turbo-0301.jsonl.gz"
    frames = [judge_texts(f"replay/{file}?protocol={protocol}", data) for protocol in ("rts", "stareval")]
    ratings = pd.concat(frames)
    ratings["model"] = "gpt-3.5-turbo-0301"
    human = pd.DataFrame(human_scores(read_rated("summeval", folder / "summeval" / "summeval.jsonl")))
    return correlate(ratings, human)


def print_judge(folder: Path) -> None:
    found = recorded_judge(folder)
    for judge in found.judges:
        for metric in judge.metrics:
            for c in metric.correlations:
                ends = "undefined" if c.ci is None else f"[{c.ci[0]:.3f}, {c.ci[1]:.3f}]"
                name = f"{judge.judge} {metric.metric} {c.coefficient}, {c.level}"
                print(f"{name:62}       – {c.value or float('nan'):7.3f} {ends}")
    for pair in found.pairs:
        if pair.williams:
            name = f"{pair.first} against {pair.second}, {pair.metric}"
            print(f"{name:75} Williams t {pair.williams.t:+.2f}, p {pair.williams.p_two_sided:.3g}")


COMPARED: tuple[tuple[tuple[str, AnswerForm], tuple[str, AnswerForm]], ...] = (
    (("geval", "score-only"), ("geval_no_auto_cot", "score-only")),
    (("llm_eval_no_cot", "free-text"), ("geval_no_auto_cot", "score-only")),
)
"""The studies' own comparisons: Auto-CoT against none, free text against a score only."""


def compared(folder: Path) -> Iterator[tuple[str, Williams]]:
    for first, second in COMPARED:
        for metric in ("naturalness", "coherence"):
            human, one = judged(folder, metric, *first, "ours")
            _, other = judged(folder, metric, *second, "ours")
            there = ~(np.isnan(human) | np.isnan(one) | np.isnan(other))
            r = np.corrcoef([human[there], one[there], other[there]])
            test = williams(float(r[0, 1]), float(r[0, 2]), float(r[1, 2]), int(there.sum()))
            assert test
            yield f"{first[0]} against {second[0]}, {metric}, {test.n} items", test


def print_cells(cells: Iterable[Cell]) -> None:
    for name, published, ours in cells:
        print(f"{name:66} {published:7.3f} {ours:7.3f} {ours - published:+7.3f}")


def print_topical_chat(folder: Path) -> None:
    print_cells(topical_chat(folder))
    print("\nThe same with the study's own reading, the first digit of an answer:")
    print_cells(topical_chat(folder, "first digit"))


def print_williams(folder: Path) -> None:
    for name, test in compared(folder):
        print(f"{name:62} Williams t {test.t:+.2f}, p two-sided {test.p_two_sided:.3g}")


PARTS: dict[str, Callable[[Path], None]] = {
    "topical_chat": lambda folder: print_topical_chat(folder / "topical_chat"),
    "williams": lambda folder: print_williams(folder / "topical_chat"),
    "judge": print_judge,
    **{
        name: lambda folder, name=name: print_cells(rouge_rows(folder, name))  # type: ignore[misc]
        for name in ("realsumm", "newsroom", "bagel", "summeval")
    },
}


def main(folder: Path, parts: Sequence[str]) -> None:
    if unknown := [part for part in parts if part not in PARTS]:
        sys.exit(f"unknown part '{unknown[0]}'; allowed: {', '.join(PARTS)}")
    for part in parts or PARTS:
        PARTS[part](folder)
        print()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
