"""What real judges show: make docs/results/ from recorded answers and released scores; nothing is asked.

    python scripts/results.py ../shared/data [--out FOLDER] [--only SET] [--check]
    python scripts/results.py ../shared/data --ratings SET > ratings.csv      for `dhp analyze`

DATA holds the published data, a folder a set. What is missing is said in one line, the rest is made.
"""

import argparse
import logging
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import pandas as pd
from results_pages.blind_spot import blind_spot, blind_spot_ratings
from results_pages.checkpoints import mslc24, mslc24_ratings
from results_pages.judge_bench import llm_judge_bench, llm_judge_bench_ratings
from results_pages.judgebench import (
    judgebench,
    judgebench_by_length,
    judgebench_ratings,
    judgebench_verdicts,
)
from results_pages.judgebench_claude import judgebench_claude, judgebench_claude_read
from results_pages.llmbar import llmbar, llmbar_ratings, llmbar_verdicts
from results_pages.memory_judge import locomo_judge, locomo_ratings
from results_pages.mini import mini
from results_pages.nullmodel import nullmodel, nullmodel_ratings
from results_pages.pages import all_pages
from results_pages.parts import SetFigures
from results_pages.picture import described
from results_pages.released import agents, agents_ratings, agents_verdicts, bump, bump_ratings, demetr
from results_pages.rewardbench2 import rewardbench2, rewardbench2_ratings
from results_pages.small_judges import small_judges, small_judges_ratings
from results_pages.summeval import summeval
from results_pages.trec_rag import trec_rag, trec_rag_ratings
from results_pages.uijudge import uijudge, uijudge_ratings

from dhp.core.errors import InputError

HOME = Path(__file__).resolve().parent.parent
SETS: Mapping[str, Callable[[Path], SetFigures]] = {
    "blind_spot": blind_spot,
    "trec_rag": trec_rag,
    "uijudge": uijudge,
    "locomo_judge": locomo_judge,
    "llm_judge_bench": llm_judge_bench,
    "mslc24": mslc24,
    "rewardbench2": rewardbench2,
    "judgebench_claude": judgebench_claude,
    "judgebench": judgebench,
    "agents": agents,
    "llmbar": llmbar,
    "bump": bump,
    "demetr": demetr,
    "nullmodel": nullmodel,
    "small_judges": small_judges,
    "summeval": summeval,
    "mini": mini,
}
RATINGS: Mapping[str, Callable[[Path], pd.DataFrame]] = {
    "blind_spot": blind_spot_ratings,
    "trec_rag": trec_rag_ratings,
    "uijudge": uijudge_ratings,
    "locomo_judge": locomo_ratings,
    "llm_judge_bench": llm_judge_bench_ratings,
    "mslc24": mslc24_ratings,
    "nullmodel": nullmodel_ratings,
    "small_judges": small_judges_ratings,
    "rewardbench2": rewardbench2_ratings,
    "judgebench_claude_read": judgebench_claude_read,
    "judgebench": judgebench_ratings,
    "judgebench_by_length": judgebench_by_length,
    "judgebench_verdicts": judgebench_verdicts,
    "agents": agents_ratings,
    "agents_verdicts": agents_verdicts,
    "llmbar": llmbar_ratings,
    "llmbar_verdicts": llmbar_verdicts,
    "bump": bump_ratings,
}
"""What a published set holds, as a table that dhp reads: ratings, or what was preferred in both orders."""
_DESCRIBED = re.compile(r'(src="docs/results/blind-spot-light.svg" alt=")[^"]*"')


def made(data: Path, names: Sequence[str]) -> list[SetFigures]:
    """The figures of these sets; what cannot be made is said on stderr and left out."""
    found = []
    for name in names:
        try:
            figures = SETS[name](data)
        except InputError as e:
            print(f"left out: {name}: {e}", file=sys.stderr)
            continue
        for line in figures.left_out:
            print(f"left out: {line}", file=sys.stderr)
        found.append(figures)
    return found


def write(pages: Mapping[str, str], folder: Path) -> None:
    """The pages in place of those of an earlier call; other files stay."""
    for old in [*folder.glob("sets/*.html"), *folder.glob("judges/*.html")]:
        old.unlink()
    for name, text in pages.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def differing(pages: Mapping[str, str], folder: Path) -> list[str]:
    """The pages that are not what stands in the folder."""
    there = {name: folder / name for name in pages}
    return [
        name for name, path in there.items() if not path.is_file() or path.read_text("utf-8") != pages[name]
    ]


def _describe(shown: str, match: re.Match[str]) -> str:
    return f'{match[1]}{shown}"'


def write_readme(sets: Sequence[SetFigures]) -> None:
    """Put the description of the picture into the README."""
    readme = HOME / "README.md"
    text = readme.read_text("utf-8")
    for figures in sets:
        if figures.name == "blind_spot":
            text = _DESCRIBED.sub(partial(_describe, described(figures)), text)
    readme.write_text(text, encoding="utf-8")


def main() -> None:
    """Write the pages and the words of the README's picture, or say with --check which are out of date."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, help="folder of published data")
    parser.add_argument("--out", type=Path, default=HOME / "docs" / "results", help="default: docs/results")
    parser.add_argument("--only", action="append", choices=SETS, help="this set; may be repeated")
    parser.add_argument(
        "--ratings", choices=RATINGS, help="print the ratings of this set as CSV, nothing else"
    )
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a page is out of date")
    given = parser.parse_args()
    if not given.data.is_dir():
        parser.error(f"{given.data}: is not a folder; allowed: a folder of published data")
    if given.ratings:
        try:
            print(RATINGS[given.ratings](given.data).to_csv(index=False), end="")
        except InputError as e:
            parser.error(str(e))
        return
    logging.getLogger("dhp").setLevel(logging.ERROR)
    sets = made(given.data, given.only or list(SETS))
    if not sets:
        sys.exit("nothing could be made")
    pages = all_pages(sets)
    if given.check:
        old = differing(pages, given.out)
        sys.exit(f"out of date: {', '.join(old)}" if old else 0)
    write(pages, given.out)
    if given.out == HOME / "docs" / "results" and not given.only:
        write_readme(sets)
    size = sum(len(text.encode()) for text in pages.values())
    print(f"{given.out}: {len(pages)} pages, {size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
