"""Ask a language model many things, each paid for once."""
