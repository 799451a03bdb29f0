"""Mutate recorded answers and read them: nothing may fail, and nothing may hang.

python scripts/fuzz_extraction.py DATA_FOLDER [--n 10000] [--seed 0]
python scripts/fuzz_extraction.py --long

Prints, for each kind of mutation, how many answers were read in every form, how many of them raised, hung or
broke the rules of a reading (a score off the scale, neither a choice nor a reason), and the slowest reading.
With `--long`, the seconds that one reading of 100 kB and of 1 MB of the same unit takes.
"""

import argparse
import json
import random
import runpy
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from dhp.core.protocol_spec import PAIRWISE_FORMS, POINTWISE_FORMS, AnswerForm
from dhp.core.seeding import stream
from dhp.core.specs import Scale
from dhp.judge.extraction.rating import read_rating
from dhp.judge.extraction.verdict import read_verdict

SCALES = [Scale(min=float(low), max=float(high)) for low, high in [(1, 5), (1, 3), (0, 100), (-2, 2)]]
SLOW = 1.0
"""Seconds of CPU from which a reading counts as a hang."""
PIECES = (
    "⟦ ⟧ ⟦?⟧ <think> </think> [[ ]] 1e309 -0 ½ ٤ ² ① ★☆ 四分之三 百 % / 1-5 \\frac{ $ ** ``` \x00 \u202e"
    " \ud800 \u200b if would not Output (a) Rating: Score 9 0"
).split(" ")


def cut(text: str, rng: random.Random) -> str:
    """A part of it."""
    start, end = sorted(rng.randrange(len(text) + 1) for _ in range(2))
    return text[start:end]


def insert(text: str, rng: random.Random) -> str:
    """With a few odd pieces put in."""
    for _ in range(rng.randint(1, 5)):
        place = rng.randrange(len(text) + 1)
        text = text[:place] + rng.choice(PIECES) + text[place:]
    return text


def shuffle(text: str, rng: random.Random) -> str:
    """Its words in another order."""
    words = text.split(" ")
    rng.shuffle(words)
    return " ".join(words)


def repeat(text: str, rng: random.Random) -> str:
    """A part of it many times over."""
    return cut(text, rng)[: rng.choice([5, 40, 200])] * rng.randint(2, 40)


def substitute(text: str, rng: random.Random) -> str:
    """Single characters replaced by others."""
    characters = list(text)
    for _ in range(rng.randint(1, 8) if characters else 0):
        characters[rng.randrange(len(characters))] = chr(
            rng.choice([rng.randrange(32, 127), rng.randrange(0x3100)])
        )
    return "".join(characters)


MUTATIONS: dict[str, Callable[[str, random.Random], str]] = {
    each.__name__: each for each in (cut, insert, shuffle, repeat, substitute)
}


@dataclass
class Outcome:
    """What became of one kind of mutation."""

    read: int = 0
    faults: int = 0
    slowest: float = 0.0


def rating_fault(text: str, form: AnswerForm, scale: Scale) -> str | None:
    """What is wrong with the rating that is read, if anything."""
    read = read_rating(text, scale, form, cut_off=len(text) % 2 == 0)
    if (read.score is None) == (read.status == "scored"):
        return "a score without its status"
    off = read.score is not None and not scale.min <= read.score <= scale.max
    return "a score off the scale" if off else None


def verdict_fault(text: str, form: AnswerForm) -> str | None:
    """What is wrong with the verdict that is read, if anything."""
    read = read_verdict(text, form)
    return "neither a choice nor a reason" if (read.choice is None) == (read.reason is None) else None


def fault(text: str, scale: Scale) -> tuple[str | None, float]:
    """What goes wrong in reading a text in every form, if anything, and the slowest reading."""
    slowest = 0.0
    checks: list[Callable[[str], str | None]] = [
        *(partial(rating_fault, form=form, scale=scale) for form in POINTWISE_FORMS if form != "mix"),
        *(partial(verdict_fault, form=form) for form in PAIRWISE_FORMS),
    ]
    for check in checks:
        start = time.process_time()
        try:
            wrong = check(text)
        except Exception as error:  # noqa: BLE001  any exception is what this looks for
            wrong = f"{type(error).__name__}: {error}"
        seconds = time.process_time() - start
        slowest = max(slowest, seconds)
        if wrong or seconds > SLOW:
            return wrong or "hang", slowest
    return None, slowest


def fuzz(answers: Sequence[str], n: int, seed: int) -> dict[str, Outcome]:
    """Read `n` mutated answers, as many of each kind."""
    found = {name: Outcome() for name in MUTATIONS}
    kinds = list(MUTATIONS.items())
    for i in range(n):
        rng = stream("fuzz", seed, i)
        name, mutate = kinds[i % len(kinds)]
        text = mutate(rng.choice(answers), rng)
        wrong, seconds = fault(text, rng.choice(SCALES))
        outcome = found[name]
        outcome.read += 1
        outcome.slowest = max(outcome.slowest, seconds)
        if wrong:
            outcome.faults += 1
            print(f"{name}\t{wrong}\t{text[:200]!r}")
    return found


UNITS = (
    "9|(|4 |a |score of |1. |⭐|☆★|一|Rating: 4\n|<think>|<think></think>|1-5 |3.|{|A-|a(1) |4/5 |**|⟦|$|_"
    "|1, |would make it a |if it were |Final score: 4/5\n|a. b: 3. |response 1: 2 |Output (a) is "
    "|both the two |[[|A is |not |五分之|\\frac{1}{2}|\n|from |1 or 2 or "
).split("|")


def print_growth() -> None:
    """Seconds of CPU for long texts of one unit, the slowest last."""
    print("| unit | 100 kB | 1 MB |\n|---|---:|---:|")
    rows = []
    for unit in UNITS:
        texts = [unit * (size // len(unit)) for size in (100_000, 1_000_000)]
        slow = [fault(text, SCALES[0])[1] for text in texts]
        rows.append((slow[1], unit, slow[0]))
    for long, unit, short in sorted(rows):
        print(f"| {unit!r} | {short:.3f} | {long:.3f} |")


def recorded(folder: Path) -> list[str]:
    """Answers about one text and about two."""
    script = runpy.run_path(str(Path(__file__).with_name("extraction.py")))
    answers = {text for _, text in script["answers"](folder)}
    for file in sorted((folder / "llmbar").glob("answers-*.jsonl")):
        for row in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
            answers.update(row[key] for key in ("answer_as_given", "answer_swapped") if key in row)
    return sorted(answers)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--long", action="store_true", help="read long texts instead")
    parser.add_argument("--n", type=int, default=10_000, help="mutated answers")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.long:
        print_growth()
        return
    if options.folder is None:
        parser.error("give DATA_FOLDER, or --long")
    print("| mutation | answers read | faults | slowest, seconds of CPU |\n|---|---:|---:|---:|")
    for name, outcome in fuzz(recorded(options.folder), options.n, options.seed).items():
        print(f"| {name} | {outcome.read:,} | {outcome.faults} | {outcome.slowest:.3f} |")


if __name__ == "__main__":
    main()
