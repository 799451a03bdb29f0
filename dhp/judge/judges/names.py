"""Names of judges with settings, written like a URL: `mock/blind?noise=1`."""

from urllib.parse import parse_qsl

from dhp.core.errors import InputError


def split_settings(model: str) -> tuple[str, dict[str, str]]:
    """The name before the `?` and the settings after it; `InputError` where they are malformed."""
    name, _, query = model.partition("?")
    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=True) if query else []
    except ValueError:
        raise InputError(
            f"model '{model}': broken settings '{query}'; allowed: name=value&name=value"
        ) from None
    settings = dict(pairs)
    if len(settings) < len(pairs):
        raise InputError(f"model '{model}': a setting is given twice; allowed: once")
    return name, settings
