"""Measure by real reasons of judges how often a reason names what was changed, and how often by accident.

python -P scripts/reasons.py DATA [--every 3]

`trajectory_judge`: a judge's reasons about runs of an agent with one planted fault, and about their clean
twins. `judge_responses`: reasons about summaries that nobody damaged; each is set beside a damaged copy that
its judge never saw, so that whatever is named is so by accident.
"""

import argparse
import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

import dhp
from dhp.analysis.named_change import BY_CHANCE, NAMED, change_of, names_change, with_named
from dhp.content.catalog import kind_name
from dhp.core.files import opened
from dhp.core.records import ORIGINAL


def lines(path: Path) -> Iterator[dict[str, Any]]:
    with opened(path) as file:
        yield from map(json.loads, file)


def text_of(trajectory: Mapping[str, Any]) -> str:
    steps = [
        f"{s['thought']} {json.dumps(s['call'])} {json.dumps(s['observation'])}" for s in trajectory["steps"]
    ]
    return "\n".join([*steps, trajectory["final_answer"]])


def trajectories(data: Path) -> None:
    """Runs with a fault: how many were seen, and of how many the reason names the fault.

    A judge that goes through the steps also says which one went wrong: a check that is no part of the rule.
    """
    runs = {run["trajectory_id"]: run for run in lines(data / "trajectories.jsonl")}
    clean = {run["instance_id"]: name for name, run in runs.items() if not run["label"]["faulty"]}
    verdicts = {(v["judge_id"], v["trajectory_id"]): v for v in lines(data / "verdicts.jsonl")}
    print(
        "judge                  pairs   seen   of these named   at the step   not at it   "
        "of others named   by accident"
    )
    for judge in ("outcome:qwen2.5:14b", "step:qwen2.5:14b"):
        rows, reasons, texts = [], [], {}
        for name, run in runs.items():
            example = run["instance_id"]
            if not run["label"]["faulty"] or example not in clean:
                continue
            kind = run["label"]["failure_type"]
            for variant, each in ((ORIGINAL, clean[example]), (kind, name)):
                verdict = verdicts[judge, each]
                at_step = verdict["failure_step"] == runs[each]["label"]["failure_step"]
                rows.append((f"{example} {kind}", variant, "overall", verdict["faulty"], at_step))
                reasons.append(verdict["rationale"])
                texts[f"{example} {kind}", variant] = text_of(runs[each])
        table = pd.DataFrame(rows, columns=["example", "variant", "metric", "seen", "at_step"])
        table = with_named(table, pd.Series(reasons), texts)
        table = table[table["variant"] != ORIGINAL]
        seen = table[table["seen"]]
        shares = (
            seen[NAMED].mean(),
            seen.loc[seen["at_step"], NAMED].mean(),
            seen.loc[~seen["at_step"], NAMED].mean(),
            table.loc[~table["seen"], NAMED].mean(),
            table[BY_CHANCE].mean(),
        )
        print(f"{judge:22} {len(table):5} {len(seen):6}", *(f"{share:15.0%}" for share in shares))


def summaries(data: Path, every: int) -> None:
    """By accident, for each kind of damage, over reasons about summaries as they are."""
    documents = {each["id"]: each for each in lines(data / "summeval" / "summeval.jsonl")}
    reasons: dict[str, list[str]] = {}
    with gzip.open(data / "judge_responses" / "summeval_gpt-3.5-turbo-0301.jsonl.gz", "rt") as file:
        for each in map(json.loads, file):
            if each["protocol"] == "rts":
                reasons.setdefault(f"{each['id']} {each['system']}", []).append(each["response"])
    rows = [
        {"id": f"{name} {system}", "source": document["text"], "output": summary}
        for name, document in documents.items()
        for system, summary in zip(document["systems"], document["machine_summaries"], strict=True)
        if f"{name} {system}" in reasons
    ][::every]
    (made,) = dhp.perturb_datasets(rows, task="summarization", text_language="en", progress=False)
    originals = {example.id: example.output for example in made.dataset.examples}
    named: dict[str, list[bool]] = {}
    for text in made.texts:
        if text.text is not None:
            change = change_of(originals[text.example], text.text)
            kind = kind_name(text.variant)
            named.setdefault(kind, []).extend(
                names_change(reason, text.variant, change) for reason in reasons[text.example]
            )
    print("by accident, of reasons about undamaged summaries")
    for kind, hits in named.items():
        print(f"{kind:28} {len(hits):6} {sum(hits) / len(hits):7.1%}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--every", type=int, default=3, help="take one summary of so many")
    asked = parser.parse_args()
    trajectories(asked.data / "trajectory_judge")
    summaries(asked.data, asked.every)


if __name__ == "__main__":
    main()
