"""The published tables that released data allow to recompute, each figure beside ours.

python scripts/reproduce.py DATA [PART ...] [--json | --write | --check]

DATA is a folder of published data; the published figures stand in scripts/published.csv. A cell that differs
by more than .002 says why. --write puts their table into docs/agreement.md, --check exits with 1 if it has
others. Exit 2 where DATA, a file in it or a package is missing.
"""

import csv
import gzip
import json
import math
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, lru_cache, partial
from importlib import import_module
from pathlib import Path
from statistics import fmean
from typing import Literal

import numpy as np
import pandas as pd
from results_pages.summeval import recorded_ratings

from dhp.content.catalog import read_card
from dhp.core.answer_forms import AnswerForm
from dhp.core.errors import InputError, require
from dhp.core.files import read_lines
from dhp.core.records import Candidate
from dhp.core.seeding import text_hash
from dhp.core.specs import Scale
from dhp.judge.extraction.rating import read_rating
from dhp.loaders.dataset import measure
from dhp.loaders.rated import RatedText, human_scores, read_rated
from dhp.loaders.resolve import published as published_set
from dhp.plugins.human.agreement import Agreement, correlate
from dhp.plugins.human.correlation import Coefficient, Level, correlations
from dhp.plugins.human.williams import Williams, williams
from dhp.stats.arrays import Floats

WITHIN = 0.002
WANG, CHIANG, DHP = "Wang et al. 2023", "Chiang and Lee 2023", "Wang et al. 2025"
COEFFICIENTS: dict[str, Coefficient] = {"Spearman": "spearman", "Pearson": "pearson", "Kendall": "kendall"}
LEVELS: dict[str, Level] = {"within sources": "per_source", "all items": "pooled", "systems": "system"}
KINDS = {"ROUGE-1": "rouge1", "ROUGE-2": "rouge2", "ROUGE-L": "rougeLsum"}
DIGIT, OURS = "first digit", "our reading"
REASONS: dict[tuple[str, str, str], str] = {
    (CHIANG, "Table 2", "Rate-explain, no Auto-CoT"): "the row prints those of the released analyze_rate",
    (CHIANG, "Table 2", "Analyze-rate, no Auto-CoT"): "the row repeats Table 4: Pearson within sources",
    (CHIANG, "", OURS): "we read 2.5 as 2.5; the study reads the first digit",
    (DHP, "Table 2", "SummEval"): "the data here are tokenised: a space before each mark",
    (DHP, "Table 2", "SumPubMed"): "the paper may have left out short sections, see dhp show sumpubmed",
    (DHP, "Table 2", "WMT-22 Chinese-to-English"): "another random choice of 100",
}
"""Paper, table, row (or how ours is computed) -> why a figure differs by more than WITHIN."""


@dataclass(frozen=True)
class Cell:
    """One figure of ours beside the published one, if there is one."""

    paper: str
    table: str
    row: str
    column: str
    published: float | None
    ours: float = math.nan
    how: str = ""
    """How ours is computed."""
    why: str = ""
    """Why it differs by more than WITHIN; empty where it does not."""


def published_figures() -> Iterator[Cell]:
    """Without ours."""
    with (Path(__file__).parent / "published.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            yield Cell(row["paper"], row["table"], row["row"], row["column"], float(row["value"]))


def beside(printed: Cell, ours: float, how: str) -> Cell:
    """A published figure with ours, of which no digit is rounded."""
    assert printed.published is not None
    why = ""
    if abs(ours - printed.published) > WITHIN:
        place = (printed.paper, printed.table, printed.row)
        why = REASONS.get(place) or REASONS.get((printed.paper, "", how), "cause not found")
    return replace(printed, ours=ours, how=how, why=why)


def grid(texts: Sequence[RatedText], metric: str) -> tuple[Floats, dict[tuple[str, str], tuple[int, int]]]:
    """Human scores, shape (sources, systems), and the place of each text in it."""
    sources: dict[str, int] = {}
    systems: dict[str, int] = {}
    places = {}
    for text, _ in texts:
        source = sources.setdefault(text.example, len(sources))
        system = systems.setdefault(text.variant, len(systems))
        places[text.example, text.variant] = source, system
    human = np.full((len(sources), len(systems)), np.nan)
    for text, scores in texts:
        human[places[text.example, text.variant]] = scores[metric]
    return human, places


def value(human: Floats, judge: Floats, level: Level, coefficient: Coefficient) -> float:
    (found,) = correlations(human, judge, levels=[level], coefficients=[coefficient], resamples=0)
    return float("nan") if found.value is None else found.value


PROTOCOLS: dict[str, tuple[str, AnswerForm]] = {
    "Score only, Auto-CoT": ("geval", "score-only"),
    "Score only, no Auto-CoT": ("geval_no_auto_cot", "score-only"),
    "Free Text, no Auto-CoT": ("llm_eval_no_cot", "free-text"),
    "Rate-explain, no Auto-CoT": ("rate_explain", "rate-explain"),
    "Analyze-rate, no Auto-CoT": ("analyze_rate", "analyze-rate"),
}
"""Row of Chiang and Lee -> the released answers and their form."""


def first_digit(answer: str, form: AnswerForm) -> float | None:
    """The study's own reading, in which 2.5 is 2: the first digit, after reasons the one behind "rating"."""
    found = re.search(r"rating:?\D*(\d)" if form == "analyze-rate" else r"(\d)", answer, re.I)
    return float(found[1]) if found else None


@cache
def judged(folder: Path, metric: str, protocol: str, form: AnswerForm, reading: str) -> tuple[Floats, Floats]:
    """Human scores and the judge's means of Topical-Chat, shape (dialogues, systems)."""
    human, places = grid(read_rated("topical_chat", folder / "topical_chat.json"), metric)
    judge = np.full(human.shape, np.nan)
    file = folder / "chatgpt_responses" / f"gpt3.5_{metric[:3]}_{protocol}.json.gz"
    for row in json.loads(gzip.decompress(file.read_bytes())):
        read = [_read(answer, form, reading) for answer in row["all_responses"]]
        scores = [score for score in read if score is not None]
        dialogue = text_hash(f"{row['source']}\n{row['context']}")
        judge[places[dialogue, row["system_id"]]] = fmean(scores) if scores else np.nan
    return human, judge


@cache
def _read(answer: str, form: AnswerForm, reading: str) -> float | None:
    if reading == DIGIT:
        return first_digit(answer, form)
    return read_rating(answer, Scale(min=1, max=3), form).score


def topical_chat(folder: Path, reading: str) -> Iterator[Cell]:
    """Tables 2 and 4 of Chiang and Lee: Kendall within sources; Pearson over all items, in Table 4 within."""
    scores: dict[tuple[str, str], tuple[Floats, Floats]] = {}
    for printed in published_figures():
        if printed.paper != CHIANG:
            continue
        metric, coefficient = printed.column.split(", ")
        key = (printed.row, metric)
        if key not in scores:
            scores[key] = judged(folder / "topical_chat", metric, *PROTOCOLS[printed.row], reading)
        pooled = (printed.table, coefficient) == ("Table 2", "Pearson")
        level: Level = "pooled" if pooled else "per_source"
        yield beside(printed, value(*scores[key], level, COEFFICIENTS[coefficient]), reading)


Part = Literal["fmeasure", "recall", "precision"]


@dataclass(frozen=True)
class RougeTables:
    """The ROUGE rows of a set in Wang et al. (2023)."""

    levels: dict[str, Level | None]
    """Table -> level; None where the columns name it."""
    part: Part = "fmeasure"
    over: Callable[[list[float]], float] = fmean
    """Makes one score of those against each reference."""
    how: str = "F1, mean over references"


ROUGE = {
    "summeval": RougeTables({"Table 1": "per_source", "Table 4": "pooled"}),
    "newsroom": RougeTables({"Table 2": "per_source", "Table 5": "pooled"}),
    "realsumm": RougeTables({"Table 3": None}, "recall", how="recall"),
    "bagel": RougeTables({"Table 7": "pooled"}, "precision", max, "precision, best reference"),
}


class OriginalStems:
    """Tokens as rouge-score makes them, with the stems of Porter (1980), without nltk's additions to them."""

    def __init__(self) -> None:
        porter = import_module("nltk.stem.porter").PorterStemmer
        self._stem = lru_cache(maxsize=None)(porter(porter.ORIGINAL_ALGORITHM).stem)

    def tokenize(self, text: str) -> list[str]:
        return [self._stem(w) if len(w) > 3 else w for w in re.findall("[a-z0-9]+", text.lower())]


def rouge(texts: Sequence[RatedText], kind: str, tables: RougeTables) -> dict[tuple[str, str], float]:
    """The score of each text against its references, as ROUGE-1.5.5 prints it, to five decimals.

    It reads HTML: of a sentence what stands before the first "<". A sentence ends at " .", as the study
    splits these tokenised texts. F is made of the printed recall and precision, so that some texts tie.
    """
    require("rouge-score", purpose="ROUGE", extra="metrics")
    scorer = import_module("rouge_score.rouge_scorer").RougeScorer([kind], tokenizer=OriginalStems())

    @lru_cache(maxsize=4096)
    def lines(text: str) -> str:
        return "\n".join(sentence.partition("<")[0] for sentence in text.split(" ."))

    def score(text: str, reference: str) -> float:
        found = scorer.score(lines(reference), lines(text))[kind]
        recall, precision = round(found.recall, 5), round(found.precision, 5)
        f = round(2 * recall * precision / (recall + precision), 5) if recall + precision else 0.0
        return {"fmeasure": f, "recall": recall, "precision": precision}[tables.part]

    figures = {}
    for text, _ in texts:
        scores = [score(text.text, reference) for reference in text.references]
        figures[text.example, text.variant] = round(tables.over(scores), 5)
    return figures


def rouge_rows(folder: Path, name: str) -> Iterator[Cell]:
    """The ROUGE rows of a set."""
    tables, found = ROUGE[name], dict[str, dict[tuple[str, str], float]]()
    file = folder / name / f"{name}.jsonl"
    texts = bagel(file) if name == "bagel" else read_rated(name, file)
    for printed in published_figures():
        if printed.paper != WANG or printed.table not in tables.levels:
            continue
        kind, (subject, coefficient) = KINDS[printed.row], printed.column.split(", ")
        if kind not in found:
            found[kind] = rouge(texts, kind, tables)
        level = tables.levels[printed.table] or LEVELS[subject]
        human, places = grid(texts, "litepyramid_recall" if subject in LEVELS else subject)
        judge = np.full(human.shape, np.nan)
        for key, place in places.items():
            judge[place] = found[kind][key]
        yield beside(printed, value(human, judge, level, COEFFICIENTS[coefficient]), tables.how)


def bagel(file: Path) -> list[RatedText]:
    """BAGEL, one text a line."""
    metrics = ("informativeness", "naturalness", "quality")
    texts = []
    for line in read_lines(file):
        row = json.loads(line)
        references = tuple(row["references"])
        text = Candidate(row["id"], "system", row["output"], row["source"], references=references)
        texts.append((text, {metric: row[metric] for metric in metrics}))
    return texts


STATISTICS = {
    "SummEval": ("summeval", "summeval/summeval.jsonl"),
    "SumPubMed": ("sumpubmed", "sumpubmed"),
    "WMT-22 Chinese-to-English": ("wmt22_zhen", "wmt22"),
}
"""Row of Table 2 -> set and place; for German to English the data lack the bounds of documents."""


def statistics(folder: Path) -> Iterator[Cell]:
    """Table 2 of Wang et al. (2025): the mean reference text of the 100 examples of seed 0."""
    means = {}
    for printed in published_figures():
        if printed.paper == DHP and printed.row in STATISTICS:
            name, place = STATISTICS[printed.row]
            if name not in means:
                chosen = published_set(name, folder / place).chosen(read_card(name).n or 100, 0)
                means[name] = measure(chosen.examples)
            yield beside(printed, round(getattr(means[name], printed.column), 1), "nltk, seed 0")


def recorded_judge(folder: Path) -> Agreement:
    """gpt-3.5-turbo-0301 on 12 systems of SummEval, reason then score and stars, by the user's own way."""
    ratings = pd.concat([recorded_ratings(folder, protocol) for protocol in ("rts", "stareval")])
    ratings["model"] = "gpt-3.5-turbo-0301"
    human = pd.DataFrame(human_scores(read_rated("summeval", folder / "summeval" / "summeval.jsonl")))
    return correlate(ratings, human)


def judge(folder: Path) -> Iterator[Cell]:
    """The answers that Shen et al. (2023) released, of which no published figure is at hand."""
    found, place = recorded_judge(folder), ("Shen et al. 2023", "no table at hand")
    for one in found.judges:
        for metric in one.metrics:
            for c in metric.correlations:
                if c.value is not None:
                    yield Cell(*place, one.judge, f"{metric.metric}, {c.coefficient}", None, c.value, c.level)
    for pair in found.pairs:
        if pair.williams:
            row = f"{pair.first} against {pair.second}"
            yield Cell(*place, row, pair.metric, None, pair.williams.t, "Williams' t")


COMPARED: tuple[tuple[tuple[str, AnswerForm], tuple[str, AnswerForm]], ...] = (
    (("geval", "score-only"), ("geval_no_auto_cot", "score-only")),
    (("llm_eval_no_cot", "free-text"), ("geval_no_auto_cot", "score-only")),
)
"""The studies' own comparisons: Auto-CoT against none, free text against a score only."""


def compared(folder: Path) -> Iterator[tuple[str, str, Williams]]:
    """Protocols, metric and Williams' test of each comparison on Topical-Chat."""
    for first, second in COMPARED:
        for metric in ("naturalness", "coherence"):
            human, one = judged(folder / "topical_chat", metric, *first, OURS)
            _, other = judged(folder / "topical_chat", metric, *second, OURS)
            there = ~(np.isnan(human) | np.isnan(one) | np.isnan(other))
            r = np.corrcoef([human[there], one[there], other[there]])
            test = williams(float(r[0, 1]), float(r[0, 2]), float(r[1, 2]), int(there.sum()))
            assert test
            yield f"{first[0]} against {second[0]}", metric, test


def williams_tests(folder: Path) -> Iterator[Cell]:
    for row, metric, test in compared(folder):
        yield Cell(CHIANG, "section 3", row, metric, None, test.t, "Williams' t")
        yield Cell(CHIANG, "section 3", row, metric, None, test.p_two_sided, "Williams' p, two-sided")


PARTS: dict[str, Callable[[Path], Iterator[Cell]]] = {
    **{name: partial(rouge_rows, name=name) for name in ROUGE},
    "topical_chat": partial(topical_chat, reading=DIGIT),
    "topical_chat_ours": partial(topical_chat, reading=OURS),
    "statistics": statistics,
    "judge": judge,
    "williams": williams_tests,
}


def show(cells: Sequence[Cell]) -> None:
    """Print the cells by table, and how many agree."""
    tables: dict[tuple[str, str, str], list[Cell]] = {}
    for cell in cells:
        tables.setdefault((cell.paper, cell.table, cell.how), []).append(cell)
    for title, of_table in tables.items():
        print(f"\n{', '.join(title)}")
        for cell in of_table:
            figures = f"{'–':>7} {cell.ours:8.3f}"
            if cell.published is not None:
                figures = f"{cell.published:7.3f} {cell.ours:8.3f} {cell.ours - cell.published:+8.3f}"
            print(f"  {cell.row:44} {cell.column:26} {figures}" + (f"  {cell.why}" if cell.why else ""))
    print(f"\n{count(cells)}")


def count(cells: Sequence[Cell]) -> str:
    printed = [cell for cell in cells if cell.published is not None]
    return f"{len(printed)} published figures, {sum(not c.why for c in printed)} within {WITHIN:g}"


SAID = {
    "summeval": "ROUGE, F1, mean over eleven references (Wang et al. 2023, Tables 1 and 4)",
    "newsroom": "ROUGE, F1 (Tables 2 and 5)",
    "realsumm": "ROUGE, recall (Table 3)",
    "bagel": "ROUGE, precision, best reference (Table 7)",
    "topical_chat": "answers of gpt-3.5-turbo-0613, first digit (Chiang and Lee 2023, Tables 2 and 4)",
    "topical_chat_ours": "the same answers, read by our rules",
    "statistics": "mean length of the references (Wang et al. 2025, Table 2)",
}
PAGE = Path(__file__).resolve().parent.parent / "docs" / "agreement.md"
MARKED = re.compile(r"(<!-- figures: scripts/reproduce.py -->\n).*?(<!-- end of figures -->\n)", re.S)


def page_table(parts: dict[str, list[Cell]]) -> str:
    """What the page shows: how many figures of each part agree, and the largest difference."""
    cells = [cell for of_part in parts.values() for cell in of_part]
    lines = [f"{count(cells)}:", ""]
    lines += ["| part | figures | within .002 | largest difference |", "|---|--:|--:|--:|"]
    for part, said in SAID.items():
        apart = [abs(c.ours - c.published) for c in parts[part] if c.published is not None]
        agree = sum(not c.why for c in parts[part])
        lines.append(f"| `{part}`: {said} | {len(apart)} | {agree} | {_short(max(apart), 4)} |")
    return "\n".join(lines) + "\n"


def _short(figure: float, digits: int = 3) -> str:
    """Without the zero before the point; mean numbers of characters and words as the paper prints them."""
    return f"{figure:.1f}" if abs(figure) > 10 else re.sub(r"^(-?)0\.", r"\1.", f"{figure:.{digits}f}")


def renew_page(parts: dict[str, list[Cell]], check: bool) -> None:
    """Write the table, or with `check` exit with a line if the page has another."""
    text = PAGE.read_text(encoding="utf-8")
    new = MARKED.sub(lambda m: m[1] + page_table(parts) + m[2], text)
    if check and new != text:
        sys.exit(f"{PAGE.name}: figures are out of date; run scripts/reproduce.py DATA --write")
    if not check:
        PAGE.write_text(new, encoding="utf-8")


def main(arguments: Sequence[str]) -> None:
    options = {each for each in arguments if each in ("--json", "--write", "--check")}
    folder, *chosen = [each for each in arguments if each not in options] or [""]
    if not folder or not Path(folder).is_dir():
        raise InputError(f"'{folder}': is no folder; allowed: DATA, a folder of published data")
    unknown = [part for part in chosen if part not in PARTS]
    if unknown:
        raise InputError(f"unknown part '{unknown[0]}'; allowed: {', '.join(PARTS)}")
    if chosen and options - {"--json"}:
        raise InputError(f"{min(options)}: the page shows all parts; allowed: DATA without PART")
    parts = {part: list(PARTS[part](Path(folder))) for part in chosen or PARTS}
    cells = [cell for of_part in parts.values() for cell in of_part]
    if "--json" in options:
        print(json.dumps([asdict(cell) for cell in cells], indent=1))
    elif options:
        renew_page(parts, check="--check" in options)
    else:
        show(cells)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (InputError, OSError, ImportError) as e:
        print(f"error: {e}", file=sys.stderr)
        sys.exit(2)
