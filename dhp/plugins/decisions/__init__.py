"""Decision models: a text and typed questions go in, a probability for every answer comes out."""

from dhp.core.plugins import Plugin

PLUGIN = Plugin(
    "decisions",
    "decision models, which answer typed questions by probabilities: decisions/NAME",
    models={"decisions": "dhp.plugins.decisions.client:open_decisions"},
    forms={"decisions/NAME": "a decision model, behind /v1/systemone or /v1/decisions"},
)
