"""What this plug-in adds."""

from dhp.core.plugins import Plugin

PLUGIN = Plugin(
    "frameworks",
    "scorers of other frameworks as judges, logs of other tools as data",
    scorers={
        "autoevals": "dhp.plugins.frameworks.scorers:adapt_autoevals",
        "deepeval": "dhp.plugins.frameworks.deepeval:adapt",
        "inspect_ai": "dhp.plugins.frameworks.inspect_ai:adapt",
        "mlflow": "dhp.plugins.frameworks.scorers:adapt_mlflow",
        "phoenix": "dhp.plugins.frameworks.scorers:adapt_phoenix",
        "ragas": "dhp.plugins.frameworks.ragas:adapt",
    },
    datasets={"logs": "dhp.plugins.frameworks.logs:logs"},
    functions={"log_dataset": "dhp.plugins.frameworks.logs:log_dataset"},
    log_scorers={"inspect_ai": "dhp.plugins.frameworks.inspect_ai:log_scorers"},
)
