"""Faults of whole turns and of answers to questions."""

from collections.abc import Iterator, Sequence
from itertools import cycle, pairwise
from random import Random
from typing import Literal

from dhp.core.checks import check_value
from dhp.core.errors import NotApplicable
from dhp.core.language import language_name
from dhp.core.records import Example
from dhp.core.seeding import drawn
from dhp.core.specs import ListReader
from dhp.perturb.api import Edited, asked_edits, perturber
from dhp.plugins.conversations.choice import LIST, ONE_OR_ALL, StockSentences, chosen, latest, with_texts
from dhp.plugins.conversations.conversation import CONVERSATION, Judged, from_json


@perturber(name="turn_deletion", level="turn", degrees=ONE_OR_ALL)
def turn_deletion(text: str, rng: Random, *, example: Example, count: int | str) -> Edited:
    """Delete `count` answers of the assistant other than the last one."""
    judged = Judged.of(example)
    gone = chosen(judged.answers[:-1], count, rng, "answers before the last one")
    turns = [turn for i, turn in enumerate(judged.turns) if i not in gone]
    return Edited(judged.shown(turns), len(gone), len(gone))


@perturber(
    name="turn_swap", level="turn", degrees={"minor": {"apart": "nearest"}, "major": {"apart": "farthest"}}
)
def turn_swap(text: str, rng: Random, *, example: Example, apart: str) -> Edited:
    """Swap two answers before the last one, or two calls with their results.

    `apart` is "nearest", neighbours of which one pair is drawn, or "farthest", the first and the last of
    three or more.
    """
    check_value("apart", apart, Literal["nearest", "farthest"])
    judged = Judged.of(example)
    answers, calling = judged.answers[:-1], judged.calling  # the last answer stays, as the fault is silent
    pairs: list[tuple[int, int]] = []
    if apart == "farthest":
        longer = answers if len(answers) > len(calling) else calling
        if len(longer) > 2:
            pairs.append((longer[0], longer[-1]))
    else:
        pairs += [*pairwise(answers), *pairwise(calling)]
    differing = [pair for pair in pairs if _content(judged, pair[0]) != _content(judged, pair[1])]
    if not differing:
        raise NotApplicable(f"no two {apart} turns before the last answer that differ")

    # Each turn moves with the results of its calls; what stands between the two stays.
    one, other = differing[int(rng.random() * len(differing))]
    first, second = judged.step(one), judged.step(other)
    turns = judged.turns
    between = turns[one + len(first) : other]
    swapped = (*turns[:one], *second, *between, *first, *turns[other + len(second) :])
    return Edited(judged.shown(swapped), 2, 2)


def _content(judged: Judged, i: int) -> tuple[object, ...]:
    """What a turn says and calls, without the ids of its calls."""
    turn = judged.turns[i]
    calls = [(call.name, call.arguments) for call in turn.calls]
    return (turn.text, *calls)


@perturber(name="answer_repetition", level="turn", degrees={"minor": {"k": 1}, "major": {"k": 3}})
def answer_repetition(text: str, rng: Random, *, example: Example, k: int) -> Edited:
    """Say one answer of the assistant `k` times more, word for word."""
    judged = Judged.of(example)
    (place,) = chosen(judged.answers, 1, rng, "answer")
    added = asked_edits(k, None, 1)
    turns = judged.turns
    repeated = (*turns[: place + 1], *[turns[place]] * added, *turns[place + 1 :])
    return Edited(judged.shown(repeated), added, added)


@perturber(name="foreign_answer", level="turn", degrees=ONE_OR_ALL)
def foreign_answer(
    text: str, rng: Random, *, example: Example, others: Sequence[Example], count: int | str
) -> Edited:
    """Put the last answer of another conversation in place of each of the last `count` answers."""
    judged = Judged.of(example)
    places = latest(judged.answers, count, "answers")
    # The foreign answers must differ from all that is said here, and from each other.
    taken = {turn.text for turn in (*judged.before, *judged.turns)}
    left = list(places)
    texts: dict[int, str] = {}
    for other in _drawn_lazily(others, rng):
        if not left:
            break
        foreign = _last_answer(other)
        if foreign and foreign not in taken:
            # From the end: the first that is drawn becomes the last answer.
            texts[left.pop()] = foreign
            taken.add(foreign)
    if left:
        raise NotApplicable("too few other conversations with another answer")
    return with_texts(judged, texts)


_TRIES = 200
"""Examples that are drawn at most to find other answers. Chosen: a file may hold a million."""


def _drawn_lazily(others: Sequence[Example], rng: Random) -> Iterator[Example]:
    """Random examples, as many as are asked for and some of them twice: nothing is copied."""
    if not others:
        return
    for _ in range(_TRIES):
        yield others[int(rng.random() * len(others))]


def _last_answer(other: Example) -> str:
    if CONVERSATION not in other.fields:
        return ""
    for turn in reversed(from_json(other.fields[CONVERSATION])):
        if turn.answers:
            return turn.text
    return ""


@perturber(name="question_unanswered", level="turn", degrees=ONE_OR_ALL)
def question_unanswered(
    text: str,
    rng: Random,
    *,
    example: Example,
    lists: ListReader,
    language: str | None = None,
    count: int | str,
) -> Edited:
    """Replace the last `count` answers to questions of the user by a reply that says nothing."""
    judged = Judged.of(example)
    replies = lists(LIST, StockSentences).evasive.get(language or "en")
    if replies is None:
        raise NotApplicable(f"no evasive reply is known in {language_name(language)}")
    places = latest(_answers_to_questions(judged), count, "answers to questions")
    # The last answer gets the first reply; if there are more answers than replies, these come again.
    order = cycle(drawn(replies, rng))
    texts = {place: next(order) for place in reversed(places)}
    if all(judged.turns[place].text == reply for place, reply in texts.items()):
        raise NotApplicable("the answer is evasive already")
    return with_texts(judged, texts)


# Latin, Chinese and Arabic.
_QUESTION_MARKS = frozenset("?？؟")


def _answers_to_questions(judged: Judged) -> list[int]:
    """Where the answers are that follow a question of the user, with calls between or without."""
    asked, places = False, []
    all_turns = (*judged.before, *judged.turns)  # the question may stand before the judged part
    for i, turn in enumerate(all_turns):
        if turn.role == "user":
            asked = bool(_QUESTION_MARKS & set(turn.text))
        elif turn.answers and asked:
            asked = False
            if i >= len(judged.before):
                places.append(i - len(judged.before))
    return places
