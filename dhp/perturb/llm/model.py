"""Degraded texts by a language model, with checks and repeated attempts."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Protocol

from dhp.core.diff import audit
from dhp.core.errors import InputError, StoppedEarly, Waiting
from dhp.core.records import Example, PerturbedText, Variant
from dhp.core.text import without_reasoning
from dhp.llm.cached_model import CachedModel, asked_steps, estimated_tokens
from dhp.llm.records import FINISHES, Answer, Failure, Params, Reply, Request
from dhp.perturb.api import count_or_all
from dhp.perturb.apply import example_language
from dhp.perturb.llm.acceptance import fault
from dhp.perturb.llm.prompts import (
    AgainPrompt,
    PerturbPrompt,
    PlainPrompt,
    StepsPrompt,
    TextPrompt,
    again,
    asks_for_steps,
    prompt_name,
    revised_text,
)
from dhp.perturb.llm.prompts import written as written_prompt

TRIES = 4
"""Times that a text is asked for at most."""
_STEPS_TOKENS = 1024


class PromptReader(Protocol):
    """Reads the prompts of the perturbers by language model."""

    def __call__(self, task: str, name: str) -> TextPrompt:
        """The prompt for a task; `name` is that of the variant. Raises `InputError` where there is none."""
        ...


class LlmPerturber:
    """A language model that degrades texts.

    `again` is asked where an answer does not count, `steps` for adjustment steps of the model's own (None
    takes the written ones). Without `max_tokens` an answer may have twice the length of the text.
    """

    def __init__(
        self,
        cached_model: CachedModel,
        prompts: PromptReader,
        again: AgainPrompt,
        *,
        steps: StepsPrompt | None = None,
        max_tokens: int | None = None,
    ) -> None:
        self.cached_model = cached_model
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
                if self._steps and isinstance(self._prompt(variant, task), PlainPrompt):
                    raise InputError(
                        f"prompt '{variant.name}': is plain text, which holds its own steps; allowed: "
                        "`perturb_model.steps` written, or a .yaml file"
                    )
                self._prompt(variant, task)

    @property
    def name(self) -> str:
        """`provider/name` of the model."""
        return self.cached_model.model.model

    def perturb(
        self,
        examples: Sequence[Example],
        variant: Variant,
        task: str,
        show: Callable[[int], None] = lambda done: None,
        language: str | None = None,
    ) -> list[PerturbedText]:
        """Degrade every example, in their order; `show` gets the number of texts so far.

        `language` is that of the texts, where a field of an example does not say it.

        A text that fails its check is asked for again with the reason, `TRIES` times in all; after that the
        variant is not applicable to the example. Raises `InputError` if no text at all passes the check, or
        the model cannot be asked, and `StoppedEarly` at a limit, or where texts could not be had; see
        `CachedModel.ask`.
        """
        prompt = self._prompt(variant, task)
        steps = self._asked_steps(variant, task) if self._steps else prompt.steps
        requests = self._requests(examples, variant, task, steps)
        whole = isinstance(prompt, PlainPrompt)
        made, unanswered = self._tried(requests, variant, show, language, whole=whole)
        if unanswered:
            why = next(iter(unanswered.values()))[1]
            raise StoppedEarly(
                f"{self.name}: {len(unanswered)} texts of '{variant.name}' could not be had "
                f"({why}); repeat the command to resume"
            )
        if waiting := len(examples) - len(made):
            raise Waiting(f"{self.name}: {waiting:,} texts of '{variant.name}' wait for their replies")
        if all(text.text is None for text in made.values()):
            reasons = Counter(reason for text in made.values() for reason in text.rejected or [text.reason])
            shown = ", ".join(f"{reason} ({count})" for reason, count in reasons.most_common(3))
            raise InputError(
                f"perturber '{variant.name}': none of {reasons.total()} answers of {self.name} "
                f"passed the check: {shown}; allowed: another `perturb_model`, or more "
                "`perturb_model.max_tokens`"
            )
        return [made[example.id] for example in examples]

    def recall(
        self, examples: Sequence[Example], variant: Variant, task: str, language: str | None = None
    ) -> tuple[dict[str, PerturbedText], list[Request]]:
        """What the store holds of a variant: example -> its text, and for each example the request to count.

        The request is the first one which is not stored. Where the model's own steps are not stored, the
        request for them comes first and the written ones stand in for them. `language` is as for `perturb`.
        """
        prompt, counted = self._prompt(variant, task), []
        steps: Sequence[str] = prompt.steps
        if self._steps:
            asked = self._steps_request(variant, prompt)
            counted.append(asked)
            if not self.cached_model.missing(asked):
                steps = self._asked_steps(variant, task)
        requests = self._requests(examples, variant, task, steps)
        whole = isinstance(prompt, PlainPrompt)
        made, unanswered = self._tried(requests, variant, lambda done: None, language, whole=whole)
        for request in requests:
            known = unanswered.get(_example(request).id)
            counted.append(known[0] if known else request)
        return made, counted

    def _prompt(self, variant: Variant, task: str) -> TextPrompt:
        return self._prompts(task, prompt_name(variant.perturber, variant.degree))

    def _requests(
        self, examples: Sequence[Example], variant: Variant, task: str, steps: Sequence[str]
    ) -> list[Request]:
        prompt, count = self._prompt(variant, task), _count(variant)
        return [
            Request(
                written_prompt(prompt, example, count, steps),
                self._params(self._max_tokens or 256 + 2 * round(estimated_tokens(example.output))),
                (0,),
                f"example '{example.id}', variant '{variant.name}'",
                group=variant.name,
                tag=example,
            )
            for example in examples
        ]

    def _params(self, most: int) -> Params:
        return Params(temperature=None, top_p=None, max_tokens=most)

    def _steps_request(self, variant: Variant, prompt: TextPrompt) -> Request:
        assert self._steps is not None
        assert isinstance(prompt, PerturbPrompt), "checked before"
        params = self._params(self._max_tokens or _STEPS_TOKENS)
        place = f"adjustment steps of '{variant.name}'"
        return Request(asks_for_steps(self._steps, prompt), params, (0,), place, tag=variant.name)

    def _asked_steps(self, variant: Variant, task: str) -> Sequence[str]:
        known = self.auto_steps.setdefault(task, {})
        if variant.name not in known:
            request = self._steps_request(variant, self._prompt(variant, task))
            known |= asked_steps(self.cached_model, [request], "`perturb_model.steps` written")
        return known[variant.name]

    def _tried(
        self,
        requests: Sequence[Request],
        variant: Variant,
        show: Callable[[int], None],
        language: str | None,
        *,
        whole: bool,
    ) -> tuple[dict[str, PerturbedText], dict[str, tuple[Request, str]]]:
        """Example -> its text, or why there is none after all tries; and what was not answered, with why.

        With `whole` an answer is taken as it is, without tags.
        """
        made: dict[str, PerturbedText] = {}
        unanswered: dict[str, tuple[Request, str]] = {}
        rejected: dict[str, tuple[str, ...]] = {}
        first = {_example(request).id: request for request in requests}
        asked = list(requests)
        self.cached_model.on_wait = lambda: show(len(made))
        try:
            for _ in range(TRIES):
                again: dict[str, Request] = {}
                for answer in self._answers(asked):
                    name = _example(answer.request).id
                    (outcome,) = answer.outcomes.values()
                    if isinstance(outcome, Failure) and outcome.passing:
                        unanswered[name] = answer.request, outcome.reason
                        continue
                    found = self._read(answer, variant, language, rejected.get(name, ()), whole=whole)
                    if isinstance(outcome, Failure) or found.text is not None:
                        made[name] = found
                        show(len(made))
                        continue
                    rejected[name] = found.rejected
                    again[name] = self._again_request(first[name], answer, found, whole=whole)
                    if len(found.rejected) == TRIES:
                        made[name] = found
                asked = [again[name] for name in first if name in again and name not in made]
        finally:
            self.cached_model.on_wait = lambda: (
                None
            )  # it holds the texts, and through the cached_model itself
        return made, unanswered

    def _answers(self, asked: Sequence[Request]) -> Iterator[Answer]:
        """The answers that there are; where others come later, failed ones may still be asked again."""
        with suppress(Waiting):
            yield from self.cached_model.ask(asked)

    def _read(
        self, answer: Answer, variant: Variant, language: str | None, before: tuple[str, ...], *, whole: bool
    ) -> PerturbedText:
        """The text of an answer, or why it does not count; `before` says why earlier ones did not."""
        (outcome,) = answer.outcomes.values()
        example = _example(answer.request)
        if isinstance(outcome, Failure):
            reason = f"the call was rejected: {outcome.reason}"
            return PerturbedText(example.id, variant.name, None, reason=reason, rejected=before)
        text, wrong = revised_text(outcome.text, example, whole=whole)
        if text is not None:
            others = (example.source, *example.fields.values())
            spoken = example_language(example, language)
            wrong = fault(variant.perturber, example.output, text, _count(variant), others, spoken)
        wrong = FINISHES.get(outcome.finish, wrong)
        if text is None or wrong:
            reasons = (*before, wrong or "")
            return PerturbedText(example.id, variant.name, None, reason=wrong, rejected=reasons)
        found = audit(example.output, text)
        return PerturbedText(example.id, variant.name, text, audit=found, rejected=before)

    def _again_request(
        self, first: Request, answer: Answer, rejected: PerturbedText, *, whole: bool
    ) -> Request:
        """The next try: with the reason, or with room for twice as long an answer where it was cut off.

        Without tags the same is asked once more, as the reason would have to name tags.
        """
        (outcome,) = answer.outcomes.values()
        assert isinstance(outcome, Reply)
        sample = (len(rejected.rejected),)
        if outcome.finish == "length":
            most = 2 * answer.request.params.max_tokens
            return replace(answer.request, params=self._params(most), samples=sample)
        if whole:
            return replace(first, samples=sample)
        text, _ = revised_text(outcome.text, _example(first))
        said = text or (without_reasoning(outcome.text) or "").strip()
        prompt = again(self._again, first.prompt, said, rejected.reason or "") if said else first.prompt
        return replace(first, prompt=prompt, samples=sample)


def _example(request: Request) -> Example:
    assert isinstance(request.tag, Example)
    return request.tag


def _count(variant: Variant) -> int | str:
    try:
        return count_or_all(variant.params.get("count", "all"))
    except InputError as e:
        raise InputError(f"perturber '{variant.name}': {e}") from None
