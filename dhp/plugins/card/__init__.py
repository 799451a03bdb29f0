"""Cards of judges: what a judge notices and misses, on one page."""
