"""Classical metrics as judges: overlap with a reference or the source, likelihood under a model."""
