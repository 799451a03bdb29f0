"""Measure the wrong facts that rules put into texts: whether a judge that checks the fact sees them, and one
that reads nothing does not.

    python scripts/damage.py mini/summeval mini/story_cloze
    python scripts/damage.py notes.csv --task summarization --field output=summary
    python scripts/damage.py mini/summeval --speed

Per kind: the share of texts that it reaches; the AUC at which n-grams tell copies from originals, over all
texts and within pairs; the share of copies that a planted judge of that fact rates below their original, and
its blind twin, which looks only at how rare the words are. English, German, Spanish, French and Chinese
texts. Ties count half; below 40 copies nothing but the reach is shown. Texts that share a source must not be
in one table: n-grams learn what it is about. Kinds of form, marked *, show by their nature. With `--speed`,
how many texts a second each kind takes once the table is read, and how fast that is.
"""

import argparse
import functools
import gc
import math
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice, pairwise

import dhp
from dhp.content.catalog import read_list
from dhp.core.errors import NotApplicable
from dhp.core.language import WITHOUT_SPACES
from dhp.core.records import Example, Variant
from dhp.core.sentences import sentence_spans
from dhp.core.words import word_frequency, word_spans
from dhp.perturb.apply import Others, RulesApplied
from dhp.perturb.facts.kinds import CONTENT
from dhp.perturb.facts.lists import FactLists, fact_language
from dhp.perturb.facts.text import evidence_of
from dhp.perturb.facts.words import content_words
from dhp.perturb.perturbed_dataset import PerturbedDataset
from dhp.perturb.registry import find_perturbers
from dhp.perturb.shortcut import shortcut

Judge = Callable[[str, Example], float]
"""The score of a text; the example holds its source and the original."""

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_DENIALS = {
    "en": re.compile(r"\b(?:not|cannot|never)\b|n['’]t\b", re.I),
    "de": re.compile(r"\b(?:nicht|nichts|nie|niemals|kein\w*)\b", re.I),
    "es": re.compile(r"\b(?:no|nunca|jamás|ni|ningun\w*|ningún)\b", re.I),
    "fr": re.compile(r"\b(?:ne|n|pas|jamais|ni|aucune?)\b", re.I),
    "zh": re.compile("[不没未无非]"),
}
_LONG = 30
"""Words of a text that has room for facts."""
_NUMBERS, _DATES, _OPPOSITES = ("numbers",), ("months", "weekdays", "times"), ("opposites", "described")


@functools.lru_cache(maxsize=10_000)
def _language(text: str, declared: str | None) -> str:
    return fact_language(text, declared, read_list) or "en"


def _lists(example: Example) -> FactLists:
    lists: FactLists = read_list(f"facts_{_language(example.output, example.language)}", FactLists)
    return lists


def _evidence(example: Example) -> str:
    """What a text must agree with; with the original of a translation, as this judge knows both languages."""
    return _readable(evidence_of(example), example.output, _language(example.output, example.language))


@functools.lru_cache(maxsize=10_000)
def _readable(evidence: str, original: str, language: str) -> str:
    is_alike = not evidence or _language(evidence[:400], None) == language
    return evidence if is_alike else f"{evidence}\n{original}"


def _lacking(stated: Sequence[str], evidence: str) -> float:
    """Minus the number of words that the evidence has not, in any case."""
    known, text = {*map(str.lower, _WORD.findall(evidence)), *_NUMBER.findall(evidence)}, evidence.lower()
    return -float(sum(word not in known and not _is_within(word, text) for word in map(str.lower, stated)))


def _is_within(word: str, text: str) -> bool:
    """Whether a text has a word of several words, or of a language without spaces."""
    return (" " in word or "\u3400" <= word[0] <= "\u9fff") and word in text


def _unlike(stated: Sequence[str], expected: Sequence[str]) -> float:
    """Minus the number of words that the one has and the other has not."""
    one, other = (Counter(map(str.lower, words)) for words in (stated, expected))
    return -float(((one - other) + (other - one)).total())


def _words_of(text: str, lists: FactLists, names: Sequence[str]) -> list[str]:
    """The words of some lists in a text, those of several words too."""
    known = {word for name in names for word in lists.groups[name]}
    words = (match[0].lower() for match in lists.matches(text))
    return [word for word in words if word in known]


def _numbers_of(text: str, lists: FactLists) -> list[str]:
    """The numbers of a text, small ones in digits however they are written."""
    in_digits = {word: str(number) for number, word in enumerate(lists.numbers[0].split(), 2)}
    words = [in_digits.get(word, word) for word in _words_of(text, lists, _NUMBERS)]
    return [*_NUMBER.findall(text), *words]


def _names(text: str, lists: FactLists) -> list[str]:
    """Words with a capital; listed names in languages where these say nothing."""
    if lists.names == "capitals":
        words = [word for word in _WORD.findall(text) if word[0].isupper()]
        return [word.removesuffix("'s").removesuffix("’s") for word in words]
    if lists.is_spaced:
        return [word for word in _WORD.findall(text) if word[0].isupper()]
    return [place for place in lists.place_names for _ in range(text.count(place))]


def _who_did_what(text: str, lists: FactLists) -> list[str]:
    """Names, each with the words beside it, and pronouns of a person."""
    words = ["", *_WORD.findall(text), ""]
    beside = [" ".join(words[i - 1 : i + 2]) for i, word in enumerate(words) if word[:1].isupper()]
    return [*beside, *(word for word in map(str.lower, words) if word in lists.other_pronouns)]


def names(text: str, example: Example) -> float:
    """Looks up every name in the source."""
    return _lacking(_names(text, _lists(example)), _evidence(example))


def numbers(text: str, example: Example) -> float:
    """Looks up every number in the source; knows from the original those that the source has not."""
    lists = _lists(example)
    known = Counter(_numbers_of(_evidence(example), lists))
    stated, expected = (_numbers_of(some, lists) for some in (text, example.output))
    return _unlike([n for n in stated if n not in known], [n for n in expected if n not in known])


def dates(text: str, example: Example) -> float:
    """Looks up every date, time and unit in the source."""
    return _lacking(_words_of(text, _lists(example), _DATES), _evidence(example))


def roles(text: str, example: Example) -> float:
    """Knows from the original who did what."""
    lists = _lists(example)
    return _unlike(_who_did_what(text, lists), _who_did_what(example.output, lists))


def denials(text: str, example: Example) -> float:
    """Knows from the original what is denied: counts it."""
    denial = _DENIALS[_language(example.output, example.language)]
    return _unlike(denial.findall(text), denial.findall(example.output))


def opposites(text: str, example: Example) -> float:
    """Knows from the original the words that have an opposite."""
    stated, expected = (_words_of(some, _lists(example), _OPPOSITES) for some in (text, example.output))
    return _unlike(stated, expected)


def facts(text: str, example: Example) -> float:
    """Checks all of these."""
    return sum(check(text, example) for check in (names, roles, numbers, dates, denials, opposites))


def sentences(text: str, example: Example) -> float:
    """Looks up every word in the source and the original."""
    return _lacking(_WORD.findall(text), f"{evidence_of(example)}\n{example.output}")


def points(text: str, example: Example) -> float:
    """Counts the words on the topic that original and source have."""
    expected = content_words(example.output)
    return float(len(content_words(text) & (expected & content_words(evidence_of(example)) or expected)))


def order(text: str, example: Example) -> float:
    """Counts the sentences that follow each other as in the original."""
    expected = set(_following(example.output, example))
    return float(sum(pair in expected for pair in _following(text, example)))


def _following(text: str, example: Example) -> list[tuple[str, str]]:
    """Each sentence with the next one."""
    spans = sentence_spans(text, _language(example.output, example.language))
    return list(pairwise(text[start:end].strip() for start, end in spans))


def rare_words(text: str, example: Example) -> float:
    """The blind twin of all: how frequent the words of a text are in its language, on average."""
    language = _language(example.output, example.language)
    frequencies = (word_frequency(word.lower(), language) for word in _words(text, example))
    logarithms = [math.log10(max(frequency, 1e-9)) for frequency in frequencies]
    return sum(logarithms) / max(len(logarithms), 1)


def _words(text: str, example: Example) -> list[str]:
    language = _language(example.output, example.language)
    if language in WITHOUT_SPACES:
        return [text[start:end] for start, end in word_spans(text, language)]
    return _WORD.findall(text) + _NUMBER.findall(text)


JUDGES: Mapping[str, Judge] = {
    "wrong_names": names,
    "exchanged_names": roles,
    "wrong_numbers": numbers,
    "wrong_dates": dates,
    "negation": denials,
    "opposites": opposites,
    "wrong_facts": facts,
    "foreign_facts": sentences,
    "sentence_deletion": points,
    "reordering": order,
}
"""Perturber -> the planted judge of what it makes wrong."""


def share_below(judge: Judge, pairs: Sequence[tuple[Example, str]]) -> float:
    """The share of copies that a judge rates below their original; ties count half."""
    scores = [(judge(copy, example), judge(example.output, example)) for example, copy in pairs]
    return sum((copy < original) + (copy == original) / 2 for copy, original in scores) / len(pairs)


def figures(part: PerturbedDataset) -> Iterator[tuple[str, list[str]]]:
    """Variant -> its row, for each kind with a judge; then the reach of all kinds of content together."""
    examples = {example.id: example for example in part.dataset.examples}
    reached = set[str]()
    for variant in part.variants:
        if variant.made_by not in JUDGES:
            continue
        pairs = [(examples[t.example], t.text) for t in part.by_variant[variant.name] if t.text is not None]
        is_content = variant.made_by in CONTENT
        if is_content:
            reached.update(example.id for example, _ in pairs)
        row = [f"{len(pairs) / len(examples):.0%}", str(len(pairs)), *_seen(JUDGES[variant.made_by], pairs)]
        yield f"{variant.name}{'' if is_content else ' *'}", row
    long = {
        e.id for e in examples.values() if len(word_spans(e.output, _language(e.output, e.language))) >= _LONG
    }
    for what, ids in (("any of content", {*examples}), (f"any, of {_LONG} words or more", long)):
        yield what, [f"{len(reached & ids) / max(len(ids), 1):.0%}", str(len(ids)), *[""] * 4]


def _seen(judge: Judge, pairs: Sequence[tuple[Example, str]]) -> list[str]:
    """AUC, the same within pairs, and the shares of copies that the judge and its blind twin see."""
    originals, copies = [example.output for example, _ in pairs], [copy for _, copy in pairs]
    told = shortcut(originals, copies, [evidence_of(e) or e.id for e, _ in pairs])
    if told is None:
        return ["-"] * 4
    auc = [f"{told.auc:.2f}", f"{told.pairs:.2f}"]
    return [*auc, f"{share_below(judge, pairs):.0%}", f"{share_below(rare_words, pairs):.0%}"]


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
    gc.collect()
    gc.freeze()  # else what the process holds besides is looked through in the time of one of the kinds
    reading = 0.0
    for name in filter(CONTENT.__contains__, JUDGES):
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
