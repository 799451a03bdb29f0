"""Models that run in this process by transformers: `hf/NAME_OR_PATH`."""

from dhp.core.plugins import Plugin

PLUGIN = Plugin(
    "local",
    "language models in this process: hf/NAME_OR_PATH and vllm/NAME_OR_PATH",
    models={"hf": "dhp.plugins.local.hf:open_hf", "vllm": "dhp.plugins.local.vllm_model:open_vllm"},
    forms={
        "hf/ORG/NAME": "a model of the Hugging Face Hub, or a folder hf/PATH, in this process",
        "vllm/ORG/NAME": "the same, by vLLM",
    },
    extra="hf",
)
