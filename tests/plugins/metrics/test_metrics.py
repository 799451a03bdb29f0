"""Classical metrics are what their packages compute, against the right text, and failures are no scores."""

import math
from pathlib import Path
from typing import Any

import pytest

from dhp.content.catalog import read_task
from dhp.core.errors import InputError
from dhp.core.records import Candidate, Rating
from dhp.plugins.metrics import NAMES
from dhp.plugins.metrics.metrics import LIKELIHOODS, OVERLAPS, metric_judge

TEXT = "The councillors voted against the plan. The market stays open for two years."
REFERENCE = "Councillors have voted against a plan. The market will stay open."
OTHER = "Rain fell on the harbour all night."


def rated(model: str, *references: str, text: str = TEXT, source: str = OTHER) -> Rating:
    judge = metric_judge(model)
    task = judge.own_task(read_task("summarization"))
    (rating,) = judge.rate([Candidate("a", "original", text, source, references=references)], task)
    return rating


@pytest.mark.parametrize("name", ["rouge1", "rouge2", "rougeL", "rougeLsum"])
@pytest.mark.parametrize(
    ("part", "attribute"), [("f", "fmeasure"), ("recall", "recall"), ("precision", "precision")]
)
def test_rouge_is_that_of_its_package(name: str, part: str, attribute: str) -> None:
    scorer = pytest.importorskip("rouge_score.rouge_scorer", reason="ROUGE needs rouge-score")
    sides = [s.replace(". ", ".\n") if name == "rougeLsum" else s for s in (REFERENCE, TEXT)]
    expected = getattr(scorer.RougeScorer([name], use_stemmer=True).score(*sides)[name], attribute)
    assert rated(f"metric/{name}?part={part}", REFERENCE).score == pytest.approx(expected)


@pytest.mark.parametrize("name", ["bleu", "chrf", "ter"])
def test_sacrebleu_metrics(name: str) -> None:
    sacrebleu = pytest.importorskip("sacrebleu", reason="BLEU, chrF and TER need sacrebleu")
    score = getattr(sacrebleu, f"sentence_{name}")(TEXT, [REFERENCE]).score / 100
    expected = 1 - score if name == "ter" else score
    assert rated(f"metric/{name}", REFERENCE).score == pytest.approx(expected)


def test_bleu_of_the_reference_itself_is_on_the_scale() -> None:
    """Sacrebleu says 100.00000000000004 here."""
    pytest.importorskip("sacrebleu", reason="BLEU needs sacrebleu")
    assert rated("metric/bleu", "The cat sat on the mat.", text="The cat sat on the mat.").score == 1.0


def test_every_listed_name_is_one_of_ours() -> None:
    assert sorted(NAMES) == sorted([*OVERLAPS, "distinct", "bertscore", *LIKELIHOODS])


@pytest.mark.slow
def test_meteor_exact_by_hand() -> None:
    """One word of two matches: P = 1/2, R = 1, F = 10/11 weighted, one chunk of one match halves it."""
    f = 10 * 0.5 * 1 / (1 + 9 * 0.5)
    assert rated("metric/meteor-exact", "cats", text="cats dogs").score == pytest.approx(f * 0.5)


@pytest.mark.slow
def test_several_references_and_the_source() -> None:
    each = [rated("metric/meteor-exact", r).score or 0 for r in (REFERENCE, OTHER)]
    name = "metric/meteor-exact?references="
    assert rated(f"{name}mean", REFERENCE, OTHER).score == pytest.approx(sum(each) / 2)
    assert rated(f"{name}max", REFERENCE, OTHER).score == pytest.approx(max(each))
    assert rated(f"{name}first", REFERENCE, OTHER).score == pytest.approx(each[0])
    assert rated("metric/meteor-exact").score == pytest.approx(each[1])
    assert rated("metric/meteor-exact?against=source", REFERENCE).score == pytest.approx(each[1])
    missing = rated("metric/meteor-exact?against=reference")
    assert (missing.score, missing.status) == (None, "failed")


def test_loglikelihood_and_perplexity_are_those_of_the_model(tiny_model: Path) -> None:
    """From the logits, token by token; perplexity with its sign turned, as higher must be better."""
    torch: Any = pytest.importorskip("torch")
    transformers: Any = pytest.importorskip("transformers")
    ids = transformers.AutoTokenizer.from_pretrained(tiny_model)(TEXT, return_tensors="pt").input_ids
    with torch.no_grad():
        logits = transformers.AutoModelForCausalLM.from_pretrained(tiny_model)(ids).logits[0]
    steps = zip(logits[:-1], ids[0, 1:], strict=True)
    logs = [float(torch.log_softmax(row, 0)[token]) for row, token in steps]
    mean = sum(logs) / len(logs)
    likely = rated(f"metric/loglikelihood?path={tiny_model}", source="")
    assert likely.score == pytest.approx(mean, rel=1e-5)
    perplexed = rated(f"metric/perplexity?path={tiny_model}", REFERENCE, OTHER, source="")
    assert perplexed.score == pytest.approx(-math.exp(-mean), rel=1e-5)
    assert rated(f"metric/perplexity?path={tiny_model}", text="").status == "failed"


@pytest.mark.parametrize(("n", "expected"), [("1", 3 / 5), ("2", 3 / 5), ("5", 1 / 5)])
def test_distinct_by_hand(n: str, expected: float) -> None:
    """Five words, three different ones; a b, b a, a b, b c: three different pairs."""
    assert rated(f"metric/distinct?n={n}", text="a b a b c.", source="").score == pytest.approx(expected)


def test_distinct_of_too_few_words_is_undefined() -> None:
    assert rated("metric/distinct?n=3", text="Two words.").status == "failed"


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("metric/rogue1", "unknown metric 'rogue1'.*'rouge1'"),
        ("metric/meteor-exact?part=f", "unknown setting 'part'"),
        ("metric/meteor-exact?references=some", "references 'some'; allowed: mean, max, first"),
        ("metric/distinct?n=0", "metric/distinct: n '0'; must be a whole number from 1"),
        ("metric/distinct?against=source", "unknown setting 'against'"),
        ("metric/loglikelihood?path=/tmp&references=max", "unknown setting 'references'"),
        ("metric/perplexity", "path ''; must be the folder of a model"),
        ("metric/bertscore?path=/nowhere", "path '/nowhere'; must be the folder"),
    ],
)
def test_bad_names_are_one_line(model: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as failed:
        metric_judge(model)
    assert "\n" not in str(failed.value)
