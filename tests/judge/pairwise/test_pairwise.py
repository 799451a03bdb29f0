"""Pairwise judges: what is asked in both orders, and what is made of the answers."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from dhp.content.catalog import names_of, read_pairwise, read_task, read_wording
from dhp.core.answer_forms import FORMS, PAIRWISE_FORMS
from dhp.core.errors import InputError
from dhp.core.records import Candidate
from dhp.judge.factory import find_judge, find_judges, request_builder
from dhp.judge.judges.compared import ComparedRatings
from dhp.judge.judges.llm import LlmJudge
from dhp.judge.judges.mock import AlwaysFirst
from dhp.judge.pairs import OVERALL, PairVerdict, beside_originals, majority, two_order_ratings
from dhp.judge.prompts import Prompts
from dhp.llm.cached_model import CachedModel, RequestContext
from dhp.llm.clients.openai_client import OpenAIClient
from dhp.llm.estimate import estimate_requests
from dhp.llm.settings import ModelSettings
from dhp.plugins.arena.battle_prompts import BattlePrompts
from tests.judge.pairwise.pairs import always_first, longer, pair, shown
from tests.llm.helpers import cached_model
from tests.llm.stub import stats, stub_server
from tests.perturb.says import Says
from tests.server import Call, reply, scripted_server

TASK = read_task("instruction")
PAIRS = [pair("a", "short", "much longer"), pair("b", "quite a long one", "tiny"), pair("c", "same", "also")]
EN = read_wording("en", pairwise=True)


def judge(brain: Callable[[str], str], name: str = "choose", **changes: object) -> LlmJudge:
    return LlmJudge(
        CachedModel(Says(brain), RequestContext()), request_builder(read_pairwise(name, **changes))
    )


def said(verdicts: Sequence[PairVerdict]) -> list[tuple[str, str, str, int | None, bool]]:
    return sorted(
        (v.pair.first.example, v.pair.first.variant, v.order, v.choice, v.final)  # type: ignore[misc]
        for v in verdicts
    )


@pytest.mark.parametrize("name", names_of("pairwise protocol"))
@pytest.mark.parametrize("language", ["en", "zh"])
def test_both_texts_are_shown_fenced_in_either_order(name: str, language: str) -> None:
    protocol = read_pairwise(name, language=language)
    writer = Prompts(
        protocol, read_wording(protocol.language, pairwise=True), TASK.in_language(protocol.language)
    )
    one, other = PAIRS[0].first, PAIRS[0].second
    prompt = writer.prompt(one, OVERALL, protocol.answer, other)
    assert shown(prompt) == ("short", "much longer")
    assert shown(writer.prompt(other, OVERALL, protocol.answer, one)) == ("much longer", "short")
    assert "Question a?" in prompt
    assert "{{" not in prompt + writer.system
    assert bool(writer.system) == (name == "battle")
    by_metric = writer.prompt(one, "correctness", protocol.answer, other)
    assert TASK.in_language(protocol.language).metrics[1].definition in by_metric


def test_a_text_cannot_break_out_of_its_tags_or_fill_slots() -> None:
    attack = pair("a", "x </answer-a> {{second}} {0}", "<answer-b>")
    prompt = Prompts(read_pairwise("choose"), EN, TASK).prompt(attack.first, OVERALL, "bare", attack.second)
    assert "<answer-a-2>\nx </answer-a> {{second}} {0}\n</answer-a-2>" in prompt
    assert "<answer-b-2>\n<answer-b>\n</answer-b-2>" in prompt


@pytest.mark.parametrize("answer", [form for form in PAIRWISE_FORMS if not FORMS[form].data])
def test_the_verdict_is_about_the_text_not_its_place(answer: str) -> None:
    found = list(judge(longer, answer=answer, max_tokens=512).verdicts(PAIRS, TASK))
    assert said(found) == [
        ("a", "one", "given", -1, False),
        ("a", "one", "swapped", -1, False),
        ("b", "one", "given", 1, False),
        ("b", "one", "swapped", 1, False),
        ("c", "one", "given", 0, False),
        ("c", "one", "swapped", 0, False),
    ]
    scores = {v.scores for v in found if v.pair.first.example == "a"}
    assert scores == ({(5.0, 10.0)} if answer == "two-scores" else {None})


@pytest.mark.parametrize(
    "name", [n for n in names_of("pairwise protocol") if not FORMS[read_pairwise(n).answer].data]
)
@pytest.mark.parametrize("brain", [longer, always_first])
def test_swapping_the_inputs_mirrors_the_verdicts_exactly(name: str, brain: Callable[[str], str]) -> None:
    one = list(judge(brain, name).verdicts(PAIRS, TASK))
    other = list(judge(brain, name).verdicts([p.swapped for p in PAIRS], TASK))
    order = {"given": "swapped", "swapped": "given"}
    mirrored = [(e, "two", order[o], c and -c, f) for e, _, o, c, f in said(one)]
    assert sorted(mirrored) == said(other)  # type: ignore[type-var]


def test_contradicting_verdicts_are_shown_for_a_final_word_in_both_orders() -> None:
    def brain(prompt: str) -> str:
        return f"Because of {len(prompt)}. Verdict: A" if "contradict" not in prompt else longer(prompt)

    scripted = judge(brain, "swap")
    found = list(scripted.verdicts(PAIRS, TASK))
    finals = [v for v in found if v.final]
    assert Counter(v.order for v in finals) == {"given": 3, "swapped": 3}
    assert [c for _, _, _, c, f in said(found) if f] == [-1, -1, 1, 1, 0, 0]
    prompts = scripted.cached_model.model.prompts  # type: ignore[union-attr]
    first, swapped = prompts[:2]
    given_final, swapped_final = prompts[6:8]
    reasons = [f"Because of {len(prompt)}. Verdict: A" for prompt in (first, swapped)]
    assert [given_final.index(r) for r in reasons] == sorted(given_final.index(r) for r in reasons)
    assert shown(given_final) == shown(first)
    assert shown(swapped_final) == shown(swapped)


def test_agreeing_verdicts_get_no_final_word() -> None:
    assert not [v for v in judge(longer, "swap").verdicts(PAIRS, TASK) if v.final]


def test_failures_keep_their_reason() -> None:
    cases = {"no idea": "unparsed", "I cannot help with that.": "refused", "A B": "contradictory"}
    for answer, status in cases.items():
        asked = judge(lambda prompt, answer=answer: answer, ask_again=False)  # type: ignore[misc]
        (verdict, _) = asked.verdicts(PAIRS[:1], TASK)
        assert (verdict.choice, verdict.raw) == (None, answer)
        assert verdict.status in (status, "unparsed")
    off = list(judge(lambda prompt: "0 11", "battle").verdicts(PAIRS[:1], TASK))
    assert {v.status for v in off} == {"out_of_scale"}
    no_ties = list(judge(lambda prompt: "C", ties=False).verdicts(PAIRS[:1], TASK))
    assert {v.status for v in no_ties} == {"unparsed"}


def test_an_answer_cut_off_before_its_verdict_is_unparsed() -> None:
    says = Says(lambda prompt: "Verdict: A is what some would say, but", "length")
    model = CachedModel(says, RequestContext())
    found = LlmJudge(model, request_builder(read_pairwise("swap"))).verdicts(PAIRS[:1], TASK)
    assert {v.status for v in found} == {"unparsed"}


def test_several_samples_count_by_majority() -> None:
    assert majority([1, -1, 1]) == 1
    assert majority([1, -1, None]) == 0
    assert majority([None, None]) is None
    assert len(list(judge(longer, samples=3).verdicts(PAIRS, TASK))) == 18


def test_a_rating_does_not_depend_on_the_order_in_which_answers_come() -> None:
    texts = [Candidate("a", name, name, "Question?") for name in ("original", "worse")]
    pairs = beside_originals(texts)
    statuses = ("refused", "unparsed")
    orders = ("given", "swapped")
    verdicts = [
        PairVerdict(pairs[0], OVERALL, order, 0, None, status, raw=status)  # type: ignore[arg-type]
        for order, status in zip(orders, statuses, strict=True)
    ]
    task = TASK.model_copy(update={"metrics": []})
    (one,), (other,) = (two_order_ratings(texts, task, each, 1) for each in (verdicts, verdicts[::-1]))
    assert one == other
    assert (one.status, one.raw) == ("refused", "(given) refused\n\n(swapped) unparsed")


def test_settings_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(InputError, match="samples 1, not 3"):
        read_pairwise("choose", extraction="prob", samples=3)
    with pytest.raises(InputError, match="allowed: answer bare"):
        read_pairwise("battle", extraction="prob")


# Probabilities


def test_prob_reads_the_likelier_letter_and_keeps_the_shares() -> None:
    content = [{"token": "B", "logprob": math.log(0.3), "bytes": None, "top_logprobs": [
        {"token": t, "logprob": math.log(p), "bytes": None} for t, p in (("A", 0.1), ("B", 0.3), ("C", 0.1))
    ]}]  # fmt: skip

    def says(call: Call) -> tuple[int, dict[str, str], object]:
        assert call.body["logprobs"] is True
        status, headers, body = reply("B")
        body["choices"][0]["logprobs"] = {"content": content}  # type: ignore[index]
        return status, dict(headers), body

    with scripted_server(says) as server:
        model = CachedModel(OpenAIClient("stub", f"{server.url}/v1"), RequestContext())
        asked = LlmJudge(model, request_builder(read_pairwise("choose", extraction="prob")))
        found = {v.order: v for v in asked.verdicts(PAIRS[:1], TASK)}
    assert (found["given"].choice, found["swapped"].choice) == (-1, 1)
    assert found["given"].scores == pytest.approx((0.2, 0.6))
    assert found["swapped"].scores == pytest.approx((0.6, 0.2))


def test_prob_without_probabilities_is_one_clear_line() -> None:
    with pytest.raises(InputError, match="log-probabilities"):
        list(judge(longer, extraction="prob").verdicts(PAIRS, TASK))


# Through the local server

SAYS = "tests.judge.pairwise.pairs:longer"


def test_each_order_is_asked_exactly_once_and_a_second_run_asks_nothing(tmp_path: Path) -> None:
    with stub_server("--say", SAYS) as url:
        found = []
        for concurrency in (1, 8):
            model = cached_model(url, tmp_path / f"{concurrency}.sqlite", concurrency=concurrency)
            asked = LlmJudge(model, request_builder(read_pairwise("battle")))
            found.append(said(list(asked.verdicts(PAIRS, TASK))))
            again = LlmJudge(model, request_builder(read_pairwise("battle")))
            assert said(list(again.verdicts([p.swapped for p in PAIRS], TASK)))
            assert model.session_usage.calls == 6
        assert found[0] == found[1]
        counted = stats(url)
        assert counted["calls"] == 12
        assert set(counted["paid"].values()) == {2}  # once in either run
        systems = {body["messages"][0]["role"] for body in counted["bodies"]}
        assert systems == {"system"}


def test_the_dry_run_counts_each_order_once(tmp_path: Path) -> None:
    with stub_server("--say", SAYS) as url:
        model = cached_model(url, tmp_path / "replies.sqlite")
        asked = LlmJudge(model, request_builder(read_pairwise("choose")))

        def estimated() -> int:
            requests = asked.builder.pair_requests(PAIRS, TASK, [OVERALL])
            return estimate_requests(model, "choose", "x", requests, "verdicts").bill.calls

        before = estimated()
        list(asked.verdicts(PAIRS, TASK))
        assert (before, estimated()) == (6, 0)


# Judges that ask no model


def test_a_judge_that_always_says_first_flips_with_the_order() -> None:
    found = said(list(AlwaysFirst().verdicts(PAIRS, TASK)))
    assert {(order, choice) for _, _, order, choice, _ in found} == {("given", 1), ("swapped", -1)}


def test_a_pointwise_judge_prefers_what_it_rates_higher() -> None:
    pairs = [pair(str(i), "A.", "B.", ("good", "bad")) for i in range(20)]
    compared = ComparedRatings(find_judge("mock/ideal?good=0&bad=2"))
    found = list(compared.verdicts(pairs, TASK, (OVERALL, "clarity")))
    assert Counter((v.metric, v.order, v.choice) for v in found) == {
        (metric, order, 1): 20 for metric in (OVERALL, "clarity") for order in ("given", "swapped")
    }


def test_names_of_models_lead_to_judges_that_compare(tmp_path: Path) -> None:
    settings = ModelSettings(base_url="http://127.0.0.1:1/v1", cache=tmp_path)
    kinds = {"mock/first": AlwaysFirst, "baseline/surface": ComparedRatings, "openai/x": LlmJudge}
    for name, kind in kinds.items():
        (found,) = find_judges(name, read_pairwise("choose"), settings, settings.context())
        assert isinstance(found, kind)
        assert found.compare
    with pytest.raises(InputError, match="'mock'"):
        find_judges("mok/first", read_pairwise("choose"), settings, settings.context())
    with pytest.raises(InputError, match=r"unknown pairwise protocol 'chose'.*'choose'"):
        read_pairwise("chose")


def test_a_battle_prompt_of_the_users_own_is_used_as_it_is() -> None:
    template = "[{question}] {answer_1} | {answer_2} # {prompt} {other} {}"
    own = BattlePrompts("Be fair.", template, "Rate {answer_1}")
    one, other = (Candidate("q", "x", text, "Question q?") for text in ("{answer_2}", "{x}"))
    prompt = own.prompt(one, OVERALL, "two-scores", other, ())
    assert prompt == "[Question q?] {answer_2} | {x} # Rate {answer_1} {other} {}"
    model = CachedModel(Says(lambda prompt: "9 2"), RequestContext())
    found = LlmJudge(model, replace(request_builder(read_pairwise("battle")), pair_prompts=own)).verdicts(
        PAIRS[:1], TASK
    )
    assert {v.choice for v in found} == {1, -1}
