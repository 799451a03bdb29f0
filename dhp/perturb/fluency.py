"""Whether words can stand side by side: by this a rule knows that its edit broke a sentence.

Each language has lists of function words (`perturbations/lists/function_words.yaml`). `Fluency` says which of
them cannot stand side by side; `Words` looks for places of a text where a gap or an exchange makes them.
"""

import functools
import re
import string
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, pairwise, zip_longest
from random import Random

from dhp.content.catalog import read_list
from dhp.core.language import WITHOUT_SPACES
from dhp.core.markdown import masked
from dhp.core.seeding import drawn
from dhp.core.specs import Spec
from dhp.core.words import word_spans
from dhp.perturb.edits import Span

PUNCTUATION = string.punctuation.replace("_", "") + "“”‘’„«»…—–¿¡、，。！？；：（）《》〈〉【】।॥؟،؛"
"""Punctuation that stays where it is when words move."""
STOPS = ".,;:!?…。，、；：！？"
"""Marks at the end of a clause."""
_MARK = re.compile(r"\s*(?:[.,;:!?…)\]}—–|。，、；：！？）】》」』”]|\n)")
"""Behind a word: a mark, or the end of its line."""
_STOP = re.compile(r"\s*(?:[.!?…)\]}。！？）】》」』]|\n)")
"""One that ends a sentence or a quotation: in Japanese a comma may stand behind any particle."""
_LEAST = 0.1
"""Share of function words from which a text is taken to be in a language."""


class WordLists(Spec):
    """Function words of a language, in small letters and with a space between them."""

    openers: str
    """What they belong to must follow, so no mark, link or closer does."""
    leads: str = ""
    """Something must follow, so no mark does."""
    links: str = ""
    """Never right behind an opener."""
    closers: str = ""
    """Never at the beginning of a clause, nor right behind an opener."""
    verbs: str = ""
    """Without one of them there is no clause."""
    ahead: str = ""
    """Inside a clause they stand before what belongs to them; without them it may be one still."""
    besides: str = ""
    """Further words by which a text is known to be in the language."""


class FunctionWords(Spec):
    """Function words of languages."""

    languages: dict[str, WordLists]
    """Code of a language -> its words."""

    @cached_property
    def known(self) -> Mapping[str, "Fluency"]:
        """Code of a language -> what cannot stand side by side in it."""
        return {code: Fluency(code, words) for code, words in self.languages.items()}


class Fluency:
    """What cannot stand side by side in a language; words are given in small letters."""

    def __init__(self, language: str, words: WordLists) -> None:
        self.openers = frozenset(words.openers.split())
        self.links = frozenset(words.links.split())
        self.closers = frozenset(words.closers.split())
        self.verbs = frozenset(words.verbs.split())
        self.leads = self.openers | frozenset(words.leads.split())
        self.all = self.leads | self.links | self.closers | frozenset(words.besides.split())
        self.ahead = self.leads | frozenset(words.ahead.split())
        self.end = _STOP if language == "ja" else _MARK
        """A mark before which no opener and no lead stands."""

    def breaks(self, left: str | None, right: str | None) -> bool:
        """Whether two neighbours break a sentence; None is the beginning or the end of a clause."""
        if left is None or right is None:
            return left in self.leads or right in self.closers
        return left in self.openers and (right in self.links or right in self.closers)


_NUMBER = "0"
"""Stands for all numbers."""
_YEAR = 4
"""Digits of a year, which may stand behind a word, too."""
_STEPS = 2
"""Words by which a gap grows so that the sentence stays broken."""
_BLANK = " \t\u00a0\u202f\u3000"
"""White space within a line."""
_INNER_MARK = re.compile(f"[{re.escape(PUNCTUATION)}]")


class Words:
    """The words of a text as they stand side by side, and what an edit would do to them."""

    def __init__(self, text: str, spans: Sequence[Span], language: str | None) -> None:
        """`text` is in small letters; `spans` are its words, with or without punctuation at their ends."""
        self.spans = spans
        self._text, self._language = text, language
        self._words = [text[start:end] for start, end in spans]
        self.known = self._fluency()
        """None if there are no lists of words of the language."""

    def _fluency(self) -> Fluency | None:
        """Of a language that is not declared, it is the one of whose function words the text has most."""
        lists: FunctionWords = read_list("function_words", FunctionWords)
        fluent = lists.known
        if self._language is not None:
            return fluent.get(self._language)
        words = set(self._words)
        likely = max(fluent.values(), key=lambda known: len(words & known.all))
        return likely if len(words & likely.all) >= _LEAST * len(words) else None

    @cached_property
    def _at(self) -> Mapping[str, Sequence[int]]:
        """Where leads, openers, closers and verbs are."""
        known, words = self.known, self._words
        if known is None:
            return {}
        lists = {"lead": known.leads, "opener": known.openers, "closer": known.closers, "verb": known.verbs}
        at = dict[str, list[int]]()
        for kind, some in lists.items():
            at[kind] = [i for i, word in enumerate(words) if word in some] if some else []
        if known.closers:
            at["opener"] = []  # Chinese does without many of them, and in Japanese they stand behind a noun
        return at

    def gaps(self, size: int, place: int) -> Iterator[int]:
        """Where a sentence breaks without so many words from there on, the nearest to a place first.

        Those that only take an opener from what belongs to it come last.
        """
        at = self._at
        if not at:
            return
        # A gap right behind a lead, right before a closer, or about a verb.
        starts = {i + 1 for i in at["lead"]}
        starts.update(i - size for i in at["closer"])
        for i in at["verb"]:
            starts.update(range(i - size + 1, i + 1))
        # One whose last word is an opener.
        ends = [i + 1 - size for i in at["opener"]]
        last = len(self._words) - size
        for some, is_gap in ((starts, self.is_gap), (ends, self._is_bare)):
            # The nearest first, and of two as near the first.
            for _, i in sorted([(abs(i - place), i) for i in some if 0 <= i <= last]):
                if is_gap(i, i + size):
                    yield i

    def is_gap(self, start: int, end: int) -> bool:
        """Whether a sentence breaks without the words from `start` to before `end`."""
        known = self.known
        if known is None:
            return False
        gone = self._words[start:end]
        has_verb = not known.verbs.isdisjoint(gone)
        if not (has_verb or known.closers) and (not start or self._words[start - 1] not in known.leads):
            return False
        before, behind = self._before(start), self._behind(end - 1)
        if known.breaks(before, behind):
            return True
        if has_verb:
            in_clause = before is not None and not _MARK.search(self._part(start, end))
            return in_clause and known.leads.isdisjoint(gone)
        return False

    def _is_bare(self, start: int, end: int) -> bool:
        """Whether words stay without the opener before them, which is the last one that is gone."""
        return bool(
            self._before(start) and self._behind(end - 1) and not _MARK.search(self._part(start, end))
        )

    def _part(self, start: int, end: int) -> str:
        """What stands from a word to before another, without the marks at its end."""
        return self._text[self.spans[start][0] : self.spans[end - 1][1]].rstrip(STOPS)

    def resized(self, gap: Span, size: int) -> Span:
        """A gap of another size about one, at the first steps so that the sentence stays broken.

        A smaller one is always part of a larger one.
        """
        start, end = gap
        while end - start > size:
            if self.is_gap(start + 1, end):
                start += 1
            else:
                end -= 1
        while self.known and end - start < min(size, gap[1] - gap[0] + _STEPS):
            right = end < len(self._words) and self.is_gap(start, end + 1)
            left = not right and start > 0 and self.is_gap(start - 1, end)
            if right or (not left and start < len(self._words) - end):
                end += 1
            else:
                start -= 1
        # What is still missing is shared by the words before and behind the gap, in their proportion.
        more = size - (end - start)
        before = more * start // max(start + len(self._words) - end, 1)
        return start - before, end + more - before

    @cached_property
    def neighbours(self) -> Sequence[int]:
        """The words before another one, with nothing but white space between them, in one line."""
        text, spans, words = self._text, self.spans, self._words
        places = [i for i, (a, b) in enumerate(pairwise(spans)) if not text[a[1] : b[0]].strip(_BLANK)]
        places = [i for i in places if words[i] != words[i + 1]]
        if self._language not in WITHOUT_SPACES:
            return places
        # What is taken for a word there may hold a mark.
        return [i for i in places if not _INNER_MARK.search(words[i] + words[i + 1])]

    def breaking_first(self, rng: Random) -> Iterator[int]:
        """The neighbours whose exchange breaks a sentence, then the others, in random orders.

        Those that break it come one for each function word in turn, so that no kind of pair prevails.
        """
        groups = list[list[int]]()
        for some in drawn(list(self._breaking.values()), rng):
            groups.append(list(drawn(some, rng)))
        for turn in zip_longest(*groups):
            yield from (i for i in turn if i is not None)
        breaking = set(chain.from_iterable(groups))
        yield from drawn([i for i in self.neighbours if i not in breaking], rng)

    @cached_property
    def _breaking(self) -> Mapping[str, list[int]]:
        """Function word -> the neighbours whose exchange breaks a sentence by it."""
        groups: dict[str, list[int]] = {}
        if self.known is None:
            return groups
        for i in self.neighbours:
            word = self._broken_by(self.known, i)
            if word is not None:
                groups.setdefault(word, []).append(i)
        return groups

    def _broken_by(self, known: Fluency, i: int) -> str | None:
        """The word by which a sentence breaks if one and the next change places; None if it may not."""
        one, other = self._words[i], self._words[i + 1]
        before = self._before(i)
        # At the beginning of a clause German "die" may be a pronoun, and English "is" asks.
        inside = one in known.openers or before is not None
        if inside and other not in known.ahead | known.all:
            if one in known.ahead:
                return one
            if one.isdecimal() and len(one) < _YEAR:
                return _NUMBER
        if not known.closers and known.leads.isdisjoint(self._words[max(i - 1, 0) : i + 2]):
            return None
        if known.breaks(before, other) or known.breaks(other, one):
            return other
        return one if known.breaks(one, self._behind(i + 1)) else None

    def _before(self, i: int) -> str | None:
        """The word before another; None at the beginning of a clause, "" if it cannot be told."""
        if i == 0:
            return None
        word = self._words[i - 1]
        plain = word.rstrip(PUNCTUATION)
        gap = word[len(plain) :] + self._text[self.spans[i - 1][1] : self.spans[i][0]]
        if gap.strip(_BLANK):
            return None if _MARK.match(gap) else ""
        return plain

    def _behind(self, i: int) -> str | None:
        """The word behind another; None at the end of a clause, "" if it cannot be told."""
        if i + 1 == len(self._words):
            return None
        last, word = self._words[i : i + 2]
        gap = last[len(last.rstrip(STOPS)) :] + self._text[self.spans[i][1] : self.spans[i + 1][0]]
        if gap.strip(_BLANK):
            return None if self.known and self.known.end.match(gap) else ""
        return word.rstrip(STOPS)


_MOST_KEPT = 20_000
"""Characters of a text whose words are kept for the other kinds and degrees of damage."""


def words_in(text: str, language: str | None, *, with_marks: bool) -> Words:
    """The words of `word_spans`, with or without punctuation at their ends; what is no prose is masked."""
    find = _kept_words if len(text) <= _MOST_KEPT else _kept_words.__wrapped__
    return find(text, language, with_marks)


@functools.lru_cache(maxsize=256)
def _kept_words(text: str, language: str | None, with_marks: bool) -> Words:
    shown = masked(text).text
    spans = word_spans(shown, language)
    if not with_marks:
        spans = [_without_marks(shown, start, end) for start, end in spans]
    small = shown.lower()
    if len(small) != len(shown):  # a letter that is two in small letters
        small = shown
    return Words(small, spans, language)


def _without_marks(text: str, start: int, end: int) -> Span:
    """The place of a word without the punctuation at its ends."""
    word = text[start:end]
    if word.isalnum():  # most are, which is told faster
        return start, end
    start += len(word) - len(word.lstrip(PUNCTUATION))
    return start, start + len(word.strip(PUNCTUATION))
