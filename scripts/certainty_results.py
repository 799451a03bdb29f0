"""How sure and how right recorded judges are, and what a person who reads the texts near the mark leaves.

python -P scripts/certainty_results.py DATA

DATA holds rewardbench2_judges, trec_rag, uijudge and trajectory_judge. Prints a table in Markdown.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

import dhp
from dhp.analysis.results import Result
from dhp.report.certainty_words import certainty_sentence


def rewardbench(data: Path) -> Iterator[tuple[pd.DataFrame, float]]:
    """Eight ratings from 1 to 10 of the chosen answer and three rejected ones; 7 passes, rounded means."""
    for path in sorted((data / "rewardbench2_judges").glob("*-*.jsonl")):
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        names = ("original", "rejected 1", "rejected 2", "rejected 3")
        rows = [
            (line["subset"] + line["id"], name, "quality", i, score, path.stem)
            for line in lines
            for name, scores in zip(names, line["scores"], strict=True)
            for i, score in enumerate(scores if isinstance(scores, list) else ())
        ]
        if rows:
            columns = ["example", "variant", "metric", "sample", "score", "model"]
            yield pd.DataFrame(rows, columns=columns), 6.5


def trajectories(data: Path) -> tuple[pd.DataFrame, float]:
    """Verdicts with confidence on runs of an agent, those with a clean twin."""
    read = [
        json.loads(line) for line in (data / "trajectory_judge/trajectories.jsonl").read_text().splitlines()
    ]
    of = {each["trajectory_id"]: each["instance_id"] for each in read}
    rows = []
    for line in (data / "trajectory_judge/verdicts.jsonl").read_text().splitlines():
        verdict = json.loads(line)
        name = verdict["trajectory_id"]
        kind = name.removeprefix(of[name]).lstrip("-")
        good = None if verdict["faulty"] is None else str(not verdict["faulty"]).lower()
        variant = "original" if kind == "clean" else kind
        rows.append((of[name], variant, "sound", good, verdict["confidence"], verdict["judge_id"]))
    columns = ["example", "variant", "metric", "verdict", "confidence", "model"]
    table = pd.DataFrame(rows, columns=columns)
    clean = set(table.loc[table["variant"] == "original", "example"])
    return table[table["example"].isin(clean)], 0.5


def line(name: str, mark: float, result: Result) -> str:
    """A row of the table."""
    sure = "-" if result.certainty is None else certainty_sentence(result.certainty)
    if result.asking is None:
        return f"| {name} | {result.model} | {mark:g} | {result.n} | {sure} | too few | | |"
    before, asked, only = result.asking.of_all[0], result.asking.of_all[3], result.asking.of_passing[2]
    gain, low, high = (100 * each for each in asked.gain)
    left = f"{100 * before.passing:.0f} -> {100 * asked.passing:.0f} %"
    passing = f"{100 * only.passing:.1f} % ({100 * (only.passing + only.gain[0]):.1f})"
    return (
        f"| {name} | {result.model} | {mark:g} | {result.n} | {sure} | {left} | "
        f"{gain:.1f} [{low:.1f}, {high:.1f}] | {passing} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    data = parser.parse_args().data
    tables = [("RewardBench 2", *each) for each in rewardbench(data)]
    tables += [("TREC RAG", data / "trec_rag/scores.csv", mark) for mark in (2, 3)]
    tables += [("UIJudge", data / "uijudge/verdicts.csv", 0.5), ("agent runs", *trajectories(data))]
    print(
        "| set | judge | mark | n | sure and right | damaged that pass, 20 % asked | gain over the lot | "
        "10 % asked of passing texts (lot) |\n|---|---|---|---|---|---|---|---|"
    )
    for name, table, mark in tables:
        for result in dhp.analyze(table, analysis=dhp.AnalysisConfig(pass_mark=mark)):
            print(line(name, mark, result))


if __name__ == "__main__":
    main()
