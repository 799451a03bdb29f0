"""Degraded texts by a language model, with checks and repeated attempts.

A variant is asked for text by text (`LlmPerturber.perturb`). The prompt is read from its file, filled with
the example (`_requests`) and asked; each answer is read and checked (`_read`, by `perturb.llm.acceptance`);
one that does not hold is asked for again with the reason, a few times (`_tried`). `recall` goes the same way,
but only through the store.
"""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from dhp.core.diff import audit
from dhp.core.errors import InputError, StoppedEarly
from dhp.core.reasoning import without_reasoning
from dhp.core.records import Example, PerturbedText, Variant
from dhp.core.seeding import text_hash
from dhp.llm.cached_model import CachedModel, RequestContext, asked_steps, with_more_room
from dhp.llm.estimate import Estimate, estimate_requests
from dhp.llm.records import FINISHES, Failure, Params, Reply, Request
from dhp.llm.settings import ModelSettings
from dhp.llm.stored_model import StoredModel
from dhp.perturb.api import asked_count
from dhp.perturb.llm.acceptance import fault, is_checked
from dhp.perturb.llm.functions import FunctionTexts, answer_room, function_texts
from dhp.perturb.llm.prompt_files import PromptFiles
from dhp.perturb.llm.prompts import (
    NO_TAGS,
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
from dhp.perturb.llm.steps_file import StepsFile, read_steps
from dhp.perturb.perturbed_dataset import PerturbedDataset
from dhp.perturb.registry import find_perturbers
from dhp.perturb.settings import Choice, PerturbModel

LOOKED_AT = 10
"""Number of examples that decide whether a resumed run has to call a model at all: chosen."""
TRIES = 4
"""Times that a text is asked for at most: chosen."""
_STEPS_TOKENS = 1024
"""Tokens of an answer with adjustment steps: chosen."""


class LlmPerturber:
    """A language model that degrades texts.

    With `steps` auto it writes adjustment steps of its own, where the prompt has a place for them. Without
    `max_tokens` an answer may have twice the length of the text.
    """

    def __init__(
        self,
        cached_model: CachedModel,
        prompts: PromptFiles,
        *,
        steps: str | StepsFile = "written",
        max_tokens: int | None = None,
    ) -> None:
        self.cached_model = cached_model
        stored = StoredModel(cached_model.model.model, cached_model.model.endpoint)
        self._stored = CachedModel(stored, RequestContext(cached_model.context.store))
        """Knows what is stored and asks nothing."""
        self.prompts = prompts
        self._again = prompts.read("again", AgainPrompt)
        self._steps = prompts.read("steps", StepsPrompt) if steps == "auto" else None
        self._steps_file = steps if isinstance(steps, StepsFile) else None
        self.max_tokens = max_tokens
        self.auto_steps: dict[str, dict[str, list[str]]] = {}
        """Task -> variant -> steps that the model wrote, as far as it was asked."""

    def check(self, variants: Iterable[Variant], task: str) -> None:
        """Raise `InputError` if a prompt of these variants is missing or faulty, or a count is."""
        with_steps = []
        for variant in variants:
            if variant.method == "llm":
                asked_count(variant)
                if isinstance(self._prompt(variant, task), PerturbPrompt):
                    with_steps.append(variant.name)
        if self._steps_file:
            self._steps_file.check(task, with_steps)

    def check_names(self, asked: Collection[tuple[str, str]]) -> None:
        """Raise `InputError` for a file of one's own, or steps, that belong to no prompt.

        `asked` are the tasks and names of the prompts that their suites take.
        """
        self.prompts.check_names(asked)
        if self._steps_file:
            tasks, variants = set[str](), set[str]()
            for name in self.prompts.known(asked):
                task, slash, variant = name.partition("/")
                if slash:  # "again" and "steps" are of no task
                    tasks.add(task)
                    variants.add(variant)
            self._steps_file.check_names(tasks, variants)

    def check_server(
        self,
        examples: Sequence[Example],
        variant: Variant,
        task: str,
        function: FunctionTexts | None = None,
    ) -> None:
        """Raise `InputError` if the server has to be asked for texts of a variant and cannot be."""
        stored, missing = self.recall(examples[:LOOKED_AT], variant, task, function)
        if missing and not stored:
            self.cached_model.check_server(missing)

    def origin(self, task: str, variants: Iterable[Variant]) -> str:
        """What made the texts of a perturber: model, steps, a hash of its prompts and of steps of the model.

        No address, as sets are given away.
        """
        if self._steps_file:
            way, known_steps = "of a file", self._steps_file(task)
        else:
            way, known_steps = "auto" if self._steps else "written", self.auto_steps.get(task, {})
        read = {"again": self.prompts.read_so_far["again"]}
        steps = dict[str, Sequence[str]]()
        for variant in variants:
            name = prompt_name(variant.perturber, variant.degree)
            file = self.prompts.file(task, name)
            read[file] = self.prompts.read_so_far[file]
            if name in known_steps:
                steps[name] = known_steps[name]
        digest = text_hash(json.dumps([read, steps], sort_keys=True))
        return f"{self.name}, steps {way}, prompts@{digest}"

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
        function: FunctionTexts | None = None,
    ) -> list[PerturbedText] | None:
        """Degrade every example, in their order; `show` gets the number of texts so far.

        Texts of a `function` are as it makes them; it is not asked again. None while some of them wait for
        answers that come later.

        A text that fails its check is asked for again with the reason, `TRIES` times in all; after that the
        variant is not applicable to the example. Raises `InputError` if no text at all passes the check, or
        the model cannot be asked, and `StoppedEarly` at a limit, or if texts could not be had; see
        `CachedModel.ask`.
        """
        if function is not None:
            made, unanswered = function.made(self.cached_model, examples, show)
        else:
            made, unanswered = self._prompted(examples, variant, task, show)
        if unanswered:
            (_, why), *_ = unanswered.values()  # of the first one: mostly it is the same for all
            raise StoppedEarly(
                f"{self.name}: {len(unanswered)} texts of '{variant.name}' could not be had "
                f"({why}); repeat the command to resume"
            )
        if len(made) < len(examples):
            return None
        if function is None and all(text.text is None for text in made.values()):
            reasons = Counter[str | None]()
            for text in made.values():
                reasons.update(text.rejected or [text.reason])
            shown = ", ".join(f"{reason} ({count})" for reason, count in reasons.most_common(3))
            raise InputError(
                f"perturber '{variant.name}': none of {reasons.total()} answers of {self.name} "
                f"passed the check: {shown}; allowed: another `perturb_model`, more "
                "`perturb_model.max_tokens`, or no `perturb_model`"
            )
        return [made[example.id] for example in examples]

    def _prompted(
        self, examples: Sequence[Example], variant: Variant, task: str, show: Callable[[int], None]
    ) -> tuple[dict[str, PerturbedText], dict[str, tuple[Request, str]]]:
        """As `_tried`, by the prompt of the variant."""
        prompt = self._prompt(variant, task)
        steps = self._known_steps(prompt, variant, task)
        if self._steps and isinstance(prompt, PerturbPrompt):
            known = self.auto_steps.setdefault(task, {})
            if variant.name not in known:
                known |= self._asked_steps(self.cached_model, self._steps_request(variant, prompt))
            if variant.name not in known:
                return {}, {}  # they come later, and the prompts show them
            steps = known[variant.name]
        requests = self._requests(examples, variant, task, steps)
        whole = isinstance(prompt, PlainPrompt)
        return self._tried(self.cached_model, requests, variant, show, whole=whole)

    def recall(
        self,
        examples: Sequence[Example],
        variant: Variant,
        task: str,
        function: FunctionTexts | None = None,
    ) -> tuple[dict[str, PerturbedText], list[Request]]:
        """What the store holds of a variant: example -> its text, and for each example the request to count.

        The request is the first one which is not stored. Where the model's own steps are not stored, the
        request for them comes first and the written ones stand in for them. Of a `function` it is the next
        question, and none where the text is known.
        """
        if function is not None:
            made, unanswered = function.made(self._stored, examples)
            return made, [request for request, _ in unanswered.values()]
        prompt = self._prompt(variant, task)
        steps, counted = self._known_steps(prompt, variant, task), []
        if self._steps and isinstance(prompt, PerturbPrompt):
            asked = self._steps_request(variant, prompt)
            if self._is_cut_off(asked):
                asked = with_more_room(asked)
            counted.append(asked)
            if not self._stored.missing(asked):
                steps = self._asked_steps(self._stored, asked)[variant.name]
        requests = self._requests(examples, variant, task, steps)
        whole = isinstance(prompt, PlainPrompt)
        made, unanswered = self._tried(self._stored, requests, variant, whole=whole)
        for request in requests:
            known = unanswered.get(_example(request).id)
            counted.append(known[0] if known else request)
        return made, counted

    def _prompt(self, variant: Variant, task: str) -> TextPrompt:
        return self.prompts(task, prompt_name(variant.perturber, variant.degree))

    def _known_steps(self, prompt: TextPrompt, variant: Variant, task: str) -> Sequence[str]:
        """The steps of the file, else those of the prompt."""
        if self._steps_file and isinstance(prompt, PerturbPrompt):
            return self._steps_file(task)[variant.name]
        return prompt.steps

    def _requests(
        self, examples: Sequence[Example], variant: Variant, task: str, steps: Sequence[str]
    ) -> list[Request]:
        """The first request for each example."""
        prompt, count = self._prompt(variant, task), asked_count(variant)
        requests = []
        for example in examples:
            text = written_prompt(prompt, example, count, steps)
            params = self._params(self.max_tokens or answer_room(example))
            place = f"example '{example.id}', variant '{variant.name}'"
            requests.append(Request(text, params, (0,), place, group=variant.name, tag=example))
        return requests

    def _params(self, most: int) -> Params:
        return Params(temperature=None, top_p=None, max_tokens=most)

    def _steps_request(self, variant: Variant, prompt: PerturbPrompt) -> Request:
        assert self._steps is not None
        params = self._params(_STEPS_TOKENS)
        place = f"adjustment steps of '{variant.name}'"
        return Request(asks_for_steps(self._steps, prompt), params, (0,), place, tag=variant.name)

    def _asked_steps(self, model: CachedModel, request: Request) -> dict[str, list[str]]:
        return asked_steps(model, [request], "a file of steps as `perturb_model.steps`, or another model")

    def _is_cut_off(self, request: Request) -> bool:
        """Whether the answer to it is stored, and cut off."""
        if self._stored.missing(request):
            return False
        ((_, outcomes),) = self._stored.ask([request])
        return any(isinstance(outcome, Reply) and outcome.finish == "length" for outcome in outcomes.values())

    def _tried(
        self,
        model: CachedModel,
        requests: Sequence[Request],
        variant: Variant,
        show: Callable[[int], None] = lambda done: None,
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
        model.on_wait = lambda: show(len(made))
        try:
            for _ in range(TRIES):
                tries: dict[str, Request] = {}  # example -> its next try
                for request, outcomes in model.ask(asked):
                    example = _example(request)
                    name = example.id
                    (outcome,) = outcomes.values()
                    if isinstance(outcome, Failure) and outcome.passing:
                        unanswered[name] = request, outcome.reason
                        continue
                    before = rejected.get(name, ())
                    attempt = self._read(outcome, example, variant, before, whole=whole)
                    if isinstance(outcome, Failure) or attempt.text is not None:
                        made[name] = attempt
                        show(len(made))
                        continue
                    rejected[name] = attempt.rejected
                    tries[name] = self._again_request(first[name], request, outcome, attempt, whole=whole)
                    if len(attempt.rejected) == TRIES:
                        made[name] = attempt
                # In the order of the examples: answers come in any order, and requests must not.
                asked = [tries[name] for name in first if name in tries and name not in made]
        finally:
            model.on_wait = lambda: None  # else the model would hold all texts
        return made, unanswered

    def _read(
        self,
        outcome: Reply | Failure,
        example: Example,
        variant: Variant,
        before: tuple[str, ...],
        *,
        whole: bool,
    ) -> PerturbedText:
        """The text of an answer, or why it does not count; `before` says why earlier ones did not."""
        if isinstance(outcome, Failure):
            reason = f"the call was rejected: {outcome.reason}"
            return PerturbedText(example.id, variant.name, None, reason=reason, rejected=before)
        text, wrong = revised_text(outcome.text, example, whole=whole)
        if text is not None:
            wrong = _fault(text, example, variant)
        elif wrong == NO_TAGS and is_checked(variant.perturber):
            # Only the text, without tags: the check tells whether it is one.
            untagged, _ = revised_text(outcome.text, example, whole=True)
            if untagged is not None and _fault(untagged, example, variant) is None:
                text, wrong = untagged, None
        wrong = FINISHES.get(outcome.finish, wrong)  # that it was cut off or refused explains any fault
        if text is None or wrong:
            reasons = (*before, wrong or "")
            return PerturbedText(example.id, variant.name, None, reason=wrong, rejected=reasons)
        audited = audit(example.output, text)
        return PerturbedText(example.id, variant.name, text, audit=audited, rejected=before)

    def _again_request(
        self, first: Request, last: Request, reply: Reply, rejected: PerturbedText, *, whole: bool
    ) -> Request:
        """The next try: with the reason, or with room for twice as long an answer where it was cut off.

        Without tags the same is asked once more, as the reason would have to name tags.
        """
        sample = (len(rejected.rejected),)
        if reply.finish == "length":
            most = 2 * last.params.max_tokens
            return replace(last, params=self._params(most), samples=sample)
        if whole:
            return replace(first, samples=sample)
        text, _ = revised_text(reply.text, _example(first))
        answer = text or (without_reasoning(reply.text) or "").strip()
        prompt = again(self._again, first.prompt, answer, rejected.reason or "") if answer else first.prompt
        return replace(first, prompt=prompt, samples=sample)


def _fault(text: str, example: Example, variant: Variant) -> str | None:
    """Why a text is not the example's with the damage asked for; None if it is."""
    others = (example.source, *example.fields.values())
    return fault(variant.perturber, example.output, text, asked_count(variant), others, example.language)


def _example(request: Request) -> Example:
    assert isinstance(request.tag, Example)
    return request.tag


def open_perturb_model(
    asked: str | PerturbModel, settings: ModelSettings, context: RequestContext
) -> LlmPerturber:
    """The model, to be asked on these terms; raises `InputError` for one that cannot be had."""
    asked = PerturbModel(asked) if isinstance(asked, str) else asked
    prompts = PromptFiles(None if asked.prompts is None else Path(asked.prompts))
    steps = read_steps(asked.steps_file) if asked.steps_file else asked.steps
    model = CachedModel(settings.open(asked.model, context), context)
    return LlmPerturber(model, prompts, steps=steps, max_tokens=asked.max_tokens)


def perturbing_estimates(
    parts: Sequence[PerturbedDataset],
    choice: Choice,
    settings: ModelSettings,
    context: RequestContext,
) -> list[Estimate]:
    """What asking the perturb model for the texts of `parts` would take.

    The parts are those of a dry build; each text that is not stored counts as an answer.
    """
    if choice.perturb_model is None:
        return []
    opened = open_perturb_model(choice.perturb_model, settings, context)
    perturbers = find_perturbers(choice.own_perturbers, [p.dataset.suite for p in parts if p.dataset.suite])
    estimates = []
    for part in parts:
        data = part.dataset
        requests: list[Request] = []
        for variant in part.variants:
            if variant.method == "llm":
                function = function_texts(data, variant, perturbers, part.seed, opened.max_tokens)
                requests += opened.recall(data.examples, variant, data.task.task, function)[1]
        estimates.append(
            estimate_requests(opened.cached_model, "perturbations", data.name, requests, "texts")
        )
    return estimates
