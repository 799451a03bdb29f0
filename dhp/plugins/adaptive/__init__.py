"""Schedules by which fewer texts are rated: early stopping and threshold search."""
