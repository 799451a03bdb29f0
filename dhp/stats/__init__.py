"""The statistics of discernment: arrays in, results out; knows no LLM and no file."""
