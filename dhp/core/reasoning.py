"""What a model thinks before it answers: found by its marks, and cut before an answer is read."""

import re

_THINKING = (
    r"(?:seed:|ant:?)?(?:think(?:ing)?|thoughts?|reasoning(?:[_ ]content)?|scratch[_ ]?pad|reflections?"
    r"|analysis|inner[_ ]monologue|chain[_ ]of[_ ]thought|cot|internal)"
)
"""Names of blocks of thoughts, in any case."""
_REASONS = r"(?:reasons?|explanation|rationale|justification|critique|feedback|comments?)"
"""Names of blocks that tell the reasons of an answer; one that never ends leaves what stands before it."""
_SHAPES = (
    (r"< ?", r"(?:\s[^<>]{0,200})?\s?>"),
    (r"◁", r"▷"),
    (r"<\|(?:begin_of_|start_|end_of_|end_)?", r"\|>"),
    (r"\{\{ ?", r" ?\}\}"),
)
"""What stands before the name of a block and behind it; a slash before the name ends the block."""


_STEMS = (
    "think thought reason scratch reflection analysis monologue chain cot internal explanation rationale"
    " justification critique feedback comment channel"
).split()
"""Without any of these there is no mark."""
_ANY = re.compile(
    "|".join(
        (
            *(rf"{left}(?:/ ?)?(?:{_THINKING}|{_REASONS}){right}" for left, right in _SHAPES),
            r"\[/?(?:think(?:ing)?|thoughts?)\]",  # [Analysis] is a heading
        )
    ),
    re.I,
)
_CLOSING = re.compile(r".{1,2}\s?/|<\|end_", re.I | re.S)
_OF_REASONS = re.compile(rf"[^\w]{{0,5}}(?:begin_of_|start_|end_of_|end_)?{_REASONS}\b", re.I)
_CHANNEL = re.compile(r"(?:<\|start\|>assistant)?<\|channel\|>\s*(\w+)[^<]{0,80}<\|message\|>")
_CHANNEL_END = re.compile(r"<\|(?:end|return|start)\|>")
_LOST_CHANNEL = re.compile(r"\A\s*analysis(?=[A-Z\"'])")
"""How the thoughts of gpt-oss begin if a server has dropped the marks around `analysis`."""
_FINAL = "assistantfinal"
_LIKE_THOUGHT = (
    r"(?:[\w:]{0,12}?(?:think|thought|reason|reflect|ponder|cogit|delib|monolog|scratch|contempl|musing"
    r"|introspect"
    r"|analy[sz]|brainstorm|planning|draft)[\w:]{0,20})"
)
_UNKNOWN = re.compile(
    rf"\s*(?P<mark><({_LIKE_THOUGHT})>(?=[\s\S]*?</\2>)|\[({_LIKE_THOUGHT})\](?=[\s\S]*?\[/\3\])"
    r"|◁[^◁▷\n]{1,30}▷|\{\{ ?[a-z_]{3,30} ?\}\}"
    r"|<\|(?!(?:im_|start|end|eot|eom|begin_of_text|assistant|user|system|message|return|final|response"
    r"|python_tag|text|content)[\w]*\|>)[^|<>\n]{1,30}\|>)",
    re.I,
)


def without_reasoning(text: str) -> str | None:
    """The text outside the model's thoughts; None if they never end.

    The opening mark may be missing: some chat templates put it into the prompt. Blocks of reasons are cut as
    well; one that never ends is cut to the end of the text.
    """
    small = text.lower()
    if not any(stem in small for stem in _STEMS):
        return text
    shown = _final_channel(text)
    return None if shown is None else _outside(shown)


def unknown_mark(text: str) -> str | None:
    """The mark at the beginning of a text that looks like one of thoughts, and is not known."""
    match = _UNKNOWN.match(text) if text.lstrip()[:1] in ("<", "[", "◁", "{") else None
    return match["mark"] if match else None


def _final_channel(text: str) -> str | None:
    """What gpt-oss says outside its channel of analysis; the text itself if it has no channels."""
    if _LOST_CHANNEL.match(text):
        return text.rpartition(_FINAL)[2] if _FINAL in text else None
    channels = list(_CHANNEL.finditer(text))
    if not channels:
        return text
    if channels[-1][1] != "final":
        return None
    return _CHANNEL_END.split(text[channels[-1].end() :])[0]


def _outside(text: str) -> str | None:
    kept: list[str] = []
    start, inside = 0, ""
    for mark in _ANY.finditer(text):
        closes = _CLOSING.match(mark[0]) is not None
        kind = "reasons" if _OF_REASONS.match(mark[0]) else "thoughts"
        if not inside:
            kept.append(text[start : mark.start()])
            if closes:  # its beginning was in the prompt
                kept.clear()
        if kind == "thoughts" or inside != "thoughts":
            inside = "" if closes else kind
        start = mark.end()
    if inside == "thoughts":
        return None
    if not inside:
        kept.append(text[start:])
    return "\n".join(kept) if len(kept) > 1 else "".join(kept)
