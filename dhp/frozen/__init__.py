"""Perturbation sets as folders: degraded texts made once, checked whenever they are read, used by everybody.

`card.json` says what the set holds, with the sha256 of every file; `README.md` tells people; each dataset
has a folder with `original.jsonl` and one file a variant. The same texts give the same bytes everywhere.
"""

from dhp.frozen.card import CARD
from dhp.frozen.part import FrozenPart, matched
from dhp.frozen.read import read_frozen
from dhp.frozen.write import check_free, write_frozen

__all__ = ["CARD", "FrozenPart", "check_free", "matched", "read_frozen", "write_frozen"]
