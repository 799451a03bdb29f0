"""What commands with language models share: checks of options, and estimates as tables.

`estimates_shown` makes a block for each judge out of its estimates, one for each dataset: what is asked, a
table of calls, tokens, cost and time (`bills_table`), and what these figures rest on (`assumptions`).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dhp.cli.options import stated
from dhp.cli.protocol_options import DEFAULT_PROTOCOL
from dhp.core.errors import InputError
from dhp.core.plugins import offered

if TYPE_CHECKING:
    from dhp.llm.estimate import CostEstimate, Estimate
    from dhp.llm.settings import ModelSettings
    from dhp.report.document import Part, Table

_ASK_NO_MODEL = ("mock", "baseline")
"""Providers of judges that ask no language model, beside those of plug-ins."""


def check_filler(settings: "ModelSettings", models: Sequence[str | None], *, dry_run: bool = False) -> None:
    """Raise `InputError` for a filler if no language model is asked, or if a dry run cannot count for it."""
    from dhp.core.objects import PREFIX
    from dhp.llm.api import providers

    answered = [f"{provider}/" for provider in providers()]
    if settings.filler is not None and settings.filler.calls_functions:
        answered.append(PREFIX)
    named = [model for model in models if model]
    options = stated("settings.filler")
    if options and not any(model.startswith(tuple(answered)) for model in named):
        reason = f"{named[0]} asks none" if named else "none is given"
        raise InputError(f"{options[0]}: is for language models, and {reason}; leave it out")
    if dry_run and settings.filler is not None:
        settings.filler.check_dry_run()


def refuse_unused(models: Sequence[str], protocols: Sequence[str], *, perturb_model: bool) -> None:
    """Raise `InputError` for options on language models if none is asked.

    With a perturb model those on how models are reached are of use.
    """
    from dhp.content.catalog import read_protocol
    from dhp.judge.judges.recorded import reads_table

    if not models:
        return
    ask_none = (*_ASK_NO_MODEL, *offered("judges"))
    for model in models:
        provider, _, _ = model.partition("/")
        # One judge that asks a language model is enough: all options are of use to it.
        if provider not in ask_none and not reads_table(model):
            return

    options = []
    # A pairwise protocol is of use for any judge, as any judge can compare.
    pairwise = any(read_protocol(protocol).pairwise for protocol in protocols)
    if tuple(protocols) != (DEFAULT_PROTOCOL,) and not pairwise:
        options.append("--protocol")
    options += stated("changes")
    if not perturb_model:
        options += stated("settings")
    if options:
        raise InputError(f"{options[0]}: is for language models, and {models[0]} asks none; leave it out")


def estimates_shown(estimates: Sequence["Estimate"]) -> "list[Part]":
    """One block a judge, over all its datasets."""
    if not estimates:
        return ["no language model is asked: 0 calls"]
    # By model and protocol; each has an estimate for every dataset.
    by_judge: dict[tuple[str, str], list[Estimate]] = {}
    for each in estimates:
        by_judge.setdefault((each.model, each.protocol), []).append(each)
    lines: list[Part] = []
    for of_judge in by_judge.values():
        lines += _of_judge(of_judge)
    return lines


def _of_judge(estimates: Sequence["Estimate"]) -> "list[Part]":
    """What is asked of one judge, whose estimates these are, one for each dataset."""
    from dhp.report.document import Strong

    first = estimates[0]
    datasets = ", ".join(each.dataset for each in estimates)
    lines: list[Part] = [Strong(f"{first.model}  ·  {first.protocol}  ·  {datasets}")]

    samples = prompts = stored = 0
    controls = 0.0
    for each in estimates:
        samples += each.samples
        prompts += each.prompts
        stored += each.stored
        controls += each.controls * each.samples  # a share of them
    if controls:
        share = controls / samples
        lines.append(
            f"{share:.0%} of the ratings are of controls (harmless edits); --no-controls leaves them out"
        )
    free = f"; {stored:,} need no call: their answers are stored, or the same is asked twice"
    lines.append(f"{samples:,} {first.what}{free if stored else ''}")

    heading, way = "", "as asked"
    if samples > prompts:  # several answers to one prompt
        heading = "samples"
        way = "one call each" if first.one_by_one else "in one call"
    lines.append(bills_table(heading, [(way, [each.bill for each in estimates])]))
    again = [each.again for each in estimates]
    if _calls(again):
        lines.append(_asked_again(again))
    if first.what == "texts":
        lines.append("answers that fail the check are asked again, up to three times each")
    return [*lines, *assumptions(first)]


def _asked_again(bills: "_Bills") -> str:
    """What it takes at most to ask again for answers that cannot be read."""
    tokens, out, money = _short(_prompt_tokens(bills)), _short(_answer_tokens(bills)), _cost(bills)
    cost = "" if money is None else f", cost {_money(money)}"
    return (
        f"answers that cannot be read are asked again, at most {_calls(bills):,} calls more "
        f"({tokens} tokens in, {out} out{cost}); --no-ask-again never does"
    )


_Bills = Sequence["CostEstimate"]
"""Estimates that are added up."""


def bills_table(heading: str, rows: "Sequence[tuple[str, _Bills]]") -> "Table[tuple[str, _Bills]]":
    """A row of calls, tokens, cost and time for each label, summed over its estimates."""
    from dhp.report.document import Column, Table, item

    # A row is a label and its estimates.
    label = Column["tuple[str, _Bills]"](heading, item(0), right=False)
    figures = (
        Column["_Bills"]("calls", _calls, lambda calls: f"{calls:,}"),
        Column["_Bills"]("tokens in", _prompt_tokens, _short),
        Column["_Bills"]("out, at most", _answer_tokens, _short),
        Column["_Bills"]("cost, at most", _cost, _money),
        Column["_Bills"]("time", _seconds, _duration),
    )
    return Table("", [label, *(column.on(item(1)) for column in figures)], rows)


def assumptions(estimate: "Estimate") -> list[str]:
    """What an estimate rests on: speed, prices and the counting of tokens."""
    lines = [f"time: {estimate.assumed}"]
    if estimate.priced:
        lines.append(f"prices of {estimate.priced}; --price-in and --price-out say others")
    elif estimate.bill.cost is None and not estimate.in_process:
        lines.append("no list price of this model is known here; --price-in and --price-out say one")
    if not estimate.exact:
        lines.append("tokens are estimates: a quarter of the bytes")
    return lines


def _calls(bills: _Bills) -> int:
    return sum(bill.calls for bill in bills)


def _prompt_tokens(bills: _Bills) -> float:
    return sum(bill.prompt_tokens for bill in bills)


def _answer_tokens(bills: _Bills) -> float:
    return sum(bill.completion_tokens for bill in bills)


def _cost(bills: _Bills) -> float | None:
    """None if no price of the model is known; all are of one model."""
    if bills[0].cost is None:
        return None
    return sum(bill.cost or 0.0 for bill in bills)


def _seconds(bills: _Bills) -> float:
    return sum(bill.seconds for bill in bills)


def _money(cost: float | None) -> str:
    return "–" if cost is None else f"{cost:,.2f}"


def _short(count: float) -> str:
    return f"{count / 1e6:,.2f}M" if count >= 1e6 else f"{count:,.0f}"


def _duration(seconds: float) -> str:
    minutes, left = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{left:02}"
