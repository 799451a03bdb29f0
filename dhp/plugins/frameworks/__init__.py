"""Scorers of other frameworks as judges, recognised by their attributes; no framework is imported."""

from dhp.core.plugins import Plugin

PLUGIN = Plugin(
    "frameworks",
    "scorers of other frameworks as judges, logs of other tools as data",
    scorers={
        "autoevals": "dhp.plugins.frameworks.scorers:adapt_autoevals",
        "deepeval": "dhp.plugins.frameworks.scorers:adapt_deepeval",
        "inspect_ai": "dhp.plugins.frameworks.inspect_ai:adapt_inspect_ai",
        "langsmith": "dhp.plugins.frameworks.langsmith:adapt_langsmith",
        "mlflow": "dhp.plugins.frameworks.scorers:adapt_mlflow",
        "phoenix": "dhp.plugins.frameworks.scorers:adapt_phoenix",
        "ragas": "dhp.plugins.frameworks.ragas:adapt_ragas",
    },
    datasets={"logs": "dhp.plugins.frameworks.logs:logs"},
    functions={"log_dataset": "dhp.plugins.frameworks.logs:log_dataset"},
    log_scorers={"inspect_ai": "dhp.plugins.frameworks.inspect_ai:log_scorers"},
    log_ratings={"logs": "dhp.plugins.frameworks.log_ratings:log_ratings"},
)
