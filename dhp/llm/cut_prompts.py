"""Prompts that a server cuts in silence, known by the numbers of prompt tokens that it counts.

Ollama and others cut what does not fit their context and answer as if nothing were amiss: a judge then rates
a text of which it has not read the end. Two signs give that away. Prompts of different length have one and
the same count, the largest of all (`_count`); or all prompts have far too few tokens for their characters
(`_weigh`). `_fault` looks for both after each call. All bounds below are chosen: high enough that no honest
count of `tests/llm/test_served.py` passes them.
"""

import re

from dhp.core.errors import StoppedEarly
from dhp.llm.records import Reply, Request

_FEWEST_TOKENS = 256
"""Smaller counts say nothing: no server cuts at so few, and some always give the same one."""
_FIRST = 20
"""Counts among which prompts that are cut stop a run; later, when much is paid for, it is said once."""
_STEP, _SPREAD = 1.1, 1.3
"""Ratio from which two prompts are of different length, and of the longest to the shortest of one count."""
_LENGTHS = 3
"""Different lengths of prompts with one and the same count that are no accident."""
_CHARACTERS = 10.0
"""Characters a token beyond which a prompt was not read whole: real texts have at most 6."""
_PROMPTS = 5
"""Prompts with so many characters a token, and none with fewer, that are no accident."""
# The signs that are repeated in "-----" or in blank lines
_REPEATED = re.compile(r"(\W)\1+")
_REMEDY = (
    "its context is too short for them: raise it at the server (Ollama: OLLAMA_CONTEXT_LENGTH or num_ctx; "
    "llama.cpp: -c; LM Studio: context length), then repeat the command with `refresh`, or leave long "
    "examples out"
)


class CutPrompts:
    """What a server counts of the prompts that it is sent.

    A prompt that is too long for the context is cut to a fixed number of tokens, the largest that is ever
    counted: the longest prompts, however different, then have the same count. If all are about as long,
    there are too few tokens for their characters. Prompts of which a part was cached are left out, as some
    servers do not count that part.
    """

    def __init__(self, model: str, *, stops: bool) -> None:
        self._model, self._stops = model, stops
        self._seen = 0
        self._most = 0
        self._lengths: list[float] = []
        """Estimated tokens of the prompts with the largest count, one for each different length."""
        self._ends = (0.0, 0.0)
        """The least and the most of these."""
        self._longest_below = 0.0
        """Estimated tokens of the longest prompt with a smaller count."""
        self._sparse: set[int] = set()
        """Hashes of the prompts with too few tokens for their characters."""
        self._whole = False
        """Whether any long prompt was read whole."""
        self._done = False

    def check(self, request: Request, replies: list[Reply]) -> str | None:
        """A note, once, if prompts are cut; raises `StoppedEarly` with it among the first calls."""
        tokens = sum(reply.prompt_tokens for reply in replies)
        if self._done or not tokens or any(reply.cached_tokens for reply in replies):
            return None
        self._seen += 1
        if tokens < _FEWEST_TOKENS:
            return None
        self._count(request.tokens, tokens)
        if not self._whole:
            self._weigh(request.text, tokens)
        fault = self._fault()
        if not fault:
            return None
        self._done = True
        message = f"the server cuts prompts in silence ({fault}); {_REMEDY}"
        if self._stops and self._seen <= _FIRST:
            raise StoppedEarly(f"{self._model}: {message}; `keep_going` asks for the rest anyway")
        return message

    def _count(self, estimate: float, tokens: int) -> None:
        """Note the length of a prompt if it has the largest count so far, or the one below."""
        if tokens > self._most:  # what had the largest count until now has a smaller one
            self._longest_below = max(self._longest_below, self._ends[1])
            self._most, self._lengths, self._ends = tokens, [estimate], (estimate, estimate)
        elif tokens < self._most:
            self._longest_below = max(self._longest_below, estimate)
        else:
            self._ends = min(self._ends[0], estimate), max(self._ends[1], estimate)
            if len(self._lengths) < _LENGTHS and self._is_new_length(estimate):
                self._lengths.append(estimate)

    def _is_new_length(self, estimate: float) -> bool:
        for one in self._lengths:
            shorter, longer = sorted((one, estimate))
            if longer < _STEP * shorter:
                return False
        return True

    def _weigh(self, text: str, tokens: int) -> None:
        """Note a prompt with too few tokens for its characters; one with enough clears the server."""
        if len(text) > _CHARACTERS * tokens:
            plain = _REPEATED.sub(r"\1", text)  # rows of spaces or lines are few tokens
            if len(plain) > _CHARACTERS * tokens:
                self._sparse.add(hash(text))
                return
        self._whole = True
        self._sparse.clear()

    def _fault(self) -> str:
        """What shows that prompts are cut; empty if nothing does."""
        shortest, longest = self._ends
        # The longest is much longer than others of the same count, and than all of a smaller one.
        if len(self._lengths) >= _LENGTHS and longest >= _SPREAD * max(shortest, self._longest_below):
            return (
                f"it counts {self._most:,} tokens for prompts of about {shortest:,.0f} as for such of about "
                f"{longest:,.0f}"
            )
        if len(self._sparse) >= _PROMPTS:
            return f"it counts at most {self._most:,} tokens for prompts of about {longest:,.0f}"
        return ""
