"""Analysis of ratings: detection, verdicts and discernment scores."""
