"""Wilcoxon signed-rank tests in log space."""
