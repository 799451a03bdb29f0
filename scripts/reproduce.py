"""Published agreement figures beside ours, from published data and recorded answers.

python scripts/reproduce.py ../shared/data [--quick]

Topical-Chat: Chiang and Lee (2023), gpt-3.5-turbo-0613. SummEval: the row of ROUGE-1 of
Wang et al. (2023). Each cell: published, ours, difference.
"""

import gzip
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import fmean

import numpy as np

from dhp.content.catalog import read_task
from dhp.core.protocol_spec import AnswerForm
from dhp.core.records import Candidate
from dhp.core.seeding import text_hash
from dhp.core.specs import Scale
from dhp.human.correlation import Coefficient, Level, correlate
from dhp.human.scores import Floats
from dhp.judge.extraction.rating import read_rating
from dhp.judge.metrics.judge import metric_judge
from dhp.loaders.rated import RatedText, read_rated

# Pearson pooled and Kendall per source of naturalness, then of coherence.
TOPICAL_CHAT: dict[tuple[str, AnswerForm], tuple[float, ...]] = {
    ("geval", "score-only"): (0.393, 0.358, 0.468, 0.391),
    ("geval_no_auto_cot", "score-only"): (0.408, 0.331, 0.443, 0.404),
    ("llm_eval_no_cot", "free-text"): (0.464, 0.476, 0.524, 0.426),
    ("analyze_rate", "analyze-rate"): (0.524, 0.470, 0.477, 0.416),
}
# Spearman, Pearson, Kendall per source.
ROUGE_1 = {
    "coherence": (0.167, 0.160, 0.126),
    "relevance": (0.326, 0.359, 0.252),
    "consistency": (0.160, 0.224, 0.130),
    "fluency": (0.115, 0.158, 0.094),
}
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
    (found,) = correlate(human, judge, levels=[level], coefficients=[coefficient], resamples=0)
    return float("nan") if found.value is None else found.value


def first_digit(answer: str, form: AnswerForm) -> float | None:
    """The study's own reading, in which 2.5 is 2: the first digit, after reasons the one behind "rating"."""
    found = re.search(r"rating:?\D*(\d)" if form == "analyze-rate" else r"(\d)", answer, re.I)
    return float(found[1]) if found else None


def topical_chat(folder: Path, reading: str = "ours") -> Iterator[Cell]:
    texts = read_rated("topical_chat", folder / "topical_chat.json")
    for (protocol, form), published in TOPICAL_CHAT.items():
        for k, metric in enumerate(("naturalness", "coherence")):
            human, places = grid(texts, metric)
            judge = np.full(human.shape, np.nan)
            file = folder / "chatgpt_responses" / f"gpt3.5_{metric[:3]}_{protocol}.json.gz"
            for row in json.loads(gzip.decompress(file.read_bytes())):
                scores = [s for a in row["all_responses"] if (s := _read(a, form, reading)) is not None]
                key = (text_hash(f"{row['source']}\n{row['context']}"), row["system_id"])
                judge[places[key]] = fmean(scores) if scores else np.nan
            name = f"topical_chat {protocol} {metric}"
            yield f"{name} Pearson, pooled", published[2 * k], value(human, judge, "pooled", "pearson")
            yield (
                f"{name} Kendall, per source",
                published[2 * k + 1],
                value(human, judge, "per_source", "kendall"),
            )


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


def summeval(folder: Path) -> Iterator[Cell]:
    texts = read_rated("summeval", folder / "summeval" / "summeval.jsonl")
    scores = rouge(texts, "metric/rouge1")
    for metric, published in ROUGE_1.items():
        human, places = grid(texts, metric)
        judge = np.full(human.shape, np.nan)
        for key, place in places.items():
            judge[place] = scores[key]
        coefficients: tuple[Coefficient, ...] = ("spearman", "pearson", "kendall")
        for coefficient, expected in zip(coefficients, published, strict=True):
            found = value(human, judge, "per_source", coefficient)
            yield f"summeval rouge1 {metric} {coefficient}, per source", expected, found


def main(folder: Path, quick: bool) -> None:
    parts: list[Callable[[], Iterator[Cell]]] = [lambda: topical_chat(folder / "topical_chat")]
    if not quick:
        parts.append(lambda: summeval(folder))
    for part in parts:
        for name, published, ours in part():
            print(f"{name:62} {published:7.3f} {ours:7.3f} {ours - published:+7.3f}")
    print("\nThe same with the study's own reading, the first digit of an answer:")
    for name, published, ours in topical_chat(folder / "topical_chat", "first digit"):
        print(f"{name:62} {published:7.3f} {ours:7.3f} {ours - published:+7.3f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), "--quick" in sys.argv)
