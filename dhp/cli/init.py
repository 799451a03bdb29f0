"""`dhp init`: a configuration file for one's own data, prompt and model."""

from pathlib import Path

import click

from dhp.core.errors import InputError

_FILE = """\
# Run it by: dhp benchmark --config {path}
# Every option of `dhp benchmark --help` may stand here; the command line comes first.

model: {model}
# base-url: http://localhost:8000/v1      # of an OpenAI-compatible server

dataset: {data}                           # good texts: CSV, JSON, JSONL or Parquet
field:                                    # what the columns are
  output: {output}                        # the text that is judged
{source}
metric: {metric}
scale: {scale}                            # 10..1 where lower is better; or labels: fail,pass
prompt-file: {prompt}                     # {{{{column}}}} or {{column}} takes a column
# name: v1                                # of the judge; default: the prompt file's name

# n: 100                                  # examples; default: all
# samples: 1                              # answers for each text, averaged
# controls: true                          # changes that must not lower a score; they cost calls
# max-cost: 5                             # with price-in and price-out, per million tokens
"""


@click.command()
@click.option("--data", prompt="Table of good texts", metavar="FILE", help="CSV, JSON, JSONL or Parquet.")
@click.option("--output", prompt="Column of the text that is judged", metavar="COLUMN", help="Its column.")
@click.option(
    "--source",
    prompt="Column of what the writer was given (empty: none)",
    default="",
    metavar="COLUMN",
    help="What the writer was given.",
)
@click.option("--metric", prompt="What is rated", default="quality", metavar="NAME", help="In one word.")
@click.option("--scale", prompt="Scale", default="1..5", metavar="LOW..HIGH", help="Of the answers.")
@click.option(
    "--prompt-file", prompt="Prompt file", default="prompt.txt", metavar="FILE", help="Your prompt."
)
@click.option("--model", prompt="Model", default="openai/gpt-4o-mini", metavar="MODEL", help="Asked by it.")
@click.option("--out", default="dhp.yaml", metavar="FILE", help="Where to write it.")
def init(
    data: str, output: str, source: str, metric: str, scale: str, prompt_file: str, model: str, out: str
) -> None:
    """Write a commented dhp.yaml; asks for what is not given.

    Example: dhp init --data tickets.csv --output summary --source ticket --metric usefulness
    """
    from dhp.content.own_task import own_metric
    from dhp.core.tables import read_table

    path = Path(out)
    if path.exists():
        raise InputError(f"--out {out}: is there already; choose another file, or remove it")
    columns = [name for name in (output, source) if name]
    read_table(Path(data)).need(columns)
    own_metric(metric, scale)
    shown = {
        "path": out,
        "data": data,
        "output": output,
        "source": f"  source: {source}\n" if source else "",
        "metric": metric,
        "scale": scale,
        "prompt": prompt_file,
        "model": model,
    }
    path.write_text(_FILE.format(**shown).replace("{{", "{").replace("}}", "}"), encoding="utf-8")
    if not Path(prompt_file).exists():
        slots = "".join(f"{name}: {{{name}}}\n\n" for name in columns[::-1])
        low, high = scale.split("..")[0], scale.split("..")[-1]
        text = f"{slots}Rate the {metric} of the {output}, from {low} to {high}. Rating:\n"
        Path(prompt_file).write_text(text, encoding="utf-8")
        print(f"written to {prompt_file}: a first prompt, to be edited")
    print(f"written to {out}; run it by: dhp benchmark --config {out}")
