"""The places of an answer where its form puts a rating: lines and sentences that begin as one.

A statement is matched from the beginning of a line or sentence: a label, or words of the judge's own, then
the value, then an end. Nothing is searched for inside a sentence, so what is quoted, denied, supposed or
reported is none by the words that stand before it.
"""

import functools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dhp.judge.extraction.plain import SAYS
from dhp.judge.extraction.values import ReadValue, Value

FINAL, LABELLED, NAMED, STATED, BARE = "final", "labelled", "named", "stated", "bare"
"""Kinds of statements: a label of the whole, a label of ratings, the name of a criterion, words of the
judge's own, a value alone."""


class Statement(NamedTuple):
    """A value where an answer states one."""

    kind: str
    number: float
    """As of `Value`."""
    start: int
    """Where the line or sentence begins."""
    value_start: int
    value_end: int
    rule: str
    """The rule that read it: the kind, or `stars` or `fraction`."""
    name: str = ""
    """The criterion, where one is named."""


@dataclass(frozen=True, slots=True)
class Grammar:
    """How the values of one kind of answer are written."""

    read: ReadValue
    signed: bool = False
    """Whether a hyphen before a number is a minus."""
    names: tuple[str, ...] = ()
    """What the criterion is called that was asked about; without any, that of any known criterion counts."""
    whole: float = math.nan
    """The maximum of the scale."""


_RATING_WORDS = (
    "score|rating|grade|marks?|verdict|answer|result|evaluation|assessment|judge?ment|overall|total|final"
    "|conclusion|choice"
    "|boxed|rate|decision|label|class|classification|value|outcome"
    "|bewertung|punktzahl|wertung|note|gesamtnote|gesamtbewertung|endnote|ergebnis|urteil"
    "|évaluation|notation|puntuación|calificación|puntaje|valoración|nota|punteggio|voto|valutazione"
    "|pontuação"
    "|avaliação|classificação|оценка|балл|рейтинг|итог|التقييم|الدرجة|النتيجة|स्कोर|अंक|रेटिंग|मूल्यांकन"
    "|beoordeling|cijfer|ocena|puan|skor|nilai|điểm"
)
_RATING_SIGNS = (
    "评分|得分|分数|打分|评级|总分|答案|星级|等级|评价|结果|评估|结论|判断|判定|最终|综合|評価|スコア|点数|評点|採点"
    "|得点|점수|평점|평가|등급|별점|총점|결과"
)
"""Of scripts that put no space between words."""
_FINAL_WORDS = r"final|overall|total|finale|итоговая|итоговый|gesamt"
_FINAL_SIGNS = "最终|最后|总体|总|综合|総合|最終|최종|종합|총"
_FOR_WHOLE = re.compile(rf"\b(?:{_FINAL_WORDS}|gesamt\w+|endnote)\b|{_FINAL_SIGNS}", re.I)
_TEXTS = (
    r"(?:summary|text|response|answer|reply|story|ending|translation|output|passage|essay|caption|dialogue"
    r"|review|report"
    r"|code|article|continuation|message|headline|description|completion|generation|candidate)"
)
CRITERIA = (
    "accuracy adequacy appropriateness brevity clarity coherence completeness conciseness consistency"
    " correctness coverage"
    " creativity depth effectiveness engagement engagingness factuality faithfulness fluency grammar"
    " grammaticality"
    " groundedness groundness harmlessness helpfulness honesty humor informativeness instruction-following"
    " interestingness"
    " likability logic naturalness organization originality overall-quality precision quality readability"
    " relevance"
    " relevancy safety semantics simplicity spelling structure style tone toxicity truthfulness usefulness"
    " understandability verbosity flow"
).split()
"""Words for the quality of a text that stand before a score where the criterion asked about is not known."""
_CRITERIA_SIGNS = "连贯性|流畅性|相关性|一致性|准确性|完整性|质量|自然度"

_OPEN = r"[\s\"'(\[{|•·#>✅❌⭐★.…-]{0,12}"
_GROUNDS = (
    r"(?:(?:(?:based on|considering|given|weighing|due to) (?:this|these|those|all|the|both|my)\b"
    r"|after (?:weighing|comparing|reviewing|evaluating|analy[sz]ing|considering)\b)[^.;:\n\"“”]{0,120}?, )?"
)
LEAD = (
    r"(?:(?:so|therefore|thus|hence|overall|in conclusion|to conclude|finally|in summary|in short|all in all"
    r"|accordingly|consequently|ultimately|as a result|in the end|on balance|on the whole|well|sure|okay|ok"
    r"|certainly|of course|still|even so|however|but|yet|in my (?:opinion|view)|as it stands"
    r"|on reflection|upon reflection|after reflection|on second thoughts?|correction)"
    rf"[,:!.]? (?:and )?)?{_GROUNDS}"
)
"""Words with which a sentence of the judge's own may begin."""
_LEAD = rf"{LEAD}(?:here(?:'s| is) )?"
_DET = (
    r"(?:(?:my|the|your|our|its|a|this|meine?|die|das|ma|la|le|mi|minha|mia|mio|моя) "
    r"|(?:(?:因此|所以|综上),?)?我的|(?:因此|所以|综上),?)?"
)
_ADJECTIVES = (
    rf"(?:(?:{_FINAL_WORDS}|numeric(?:al)?|revised|corrected|updated|adjusted|suggested|assigned|given"
    rf"|appropriate|fair|quality|star|resulting|recommended"
    rf"|corresponding|integer|single|da|{_TEXTS}|翻译|译文|文本|文章|摘要|质量|整体"
    r"|最终|最后|总体|综合|総合|最終|최종|종합) ?){0,3}"
)
_OF_OTHERS = (
    r"(?:source|reference|original|gold|human|previous|earlier|old|baseline|target|expected"
    r"|(?:max(?:imum)?|min(?:imum)?)(?=[)\]]))\b"
)
_AFTER_NOUN = r"(?: (?:finale?|global|totale?|gen[eé]ral|geral|generale|complessiv[oa]))?"
_ASIDE = rf"(?: ?[(\[](?!(?:of |for )?(?:the )?{_OF_OTHERS})[^()\[\]\n]{{0,60}}[)\]])?"
_IT = (
    rf"(?:(?:the|this|that) (?:(?:given|provided|above|whole|entire|generated|candidate|model|coherence"
    rf"|fluency|quality|naturalness"
    rf"|relevance|consistency|accuracy)(?:'s)? (?:of (?:the|this) )?){{0,2}}(?:{_TEXTS}|one|coherence"
    rf"|fluency|quality|naturalness)(?:'s [a-z]+)?"
    r"|it|this|that)"
)
_SCALE_PHRASE = (
    r"(?:on|from|using|out of) (?:an? |the )?(?:scale (?:of|from) )?\d+(?: ?(?:-|to) ?\d+)?(?: scale)?"
)
_ABOUT = (
    r"(?:(?:~|about|around|approximately|roughly|approx\.?|circa|only|just|exactly|clearly) ?)?(?:an? )?"
    r"(?:(?:solid|strong|high|low|perfect|full|mere|good|fair|weak|moderate|clear|generous|firm"
    r"|respectable|bare) )?"
    r"(?:(?:score|rating|grade|mark) of )?"
)
_ON_A_SCALE = r"(?:on (?:a|the) scale (?:of|from) \d+ ?(?:to|-) ?(?P<high>\d+)[:,]? (?:(?:this|it) is )?)?"
_UNSIGNED_GAP = r"[ \n\"'(\[{:=|>✅❌]{0,12}(?:-+>? )?[ \"'(\[]{0,3}"
_IS = r"| (?:is|are|ist|lautet|est|es|è|é)(?: ?:)?(?= )|[は为是는은]"
_SIGNED_GAP = r"[ \n\"'(\[{:=|>✅❌]{0,12}"


@functools.lru_cache(maxsize=256)
def _label(names: tuple[str, ...], signed: bool) -> re.Pattern[str]:
    """A label, up to the place of its value."""
    names_of_metric = "|".join(
        re.escape(name).replace(r"\ ", "[ -]") for name in sorted(names, key=len, reverse=True)
    )
    known = names_of_metric or "|".join([*CRITERIA, _CRITERIA_SIGNS])
    about = rf"(?:{_IT}|(?:its |the |overall )?(?:{known}|quality))"
    of_what = (
        rf"(?: (?:for|of|on|in) {about}){{0,3}}(?: (?:that )?i(?:'d| would)? (?:give"
        rf"|assign))?(?: {_SCALE_PHRASE})?"
    )
    gap = _SIGNED_GAP if signed else _UNSIGNED_GAP
    separator = rf"(?: ?[:=|>]{_IS})" if signed else rf"(?: ?[:=|>]| ?-+>?(?=[ >]){_IS})"
    return re.compile(
        rf"{_OPEN}{_LEAD}{_DET}【?(?:(?P<for>{_ADJECTIVES})(?:(?P<name>{known})(?P<of> (?:score|rating"
        rf"|grade))?"
        rf"|(?P<key>(?:{_RATING_WORDS})s?\b|(?:{_RATING_SIGNS}){{1,2}}))"
        rf"|(?P<scale>(?=[(\[]\d+[^\d()\[\]]{{1,6}}\d)))】?{_AFTER_NOUN}{of_what}{_ASIDE}[\"')\]]{{0,3}}"
        rf"(?P<separator>{separator}{gap}|\]? ?\n{{1,3}}[\"'(\[]{{0,3}}|\] (?=\S)"
        rf"|[ \]](?=[\[(\d.+★⭐🌟-])\[{{0,2}}"
        rf"|(?<=[^\x00-\x7f])){_ABOUT}(?:(?:yes|no|somewhat) \()?",
        re.I,
    )


_NEEDS_NO_COLON = re.compile(r"(?:score|rating|overall|total|verdict|result|grade|boxed|[^\x00-\x7f])", re.I)
"""Labels that stand before a value without a mark or line end between them."""
_BARE = re.compile(
    rf"(?:[\s\"'({{|•·✅❌]|\[(?!\[)){{0,12}}(?:[-•] )?[\s\"'(]{{0,3}}(?:[⭐★] "
    rf"(?=\d))?{_LEAD}{_ON_A_SCALE}{_ABOUT}"
    rf"(?P<boxed>\[\[ ?)?",
    re.I,
)
_SIGNED_BARE = re.compile(
    rf"(?:[\s\"'({{|•·✅❌]|\[(?!\[)){{0,12}}{_LEAD}{_ON_A_SCALE}{_ABOUT}(?P<boxed>\[\[ ?)?",
    re.I,
)
_WEAK = re.compile(r"\s*(?:response|assistant|output|perfect|da|yes(?=[.,:])|no(?=[,:]))[.,:]\s*", re.I)
"""Words before a value that is all that follows."""
_WORD_BEFORE = re.compile(
    r"[\s\"'(\[-]{0,6}(?:(?:yes|no|somewhat|very|mostly|fully|not|good|fair|poor|excellent|bad|great"
    r"|neutral|ok|perfect|terrible"
    r"|average|natural|coherent)[.,]? ){1,2}\(",
    re.I,
)
"""`Somewhat (2)`"""
_VALUED = (
    r"(?: (?:as|at|with|be|to be|of)\b)?(?: (?:an?|the)\b)?(?: (?:final|overall|total|solid|strong|high"
    r"|low|perfect|full|mere|good"
    r"|fair|weak|moderate|clear|coherence|fluency|relevance|consistency)\b)?(?: (?:score|rating|grade|mark"
    r"|verdict)\b(?: (?:of|as|is)\b)?)?"
    r"(?: (?:about|around|approximately|roughly|only|just|an?)\b)? ?[\"'(\[~]{0,3}"
)
_I_SAY = (
    r"(?:(?:i|we)(?:'d| would| will|'ll| am|'m)?(?: (?:therefore|thus|personally|also|hence|ultimately"
    r"|finally|still|have to"
    r"|decided to|choose to))? (?:rate|rated|give|gave|giving|score|scored|assign|assigned|assigning|say"
    r"|choose|grade|go(?:ing)? with|settle (?:on|for|at)"
    r"|land (?:on|at)|lean towards?|award|mark|put|answer|rating|pick|select)\b(?: that)?(?: (?:it"
    r"|this)(?:'s| is))?|i'd)"
)
_FITTING = (
    r" (?:is|seems|feels|would be) (?:most )?(?:appropriate|warranted|fair|justified|suitable"
    r"|reasonable|fitting)"
    r"(?: (?:here|for (?:this|the) [a-z]+))?"
)
_STATED = re.compile(
    rf"{_OPEN}{_LEAD}{_ON_A_SCALE}"
    rf"(?:{_I_SAY}(?: {_IT})?(?: (?:for|on|in) (?:its )?[a-z]+)?{_VALUED}"
    rf"|{_IT}(?:'s| is| results in| leads (?:me )?to| gets| receives| earns| scores| merits| rates)"
    rf"(?: (?:rated|scored|given))?{_VALUED}"
    rf"|(?:the|this) {_TEXTS} would (?:receive an? (?:score|rating) of|be (?:rated|scored)(?: as)?(?: an?)?) "
    r"(?=[\w/]{1,8}(?: \(\w+\))?(?:\.\s|\.?\s*\Z| because\b))"
    rf"|(?:i (?:think|believe|feel)(?: that)? )?an? (?:score|rating|grade) of "
    rf"(?=[\w./]{{1,8}}(?: out of \d+)?{_FITTING}(?:[.!,]|\Z| because\b| since\b| given\b))"
    rf"|(?:je (?:lui )?(?:donne|mets|note|attribue)(?: donc)?(?: (?:la|une) note de)?"
    r"|(?:insgesamt )?(?:ich (?:gebe|vergebe|bewerte)|(?:gebe|vergebe) ich)(?: (?:de[rmn]|die|das"
    r"|diese[rnms]?|es|ihn"
    r"|sie|ihm|ihr)(?: \w+)?)?(?: daher| also)?(?: mit| eine)?|(?:le )?(?:doy|asigno) una?(?: (?:nota"
    r"|puntuación) de)?|我(?:给予?|打|评"
    rf"|选择?|认为是)(?:它|出)?|(?:给予|打|评为?|最终|最后)) ?)",
    re.I,
)
"""Words of the judge's own that lead up to a value, from the beginning of a sentence."""
_IS_LABEL = re.compile(
    rf"{_OPEN}{_LEAD}(?:{_IT}(?:'s| is)|{_I_SAY}(?: {_IT})?(?: as)?)(?: an?\b)? [\"'(\[]{{0,3}}", re.I
)
_CLOSING = re.compile(
    rf"(?:, |; | - |,(?=[一-鿿])| (?=and (?:scores|receives|gets|earns)\b))(?:and |but )?(?:(?:so"
    rf"|therefore|thus|hence|which|ultimately|因此|所以|故),? ?)?"
    rf"(?:(?P<own>{_I_SAY})(?: {_IT})?|(?<=and )(?:scores|receives|gets|earns)|(?:resulting in|leading to"
    rf"|earning(?: {_IT})?|receiving|scoring|with|giving {_IT}|making {_IT}|warranting|for)"
    rf"|{_IT} (?:scores|receives|gets|earns|is|rates|merits)|(?:the|its|my) (?:final |overall )?(?:verdict"
    rf"|answer|score"
    rf"|rating|grade) is"
    rf"|(?=(?:final )?(?:score|rating))|(?:最终|综合)?(?:得分|评分|打分|最终|我?给|得|我?打|评)(?:予|出|为"
    rf"|是|它)?|(?<=so |us "
    rf"|ce |re )(?:it is|it's|this is)?)"
    rf"(?: [a-z]+,(?= score))?{_VALUED}",
    re.I,
)
"""The last clause of a sentence that says what follows from the others."""
_SUPPOSED = re.compile(
    rf"\b(?:if (?:it|this|that|{_IT})|unless|had (?:it|this|{_IT})|were (?:it|this|{_IT})|otherwise|would"
    rf"|could have|might have)\b",
    re.I,
)
_LAST_WORDS = re.compile(
    r"(?: (?:for|in terms of|in)(?: [\w'-]+){1,4})?(?:, (?:not|rather than) [^,\n]{1,60})?[ .!)\"'*。]*\Z"
)
"""What may stand behind the value of a closing clause."""
_CONDITION = re.compile(
    r"\b(?:if|unless|had (?:it|the|this)|were (?:it|the|this)|otherwise|says?|said|wrote)\b|如果|若", re.I
)
_REPORTS = re.compile(rf"(?:{SAYS})(?: [\w']+){{0,3}}\Z", re.I)
_SPEAKS = re.compile(
    r"\b(?:says?|said|claims?|claimed|reads?|writes?|wrote|asks?|tells?|demands?|adds?)(?: [\w']+){0,2}\Z",
    re.I,
)
"""Words before a comma by which a clause of the judge's, or any clause, is somebody else's."""
_OWN_SUBJECT = re.compile(
    rf"{_OPEN}{_LEAD}{_IT}(?! (?:also )?(?:says|claims|asks|demands|instructs|tells|insists|orders|requests"
    rf"|states|contains the (?:line|text))\b)",
    re.I,
)
_NOT_OWN = re.compile(
    r"\b(?:if|unless|had (?:it|the|this)|were (?:it|the|this)|otherwise|could|might|would|should"
    r"|critics?|experts?|readers?|reviewers?|raters?|users?|people|others|previous(?:ly)?|reference|humans?"
    r"|claims|claiming|demand\w*|instruct\w*|inject\w*|according to|asks|tells|tries|attempt\w*|says|film"
    r"|movie|restaurant|match|survey)\b|如果|若",
    re.I,
)
"""Words by which the sentence may speak of another rating, or of none that was given."""

_SPACE_MARK = r"[ ]*[\"'”’»)\]}|。！✅❌👍🌟⭐★]*[ ]*"
_SOLID_END = re.compile(rf"(?:です|입니다)?{_SPACE_MARK}[.!+*]?{_SPACE_MARK}(?:\Z|\n)")
_SENTENCE_END = re.compile(rf"{_SPACE_MARK}(?:[.!]{_SPACE_MARK}(?= )|[。！；])")
_PAUSE = re.compile(
    r"[ ]*[\"'”’»\])}]{0,3}(?:[,;:](?=[ \u3000-\u9fff\uac00-\ud7af])|、| ?-+ | \||(?= ?[(\[（])|(?<=\)) )"
)
_EQUALS = re.compile(r" = (?=[A-Za-z])")
_REASON = re.compile(
    rf"{_FITTING}(?=[.!,]|\Z)| (?:because|since|as|due to|for|in terms"
    rf"|on (?:a|the|its|{'|'.join(CRITERIA)})"
    r"|based|given|which|with|but|although|though|while|overall|out|here"
    r"|indicating|suggesting|meaning|reflecting|showing|according|considering|rather than|instead of"
    r"|and(?! (?:above|up|higher|over|below|lower)\b)"
    r"|when|in)\b|(?:因为|由于|因)",
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
    rf"|if\b|unless\b|rather (?!than)|to\b|part\b(?! (?:because|due|since|as))|the {_OF_OTHERS}"
    r"|(?:this|that|which) is what|(?:as|so) (?:the|this) \w+ (?:demands|asks|says|requests|claims"
    r"|instructs)\b"
    r"|(?:but|and) (?:no\b"
    r"|maybe|perhaps|if|rather|or)|rounded"
    r"|at (?:most|best|least)|not (?:really|quite)|\?)",
    re.I,
)
_BETWEEN = re.compile(r"[ )\]]{0,4}[,;:/(|-]?[ -]*(?:and |or |to |but )?\[{0,2}(?=\S)")
_PARENTHESES = re.compile(r" ?[(\[=]? ?")
_MORE_THAN = re.compile(r"[:=] ?>|[:=] <")
_SHARE = re.compile(r"[st] for\b")
"""`1 point for the plot`"""
_SCALE_BESIDE = re.compile(
    r" ?(?=[(a-z])\(?(?:(?:on|from|in|of|out of) )?(?:(?:an?|the) )?(?:scale (?:of|from) |maximum of "
    r"|max\.? ?)?(?P<low>\d+)(?: ?(?:-|to|~|bis|à|至|到) ?(?P<high>\d+))?"
    r"(?: ?-?(?:point )?scale)?\)?(?= ?(?:[.,;:!)\n-]|\Z| because| since| as))",
    re.I,
)
"""`(1-5)`, `(out of 5)`, `on a scale of 1 to 5`"""
_SENTENCE = re.compile(r"[.!?…][\"')\]]{0,2} +(?=\S)|[。！？](?=\S)|\n+")
_FURTHER = re.compile(r"[:=(] ?\d|\d ?/ ?\d")
"""A further value in the line of one."""
_ITEM = re.compile(r"\s*(?:-|•|\d{1,2}[.)]) ")
_BOUNDARY = re.compile(r"(?:[.!?…;]|(?<=[\w)]) -)[\"')\]]{0,2} +(?=\S)|[。！？；]|\n+")
"""Ends of sentences and lines."""
_LONGEST_LEAD = 400


def _ends(text: str, end: int, grammar: Grammar, value: Value, kind: str) -> int | None:
    """Where the value with all that repeats it ends, if what follows lets it stand as a rating; else None."""
    beside = _PARENTHESES.match(text, end)
    if beside and (again := grammar.read(text, beside.end())) is not None:
        same = again.number == value.number or math.isclose(again.share, value.number / grammar.whole)
        closed = text[again.end : again.end + 1] in (")", "]") or again.rule == "stars"
        if closed and not same:
            return None
        if same and closed:
            end = again.end
    if scale := _SCALE_BESIDE.match(text, end):
        if float(scale["high"] or scale["low"]) != grammar.whole:
            return None
        end = scale.end()
    if solid := _SOLID_END.match(text, end):
        return None if _CORRECTED.match(text, solid.end()) else end
    if sentence := _SENTENCE_END.match(text, end):
        return None if _CORRECTED.match(text, sentence.end()) else end
    pause = _PAUSE.match(text, end)
    if pause is None and kind == BARE:
        pause = _EQUALS.match(text, end)
    go_on = (
        pause
        or _REASON.match(text, end)
        or (_NEW_SENTENCE.match(text, end) if kind in (FINAL, LABELLED, NAMED) else None)
    )
    if go_on is None or _CORRECTED.match(text, go_on.end()) or _IN_DOUBT.match(text, go_on.end()):
        return None
    return None if _other_value_follows(text, end, grammar, value) else end


def _other_value_follows(text: str, end: int, grammar: Grammar, value: Value) -> bool:
    """Whether another value stands beside it, as in `3, 4` and `3 (4)`, and counts no things."""
    between = _BETWEEN.match(text, end)
    again = grammar.read(text, between.end()) if between else None
    if again is None or again.number == value.number:
        return False
    return re.compile(r"[ )\]]*(?:[.,;:!?)\]\n]|\Z|or\b|and\b)").match(text, again.end) is not None


def starts(text: str) -> Iterator[int]:
    """Where lines and sentences begin."""
    yield 0
    for boundary in _BOUNDARY.finditer(text):
        yield boundary.end()


def labelled(text: str, grammar: Grammar) -> list[Statement]:
    """Every value behind a label with which a line or a sentence begins."""
    pattern, statements, done = _label(grammar.names, grammar.signed), [], 0
    for start in starts(text):
        if start < done:
            continue
        match = pattern.match(text, start, min(len(text), start + _LONGEST_LEAD))
        statement = None if match is None else _of_label(text, match, grammar)
        if statement is None and text.startswith("[[", start):
            statement = bare(text, start, grammar)
        if statement is not None and not _in_an_item(text, start):
            statements.append(statement)
            done = statement.value_end
    return statements


def _in_an_item(text: str, start: int) -> bool:
    """Whether a sentence is a later one of an item of a list, whose rating is that of a part."""
    line = text.rfind("\n", 0, start) + 1
    item = _ITEM.match(text, line)
    return item is not None and start > item.end()


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end


def _of_label(text: str, match: "re.Match[str]", grammar: Grammar) -> Statement | None:
    value = grammar.read(text, match.end())
    if value is None and text.startswith("[[", match.end()):
        value = grammar.read(text, match.end() + 2)
    if value is None:
        return None
    if _MORE_THAN.search(match["separator"]):
        return None
    if not match["separator"].strip(" ]") and not _NEEDS_NO_COLON.match(match["key"] or ""):
        return None
    if grammar.signed and match["separator"] == " " and text[value.end - 3 : value.end - 1] in ("- ", "+ "):
        return None  # a separator or a sign
    key, name = match["key"] or "", (match["name"] or "").lower()
    whole = _FOR_WHOLE.search(f"{match['for'] or ''} {key}") is not None and not name
    kind = NAMED if name else FINAL if whole else LABELLED
    end = _ends(text, value.end, grammar, value, kind)
    if end is None or (
        kind == NAMED and not grammar.names and _FURTHER.search(text, end, _line_end(text, end))
    ):
        return None
    rule = "named" if kind == NAMED else "labelled"
    return Statement(kind, value.number, match.start(), match.end(), end, rule, name)


def bare(text: str, start: int, grammar: Grammar) -> Statement | None:
    """The value with which a line begins at `start`."""
    match = (_SIGNED_BARE if grammar.signed else _BARE).match(
        text, start, min(len(text), start + _LONGEST_LEAD)
    )
    value = grammar.read(text, match.end()) if match else None
    if match is None or value is None:
        return None if math.isnan(grammar.whole) else _after_a_word(text, start, grammar)
    if match["high"] and float(match["high"]) != grammar.whole:
        value = value._replace(number=math.nan)
    end = _ends(text, value.end, grammar, value, BARE)
    if end is None or _SHARE.match(text, value.end - 1):
        return None
    kind, rule = (LABELLED, "labelled") if match["boxed"] else (BARE, value.rule or "bare")
    return Statement(kind, value.number, start, match.end(), end, rule)


def _after_a_word(text: str, start: int, grammar: Grammar) -> Statement | None:
    """The value in `Somewhat (2)`, `Response: 2` and `Yes, 2.`, which is all that a line says."""
    for pattern in (_WORD_BEFORE, _WEAK):
        match = pattern.match(text, start)
        value = grammar.read(text, match.end()) if match else None
        if match and value and _SOLID_END.match(text, value.end):
            return Statement(BARE, value.number, start, match.end(), value.end, value.rule or "bare")
    return None


def stated(text: str, start: int, grammar: Grammar) -> Statement | None:
    """The value that the judge gives in a sentence that begins at `start`, in words of its own."""
    match = _STATED.match(text, start, min(len(text), start + _LONGEST_LEAD))
    statement = None if match is None else _of_words(text, match.start(), match.end(), grammar)
    if match and statement and match["high"] and float(match["high"]) != grammar.whole:
        return statement._replace(number=math.nan)
    return statement


def stated_label(text: str, start: int, grammar: Grammar) -> Statement | None:
    """The label that a sentence says the text is: `It is a pass.`"""
    match = _IS_LABEL.match(text, start, min(len(text), start + _LONGEST_LEAD))
    return None if match is None else _of_words(text, start, match.end(), grammar)


def closing(text: str, start: int, grammar: Grammar) -> Statement | None:
    """The value at the end of the sentence that begins at `start`, as what follows from the rest of it."""
    end = start + len(text[start:].rstrip())
    for match in reversed(list(_CLOSING.finditer(text, max(start, end - 120), end))):
        statement = _of_words(text, match.start(), match.end(), grammar)
        if (_REPORTS if match["own"] else _SPEAKS).search(text, start, match.start()):
            continue
        doubt = _CONDITION if match["own"] else _SUPPOSED if _OWN_SUBJECT.match(text, start) else _NOT_OWN
        if statement is not None and doubt.search(text, start, match.start()) is None:
            return statement if _LAST_WORDS.match(text, statement.value_end) else None
    return None


def _of_words(text: str, start: int, place: int, grammar: Grammar) -> Statement | None:
    value = grammar.read(text, place)
    end = None if value is None else _ends(text, value.end, grammar, value, STATED)
    if value is None or end is None:
        return None
    return Statement(STATED, value.number, start, place, end, "stars" if value.rule == "stars" else "stated")


def boxed_at_end(text: str, start: int, grammar: Grammar) -> Statement | None:
    """The value in double brackets that ends the sentence from `start` on, if nobody else speaks there."""
    place = text.rfind("[[", start)
    if "[[" in text[start : max(place, start)]:
        return None
    value = grammar.read(text, place + 2 + (text[place + 2 : place + 3] == " ")) if place >= 0 else None
    if value is None or not re.compile(r" ?\]\][ .!)]*\Z").match(text, value.end):
        return None
    if re.compile(SAYS, re.I).search(text, start, place) or _NOT_OWN.search(text, start, place):
        return None
    if re.search(r"\b(?:not|never|instead|than)\b|n't\b", text[start:place], re.I):
        return None
    return Statement(LABELLED, value.number, start, place + 2, value.end, "labelled")


def last_sentence(text: str) -> int:
    """Where the last sentence of the last line begins."""
    start = text.rfind("\n") + 1
    for boundary in _SENTENCE.finditer(text, start):
        start = boundary.end()
    return start


def distinct(statements: Sequence[Statement]) -> set[float]:
    """The different values, each NaN for itself."""
    return {s.number for s in statements}
