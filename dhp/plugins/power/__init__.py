"""Number of examples that a judge needs to notice damage."""
