"""Content folders (`datasets/`, `perturbations/`, `protocols/`, ...), found and strictly read."""
