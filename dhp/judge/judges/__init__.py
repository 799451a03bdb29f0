"""The judges: language models, recordings, mocks, baselines."""
