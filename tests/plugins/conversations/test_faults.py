"""Every perturber makes the one fault that it names, and leaves everything else as it was."""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dhp.content.catalog import read_list
from dhp.core.records import Example, PerturbedText
from dhp.loaders.resolve import resolve_datasets
from dhp.perturb.builder import perturb_datasets
from dhp.plugins.conversations.choice import LIST, StockSentences
from dhp.plugins.conversations.constraints import constraints
from dhp.plugins.conversations.note import LOUD, SILENT

Blocks = list[tuple[str, str]]
WORDS = "the room table train is booked free now for you on Monday with us".split()
STOCK = read_list(LIST, StockSentences)


def blocks(text: str) -> Blocks:
    """The labels of a transcript with what stands under each; written apart from what makes transcripts."""
    found: Blocks = []
    for line in text.split("\n"):
        if line.startswith("  "):
            label, said = found[-1]
            found[-1] = label, f"{said}\n{line[2:]}" if said else line[2:]
        else:
            found.append((line, ""))
    return found


@st.composite
def chats(draw: st.DrawFn) -> list[dict[str, Any]]:
    """A few conversations with calls, results, questions, and a constraint on form."""
    rows = []
    for number in range(draw(st.integers(2, 4))):
        rule = draw(st.sampled_from(["", "Answer in at most 90 words.", "No emojis."]))
        messages: list[dict[str, Any]] = [{"role": "system", "content": rule}] if rule else []
        calls = 0
        for turn in range(draw(st.integers(1, 4))):
            question = draw(st.booleans())
            messages.append({"role": "user", "content": _sentence(draw) + ("?" if question else ".")})
            result = draw(st.integers(100, 99999))
            for _ in range(draw(st.integers(0, 2))):
                calls += 1
                day, name = draw(st.integers(1, 31)), draw(st.sampled_from(WORDS))
                arguments = json.dumps({"day": day, "name": name, "vip": turn > 1})
                call = {"id": f"c{calls}", "function": {"name": "find", "arguments": arguments}}
                messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
                said = f'{{"price": {result}}}'
                messages.append({"role": "tool", "tool_call_id": f"c{calls}", "content": said})
            said = f"{_sentence(draw)}. {_sentence(draw)} {result} no {number}{turn}."
            messages.append({"role": "assistant", "content": said})
        rows.append({"id": str(number), "language": "en", "messages": messages})
    return rows


def _sentence(draw: st.DrawFn) -> str:
    return " ".join(draw(st.lists(st.sampled_from(WORDS), min_size=2, max_size=8))).capitalize()


def degraded(
    rows: list[dict[str, Any]], part: str, seed: int = 0
) -> tuple[dict[str, Example], list[PerturbedText]]:
    (made,) = perturb_datasets([rows], judge_part=part, seed=seed, progress=None)
    return {e.id: e for e in made.dataset.examples}, list(made.texts)


def answers(of: Blocks) -> list[int]:
    return [i for i, (label, _) in enumerate(of) if label == "Assistant:"]


def changed(before: Blocks, after: Blocks) -> list[int]:
    """Where blocks differ, of as many before and after."""
    assert [label for label, _ in before] == [label for label, _ in after]
    return [i for i, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]


Texts = tuple[Example, str, Blocks, Blocks]
"""An example, a degree of a fault, and the blocks before and after."""


def only_answers_before_the_last_are_missing(texts: Texts) -> None:
    _, degree, before, after = texts
    gone = len(before) - len(after)
    assert gone == (1 if degree == "minor" else len(answers(before)) - 1)
    left = iter(before)
    assert all(block in left for block in after)
    assert [b for b in before if b[0] != "Assistant:"] == [b for b in after if b[0] != "Assistant:"]
    assert after[-1] == before[-1]


def two_turns_change_places(texts: Texts) -> None:
    _, _, before, after = texts
    assert Counter(before) == Counter(after)
    assert after[-1] == before[-1]
    assert [b for b in before if b[0] == "User:"] == [b for b in after if b[0] == "User:"]
    moved = [i for i, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]
    labels = {before[i][0].split(" (")[0].split(" of ")[0] for i in moved}
    assert (len(moved), labels) in [(2, {"Assistant:"}), (4, {"Assistant calls find", "Result"})]
    for i, (label, _) in enumerate(after):
        if label.startswith("Result of "):
            assert after[i - 1][0] == f"Assistant calls find ({label[10:-1]}):"


def one_answer_is_said_again(texts: Texts) -> None:
    _, degree, before, after = texts
    times = {"minor": 1, "major": 3}[degree] + 1
    assert after in [[*before[:i], *[before[i]] * times, *before[i + 1 :]] for i in answers(before)]


def answers_come_from_elsewhere(texts: Texts) -> None:
    """Of another conversation: the last answer of each ends in its number, and is nowhere in this one."""
    example, degree, before, after = texts
    places = answers(before)
    assert changed(before, after) == (places[-1:] if degree == "minor" else places)
    new = [after[i][1] for i in changed(before, after)]
    assert all(re.search(r" no (\d)\d\.$", said)[1] != example.id for said in new)  # type: ignore[index]
    assert len(set(new)) == len(new)


def questions_get_replies_that_say_nothing(texts: Texts) -> None:
    example, degree, before, after = texts
    asked, places = False, []
    for i, (label, said) in enumerate([*blocks(example.source), *before], -len(blocks(example.source))):
        if label == "User:":
            asked = said.endswith("?")
        elif label == "Assistant:" and asked and i >= 0:
            places.append(i)
    assert changed(before, after) == (places[-1:] if degree == "minor" else places)
    assert {after[i][1] for i in changed(before, after)} <= set(STOCK.evasive["en"])


def numbers_of_the_last_answer_are_not_those_of_the_tools(texts: Texts) -> None:
    example, degree, before, after = texts
    assert changed(before, after) == [len(before) - 1]
    whole = [*blocks(example.source), *before]
    results = " ".join(said for label, said in whole if label.startswith("Result"))
    old, new = (re.findall(r"\d+", of[-1][1]) for of in (before, after))
    assert re.sub(r"\d+", "#", before[-1][1]) == re.sub(r"\d+", "#", after[-1][1])
    wrong = {(a, b) for a, b in zip(old, new, strict=True) if a != b}
    assert len(wrong) == 1 if degree == "minor" else len(wrong) > 1
    known = re.findall(r"\d+", results)
    assert all(a in known and b not in known for a, b in wrong)


def one_argument_of_a_call_changes(texts: Texts) -> None:
    _, degree, before, after = texts
    calls = [i for i, (label, _) in enumerate(before) if label.startswith("Assistant calls")]
    places = changed(before, after)
    assert len(places) == (1 if degree == "minor" else len(calls))
    assert set(places) <= set(calls)
    for i in places:
        old, new = json.loads(before[i][1]), json.loads(after[i][1])
        (unlike,) = [key for key in old if old[key] != new.get(key)]
        assert set(new) <= set(old)
        assert new.get(unlike) is None or type(new[unlike]) is type(old[unlike])


def claimed_calls_go_with_their_results(texts: Texts) -> None:
    _, degree, before, after = texts
    gone = [b for b in before if b not in after]
    ids = {re.search(r"c\d+", label)[0] for label, _ in gone}  # type: ignore[index]
    assert all(label.startswith(("Assistant calls", "Result of")) for label, _ in gone)
    assert len(gone) == 2 * len(ids)
    assert len(ids) == 1 or degree == "major"
    assert after == [b for b in before if b not in gone]


def arguments_change_in_form_alone(texts: Texts) -> None:
    _, _, before, after = texts
    for i in changed(before, after):
        assert json.loads(before[i][1]) == json.loads(after[i][1])


def ids_change_alone_and_everywhere(texts: Texts) -> None:
    _, _, before, after = texts
    ids: dict[str, str] = {}
    for (old, said), (new, unchanged) in zip(before, after, strict=True):
        assert said == unchanged
        match, name = re.search(r"\bc\d+\b", old), re.search(r"call_[0-9a-f]{8}", new)
        if match and name:
            assert ids.setdefault(match[0], name[0]) == name[0]
            assert old.replace(match[0], name[0]) == new
        else:
            assert old == new
    assert len(set(ids.values())) == len(ids)


FAULTS: Mapping[str, Callable[[Texts], None]] = {
    "turn_deletion": only_answers_before_the_last_are_missing,
    "turn_swap": two_turns_change_places,
    "answer_repetition": one_answer_is_said_again,
    "foreign_answer": answers_come_from_elsewhere,
    "question_unanswered": questions_get_replies_that_say_nothing,
    "result_ignored": numbers_of_the_last_answer_are_not_those_of_the_tools,
    "call_argument": one_argument_of_a_call_changes,
    "call_claimed": claimed_calls_go_with_their_results,
    "argument_spacing": arguments_change_in_form_alone,
    "argument_order": arguments_change_in_form_alone,
    "renamed_ids": ids_change_alone_and_everywhere,
}


def few(function: Any) -> Any:
    return settings(max_examples=6, deadline=None)(given(rows=chats())(function))


@pytest.mark.slow
def test_each_fault_is_the_one_that_it_names() -> None:
    seen: Counter[str] = Counter()

    @few
    def check(rows: list[dict[str, Any]]) -> None:
        for part in ("run", "turn"):
            examples, texts = degraded(rows, part)
            for text in texts:
                name, _, degree = text.variant.partition(".")
                if text.text is not None and name in FAULTS:
                    example = examples[text.example]
                    FAULTS[name]((example, degree, blocks(example.output), blocks(text.text)))
                    seen[name] += 1

    check()
    assert seen.keys() == FAULTS.keys(), "each was made at least once"


@pytest.mark.slow
@few
def test_only_the_assistant_is_damaged_and_in_any_order_of_rows(rows: list[dict[str, Any]]) -> None:
    for part in ("answer", "turn", "run"):
        examples, texts = degraded(rows, part)
        if part == "run":  # rows in another order; answers from elsewhere alone depend on the others
            alone, moved = degraded([*rows[1:], rows[0]], part)
            kinds = [t for t in moved if not t.variant.startswith("foreign_answer")]
            assert {(t.example, t.variant): t.text for t in kinds}.items() <= {
                (t.example, t.variant): t.text for t in texts
            }.items()
            assert alone == {**alone, **examples}
        for text in texts:
            if text.text is None:
                assert text.reason
                continue
            example, perturber = examples[text.example], text.variant.partition(".")[0]
            assert text.text != example.output
            if part == "answer":
                continue
            before, after = blocks(example.output), blocks(text.text)
            assert [b for b in before if b[0] == "User:"] == [b for b in after if b[0] == "User:"]
            if perturber in SILENT:
                assert before[-1] == after[-1]
            if perturber in LOUD:
                assert {b[0] for b in set(before) ^ set(after)} == {"Assistant:"}


HELD = "One. Two."


def stock(language: str, text: str) -> str:
    """The sentence that a text gets first."""
    known = STOCK.closing[language]
    return known[len(text) % len(known)]


BROKEN: Mapping[str, tuple[str, str, str]] = {
    "sentences": ("Answer in at most two sentences.", HELD, f"{HELD} {stock('en', HELD)}"),
    "words": ("Keep it under 3 words.", HELD, f"{HELD} {stock('en', HELD)}"),
    "language": ("Always reply in English.", HELD, f"{HELD} {stock('de', HELD)}"),
    "beginning": ('Begin every reply with "Desk:" please.', "Desk: one. Two.", "one. Two."),
    "end": ("End each answer with “Stay safe.”", "One. Stay safe.", "One."),
    "no list": ("Do not use bulleted lists.", HELD, "- One.\n- Two."),
    "list": ("Use a bulleted list in every answer.", "- One.\n- Two.", "One. Two."),
    "JSON": ("Answer with valid JSON only.", '{"a": 1}', f'{{"a": 1}}\n\n{stock("en", "8 places")}'),
    "plain text": ("Write plain text, no Markdown.", HELD, "**One.** Two."),
    "emojis": ("Never use emojis.", HELD, "One. Two. \U0001f642"),
    "exclamation marks": ("No exclamation marks.", HELD, "One. Two!"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_constraint_is_broken_in_form(kind: str) -> None:
    system, held, broken = BROKEN[kind]
    (found,) = constraints(system, STOCK.closing, "en")
    assert found.holds(held)
    assert found.broken(held) == broken
    assert kind == "language" or not found.holds(broken)


@pytest.mark.parametrize(
    "system", ["You are kind.", "Be helpful and never lie.", "The list of rooms is long."]
)
def test_other_instructions_are_no_constraint_on_form(system: str) -> None:
    assert list(constraints(system, STOCK.closing, "en")) == []


def constrained(system: str, *said: str) -> dict[str, str | None]:
    """Degree -> the run with a broken constraint."""
    asked = [
        m
        for text in said
        for m in ({"role": "user", "content": "Go."}, {"role": "assistant", "content": text})
    ]
    row = {"messages": [{"role": "system", "content": system}, *asked]}
    (found,) = perturb_datasets([[row]], text_language="en", progress=None)
    return {t.variant[18:]: t.text for t in found.texts if t.variant.startswith("constraint_broken")}


def test_one_constraint_is_broken_and_no_other() -> None:
    both = constrained('Reply in English. End with "Bye."', "One. Bye.", "Two. Bye.")
    assert blocks(both["minor"] or "")[1::2] == [("Assistant:", "One. Bye."), ("Assistant:", "Two.")]
    assert blocks(both["major"] or "")[1::2] == [("Assistant:", "One."), ("Assistant:", "Two.")]
    assert constrained("Be kind.", "One.", "Two.") == {"minor": None, "major": None}
    assert constrained("At most 3 words.", "One two three four.", "Five.")["major"] is None


def test_a_reply_that_gets_too_long_says_nothing_twice_and_is_still_signed() -> None:
    reply = "Your lamp was sent on Monday.\n\nKind regards,\nThe lamp desk"
    longer = constrained("Use at most 40 words.", reply)["minor"]
    assert longer is not None
    assert longer.endswith("\n  \n  Kind regards,\n  The lamp desk")
    added = [sentence for sentence in STOCK.closing["en"] if sentence in longer]
    assert len(added) > 1
    assert all(longer.count(sentence) == 1 for sentence in added)
    assert constrained("Use at most 900 words.", reply)["minor"] is None


def test_rules_for_texts_reach_the_assistant_alone() -> None:
    turns = [
        "Where is the library of this town, please tell me?",
        "Short.",
        "Where exactly do I find the old books of the library?",
        "They are upstairs. Take the stairs on the left side. Ask at the desk.",
    ]
    messages = [
        {"role": role, "content": t} for role, t in zip(("user", "assistant") * 2, turns, strict=True)
    ]
    row = {"language": "en", "messages": messages}
    (dataset,) = resolve_datasets([[row]])
    (found,) = perturb_datasets(dataset, suite="general", attacks=True, progress=None)
    before = blocks(dataset.examples[0].output)
    texts = {t.variant: blocks(t.text) for t in found.texts if t.text}
    assert {
        "random_typos.minor",
        "reordering.major",
        "sentence_deletion.minor",
        "padding",
        "harmless",
    } <= set(texts)
    for name, after in texts.items():
        assert {i for i, (a, b) in enumerate(zip(before, after, strict=True)) if a != b} <= {1, 3}, name
    for counted in ("sentence_deletion.minor", "reordering.minor", "padding", "judge_flattery"):
        assert changed(before, texts[counted]) == [3]


@pytest.mark.slow
@few
def test_foreign_sentences_are_of_assistants(rows: list[dict[str, Any]]) -> None:
    (dataset,) = resolve_datasets([rows])
    (found,) = perturb_datasets(dataset, suite="general", controls=False, progress=None)
    inserted = [t.text for t in found.texts if t.variant.startswith("sentence_insertion") and t.text]
    assume(inserted)
    assert all(re.search(r"User:|Result of", said) is None for text in inserted for _, said in blocks(text))


def test_wrong_facts_reach_the_assistant_alone() -> None:
    asked = "Write {} a letter of {} lines about what was seen there in the last {} days, please."
    said = "I wrote {} the letter of {} lines. It is about what was seen there in the last {} days."
    names = ["in Leeds", "in Oslo", "in Boston", "in Vienna", "in Dublin", "in Lyon"]
    rows = []
    for i, name in enumerate(names):
        facts = (name, 12 + i, 31 + i)
        user = {"role": "user", "content": asked.format(*facts)}
        rows.append({"messages": [user, {"role": "assistant", "content": said.format(*facts)}]})
    (dataset,) = resolve_datasets([rows])
    (found,) = perturb_datasets(dataset, suite="general", progress=None)
    before = {example.id: blocks(example.output) for example in dataset.examples}
    made = [t for t in found.texts if t.text and t.variant.startswith(("wrong_", "sentence_deletion"))]
    assert len(made) >= 6
    for text in made:
        assert changed(before[text.example], blocks(text.text)) == [1], text.variant
