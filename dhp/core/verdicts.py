"""The words of verdicts: each is declared here once, with all that any output says or shows of it.

The two rules that give verdicts, and sentences that state one, import the constants. All other code asks a
word what it means (`is_noticed`, `is_false_alarm`, ...) and compares with none. So a new word is one more
constant: counts, headlines, tables, keys, colours and the schema of results follow.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, Self

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema

Subject = Literal["damage", "probe", "run"]
"""What a word is about: a kind of damage, a control or attack, or a judge as a whole."""
Standing = Literal["good", "weak", "open", "bad"]
"""What it means for the user of the judge; `open` is for what more examples would decide."""
Effect = Literal["", "lowers scores", "raises scores"]
"""What a change that must not move scores is shown to do."""
Side = Literal["", "above", "below"]
"""On which side of 50 % detection lies where a word is said; empty if on either."""
Shape = Literal["full", "hollow", "square"]
"""Form of the dot in charts, for readers who do not see its colour."""

VERDICTS: "dict[str, Verdict]" = {}
"""Every word, by itself; those of one subject from the best to the worst."""


class Verdict(str):
    """One word, which is a plain string wherever it is written to a file."""

    about: Subject
    """What it is said of."""
    standing: Standing
    """Whether that is good or bad."""
    sign: str = ""
    """One character before a figure; empty for words that stand in full."""
    shape: Shape = "full"
    """Form of its dot in charts."""
    style: str = ""
    """Style in a terminal, as `rich` reads it; empty for plain text."""
    fill: tuple[str, str] = ("#eceef1", "#262b32")
    """Colour of areas on pages, on a light and on a dark ground."""
    mark: tuple[str, str] = ("#5d646e", "#a8aeb8")
    """Colour of text and marks, in the same way."""
    phrase: str
    """The part of a sentence about a judge, with `{}` for what the word is said of."""
    explanation: str = ""
    """Its meaning in a key, with `{floor}` for the lowest detection of noticed damage; may be empty."""
    caution: str = ""
    """A sentence on what a judge should not be used for, with `{}` as in `phrase`; empty without any."""
    may_change: bool = False
    """Whether further examples may turn it into noticed or missed damage."""
    like_edits: bool = False
    """Whether scores fall, but perhaps no more than under harmless edits."""
    untested: bool = False
    """Whether there were too few pairs for any test."""
    effect: Effect = ""
    """What a control or attack does that it must not do."""
    side: Side = ""
    """Where detection lies, so that no figure contradicts the word beside it."""

    def __new__(cls, word: str, **properties: Any) -> Self:
        # No dataclass: `asdict` of a result would write it as a mapping, and not as a word.
        made = super().__new__(cls, word)
        for name, value in properties.items():
            if name not in cls.__annotations__:
                raise TypeError(f"verdict '{word}' has no property '{name}'")
            setattr(made, name, value)
        VERDICTS[word] = made
        return made

    @property
    def rank(self) -> int:
        """Place among the words, lower is better; compare it among words of one subject."""
        # In the order in which the constants below are declared.
        return list(VERDICTS).index(self)

    @property
    def is_noticed(self) -> bool:
        """Whether damage is noticed."""
        return self.about == "damage" and self.is_good

    @property
    def is_false_alarm(self) -> bool:
        """Whether a change that must not count is shown to lower scores as damage does."""
        return self.is_bad and self.effect == "lowers scores"

    @property
    def is_raised(self) -> bool:
        """Whether a change that must not count is shown to raise scores."""
        return self.is_bad and self.effect == "raises scores"

    @property
    def is_weak(self) -> bool:
        """Whether it lies between good and bad, and further examples are not what is missing."""
        return self.standing == "weak"

    @property
    def is_good(self) -> bool:
        """Whether the judge did what it should."""
        return self.standing == "good"

    @property
    def is_bad(self) -> bool:
        """Whether it is shown that the judge did not do what it should."""
        return self.standing == "bad"

    @property
    def is_open(self) -> bool:
        """Whether more examples would decide."""
        return self.standing == "open"

    def is_said_with(self, other: "Verdict") -> bool:
        """Whether a sentence may name both in one breath: words for noticed damage, or the same word."""
        return self is other or (self.is_noticed and other.is_noticed)

    @property
    def css(self) -> str:
        """Its class on pages."""
        return self.replace(" ", "-")

    @property
    def signed(self) -> str:
        """The word after its sign."""
        return f"{self.sign} {self}".lstrip()

    def __reduce__(self) -> tuple[Any, ...]:
        # In another process it is the same object again, so that `is` holds.
        return verdict_of, (str(self),)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: "GetCoreSchemaHandler") -> "CoreSchema":
        # The schema of results files lists the words, and what is read is the constant.
        from pydantic_core import core_schema

        return core_schema.no_info_after_validator_function(
            verdict_of, core_schema.literal_schema(list(VERDICTS))
        )


def verdict_of(word: str) -> Verdict:
    """The verdict that a word is; raises `KeyError` for any other word."""
    return VERDICTS[word]


def verdicts_about(subject: Subject) -> list[Verdict]:
    """All words on a subject, from the best to the worst."""
    return [each for each in VERDICTS.values() if each.about == subject]


def in_sentence(subject: Subject) -> list[Verdict]:
    """The words on a subject in the order of a sentence: what is good, then the worst first."""
    words = verdicts_about(subject)
    good = [word for word in words if word.is_good]
    # From the best to the worst, and so turned round for the worst to come first.
    others = [word for word in words if not word.is_good]
    return good + others[::-1]


def foremost(states: Iterable[Verdict]) -> Verdict:
    """Of several verdicts on one kind, at least one, that by which it is named.

    What is shown to be bad comes before what is good, and both before all else; of equals the worst is taken.
    """

    def order(word: Verdict) -> tuple[bool, bool, int]:
        # False comes before True.
        return not word.is_bad, not word.is_good, -word.rank

    return min(states, key=order)


_RED = ("#f6ccc4", "#5d221d"), ("#b3261e", "#ff8a80")
_PALE = ("#e6eff0", "#1d3236"), ("#4a7079", "#9cc3cb")
_ALARM: dict[str, Any] = {"shape": "square", "style": "bold red", "fill": _RED[0], "mark": _RED[1]}
"""The look of what is bad in a judge whatever the damage."""

NOTICED = Verdict(
    "noticed",
    about="damage",
    standing="good",
    sign="●",
    style="green",
    fill=("#d3e7ec", "#123e49"),
    mark=("#0f5f73", "#67c6dd"),
    phrase="notices {}",
    side="above",
)
UNDECIDED = Verdict(
    "undecided",
    about="damage",
    standing="open",
    sign="◐",
    shape="hollow",
    phrase="undecided on {}",
    explanation="more examples decide",
    may_change=True,
    caution="Nothing is known yet of {}: test it on more examples.",
)
NOT_PROVEN_YET = "{} not proven yet"
"""Phrase for what is undecided with a figure at the floor or above."""
NOT_NOTICED_SO_FAR = "{} not noticed so far"
"""Phrase for what is undecided with a figure below the floor."""
FAINT = Verdict(
    "faint",
    about="damage",
    standing="weak",
    sign="◔",
    style="yellow",
    fill=_PALE[0],
    mark=_PALE[1],
    phrase="faint on {}",
    may_change=True,
    explanation="seen, in too few pairs to count on, with a floor of {floor}",
    caution="Do not rely on it if texts may suffer from {}: it seldom notices this.",
    side="above",
)
AS_HARMLESS_EDITS = Verdict(
    "as harmless edits",
    about="damage",
    standing="weak",
    sign="≈",
    style="magenta",
    fill=("#ece2f2", "#38283f"),
    mark=("#6d3f88", "#cfa6e3"),
    phrase="notices {} no more than harmless edits",
    like_edits=True,
    explanation="by the same metric, perhaps no more often than harmless edits",
    caution="Do not rely on it if texts may suffer from {}: its scores fall as much for harmless edits.",
    side="above",
)
MISSED = Verdict(
    "missed",
    about="damage",
    standing="bad",
    sign="○",
    shape="hollow",
    style="red",
    fill=("#fbe2c6", "#4b3414"),
    mark=("#9a4c05", "#f0b060"),
    phrase="misses {}",
    explanation="below the floor of {floor}",
    caution="Do not rely on it if texts may suffer from {}: it misses this.",
)
PREFERRED = Verdict(
    "preferred",
    about="damage",
    standing="bad",
    sign="▼",
    **_ALARM,
    phrase="prefers texts damaged by {}",
    explanation="the damaged text got the higher score",
    caution="Do not rely on it if texts may suffer from {}: it prefers such texts.",
    side="below",
)

STILL = Verdict(
    "still",
    about="probe",
    standing="good",
    phrase="scores stay under {}",
    explanation="harmless edits leave the scores as they are",
)
MOVES_A_LITTLE = Verdict(
    "moves a little",
    about="probe",
    standing="weak",
    fill=_PALE[0],
    mark=_PALE[1],
    phrase="moves a little with {}",
    explanation="by less than a tenth of the drop of the mildest noticed damage",
)
NOT_TESTED = Verdict(
    "not tested",
    about="probe",
    standing="open",
    shape="hollow",
    phrase="{} not tested",
    untested=True,
    explanation="too few pairs",
)
NOT_DECIDED = Verdict(
    "not decided",
    about="probe",
    standing="open",
    shape="hollow",
    phrase="not decided on {}",
    explanation="more examples decide",
)
PREFERS_EDITS = Verdict(
    "prefers edits",
    about="probe",
    standing="bad",
    sign="!",
    **_ALARM,
    phrase="prefers {}",
    effect="raises scores",
    explanation="harmless edits raise the score",
    caution="Do not compare texts that differ in form alone: it prefers {}.",
    side="below",
)
RAISED = Verdict(
    "raised",
    about="probe",
    standing="bad",
    sign="!",
    **_ALARM,
    phrase="scores rise with {}",
    effect="raises scores",
    explanation="an attack raises the score",
    caution="Do not use it if writers know of it: its scores are raised by {}.",
    side="below",
)
FALSE_ALARM = Verdict(
    "false alarm",
    about="probe",
    standing="bad",
    sign="!",
    **_ALARM,
    phrase="false alarm on {}",
    effect="lowers scores",
    explanation="harmless edits lower the score",
    caution="Do not compare texts that differ in form alone: false alarm on {}.",
    side="above",
)

MUTE = Verdict(
    "mute",
    about="run",
    standing="bad",
    **_ALARM,
    phrase="mute: {}",
    explanation="more than half of its answers about originals, or about damaged texts, have no score",
    caution="Do not use it before it answers: {}.",
)
BLIND = Verdict(
    "blind",
    about="run",
    standing="bad",
    **_ALARM,
    phrase="blind: no score of {} moved",
    explanation="no score of any text moved",
    caution="Do not use it: no score of {} moved.",
)
