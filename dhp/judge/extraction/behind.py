"""What stands behind a value: an end that lets it stand as a rating, or words that change it."""

import itertools
import math
import re
from collections.abc import Iterator

from dhp.judge.extraction.grammar import BARE, FINAL, LABELLED, NAMED, RESULT, Grammar, is_of_an_item
from dhp.judge.extraction.values import Value
from dhp.judge.extraction.words import words_of

_MARKS = r"[ ]*[\"'”’»)\]}|。！✅❌👍🌟⭐★]*[ ]*"
_SOLID_END = re.compile(rf"(?:です|입니다|とします|と評価します)?{_MARKS}[.!*]?{_MARKS}(?:\Z|\n)")
_SENTENCE = re.compile(rf"(?:です|입니다|とします|と評価します)?{_MARKS}(?:[.!]{_MARKS}(?= )|[。！；])")
_PAUSE = re.compile(
    r"[ ]*[\"'”’»\])}]{0,3}(?:[,;:](?=[ \u3000-\u9fff\uac00-\ud7af])|、| ?-+ | \||(?= ?[(\[（])|(?<=\)) )"
)
_EQUALS = re.compile(r" = (?=[A-Za-z])")
_FITTING = (
    r" (?:is|seems|feels|would be) (?:most )?(?:appropriate|warranted|fair|justified|suitable|reasonable"
    r"|fitting)"
    r"(?: (?:here|for (?:this|the) [a-z]+))?"
)
_REASON = re.compile(
    rf"{_FITTING}(?=[.!,]|\Z)| (?:because|since|as|due to|for|in terms|(?-i:on (?=[a-z]))|based|given|which"
    r"|with|but|although|though|while|overall|out|here|indicating|suggesting|meaning|reflecting|showing"
    r"|according"
    r"|considering|rather than|instead of|and(?! (?:above|up|higher|over|below|lower)\b)|when|in)\b|(?:因为"
    r"|由于|因)",
    re.I,
)
_NEW_SENTENCE = re.compile(r" (?=[A-Z][a-z]|I[ '])")
_CORRECTED = re.compile(
    r"[\s(.…]*(?:no[,.;:!]|no wait|wait\b|actually\b|correction\b|scratch that|sorry[,:]|hmm\b"
    r"|on second thought)",
    re.I,
)
_IN_DOUBT = re.compile(
    r"[\s(]*(?:or\b|says?\b|said\b|according to|claims?\b|writes?\b|wrote\b|maybe\b|perhaps\b|possibly\b"
    r"|if\b|unless\b"
    r"|rather (?!than)|to\b|part\b(?! (?:because|due|since|as))|the (?:source|reference|original|gold|human"
    r"|previous"
    r"|earlier|old|baseline|target|expected)\b|(?:this|that|which) is what|(?:as|so) (?:the"
    r"|this) \w+ (?:demands|asks"
    r"|says|requests|claims|instructs)\b|(?:but|and) (?:no\b|maybe|perhaps|if|rather|or)|rounded|at (?:most"
    r"|best|least)"
    r"|not (?:really|quite)(?! an? \d)|\?|far as)",
    re.I,
)
_BETWEEN = re.compile(r"[ )\]]{0,4}[,;:/(|-]?[ -]*(?:and |or |to |but )?\[{0,2}(?=\S)")
_COUNTS_NOTHING = re.compile(r"[ )\]]*(?:[.,;:!?)\]\n]|\Z|or\b|and\b)")
_PARENTHESES = re.compile(r" ?[(\[=]? ?")
_SHARE = re.compile(r"(?:points?|marks?|stars?) for\b", re.I)
"""`1 point for the plot`"""
_SCALE_BESIDE = re.compile(
    r" ?(?=[(a-z])\(?(?:(?:on|from|in|of|out of) )?(?:(?:an?|the) )?(?:scale (?:of|from) |maximum of "
    r"|max\.? ?)?(?P<low>\d+)(?: ?(?:-|to|~|bis|à|至|到) ?(?P<high>\d+))?"
    r"(?: ?-?(?:point )?scale)?\)?(?= ?(?:[.,;:!)\n-]|\Z| because| since| as))",
    re.I,
)
"""`(1-5)`, `(out of 5)`, `on a scale of 1 to 5`"""


def stop_of(text: str, value: Value, kind: str, grammar: Grammar) -> int | None:
    """Where the value with all that repeats it ends, if what follows lets it stand as a rating; else None."""
    end = value.end
    beside = _PARENTHESES.match(text, end)
    if beside and (again := grammar.read(text, beside.end())) is not None:
        same = again.number == value.number or math.isclose(again.share, value.number / grammar.high)
        closed = text[again.end : again.end + 1] in (")", "]") or again.rule == "stars"
        if closed and not same:
            return None
        if same and closed:
            end = again.end
    if scale := _SCALE_BESIDE.match(text, end):
        if float(scale["high"] or scale["low"]) != grammar.high:
            return None
        end = scale.end()
    solid = _SOLID_END.match(text, end) or _SENTENCE.match(text, end)
    if solid:
        return None if _CORRECTED.match(text, solid.end()) else end
    pause = _PAUSE.match(text, end)
    if pause is None and kind == BARE:
        pause = _EQUALS.match(text, end)
    labels = (FINAL, LABELLED, NAMED, RESULT)
    go_on = pause or _REASON.match(text, end) or (_NEW_SENTENCE.match(text, end) if kind in labels else None)
    if go_on is None or _CORRECTED.match(text, go_on.end()) or _IN_DOUBT.match(text, go_on.end()):
        return None
    if kind == BARE and _SHARE.search(text, value.end - 7, value.end + 4):
        return None
    return None if _other_value_follows(text, end, grammar, value) else end


def _other_value_follows(text: str, end: int, grammar: Grammar, value: Value) -> bool:
    """Whether another value stands beside it, as in `3, 4` and `3 (4)`, and counts no things."""
    between = _BETWEEN.match(text, end)
    again = grammar.read(text, between.end()) if between else None
    if again is None or again.number == value.number:
        return False
    return _COUNTS_NOTHING.match(text, again.end) is not None


# Words that change a value -------------------------------------------------------------------------------

_OF_WHAT = re.compile(
    r"[)\"' ]*(?: out of \d+)?[)\"' ]*(?:[ (](?:for|on|in terms of|in|regarding|of) |\()"
    r"(?:the |its |overall |a )?(?P<what>[a-z][a-z-]+)(?=\W|\Z)",
    re.I,
)


_ENDS = re.compile(r"[.,;!]|\s*\Z|\n")


def of_other_criterion(text: str, end: int, grammar: Grammar) -> bool:
    """Whether a value is said to be for a criterion that was not asked about: `4 for fluency`."""
    match = _OF_WHAT.match(text, end) if grammar.names else None
    if match is None:
        return False
    if _without_denial(match["what"]) in grammar.names:  # "a score of 1 for inconsistency"
        return False
    words_between = text[end : match.start("what")]
    part = "(" not in words_between and not grammar.parts(match["what"]) and _ENDS.match(text, match.end())
    return bool(part) or is_other_criterion(match["what"], grammar)


def _without_denial(word: str) -> str:
    """A word in small letters without a syllable before it that denies it."""
    return re.sub(r"^(?:in|ir|im|il|un|dis|non-?)(?=\w{4})", "", word.lower())


def is_other_criterion(word: str, grammar: Grammar) -> bool:
    """Whether a word names a quality of texts that was not asked about."""
    return word.lower() in words_of("criteria") and word.lower() not in grammar.names


def names_a_criterion(words: str) -> bool:
    """Whether words hold the name of a quality of texts."""
    return not words_of("criteria").isdisjoint(re.findall(r"[a-z-]+", words.lower()))


_STOP = re.compile(r"[.!?](?=\s|\Z)|\n")
_LATER = re.compile(r"[^\n.!?](?:[^\n.!?]|[.!?](?!\s|\Z))*[.!?]?")
_ASIDE = re.compile(
    r"\([^()\n]{0,120}(?:=|\d ?(?:-|to|and) ?[+-]?\d|scale|confidence|max|满分|previous|was )"
    r"[^()\n]{0,120}\)",
    re.I,
)
"""What explains the scale."""
_CHANGE = re.compile(
    r"\b(?:revis\w*|lower\w*|rais\w*|chang\w*|adjust\w*|reduc\w*|downgrad\w*|upgrad\w*|correct(?:ion|ed|ing)"
    r"|edit(?:ed)?|updat\w*|strike|scratch|instead|reconsider\w*|deduct\w*|minus|less|dock\w*|drop\w*"
    r"|bump\w*|down|off"
    r"|cap(?:s|ped|ping)?|make (?:that|it)|make|second thoughts?|reflection|wait|actually|increas\w*"
    r"|decreas\w*|knock\w*"
    r"|amend\w*|back|scores?|ratings?|settl\w*|ignor\w*|rather|sorry|call it|mistake|overlooked|should be)\b"
    r"|\b(?:it|this|that)(?:'s| is)(?: (?:really|now|rather|more|only|just))?(?: like)?(?: an?)? (?=\d)",
    re.I,
)
_SUPPOSED = re.compile(
    r"\b(?:if|unless|once|until|had|were|would|could|might|to (?:raise|increase|reach|get|make|improve|earn"
    r"|deserve|merit|receive|achieve|be|score)|improv\w*"
    r"|max(?:imum)?|min(?:imum)?|scale|confidence|reference|previous\w*|criteri\w*|points?|uncertainty)\b|="
    r"|\d ?- ?\d",
    re.I,
)
_COMPARED = re.compile(
    r"\b(?:not|n't|than|instead of|short of|if|unless|might|could|would|had|were|max(?:imum)?|min(?:imum)?"
    r"|scale|between"
    r"|confidence|reference|near(?:ly|er)?|almost|close|border\w*|prevent\w*|keep\w*|reach\w*|scale of"
    r"|out of)\b|=",
    re.I,
)
"""Words behind which a value of the same sentence is one that was not given."""
_VOID = re.compile(
    r"\W*(?:(?:final|overall|corrected|updated|revised|new|my) )*(?:rating|score|grade)[: ]{1,3}(?:is )?"
    r"(?:none|n/a|not\b|cannot|can't|unable|undetermined|withdrawn|void|unknown)"
    r"|\W*(?:i|we) (?:withdraw|retract|take back)\b"
    r"|\W*(?:please )?(?:disregard|ignore) (?:this|that|the|my) (?:\w+ )?(?:rating|score)\b",
    re.I,
)
_DEDUCTS = re.compile(
    r"\b(?:i|we|i'm|i'll|therefore) (?:\w+ )?(?:take|taking|took|knock\w*|dock\w*|deduct\w*)"
    r" (?:off )?(?:one|an?|half|two|\d)\b",
    re.I,
)
_OF_RATINGS = re.compile(r"rating|score|grade|withdraw|retract|take back", re.I)
_TAKEN_OFF = re.compile(
    r"[,(;]? ?\(?(?:lowered|reduced|raised|minus|less|dropped|docked|capped|revised|downgraded|upgraded"
    r"|adjusted)\b",
    re.I,
)
_ONE_AFTER = re.compile(
    r"[ \"')\]]*(?:[.,;:!?)(\]\n=]|\Z|-(?= )| (?:for|because|since|due|on|in|as|here|instead|now|after"
    r"|given|against"
    r"|out of|overall|when|is|rather|at|with|and|or|but)\b)",
    re.I,
)
_BEFORE = re.compile(
    r"(?:\A|[,;(=\n]|(?P<key>[\w-]+)?:|\b(?:to|an?|the|is|as|at|it|of|minus|less|and|now|be|then|but|on"
    r"|from|by)) ?"
    r"[\"'(\[]*\Z",
    re.I,
)
"""What stands before a value that is given, not counted or named: `Halo 3` is neither."""
_REFERENCE = re.compile(
    r"\b(?:sentences?|paragraphs?|lines?|steps?|sections?|parts?|pages?|chapters?|items?|figures?|tables?"
    r"|numbers?) \Z",
    re.I,
)
"""`sentence 3`"""
_LONGEST = 600
_MOST_SENTENCES = 400


def goes_on(text: str, behind: int, number: float, grammar: Grammar) -> bool:
    """Whether what follows a chosen value changes it, or gives another one beside it.

    In its own sentence any other value of the scale does that counts nothing; in a later one a value beside
    a word of change.
    """
    if _TAKEN_OFF.match(text, behind):
        return True
    if grammar.begins.search(text, behind) is None and _OF_RATINGS.search(text, behind) is None:
        return False
    stop = _STOP.search(text, behind)
    end = min(stop.start() if stop else len(text), behind + _LONGEST)
    sentence_and_before = text[:behind] + _ASIDE.sub(lambda aside: " " * len(aside[0]), text[behind:end])
    for place in (
        () if grammar.chooses else _values(sentence_and_before, behind, len(sentence_and_before), grammar)
    ):
        other = _is_other(sentence_and_before, place, number, grammar, strict=False)
        if other and not _COMPARED.search(sentence_and_before, behind, place):
            return True
    for sentence in itertools.islice(_LATER.finditer(text, end), _MOST_SENTENCES):
        words = sentence[0][:_LONGEST]
        if _VOID.match(words) or _DEDUCTS.search(words):
            return True
        if (
            is_of_an_item(text, sentence.start())
            or not _CHANGE.search(words)
            or _SUPPOSED.search(words)
            or names_a_criterion(words)
        ):
            continue
        places = _values(text, sentence.start(), sentence.start() + len(words), grammar)
        if any(_is_other(text, place, number, grammar, strict=True) for place in places):
            return True
    return False


def _values(text: str, start: int, end: int, grammar: Grammar) -> Iterator[int]:
    """Where values stand: of `4 out of 5` the first number alone."""
    for match in grammar.begins.finditer(text, start, end):
        value = grammar.read(text, match.start()) if match.start() >= start else None
        if value is not None:
            start = value.end
            yield match.start()


def _is_other(text: str, place: int, number: float, grammar: Grammar, *, strict: bool) -> bool:
    """Whether another value of the scale stands at a place and counts nothing."""
    value = grammar.read(text, place)
    if (
        value is None
        or value.number == number
        or (not grammar.chooses and not grammar.low <= value.number <= grammar.high)
    ):
        return False
    if _REFERENCE.search(text, max(0, place - 14), place):
        return False
    before = _BEFORE.search(text, max(0, place - 24), place)
    if (before is None and strict) or (before and (before["key"] or "").lower() in words_of("criteria")):
        return False
    if (
        text[place].isalpha()
        and not grammar.chooses
        and not re.search(r"\b(?:an?|to|minus|less|by) \Z", text[max(0, place - 8) : place], re.I)
    ):
        return False  # `the one`, `these two`
    return _ONE_AFTER.match(text, value.end) is not None
