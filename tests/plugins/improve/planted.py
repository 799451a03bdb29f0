"""A server whose judge notices damage as often as its prompt deserves, and the texts that it judges."""

import csv
import hashlib
import random
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.server import Answer, Call, Says, Scripted, reply, scripted_server

PROMPT = """Ticket: {ticket}

Summary: {summary}

How useful is the summary to an agent, from 1 to 10?
Rating:
"""
_PLACES = "office kitchen garage cellar library workshop station museum harbour school".split()
_THINGS = "printer heater scanner camera projector keyboard telephone freezer monitor router".split()
_PEOPLE = "Anna Boris Clara Dieter Elena Farid Greta Hugo Irene Jonas".split()
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()


def summary(number: int) -> str:
    """A good summary of ticket `number`; no two are alike."""
    chosen = random.Random(number)
    person, place, thing = (chosen.choice(each) for each in (_PEOPLE, _PLACES, _THINGS))
    day, later = chosen.sample(_DAYS, 2)
    return (
        f"{person} wrote on {day} that the {thing} in the {place} had stopped. "
        f"The warning lamp has been blinking since {number + 3} minutes after noon. "
        f"A new part costs {40 + number} euros, and {person} asks whether it can be ordered before {later}. "
        f"The old part was sent back to the shop, which promised an answer."
    )


def write_tickets(path: Path, count: int) -> None:
    """A table of tickets with good summaries."""
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["ticket", "summary"])
        rows.writerows([f"Ticket {number}.", summary(number)] for number in range(count))


def chance(*key: object) -> float:
    """A number in [0, 1) that hangs on the key alone."""
    digest = hashlib.sha256(repr(key).encode()).digest()
    return int.from_bytes(digest[:6]) / 256**6


Sees = Callable[[str], float]
"""Prompt -> the share of damaged texts that the judge notices."""


def judge(
    sees: Sees,
    sentence: str = "Look for wrong numbers and missing words.",
    seed: int = 0,
    noise: bool = True,
) -> Says:
    """Answers calls: a good text is rated 8, a damaged one that is noticed 5, all with some noise."""

    def says(call: Call) -> Answer:
        prompt = call.body["messages"][-1]["content"]
        if prompt.startswith("A language model judges texts"):
            return reply(sentence)
        number = int(re.search(r"Ticket (\d+)\.", prompt)[1])
        text = re.search(r"Summary: (.*?)\n\nHow useful", prompt, re.S)[1]
        frame = prompt.replace(text, "").replace(f"Ticket {number}.", "")
        wide = "1 to 100" in prompt
        score = 8.0
        # Damage of one text is noticed or not in the same way by much the same judges: the chance is shared.
        if text != summary(number) and chance("seen", seed, text) < sees(prompt):
            score = 5.0
        drawn = chance("noise", seed, text, frame)
        score += noise * ((drawn > 0.8) - (drawn < 0.2))
        rating = round(10 * score) if wide else round(score)
        reasons = "It names who wrote, and what the part costs; one sentence is not as it should be. " * 3
        answer = f"{reasons}\nRating: {rating}" if "two steps" in prompt else str(rating)
        count = call.body.get("n", 1)
        used = {"prompt_tokens": len(prompt) // 4, "completion_tokens": count * max(1, len(answer) // 4)}
        return reply(*[answer] * count, usage=used)

    return says


@contextmanager
def planted_server(sees: Sees, **how: object) -> Iterator[Scripted]:
    """The server of such a judge."""
    with scripted_server(judge(sees, **how)) as server:
        yield server
