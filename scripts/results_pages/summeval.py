"""SummEval: agreement of a recorded judge and of ROUGE with experts, beside what damage ROUGE notices."""

import gzip
import tempfile
from pathlib import Path

import pandas as pd
from results_pages.parts import Audit, Grid, SetFigures, Table, audit_of

import dhp
from dhp.core.errors import InputError
from dhp.core.seeding import text_hash
from dhp.loaders.rated import human_scores, read_rated
from dhp.plugins.human.agreement import JudgeAgreement, MetricAgreement
from dhp.plugins.human.correlation import Correlation

JUDGE = "gpt-3.5-turbo-0301"
_PROTOCOLS = {"rts": "reason, then score", "stareval": "one to five stars", "mcq": "a letter from A to E"}
_ROUGE = ("metric/rouge1", "metric/rouge2", "metric/rougeL")
_RECORDED = f"judge_responses/summeval_{JUDGE}.jsonl.gz"
_COLUMNS = "example=id&variant=system&answer=response"
_UNPACKED = f"gunzip -c DATA/{_RECORDED} > answers.jsonl && "
_HUMAN = "summeval=DATA/summeval/summeval.jsonl"


def recorded_ratings(data: Path, protocol: str) -> pd.DataFrame:
    """The ratings in the judge's answers under a protocol, which are packed."""
    with tempfile.TemporaryDirectory() as folder:
        answers = Path(folder) / "answers.jsonl"
        answers.write_bytes(gzip.decompress((data / _RECORDED).read_bytes()))
        model = f"recorded/{answers}?{_COLUMNS}&protocol={protocol}"
        return dhp.judge(model, f"summeval={data / 'summeval' / 'summeval.jsonl'}")


def summeval(data: Path) -> SetFigures:
    """Correlation with experts, and detection of rule-made damage by what can be computed here."""
    file = data / "summeval" / "summeval.jsonl"
    frames, commands, left_out = [], [], []
    for protocol, words in _PROTOCOLS.items():
        frames.append(recorded_ratings(data, protocol).assign(model=JUDGE, protocol=words))
        commands.append(_command(f'"recorded/answers.jsonl?{_COLUMNS}&protocol={protocol}"', _UNPACKED))
    for model in _ROUGE:
        try:
            frames.append(dhp.judge(model, f"summeval={file}").assign(protocol="F1, eleven references"))
        except InputError as e:
            left_out.append(f"{model} on summeval: {e}")
            continue
        commands.append(_command(model))
    human = pd.DataFrame(human_scores(read_rated("summeval", file)))
    found = dhp.correlate(pd.concat(frames), human, coefficients=("spearman", "kendall"))
    rows = tuple(_row(judge, metric) for judge in found.judges for metric in judge.metrics)
    data_hash = text_hash(file.read_bytes())
    table = Table(
        "Agreement with experts",
        "Correlation with the mean of the experts, with 95 % percentiles over 1,000 resamples of the "
        "articles.",
        (
            "judge",
            "asked for",
            "quality",
            "texts",
            "Spearman, within articles",
            "Kendall, within articles",
            "Spearman, systems",
        ),
        rows,
        tuple(commands),
        words=3,
        signatures=(f"human:summeval@{data_hash}|resamples:1000|seed:0|dhp:{dhp.__version__}",),
    )
    grid, more = _damage(file)
    return SetFigures("summeval", (grid,), (table,), (table, grid), (*left_out, *more))


def _command(model: str, before: str = "") -> str:
    return f"{before}dhp judge {_HUMAN} --model {model} --out r.csv && dhp correlate r.csv --human {_HUMAN}"


def _row(judge: JudgeAgreement, metric: MetricAgreement) -> tuple[str, ...]:
    name, _, way = judge.judge.partition(" (")
    known = {(c.level, c.coefficient): c for c in metric.correlations}
    columns = (("per_source", "spearman"), ("per_source", "kendall"), ("system", "spearman"))
    return (
        name,
        way.removesuffix(")"),
        metric.metric,
        str(metric.items),
        *(_shown(known[c]) for c in columns),
    )


def _shown(found: Correlation) -> str:
    if found.value is None:
        return "undefined"
    return f"{found.value:.2f}" + (f" [{found.ci[0]:.2f}, {found.ci[1]:.2f}]" if found.ci else "")


def _damage(file: Path) -> tuple[Grid, tuple[str, ...]]:
    """What ROUGE against the article, and the surface judge, notice of damage made by rule."""
    audits: list[Audit] = []
    commands, left_out = [], []
    for model in (*_ROUGE, "baseline/surface"):
        try:
            (result,) = dhp.run(model, "summeval", data=file)
        except InputError as e:
            left_out.append(f"{model} on damaged summaries: {e}")
            continue
        audits.append(audit_of(result, model))
        commands.append(
            f"dhp benchmark --model {model} --dataset summeval --data DATA/summeval/summeval.jsonl --details"
        )
    note = (
        "A hundred human summaries, degraded by rule, scored against the article. The recorded judge "
        "never saw "
        "these texts: of it, discernment says nothing."
    )
    return Grid("Damage noticed", note, tuple(audits), tuple(commands)), tuple(left_out)
