"""Measure the wrong facts that rules put into texts: whether a judge that checks the fact sees them, and one
that reads nothing does not.

    python scripts/damage.py mini/summeval mini/story_cloze
    python scripts/damage.py notes.csv --task summarization --field output=summary
    python scripts/damage.py mini/summeval --speed

Per kind: the share of texts that it reaches; the AUC at which n-grams tell copies from originals, over all
texts and within pairs; the share of copies that a planted judge of that fact rates below their original, and
its blind twin, which looks only at how rare the words are. English texts. Ties count half; below 40 copies
nothing but the reach is shown. Texts that share a source must not be in one table: n-grams learn what it is
about. With `--speed`, how many texts a second each kind takes once the table is read, and how fast that is.
"""

import argparse
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice

import dhp
from dhp.content.catalog import read_list
from dhp.core.errors import NotApplicable
from dhp.core.records import Example, Variant
from dhp.core.words import zipf
from dhp.perturb.apply import Others, RulesApplied
from dhp.perturb.facts.kinds import CONTENT
from dhp.perturb.facts.lists import FactLists
from dhp.perturb.facts.text import evidence_of
from dhp.perturb.perturbed_dataset import PerturbedDataset
from dhp.perturb.registry import find_perturbers
from dhp.perturb.set_audit import VariantAudit, audited
from dhp.perturb.shortcut import LEAST

Judge = Callable[[str, Example], float]
"""The score of a text; the example holds its source and the original."""

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_DENIAL = re.compile(r"\b(?:not|cannot|never)\b|n['’]t\b", re.I)
_ENGLISH = read_list("facts_en", FactLists)


def _of_lists(*names: str) -> frozenset[str]:
    return frozenset(word for name in names for word in _ENGLISH.groups[name])


_LONG = 30
"""Words of a text that has room for facts."""
_NUMBERS, _DATES = _of_lists("numbers"), _of_lists("months", "weekdays", "times")
_OPPOSITES = _of_lists("opposites", "described")


def _lacking(stated: Sequence[str], evidence: str) -> float:
    """Minus the number of words that the evidence has not, in any case."""
    known = {*map(str.lower, _WORD.findall(evidence)), *_NUMBER.findall(evidence)}
    return -float(sum(word.lower() not in known for word in stated))


def _unlike(stated: Sequence[str], expected: Sequence[str]) -> float:
    """Minus the number of words that the one has and the other has not."""
    one, other = (Counter(map(str.lower, words)) for words in (stated, expected))
    return -float(((one - other) + (other - one)).total())


def _words_of(text: str, known: frozenset[str]) -> list[str]:
    return [word for word in _WORD.findall(text) if word.lower() in known]


_IN_DIGITS = {word: str(number) for number, word in enumerate(_ENGLISH.numbers[0].split(), 2)}
"""two -> 2."""


def _numbers_of(text: str) -> list[str]:
    """The numbers of a text, small ones in digits however they are written."""
    words = [_IN_DIGITS.get(word.lower(), word) for word in _words_of(text, _NUMBERS)]
    return [*_NUMBER.findall(text), *words]


def _capitals(text: str) -> list[str]:
    return [word.removesuffix("'s").removesuffix("’s") for word in _WORD.findall(text) if word[0].isupper()]


def _who_did_what(text: str) -> list[str]:
    """Words with a capital, each with the words beside it."""
    words = ["", *_WORD.findall(text), ""]
    return [" ".join(words[i - 1 : i + 2]) for i, word in enumerate(words) if word[:1].isupper()]


def names(text: str, example: Example) -> float:
    """Looks up every word with a capital in the source."""
    return _lacking(_capitals(text), evidence_of(example))


def numbers(text: str, example: Example) -> float:
    """Looks up every number in the source; knows from the original those that the source has not."""
    known = Counter(_numbers_of(evidence_of(example)))
    expected = [number for number in _numbers_of(example.output) if number not in known]
    return _unlike([number for number in _numbers_of(text) if number not in known], expected)


def dates(text: str, example: Example) -> float:
    """Looks up every date, time and unit in the source."""
    return _lacking(_words_of(text, _DATES), evidence_of(example))


def roles(text: str, example: Example) -> float:
    """Knows from the original who did what."""
    return _unlike(_who_did_what(text), _who_did_what(example.output))


def denials(text: str, example: Example) -> float:
    """Knows from the original what is denied: counts it."""
    return _unlike(_DENIAL.findall(text), _DENIAL.findall(example.output))


def opposites(text: str, example: Example) -> float:
    """Knows from the original the words that have an opposite."""
    return _unlike(_words_of(text, _OPPOSITES), _words_of(example.output, _OPPOSITES))


def facts(text: str, example: Example) -> float:
    """Checks all of these."""
    return sum(check(text, example) for check in (names, roles, numbers, dates, denials, opposites))


def sentences(text: str, example: Example) -> float:
    """Looks up every word in the source and the original."""
    return _lacking(_WORD.findall(text), f"{evidence_of(example)}\n{example.output}")


def rare_words(text: str, example: Example) -> float:
    """The blind twin of all: how frequent the words of a text are in English, on average."""
    words = _WORD.findall(text) + _NUMBER.findall(text)
    return sum(map(zipf, map(str.lower, words))) / max(len(words), 1)


JUDGES: Mapping[str, Judge] = {
    "wrong_names": names,
    "exchanged_names": roles,
    "wrong_numbers": numbers,
    "wrong_dates": dates,
    "negation": denials,
    "opposites": opposites,
    "wrong_facts": facts,
    "foreign_facts": sentences,
}
"""Perturber -> the planted judge of what it makes wrong."""


def share_below(judge: Judge, pairs: Sequence[tuple[Example, str]]) -> float:
    """The share of copies that a judge rates below their original; ties count half."""
    scores = [(judge(copy, example), judge(example.output, example)) for example, copy in pairs]
    return sum((copy < original) + (copy == original) / 2 for copy, original in scores) / len(pairs)


def figures(part: PerturbedDataset) -> Iterator[tuple[str, list[str]]]:
    """Variant -> its row, for each kind of content; then the reach of all of them together."""
    examples = {example.id: example for example in part.dataset.examples}
    reached = set[str]()
    for one in audited(part):
        if one.variant.made_by not in CONTENT:
            continue
        made = [t for t in part.by_variant[one.variant.name] if t.text is not None]
        reached.update(t.example for t in made)
        yield one.variant.name, _row(one, [(examples[t.example], t.text or "") for t in made])
    long = {e.id for e in examples.values() if len(e.output.split()) >= _LONG}
    for what, ids in (("any of them", {*examples}), (f"any, of {_LONG} words or more", long)):
        yield what, [f"{len(reached & ids) / max(len(ids), 1):.0%}", str(len(ids)), *[""] * 4]


def _row(one: VariantAudit, pairs: Sequence[tuple[Example, str]]) -> list[str]:
    row = [f"{one.applicable / one.n:.0%}", str(one.applicable)]
    judge = JUDGES.get(one.variant.made_by)
    if len(pairs) < LEAST or judge is None or one.shortcut is None:
        return [*row, *["-"] * 4]
    auc = [f"{one.shortcut.auc:.2f}", f"{one.shortcut.pairs:.2f}"]
    return [*row, *auc, f"{share_below(judge, pairs):.0%}", f"{share_below(rare_words, pairs):.0%}"]


_LENGTH, _TEXTS = 600, 400
"""Characters of the texts by which speed is measured, and the most of them."""


def speeds(examples: Sequence[Example]) -> Iterator[str]:
    """Lines on the processor time of each kind, over texts of about `_LENGTH` characters."""
    texts = list(islice(_glued(examples), _TEXTS))
    outputs, sources = (sum(map(len, some)) // len(texts) for some in _columns(texts))
    yield f"{len(texts)} texts of {outputs} characters, with sources of {sources}"
    warm, rules = (
        RulesApplied((), find_perturbers(), "x", 0, Others(some, 0, "x")) for some in (texts[:5], texts)
    )
    reading = 0.0
    for name in JUDGES:
        _seconds(name, warm, texts[:5])  # lists are loaded and patterns compiled once a process
        first, again = (_seconds(name, rules, texts) for _ in range(2))
        reading += first - again
        yield f"{name}: {len(texts) / again:,.0f} texts a second"
    yield f"reading the table, for all of them: {len(texts) / reading:,.0f} rows a second"


def _columns(examples: Sequence[Example]) -> tuple[list[str], list[str]]:
    return [each.output for each in examples], [each.source for each in examples]


def _glued(examples: Iterable[Example]) -> Iterator[Example]:
    """Examples whose texts are those of several, one behind the other, cut off where they are long enough."""
    some = list[Example]()
    for example in examples:
        some.append(example)
        outputs, sources = map("\n".join, _columns(some))
        if len(outputs) >= _LENGTH:
            yield Example(example.id, sources, outputs[:_LENGTH], language=example.language)
            some = []


def _seconds(name: str, rules: RulesApplied, texts: Sequence[Example]) -> float:
    """Processor time of one kind, minor, in all texts."""
    perturber = rules.perturbers[name]
    wanted = perturber.wanted
    variant = Variant(f"{name}.minor", name, perturber.level, "rule", "minor", perturber.degrees["minor"])
    start = time.process_time()
    for text in texts:
        with suppress(NotApplicable):
            rules.changed(text, variant, perturber, wanted)
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the wrong facts that rules put into texts.")
    parser.add_argument("datasets", nargs="+", metavar="DATASET")
    parser.add_argument("--task")
    parser.add_argument("--data", help="folder of a published dataset in its original format")
    parser.add_argument("--field", action="append", default=[], metavar="OURS=THEIRS")
    parser.add_argument("--where", action="append", default=[], metavar="COLUMN=VALUE", help="only such rows")
    parser.add_argument("--n", type=int, help="texts of each dataset")
    parser.add_argument("--speed", action="store_true", help="texts a second, and nothing else")
    asked = parser.parse_args()
    fields = dict(pair.split("=", 1) for pair in asked.field)
    conditions = [pair.split("=", 1) for pair in asked.where]
    parts = dhp.perturb_datasets(
        asked.datasets,
        data=asked.data,
        task=asked.task,
        fields=fields or None,
        where={column: [value] for column, value in conditions} or None,
        n=asked.n,
        suite="general",
        progress=False,
    )
    for part in parts:
        if asked.speed:
            print("\n".join([part.dataset.name, *speeds(part.dataset.examples)]))
            continue
        print(f"\n{part.dataset.name}: {len(part.dataset.examples)} texts\n")
        print("| kind | reached | copies | AUC | in pairs | judge of the fact | blind twin |")
        print("|---|" + "---:|" * 6)
        for variant, row in figures(part):
            print(f"| {variant} | {' | '.join(row)} |")


if __name__ == "__main__":
    main()
