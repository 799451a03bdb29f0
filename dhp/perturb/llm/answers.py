"""The revised text in a language model's answer, without what models put around it."""

import re
from collections.abc import Callable

from dhp.core.text import without_reasoning

Rule = Callable[[str], str]

_THING = (
    r"(?:summary|abstract|translation|answer|response|(?:story )?ending|text|version|sentences?|passage|"
    r"paragraph|output|result|story)"
)
_REVISED = (
    r"(?:final|revised|rewritten|re-written|rephrased|modified|adjusted|updated|edited|changed|altered|perturbed|"
    r"degraded|new|fictionali[sz]ed|corrected|resulting|full|complete)"
)
_TAG = re.compile(
    rf"<\s*(/?)\s*((?:{_REVISED}[-_ ]?)*{_THING})(?:-\d+)?\s*>",
    re.I,
)
_FENCE = re.compile(r"(?:^|(?<=\n)|(?<=:))[ \t]*(```|~~~)[ \t]*[\w-]*[ \t]*\n?(.+?)\s*\1(?!\w)", re.S)
_SPECIAL = re.compile(r"<\|[^|<>\n]{1,30}\|>|</?s>|\[/?INST\]")
_EMPHASIS = (
    re.compile(r"(\*\*\*|\*\*|__)(?=\S)([^\n]+?)(?<=\S)\1"),
    re.compile(r"(?<![\w*])(\*)(?=[^\s*])([^*\n]+?)(?<=\S)\*(?![\w*])"),
    re.compile(r"(?<!\w)(_)(?=[^\s_])([^_\n]+?)(?<=\S)_(?!\w)"),
    re.compile(r"(?<!`)(`)(?=[^\s`])([^`\n]+?)`(?!`)"),
)
_LINE_MARKS = (
    re.compile(r"[ \t]*(?:\d{1,2}[.)]|\(\d{1,2}\)|[-*•–])[ \t]+(?=\S)"),
    re.compile(r"[ \t]*>[ \t]?"),
)
_YES = (
    r"(?:sure(?: thing)?|certainly|of course|absolutely|okay|ok|alright|all right|great|gladly|got it|yes|"
    r"understood|no problem|with pleasure|好的|当然(?:可以)?)"
)
_MADE = rf"(?:{_REVISED}|made|replaced|introduced|inserted|added|kept)"
_PREAMBLES = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        # "Sure! Here is the revised summary:"
        rf"(?:{_YES}\b[^\n:：]{{0,60}}?[!.,，。]\s*)?(?:(?:here|below|the following)\b|this is|以下是|这是)"
        rf"(?=[^\n:：]*(?:\b(?:{_THING}|{_REVISED})\b|you go|it is|改))[^\n:：]{{0,160}}[:：]\s*(?=\S)",
        # "Sure, the revised summary:" and "Revised summary (one entity replaced):"
        rf"(?:{_YES}[!.,]\s*)?(?:(?:the|my|your|a)\s+)?(?:(?:{_REVISED}\s+)+{_THING}|{_THING}|修改后的\w{{0,6}})"
        r"(?:\s+(?:with|after|in which)\b[^\n:]{0,80})?\s*(?:\([^)\n]*\)\s*)?(?:[:：]\s*|\n\s*)(?=\S)",
        # a first line that ends in a colon
        r"(?=\S)[^\n]{1,160}[:：][ \t]*\n\s*(?=\S)",
        r"i(?:['’]d| would) be (?:happy|glad) to[^\n.!]{0,80}[.!]\s*(?=\S)",
        rf"i(?:['’]ve| have)? (?:now )?{_MADE}\b[^\n]{{0,160}}\n\s*(?=\S)",
        rf"{_YES}(?:[!:.,，。]?\s*\n\s*|[!:][ \t]*)(?=\S)",
        r"(?:-{3,}|\*{3,}|={3,})[ \t]*\n\s*(?=\S)",
    )
)
_LATER_LABEL = re.compile(
    rf"(?:^|\n)[ \t]*(?:(?:the|my)\s+)?(?:{_REVISED}\s+)+{_THING}(?:[ \t]*\([^)\n]*\))?[ \t]*[:：]\s*(?=\S)",
    re.I,
)
_NOTE = (
    r"(?:notes?|explanations?|reasoning|rationale|justification|comments?|changes?(?: made)?|replacements?|"
    r"(?:adjustments?|modifications?|(?:grammatical )?errors?)(?: made| introduced)?|what (?:i|was) changed|"
    r"original(?: (?:entity|sentence|summary|text))?|说明|注释?|备注)"
)
_NOTES = (
    re.compile(rf"\n\s*[(\[]?{_NOTE}\b[^\n]{{0,60}}[:：].*", re.I | re.S),
    re.compile(r"\s[(\[]?(?:note|explanation|changes made|errors introduced)\s*:\s.*", re.I | re.S),
    re.compile(rf"\s*[(\[](?:{_NOTE}|changed|replaced|revised|rephrased)\b[^()\[\]]*[)\]]\s*$", re.I),
    re.compile(
        rf"\n\s*[(\[]?(?:i(?:['’]ve| have)? {_MADE}|(?:in )?this (?:version|revision|revised)|"
        r"the (?:changed?|replaced|inserted|following|above|adjustment|errors?)|let me know|please let me|"
        r"(?:i )?hope (?:this|that)|feel free|is there anything|if you (?:need|would|want|['’]d))\b.*",
        re.I | re.S,
    ),
    re.compile(r"\n[ \t]*(?:-{3,}|\*{3,}|_{3,}|={3,})[ \t]*(?:\n.*)?$", re.S),
)
_QUOTES = ('""', "“”", "„“", "„”", "«»", "»«", "‹›", "‘’", "‚‘", "''", "「」", "『』", "＂＂", "”“")


def cleaned(answer: str, original: str = "") -> str:
    """The revised text alone: without reasoning, preamble, label, markup, quotes round the whole, and notes.

    What the `original` itself has is left alone, and a text stays on one line where the original does; so the
    original, answered as it is, comes back unchanged. Empty where nothing is left.
    """
    rules = [rule for rule in _RULES if rule(original) == original]
    if original and len(original.splitlines()) < 2:
        rules.append(_on_one_line)
    text = answer
    while (plain := _first_change(rules, text)) != text:
        text = plain
    return text


def _first_change(rules: list[Rule], text: str) -> str:
    """What the first rule makes of the text that changes it: lines are joined when all else is done."""
    return next((changed for rule in rules if (changed := rule(text)) != text), text)


def _without_thoughts(text: str) -> str:
    return without_reasoning(text) or ""


def _stripped(text: str) -> str:
    return text.strip().strip("\u200b\ufeff")


def _plain_ends(text: str) -> str:
    return text.replace("\r\n", "\n")


def _without_special_tokens(text: str) -> str:
    return _SPECIAL.sub("", text)


def _out_of_fence(text: str) -> str:
    """The inside of an only code block."""
    blocks = _FENCE.findall(text)
    if len(blocks) == 1:
        return str(blocks[0][1])
    return re.sub(r"^(?:```|~~~)[\w-]*[ \t]*\n|\n(?:```|~~~)$", "", text) if not blocks else text


def _out_of_tags(text: str) -> str:
    """The inside of the last pair of tags; a tag without a partner goes at the start and at the end only."""
    tags = list(_TAG.finditer(text))
    for closing in reversed(tags):
        opening = [
            t for t in tags if t.end() <= closing.start() and not t[1] and t[2].lower() == closing[2].lower()
        ]
        if closing[1] and opening:
            return text[opening[-1].end() : closing.start()]
    for tag in tags[:1] + tags[-1:]:
        if not text[: tag.start()].strip() or not text[tag.end() :].strip():
            return text[: tag.start()] + text[tag.end() :]
    return text


def _without_headings(text: str) -> str:
    return re.sub(r"(?m)^[ \t]{0,3}#{1,6}[ \t]+", "", text)


def _without_emphasis(text: str) -> str:
    for pattern in _EMPHASIS:
        text = pattern.sub(r"\2", text)
    return text


def _without_line_marks(text: str) -> str:
    """Without the number, bullet or quotation mark that every line begins with."""
    lines = [line for line in text.split("\n") if line.strip()]
    for mark in _LINE_MARKS:
        if lines and all(mark.match(line) for line in lines):
            return "\n".join(
                line[found.end() :] if (found := mark.match(line)) else line for line in text.split("\n")
            )
    return text


def _after_label(text: str) -> str:
    """What follows the last label such as "Revised summary:" on a line of its own beginning."""
    labels = list(_LATER_LABEL.finditer(text))
    return text[labels[-1].end() :] if labels else text


def _without_preamble(text: str) -> str:
    found = next((m for pattern in _PREAMBLES if (m := pattern.match(text))), None)
    return text[found.end() :] if found else text


def _without_notes(text: str) -> str:
    for pattern in _NOTES:
        found = pattern.search(text)
        if found and text[: found.start()].strip():
            return text[: found.start()]
    return text


def _without_quotes(text: str) -> str:
    """Without the marks of one quotation; those of a first and a last one within the text stay."""
    inside = text[1:-1]
    if not inside.strip() or text[0] + text[-1] not in _QUOTES:
        return text
    marks = (
        m.start() for m in re.finditer(rf"(?<!\w)[{text[0]}{text[-1]}]|[{text[0]}{text[-1]}](?!\w)", inside)
    )
    first = next(marks, None)
    return inside if first is None or not inside[:first] or inside[first - 1] in " \n([" else text


def _on_one_line(text: str) -> str:
    return " ".join(text.split()) if len(text.splitlines()) > 1 else text


_RULES: tuple[Rule, ...] = (
    _without_thoughts,
    _plain_ends,
    _stripped,
    _without_special_tokens,
    _out_of_fence,
    _out_of_tags,
    _without_headings,
    _without_emphasis,
    _after_label,
    _without_preamble,
    _without_notes,
    _without_line_marks,
    _without_quotes,
)
