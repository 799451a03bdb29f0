"""A pairwise verdict read from the place of an answer where its form puts it."""

import math
import re
from collections.abc import Iterator, Sequence
from re import Match

from dhp.core.answer_forms import AnswerForm
from dhp.core.specs import Scale
from dhp.core.text import holds_refusal
from dhp.judge.extraction import objects
from dhp.judge.extraction.extracted import UNPARSED, Extracted
from dhp.judge.extraction.plain import SAYS, plain, readable, unquoted
from dhp.judge.extraction.probabilities import letter_masses
from dhp.judge.extraction.statements import LEAD, last_sentence, starts
from dhp.judge.extraction.values import Value, number_reader
from dhp.llm.records import Position

TEN = Scale(min=1.0, max=10.0)

_NOUN = (
    r"(?:outputs?|responses?|assistants?|answers?|repl(?:y|ies)|summar(?:y|ies)|texts?|models?|candidates?"
    r"|antwort(?:en)?|réponses?|respuestas?|rispost[ae]|respostas?|options?|systems?|stor(?:y|ies)"
    r"|translations?|versions?|choices?|conversations?|passages?)"
)
_OPTIONS = (
    r"(?P<pair#>[AB12] ?(?:>{1,3}|<{1,3}|=|≈|~) ?[AB12])(?!\w)",
    rf"(?:(?:the|la|die) )?{_NOUN} [\"'(\[]{{0,2}}(?P<named#>[ab12])(?![A-Za-z\d])[\"')\]]{{0,2}}",
    rf"(?:the )?(?P<ordinal#>first|second)(?: (?:one|{_NOUN}))?(?![\w-])",
    r"[(\[]{0,2}(?-i:(?P<letter#>[ABab12]))(?![A-Za-z\d'+]|-(?!\s)|\.\w)[)\]]{0,2}",
    r"(?P<tie#>(?:an? )?(?:ties?|tied|draw|toss-up)\b|(?-i:C)(?![\w+'-])|equal(?:ly good)?\b|(?:the )?same\b"
    r"|no (?:clear )?(?:winner|preference|difference)\b|neither (?:\w{1,20} ){0,4}is better\b"
    r"|平局|平手|不相上下|难分高下|一样好)",
)


def _option(number: str = "") -> str:
    """One of the two, or a tie; `number` tells the groups of several apart."""
    return f"(?:{'|'.join(_OPTIONS)})".replace("#", number)


_TIE = _OPTIONS[-1].replace("#", "")
_OPEN = r"[\s\"'>#(\[{|•✅🏆-]{0,12}"
_LEAD = (
    rf"{LEAD}"
    r"(?:[^,\n\"“”]{0,20},(?:但|不过|所以|因此))?"
    r"(?:(?:i (?:think|believe|find|conclude|judge|would say|feel)(?: that)?|it is clear that"
    r"|we can (?:say|conclude) that) )?"
)
_KEY = (
    r"(?:(?:(?:my|the|your|our) )?(?:(?:final|overall|clear|my) ){0,2}(?:verdict|answer|choice|winner"
    r"|preference|decision|judge?ment|conclusion|selection|result"
    rf"|(?:better|best|preferred|stronger|superior)(?: (?:one|{_NOUN}|choice|option))?|ranking|final"
    rf"|overall)|最终答案|答案|我?选择?|结论|更好的(?:是|回答)?|胜者|判断)"
)
_SEPARATOR = (
    r"[\"')\]]{0,2}(?: ?[:=|]| ?->?| (?:is|goes to|would be)(?: ?:)?|是|为|(?<=[择选]))[\s\"'(\[{:]{0,8}"
)
_ADVERBS = (
    r"(?: (?:clearly|slightly|much|far|overall|therefore|thus|indeed|an?|the|marginally|significantly"
    r"|somewhat|generally|definitely|arguably|still|more|narrowly|easily|by far|ultimately)){0,3}"
)
_BETTER = (
    r" (?:better|best|besser|meilleure?|mejor|migliore|melhor|superior|prefer(?:able|red)|stronger|winner"
    r"|favou?red|chosen|more (?:accurate"
    r"|helpful|relevant"
    r"|appropriate|suitable|correct|coherent|fluent|faithful))(?: (?:one|choice|option|" + _NOUN + r"))?"
)
_WINS = r" (?:(?:clearly|narrowly|easily) )?(?:wins|beats|outperforms|surpasses)"
_WORSE = r" (?:worse|inferior|weaker)"
_THAN = rf"(?: (?:than|over|to) {_option('_2')})?"
_CHOOSES = (
    r"(?:(?:choose|prefer|pick|select|favou?r|(?:would )?go with|vote for|chose|rank|lean towards?)"
    r"|(?:prefer|choos|pick)ing)"
)
_IS = r"(?:'s| is| ist| est| es| è| é| are| was| seems(?: to be)?| appears to be)"

_LABELLED = re.compile(
    rf"{_OPEN}{_LEAD}{_KEY}{_SEPARATOR}{_option()}(?:{_IS}{_ADVERBS}{_BETTER}{_THAN})?", re.I
)
_BOXED = re.compile(rf"{_OPEN}{_LEAD}(?:{_KEY}{_SEPARATOR})?\[\[ ?{_option()} ?\]\]", re.I)
_SENTENCES = (
    ("stated", re.compile(rf"{_OPEN}{_LEAD}{_option()}{_IS}{_ADVERBS}{_BETTER}{_THAN}", re.I)),
    ("stated", re.compile(rf"{_OPEN}{_LEAD}{_option()}{_WINS}(?: {_option('_2')})?", re.I)),
    (
        "stated",
        re.compile(
            rf"{_OPEN}{_LEAD}(?:i|we)(?:'d| would| will)? {_CHOOSES} {_option()}(?: over {_option('_2')})?",
            re.I,
        ),
    ),
    ("stated", re.compile(rf"{_OPEN}{_LEAD}(?:i am|i'm)? ?in favou?r of {_option()}", re.I)),
    (
        "stated",
        re.compile(
            rf"{_OPEN}{_LEAD}(?:回答|文本|答案|摘要)?(?-i:(?P<letter>[AB]))[\"')]? ?"
            r"(?:的回答|的文本)?(?:明显|略|稍)?(?:更好|更优|较好|胜出|获胜|更佳)",
            re.I,
        ),
    ),
    (
        "tie",
        re.compile(
            rf"{_OPEN}{_LEAD}(?:it(?:'s| is)|this is|they are|(?:the )?result is|i call it|i declare) {_TIE}",
            re.I,
        ),
    ),
    (
        "tie",
        re.compile(
            rf"{_OPEN}{_LEAD}(?P<tie>(?:both|the two|they)\b[^.\n]{{0,60}}\b(?:equal(?:ly)?(?: (?:good|bad"
            rf"|well|strong|helpful))?|comparable)"
            r"|neither (?:\w{1,20} ){0,4}is better)",
            re.I,
        ),
    ),
    ("worse", re.compile(rf"{_OPEN}{_LEAD}{_option()}{_IS}{_ADVERBS}{_WORSE}{_THAN}", re.I)),
)
_ALONE = re.compile(rf"{_OPEN}{_LEAD}{_option()}", re.I)
_RANKED = re.compile(r" ?, ?(?-i:[AB12])\b")
_END = re.compile(
    r"[\"')\]}|*]*(?:\s*\Z|\n|[.!。](?=\s|\Z|\")|[,;:，；：](?= |\Z)| -+ | (?=[(\[])|[。，])|[ ]*(?:\Z|\n)"
)
_REASON = re.compile(
    r" (?:because|since|as|for|due|in|by|overall|here|given|on|with|although|though|while|but)\b", re.I
)
_NEXT = re.compile(
    r"[\s,;:.()!-]*(?:no[,.;:!]|wait\b|actually\b|or\b|maybe\b|perhaps\b|if\b|unless\b|and (?:b|a|response"
    r"|output)\b|\?)",
    re.I,
)
_ONLY_IN_PART = re.compile(
    r" (?:in (?:style|content|grammar|flow|length|tone|form|one|some|terms|this|that)|at |on |for |formatted"
    r"|known|written|styled|only|if|when|by)\b",
    re.I,
)
_ALONE_END = re.compile(
    r"[\"')\]}|*]*(?:\s*\Z|\n|[.:,;!] ?(?=\s|\Z)| - | (?=\()| because\b| since\b| as\b)", re.I
)
_BEFORE_BRACKETS = re.compile(
    rf"\b(?:not|never|instead|than|if|could|would|might|first|initial\w*)\b|n't\b|{SAYS}", re.I
)


def _choice(match: Match[str]) -> int | None:
    """Which text a match names: 1, -1, or 0 for a tie; None for a pair of the same."""
    groups = match.groupdict()
    if groups.get("tie"):
        return 0
    if pair := groups.get("pair"):
        first, second = (1 if pair[place] in "A1" else -1 for place in (0, -1))
        sign = next(c for c in pair if c in "><=≈~")
        return None if first == second else 0 if sign in "=≈~" else first if sign == ">" else second
    name = groups.get("named") or groups.get("letter") or groups.get("ordinal") or ""
    return 1 if name.lower() in ("a", "1", "first") else -1


def _statement(words: str, start: int) -> tuple[int, str, int] | None:
    """The verdict, its rule and its end, where a sentence that begins at `start` gives one."""
    limit = min(len(words), start + 300)
    if (match := _BOXED.match(words, start, limit)) and (choice := _choice(match)) is not None:
        after = words[match.end() : match.end() + 12]
        return (
            (choice, "bracketed", match.end())
            if not re.match(r" (?:was|would|is not|could|if|or)\b| ?\[\[", after)
            else None
        )
    if (match := _LABELLED.match(words, start, limit)) and (choice := _choice(match)) is not None:
        ranked = _RANKED.match(words, match.end())
        end = ranked.end() if ranked else match.end()
        if _closed(words, end):
            return choice, "labelled", end
    for rule, pattern in _SENTENCES:
        if (
            (match := pattern.match(words, start, limit))
            and (choice := _choice(match)) is not None
            and _closed(words, match.end())
        ):
            return (-choice if rule == "worse" else choice), rule, match.end()
    return None


def _closed(words: str, end: int) -> bool:
    """Whether what follows lets a verdict stand as one of the whole."""
    if _ONLY_IN_PART.match(words, end) or _NEXT.match(words, end):
        return False
    stop = _END.match(words, end) or _REASON.match(words, end)
    return stop is not None and not re.match(
        r"[ (]*(?:or|if|maybe|perhaps|said|says|according|argues|claims)\b",
        words[stop.end() : stop.end() + 12],
        re.I,
    )


def _alone(words: str, start: int, *, strict: bool) -> tuple[int, str, int] | None:
    """The option that stands alone in a line, or opens it; `strict` that nothing else may be in it."""
    match = _ALONE.match(words, start, min(len(words), start + 200))
    if match is None or (choice := _choice(match)) is None:
        return None
    end = (
        re.compile(r"[\s.!)\"'\]*]{0,8}\Z").match(words, match.end())
        if strict
        else _ALONE_END.match(words, match.end())
    )
    after = words[match.end() : match.end() + 12]
    if end is None or re.match(r": ?\d", after):  # its score
        return None
    if re.match(r"[ ,:;]*(?:(?:or|and|/) ?(?:b|a|response|output|both|neither)\b|if\b)", after, re.I):
        return None
    again = _ALONE.match(words, end.end()) if not strict else None
    if again and _choice(again) not in (choice, None) and re.match(r"\W*(?:\Z|\n)", words[again.end() :]):
        return None
    return choice, "alone", match.end()


def _statements(words: str) -> Iterator[tuple[int, str, int]]:
    done = 0
    for start in _clauses(words):
        if start >= done and (statement := _statement(words, start)):
            yield statement
            done = statement[2]
    yield from _brackets_at_end(words)


_CLAUSE = re.compile(r", (?=(?:but|yet|so|therefore|thus|hence)\b)", re.I)


def _clauses(words: str) -> list[int]:
    """Where sentences begin, and clauses that turn to what follows from them."""
    return sorted({*starts(words), *(clause.end() for clause in _CLAUSE.finditer(words))})


def _brackets_at_end(words: str) -> Iterator[tuple[int, str, int]]:
    """`... [[A]]` at the end of a line that says nothing of somebody else."""
    for match in re.finditer(rf"\[\[ ?{_option()} ?\]\](?=[ .!)*]*(?:\n|\Z))", words, re.I):
        line = words.rfind("\n", 0, match.start()) + 1
        before = words[max(line, match.start() - 300) : match.start()]
        choice = _choice(match)
        if (
            choice is not None
            and before.strip()
            and "[[" not in before
            and _BEFORE_BRACKETS.search(before) is None
        ):
            yield choice, "bracketed", match.end()


_KEYS = frozenset(
    "verdict winner better best choice preferred preference answer decision result selection judgement"
    " judgment label output".split()
)


def read_verdict(answer: str, form: AnswerForm, *, scale: Scale = TEN) -> Extracted:
    """Which text an answer says is better: 1 the one shown first, -1 the second, 0 a tie. Never raises.

    The verdict stands in brackets, behind a label, or in a sentence of the judge's own, from its beginning;
    or alone: in `reason-first` in the last line, else at the beginning. Two different ones of the same kind
    are contradictory, but for sentences of `reason-first`, of which the last counts, and of `reason-last`,
    of which the first does. `scale` is that of the scores in `two-scores`.
    """
    shown = readable(answer)
    if isinstance(shown, Extracted):
        return shown
    parts = objects.objects(shown)
    words = unquoted(plain(objects.without_objects(shown, parts)))
    answers = list(objects.own_objects(shown, parts))
    if form == "two-scores":
        return _of_two_scores(words, answers, scale)
    verdicts = {_of_text(text) for value in answers for text in objects.of_rating(value, (), _KEYS)}
    places = [(each, "json", 0) for each in verdicts if each is not None] or list(_places(words, form))
    if not places:
        return Extracted("refused") if holds_refusal(words) else UNPARSED
    if len({choice for choice, *_ in places}) > 1:
        return Extracted("contradictory") if form == "bare" else UNPARSED
    return Extracted("scored", float(places[0][0]), places[0][1])


def _of_text(text: str) -> int | None:
    alone = _alone(plain(text), 0, strict=True) or _statement(plain(text), 0)
    return alone[0] if alone else None


def _places(words: str, form: AnswerForm) -> Iterator[tuple[int, str, int]]:
    """The verdicts that count: those in brackets or behind labels, else the sentence or line of the form."""
    statements = list(_statements(words))
    line = words.rfind("\n") + 1
    sentence = last_sentence(words)
    strict = [f for f in statements if f[1] in ("bracketed", "labelled")]
    if strict:
        yield from strict
        return
    if form == "reason-first":
        if alone := (
            _alone(words, line, strict=True)
            or (line == 0 and _alone(words, 0, strict=False))
            or _alone(words, sentence, strict=True)
        ):
            yield alone
        elif statements:
            last = [f for f in statements if f[1] != "worse"] or statements
            yield last[-1]
        return
    if alone := _alone(words, 0, strict=False):
        yield alone
        return
    better = [f for f in statements if f[1] != "worse"] or statements
    yield from better if form == "bare" else better[:1]


def read_letter(answer: str, positions: Sequence[Position], *, ties: bool) -> Extracted:
    """The likelier letter where an answer that is one letter gives it.

    C counts with `ties` alone. The probabilities of A and B are renormalised over the letters; without any
    the verdict says why.
    """
    masses = letter_masses(positions, 3 if ties else 2)
    if masses is None:
        refused = read_verdict(answer, "bare").status == "refused"
        return Extracted("refused") if refused else UNPARSED
    if isinstance(masses, str):
        return Extracted("unparsed", rule=masses)
    first, second, *neither = (mass / sum(masses) for mass in masses)
    tie = max(neither, default=0.0) >= max(first, second)
    return Extracted("scored", 0.0 if tie else _better(first, second), "prob", scores=(first, second))


def _better(first: float, second: float) -> float:
    return float((first > second) - (first < second))


_TEXT = (
    rf"(?:(?:the )?{_NOUN} ?[\"'(\[]?(?:[ab12]|one|two)\b[\"')\]]?|(?:the )?(?:first|second)(?: (?:one"
    rf"|{_NOUN}))?|[(]?(?:[AB])[)]?)"
)
_SCORE_LABEL = re.compile(
    rf"[\s\"'(\[{{|•#-]{{0,8}}(?:\d[.)] )?(?:(?P<text>{_TEXT})(?:'s)?(?: (?:score|rating"
    rf"|points))?(?: (?:is|gets|scores|receives|earns))?(?: an?)?"
    rf"|(?:score|rating)s?(?: (?:for|of|a|b|1|2)(?: {_TEXT})?)?(?: \(\d+ ?- ?\d+\))?|two {_NOUN}|(?:1"
    rf"|2)(?= ?\|))[\"']? ?[:=|-]*[\s\"'(\[|]{{0,6}}",
    re.I,
)
_BETWEEN = re.compile(r"(?:[ \t]*[,;:/|)]?[ \t]*(?:and |vs\.? |- |to )?[ \t]*)")


def _of_two_scores(words: str, answers: Sequence[object], scale: Scale) -> Extracted:
    """The choice by the two scores, in one line or in one each, with which an answer begins.

    Lines without a score may stand before it if they say no number, or that of the scale.
    """
    values = _scores_of_objects(answers, scale) or _scores_of_lines(words, scale)
    if len(values) != 2:
        return Extracted("refused") if not values and holds_refusal(words) else UNPARSED
    first, second = values
    if not (scale.min <= first <= scale.max and scale.min <= second <= scale.max):
        return Extracted("out_of_scale")
    return Extracted("scored", _better(first, second), "two-scores", scores=(first, second))


def _scores_of_objects(answers: Sequence[object], scale: Scale) -> list[float]:
    """The values of an object with one key for each text."""
    for value in answers:
        by_text: dict[str, float] = {}
        for key, inner in value.items() if isinstance(value, dict) else ():
            place = [w for w in objects.key_words(key) if w in ("a", "b", "1", "2")] or re.findall(
                r"[12]\Z", key
            )
            text = objects.as_text(inner)
            number = None if text is None else number_reader(scale)(text, 0)
            if len(place) == 1 and number is not None and number.end == len(str(text)):
                by_text[place[0]] = number.number
        if set(by_text) in ({"a", "b"}, {"1", "2"}):
            return [by_text[key] for key in sorted(by_text)]
    return []


def _scores_of_lines(words: str, scale: Scale) -> list[float]:
    values: list[float] = []
    for line in words.split("\n"):
        if not line.strip() or re.fullmatch(r"[-|: ]+", line):
            continue
        scores = _scores_of_line(line, scale)
        if not scores:
            if values or (re.search(r"\d", line) and not re.search(r"\d+ ?(?:-|to) ?\d+\)?:?\Z", line)):
                break
            continue
        values += scores
        if len(values) >= 2:
            break
    return values


def _scores_of_line(line: str, scale: Scale) -> list[float]:
    """The one or two scores that a line states; empty if it says anything else before them."""
    read, values, place, texts = number_reader(scale), list[float](), 0, set[str]()
    if re.match(r"\W{0,4}\d[.)] \W{0,4}\d", line):  # a mark of a list
        return []
    while len(values) < 3:
        label = _SCORE_LABEL.match(line, place)
        start = label.end() if label else place + len(line[place:]) - len(line[place:].lstrip(" |\"'(["))
        value: Value | None = read(line, start) or (read(line, place) if label else None)
        if value is None or math.isinf(value.number):
            break
        if label and label["text"]:
            if label["text"].lower() in texts:
                return []
            texts.add(label["text"].lower())
        if label is None and not values and re.match(r" ?(?:to|or)\b", line[value.end :]):
            return []
        values.append(value.number)
        after = re.match(
            r"[ \"')\]|]*(?:\Z|[.!](?= |\Z)|[,;:/](?! ?\d*[A-Za-z]{3,} ?[a-z]+ ?[a-z]*\Z)|and\b|vs\b|\t"
            r"|(?=[ -] ?\d)| -+ (?=[A-Za-z])|(?= ?[A-Z|(]))",
            line[value.end :],
        )
        if after is None:
            return []
        between = _BETWEEN.match(line, value.end)
        place = between.end() if between else value.end
        if line[value.end :].lstrip().startswith((".", "!")) or place >= len(line):
            break
    return values
