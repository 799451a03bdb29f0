"""What commands with language models share: checks, waiting for replies, estimates as tables."""

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


def check_filler(settings: "ModelSettings", models: Sequence[str | None], *, dry_run: bool = False) -> None:
    """Raise `InputError` for a filler if no language model is asked, or if a dry run cannot count for it."""
    from dhp.core.objects import PREFIX
    from dhp.llm.api import providers

    options, asked = stated("settings.filler"), tuple(f"{provider}/" for provider in providers())
    if settings.filler is not None and settings.filler.calls_functions:
        asked += (PREFIX,)
    if options and not any(model and model.startswith(asked) for model in models):
        reason = next((f"{model} asks none" for model in models if model), "none is given")
        raise InputError(f"{options[0]}: is for language models, and {reason}; leave it out")
    if dry_run and settings.filler is not None:
        settings.filler.check_dry_run()


def refuse_unused(models: Sequence[str], protocols: Sequence[str], *, perturb_model: bool) -> None:
    """Raise `InputError` for options on language models if none is asked.

    With a perturb model those on how models are reached are of use.
    """
    from dhp.content.catalog import read_protocol
    from dhp.judge.judges.recorded import reads_table

    ask_none = (*_ASK_NO_MODEL, *offered("judges"))
    if not models or not all(model.partition("/")[0] in ask_none or reads_table(model) for model in models):
        return
    # A pairwise protocol is of use for any judge, as any judge can compare.
    usual = tuple(protocols) == (DEFAULT_PROTOCOL,) or any(read_protocol(p).pairwise for p in protocols)
    options = [] if usual else ["--protocol"]
    options += stated("changes")
    if not perturb_model:
        options += stated("settings")
    if options:
        raise InputError(f"{options[0]}: is for language models, and {models[0]} asks none; leave it out")


def estimates_shown(estimates: Sequence["Estimate"]) -> "list[Part]":
    """One block a judge, over all its datasets."""
    if not estimates:
        return ["no language model is asked: 0 calls"]
    lines: list[Part] = []
    for judge in dict.fromkeys((e.model, e.protocol) for e in estimates):
        parts = [e for e in estimates if (e.model, e.protocol) == judge]
        lines += _of_judge(judge, parts)
    return lines


def _of_judge(judge: tuple[str, str], parts: Sequence["Estimate"]) -> "list[Part]":
    from dhp.report.document import Strong

    samples, stored = sum(e.samples for e in parts), sum(e.stored for e in parts)
    title = f"{judge[0]}  ·  {judge[1]}  ·  {', '.join(e.dataset for e in parts)}"
    lines: list[Part] = [Strong(title)]
    what = parts[0].what
    controls = sum(e.controls * e.samples for e in parts) / max(samples, 1)
    if controls:
        lines.append(
            f"{controls:.0%} of the ratings are of controls (harmless edits); --no-controls leaves them out"
        )
    free = f"; {stored:,} need no call: their answers are stored, or the same is asked twice"
    lines.append(f"{samples:,} {what}{free if stored else ''}")
    heading, way = "", "as asked"
    if samples > sum(e.prompts for e in parts):
        heading, way = "samples", "one call each" if parts[0].one_by_one else "in one call"
    lines.append(bills_table(heading, [(way, [e.bill for e in parts])]))
    calls = sum(e.again.calls for e in parts)
    if calls:
        bills = [e.again for e in parts]
        tokens, out, money = _prompt_tokens(bills), _answer_tokens(bills), _cost(bills)
        cost = "" if money is None else f", cost {_money(money)}"
        lines.append(
            f"answers that cannot be read are asked again, at most {calls:,} calls more "
            f"({_short(tokens)} tokens in, {_short(out)} out{cost}); --no-ask-again never does"
        )
    if what == "texts":
        lines.append("answers that fail the check are asked again, up to three times each")
    return [*lines, *assumptions(parts[0])]


_Bills = Sequence["CostEstimate"]
"""Estimates that are added up."""


def bills_table(heading: str, rows: "Sequence[tuple[str, _Bills]]") -> "Table[tuple[str, _Bills]]":
    """A row of calls, tokens, cost and time for each label, summed over its estimates."""
    from dhp.report.document import Column, Table, item

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
    return sum(bill.cost or 0.0 for bill in bills) if bills[0].cost is not None else None


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
