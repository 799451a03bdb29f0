"""Checks of an installation; no server is called but the one that is named.

`examine` makes a `Check` for each thing: versions, the core's packages, content, plug-ins, cache, each extra,
the key, devices, and what the user names. A check never raises: what is wrong is its finding.
"""

import importlib
import importlib.metadata
import os
import platform
import re
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path
from typing import Any, Literal
from urllib.error import HTTPError, URLError

from dhp._version import __version__
from dhp.core.errors import InputError, install_command
from dhp.core.files import cache_folder, reason
from dhp.core.plugins import plugins

State = Literal["ok", "missing", "failed"]
"""`missing` is what only some uses need; `failed` what every use needs, or was asked for."""

_DISTRIBUTION = "dhp-benchmark"
_EXTRAS = {"data": "datasets of the Hugging Face Hub (hf:ORG/NAME) and preparing WMT22"}
"""Extra of the core -> its use; plug-ins name theirs."""
_REQUIREMENT = re.compile(
    # scipy>=1.11; extra == 'human': the name, the lowest version, the extra
    r"([\w.-]+)(?:\[[^]]*\])?\s*(?:>=\s*([\w.]+))?[^;]*(?:;.*extra\s*==\s*['\"]([\w-]+)['\"])?"
)
_LOADED = ("numpy", "pydantic", "rapidfuzz", "rich", "sqlite3", "ssl", "yaml")
"""What every run loads: what is broken among them shows in their import."""
_SHOWN_MODELS = 5
"""Models of a server that are named; of further ones the number. Chosen."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at."""

    name: str
    state: State
    says: str
    """Finding in words, on one line."""
    values: dict[str, Any] = field(default_factory=dict)
    """Finding as values: versions, sizes, names."""


@dataclass(frozen=True, slots=True)
class _Package:
    name: str
    least: str
    """Lowest version allowed; may be empty."""
    version: str | None
    """Installed; None if it is not."""

    @property
    def problem(self) -> str | None:
        if self.version is None:
            return self.name
        if self.least and _numbers(self.version) < _numbers(self.least):
            return f"{self.name} {self.version} is older than {self.least}"
        return None


def examine(
    base_url: str | None = None,
    *,
    judge: str | None = None,
    fields: Mapping[str, str] = {},
    timeout: float = 5.0,
) -> list[Check]:
    """Look at the installation, and at a server and a judge of the user's own if they are named.

    `fields` say what a parameter of the judge is given instead. Raises `InputError` if `base_url` is no
    address.
    """
    # The server first, as a wrong address ends the command; it is shown last.
    of_user: list[Check] = []
    if base_url is not None:
        of_user.append(server(base_url, timeout))
    if judge is not None:
        of_user.append(_own_judge(judge, fields))
    packages = _packages()
    core = [_versions(), _core(packages), _content(), _plugins(), _cache()]
    return [*core, *_extras(packages), _key(), _devices(), *of_user]


def _own_judge(name: str, fields: Mapping[str, str]) -> Check:
    """What a judge of the user's own is recognised as; it is not called."""
    from dhp.judge.adapters.adapter import adapt, instance, load_object
    from dhp.judge.api import is_judge

    try:
        judge = instance(load_object(name), f"model '{name}'")
        if is_judge(judge):
            return Check(f"judge {name}", "ok", "a dhp.Judge")
        adapter = adapt(judge, f"model '{name}'")
    except InputError as e:
        return Check(f"judge {name}", "failed", str(e))
    # What fills each parameter: the first field that an example has, or the one that the user names.
    fields_by_parameter = dict(adapter.fields)
    for parameter, field_of_user in fields.items():
        fields_by_parameter[parameter] = (field_of_user,)
    mappings = []
    for parameter, names in fields_by_parameter.items():
        source = " or ".join(names) or "nothing"
        mappings.append(f"{parameter} <- {source}")
    mapping = ", ".join(mappings)
    scale = "scale not known"
    if adapter.scale:
        low, high = adapter.scale
        scale = f"scale {low:g}..{high:g}"
    way = "asynchronous" if adapter.is_async else "synchronous"
    says = f"{adapter.shape}, metric '{adapter.name}', {way}, {scale}; {mapping}"
    return Check(f"judge {name}", "ok", says, {"shape": adapter.shape, "fields": fields_by_parameter})


def _versions() -> Check:
    system = platform.platform(terse=True)
    installation = {"dhp": __version__, "python": platform.python_version(), "system": system}
    return Check("versions", "ok", _named_values(installation), installation)


def _named_values(values: Mapping[str, object]) -> str:
    named = [f"{name} {value}" for name, value in values.items()]
    return ", ".join(named)


def _packages() -> dict[str, list[_Package]]:
    """Extra -> its packages; those of the core by the empty name. Empty if dhp is not installed itself."""
    packages: dict[str, list[_Package]] = {}
    for line in _requirements():
        match = _REQUIREMENT.match(line)
        if match:
            name, least, extra = match.groups(default="")
            packages.setdefault(extra, []).append(_Package(name, least, _version(name)))
    return packages


def _requirements() -> list[str]:
    """What the installed package says that it needs; empty if dhp is not installed itself."""
    try:
        return importlib.metadata.requires(_DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError:
        return []


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _numbers(version: str) -> tuple[int, ...]:
    """The numbers of a release, for comparing: 1.10 is newer than 1.9."""
    release = re.split(r"[^\d.]", version)[0]  # without `rc1`, `+cpu` and the like
    return tuple(map(int, re.findall(r"\d+", release)))


def _problems(packages: list[_Package]) -> list[str]:
    return [package.problem for package in packages if package.problem]


def _core(packages: dict[str, list[_Package]]) -> Check:
    core = packages.get("", [])
    versions = {package.name: package.version for package in core}
    if not core:
        return Check("core", "failed", "nothing is known about what dhp needs; install it again")
    problems = _problems(core)
    if problems:
        return Check("core", "failed", f"missing: {', '.join(problems)}; install dhp again", versions)
    try:
        for name in _LOADED:
            importlib.import_module(name)
    except (ImportError, OSError) as e:
        return Check("core", "failed", f"cannot be imported ({reason(e)}); install dhp again", versions)
    return Check("core", "ok", _named_values(versions), versions)


def _extras(packages: Mapping[str, list[_Package]]) -> list[Check]:
    uses = dict(_EXTRAS)
    with suppress(InputError):  # `_plugins` says it
        for plugin in plugins():
            if plugin.extra:
                uses[plugin.extra] = plugin.help
    extras = []
    for name, use in uses.items():
        extras.append(_extra(name, use, packages.get(name, [])))
    return extras


def _extra(name: str, use: str, packages: list[_Package]) -> Check:
    versions = {package.name: package.version for package in packages}
    problems = _problems(packages)
    if problems or not packages:
        lacks = ", ".join(problems) or "unknown"
        says = f"{lacks}: for {use}; install the extra: {install_command(name)}"
        return Check(f"extra {name}", "missing", says, versions)
    return Check(f"extra {name}", "ok", _named_values(versions), versions)


def _plugins() -> Check:
    try:
        plug_ins = plugins()
    except InputError as e:
        return Check("plug-ins", "failed", str(e))
    names = [plugin.name for plugin in plug_ins]
    return Check("plug-ins", "ok", ", ".join(names), {"plugins": names})


def _content() -> Check:
    from dhp.content.check import check

    try:
        count = len(list(check()))
    except InputError as e:
        return Check("content", "failed", str(e))
    except ImportError as e:
        return Check("content", "failed", f"cannot be read ({reason(e)})")
    return Check("content", "ok", f"{count} entries read", {"entries": count})


def _cache() -> Check:
    from dhp.llm.store import FILE

    try:
        folder = cache_folder()
    except InputError as e:
        return Check("cache", "failed", str(e))
    store = folder / FILE
    size = 0
    # SQLite keeps what was written last in a file beside that of the store.
    for path in (store, Path(f"{store}-wal")):
        if path.is_file():
            size += path.stat().st_size
    described = {"folder": str(folder), "replies_bytes": size}
    # The first run makes the folder: until then the nearest one above it tells whether it can.
    for existing in (folder, *folder.parents):
        if existing.exists():
            break
    try:  # the rights of a folder do not tell: its file system may be read-only, or full
        with tempfile.TemporaryFile(dir=existing):
            pass
    except OSError as e:
        says = f"{folder}: cannot be written ({reason(e)}); set XDG_CACHE_HOME, or use --cache or --no-store"
        return Check("cache", "failed", says, {**described, "writable": False})
    says = f"{folder}, writable, {size / 1e6:,.1f} MB of replies"
    return Check("cache", "ok", says, {**described, "writable": True})


def _key() -> Check:
    from dhp.llm.clients.connection import KEY_VARIABLE

    name, key = f"key {KEY_VARIABLE}", os.environ.get(KEY_VARIABLE, "").strip()
    if not key:
        return Check(name, "missing", "not set: openai/ models of OpenAI itself need it", {"present": False})
    if not _sendable(key):
        return Check(name, "failed", "set, but holds a character that cannot be sent", {"present": True})
    return Check(name, "ok", "set", {"present": True})


def _sendable(key: str) -> bool:
    return key.isascii() and key.isprintable()


def _devices() -> Check:
    machine: dict[str, Any] = {"cpus": os.cpu_count(), "gpus": []}
    says = f"{machine['cpus']} CPUs"
    if _version("torch") is None:
        return Check("devices", "ok", f"{says}; no torch to see a GPU by", machine)
    try:
        import torch

        for number in range(torch.cuda.device_count()):
            machine["gpus"].append(torch.cuda.get_device_name(number))
        if torch.backends.mps.is_available():
            machine["gpus"].append("mps")
    except Exception as e:  # noqa: BLE001  drivers and libraries fail in ways of their own
        return Check("devices", "missing", f"{says}; torch does not work ({reason(e)})", machine)
    gpus = ", ".join(machine["gpus"]) or "none"
    return Check("devices", "ok", f"{says}; GPUs: {gpus}", machine)


def server(base_url: str, timeout: float = 5.0) -> Check:
    """An OpenAI-compatible server: whether it answers, and its models. Raises `InputError` for no address."""
    from dhp.llm.clients.connection import KEY_VARIABLE, find_connection, served_models

    if not base_url:
        raise InputError("`base_url`: is empty; must have the form http://HOST:PORT/v1")
    connection = find_connection(base_url)
    url = connection.endpoint
    key = os.environ.get(KEY_VARIABLE, "").strip()
    headers = {}
    if key and _sendable(key):
        headers["Authorization"] = f"Bearer {key}"
    try:
        models = served_models(connection.urls[0], headers, timeout)
    except (OSError, HTTPException, ValueError, TypeError, KeyError, RecursionError) as e:
        with_key = f"the key in {KEY_VARIABLE}" if headers else "calls without a key"
        return Check(f"server {url}", "failed", _fault(e, with_key, timeout))
    shown = ", ".join(models[:_SHOWN_MODELS]) or "none"
    further = len(models) - _SHOWN_MODELS
    if further > 0:
        shown = f"{shown} and {further} more"
    says = f"models: {shown}"
    return Check(f"server {url}", "ok", says, {"models": models})


def _fault(error: Exception, caller: str, timeout: float) -> str:
    """What went wrong with a server; nothing that it said, which could repeat the key."""
    if isinstance(error, HTTPError):
        says = "does not name its models"
        if error.code in (401, 403):
            says = f"refuses {caller}"
        elif error.code == 404:
            says = "knows no /models; the address goes up to and including /v1"
        elif error.code in (301, 302, 303, 307, 308):
            says = "leads to another address; name that one"
        return f"{says} (HTTP {error.code})"

    # `urllib` wraps what the system says, and an answer in another form raises whatever reading it does.
    why = error
    if isinstance(error, URLError) and isinstance(error.reason, Exception):
        why = error.reason
    if isinstance(why, TimeoutError):
        return f"no answer within {timeout:g} seconds"
    if isinstance(why, OSError):
        return f"cannot be reached ({reason(why)})"
    return "answers, but not as an OpenAI-compatible server"
