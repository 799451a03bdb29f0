"""Classical metrics as judges."""

from dhp.core.plugins import Plugin

NAMES = (
    "rouge1 rouge2 rougeL rougeLsum bleu chrf ter meteor-exact distinct bertscore bartscore loglikelihood "
    "perplexity"
).split()

PLUGIN = Plugin(
    "metrics",
    "classical metrics: metric/NAME",
    judges={"metric": "dhp.plugins.metrics.metrics:metric_judge"},
    forms={f"metric/{name}": "a classical metric" for name in NAMES},
    extra="metrics",
)
