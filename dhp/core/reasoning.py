"""What a model thinks before it answers: told by its marks, and cut before an answer is read.

`without_reasoning` cuts in this order: the channels of gpt-oss, thoughts below a heading in words, and blocks
between marks. Marks come from `thinking.yaml`, and from patterns for the names of such blocks. A block that
never ends leaves no answer: what looks like one is still a thought. `unknown_mark` finds what only looks like
a mark, so that a run can say which one is missing here.
"""

import functools
import itertools
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

_FILE = Path(__file__).with_name("thinking.yaml")
_THINKING = (
    # think, thinking, antThinking, inner_monologue, seed:think
    r"(?:\w{1,12}[:_|]|ant)?(?:think(?:ing)?|thoughts?|reasoning(?:[_ ]content)?|scratch[_ ]?pad|reflections?"
    r"|analysis|inner[_ ]monologue|chain[_ ]of[_ ]thought|cot|internal)(?:[:_]\w{1,12})?"
)
"""Names of blocks of thoughts, in any case."""
_REASONS = r"(?:reasons?|explanation|rationale|justification|critique|feedback|comments?)"
"""Names of blocks that tell the reasons of an answer; one that never ends leaves what stands before it."""
_SHAPES = (
    (r"< ?", r"(?:\s[^<>]{0,200})?\s?>"),  # <think>, </think>
    # <|begin_of_thought|>, <｜end▁of▁thinking｜>
    (r"<[|｜](?:begin[_▁]of[_▁]|start_|end[_▁]of[_▁]|end_)?", r"(?:[:_](?:start|end|begin))?[|｜]>"),
    (r"\{\{ ?", r" ?\}\}"),  # {{thinking}}
)
"""What stands before the name of a block and behind it; a slash before the name ends the block."""
_STEMS = (
    "think thought reason scratch reflection analysis monologue chain cot internal explanation rationale"
    " justification critique feedback comment channel inner_ self<|message unused1 cogit ponder delib"
).split()
"""Without any of these there is no mark."""
_SIGNS = frozenset("<[{◁/")
"""Without any of these there is no mark that ends thoughts."""
# A mark with a name that ends a block: </think>, <|end_of_thought|>, <|thinking_end|>.
_NAMED_CLOSING = re.compile(r".{1,2}\s?/|<[|｜]end[_▁]|.*[:_]end[|｜]", re.I | re.S)
# <rationale>, <|begin_of_explanation|>
_OF_REASONS = re.compile(rf"[^\w]{{0,5}}(?:begin_of_|start_|end_of_|end_)?{_REASONS}\b", re.I)
# <|start|>assistant<|channel|>final<|message|>
_CHANNEL = re.compile(r"(?:<\|start\|>assistant)?<\|channel\|>\s*(\w+)[^<]{0,80}<\|message\|>")
# `<|end|>`, `<|return|>`, or `<|start|>` of the next message
_CHANNEL_END = re.compile(r"<\|(?:end|return|start)\|>")
_LOST_CHANNEL = re.compile(r"\A\s*analysis(?=[A-Z\"'])")
"""How the thoughts of gpt-oss begin if a server has dropped the marks around `analysis`: `analysisWe ask`."""
_FINAL = "assistantfinal"
"""How its answer begins then."""
# Names that are like one of thoughts, though this version knows no block of that name.
_LIKE_THOUGHT = (
    r"(?:[\w:]{0,12}?(?:think|thought|reason|reflect|ponder|cogit|delib|monolog|scratch|contempl|musing"
    r"|introspect"
    r"|analy[sz]|brainstorm|planning|draft)[\w:]{0,20})"
)
_UNKNOWN = re.compile(
    # <planning>, and [planning] if [/planning] follows
    rf"\s*(?P<mark><({_LIKE_THOUGHT})>|\[({_LIKE_THOUGHT})\](?=[\s\S]*?\[/\3\])"
    # ◁musing▷, {{ musing }}, <|musing|>; but no mark of a chat template such as <|im_start|>
    r"|◁[^◁▷\n]{1,30}▷|\{\{ ?[a-z_]{3,30} ?\}\}"
    r"|<\|(?!(?:im_|start|end|eot|eom|begin_of_text|assistant|user|system|message|return|final|response"
    r"|python_tag|text|content)[\w]*\|>)[^|<>\n]{1,30}\|>)",
    re.I,
)
_HEADING = re.compile(
    r"[\s*#>_]{0,12}(?P<mark>(?:my |the )?(?:thinking(?: process| steps)?|thought process|thoughts?"
    r"|chain of thought"
    r"|internal monologue|inner monologue|scratch ?pad|reasoning trace)(?=[*_ ]{0,4}(?::|\n|\.\.\."
    r"|…))[*_ ]{0,4}:?)",
    re.I,
)
"""A heading in words with which thoughts begin, such as `**Thinking process:**`; a server may have dropped
the marks around `thought`."""
# **Final answer:**, ## Verdict
_ANSWER_HEADING = re.compile(
    r"^[\s*#>_]*(?:(?:my |the )?(?:final |actual )?(?:answer|response|output|reply|verdict|conclusion"
    r"|evaluation"
    r"|judge?ment|result)|final)[*_ ]{0,4}(?::[*_ ]{0,4}|\n)",
    re.I | re.M,
)
_RATED_LAST = re.compile(
    r"\n[\s>]*[*#_]+ ?(?:final |overall )?(?:rating|score|verdict|grade)[*_ ]{0,4}:[^\n?]{1,40}\Z", re.I
)
"""A rating in the markup of a heading, as the last line: `**Final rating:** 4`."""


class _Marks(NamedTuple):
    """The table of marks, ready to be used."""

    events: re.Pattern[str]
    """Every mark that begins or ends thoughts or reasons."""
    ends: Mapping[str, bool]
    """Marks that end thoughts, in small letters; whether one without a beginning says nothing."""
    begins: frozenset[str]
    answer: re.Pattern[str]
    """Marks around the answer."""
    headings: Sequence[tuple[str, str]]
    """Headings in words, in small letters, with the lines that end the thoughts."""


@functools.cache
def _marks() -> _Marks:
    import yaml

    table: Mapping[str, Any] = yaml.safe_load(_FILE.read_text("utf-8"))
    marks = table["marks"]

    # Marks by pattern, then those of the table: what begins and ends thoughts, and what is round an answer.
    names = f"(?:{_THINKING}|{_REASONS})"
    tags = [rf"{left}(?://? ?)?{names}{right}" for left, right in _SHAPES]
    tags.append(r"\[/?(?:think(?:ing)?|thoughts?)\]")  # [Analysis] is a heading
    literal = []
    around_answers: list[str] = []
    for mark in marks:
        literal += [re.escape(mark["begins"]), re.escape(mark["ends"])]
        around_answers += _answer_marks(mark)
    # Headings have marks round the answer, too, but these begin or end no block.
    around = list(around_answers)
    for heading in table["headings"]:
        around += _answer_marks(heading)

    ends = {each.lower(): True for each in around_answers}  # thoughts may end where the answer begins
    begins = set()
    for mark in marks:
        ends[mark["ends"].lower()] = mark.get("paired", False)
        begins.add(mark["begins"].lower())
    headings = []
    for heading in table["headings"]:
        headings.append((heading["begins"].lower(), heading["ends"].lower()))
    events = "|".join([*literal, *map(re.escape, around_answers), *tags])
    return _Marks(
        events=re.compile(events, re.I),
        ends=ends,
        begins=frozenset(begins),
        answer=re.compile("|".join(map(re.escape, around)), re.I),
        headings=headings,
    )


def _answer_marks(row: Mapping[str, str]) -> Sequence[str]:
    # Two marks with a space between them, or one such as `[END FINAL RESPONSE]`, which holds spaces.
    answer = row.get("answer", "")
    return [answer] if answer.startswith("[") else answer.split()


def without_reasoning(text: str) -> str | None:
    """The text outside the model's thoughts; None if they never end.

    The opening mark may be missing: some chat templates put it into the prompt. Blocks of reasons are cut as
    well; one that never ends is cut to the end of the text.
    """
    # Most answers hold no mark at all: two quick tests spare them the patterns.
    small = text.lower()
    if not any(stem in small for stem in _STEMS):
        return text
    shown = _final_channel(text)
    if shown is not None:
        shown = _below_heading(shown)
    if shown is None or _SIGNS.isdisjoint(shown):
        return shown
    return _outside(shown)


def unknown_mark(text: str) -> str | None:
    """The mark or heading with which a text opens that looks like one of thoughts and has no known end."""
    heading = _HEADING.match(text)
    if heading:
        return heading["mark"].strip(" *_")
    match = _UNKNOWN.match(text) if text.lstrip()[:1] in ("<", "[", "◁", "{") else None
    return match["mark"] if match else None


def _final_channel(text: str) -> str | None:
    """What gpt-oss says outside its channel of analysis; the text itself if it has no channels."""
    if _LOST_CHANNEL.match(text):
        return text.rpartition(_FINAL)[2] if _FINAL in text else None
    channels = list(_CHANNEL.finditer(text)) if "<|channel|>" in text else []
    if not channels:
        return text
    if channels[-1][1] != "final":  # it was cut off before it answered
        return None
    # Only the last channel is the answer; it ends with its own mark or with the text.
    return _CHANNEL_END.split(text[channels[-1].end() :])[0]


def _below_heading(text: str) -> str | None:
    """What stands below the thoughts that a heading in words opens; the text itself if none does."""
    small = text.lower()
    # A heading may stand in bold, in a quotation or behind the signs of a heading.
    opening = small.lstrip(" \n*#>_")[:60]
    for begins, ends in _marks().headings:
        if opening.startswith(begins):
            before, mark, _ = small.partition(ends)
            return text[len(before) + len(ends) :].lstrip(" *") if mark else None
    if _HEADING.match(text) is None:
        return text
    # The last heading of an answer: thoughts may weigh one answer after the other.
    answers = list(_ANSWER_HEADING.finditer(text))
    if answers:
        return text[answers[-1].start() :]
    last = _RATED_LAST.search(text.rstrip()) if text.lstrip()[:1] in "*#_" else None
    return text[last.start() :] if last else text


_MOST_MARKS = 10_000
"""Marks that are looked at, so that a text of any kind is read in well under a second. Chosen."""


@functools.lru_cache(maxsize=256)
def _event(mark: str) -> tuple[bool, str, bool]:
    """Whether a mark ends a block, what is in the block, and whether its end alone says nothing."""
    marks = _marks()
    named = mark not in marks.ends and mark not in marks.begins
    closes = mark in marks.ends or (named and _NAMED_CLOSING.match(mark) is not None)
    kind = "reasons" if named and _OF_REASONS.match(mark) else "thoughts"
    return closes, kind, marks.ends.get(mark, False)


def _outside(text: str) -> str | None:
    """The text outside of all blocks between marks; None if one of thoughts never ends."""
    marks = _marks()
    kept: list[str] = []  # the pieces outside of blocks
    start = 0  # behind the last mark
    inside = ""  # the kind of block that is open
    for mark in itertools.islice(marks.events.finditer(text), _MOST_MARKS):
        closes, kind, paired = _event(mark[0].lower())
        if paired and not inside:
            continue  # it ends nothing
        if not inside:
            kept.append(text[start : mark.start()])
            if closes:  # its beginning was in the prompt
                kept.clear()
        if kind == "thoughts" or inside != "thoughts":  # a block of reasons within thoughts does not end them
            inside = "" if closes else kind
        start = mark.end()
    if inside == "thoughts":
        return None
    if not inside:
        kept.append(text[start:])
    return marks.answer.sub("", "\n".join(kept))
