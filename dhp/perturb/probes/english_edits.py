"""Harmless edits of English texts: quotation marks, dashes, figures, dates, abbreviations, contractions."""

import re
from collections.abc import Collection, Iterator

from dhp.perturb.probes.edits import Edit, Span, matched, rules, uniform

TOKENISED = re.compile(r"\s[.,;:!?](?=\s|$)|\s'(?:s|re|ve|ll|d|m)\b|\bn't\b|(?<!`)``(?!`)|''")
"""Marks that stand alone: there an apostrophe does not show which way it points."""

_DASHES = rules(
    (r"(?<=\w)—(?=\w)", " — "),
    (r"(?<=[\w,”’\"']) — (?=[\w“‘\"'])", "—"),
    (r"(?<=[^\W\d_]) (?:–|--) (?=[^\W\d_])", " — "),
)
_UNIT = (
    r"(?:(?:square |cubic )?(?:milli|centi|kilo)?met(?:er|re)s?|miles|feet|yards|acres|hectares|tons|tonnes"
    r"|(?:kilo)?grams|pounds|dollars|euros|yuan|people|visitors|residents|steps|words)\b"
)
# Below 2,200, figures without the mark look like years, unless a unit follows.
_THOUSANDS = rules(
    (rf"(?<![\d.,])(2(?=,[2-9])|[3-9]|[12](?=,\d{{3}} {_UNIT})),(\d{{3}})(?![\d,]|\.\d)", r"\1\2")
)
_EVERY_THOUSAND = re.compile(r"(?<![\d.,])\d,\d{3}(?![\d,]|\.\d)")
# In a question or before a pronoun the subject may be between "do" and "not".
_STATED = r"(?! (?:I|you|he|she|it|we|they|there|this|that)\b)(?![^.!?]*\?)"
_SUBJECT = r"(?:the|an?|he|she|it|they|we|I|you|his|her|its|their|my|our|there|this|these)\b"
_WORDS = rules(
    (r"(?<=\d) per ?cent\b", "%"),
    (r"\be\.g\.,?(?= \w)", "for example,"),
    (r"\bi\.e\.,?(?= \w)", "that is,"),
    (r"\b(could|did|do|does|had|has|have|is|are|was|were|should|would|need)n['’]t\b" + _STATED, r"\1 not"),
    (r"\bcan['’]t\b" + _STATED, "cannot"),
    (r"\bwon['’]t\b" + _STATED, "will not"),
    (r"\bI['’]m\b", "I am"),
    (r"\b([Yy]ou|[Ww]e|[Tt]hey)['’]re\b", r"\1 are"),
    (r"\b(I|[Yy]ou|[Ww]e|[Tt]hey)['’]ve\b", r"\1 have"),
    (r"\b(I|[Yy]ou|[Hh]e|[Ss]he|[Ii]t|[Ww]e|[Tt]hey)['’]ll\b", r"\1 will"),
    (r"\b([Ii]t|[Tt]hat|[Tt]here)['’]s(?= (?:an?|the|my|your|his|our|their)\b)", r"\1 is"),
    (rf"(?<=, )though(?= {_SUBJECT})", "although"),
    (rf"(?<=, )although(?= {_SUBJECT})", "though"),
)
_MONTH = r"(January|February|March|April|May|June|July|August|September|October|November|December)\b"
_ONE_DAY = r"(?![-–/\d]|st\b|nd\b|rd\b|th\b|,? (?:and |or |to )?\d)"
_BEFORE_DATE = r"(?<!\d )\b([Oo]n|[Bb]y|[Uu]ntil|[Bb]efore|[Aa]fter|[Ss]ince|[Ff]rom|to|of)"
_DATES = rules(
    (_BEFORE_DATE + r" (\d{1,2}) " + _MONTH + r" (\d{4})(?=[.;:)])", r"\1 \3 \2, \4"),
    (_BEFORE_DATE + r" (\d{1,2}) " + _MONTH + r" (\d{4}),?(?= [A-Za-z])", r"\1 \3 \2, \4,"),
    (_BEFORE_DATE + r" (\d{1,2}) " + _MONTH + r"(?!,? (?:and |or |to )?\d)", r"\1 \3 \2"),
    (_BEFORE_DATE + r" " + _MONTH + r" (\d{1,2}), (\d{4})\b", r"\1 \3 \2 \4"),
    (_BEFORE_DATE + r" " + _MONTH + r" (\d{1,2})" + _ONE_DAY, r"\1 \3 \2"),
)
_EVERY_DATE = re.compile(rf"\b\d{{1,2}} {_MONTH}|\b{_MONTH} \d{{1,2}}\b")
_HOURS = rules(
    (r"(?<![\d.,:])((?:1[0-2]|[1-9])(?::[0-5]\d)?) ?([ap])m\b(?! ?[.…]{2}| \.)\.?", r"\1 \2.m."),
    (r"(?<=\d) ?([ap])\.m\.(?=,? [a-z])", r" \1m"),
)
_EVERY_HOUR = re.compile(r"\d ?[ap](?:m\b|\.m\.)")
_TITLES = rules(
    (r"\b(Mr|Mrs|Ms|Dr)\.(?= [A-Z])", r"\1"),
    (r"\b(Mr|Mrs|Ms|Dr)(?= [A-Z])", r"\1."),
)
_AMERICA = rules((r"\bU\.S\.(?= [a-z])", "US"), (r"(?<=\bthe )US(?= [a-z])", "U.S."))
_EVERY_AMERICA = re.compile(r"\bUS\b|\bU\.S\.")
_OPENING = re.compile(
    r"(?:Today|Yesterday|Soon|This time|From then on|In the end|As a result|At first|After that"
    r"|By (?:then|noon|midnight|evening)|Last (?:night|week|month|year)"
    r"|(?:On|Last) (?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day(?: (?:morning|afternoon|evening|night))?"
    rf"|In (?:{_MONTH} )?(?:1[5-9]|20)\d\d)"
    r"(?P<comma>,?) (?=(?:the|an?|he|she|it|they|we|I|his|her|its|their|my|our|[A-Z][a-z]+) [a-z])"
)
"""Phrases at the beginning of a sentence behind which a comma may stand."""


def mark_edits(text: str) -> Iterator[Edit]:
    """Marks: quotation marks, dashes."""
    if not TOKENISED.search(text):
        yield from _quotation_marks(text)
    yield from matched(_DASHES, text)


def word_edits(text: str, starts: Collection[int], *, cased: bool) -> Iterator[Edit]:
    """Words, figures and what is between them; some only where the text has capitals."""
    yield from matched(_WORDS, text)
    yield from uniform(_THOUSANDS, _EVERY_THOUSAND, text)
    if not cased:
        return
    yield from uniform(_DATES, _EVERY_DATE, text)
    yield from uniform(_HOURS, _EVERY_HOUR, text)
    yield from uniform(_AMERICA, _EVERY_AMERICA, text)
    yield from matched(_TITLES, text)
    if not TOKENISED.search(text):
        for start in starts:
            if opening := _OPENING.match(text, start):
                yield (*opening.span("comma"), "" if opening["comma"] else ",")


_QUOTED = re.compile(
    r"“[^“”]*(?:”|\Z)|„[^„“”]*[“”]|«[^«»]*»|\"[^\"\n]*\""
    r"|(?<!\w)‘(?=\S)[^\n]*?’(?!\w)|(?<!\w)'(?!(?:s|re|ve|ll|d|m)\b)(?=\w)[^\n]*?\S'(?!\w)"
)
_ALONE = re.compile(r"(?:^|(?<=\s))(?:``|''|['\"`‘’“”])(?=\s|$)|``|''")


def quoted(text: str) -> list[Span]:
    """What is within quotation marks, as far as they show it: in doubt more than that."""
    spans = [match.span() for match in _QUOTED.finditer(text)]
    if TOKENISED.search(text) and (marks := [match.start() for match in _ALONE.finditer(text)]):
        spans.append((marks[0], marks[-1] + 1))
    # An odd mark is one of inches, or of a quotation over several paragraphs.
    return spans + [line.span() for line in re.finditer(r".*", text) if line.group().count('"') % 2]


_CURLY = {"“": '"', "”": '"', "‘": "'", "’": "'"}
_BEFORE_OPENING = frozenset(" \t\n([—–-\"'")
_ELISION = re.compile(
    r"'(?:\d0s|em|til|tis|twas|twere|twill|twould|cause|n|round|bout|neath|gainst|tween|twixt)\b", re.I
)


def _quotation_marks(text: str) -> Iterator[Edit]:
    """Curly for straight ones, or straight for curly ones where the text has any."""
    if any(mark in text for mark in "„«»"):
        return
    if any(mark in text for mark in _CURLY):
        yield from ((i, i + 1, _CURLY[c]) for i, c in enumerate(text) if c in _CURLY)
        return
    yield from _curly_double(text)
    for i, c in enumerate(text):
        before, after = text[i - 1 : i] or " ", text[i + 1 : i + 2] or " "
        if c != "'" or (before.isspace() and after.isspace()) or (before.isdigit() and after != "s"):
            continue  # alone, or feet and minutes
        opens = before in _BEFORE_OPENING and after.isalnum() and not _ELISION.match(text, i)
        yield i, i + 1, "‘" if opens else "’"


def _curly_double(text: str) -> list[Edit]:
    """The edits to curly quotation marks; None unless the marks open and close in turn, as those of inches do
    not."""
    edits: list[Edit] = []
    for match in re.finditer('"', text):
        i = match.start()
        before, after = text[i - 1 : i] or " ", text[i + 1 : i + 2] or " "
        opens = len(edits) % 2 == 0
        if (opens and (before not in _BEFORE_OPENING or after.isspace())) or (not opens and before.isspace()):
            return []
        edits.append((i, i + 1, "“" if opens else "”"))
    return edits if len(edits) % 2 == 0 else []
