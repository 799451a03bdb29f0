"""What is secret: a key of the environment, a header, a password in an address, a field of `--body`.

Whoever reads one remembers it here; `dhp.core.hiding` puts `***` in its place wherever it would be written.
The calls still use it. What looks like a key in settings and in what a server says of itself is secret by
its form; in texts under judgement and in answers only what was remembered is.
"""

import html
import json
import re
from collections.abc import Iterator, Mapping
from urllib.parse import quote, unquote

from dhp.core.hiding import HIDDEN, add, hidden

_SHORTEST = 12
"""Fewest characters of a secret: local servers take a short word in place of a key."""
_SHORTEST_MIXED = 8
"""Characters of one with both letters and digits."""
_FORM = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|ghp|gho|ghu|ghs|github_pat|glpat|nvapi|pplx|r8|tgp|hf|xox[abps]|dapi)[-_][\w-]{8,}"
    r"|\bAIza[\w-]{8,}|\bAKIA[A-Z\d]{12,}|\beyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]+)?"
    r"|(?<=bearer )[^\s\"']+|(?<=basic )[^\s\"']{8,}"
    r"|(?<=://)[^\s/@\"':]*:[^\s/@\"']+(?=@)",
    re.I,
)
"""What is a key wherever it stands: the beginnings that providers use, what follows the name of a scheme of
authorization, user and password of an address: `sk-...`, `AIza...`, the end of `Bearer ...`,
`user:password` in `https://user:password@host`."""
_SCHEME = re.compile(r"(bearer|basic) [^\s\"']+", re.I)
"""A scheme of authorization with its value: `Bearer ...`."""
_NAMED = re.compile(r"(?<![\w.-])([\w.-]+)[\"']?\s*[:=]\s*[\"']?(?!//)([^\s\"',;&{}\[\]]{8,})")
"""A name with a value in a text, as an address or a header has them: `api_key=...`, `"token": "..."`."""
_PART_OF_ADDRESS = re.compile(
    r"\b(?:sk|pk|key|token)[-_=].{8}"
    r"|(?=[a-z]*\d)(?=\d*[a-z])[a-z\d]{16}"
    r"|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}",
    re.I,
)
"""A part of a path that may be a key, as gateways take one there: `key-...`, 16 letters and digits mixed, a
UUID."""
_KEY_WORDS = frozenset(
    "key apikey secret password passwd passphrase pwd credential credentials token authorization auth bearer "
    "jwt cookie".split()
)
_NO_SECRETS = frozenset("bos eos pad stop unk sep mask cache public primary foreign sort".split())
"""Words before `token` or `key` that make it something else, as in `prompt_cache_key`."""
_LONGEST_WORD = 16
"""Characters from which a mixed value is secret under a name that only holds a word for a key, as `key_1`."""


def remember(*values: str) -> bool:
    """Keep secrets, which are hidden from now on; returns whether there are any.

    Too short ones, which words could be, are not kept. Of two words, as in `Bearer KEY`, the second is one.
    """
    forms: list[str] = []
    for value in values:
        secret = _without_scheme(value)
        if _is_long_enough(secret):
            # Each form in which a file may hold it, as hiding looks for plain texts.
            forms += _forms(secret)
    add(dict.fromkeys(forms, HIDDEN))
    return bool(forms)


def remember_fields(value: object, name: str = "") -> None:
    """Keep what is secret in a setting of several levels: by the name of its field, or by its form."""
    match value:
        case Mapping():
            for key, inner in value.items():
                remember_fields(inner, str(key))
        case list() | tuple():
            for inner in value:
                remember_fields(inner, name)
        case str() if _is_secret(name, value):
            remember(value)
            add(_with_name(name, value))
        case str():
            remember(*_secrets_in(value))
            for match in _SCHEME.finditer(value):
                whole, scheme = match[0], match[1]
                add({whole: f"{scheme} {HIDDEN}"})
        # A number can be hidden only together with its name: elsewhere it may be any number.
        case int() if not isinstance(value, bool) and _is_secret(name, ""):
            add(_with_name(name, value))


def remember_address(url: str) -> tuple[str, ...]:
    """Keep the parts of an address that may be keys; returns those of its path."""
    # Without the host, which is the first part, and without the query.
    path = url.partition("://")[2].partition("?")[0].split("/")[1:]
    parts = tuple(part for part in path if _PART_OF_ADDRESS.search(part))
    remember(*parts, *_secrets_in(url))
    return parts


def hidden_words(text: str) -> str:
    """What a server says of itself, with `***` also in place of what looks like a key."""
    text = hidden(text)
    # The longest first: a shorter one inside it would leave its rest to be read.
    for secret in sorted(_secrets_in(text), key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    return text


def _without_scheme(value: str) -> str:
    words = value.split()
    return words[1] if len(words) == 2 else value.strip()


def _is_long_enough(word: str) -> bool:
    shortest = _SHORTEST_MIXED if _is_mixed(word) else _SHORTEST
    return len(word) >= shortest


def _is_mixed(word: str) -> bool:
    return any(c.isdigit() for c in word) and any(c.isalpha() for c in word)


def _is_secret(name: str, value: str) -> bool:
    """Whether the name of a field says that its value is one; `max_tokens` and the like do not."""
    # `apiKey`, `api-key` and `api.key` are the words `api` and `key`.
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower().replace("-", "_").replace(".", "_").split("_")
    if not _KEY_WORDS.intersection(words) or _NO_SECRETS.intersection(words):
        return False
    return words[-1] in _KEY_WORDS or (len(value) >= _LONGEST_WORD and _is_mixed(value))


def _secrets_in(text: str) -> Iterator[str]:
    """What is a secret in a setting by its form, or by the name that stands before it."""
    for match in _FORM.finditer(text):
        yield match[0]
        yield match[0].rpartition(":")[2]  # the password behind a user's name
    for match in _NAMED.finditer(text):
        if _is_secret(match[1], match[2]) and _is_mixed(match[2]):
            yield match[2]


def _forms(secret: str) -> set[str]:
    """How a secret stands in files: as it is, and as JSON, HTML and addresses write it."""
    in_json = {json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}
    page = html.escape(secret)
    in_page = {page, page.replace("&quot;", "&#34;").replace("&#x27;", "&#39;")}
    in_script = json.dumps(secret)[1:-1]
    for character in "<>&'":
        in_script = in_script.replace(character, f"\\u{ord(character):04x}")
    return {secret, quote(secret, safe=""), unquote(secret), in_script, *in_json, *in_page}


def _with_name(name: str, value: str | int) -> dict[str, str]:
    """How a field is written, too short a secret perhaps to be replaced anywhere else."""
    written = json.dumps(value, ensure_ascii=False)
    forms = {f"{name}={value}": f"{name}={HIDDEN}", f"{name}={written}": f'{name}="{HIDDEN}"'}
    for space in ("", " "):
        forms[f'"{name}":{space}{written}'] = f'"{name}":{space}"{HIDDEN}"'
        forms[f'"{name}":{space}{json.dumps(value)}'] = f'"{name}":{space}"{HIDDEN}"'
    return forms
