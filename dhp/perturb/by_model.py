"""Degraded texts by a language model: each answer is checked before it counts, a failing one asked again."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from dhp.edits import audit
from dhp.errors import InputError
from dhp.llm import Answer, Asker, Failure, Params, Request, estimated_tokens
from dhp.perturb.acceptance import fault
from dhp.perturb.answers import cleaned
from dhp.perturb.api import count_or_all
from dhp.perturb.prompts import AgainPrompt, PerturbPrompt, StepsPrompt, again, asks_for_steps, prompt_name
from dhp.perturb.prompts import written as written_prompt
from dhp.records import Example, PerturbedText, Variant
from dhp.text import numbered_steps

TRIES = 4
"""Times that a text is asked for at most."""
_STEPS_TOKENS = 1024
_CUT_OFF = "the answer was cut off; --perturb-tokens allows longer ones"
_REFUSED = "the model refused"
_FINISHES: Mapping[str, str] = {
    "length": _CUT_OFF,
    "content_filter": _REFUSED,
    "tool_calls": "a tool call instead of a text",
}


class PromptReader(Protocol):
    """Reads the prompts of the perturbers by language model."""

    def __call__(self, task: str, name: str) -> PerturbPrompt:
        """The prompt for a task; `name` is that of the variant. Raises `InputError` where there is none."""
        ...


class ByModel:
    """A language model that degrades texts.

    Parameters
    ----------
    asker
        Asks the model.
    prompts, again
        The prompts, and what is asked where an answer does not count.
    steps
        How to ask the model for adjustment steps of its own; None takes the written ones.
    max_tokens
        Most tokens of one answer; None reckons with twice the length of the text.
    """

    def __init__(
        self,
        asker: Asker,
        prompts: PromptReader,
        again: AgainPrompt,
        *,
        steps: StepsPrompt | None = None,
        max_tokens: int | None = None,
    ) -> None:
        self.asker = asker
        self._prompts = prompts
        self._again = again
        self._steps = steps
        self._max_tokens = max_tokens
        self.auto_steps: dict[str, dict[str, list[str]]] = {}
        """Task -> variant -> steps that the model wrote, as far as it was asked."""

    def check(self, variants: Iterable[Variant], task: str) -> None:
        """Raise `InputError` where a prompt of these variants is missing or faulty, or a count is."""
        for variant in variants:
            if variant.method == "llm":
                _count(variant)
                self._prompts(task, prompt_name(variant.perturber, variant.degree))

    def perturb(
        self,
        examples: Sequence[Example],
        variant: Variant,
        task: str,
        show: Callable[[int], None] = lambda done: None,
    ) -> list[PerturbedText]:
        """Degrade every example, in their order; `show` is told how many texts are there.

        A text that fails its check is asked for again with the reason, `TRIES` times in all; after that the
        variant is not applicable to the example.

        Raises
        ------
        InputError
            If no text at all passes the check under a variant, or the model cannot be asked.
        StoppedEarly
            At a limit; see `Asker.ask`.
        """
        made = self.tried(examples, variant, task, show)
        if all(text.text is None for text in made):
            reasons = Counter(reason for text in made for reason in text.rejected)
            shown = ", ".join(f"{reason} ({count})" for reason, count in reasons.most_common(3))
            raise InputError(
                f"perturber '{variant.name}': none of {reasons.total()} answers of {self.asker.model.model} "
                f"passed the check: {shown}; allowed: another --perturb-model"
            )
        return made

    def tried(
        self,
        examples: Sequence[Example],
        variant: Variant,
        task: str,
        show: Callable[[int], None] = lambda done: None,
    ) -> list[PerturbedText]:
        """As `perturb`, even if there is no text at all."""
        made = self._checked(list(self.requests(examples, [variant], task)), variant, show)
        return [made[example.id] for example in examples]

    def requests(
        self, examples: Sequence[Example], variants: Iterable[Variant], task: str
    ) -> Iterator[Request]:
        """What is asked first, before any answer is checked."""
        for variant in variants:
            name = prompt_name(variant.perturber, variant.degree)
            prompt = self._prompts(task, name)
            count = _count(variant)
            steps = self._written_by_model(task, name, prompt) if self._steps else prompt.steps
            for example in examples:
                yield Request(
                    written_prompt(prompt, example, count, steps),
                    self._params(example.output),
                    (0,),
                    f"example '{example.id}', variant '{variant.name}'",
                    group=variant.name,
                    tag=example,
                )

    def _params(self, text: str) -> Params:
        most = self._max_tokens or 256 + 2 * round(estimated_tokens(text))
        return Params(temperature=None, top_p=None, max_tokens=most)

    def _written_by_model(self, task: str, name: str, prompt: PerturbPrompt) -> Sequence[str]:
        known = self.auto_steps.setdefault(task, {})
        if name not in known:
            assert self._steps is not None
            params = Params(temperature=None, top_p=None, max_tokens=self._max_tokens or _STEPS_TOKENS)
            asked = Request(
                asks_for_steps(self._steps, prompt), params, (0,), f"adjustment steps of '{name}'"
            )
            (answer,) = self.asker.ask([asked])
            outcome = answer.outcomes[0]
            steps = [] if isinstance(outcome, Failure) else numbered_steps(outcome.text)
            if not steps:
                why = outcome.reason if isinstance(outcome, Failure) else "the answer is no list of steps"
                raise InputError(
                    f"{self.asker.model.model}: {asked.place}: {why}; allowed: --perturb-steps written"
                )
            known[name] = steps
        return known[name]

    def _checked(
        self, requests: Sequence[Request], variant: Variant, show: Callable[[int], None]
    ) -> dict[str, PerturbedText]:
        """Example -> its text, or why there is none after all tries."""
        made: dict[str, PerturbedText] = {}
        rejected: dict[str, tuple[str, ...]] = {}
        first = {_example(request).id: request for request in requests}
        asked = list(requests)
        for _ in range(TRIES):
            failed: dict[str, Request] = {}
            self.asker.tick = lambda: show(len(made))
            for answer in self.asker.ask(asked):
                example = _example(answer.request)
                text, reason = _read(answer, variant)
                before = rejected.get(example.id, ())
                if reason is None:
                    made[example.id] = PerturbedText(
                        example.id, variant.name, text, audit=audit(example.output, text), rejected=before
                    )
                    show(len(made))
                    continue
                rejected[example.id] = (*before, reason)
                request = first[example.id]
                prompt = again(self._again, request.prompt, text, reason) if text else request.prompt
                failed[example.id] = Request(
                    prompt, request.params, (len(before) + 1,), request.place, request.group, example
                )
            asked = [failed[name] for name in first if name in failed]
            if not asked:
                break
        for request in asked:
            name = _example(request).id
            reasons = rejected[name]
            made[name] = PerturbedText(name, variant.name, None, reason=reasons[-1], rejected=reasons)
        return made


def _example(request: Request) -> Example:
    assert isinstance(request.tag, Example)
    return request.tag


def _read(answer: Answer, variant: Variant) -> tuple[str, str | None]:
    """The text of an answer, and why it does not count."""
    (outcome,) = answer.outcomes.values()
    if isinstance(outcome, Failure):
        return "", f"the call failed: {outcome.reason}"
    example = _example(answer.request)
    text = cleaned(outcome.text, example.output)
    if outcome.finish in _FINISHES:
        return text, _FINISHES[outcome.finish]
    others = (example.source, *example.fields.values())
    return text, fault(variant.perturber, example.output, text, _count(variant), others)


def _count(variant: Variant) -> int | str:
    try:
        return count_or_all(variant.params.get("count", "all"))
    except InputError as e:
        raise InputError(f"perturber '{variant.name}': {e}") from None
