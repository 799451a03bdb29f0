"""Checks that a language model made the requested damage, with reasons for the next attempt."""

import functools
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from dhp.core.language import FUNCTION_WORDS, SHORT, looks_english, zipf
from dhp.core.text import is_refusal, sentences
from dhp.perturb.llm.any_language import denies, is_akin, is_frequent, is_slip, is_word, numbers
from dhp.perturb.llm.form import form_fault, is_marked
from dhp.perturb.llm.prompts import REFUSED

_CJK = r"\u3040-\u30ff\u3400-\u9fff"
_WORD = re.compile(
    rf"[{_CJK}]|[^\W{_CJK}]+(?:[.,:]\d+)*(?:['’][^\W{_CJK}]+)*|[.!?](?=[\s\"”’')\]]|$)|[。！？]"
)
_MARKS = frozenset(".!?。！？")
_BEFORE_A_SENTENCE = re.compile(r"(?:^|[.!?:。！？\n])[\s\"“”„‘'«(\[*•-]*$")
_ENDINGS = re.compile(r"(?:n't|'s|'re|'ve|'ll|'d|'m|')$")
_NUMBERS = frozenset(
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million "
    "billion trillion dozen half third quarter fifth twice".split()
)
_FUNCTION_WORDS = FUNCTION_WORDS | frozenset(
    "every everybody everyone everything either neither both none noone nobody nothing someone somebody "
    "something anyone anybody anything ones oneself others whatever whichever whoever yourself yourselves "
    "hisself themself theirselves unless whether since though whereas till whenever wherever lest onto near "
    "across along amid around behind beneath beside besides beyond despite except inside outside past "
    "throughout toward towards shall ought wo ca sha ai cannot much many less least little fewer enough lot "
    "lots even ever never now already".split()
)
"""Also wrong forms, and what is left of contractions."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word as it is in a text, or the mark that ends a sentence."""

    text: str
    initial: bool
    """Whether it is the first word of a sentence, where a capital letter tells nothing."""

    @property
    def base(self) -> str:
        """The word in lower case, without an ending such as 's or n't."""
        return _base(self.text)

    @property
    def named(self) -> bool:
        """Whether it holds a digit, or a capital letter that is not owed to its place."""
        capital = self.text[1:] if self.initial else self.text
        return any(c.isdigit() for c in self.text) or (
            capital != capital.lower() and self.base not in ("i", "the", "a", "an")
        )

    @property
    def joins(self) -> bool:
        """Whether it is a function word, or no word at all."""
        return self.text in _MARKS or self.base in _FUNCTION_WORDS

    @property
    def is_number(self) -> bool:
        """Whether it is a number in digits or words."""
        return self.text[0].isdigit() or self.base in _NUMBERS

    @property
    def is_entity(self) -> bool:
        """Whether it is a name, a number or a word as rare as a technical term."""
        if self.named or self.is_number:
            return True
        if self.joins:
            return False
        return zipf(self.base) < 3.3 or (self.initial and self.text[0].isupper() and not _forms(self.base))

    @property
    def is_noun(self) -> bool:
        """Whether it may be a noun or a name."""
        return self.is_entity or (not self.joins and (not _forms(self.base) or "NOUN" in _forms(self.base)))


@dataclass(frozen=True, slots=True)
class Change:
    """Consecutive words and their replacement; either side may be empty."""

    old: tuple[Word, ...]
    new: tuple[Word, ...]


def words(text: str, *, marks: bool = False) -> list[Word]:
    """The words in their order, each Chinese character as one; with marks that end sentences if wanted."""
    return [
        Word(match[0], _BEFORE_A_SENTENCE.search(text, max(0, match.start() - 8), match.start()) is not None)
        for match in _WORD.finditer(text)
        if marks or match[0] not in _MARKS
    ]


def changes(
    old: Sequence[Word],
    new: Sequence[Word],
    *,
    case: bool,
    bridged: Callable[[Word, Word, Word], bool] = lambda *_: False,
) -> list[Change]:
    """Where two texts differ, in upper and lower case too if `case`.

    Two changes with one word between them are one where that is `bridged`: given the changed word before it,
    itself and the changed word after it, in the old text.
    """
    from rapidfuzz.distance import Levenshtein

    before, after = ([w.text if case else w.text.lower() for w in side] for side in (old, new))
    spans: list[tuple[int, int, int, int]] = []
    for block in Levenshtein.opcodes(before, after):
        if block.tag == "equal":
            continue
        start, new_start = block.src_start, block.dest_start
        gap = start - spans[-1][1] if spans else None
        follows = gap == 1 and block.src_end > start > 1
        # The aligner splits a replaced phrase into a deletion and an insertion side by side.
        if gap == 0 or (follows and bridged(old[start - 2], old[start - 1], old[start])):
            start, _, new_start, _ = spans.pop()
        spans.append((start, block.src_end, new_start, block.dest_end))
    return [Change(tuple(old[a:b]), tuple(new[c:d])) for a, b, c, d in spans]


@functools.lru_cache(1 << 16)
def _base(text: str) -> str:
    return _ENDINGS.sub("", text.lower().replace("’", "'"))


@functools.lru_cache(1 << 16)
def _forms(base: str) -> dict[str, tuple[str, ...]]:
    """Part of speech -> lemmas, of a word in the dictionary."""
    import lemminflect

    lemmas: dict[str, tuple[str, ...]] = lemminflect.getAllLemmas(base)
    return lemmas


@functools.lru_cache(1 << 16)
def lemmas(base: str) -> frozenset[str]:
    """All that the word may be a form of, itself included."""
    return frozenset({base, *(lemma for forms in _forms(base).values() for lemma in forms)})


@functools.lru_cache(1 << 16)
def _regular(base: str) -> frozenset[str]:
    """What the word would be a form of if all inflection were regular, as `goed` of `go`."""
    import lemminflect

    lemmas = (lemminflect.getAllLemmasOOV(base, kind) for kind in ("VERB", "NOUN", "ADJ"))
    return frozenset(lemma for kinds in lemmas for some in kinds.values() for lemma in some)


def is_spelt(base: str, meant: Iterable[str]) -> bool:
    """Whether it is an English word, or inflects one of those meant as if that were regular."""
    if base in _FUNCTION_WORDS or _forms(base) or zipf(base) >= 4:
        return True
    return any(_regular(base) & lemmas(word) for word in meant)


def is_form(base: str, of: str) -> bool:
    """Whether two words are forms of one, right or wrong, or one is derived from the other, as `quickly`."""
    if lemmas(base) & lemmas(of) or (not _forms(base) and _regular(base) & lemmas(of)):
        return True
    short, long = sorted((base, of), key=len)
    shared = next((i for i, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    return shared >= max(4, 0.8 * len(short)) and not any(c.isdigit() for c in long)


def bare(text: str) -> str:
    """Letters and digits alone, in one case."""
    return "".join(c for c in text.casefold() if c.isalnum())


def carries_meaning(word: Word) -> bool:
    """Whether it is a name or says something about the topic."""
    return word.named or not word.joins


CHANGED_SENTENCE = "an original sentence is changed or missing; keep all of them word for word"
REORDERED = "the original sentences are not in their order"
BEFORE_FIRST = "something stands before the first sentence; insert a rephrasing right after its sentence"
COPIED = "a sentence is repeated almost word for word; say it in other words"
MISPLACED = "a rephrasing does not stand right after its sentence"
UNRELATED = "what is inserted rephrases no sentence of the text"
MANY_SENTENCES = "more is inserted than asked for"
CONTRADICTS = "a rephrasing denies its sentence or has another number; say the same"
FEW_SENTENCES = "fewer rephrasings are inserted than asked for"

_LEAD_IN = re.compile(
    r"(?:in other words|(?:to )?put (?:it )?(?:another way|differently|otherwise)|that is(?: to say)?|"
    r"said differently|so|thus|namely|again|indeed|in short)\b[,:]?\s*",
    re.I,
)
"""What may be before a rephrasing without making it one."""


def insertion_fault(original: str, revised: str, count: int | str, language: str | None) -> str | None:
    """Why a text is not the original with rephrasings after their sentences; see `acceptance.fault`."""
    old = [_spaced(sentence) for sentence in sentences(original)]
    text = _spaced(revised)
    gaps, end = [], 0
    for sentence in old:
        start = _find(sentence, text, end)
        if start < 0:
            return REORDERED if all(_find(s, text, 0) >= 0 for s in old) else CHANGED_SENTENCE
        gaps.append(text[end:start])
        end = start + len(sentence)
    first, *inserted = (gap if bare(gap) else "" for gap in [*gaps, text[end:]])
    if first:
        return BEFORE_FIRST
    new = [(index, gap) for index, gap in enumerate(inserted) if gap]
    check = _rephrasing_fault if language == "en" else _fault_in_any_language
    reason = next(filter(None, (check(gap, at, old) for at, gap in new)), None)
    if reason:
        return reason
    if any(_contradicts(gap, old[at], language) for at, gap in new):
        return CONTRADICTS
    least = min(3 if count == "all" else int(count), len(old))
    if len(new) < least:
        return FEW_SENTENCES
    return MANY_SENTENCES if count == 1 and len(new) > 1 else None


def _contradicts(gap: str, sentence: str, language: str | None) -> bool:
    """Whether a rephrasing denies what its sentence says, or the other way round, or has another number."""
    if not numbers(gap) <= numbers(sentence):
        return True
    if denies(gap, language) == denies(sentence, language):
        return False
    # Other words may deny by themselves, as "unknown" does: only of nearly the same words it is sure.
    known = [word.base for word in words(sentence)]
    content = [word.base for word in words(gap) if len(word.base) > _SHORT_WORD or _is_cjk(word.base)]
    return sum(is_akin(word, known) for word in content) >= _NEARLY_ALL * len(content)


_NEARLY_ALL = 0.8


def _fault_in_any_language(gap: str, index: int, old: Sequence[str]) -> str | None:
    """Why what is after the sentence at `index` does not rephrase it; for languages without a dictionary."""
    from rapidfuzz.distance import Indel

    new, *sources = ([w.base for w in words(text)] for text in (gap, *old))
    if any(Indel.normalized_similarity(source, new) > _COPY for source in sources):
        return COPIED
    if len(new) > 2 * len(sources[index]) + 6:
        return MANY_SENTENCES
    source = sources[index]
    known = [word for word in source if len(word) > _SHORT_WORD or _is_cjk(word)] or source
    return None if any(is_akin(word, known) for word in new) else UNRELATED


_COPY = 0.92
"""Similarity of words from which a sentence is a copy of another."""
_SHORT_WORD = 4


def _is_cjk(word: str) -> bool:
    return re.fullmatch(f"[{_CJK}]", word) is not None


def _spaced(text: str) -> str:
    return " ".join(text.split())


def _find(sentence: str, text: str, start: int) -> int:
    """Position of the sentence as a separate sentence in the text; -1 if there is none."""
    start_of_word = r"(?<!\w)" if sentence[0].isalnum() else ""
    end_of_word = r"(?!\w)" if sentence[-1].isalnum() else ""
    match = re.compile(start_of_word + re.escape(sentence) + end_of_word).search(text, start)
    return match.start() if match else -1


def _rephrasing_fault(gap: str, index: int, old: Sequence[str]) -> str | None:
    """Why what is after the sentence at `index` does not rephrase it."""
    from rapidfuzz.distance import Indel

    rest = _LEAD_IN.sub("", gap)
    new, *sources = ([w.base for w in words(text)] for text in (rest, *old))
    if any(Indel.normalized_similarity(source, new) > _COPY for source in sources):
        return COPIED if _shared(rest, old[index]) >= 0.5 else MISPLACED
    if len(new) > 2 * len(sources[index]) + 6:
        return MANY_SENTENCES
    shares = [_shared(rest, sentence) for sentence in old]
    if max(shares) < 0.2:
        return UNRELATED
    return MISPLACED if shares[index] < max(0.2, 0.5 * max(shares)) else None


def _shared(one: str, other: str) -> float:
    """The share of its content words, the rarer the weightier, that the longer text has in common."""
    sides = [{w.base: w for w in words(text) if carries_meaning(w)} for text in (one, other)]
    forms = {lemma for base in sides[1] for lemma in lemmas(base)}
    common = [word for base, word in sides[0].items() if not forms.isdisjoint(lemmas(base))]
    if len(common) < min(2, *map(len, sides)):
        return 0
    most = max(sum(map(_weight, side.values())) for side in sides)
    return sum(map(_weight, common)) / max(most, 1)


def _weight(word: Word) -> float:
    return 4 if word.is_number else max(7 - zipf(word.base), 0.5)


EMPTY = "there is no text"
UNCHANGED = "the text is unchanged"
ANOTHER = "this is another text of the task and not the revised one"
LANGUAGE = "the text is in another language; keep that of the original"
TOO_LONG = "the text is much too long; give the revised text alone"
TOO_SHORT = "the text is much too short; keep all that is not to be changed"
LEFT_OUT = "words are left out; put a fictional counterpart in the place of the entity and keep all others"
ADDED = "words are added; put a fictional counterpart in the place of the entity and add nothing"
NO_ENTITY = (
    "words that are no entity are changed; replace names, numbers or technical terms and keep all others"
)
SAME_ENTITY = "an entity is only written in another way; replace it by a fictional one"
MISSPELT_ENTITY = "an entity is only misspelt; replace it by a fictional one"
DESCRIBED = "an entity is described in place of being replaced; put a fictional name in its place"
MANY_ENTITIES = "more entities are replaced than asked for; keep the others as they are"
FEW_ENTITIES = "fewer entities are replaced than asked for"
REWRITTEN = "too much of the text is changed; replace the entities alone"
NO_GRAMMAR = (
    "words with a meaning of their own are exchanged, added or left out; change grammatical forms alone"
)
MISSPELT = "a word is misspelt; make errors of grammar with words that exist"
TOO_CLOSE = "hardly a word is changed; say all of it in other words"
LOST_NAMES = "a name or a number is missing; keep all of them"
NEW_NAMES = "a name or a number is added; add none"
FEW_ERRORS = "there are fewer errors than asked for"
MANY_ERRORS = "far more is changed than the errors asked for"

_LENGTHS = {
    "fictional_named_entities": (0.75, 1.35),
    "grammatical_errors": (0.8, 1.2),
    "rewriting_insertion": (0.95, 3.0),
    "paraphrase": (0.6, 1.6),
}
"""Least and most words of the revised text, as a share of those of the original."""
_ANY_LENGTH = (0.3, 3.0)
_SLACK = 4
"""Words by which a text may be shorter or longer in any case."""

_LINKS = ("of", "the", "de", "la", "del", "du", "di", "von", "van", "der", "den")
"""Words that may be part of a name."""
_AGREEING = frozenset("a an the he she it they him her them his hers its their theirs who which that".split())
"""What may have to agree with a replaced entity."""


def fault(
    perturber: str,
    original: str,
    revised: str,
    count: int | str,
    others: Sequence[str] = (),
    language: str | None = None,
) -> str | None:
    """Why a revised text is not the original with this kind of damage; None if it is.

    `count` is the number of changes asked for, or "all"; `others` are texts that the request showed beside
    the original; `language` is its language, None if it is not known. A perturber that is not known here
    gets the checks that hold for all. What needs a dictionary is checked in declared English alone; names,
    figures, marks and unchanged words in every language.
    """
    english = language == "en" and looks_english(original)
    reason = _general_fault(perturber, original, revised, others, english)
    if reason:
        return reason
    check = _CHECKS.get(perturber)
    if check is None:
        return is_marked(original, revised)
    same_form = form_fault if perturber in _WORD_BY_WORD else is_marked
    reason = same_form(original, revised)
    if reason:
        return reason
    return check(original, revised, count, language if english or language != "en" else None)


def is_checked(perturber: str) -> bool:
    """Whether a kind of damage has checks of its own, beside those that hold for all."""
    return perturber in _CHECKS


_WORD_BY_WORD = ("fictional_named_entities", "grammatical_errors")
"""Kinds of damage that change words and nothing between the others."""


def _general_fault(
    perturber: str, original: str, revised: str, others: Sequence[str], english: bool
) -> str | None:
    if not bare(revised):
        return EMPTY
    if is_refusal(revised) and not is_refusal(original):
        return REFUSED
    if bare(revised) == bare(original):
        return UNCHANGED
    if bare(revised) in map(bare, others):
        return ANOTHER
    if _script(revised) != _script(original) or _in_another(original, revised, english):
        return LANGUAGE
    least, most = _LENGTHS.get(perturber, _ANY_LENGTH)
    before, after = len(words(original)), len(words(revised))
    if after > most * before + _SLACK:
        return TOO_LONG
    return TOO_SHORT if after < max(least * before - _SLACK, _ANY_LENGTH[0] * before) else None


def _in_another(original: str, revised: str, english: bool) -> bool:
    """Whether English became another language, or another language English, as far as words tell."""
    if english:
        return not looks_english(revised)
    is_long = min(len(words(original)), len(words(revised))) >= SHORT
    return is_long and looks_english(revised) != looks_english(original)


def _script(text: str) -> str:
    """The script that most of the letters are of, e.g. `LATIN`; empty without letters."""
    import unicodedata

    names = [unicodedata.name(c, "?").split()[0] for c in text if c.isalpha()]
    return max(sorted(set(names)), key=names.count, default="")


# Fictional named entities -------------------------------------------------------------------------------


def _entities_fault(original: str, revised: str, count: int | str, language: str | None) -> str | None:
    before = words(original)
    made = changes(before, words(revised), case=True, bridged=_bridged)
    if sum(len(change.old) for change in made) > max(0.5 * len(before), 4):
        return REWRITTEN
    slips = sum(_is_slip(change) and _plain(change.old) != _plain(change.new) for change in made)
    if slips > (len(made) // 3 if count == "all" else 0):
        return MISSPELT_ENTITY
    if language is None:  # a term in small letters may be an entity there, as in English
        return None
    if language != "en":
        return _entities_fault_in_any_language(before, made, count)
    replaced: list[Change] = []
    reasons: list[str] = []
    for change in made:
        reason = _replacement_fault(change, before)
        if reason:
            reasons.append(reason)
        elif not _agrees(change):
            replaced.append(change)
    if reasons and (count != "all" or len(reasons) > len(made) // 3):
        return reasons[0]
    if not replaced:
        return NO_ENTITY
    entities, before_entities = _entities(replaced), _entities(_runs(before))
    if count != "all" and entities > int(count):
        return MANY_ENTITIES
    wanted = min(2 if count == "all" else int(count), before_entities)
    if entities < wanted:
        return FEW_ENTITIES
    return FEW_ENTITIES if count == "all" and _are_left(before, made) else None


def _are_left(before: Sequence[Word], made: Sequence[Change]) -> bool:
    """Whether more than half of the names and numbers are as they were."""
    sure = [word for word in before if word.named or word.is_number]
    changed = sum(word.named or word.is_number for change in made for word in change.old)
    return changed < (1 - _MOST_LEFT) * len(sure)


_MOST_LEFT = 0.5
"""Share of the names and numbers that may stay where all are to be replaced: some are no entity, such as the
number of a step."""


def _is_slip(change: Change) -> bool:
    """Whether a change only misspells a name; two frequent words, such as June and July, are no such pair."""
    pairs = zip(change.old, change.new, strict=False)
    return len(change.old) == len(change.new) and all(
        is_slip(old.text, new.text) and zipf(old.base) < _FREQUENT for old, new in pairs
    )


_FREQUENT = 4.5


def _entities_fault_in_any_language(
    before: Sequence[Word], made: Sequence[Change], count: int | str
) -> str | None:
    """Why changes replace no entity, as far as capital letters and figures tell."""
    cased = any(word.text != word.text.lower() for word in before)
    replaced = [change for change in made if change.old and change.new and not _agrees(change)]
    if any(_plain(change.old) == _plain(change.new) for change in replaced):
        return SAME_ENTITY
    if cased:
        replaced = [
            c for c in replaced if any(word.text != word.text.lower() or word.is_number for word in c.old)
        ]
    if not replaced:
        return NO_ENTITY
    different = _different(replaced)
    if count != "all":
        return MANY_ENTITIES if different > int(count) else None
    if sum(any(c.isdigit() for c in word.text) for word in before) > 1 and _digits_left(before, made):
        return FEW_ENTITIES
    return FEW_ENTITIES if different < 2 and len(before) > SHORT else None


def _different(replaced: Sequence[Change]) -> int:
    """How many different entities were replaced; mentions that share a word are of one."""
    groups: list[set[str]] = []
    for change in replaced:
        group = {word.base for word in change.old if len(word.base) > 1 or not word.base.isalpha()}
        for same in [other for other in groups if other & group]:
            groups.remove(same)
            group |= same
        groups.append(group)
    return len(groups)


def _digits_left(before: Sequence[Word], made: Sequence[Change]) -> bool:
    with_digits = sum(any(c.isdigit() for c in word.text) for word in before)
    changed = sum(any(c.isdigit() for c in word.text) for change in made for word in change.old)
    return changed < (1 - _MOST_LEFT) * with_digits


def _bridged(before: Word, between: Word, after: Word) -> bool:
    """Whether a word between two changed ones is part of the same entity, as `to` in `9 to 4`."""
    if before.is_number and after.is_number:
        return between.base in ("to", "and", "point")
    return between.base in _LINKS or between.is_number


def _agrees(change: Change) -> bool:
    """Whether it only makes an article or pronoun agree with a replaced entity."""
    return all(word.base in _AGREEING for word in (*change.old, *change.new))


def _replacement_fault(change: Change, original: Sequence[Word]) -> str | None:
    """Why a change neither replaces an entity by one that is new to the original nor makes a word agree.

    Where the original has no entity at all, a noun counts as one.
    """
    old, new = change.old, change.new
    if _agrees(change):
        return None
    if not new:
        return LEFT_OUT
    if not old:
        return ADDED
    if _plain(old) == _plain(new):
        return SAME_ENTITY
    if sorted(_values(old)) == sorted(_values(new)):
        return SAME_ENTITY
    known = {word.base for word in original}
    nouns = not any(word.is_entity for word in original)
    entities = [word for word in new if word.is_entity or (nouns and word.is_noun)]
    common = [word for word in new if not (word in entities or word.joins or word.base in known)]
    if not any(word.is_number or word.base not in known for word in entities):
        return NO_ENTITY
    described = [word for word in old if not (word.named or word.joins)]
    if len(common) > len(described) and any(word.named for word in old):
        return DESCRIBED
    if not any(word.is_noun for word in old) or len(common) > 2 or len(old) > 8 or len(new) > len(old) + 4:
        return NO_ENTITY
    return None


_NUMERALS = {
    word: str(number)
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
        "sixteen seventeen eighteen nineteen twenty".split()
    )
} | {f"{ten}ty": str(10 * n) for n, ten in enumerate("thir for fif six seven eigh nine".split(), 3)}


def _values(side: Sequence[Word]) -> list[str]:
    """Names and numbers in one way of writing: `two hours` is `2 hours`, `12 March` is `March 12`."""
    return [
        _NUMERALS.get(word.base, re.sub(r"(?<=\d)(?:st|nd|rd|th)$|[,.](?=\d{3})", "", word.base))
        for word in side
    ]


def _plain(side: Sequence[Word]) -> str:
    return " ".join(re.sub(r"e?s$", "", word.base) for word in side)


def _runs(text: Sequence[Word]) -> list[Change]:
    """The entities of a text: words of that kind in a row."""
    runs: list[list[Word]] = [[]]
    for word in text:
        if word.is_entity:
            runs[-1].append(word)
        elif runs[-1]:
            runs.append([])
    return [Change(tuple(run), ()) for run in runs if run]


def _entities(mentions: Sequence[Change]) -> int:
    """How many different entities are mentioned; mentions that share a word or its stem are of one."""
    groups: list[set[str]] = []
    for mention in mentions:
        group = {word.base for word in mention.old if word.is_entity} or {
            w.base for w in mention.old if not w.joins
        }
        for same in [g for g in groups if any(_akin(a, b) for a in g for b in group)]:
            groups.remove(same)
            group |= same
        groups.append(group)
    return len(groups)


def _akin(one: str, other: str) -> bool:
    return one == other or (one[:4] == other[:4] and len(one) >= 4 and not one[0].isdigit())


# Grammatical errors -------------------------------------------------------------------------------------


def _grammar_fault(original: str, revised: str, count: int | str, language: str | None) -> str | None:
    before, after = words(original, marks=True), words(revised, marks=True)
    made = changes(before, after, case=False)
    if language != "en":
        reason = _grammar_fault_in_any_language(before, made, language)
        if reason:
            return reason
    else:
        meant = {word.base for word in before}
        new = [word for change in made for word in change.new if word.base not in meant]
        if any(not word.named and not is_spelt(word.base, meant) for word in new):
            return MISSPELT
        if not _same_content(before, made):
            return NO_GRAMMAR
    errors = sum(max(len(change.old), len(change.new)) for change in made)
    least = 3 if count == "all" else int(count)
    if errors < least:
        return FEW_ERRORS
    most = 2 * least if least < 3 else max(len(before) // 2, least + 1)  # minor stays below major
    return MANY_ERRORS if errors > most else None


def _grammar_fault_in_any_language(
    before: Sequence[Word], made: Sequence[Change], language: str | None
) -> str | None:
    """Why changed words are no other forms of the words that stood there, as far as their letters tell."""
    known = {word.base for word in before}
    new = [(change, word) for change in made for word in change.new if word.base not in known]
    if any(word.text not in _MARKS and not is_word(word.base, language) for _, word in new):
        return MISSPELT
    for change, word in new:
        is_content = len(word.base) > _SHORT_WORD and not is_frequent(word.base, language)
        if is_content and not is_akin(word.base, [old.base for old in change.old]):
            return NO_GRAMMAR
    return None


def _same_content(before: Sequence[Word], made: Sequence[Change]) -> bool:
    """Whether words that carry meaning stand where they stood, in some form, but for a few cut off."""
    lost: list[Word] = []
    for change in made:
        gone = [word for word in change.old if carries_meaning(word)]
        for word in filter(carries_meaning, change.new):
            same = next((old for old in gone if is_form(word.base, old.base)), None)
            if same is None:
                return False
            gone.remove(same)
        lost += gone
    return len(lost) <= 1 + sum(map(carries_meaning, before)) // 25 and not any(
        word.is_entity for word in lost
    )


# Paraphrases --------------------------------------------------------------------------------------------

_FEWEST_CHANGED = 0.15
"""Least share of the words that a paraphrase changes."""


def paraphrase_fault(original: str, revised: str, count: int | str, language: str | None) -> str | None:
    """Why a text does not say the same in other words, with all names and numbers; see `fault`."""
    before, after = words(original), words(revised)
    changed = sum(max(len(c.old), len(c.new)) for c in changes(before, after, case=False))
    if changed < _FEWEST_CHANGED * len(before):
        return TOO_CLOSE
    old, new = ({word.base for word in side if _is_fixed(word, language == "en")} for side in (before, after))
    if not old <= {word.base for word in after}:
        return LOST_NAMES
    return None if new <= {word.base for word in before} else NEW_NAMES


def _is_fixed(word: Word, english: bool) -> bool:
    """Whether it is a name or number; elsewhere than in English capital letters tell no names."""
    return word.named if english else any(c.isdigit() for c in word.text)


_CHECKS: dict[str, Callable[[str, str, int | str, str | None], str | None]] = {
    "fictional_named_entities": _entities_fault,
    "grammatical_errors": _grammar_fault,
    "rewriting_insertion": insertion_fault,
    "paraphrase": paraphrase_fault,
}
