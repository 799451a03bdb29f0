"""Models that run in this process by transformers: `hf/NAME_OR_PATH`."""
