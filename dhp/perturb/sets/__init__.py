"""Perturbation sets as folders: degraded texts that are made once and checked on every read.

`card.json` says what the set holds, with the sha256 of every file; `README.md` tells people; each dataset
has a folder with `original.jsonl` and one file a variant. The same texts give the same bytes everywhere.
"""
