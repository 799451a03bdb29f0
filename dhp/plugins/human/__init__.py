"""Agreement of judges with human ratings: correlation, comparison of judges, raters, corrected means."""
