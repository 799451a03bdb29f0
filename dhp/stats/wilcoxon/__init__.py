"""wilcoxon."""
