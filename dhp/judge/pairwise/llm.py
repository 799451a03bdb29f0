"""A language model that is asked which of two texts is better, in both orders."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from dhp.core.pair_spec import PairwiseProtocol, PairWording
from dhp.core.seeding import text_hash
from dhp.core.specs import Task
from dhp.judge.extraction.prob import TOP_LOGPROBS, letter_masses, no_probabilities
from dhp.judge.extraction.verdict import Choice, read_verdict
from dhp.judge.pairwise.prompts import BattlePrompt, PairPrompts, PairWriter
from dhp.judge.pairwise.records import (
    ORDERS,
    OVERALL,
    Order,
    Pair,
    PairVerdict,
    PairwiseJudge,
    VerdictStatus,
    majorities,
)
from dhp.llm.cached_model import CachedModel
from dhp.llm.records import Answer, Failure, Params, Reply, Request

_POINTS: dict[Choice, int] = {"first": 1, "second": -1, "tie": 0}


@dataclass(frozen=True, slots=True)
class _Target:
    """What a request asks about; its tag."""

    pair: Pair
    metric: str
    order: Order
    final: bool


class LlmPairwiseJudge(PairwiseJudge):
    """A language model under a pairwise protocol.

    Parameters
    ----------
    cached_model
        The model with its store.
    protocol, wording
        How it is asked, in the protocol's language.
    battle_prompt
        A user's own prompt, used as it is instead of one made of the wording.
    seed
        Of sampling; None sends none, and none is sent where the temperature is 0.
    """

    cached_model: CachedModel

    def __init__(
        self,
        cached_model: CachedModel,
        protocol: PairwiseProtocol,
        wording: PairWording,
        *,
        battle_prompt: BattlePrompt | None = None,
        seed: int | None = 0,
    ) -> None:
        self.cached_model = cached_model
        self.model = cached_model.model.model
        self.samples = protocol.samples
        self._protocol = protocol
        self._wording = wording
        self._battle_prompt = battle_prompt
        self._seed = None if protocol.temperature == 0 else seed
        own = wording.model_dump_json() if battle_prompt is None else json.dumps(battle_prompt.texts)
        settings = {
            "pairwise": protocol.model_dump(mode="json", exclude={"description"}),
            "wording": text_hash(own),
        }
        self.settings = {"endpoint": cached_model.model.endpoint, **settings}
        self.protocol = f"{protocol.protocol}@{text_hash(json.dumps(settings, sort_keys=True))}"

    def compare(
        self, pairs: Sequence[Pair], task: Task, metrics: Sequence[str] = (OVERALL,)
    ) -> Iterator[PairVerdict]:
        """Verdicts on every pair by every metric, `samples` in each order; final words on top.

        Raises
        ------
        InputError
            If no request can succeed, or the server gives no log-probabilities and the protocol needs them.
        StoppedEarly
            At a limit; see `CachedModel.ask`.
        """
        found: dict[tuple[int, str], list[PairVerdict]] = defaultdict(list)
        for answer in self.cached_model.ask(self.requests(pairs, task, metrics)):
            for verdict in self._verdicts(answer):
                found[id(verdict.pair), verdict.metric].append(verdict)
                yield verdict
        if self._protocol.final:
            for answer in self.cached_model.ask(self._final_requests(found.values(), task)):
                yield from self._verdicts(answer)

    def requests(
        self, pairs: Sequence[Pair], task: Task, metrics: Sequence[str] = (OVERALL,)
    ) -> Iterator[Request]:
        """What would be asked of the model, without final words."""
        writer = self._writer(task)
        for pair in pairs:
            for metric in metrics:
                for order in ORDERS:
                    yield self._request(writer, _Target(pair, metric, order, final=False))

    def _final_requests(self, found: Iterable[Sequence[PairVerdict]], task: Task) -> Iterator[Request]:
        """Requests in both orders about the pairs whose verdicts contradict each other."""
        writer = self._writer(task)
        for verdicts in found:
            given, swapped = majorities(verdicts)
            if given is None or swapped is None or given * swapped >= 0:
                continue
            points = list(zip(ORDERS, (given, swapped), strict=True))
            said = [next(v.raw or "" for v in verdicts if (v.order, v.choice) == each) for each in points]
            for order, shown in zip(ORDERS, (said, said[::-1]), strict=True):
                target = _Target(verdicts[0].pair, verdicts[0].metric, order, final=True)
                yield self._request(writer, target, shown)

    def _writer(self, task: Task) -> PairWriter:
        return self._battle_prompt or PairPrompts(self._protocol, self._wording, task)

    def _request(self, writer: PairWriter, target: _Target, verdicts: Sequence[str] = ()) -> Request:
        protocol, pair = self._protocol, target.pair
        params = Params(
            protocol.temperature,
            protocol.top_p,
            protocol.max_tokens,
            self._seed,
            0 if protocol.extraction == "parse" else TOP_LOGPROBS,
        )
        return Request(
            prompt=writer.prompt(pair if target.order == "given" else pair.swapped, target.metric, verdicts),
            params=params,
            samples=tuple(range(protocol.samples)),
            place=f"example '{pair.first.example}', '{pair.first.variant}' against '{pair.second.variant}', "
            f"order {target.order}",
            group=f"{pair.first.example}\n{target.metric}",
            tag=target,
            before=(("system", writer.system),) if writer.system else (),
        )

    def _verdicts(self, answer: Answer) -> Iterator[PairVerdict]:
        target = answer.request.tag
        assert isinstance(target, _Target)
        for sample, outcome in answer.outcomes.items():
            choice, status, scores, rule = self._read(outcome)
            swapped = target.order == "swapped"
            yield PairVerdict(
                target.pair,
                target.metric,
                target.order,
                sample,
                None if choice is None else -_POINTS[choice] if swapped else _POINTS[choice],
                status,
                scores[::-1] if scores and swapped else scores,
                outcome.reason if isinstance(outcome, Failure) else outcome.text,
                rule,
                target.final,
            )

    def _read(self, outcome: Reply | Failure) -> "_Read":
        """What an answer says of the texts in the order in which they were shown."""
        protocol = self._protocol
        if isinstance(outcome, Failure) or outcome.finish == "tool_calls":
            return None, "failed", None, None
        if outcome.finish == "content_filter":
            return None, "refused", None, None
        if outcome.finish == "length" and protocol.answer == "reason-first":
            return None, "unparsed", None, None  # cut off before the verdict
        if protocol.extraction != "parse" and outcome.positions is not None:
            return _by_probability(outcome, ties=protocol.ties)
        read = read_verdict(outcome.text, protocol.answer, scale=protocol.scale)
        if protocol.extraction == "prob" and read.choice is not None:
            raise no_probabilities(self.model, self.cached_model.model.endpoint)
        if read.choice == "tie" and not protocol.ties and protocol.answer != "two-scores":
            return None, "unparsed", None, None  # none was allowed
        return read.choice, read.reason or "scored", read.scores, read.rule


_Read = tuple[Choice | None, VerdictStatus, tuple[float, float] | None, str | None]


def _by_probability(reply: Reply, *, ties: bool) -> _Read:
    """The likelier letter where the answer gives its letter, renormalised over the letters."""
    masses = letter_masses(reply.positions or (), 3 if ties else 2)
    if masses is None:
        read = read_verdict(reply.text, "bare")
        return None, "refused" if read.reason == "refused" else "unparsed", None, None
    if isinstance(masses, str):
        return None, "unparsed", None, masses
    first, second, *neither = (mass / sum(masses) for mass in masses)
    if first == second or max(neither, default=0.0) >= max(first, second):
        choice: Choice = "tie"
    else:
        choice = "first" if first > second else "second"
    return choice, "scored", (first, second), "prob"
