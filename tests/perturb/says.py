"""A language model in this process that says what a function makes of the prompt."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from dhp.llm.records import Failure, Reply, Request


class Says:
    """Answers each prompt with `brain(prompt)`; keeps the prompts it was asked."""

    model, endpoint = "hf/says", "in process"

    def __init__(self, brain: Callable[[str], str], finish: str = "stop") -> None:
        self.brain = brain
        self.finish = finish
        self.prompts: list[str] = []
        self.rooms: list[int] = []
        """Most tokens of each answer asked for."""
        self.failures: list[Failure] = []
        """What the first calls get."""

    def count_tokens(self, prompt: str) -> int:
        return len(prompt.split())

    def misfit(self, request: Request) -> None:
        """Everything fits."""

    def answer(self, requests: Iterable[Request]) -> Iterator[tuple[Request, Mapping[int, Reply | Failure]]]:
        for request in requests:
            self.prompts.append(request.prompt)
            self.rooms.append(request.params.max_tokens)
            if self.failures:
                yield request, dict.fromkeys(request.samples, self.failures.pop(0))
                continue
            text = self.brain(request.prompt)
            yield request, {s: Reply(text, self.finish, 10, 5, 1) for s in request.samples}
