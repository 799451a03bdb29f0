"""The names of the package: each is there, packages of the same name can be called."""

import pandas as pd
import pytest

import dhp
import dhp.judge.judges.llm
from dhp.core.errors import InputError


def test_every_name_is_there() -> None:
    assert [name for name in dhp.__all__ if getattr(dhp, name, None) is None] == []
    assert callable(dhp.judge)
    assert dhp.judge.judges.llm.LlmJudge is dhp.LlmJudge


def test_scores_of_given_texts_go_to_the_correlation(tmp_path: object) -> None:
    rows = [
        {"id": f"s{i}", "system": "ab"[j], "source": "S", "output": "word " * (i + j + 1)}
        for i in range(4)
        for j in range(2)
    ]
    table = pd.DataFrame(rows)
    file = f"{tmp_path}/texts.jsonl"
    table.to_json(file, orient="records", lines=True)
    ratings = dhp.judge("mock/ideal", file, metrics=["fluency"])
    human = ratings[["source", "system", "metric"]].assign(score=[float(i) for i in range(len(ratings))])
    (judge,) = dhp.correlate(ratings, human, resamples=0).judges
    assert judge.metrics[0].items == 8


def test_a_judge_made_by_hand_is_one_of_the_benchmark() -> None:
    judge = dhp.llm_judge("openai/none", "da", settings=dhp.ModelSettings(base_url="http://127.0.0.1:9/v1"))
    assert isinstance(judge, dhp.LlmJudge)
    assert (judge.model, judge.protocol.partition("@")[0]) == ("openai/none", "da")
    with pytest.raises(InputError, match="'mock/ideal': is not a language model"):
        dhp.llm_judge("mock/ideal")
    with pytest.raises(InputError, match="must have the form NAME=FILE"):
        dhp.read_human_scores("summeval")
