"""Finds and strictly reads the content folders: `datasets/`, `perturbations/`, `protocols/`, ..."""
