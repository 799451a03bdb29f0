"""A language model for tests: it reads the prompts of the perturbers and does what they say, by simple means.

It knows a prompt by the first words of its adjustment and finds the text between the tags. Like real models,
it sometimes puts something around its answer. What it does depends on the whole prompt, so that asked again
it does something else.
"""

import random
import re

from dhp.core.seeding import stream
from dhp.core.sentences import sentence_spans

_TEXT = re.compile(r"<(text(?:-\d+)?)>\n(.*?)\n</\1>", re.S)
_ADJUSTMENT = re.compile(r"Adjustment: ([^.]+)\.")
_NAME = r"(?:[^\W\d_a-z][\w-]*|\d[\d.,]*\d|\d)"
_RUN = re.compile(rf"(?<=[\w,;] ){_NAME}(?: {_NAME})*")
_NOUN = re.compile(
    r"\b(?:the|a|an|his|her|their|its) ([a-z]{3,})(?=[.,;]| (?:of|in|on|at|to|was|and|is|by|with|from)\b|$)"
)
_ERRORS = dict(
    pair.split(":")
    for pair in (
        "is:are are:is was:were were:was has:have have:has had:has in:on on:at at:in to:at by:from from:by "
        "with:from for:of of:for their:its its:their his:their her:their they:it it:they them:it who:which "
        "which:who this:these you:your the:a a:an came:come stopped:stop stayed:stay"
    ).split()
)
_TAG = re.compile(r"between the tags <([\w-]+)>")
_AROUND = (
    "{}",
    "{}",
    "Here is the revised text:\n\n{}",
    "```\n{}\n```",
    "<think>\nPerhaps <revised>this</revised>? No.\n</think>\n\n{}",
    "{}\n\nNote: I carried out the adjustment as described.",
)


def follow(prompt: str) -> str | None:
    """The answer of a model that does as it is told; None to what is no prompt of a perturber."""
    if "djustment" not in prompt:
        return None
    rng = stream("follow", prompt)
    if "Write the adjustment steps" in prompt:
        return "Here are the steps:\n\n1. Read the text.\n2. Make the adjustment.\n3. Check the rest."
    text = text_of(prompt)
    kind = _ADJUSTMENT.findall(prompt)[-1]
    count = int((re.findall(r"Number of \w+: (?:exactly|at least) (\d+)", prompt) or ["1"])[-1])
    changed = {
        "one fictional entity": lambda: _with_invented(text, 1, rng),
        "many fictional entities": lambda: _with_invented(text, 99, rng),
        "a few errors of grammar": lambda: _with_errors(text, count, rng),
        "many errors of grammar": lambda: _with_errors(text, count + 1, rng),
        "one sentence said twice": lambda: _with_rephrasings(text, 1, rng),
        "several sentences said twice": lambda: _with_rephrasings(text, count, rng),
    }[kind]()
    return rng.choice(_AROUND).format(tagged(prompt, changed))


def follow_plain(prompt: str) -> str | None:
    """As `follow`; where no tags are asked for the answer is the text, perhaps behind words of the prompt."""
    if _TAG.search(prompt):
        return follow(prompt)
    rng = stream("follow", prompt)
    around = rng.choice(("{}", "Revised Summary: {}", "<text>\n{}\n</text>", "<think>\nHm.\n</think>\n{}"))
    text = prompt.partition("Summary:\n\n")[2].rpartition("\n\nRevised Summary:")[0]
    return around.format(_with_invented(text, 1, rng))


def tagged(prompt: str, text: str) -> str:
    """The text between the tags that the prompt asks for."""
    (tag,) = set(_TAG.findall(prompt))
    return f"<{tag}>{text}</{tag}>"


def refuse(prompt: str) -> str:
    """The answer of a model that does not want to."""
    return "I'm sorry, but I can't help with changing this text."


def babble(prompt: str) -> str:
    """Nonsense of the length of the text."""
    rng = stream("babble", prompt)
    return tagged(prompt, " ".join(_invented("word", rng) for _ in text_of(prompt).split()) + ".")


def echo(prompt: str) -> str:
    """The text as it is."""
    return tagged(prompt, text_of(prompt))


def text_of(prompt: str) -> str:
    """The text that the prompt is about."""
    return str(_TEXT.findall(prompt)[-1][1])


def _invented(word: str, rng: random.Random) -> str:
    """A number for a number, a made-up name for a name, a made-up word for a word."""
    if word[0].isdigit():
        return "".join(rng.choice("123456789".replace(c, "")) if c.isdigit() else c for c in word)
    made = "".join(rng.choice("vzkrlm") + rng.choice("aoiu") for _ in range(2)) + rng.choice(
        ("rix", "lorn", "dax")
    )
    return made.capitalize() if word[0].isupper() else made


def _with_invented(text: str, count: int, rng: random.Random) -> str:
    runs = sorted({m.group() for m in _RUN.finditer(text)} - {"I"}) or sorted(set(_NOUN.findall(text)))
    first, *_, last = re.findall(r"\w+", text)
    runs = runs or [last if first in ("The", "This", "A", "He", "She", "It", "They") else first]
    chosen = rng.sample(runs, min(count, len(runs)))
    new = {word: _invented(word, rng) for run in chosen for word in run.split()}
    return re.sub(r"\d[\d.,]*\d|\d|[^\W\d_][\w-]*", lambda m: new.get(m.group(), m.group()), text)


def _with_errors(text: str, count: int, rng: random.Random) -> str:
    places = [m for m in re.finditer(r"(?<![\w'’-])[a-z]+(?![\w'’-])", text) if m.group() in _ERRORS]
    chosen = rng.sample(places, min(count, len(places)))
    for place in sorted(chosen, key=lambda m: -m.start()):
        text = text[: place.start()] + _ERRORS[place.group()] + text[place.end() :]
    return text


def _with_rephrasings(text: str, count: int, rng: random.Random) -> str:
    spans = sentence_spans(text)
    for start, end in sorted(rng.sample(spans, min(count, len(spans))), reverse=True):
        said = text[start:end].rstrip('.!?"”').split()
        half = len(said) // 2
        twice = f"In other words, {' '.join(said[half:]).rstrip(',;')}, {' '.join(said[:half]).rstrip(',;')}."
        text = f"{text[:end]} {twice}{text[end:]}"
    return text
