"""Measure how much of what judges really answered can be read, and how much is misread.

python scripts/extraction.py DATA_FOLDER [--sample N | --unparsed | --disagreements]
python scripts/extraction.py --labelled FILE [--show]
python scripts/extraction.py --speed

FILE holds one answer a line: its `kind` (score, verdict, label), `form`, `scale` or `labels`, `text` and what
a person reads in it, `right` (null: nothing), and it may name the `metric`; `tests/data/answers.jsonl`,
`ordinary_answers.jsonl` and `hostile_answers.jsonl` are such. DATA_FOLDER holds
`judge_responses/` (DAMO-NLP-SG/LLM_summeval) and `topical_chat/chatgpt_responses/`
(d223302/A-Closer-Look-To-LLM-Evaluation).
"""

import argparse
import gzip
import json
import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from dhp.core.answer_forms import AnswerForm
from dhp.core.seeding import stream
from dhp.core.specs import Scale
from dhp.judge.extraction.extracted import Extracted
from dhp.judge.extraction.labels import read_label
from dhp.judge.extraction.rating import _read_short, read_rating
from dhp.judge.extraction.verdict import read_verdict

FIVE, THREE = Scale(min=1.0, max=5.0), Scale(min=1.0, max=3.0)
SUMMEVAL: dict[str, AnswerForm] = {"rts": "analyze-rate", "stareval": "stars", "mcq": "letters"}
TOPICAL_CHAT: dict[str, AnswerForm] = {
    "geval": "score-only",
    "geval_no_auto_cot": "score-only",
    "llm_eval_no_cot": "free-text",
    "rate_explain": "rate-explain",
    "analyze_rate": "analyze-rate",
}

Protocol = tuple[str, AnswerForm, Scale]
Readings = dict[str, Counter[tuple[str, Extracted]]]
"""Protocol -> each distinct answer as it was read, with how often it stands there."""

NUMBER = re.compile(r"\b(?:[1-5]|[A-E]|one|two|three|four|five)\b")
"""An answer without any of these holds no rating."""


def answers(folder: Path) -> Iterator[tuple[Protocol, str]]:
    """Every answer with its protocol."""
    for file in sorted((folder / "judge_responses").glob("summeval_*.jsonl.gz")):
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                yield (row["protocol"], SUMMEVAL[row["protocol"]], FIVE), row["response"]
    for name, form in TOPICAL_CHAT.items():
        for aspect in ("coh", "nat"):
            file = folder / "topical_chat" / "chatgpt_responses" / f"gpt3.5_{aspect}_{name}.json.gz"
            for item in json.loads(gzip.decompress(file.read_bytes())):
                for response in item["all_responses"]:
                    yield (f"{name} ({aspect})", form, THREE), response


def read(folder: Path) -> Readings:
    """Every answer, read."""
    found: Readings = defaultdict(Counter)
    for (name, form, scale), text in answers(folder):
        found[name][text, read_rating(text, scale, form)] += 1
    return found


def shares(found: Readings) -> Iterator[tuple[str, Counter[str], float]]:
    """Protocol, answers by status, and the share scored of the answers that may hold a rating."""
    for name, counts in found.items():
        by_status: Counter[str] = Counter()
        rated = 0
        for (text, extracted), count in counts.items():
            by_status[extracted.status] += count
            rated += count * (extracted.status == "scored" or NUMBER.search(text) is not None)
        yield name, by_status, by_status["scored"] / rated


def print_table(found: Readings) -> None:
    """One row a protocol, in Markdown."""
    print(
        "| protocol | answers | scored | unparsed | refused | out of scale | share of those with a number |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name, by_status, share in shares(found):
        figures = [by_status[status] for status in ("scored", "unparsed", "refused", "out_of_scale")]
        print(f"| {name} | {' | '.join(f'{n:,}' for n in (by_status.total(), *figures))} | {share:.2%} |")


def print_sample(found: Readings, n: int) -> None:
    """`n` answers, as many of each protocol, with what was read: to be checked by eye."""
    for i, (name, counts) in enumerate(found.items()):
        share = n // len(found) + (i < n % len(found))
        pool = sorted(counts.elements(), key=lambda each: each[0])
        for text, extracted in stream("extraction", "sample", name).sample(pool, share):
            print(f"{name}\t{extracted.status}\t{extracted.score}\t{extracted.rule}\t{text!r}")


def print_failures(found: Readings) -> None:
    """Every distinct answer without a score."""
    for name, counts in found.items():
        for (text, extracted), count in counts.most_common():
            if extracted.status != "scored":
                print(f"{name}\t{extracted.status}\t{count}\t{text!r}")


EXPLICIT = re.compile(
    r"(?:scor|rat|grad|mark)\w{0,3}\b[^\d\n.]{0,60}?(?<![\d.])(\d(?:\.\d+)?)(?![\d%])"
    r"|(?<![\d.])(\d(?:\.\d+)?) ?(?:/|out of) ?\d(?!\d)",
    re.I,
)
"""A number that reads like a rating, by a rule that knows none of the parser's."""


def print_disagreements(found: Readings) -> None:
    """Every distinct reason-first answer whose first or last explicit number is not what was read."""
    for name, counts in found.items():
        if not name.startswith(("rts", "analyze_rate")):
            continue
        read = differ = 0
        for (text, extracted), count in counts.items():
            numbers = [float(m[1] or m[2]) for m in EXPLICIT.finditer(text)]
            read += count
            if numbers and {numbers[0], numbers[-1]} != {extracted.score}:
                differ += count
                print(f"{name}\t{extracted.score}\t{numbers}\t{text!r}")
        print(f"{name}: {differ} of {read} answers to be read by eye")


def labelled(file: Path) -> Iterator[dict[str, Any]]:
    """The answers of a file with their right readings."""
    yield from map(json.loads, file.read_text("utf-8").splitlines())


def outcome(row: Mapping[str, Any]) -> str:
    """Whether a labelled answer is read right, is lost, or is misread."""
    text, cut_off = row["text"], row.get("cut_off", False)
    if row["kind"] == "label":
        read = read_label(text, row["labels"], cut_off=cut_off)
    elif row["kind"] == "verdict":
        read = read_verdict(text, row["form"])
    else:
        low, high = row["scale"]
        names = (row["metric"],) if row.get("metric") else ()
        read = read_rating(text, Scale(min=low, max=high), row["form"], cut_off=cut_off, names=names)
    return "right" if read.score == row["right"] else "lost" if read.score is None else "misread"


def print_outcomes(file: Path, *, show: bool) -> None:
    """Outcomes by kind and form, and with `show` every answer that is not read right."""
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for row in labelled(file):
        found = outcome(row)
        for key in ((row["kind"], row.get("form", "")), ("all", "")):
            counts[key][found] += 1
        if show and found != "right":
            print(f"{found}\t{row['kind']}\t{row.get('form', '')}\t{row['right']}\t{row['text']!r}")
    print("| kind | form | answers | right | lost | misread |\n|---|---|---:|---:|---:|---:|")
    for (kind, form), found in sorted(counts.items(), key=lambda item: (item[0][0] == "all", item[0])):
        figures = " | ".join(
            f"{found[o]:,} ({found[o] / found.total():.1%})" for o in ("right", "lost", "misread")
        )
        print(f"| {kind} | {form} | {found.total():,} | {figures} |")


UNITS = (
    *(
        "9",
        "4 ",
        "the score of 4, ",
        "I rate it 4. ",
        "Rating: ",
        "score of ",
        "(",
        "⭐",
        "一",
        "A is better. ",
        "{",
    ),
    *("<think>", "1. ", "a ", "\n", "not ", "Coherence: 4, ", "[[A]] ", "[", '"', "分", "to 4 ", "is a "),
)
"""What texts of 1 MB are made of to find those that are read slowly."""


def print_speed() -> None:
    """Microseconds of short answers, read anew each time, and the slowest of texts of 1 MB."""
    for text in ("4", "Rating: 4", "Rating: 4. The order is clear, but the last sentence comes too early."):
        start, times = time.perf_counter(), 2_000
        for _ in range(times):
            _read_short.cache_clear()
            read_rating(text, FIVE, "rate-explain", names=("coherence",))
        print(f"{1e6 * (time.perf_counter() - start) / times:8.0f} µs  {text!r}")
    for unit in UNITS:
        text, slowest = unit * (1_000_000 // len(unit)), 0.0
        readers = [
            partial(read_rating, text, FIVE, form) for form in ("analyze-rate", "rate-explain", "letters")
        ]
        readers += [partial(read_verdict, text, "reason-first"), partial(read_label, text, ["fail", "pass"])]
        for reader in readers:
            start = time.perf_counter()
            reader()
            slowest = max(slowest, time.perf_counter() - start)
        print(f"{slowest:8.2f} s of 1 MB of {unit!r}")


def main() -> None:
    """Print the table, the sample or the failures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument(
        "--labelled", type=Path, metavar="FILE", help="measure on answers with right readings"
    )
    parser.add_argument("--show", action="store_true", help="with --labelled: what is not read right")
    parser.add_argument("--sample", type=int, metavar="N", help="print N answers as they were read")
    parser.add_argument("--unparsed", action="store_true", help="print the answers without a score")
    parser.add_argument(
        "--disagreements", action="store_true", help="print what a plain rule reads otherwise"
    )
    parser.add_argument("--speed", action="store_true", help="measure how fast answers are read")
    options = parser.parse_args()
    if options.speed:
        print_speed()
        return
    if options.labelled:
        print_outcomes(options.labelled, show=options.show)
        return
    if options.folder is None:
        parser.error("a folder of data, or --labelled FILE")
    found = read(options.folder)
    if options.sample:
        print_sample(found, options.sample)
    elif options.disagreements:
        print_disagreements(found)
    elif options.unparsed:
        print_failures(found)
    else:
        print_table(found)


if __name__ == "__main__":
    main()
