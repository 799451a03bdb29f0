"""Errors in verbs: disagreement with the subject, wrong form, missing auxiliary."""

from collections.abc import Iterator

from dhp.perturb.grammar.subjects import begins_clause, finite, head, noun_phrase, number_before, window
from dhp.perturb.grammar.words import (
    AUXILIARIES,
    BE,
    DETERMINERS,
    DO,
    HAVE,
    MODALS,
    PREPOSITIONS,
    SINGULAR_SUBJECTS,
    Place,
    Sentence,
    forms,
    lemmas,
    plural,
    singular,
    verb,
)

_PAIRS = "is/are was/were has/have does/do isn't/aren't wasn't/weren't hasn't/haven't doesn't/don't"
_TO_PLURAL = dict(pair.split("/") for pair in _PAIRS.split())
_TO_SINGULAR = {after: before for before, after in _TO_PLURAL.items()}
_NOMINATIVE = frozenset("he she they we i".split())


def agreement(s: Sentence, i: int) -> Iterator[Place]:
    """A finite verb in the wrong number for its subject."""
    word, k = s[i], s.back(i)
    if s[k] == "there":
        yield from _existential(s, i, k)
        return
    if word == "am" and s[k] == "i":
        yield Place("agreement", i, i, i, ("is", "are"))
        return
    if word in AUXILIARIES and word not in _TO_PLURAL and word not in _TO_SINGULAR and word != "had":
        return
    number = number_before(s, k)
    if word in _TO_PLURAL and number == "singular":
        yield Place("agreement", i, i, i, (_TO_PLURAL[word],))
    elif word in _TO_SINGULAR and number == "plural":
        if word in ("are", "were", "aren't", "weren't") or finite(s, k):
            yield Place("agreement", i, i, i, (_TO_SINGULAR[word],))
    elif number == "singular" and word not in AUXILIARIES - {"had"}:
        yield from _singular_verb(s, i, k)
    elif number == "plural" and word not in AUXILIARIES - {"had"} and finite(s, k):
        yield from _plural_verb(s, i, k)


def _singular_verb(s: Sentence, i: int, k: int) -> Iterator[Place]:
    """ "he walks", "he walked" -> "he walk"."""
    word = s[i]
    pronoun = s[k] in SINGULAR_SUBJECTS
    if (word != "had" and not s.open_class(i)) or s[k - 1] in AUXILIARIES:
        return
    if lemma := verb(word, "VBZ"):
        if (pronoun and begins_clause(s, k)) or not singular(word) or _object_follows(s, i):
            yield Place("agreement", i, i, i, (lemma,))
    elif (lemma := verb(word, "VBD")) and lemma != word:
        if not begins_clause(s, head(s, k)):
            return
        sure = pronoun or s.person(k) >= 0 or word == "had" or s.only_verb(lemma)
        if sure or _object_follows(s, i) or _alone(s, i):
            yield Place("agreement", i, i, i, (lemma,))


def _alone(s: Sentence, i: int) -> bool:
    """Whether the verb at `i` is the only one of its sentence that can be finite."""
    others = [j for j in range(len(s)) if j != i and (s[j] in AUXILIARIES or s.open_class(j))]
    return not any(s[j] in AUXILIARIES or verb(s[j], "VBD") or verb(s[j], "VBZ") for j in others)


def _plural_verb(s: Sentence, i: int, k: int) -> Iterator[Place]:
    """ "they walk", "they walked" -> "they walks"."""
    word = s[i]
    if word == "had":
        yield Place("agreement", i, i, i, ("has",))
        return
    if not s.open_class(i) or not begins_clause(s, k):
        return
    past = verb(word, "VBD")
    base = verb(word, "VB") if past in ("", word) else ""  # "saw" is of "see"
    pronoun = s[k] in ("they", "we", "you", "i")
    if base and (s.only_verb(base) if not pronoun else not set(lemmas(word)) & {"ADV", "ADJ"}):
        if s[k] != "you" or s.opens(k - 1):
            yield Place("agreement", i, i, i, forms(base, "VBZ")[:1])
    elif past and pronoun and s[k] != "you":
        yield Place("agreement", i, i, i, forms(past, "VBZ")[:1])


def _object_follows(s: Sentence, i: int) -> bool:
    return s[i + 1] in DETERMINERS | {"him", "them", "me", "us", "how", "why", "whether", "you"}


def _existential(s: Sentence, i: int, k: int) -> Iterator[Place]:
    after = s[i + 1]
    one = after in ("a", "an") and s[i + 2] not in s.lists.collective and s[i + 3] not in s.lists.collective
    more = (s.number(i + 1) and after != "<dig>") or after in ("many", "several") or s.is_plural(i + 1)
    if (one and s[i] in ("is", "was")) or (more and s[i] in ("are", "were")):
        yield Place("agreement", i, i, i, ((_TO_PLURAL | _TO_SINGULAR)[s[i]],))


def verb_form(s: Sentence, i: int) -> Iterator[Place]:
    """A form that the auxiliary, preposition or "to" before the verb does not allow."""
    word, k = s[i], s.back(i)
    if not s.open_class(i) and word not in ("be", "been", "have"):
        return
    governor = s[k]
    if governor in ("he", "she", "it", "they", "we", "you", "i") and s[k - 1] in DO | MODALS:
        k, governor = k - 1, s[k - 1]
    if governor in ("be", "been", "being") or governor in BE:
        wrong = _after_be(s, i)
    elif (
        (governor in MODALS and not _noun_before(s, k))
        or (governor in DO and k < i - 1)
        or (governor == "to" and k == i - 1 and _infinitive(s, i))
    ):
        wrong = _not_base(s, i)
    elif governor in HAVE:
        wrong = _after_have(s, i)
    elif governor in ("by", "for", "of", "without", "after", "before") and k == i - 1:
        base = verb(word, "VBG")
        wrong = (base,) if base and s.only_verb(base) else ()
    elif governor == "and" and k == i - 1:
        wrong = _second_past(s, i)
    else:
        wrong = _only_finite(s, i)
    wrong = tuple(w for w in wrong if w and w != word)
    if wrong:
        yield Place("verb form", i, i, i, wrong)


def _second_past(s: Sentence, i: int) -> tuple[str, ...]:
    """ "came and saw" -> "came and see": the second of two past forms in the present."""
    lemma = verb(s[i], "VBD")
    before = [w for w in window(s, i - 2) if verb(w, "VBD") and not verb(w, "VB") and w not in AUXILIARIES]
    if not lemma or lemma == s[i] or not before or not s.boundary(i - len(window(s, i))):
        return ()
    return (lemma,) if s.only_verb(lemma) or _object_follows(s, i) else ()


def _one_clause(s: Sentence) -> bool:
    """Whether no part of the sentence is set off by a mark, but for one that begins with a conjunction."""
    return all(
        (w not in ",;:–—" and w != "--") or s[j + 1] in ("and", "but", "so") for j, w in enumerate(s.words)
    )


def _only_finite(s: Sentence, i: int) -> tuple[str, ...]:
    """ "Prices rose again." -> "Prices rising again.": the first verb of a sentence as a participle."""
    lemma = verb(s[i], "VBD") or (verb(s[i], "VBZ") if _object_follows(s, i) else "")
    before = window(s, i - 1)
    if not lemma or len(before) != i or s[0] in s.lists.weak_openers | PREPOSITIONS or not _one_clause(s):
        return ()
    known = s.capitals(i - 1) == 0 or bool(plural(s[i - 1]) or singular(s[i - 1]))
    if not known or set(before) & AUXILIARIES:
        return ()
    past_only = not verb(s[i], "VBN") and not verb(s[i], "VB") and not verb(s[i], "VBZ")
    plain = s.capitals(i - 1) == 0 or noun_phrase(s, i - 1) == 0
    complement = (
        _object_follows(s, i) or s.named(i + 1) or s[i + 1] in PREPOSITIONS | {"that", "out", "up", "down"}
    )
    sure = _alone(s, i) or (plain and (complement or past_only))
    return forms(lemma, "VBG")[:1] if sure else ()


def _noun_before(s: Sentence, k: int) -> bool:
    """Whether the modal at `k` is the noun or month of the same letters."""
    return s[k - 1] in DETERMINERS or (s.tokens[k].capital and not s.boundary(k - 1))


def _not_base(s: Sentence, i: int) -> tuple[str, ...]:
    word = s[i]
    if word in ("be", "have"):
        return ("been", "was") if word == "be" else ("has", "had")
    if not verb(word, "VB") or ("ADV" in lemmas(word) and not s.only_verb(word)):
        return ()
    return tuple(form for tag in ("VBD", "VBZ") for form in forms(word, tag)[:1])


def _infinitive(s: Sentence, i: int) -> bool:
    word, before = s[i], s[s.back(i - 1)]
    if word in ("be", "have") or s.only_verb(word):
        return True
    lemma = next((found for found in lemmas(before).get("VERB", ())), before)
    return _object_follows(s, i) or lemma in s.lists.infinitive


def _after_have(s: Sentence, i: int) -> tuple[str, ...]:
    word = s[i]
    if word == "been":
        return ("be", "being")
    lemma = verb(word, "VBN")
    if not lemma or lemma in s.lists.disputed or lemma == word or "ADJ" in lemmas(word):
        return ()
    past = forms(lemma, "VBD")[:1]
    if past and past[0] not in forms(lemma, "VBN"):
        return past
    if s.only_verb(lemma) or _object_follows(s, i):
        return (lemma,)
    return forms(lemma, "VBG")[:1] if s[i + 1] in PREPOSITIONS else ()


def _after_be(s: Sentence, i: int) -> tuple[str, ...]:
    word = s[i]
    if lemma := verb(word, "VBG"):
        passive = lemma in forms(lemma, "VBN")  # "is run"
        return (lemma,) if s.only_verb(lemma) and "ADJ" not in lemmas(lemma) and not passive else ()
    lemma = verb(word, "VBN")
    if not lemma or lemma in s.lists.disputed or lemma == word or "ADJ" in lemmas(lemma):
        return ()
    past = forms(lemma, "VBD")[:1]
    if past and past[0] not in forms(lemma, "VBN"):
        return past
    return (lemma,) if s.only_verb(lemma) or s[i + 1] in ("by", "to") else ()


def fragment(s: Sentence, i: int) -> Iterator[Place]:
    """A clause that loses its auxiliary or copula."""
    if i == 0 or s.boundary(i - 1) or s.boundary(i + 1):
        return
    word, k = s[i], i - 1
    if word in ("is", "are", "was", "were", "am"):
        fits = _complement(s, i + 1) and _needs_verb(s, k)
    elif word in ("has", "have", "had"):
        nominal = s[k] in MODALS | {"it", "that", "who"} or s.is_singular(k) or s.is_plural(k)
        fits = _participle(s[i + 1]) and (s[k] in _NOMINATIVE | {"which"} or (s[i + 1] == "been" and nominal))
    elif word == "be" and s[s.back(i)] in MODALS | {"to"}:
        k = s.back(i)
        after = s[i + 1]
        participle = bool(verb(after, "VBN") or verb(after, "VBG")) or s.only_adjective(i + 1)
        fits = not verb(after, "VB") and (participle or after in ("a", "an", "the"))
    else:
        return
    if fits:
        yield Place("fragment", k, i + 1, i, ("",))


def _participle(word: str) -> bool:
    """Whether the word can be a past participle and no past tense."""
    return bool(verb(word, "VBN")) and not verb(word, "VBD") and not verb(word, "VB")


def _complement(s: Sentence, i: int) -> bool:
    """Whether the word at `i` cannot be read as a finite verb or as the end of a noun phrase."""
    word = s[i]
    if word in ("a", "an", "the", "not", "very", "so", "too", "able", "ready", "sure", "late"):
        return True
    return _participle(word) or (bool(verb(word, "VBG")) and not plural(word)) or s.only_adjective(i)


def _needs_verb(s: Sentence, k: int) -> bool:
    """Whether the subject that ends at `k` cannot stand without a finite verb."""
    if s[k] in _NOMINATIVE or (s[k] == "there" and s.opens(k - 1)):
        return s[k - 1] not in AUXILIARIES
    if s[k] in ("it", "this"):
        return s.opens(k - 1)
    if s[k] in ("who", "which"):
        return s[k - 1] not in PREPOSITIONS
    start = s.person(k)
    if start < 0:
        start = noun_phrase(s, k) if plural(s[k]) or singular(s[k]) else -1
    return (
        start >= 0
        and not (plural(s[k + 1]))
        and (s.boundary(start - 1) or s[start - 1] in s.lists.clause_openers)
    )
