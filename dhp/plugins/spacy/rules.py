"""Rules on texts that a spaCy pipeline parses: other names for entities, wrong inflections. For English.

A text is parsed once for all rules and degrees. Each rule lists the places that it could change, in an
order drawn from its own stream, takes the first so many of them, and edits the text from its end to its
beginning, so that the places that are left keep their numbers.
"""

import functools
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from random import Random
from typing import Any

from dhp.core.errors import NotApplicable, install_command
from dhp.core.seeding import shuffled
from dhp.perturb.api import Edited, asked_edits, perturber

_DEFAULT = "en_core_web_sm"
_LONGEST = 100_000
"""Characters of a text that is parsed. Chosen: that many take some 3 seconds."""
_KEPT = 10_000
"""Characters of a text whose parse is kept for the other degrees and rules. Chosen: 64 are in memory."""
_UNUSED = ("parser", "lemmatizer")
"""Parts of a pipeline that take a third of its time and change neither names nor tags."""
_TRIES = 50
"""Names drawn at most until one is new to the text. Chosen."""


@functools.cache
def _pipeline(name: str) -> Any:
    """The pipeline of that name or folder; raises `NotApplicable` if there is none for English."""
    try:
        import spacy
    except ImportError:
        raise NotApplicable(f"spaCy is not installed; {install_command('spacy')}") from None
    try:
        pipeline = spacy.load(name, disable=_UNUSED)
    except OSError:
        raise NotApplicable(f"the spaCy pipeline '{name}' is not installed") from None
    if pipeline.lang != "en":
        raise NotApplicable(f"the spaCy pipeline '{name}' is for '{pipeline.lang}'; this rule is for English")
    return pipeline


@functools.lru_cache(64)  # as many texts as are degraded in all variants before the next ones
def _kept(text: str, pipeline: str) -> Any:
    return _pipeline(pipeline)(text)


def _parsed(text: str, pipeline: str, annotation: str) -> Any:
    """The text as spaCy parses it; raises `NotApplicable` if the pipeline does not give the annotation."""
    nlp = _pipeline(pipeline)
    if len(text) > _LONGEST:
        raise NotApplicable(f"{len(text):,} characters; allowed for a parser: {_LONGEST:,}")
    parsed = nlp(text) if len(text) > _KEPT else _kept(text, pipeline)
    if not parsed.has_annotation(annotation):
        what = {"ENT_IOB": "entities", "TAG": "tags"}[annotation]
        raise NotApplicable(f"the spaCy pipeline '{pipeline}' gives no {what}")
    return parsed


def _origin(params: Mapping[str, object]) -> str:
    """The versions on which the texts of these rules depend; the pipeline's name if it is not there."""
    from importlib.metadata import PackageNotFoundError, version

    pipeline = str(params["pipeline"])
    try:
        meta = _pipeline(pipeline).meta
    except NotApplicable:
        return pipeline
    versions = [f"{meta['name']} {meta['version']}"]
    for package in ("spacy", "faker", "lemminflect"):
        with suppress(PackageNotFoundError):
            versions.append(f"{package} {version(package)}")
    return ", ".join(versions)


def _lacks(params: Mapping[str, object], annotation: str) -> str | None:
    """The reason why texts cannot be parsed with this annotation; None if they can."""
    try:
        _parsed("Texts are parsed.", str(params["pipeline"]), annotation)
    except NotApplicable as reason:
        return str(reason)
    return None


# Entities -----------------------------------------------------------------------------------------------

_KINDS = {
    "PERSON": "person",
    "PER": "person",
    "ORG": "company",
    "GPE": "city",
    "LOC": "city",
    "FAC": "street_name",
    "LANGUAGE": "language_name",
}
"""Label of an entity -> what Faker calls it. Dates and numbers are for `number_changes`."""
_ENTITY = re.compile(r"(?:the\s+)?(.*?)(?:['’]s?)?", re.I | re.S)
"""An entity between an article and a possessive ending: "Bank of Oslo" in "the Bank of Oslo's"."""
_faker_lock = threading.Lock()


@functools.cache
def _faker() -> Any:
    try:
        from faker import Faker
    except ImportError:
        raise NotApplicable(f"Faker is not installed; {install_command('spacy')}") from None
    return Faker("en_US")


@perturber(
    name="entity_swaps",
    level="word",
    degrees={"minor": {"k": 1, "pipeline": _DEFAULT}, "major": {"share": 1.0, "pipeline": _DEFAULT}},
    languages=("en",),
)
def entity_swaps(
    text: str, rng: Random, *, pipeline: str, k: int | None = None, share: float | None = None
) -> Edited:
    """Give `k` of the entities that spaCy finds, or a `share` of them, other names of their kind, from Faker.

    Every mention of an entity gets the same new name; a person's last name alone gets the new last name.
    Entities of a smaller dose are among those of a larger one. `pipeline` is an installed spaCy pipeline for
    English, or its folder.
    """
    mentions = list(_mentions(_parsed(text, pipeline, "ENT_IOB")))
    kinds = {name: kind for _, name, kind in mentions}
    people = [name for name, kind in kinds.items() if kind == "person"]
    # Mention -> the entity that it is of: "Doe" is of "Jane Doe".
    whole = {name: name for name in kinds}
    for name in people:
        whole[name] = _whole_name(name, people)
    entities = list(dict.fromkeys(whole.values()))
    asked = asked_edits(k, share, len(entities))
    if not entities:
        raise NotApplicable("spaCy finds no name in the text")

    new = {}
    for name in shuffled(entities, rng)[:asked]:
        new[name] = _name(name, kinds[name], text, rng)

    # From the end, so that the places before an edit stay right.
    for start, name, _ in sorted(mentions, reverse=True):
        entity = whole[name]
        if entity not in new:
            continue
        other = new[entity] if entity == name else new[entity].split()[-1]
        text = f"{_with_article(text[:start], other)}{other}{text[start + len(name) :]}"
    return Edited(text, asked, len(new))


def _whole_name(name: str, people: Sequence[str]) -> str:
    """The first name of several words that ends in this one, as "Jane Doe" does in "Doe"; else the name."""
    for other in people:
        words = other.split()
        if len(words) > 1 and words[-1] == name:
            return other
    return name


def _entities_lack(params: Mapping[str, object]) -> str | None:
    try:
        _faker()
    except NotApplicable as reason:
        return str(reason)
    return _lacks(params, "ENT_IOB")


entity_swaps = replace(entity_swaps, origin=_origin, lacks=_entities_lack)


def _mentions(parsed: Any) -> Iterator[tuple[int, str, str]]:
    """(start, name, kind) of each entity of a known kind, without an article or a possessive ending."""
    for entity in parsed.ents:
        match = _ENTITY.fullmatch(entity.text)
        if match and match[1].strip() and entity.label_ in _KINDS:
            yield entity.start_char + match.start(1), match[1], _KINDS[entity.label_]


def _name(old: str, kind: str, text: str, rng: Random) -> str:
    """Another name of that kind, none of whose words with a capital is in the text."""
    faker = _faker()
    with _faker_lock:
        faker.random = rng  # Faker has one generator for all threads, hence the lock
        for _ in range(_TRIES):
            if kind == "person":
                # First names first, as what is drawn depends on the order.
                if len(old.split()) > 1:
                    new = f"{faker.first_name()} {faker.last_name()}"
                else:
                    new = faker.last_name()
            else:
                new = getattr(faker, kind)()
            in_text = [word for word in new.split() if word[0].isupper() and word in text]
            if not in_text:
                return str(new)
    raise NotApplicable(f"no name was found that could replace '{old}'")


def _with_article(before: str, name: str) -> str:
    """The text before a name, an article at its end as the name needs it."""
    article = "an" if name[0] in "AEIOUaeiou" else "a"
    # "a" or "An" before blanks at the end of the text; its first letter stays as it is written.
    return re.sub(r"\b([Aa])n?(?=\s+$)", lambda m: m[1] + article[1:], before)


# Inflections --------------------------------------------------------------------------------------------

_WRONG = {
    "VBZ": "VBP",
    "VBP": "VBZ",
    "VBD": "VBG",
    "VBN": "VB",
    "VBG": "VB",
    "VB": "VBD",
    "NN": "NNS",
    "NNS": "NN",
}
"""Tag of the Penn Treebank -> one that is an error in its position."""
# Words after which a noun must be singular, and such after which it must be plural.
_ONE = frozenset("a an this that one each every another".split())
_SEVERAL = frozenset("these those two three four five six seven eight nine ten many several few both".split())


@perturber(
    name="inflection_errors",
    level="word",
    degrees={"minor": {"k": 2, "pipeline": _DEFAULT}, "major": {"k": 5, "pipeline": _DEFAULT}},
    languages=("en",),
)
def inflection_errors(
    text: str, rng: Random, *, pipeline: str, k: int | None = None, share: float | None = None
) -> Edited:
    """Inflect `k` verbs and nouns, or a `share` of those where that is an error, as grammar does not allow.

    Tags are spaCy's, inflections those of lemminflect. The errors of a smaller dose are among those of a
    larger one. `pipeline` is an installed spaCy pipeline for English with tags, or its folder.
    """
    positions = shuffled(_errors(_parsed(text, pipeline, "TAG")), rng)
    asked = asked_edits(k, share, len(positions))
    if not positions:
        raise NotApplicable("no inflection whose change is an error")
    for start, old, new in sorted(positions[:asked], reverse=True):
        text = f"{text[:start]}{new}{text[start + len(old) :]}"
    return Edited(text, asked, min(asked, len(positions)))


inflection_errors = replace(
    inflection_errors, origin=_origin, lacks=functools.partial(_lacks, annotation="TAG")
)


def _errors(parsed: Any) -> Iterator[tuple[int, str, str]]:
    """(start, form, wrong form) of each word that can be inflected wrongly in its position."""
    from lemminflect import getInflection, getLemma

    for before, token in zip([None, *parsed], parsed, strict=False):
        # Words in capitals and with marks are left: names, "I'm", "e-mail".
        tag = token.tag_
        base = "" if before is None else before.lower_
        if tag not in _WRONG or not token.is_alpha or token.text != token.lower_:
            continue
        # Only the word before makes another number, or another form after "to" and "can", an error for sure.
        if (tag == "NN" and base not in _ONE) or (tag == "NNS" and base not in _SEVERAL):
            continue
        if tag == "VB" and (before is None or before.tag_ not in ("TO", "MD")):
            continue
        for lemma in getLemma(token.lower_, "NOUN" if tag.startswith("N") else "VERB")[:1]:
            # Of "be" the other past form is the error: "was" for "were".
            wrong_tag = "VBD" if lemma == "be" and tag == "VBD" else _WRONG[tag]
            for form in getInflection(lemma, wrong_tag):
                if form not in (token.text, "am"):
                    yield token.idx, token.text, form
                    break
