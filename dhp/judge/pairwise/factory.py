"""Pairwise judges by name."""

from dhp.content.protocols import read_pair_wording
from dhp.core.pair_spec import PairwiseProtocol
from dhp.judge.factory import find_judges
from dhp.judge.pairwise.llm import LlmPairwiseJudge
from dhp.judge.pairwise.offline import AlwaysFirst, RatingsCompared
from dhp.judge.pairwise.prompts import BattlePrompt
from dhp.judge.pairwise.records import PairwiseJudge
from dhp.llm.cached_model import RequestContext
from dhp.llm.settings import ModelSettings


def find_pairwise_judge(
    model: str,
    protocol: PairwiseProtocol,
    settings: ModelSettings,
    context: RequestContext,
    *,
    battle_prompt: BattlePrompt | None = None,
    seed: int = 0,
) -> PairwiseJudge:
    """The pairwise judge of that name.

    Parameters
    ----------
    model
        `mock/first`, which always prefers the text shown first; a language model, which is asked under
        `protocol`; or any other judge, whose ratings of the two texts are compared.
    protocol
        How language models are asked.
    settings, context
        How language models are reached.
    battle_prompt
        A prompt of the user's own, used as it is.
    seed
        Of every random choice.

    Raises
    ------
    InputError
        For an unknown name.
    """
    if model == AlwaysFirst.model:
        return AlwaysFirst()
    (judge,) = find_judges(model, "dhp", settings, context, seed=seed)
    if judge.cached_model is None:
        return RatingsCompared(judge)
    return LlmPairwiseJudge(
        judge.cached_model,
        protocol,
        read_pair_wording(protocol.language),
        battle_prompt=battle_prompt,
        seed=seed if settings.send_seed else None,
    )
