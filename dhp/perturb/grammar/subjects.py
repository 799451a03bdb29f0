"""The subject of a verb: where it begins, and its number where that is beyond doubt."""

from dhp.perturb.grammar.words import (
    AUXILIARIES,
    DETERMINERS,
    DO,
    MODALS,
    PLURAL_SUBJECTS,
    PREPOSITIONS,
    SINGULAR_SUBJECTS,
    Sentence,
    verb,
)

_WINDOW = 12
_LONG = 3


def number_before(s: Sentence, k: int) -> str:
    """`singular` or `plural` where a verb after `k` can have no other number, else an empty text."""
    word = s[k]
    joined = s[k - 1] in ("and", "or", "nor")
    if word == "it" and not s.opens(k - 1) and not joined:
        return ""
    if word in SINGULAR_SUBJECTS:
        alone = not joined or s.boundary(k - 2) or word in ("he", "she")
        return "singular" if alone else ""
    if word in ("these", "those"):
        return "plural" if s.opens(k - 1) else ""
    if word in PLURAL_SUBJECTS or word == "i":
        return "plural"
    if word in ("who", "which", "that"):
        return _antecedent(s, k - 1) if not s.boundary(k - 1) else ""
    words = window(s, k)
    if _hides_number(s, words):
        return ""
    if s.is_singular(k) or s.person(k) >= 0 or (s.is_plural(k) and word not in s.lists.units):
        number = _number_of(s, head(s, k))
    else:
        return ""
    return "" if number == "singular" and {"and", "or", "nor", "&"} & set(words) else number


def _number_of(s: Sentence, k: int) -> str:
    return "singular" if s.is_singular(k) or s.person(k) >= 0 else "plural" if s.is_plural(k) else ""


def _hides_number(s: Sentence, words: list[str]) -> bool:
    """Whether a word of the subject lets the verb be singular or plural."""
    return any(
        w in s.lists.collective or w[0] == "#" or w == "<dig>" or (w[0].isdigit() and "-" not in w)
        for w in words
    )


def _antecedent(s: Sentence, k: int) -> str:
    """The number of the noun at `k` before a relative pronoun, if it stands alone with its determiner."""
    start = noun_phrase(s, k)
    if start < 0 or s[start - 1] in PREPOSITIONS | {"and", "or"}:
        return ""
    if any(w in s.lists.collective or s.number(j) for j, w in enumerate(s.words[start : k + 1], start)):
        return ""
    return _number_of(s, k)


def begins_clause(s: Sentence, k: int) -> bool:
    """Whether the pronoun, name or noun at `k` begins its clause."""
    start = k
    if (named := s.person(k)) >= 0:
        start = named
    elif s[k] not in SINGULAR_SUBJECTS | PLURAL_SUBJECTS | {"i"}:
        start = noun_phrase(s, k)
        if start < 0:
            return False
    elif s[k] in ("he", "she", "they", "we", "i"):
        return (s[k - 1] not in AUXILIARIES and s[k - 1] not in ("and", "or", "nor")) or s.boundary(k - 2)
    return (s.opens(start - 1) and s[start - 1] not in s.lists.weak_openers - {"as"}) or s[start - 1] == "and"


def noun_phrase(s: Sentence, k: int) -> int:
    """Where the plain noun phrase begins that ends at `k`; -1 if its begin is not sure."""
    j = k
    while j > 0 and k - j < _LONG and s.open_class(j - 1) and not s.named(j - 1):
        j -= 1
    if s[j - 1] in DETERMINERS or s.number(j - 1):
        return j - 1
    return j if s.opens(j - 1) else -1


def head(s: Sentence, k: int) -> int:
    """Where the main noun of the subject stands that ends at `k`."""
    begin = k - len(window(s, k)) + 1
    return next((j - 1 for j in range(begin + 1, k) if s[j] in PREPOSITIONS), k)


def window(s: Sentence, k: int) -> list[str]:
    """The words from the begin of the clause to the subject's last word at `k`."""
    j = k
    while j > 0 and k - j < _WINDOW and not s.boundary(j - 1) and s[j - 1] not in s.lists.clause_openers:
        j -= 1
    return list(s.words[j : k + 1])


def finite(s: Sentence, k: int) -> bool:
    """Whether a verb after the subject at `k` cannot be an infinitive."""
    before = [s[k - 1]] if s[k] in PLURAL_SUBJECTS | {"i"} else window(s, k)
    bare = {verb(w, tag) for w in before for tag in ("VB", "VBZ", "VBD", "VBG")} & s.lists.bare_form
    return not bare and not set(before) & (MODALS | DO | {"to", "who"})
