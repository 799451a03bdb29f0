"""Names, numbers and terms replaced by fictional ones, by rule."""

from dhp.perturb.entities.finder import finder_name
from dhp.perturb.entities.perturber import fictional_named_entities_rule
from dhp.perturb.entities.types import EntityLists

__all__ = ["EntityLists", "fictional_named_entities_rule", "finder_name"]
