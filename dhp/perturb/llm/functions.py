"""Perturbers that are functions which ask the perturb model.

A function is called until it asks what is not known; when the answers to the questions of all examples are
there, it is called again, from its beginning. So the questions of a round are asked side by side,
or answered later, as others are, and a stored answer is an answer.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from dhp.core.diff import audit
from dhp.core.errors import InputError, NotApplicable
from dhp.core.reasoning import without_reasoning
from dhp.core.records import Example, PerturbedText, Variant
from dhp.llm.cached_model import CachedModel
from dhp.llm.records import FINISHES, Failure, Params, Reply, Request, estimated_tokens
from dhp.loaders.dataset import Dataset
from dhp.perturb.api import Perturber
from dhp.perturb.apply import Others, RulesApplied

MOST = 32
"""Questions that a function may ask for one text: chosen. One that never ends would cost without end."""


class _Unknown(BaseException):
    """A question whose answer is not known.

    No `Exception`, so that a function which catches these does not take it for a fault of the model.
    """

    def __init__(self, request: Request) -> None:
        super().__init__()
        self.request = request


@dataclass(slots=True)
class Asked:
    """What the function has asked for one example, with the answers; the `AskedModel` that it gets."""

    example: Example
    variant: Variant
    max_tokens: int | None
    answers: list[tuple[Request, Reply | Failure]] = field(default_factory=list)
    """In the order of the questions."""
    place: int = 0
    """Number of questions in the present call of the function."""

    def ask(self, prompt: str, max_tokens: int | None = None) -> str:
        """See `AskedModel.ask`."""
        if not isinstance(prompt, str) or not prompt.strip():
            raise InputError(f"model.ask: the prompt is {prompt!r}; allowed: a text")
        if self.place == MOST:
            raise InputError(f"model.ask: more than {MOST} questions for one text")
        request = self._request(prompt, max_tokens)
        if self.place == len(self.answers):
            raise _Unknown(request)
        before, outcome = self.answers[self.place]
        if before.prompt != prompt:
            raise InputError("asks something else when it is called again; allowed: no chance but `rng`")
        self.place += 1
        if isinstance(outcome, Failure):
            raise NotApplicable(f"the call was rejected: {outcome.reason}")
        text = (without_reasoning(outcome.text) or "").strip()
        if outcome.finish in FINISHES or not text:
            raise NotApplicable(FINISHES.get(outcome.finish, "the answer is empty"))
        return text

    def _request(self, prompt: str, max_tokens: int | None) -> Request:
        room = max_tokens or self.max_tokens or answer_room(self.example)
        # The same prompt once more is another sample: how often was it asked before?
        before = [request for request, _ in self.answers[: self.place] if request.prompt == prompt]
        place = f"example '{self.example.id}', variant '{self.variant.name}'"
        params = Params(temperature=None, top_p=None, max_tokens=room)
        return Request(prompt, params, (len(before),), place, group=self.variant.name, tag=self.example)


def answer_room(example: Example) -> int:
    """Most tokens of an answer, if nobody says: twice those of the text, and some for a short one."""
    return 256 + 2 * round(estimated_tokens(example.output))


def function_texts(
    dataset: Dataset,
    variant: Variant,
    perturbers: Mapping[str, Perturber],
    seed: int,
    max_tokens: int | None = None,
) -> "FunctionTexts | None":
    """What makes the texts of a variant of a dataset, if that is a function which asks the perturb model."""
    perturber = perturbers[variant.perturber]
    if not perturber.asks:
        return None
    others = Others(dataset.changeable_pool if perturber.wants("others") else (), seed, dataset.name)
    work = RulesApplied((variant,), perturbers, dataset.name, seed, others, dataset.split)
    return FunctionTexts(work, max_tokens)


@dataclass(frozen=True, slots=True)
class FunctionTexts:
    """The texts of one variant that a function makes of examples."""

    work: RulesApplied
    """The variant, its perturber, and what functions get."""
    max_tokens: int | None = None
    """Most tokens of an answer, if the function does not say."""

    @property
    def variant(self) -> Variant:
        """The variant."""
        return self.work.variants[0]

    @property
    def perturber(self) -> Perturber:
        """The function."""
        return self.work.perturbers[self.variant.perturber]

    def made(
        self,
        model: CachedModel,
        examples: Sequence[Example],
        show: Callable[[int], None] = lambda done: None,
    ) -> tuple[dict[str, PerturbedText], dict[str, tuple[Request, str]]]:
        """Example -> its text, or why there is none; and what was not answered, with why.

        Raises what `RulesApplied.texts` and `CachedModel.ask` raise.
        """
        made: dict[str, PerturbedText] = {}
        unanswered: dict[str, tuple[Request, str]] = {}
        open_ones = [Asked(example, self.variant, self.max_tokens) for example in examples]
        while open_ones:
            questions: list[tuple[Request, Asked]] = []
            for asked in open_ones:
                outcome = self._called(asked)
                if isinstance(outcome, PerturbedText):
                    made[asked.example.id] = outcome
                    show(len(made))
                else:
                    questions.append((outcome, asked))
            open_ones = self._answered(model, questions, unanswered)
        return made, unanswered

    def _called(self, asked: Asked) -> PerturbedText | Request:
        """The text, or the next question."""
        asked.place, example, name = 0, asked.example, self.variant.name
        try:
            changed = self.work.changed(example, self.variant, self.perturber, self.perturber.wanted, asked)
        except _Unknown as unknown:
            return unknown.request
        except NotApplicable as reason:
            return PerturbedText(example.id, name, None, reason=str(reason))
        return PerturbedText(example.id, name, changed[0], audit=audit(example.output, *changed))

    def _answered(
        self,
        model: CachedModel,
        questions: Sequence[tuple[Request, Asked]],
        unanswered: dict[str, tuple[Request, str]],
    ) -> list[Asked]:
        """Ask all questions; those whose answer came, in their order."""
        if not questions:
            return []
        by_example = {asked.example.id: (request, asked) for request, asked in questions}
        answered: set[str] = set()
        for request, outcomes in model.ask([request for request, _ in questions]):
            assert isinstance(request.tag, Example)
            name = request.tag.id
            first, asked = by_example[name]
            (outcome,) = outcomes.values()
            if isinstance(outcome, Failure) and outcome.passing:
                unanswered[name] = first, outcome.reason
            else:
                asked.answers.append((first, outcome))
                answered.add(name)
        return [asked for _, asked in questions if asked.example.id in answered]
