"""Every rule on texts of any kind: a degraded text or a reason, never a fault, and in linear time."""

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dhp.content.catalog import read_suite
from dhp.core.errors import NotApplicable
from dhp.core.records import Example, Variant
from dhp.perturb.api import Perturber
from dhp.perturb.apply import Others, RulesApplied
from dhp.perturb.registry import builtin_perturbers, load_perturber

PIECES = [
    *(
        "word",
        "Word.",
        "not",
        "is not",
        "1. ",
        "- ",
        "**",
        "Step 1: a",
        "Mr. ",
        "3.14",
        "100,000",
        "%",
        '"',
        "“",
        "'",
    ),
    *(
        "😀",
        "👩‍👩‍👧",
        "مرحبا بالعالم.",
        "שלום עולם!",
        "\u202eabc\u202c",
        "。",
        "東京",
        "にほん。",
        "Ⅳ",
        "①",
        "²",
        "٣",
        "１２",
    ),
    *(
        "\x00",
        "\u200b",
        "\u00a0",
        "\ufeff",
        "\U000f0001",
        "İstanbul ǅ ß ﬁ",
        "𝔘𝔫𝔦",
        "\n\n",
        "\r\n",
        "\t",
        "a" * 50,
    ),
    *(
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "```\ncode\n```",
        "$x_1$",
        "http://x.y/z?q=1",
        "<b>hi</b>",
        '{"a": [1]}',
    ),
    "Anna Smith met Bob Jones in Paris on Monday 3 May 2020.",
]
LANGUAGES = [None, "en", "de", "es", "fr", "zh", "ja", "ar", "th", "ko"]
RULES = {
    name: load_perturber(name)
    for name, perturber in builtin_perturbers().items()
    if perturber.method == "rule" and perturber.lacks is None and perturber.function is not None
}
texts = st.builds(
    lambda pieces, gap: gap.join(pieces),
    st.lists(st.sampled_from(PIECES) | st.text(max_size=6), min_size=1, max_size=12),
    st.sampled_from([" ", "", "\n"]),
).filter(lambda text: bool(text.strip()) and text.encode(errors="replace").decode() == text)


def applied(example: Example, others: list[Example], perturber: Perturber, variant: Variant) -> str | None:
    """The degraded text, None if there is a reason why it is not applicable; `InputError` for a fault."""
    rules = RulesApplied((), RULES, "any", 0, Others([example, *others], 0, "any"))
    try:
        return rules.changed(example, variant, perturber, perturber.wanted)[0]
    except NotApplicable:
        return None


@pytest.mark.slow
@settings(max_examples=8, suppress_health_check=[HealthCheck.too_slow])
@given(texts, texts, texts, st.sampled_from(LANGUAGES), st.booleans())
def test_a_text_of_any_kind_is_degraded_or_there_is_a_reason(
    output: str, source: str, other: str, language: str | None, has_others: bool
) -> None:
    example = Example("x", source, output, language=language)
    others = [Example("y", output, other, language=language)] * has_others
    for perturber in RULES.values():
        for variant in perturber.variants:
            after = applied(example, others, perturber, variant)
            if perturber.level != "control":
                assert after != output


LINE = {
    "list": "{n}. Do the thing number {small} very well.\n",
    "prose": "In part {small} Mr Gray did not see the old house. It was {small} miles away from Rome. ",
    "chinese": "第{small}天他们没有看到那座房子。它离城里很远。",
    "one word": "{n}word",
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", LINE)
def test_the_time_of_a_rule_grows_as_the_text(kind: str) -> None:
    suite, language = read_suite("general"), "zh" if kind == "chinese" else "en"

    def seconds(characters: int) -> float:
        text = "".join(
            LINE[kind].format(n=n, small=10 + n % 90) for n in range(characters // len(LINE[kind]))
        )
        example = Example("x", text, text, language=language)
        start = time.process_time()
        for variant in suite.variants:
            applied(
                example,
                [Example("y", text, "Nothing else.", language=language)],
                RULES[variant.made_by],
                variant,
            )
        return time.process_time() - start

    seconds(1_000)  # lists are read once
    assert seconds(40_000) < 8 * seconds(10_000) + 0.5
