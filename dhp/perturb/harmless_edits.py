"""Harmless edits of English texts: punctuation, abbreviations, spelling, exact synonyms."""

import re
from collections.abc import Collection, Iterator

from dhp.perturb.edits import Edit, Span, matched, rules, uniform
from dhp.perturb.harmless_figures import MONTH, figure_edits

TOKENISED = re.compile(r"\s[.,;:!?](?=\s|$)|\s'(?:s|re|ve|ll|d|m)\b|\bn't\b|(?<!`)``(?!`)|''")
"""Marks that stand alone: there an apostrophe does not show which way it points."""

_DASHES = rules(
    (r"(?<=\w)—(?=\w)", " — "),  # "one—two"
    (r"(?<=[\w,”’\"']) — (?=[\w“‘\"'])", "—"),  # "one — two"
    (r"(?<=[^\W\d_]) (?:–|--) (?=[^\W\d_])", " — "),  # "one – two", "one -- two"
)
# In a question or before a pronoun the subject may be between "do" and "not".
_STATED = r"(?! (?:I|you|he|she|it|we|they|there|this|that)\b)(?![^.!?]*\?)"
# What a clause behind "though" begins with, a number in words, and an amount: "€3.50", "two".
_SUBJECT = r"(?:the|an?|he|she|it|they|we|I|you|his|her|its|their|my|our|there|this|these)\b"
_NUMERAL = r"(?:two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|half|a hundred|a thousand)\b"
_COUNT = rf"(?:[€$£]?\d[\d,.]*|{_NUMERAL})"
_WORDS = rules(
    # Signs and abbreviations.
    (r"(?<=\d) per ?cent\b", "%"),
    (r"\be\.g\.,?(?= \w)", "for example,"),
    (r"\bvs\b\.?(?= \w)", "versus"),
    (r"\bi\.e\.,?(?= \w)", "that is,"),
    # Contractions, which are written out.
    (r"\b(could|did|do|does|had|has|have|is|are|was|were|should|would|need)n['’]t\b" + _STATED, r"\1 not"),
    (r"\bcan['’]t\b" + _STATED, "cannot"),
    (r"\bwon['’]t\b" + _STATED, "will not"),
    (r"\bI['’]m\b", "I am"),
    (r"\b([Yy]ou|[Ww]e|[Tt]hey)['’]re\b", r"\1 are"),
    (r"\b(I|[Yy]ou|[Ww]e|[Tt]hey)['’]ve\b", r"\1 have"),
    (r"\b(I|[Yy]ou|[Hh]e|[Ss]he|[Ii]t|[Ww]e|[Tt]hey)['’]ll\b", r"\1 will"),
    (r"\b([Ii]t|[Tt]hat|[Tt]here)['’]s(?= (?:an?|the|my|your|his|our|their)\b)", r"\1 is"),
    # Words that may be missing, or have an exact synonym.
    (r"\bin order to\b(?= [a-z])", "to"),
    (rf"(?<!no )(?<!any )(?<!little )(?<!much )(?<!nothing )\bmore than(?= {_COUNT} [a-z]+s\b)", "over"),
    (r"\b(helped|helps) to(?= (?!(?:the|an?|his|her|its|their|our|my|your|this|that)\b)[a-z])", r"\1"),
    (r"\b(all|half|both) of (?=(?:the|these|those|my|your|his|her|its|our|their) [a-z])", r"\1 "),
    (r"(?<=\w) per (day|week|month|year)\b", r" a \1"),
    (rf"(?<=, )though(?= {_SUBJECT})", "although"),
    (rf"(?<=, )although(?= {_SUBJECT})", "though"),
)
_QUANTITY = rf"(?:{_COUNT}|(?:all|every|everyone|everything|twice|as) )"
_MEASURED = (
    r"\b(after|at|by|costs?|earns?|for|in|is|lasts?|lasted|of|only|takes?|took|to|was|were|weighs?|with)"
)
_TWINS = (
    rules((rf"\balmost(?= {_QUANTITY})", "nearly"), (rf"(?<!very )\bnearly(?= {_QUANTITY})", "almost")),
    rules(
        (rf"{_MEASURED} about(?= {_COUNT})", r"\1 around"),
        (rf"{_MEASURED} around(?= {_COUNT})", r"\1 about"),
    ),
    rules(
        (r"\bthe entire(?= [a-z])", "the whole"),
        (r"(?<!on )(?<!as )\bthe whole(?= (?!of\b|is\b|was\b)[a-z])", "the entire"),
    ),
)
"""Ways of saying one thing: each is a rule there and a rule back."""
_TITLES = rules(  # "Mr. Smith" in America, "Mr Smith" in Britain
    (r"\b(Mr|Mrs|Ms|Dr)\.(?= [A-Z])", r"\1"),
    (r"\b(Mr|Mrs|Ms|Dr)(?= [A-Z])", r"\1."),
)
_STATES = rules(  # "the U.S. team", "the US team"
    (r"\bU\.(S|K|N)\.(?= [a-z])", r"U\1"),
    (r"(?<=\bthe )U(S|N)(?= [a-z])", r"U.\1."),
    (r"\bUK(?= [a-z])", "U.K."),
)
# "US", "U.K."
_EVERY_STATE = re.compile(r"\bU[SKN]\b|\bU\.[SKN]\.")
_OPENING = re.compile(
    r"(?:Today|Yesterday|Soon|This time|From then on|In the end|As a result|At first|After that"
    r"|By (?:then|noon|midnight|evening)|Last (?:night|week|month|year)"
    r"|(?:On|Last) (?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day(?: (?:morning|afternoon|evening|night))?"
    rf"|In (?:{MONTH} )?(?:1[5-9]|20)\d\d)"
    r"(?P<comma>,?) (?=(?:the|an?|he|she|it|they|we|I|his|her|its|their|my|our|[A-Z][a-z]+) [a-z])"
)
"""Phrases at the beginning of a sentence behind which a comma may stand."""


# A word of a series, but no adverb or conjunction, which has commas of its own: "red, however, and".
_ITEM = r"(?!\w*ly\b|(?:however|though|too|then|instead|therefore|meanwhile|indeed|if|when|as)\b)[a-z][a-z-]+"
_BY_ONE = re.compile(rf"(?<=\w), {_ITEM}(?P<comma>,) (?:and|or) (?={_ITEM}(?: [a-z]+)?[.,;:)])")
"""A series with a comma before its last item, which ends a clause."""
_WITHOUT = re.compile(rf"(?<=\w), {_ITEM}, {_ITEM}(?P<comma>) (?:and|or) (?={_ITEM}\b)")
"""A series of four items or more without it: one of three may be the beginning of another clause."""


def _series(text: str) -> Iterator[Edit]:
    """The comma before the last item of a series: away, or if there is none, there."""
    # One way for all series of a text: with both, the edit would make it look careless.
    matches = list(_BY_ONE.finditer(text))
    for match in matches or _WITHOUT.finditer(text):
        yield (*match.span("comma"), "" if matches else ",")


_SAYING = (
    r"\b(?:say|says|said|think|thinks|believe|believes|believed|hope|hopes|hoped|claim|claims|claimed|know)"
)
# "said that he is" and "said he is".
_WITH_THAT = re.compile(rf"{_SAYING}(?P<that> that)(?= (?:he|she|it|they|we|I|you|there) [a-z])")
_WITHOUT_THAT = re.compile(
    rf"{_SAYING}(?P<that>)(?= (?:he|she|it|they|we|I|there) "
    r"(?:is|are|am|was|were|will|would|has|had|have|can|could|should|did|does|do)\b)"
)


def _clauses(text: str) -> Iterator[Edit]:
    """The word that opens a clause after a verb of saying: away, or if there is none, there."""
    matches = list(_WITH_THAT.finditer(text))
    for match in matches or _WITHOUT_THAT.finditer(text):
        yield (*match.span("that"), "" if matches else " that")


def mark_edits(text: str) -> Iterator[Edit]:
    """Marks: quotation marks, dashes."""
    yield from _quotation_marks(text)
    yield from matched(_DASHES, text)


def word_edits(text: str, starts: Collection[int], *, cased: bool) -> Iterator[Edit]:
    """Words, figures and what is between them; some only if the text has capitals."""
    yield from matched(_WORDS, text)
    yield from figure_edits(text, cased=cased)
    for forth, back in _TWINS:
        yield from list(matched((forth,), text)) or matched((back,), text)
    yield from _series(text)
    yield from _clauses(text)
    if not cased:
        return
    yield from uniform(_STATES, _EVERY_STATE, text)
    yield from matched(_TITLES, text)
    if not TOKENISED.search(text):
        for start in starts:
            opening = _OPENING.match(text, start)
            if opening:
                yield (*opening.span("comma"), "" if opening["comma"] else ",")


# “...”, „...“, «...», "..." within a line, ‘...’ and '...' that are no apostrophes.
_QUOTED = re.compile(
    r"“[^“”]*(?:”|\Z)|„[^„“”]*[“”]|«[^«»]*»|\"[^\"\n]*\""
    r"|(?<!\w)‘(?=\S)[^\n]*?’(?!\w)|(?<!\w)'(?!(?:s|re|ve|ll|d|m)\b)(?=\w)[^\n]*?\S'(?!\w)"
)
# Marks of tokenised texts: ` `` `, `''`, or one with spaces on both sides.
_ALONE = re.compile(r"(?:^|(?<=\s))(?:``|''|['\"`‘’“”])(?=\s|$)|``|''")


def quoted(text: str) -> list[Span]:
    """What is within quotation marks, as far as they show it: in doubt more than that."""
    spans = [match.span() for match in _QUOTED.finditer(text)]
    if TOKENISED.search(text):
        # Which of two marks opens does not show: all from the first to the last is taken for quoted.
        marks = [match.start() for match in _ALONE.finditer(text)]
        if marks:
            spans.append((marks[0], marks[-1] + 1))
    for line in re.finditer(r".*", text):
        # An odd mark is one of inches, or of a quotation over several paragraphs.
        if line.group().count('"') % 2:
            spans.append(line.span())
    return spans


_CURLY = {"“": '"', "”": '"', "‘": "'", "’": "'"}
_BEFORE_OPENING = frozenset(" \t\n([—–-\"'")
# Words that begin with an apostrophe: "'90s", "'tis".
_ELISION = re.compile(
    r"'(?:\d0s|em|til|tis|twas|twere|twill|twould|cause|n|round|bout|neath|gainst|tween|twixt)\b", re.I
)


def _quotation_marks(text: str) -> Iterator[Edit]:
    """Curly for straight ones, or straight for curly ones if the text has any."""
    if any(mark in text for mark in "„«»"):
        return  # marks of other languages, with rules of their own
    if any(mark in text for mark in _CURLY):
        for i, c in enumerate(text):
            if c in _CURLY:
                yield i, i + 1, _CURLY[c]
        return
    if TOKENISED.search(text):
        yield from _curly_tokens(text)
        return

    # From straight to curly it must be known of each mark which way it points.
    yield from _curly_double(text)
    for i, c in enumerate(text):
        before, after = text[i - 1 : i] or " ", text[i + 1 : i + 2] or " "
        if c != "'" or (before.isspace() and after.isspace()) or (before.isdigit() and after != "s"):
            continue  # alone, or feet and minutes
        opens = before in _BEFORE_OPENING and after.isalnum() and not _ELISION.match(text, i)
        yield i, i + 1, "‘" if opens else "’"


# "``" or "`" opens, "''" closes, "'s" has an apostrophe.
_MARK_TOKENS = re.compile(
    r"(?P<open>``|(?<!\S)`(?=[ \w])|(?<!\S)'(?!(?:s|re|ve|ll|d|m)(?!\S))(?=[^\W\d]))"
    r"|(?P<close>''|(?<!\S)'(?!\S))|(?P<apostrophe>(?<!\S)'(?=(?:s|re|ve|ll|d|m)(?!\S))|(?<=n)'(?=t\b))|[`'\"]"
)


def _curly_tokens(text: str) -> list[Edit]:
    """The edits of marks that stand alone; none unless it shows of each which way it points."""
    edits, opened = list[Edit](), ""
    for match in _MARK_TOKENS.finditer(text):
        kind, pair = match.lastgroup, "“”" if len(match.group()) == 2 else "‘’"
        if kind is None or (kind == "open" and opened) or (kind == "close" and opened != pair[0]):
            return []
        edits.append((*match.span(), pair[0] if kind == "open" else pair[1]))
        if kind != "apostrophe":
            opened = pair[0] if kind == "open" else ""
    return [] if opened else edits


def _curly_double(text: str) -> list[Edit]:
    """The edits to curly quotation marks; none unless the marks open and close in turn, as those of inches do
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
