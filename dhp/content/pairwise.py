"""How judges are asked about two texts: pairwise protocols and their wording."""

from pathlib import Path

from pydantic import ValidationError

from dhp.content.catalog import name_or_file, named_file, names_in
from dhp.content.yaml import content_folder, describe, load_spec, load_yaml
from dhp.core.errors import InputError
from dhp.core.pair_spec import PAIR_ANSWERS, PairwiseProtocol, PairWording
from dhp.core.specs import LANGUAGES, Language


def pairwise_names() -> list[str]:
    """The pairwise protocols that ship with the package."""
    return names_in(content_folder("protocols") / "pairwise")


def read_pairwise(given: str, **changes: object) -> PairwiseProtocol:
    """A pairwise protocol by name or by file (`.yaml`), with changes to its settings.

    None leaves `temperature` and `top_p` to the model, and any other setting as it is. Raises `InputError`
    for an unknown name or setting, a wrong value, or settings that contradict each other.
    """
    folder = content_folder("protocols") / "pairwise"
    protocol = load_spec(name_or_file("pairwise protocol", folder, given), PairwiseProtocol)
    chosen = {k: v for k, v in changes.items() if v is not None or k in ("temperature", "top_p")}
    try:
        changed = PairwiseProtocol.model_validate({**protocol.model_dump(), **chosen})
    except ValidationError as e:
        raise InputError(f"protocol '{protocol.protocol}': {describe(e, PairwiseProtocol)}") from None
    changed._origin = protocol.origin
    return changed


def is_pairwise(given: str) -> bool:
    """Whether a protocol's name, or the file that is given, is that of a pairwise one."""
    path = Path(given)
    if path.suffix not in (".yaml", ".yml") or not path.is_file():
        return given in pairwise_names()
    data = load_yaml(path)
    return isinstance(data, dict) and data.get("answer") in PAIR_ANSWERS


def pair_languages() -> list[Language]:
    """The languages of pairwise prompts."""
    there = names_in(content_folder("protocols") / "pairwise" / "wording")
    return [language for language in LANGUAGES if language in there]


def read_pair_wording(language: Language) -> PairWording:
    """What pairwise prompts in this language are made of."""
    folder = content_folder("protocols") / "pairwise" / "wording"
    return load_spec(named_file("language of pairwise prompts", folder, language), PairWording)
