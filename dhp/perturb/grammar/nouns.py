"""Errors around nouns: number, pronouns, prepositions."""

from collections.abc import Iterator

from dhp.perturb.grammar.words import (
    AUXILIARIES,
    BE,
    PREPOSITIONS,
    Place,
    Sentence,
    lemmas,
    plural,
    singular,
    verb,
)

_MANY = frozenset("many several various numerous multiple both".split())
_SEVERAL = frozenset("one two three four five many several both few each".split())
_OF_SEVERAL = frozenset("the these those his her its their our my your".split())
_ONE = frozenset("a an this every each another one".split())
_MEASURED = frozenset("old long wide high tall deep thick".split())
_OBJECTIVE = {"he": "him", "she": "her", "they": "them", "we": "us", "i": "me"}
_NOMINATIVE = {"him": "he", "them": "they", "us": "we", "me": "i"}
_ALONE = {
    "their": "theirs",
    "our": "ours",
    "her": "hers",
    "my": "mine",
    "your": "yours",
    "his": "him",
    "its": "it",
}
_REFLEXIVE = {
    "himself": ("themselves", "itself"),
    "herself": ("themselves", "itself"),
    "itself": ("themselves",),
    "themselves": ("itself", "himself"),
}
_PERIODS = frozenset("years months weeks days hours minutes decades".split())
_PLAIN_PREPOSITIONS = frozenset("of with to from by at for against between among on".split())


def number(s: Sentence, i: int) -> Iterator[Place]:
    """A determiner or number that disagrees with its noun."""
    word = s[i]
    if word in ("these", "those", "this"):
        yield from _demonstrative(s, i)
    elif word in ("a", "an"):
        yield from _article(s, i)
    elif word == "many" and s.is_plural(i + 1) and s[i - 1] not in ("great", "good"):
        yield Place("number", i, i + 1, i, ("much",))
    elif word in ("each", "every") and _countable_singular(s, i + 1) and s[i + 1] not in s.lists.times:
        yield Place("number", i, i + 1, i, ("all",))
    for k in range(i - 1, i - 4, -1):
        if k < i - 1 and not _modifier(s, k + 1):
            break
        if (s.number(k) or s[k] in _MANY) and _countable_plural(s, i) and _counts(s, k):
            yield Place("number", k, i, i, (singular(word),))
            break
        if s[k] in _OF_SEVERAL and s[k - 1] == "of" and s[k - 2] in _SEVERAL and _countable_plural(s, i):
            yield Place("number", k, i, i, (singular(word),))
            break
        if s[k] in _ONE and _countable_singular(s, i):
            yield Place("number", k, i, i, (plural(word),))
            break


def _demonstrative(s: Sentence, i: int) -> Iterator[Place]:
    word = s[i]
    head = i + 1
    if s.number(head) or s.only_adjective(head):
        head += 1
    if word == "this":
        if (head == i + 1 or s.only_adjective(i + 1)) and _countable_singular(s, head):
            yield Place("number", i, head, i, ("these",))
    elif s.is_plural(head) and s[head] not in s.lists.fixed_number:
        yield Place("number", i, head, i, ("this" if word == "these" else "that",))


def _article(s: Sentence, i: int) -> Iterator[Place]:
    """ "a" and "an" exchanged before a plain word whose first letter tells its sound."""
    after = s[i + 1]
    if len(after) < 3 or not after.isalpha() or not lemmas(after) or s.tokens[i + 1].text != after:
        return
    if s[i] == "a" and after[0] in "bcdfgjklmnpqrstvwz":
        yield Place("article", i, i + 1, i, ("an",))
    elif s[i] == "an" and after[0] in "aei":
        yield Place("article", i, i + 1, i, ("a",))


def _modifier(s: Sentence, i: int) -> bool:
    """Whether the word at `i` stands before a noun and is no verb."""
    word = s[i]
    if "-" in word and not s.boundary(i):
        return word[0].isalpha()
    verbal = any(verb(word, tag) for tag in ("VBD", "VBZ", "VBG"))
    return s.only_adjective(i) or (
        s.open_class(i) and not verbal and bool(set(lemmas(word)) & {"ADJ", "NOUN"})
    )


def _countable_plural(s: Sentence, i: int) -> bool:
    return (
        s.is_plural(i)
        and s[i] not in s.lists.fixed_number
        and not _noun_follows(s, i)
        and s[i + 1] not in _MEASURED
    )


def _countable_singular(s: Sentence, i: int) -> bool:
    return (
        s.is_singular(i)
        and "ADJ" not in lemmas(s[i])
        and s[i] not in s.lists.fixed_number
        and plural(s[i]) not in s.lists.fixed_number
        and not _noun_follows(s, i)
        and not verb(s[i], "VBG")
        and not verb(s[i], "VBN")
    )


def _noun_follows(s: Sentence, i: int) -> bool:
    """Whether the noun at `i` may be the first part of a compound."""
    following = s[i + 1]
    if s.boundary(i + 1):
        return following in ("-", "/", "'")
    if following in s.lists.function_words:
        return following in s.lists.fixed_number or following in ("'s", "s", "like", "per")
    if following.startswith("'") or not s.open_class(i + 1):
        return not s.adverb(i + 1)
    if verb(following, "VBD") or verb(following, "VBN") or "ADV" in lemmas(following):
        return False
    return bool(plural(following) or singular(following))


def _counts(s: Sentence, k: int) -> bool:
    """Whether the number word at `k` counts what follows, and is no part of a name ("type 2 cells")."""
    before = s[k - 1]
    if s[k] in _MANY:
        return True
    if before in s.lists.numbered or s.named(k - 1) or before in s.lists.months or "." in s[k]:
        return False
    if s.boundary(k - 1):
        return before not in ("-", "/", "%", "$", "£", "€", ".", "+", "<", ">", "=", "(")
    return (not s.open_class(k - 1) and "-" not in before and not before[0].isdigit()) or bool(
        verb(before, "VBD") and not plural(before)
    )


def pronoun(s: Sentence, i: int) -> Iterator[Place]:
    """A pronoun in the wrong case, number or kind."""
    word = s[i]
    if word in _OBJECTIVE and _finite_follows(s, i) and s.opens(i - 1) and s[i - 1] not in ("than", "like"):
        yield Place("pronoun", i, i, i, (_OBJECTIVE[word],))
    elif word in _NOMINATIVE and s.tokens[i].text != "US" and _object(s, i):
        yield Place("pronoun", i, i, i, (_NOMINATIVE[word],))
    elif word in _REFLEXIVE and _one_antecedent(s, i):
        yield Place("pronoun", i, i, i, _REFLEXIVE[word])
    elif word in _ALONE and _owned(s, i):
        yield Place("pronoun", i, i, i, (_ALONE[word],))
    elif word in ("who", "which", "that"):
        yield from _relative(s, i)


def _one_antecedent(s: Sentence, i: int) -> bool:
    """Whether the reflexive at `i` is bound to the number it has: no group, no singular "they"."""
    before = s.words[:i]
    if s[i] == "themselves":
        either = {"or", "child", "person", "individual", "patient", "everyone", "anyone", "someone", "one"}
        return ("they" in before or any(map(s.is_plural, range(i)))) and not either & set(before)
    return s[i] != "itself" or not s.lists.collective & set(before)


def _finite_follows(s: Sentence, i: int) -> bool:
    after = s[i + 1]
    if after in AUXILIARIES - {"be", "been", "being"}:
        return True
    finite = verb(after, "VBD") or verb(after, "VBZ")
    return s.open_class(i + 1) and bool(finite) and not (plural(after) or singular(after)) and after != finite


def _object(s: Sentence, i: int) -> bool:
    """Whether the pronoun at `i` can only be an object."""
    before, after = s[i - 1], s[i + 1]
    if before in _PLAIN_PREPOSITIONS:
        return True
    governs = any(verb(before, tag) for tag in ("VB", "VBZ", "VBD", "VBG"))
    if before in s.lists.function_words or not governs:
        return False
    return not (after in AUXILIARIES or any(verb(after, tag) for tag in ("VB", "VBZ", "VBD")))


def _owned(s: Sentence, i: int) -> bool:
    """Whether a noun or an adjective follows the possessive at `i`."""
    if not s.open_class(i + 1) or s.named(i + 1):
        return False
    found = set(lemmas(s[i + 1]))
    if s[i] in ("his", "its") and s[i - 1] not in _PLAIN_PREPOSITIONS:
        return False
    return (found <= {"NOUN", "VERB"} and "NOUN" in found) or (s.only_adjective(i + 1) and s[i] != "her")


def _relative(s: Sentence, i: int) -> Iterator[Place]:
    """A relative pronoun of things for a person, of persons for a thing, or no relative pronoun at all."""
    k = i - 2 if s[i - 1] == "," else i - 1
    group = s.lists.groups_and_animals | s.lists.people | s.lists.collective
    thing = (s.is_singular(k) or s.is_plural(k)) and not group & set(s.words[max(0, k - 5) : k + 1])
    if s[i] == "who" and s[k] in s.lists.people:
        yield Place("pronoun", i, i, i, ("which",))
    elif s[i] == "which" and (thing or (s[k] in PREPOSITIONS and s[k - 1] not in group)):
        yield Place("pronoun", i, i, i, ("who",))
    elif s[i] == "that" and k == i - 1 and thing and set(lemmas(s[k])) == {"NOUN"}:
        follows = s[i + 1] in AUXILIARIES | {"i", "he", "she", "it", "they", "we", "you"}
        if follows or verb(s[i + 1], "VBD") or verb(s[i + 1], "VBZ"):
            yield Place("pronoun", i, i, i, ("what",))


def preposition(s: Sentence, i: int) -> Iterator[Place]:
    """A preposition that the words around it do not allow."""
    word, before = s[i], s[i - 1]
    if word == "than":
        yield Place("preposition", i, i, i, ("as",))
    if word == "during" and not verb(s[i + 1], "VBG"):
        yield Place("preposition", i, i, i, ("while",))
    if word not in PREPOSITIONS:
        return
    if before and not s.boundary(i - 1) and not s.named(i - 1):
        for key in (before, *(lemma for found in lemmas(before).values() for lemma in found)):
            if wrong := s.lists.governed.get(f"{key} {word}"):
                yield Place("preposition", i, i, i, wrong)
                return
    for length in (5, 4, 3, 2):
        if wrong := s.lists.phrases.get(" ".join(s.words[i : i + length])):
            yield Place("preposition", i, i, i, wrong)
            return
    if _passive(s, i):
        yield Place("preposition", i, i, i, ("of",))
    else:
        yield from _dated(s, i)


def _passive(s: Sentence, i: int) -> bool:
    """Whether the preposition at `i` follows a participle that never takes "of"."""
    lemma = verb(s[i - 1], "VBN")
    if s[i] not in ("by", "in", "on", "at", "for", "with", "from") or s.boundary(i + 1):
        return False
    return bool(lemma) and s[s.back(i - 1)] in BE and lemma not in s.lists.takes_of


def _dated(s: Sentence, i: int) -> Iterator[Place]:
    """Days, months, years and countries."""
    word, after = s[i], s[i + 1]
    if s[i + 2].startswith("'") or s[i + 2] in ("-", "–"):
        return
    year = len(after) == 4 and after.isdigit() and "1500" <= after <= "2099" and not s.open_class(i + 2)
    capital = i + 1 < len(s) and s.tokens[i + 1].capital
    if word == "on" and capital and (after in s.lists.weekdays or after in s.lists.months):
        yield Place("preposition", i, i + 1, i, ("at", "in") if after in s.lists.weekdays else ("at",))
    elif word == "in" and (year or (capital and after in s.lists.months)):
        yield Place("preposition", i, i + 1, i, ("at", "on") if year else ("at",))
    elif (
        word == "in"
        and capital
        and after in s.lists.countries
        and not (s.open_class(i + 2) or s.named(i + 2))
    ):
        yield Place("preposition", i, i, i, ("at",))
    elif word == "for" and (s.number(i + 1) or after in ("several", "many")) and s[i + 2] in _PERIODS:
        yield Place("preposition", i, i, i, ("since",))
    elif word == "since" and year:
        yield Place("preposition", i, i, i, ("for",))
    elif word == "on" and after.isdigit() and s[i + 2] in s.lists.months:
        yield Place("preposition", i, i, i, ("at", "in"))
