"""A pairwise verdict read from an answer's words: which of the two texts shown is better."""

import functools
import re
from collections.abc import Iterator, Sequence

from dhp.core.protocol_spec import AnswerForm
from dhp.core.specs import Scale
from dhp.core.text import holds_refusal, without_reasoning
from dhp.judge.extraction.numbers import FRACTION, TOKEN, clean, rewritten, shortened, value_on, with_tokens
from dhp.judge.extraction.rating import letter_masses
from dhp.judge.extraction.rules import UNPARSED, Extracted, Mention
from dhp.llm.records import Position

TEN = Scale(min=1.0, max=10.0)

_NOUN = (
    r"(?:outputs?|responses?|assistants?|answers?|repl(?:y|ies)|summar(?:y|ies)|texts?|models?|candidates?"
    r"|options?|systems?|stor(?:y|ies)|translations?|versions?|choices?)"
)
_OPTION = (
    rf"(?:\b{_NOUN} [\"'(\[]{{0,2}}([ab12])(?![A-Za-z\d])[\"')\]]{{0,2}}|[(\[\"']([ab])[)\]\"']"
    r"|(?-i:(?<![A-Za-z\d])([AB])(?![A-Za-z\d'])))"
)
"""One of the two: `Output (a)`, `response 2`, `(b)`, `A`."""
_TIE = (
    r"(?:\b(?:an? )?(?:ties?|tied|draw)\b|\bno (?:clear )?(?:winner|preference)\b"
    r"|\bneither (?:\w{1,20} ){0,4}is better\b|平局|平手|不相上下|难分高下)"
)
_ALIKE = (
    r"(?:\b(?:both|the two|they)\b[^.\n]{0,60}\b(?:equal(?:ly)?|comparable)\b"
    r"|\bequally (?:good|bad|well|strong|helpful)\b|一样好)"
)
_IS = r"(?:'s| is| are| was| would be| seems| appears to be)"
_ADVERBS = (
    r"(?: (?:clearly|slightly|much|far|overall|therefore|thus|indeed|an?|the|marginally|significantly"
    r"|somewhat|generally|definitely|arguably|still|more)){0,3}"
)
_BETTER = (
    r" (?:better|best|superior|prefer(?:able|red)|stronger|winner|favou?red|chosen|more (?:accurate|helpful"
    r"|relevant|appropriate|suitable|correct|coherent|fluent|faithful))\b(?! if\b)"
)
_LABEL = (
    r"(?:\b(?:verdict|answer|choice|winner|preference|decision|judge?ment|conclusion|selection"
    rf"|(?:better|best)(?: (?:one|{_NOUN}))?)|答案|选择|结论|更好的|胜者)"
)
_CHOOSES = r"(?:choose|prefer|pick|select|favou?r|(?:would )?go with|vote for)"

_RULES = (
    (0, "bracketed", r"\[\[ ?(?:([AB12])|(?:C|tie)) ?\]\]"),
    (
        1,
        "labelled",
        rf"{_LABEL}[\"']? ?(?:(?:is|would be|是|为) ?:?|[:=]) ?[\"'(\[]{{0,2}}(?:{_OPTION}|{_TIE})",
    ),
    (1, "stated", rf"{_OPTION}{_IS}{_ADVERBS}{_BETTER}"),
    (1, "stated", rf"{_OPTION} (?:(?:clearly|narrowly|easily) )?(?:wins|beats|outperforms|surpasses)\b"),
    (1, "stated", rf"\b(?:I|we)(?:'d| would| will)? {_CHOOSES} {_OPTION}"),
    (1, "stated", rf"\b(?:in favou?r of|preference (?:for|goes to)) {_OPTION}"),
    (1, "stated", r"([AB])[\"')]? ?(?:的回答|的文本)?(?:明显|略|稍)?(?:更好|更优|较好|胜出|获胜|更佳)"),
    (1, "tie", rf"\b(?:it(?:'s| is)|this is|they are|result is|call it|declare) {_TIE}|{_TIE}\W*\Z"),
    (2, "worse", rf"{_OPTION}{_IS}{_ADVERBS} (?:worse|inferior|weaker)\b"),
    (2, "tie", _ALIKE),
)
"""Tier, name and pattern, most explicit first. A rule without a group that matched says that it is a tie."""
_ALONE = rf"[\s>#\"'(-]{{0,6}}(?:{_OPTION}|([12])|(?:{_TIE}|C\b))"
_OPENING = rf"\A{_ALONE}(?=[\s)\"']{{0,3}}(?:\Z|\n|[.:,;] ?|- | because\b| since\b| as\b))"
_ENDING = rf"^{_ALONE}[\s.!)\"']{{0,6}}\Z"
_IN_DOUBT = re.compile(r"(?:\b(?:whether|if|why|how|not|never|unless)|n't)(?: [a-z]{1,15}){0,2} $", re.I)


@functools.cache
def _rules(form: AnswerForm) -> tuple[tuple[int, str, re.Pattern[str]], ...]:
    """Compiled when first needed."""
    alone = _ENDING if form == "reason-first" else _OPENING
    return tuple((t, name, re.compile(p, re.I | re.M)) for t, name, p in (*_RULES, (1, "alone", alone)))


def _mentions(text: str, form: AnswerForm) -> Iterator[Mention]:
    for tier, rule, pattern in _rules(form):
        for match in pattern.finditer(text):
            if rule in ("stated", "worse") and _IN_DOUBT.search(
                text, max(0, match.start() - 40), match.start()
            ):
                continue
            named = next((group for group in match.groups() if group), None)
            score = 0 if named is None else 1 if named in "aA1" else -1
            yield Mention(tier, match.start(), str(-score if rule == "worse" else score), rule)


def read_verdict(answer: str, form: AnswerForm, *, scale: Scale = TEN) -> Extracted:
    """Which text an answer says is better: 1 the one shown first, -1 the second, 0 a tie. Never raises.

    Of several equally explicit verdicts the last counts in `reason-first` and the first in `reason-last`; in
    `bare` they are contradictory. `scale` is that of the scores in `two-scores`.
    """
    words = without_reasoning(answer)
    if words is None:
        return UNPARSED
    words = clean(shortened(words))
    if form == "two-scores":
        return _from_scores(words, scale)
    found = list(_mentions(words, form))
    tier = min((f.tier for f in found), default=0)
    found = sorted((f for f in found if f.tier == tier), key=lambda f: f.start)
    if not found:
        return Extracted("refused") if holds_refusal(words) else UNPARSED
    if form == "bare" and len({f.value for f in found}) > 1:
        return Extracted("contradictory")
    chosen = found[-1 if form == "reason-first" else 0]
    return Extracted("scored", float(chosen.value), chosen.rule)


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


def _from_scores(words: str, scale: Scale) -> Extracted:
    """The choice by the two scores in the first line that holds a number."""
    words = re.sub(rf"\b{_NOUN} [\"'(]?[ab12]\b[\"')]?", "", words, flags=re.I)
    text = rewritten(with_tokens(words), (FRACTION,))
    line = next((line for line in text.splitlines() if "⟦" in line), "")
    values = [value_on(value, scale.max) for value in re.findall(TOKEN, line)]
    if len(values) != 2 or None in values:
        return Extracted("refused") if not values and holds_refusal(words) else UNPARSED
    first, second = (value for value in values if value is not None)
    if not (scale.min <= first <= scale.max and scale.min <= second <= scale.max):
        return Extracted("out_of_scale")
    return Extracted("scored", _better(first, second), "two-scores", scores=(first, second))
