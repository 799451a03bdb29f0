"""Self-contained HTML pages."""

import base64
import hashlib
import json
import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dhp.content.catalog import kind_name, variant_name
from dhp.core.shown import visible
from dhp.core.verdicts import VERDICTS
from dhp.report.columns import row_name
from dhp.report.labels import figure, in_key, percent, percents, score

if TYPE_CHECKING:
    from jinja2 import Environment, Template
    from markupsafe import Markup

    from dhp.report.document import Part

_HERE = Path(__file__).parent / "assets"
# \u001b; not in \\u001b, where the first backslash escapes the second and u001b is text
_ESCAPED_CONTROL = re.compile(r"(?<!\\)((?:\\\\)*)\\u00[01][0-9a-f]")


def page(
    template: str | Path,
    *,
    styles: Sequence[str | Path] = (),
    scripts: Sequence[str | Path] = (),
    **values: object,
) -> str:
    """A page from a template that extends `base.html`.

    Its styles and scripts are in it, and its content security policy allows no others. Every value is escaped
    unless it is `markupsafe.Markup`. Template, styles and scripts are files of the folder `assets`, or paths
    of one's own, whose template may use those beside it; `base.css` is on every page, `tables.js` sorts
    tables.
    """
    from markupsafe import Markup

    texts = [asset(name) for name in scripts]
    rendered = _template(template).render(
        style=Markup("".join([asset("base.css"), verdict_styles(), *map(asset, styles)])),
        scripts=[Markup(text) for text in texts],
        # Hashes for the content security policy: a browser runs these scripts and no others.
        script_hashes=Markup(" ".join(f"'sha256-{_sha256(text)}'" for text in texts)),
        **values,
    )
    return visible(rendered)


def document_page(title: str, lead: str, parts: "Sequence[Part]") -> str:
    """A page of parts, with tables that can be sorted; `lead` is the sentence below its title."""
    return page(
        "document.html",
        styles=("report.css", "drawn.css", "maps.css"),
        scripts=("tables.js",),
        title=title,
        lead=lead,
        parts=parts,
    )


def fragment(parts: "Sequence[Part]") -> str:
    """Parts for a notebook, within a page that has styles of its own."""
    from markupsafe import Markup

    style = Markup("".join([verdict_styles(), asset("fragment.css")]))
    return visible(_template("fragment.html").render(style=style, parts=parts))


def verdict_styles() -> str:
    """The rules of a style sheet for every word of a verdict: its colours, and the form of its dot."""
    dots = {"full": "", "hollow": "background: var(--page)", "square": "border-radius: 0"}
    lines = []
    for word in VERDICTS.values():
        fill, mark = (f"light-dark({', '.join(pair)})" for pair in (word.fill, word.mark))
        lines.append(f".{word.css} {{ --fill: {fill}; --mark: {mark}; color: var(--mark); }}\n")
        lines += [f".{word.css} .dot {{ {dots[word.shape]}; }}\n"] if dots[word.shape] else []
    return "".join(lines)


@cache
def asset(name: str | Path) -> str:
    """A file of the folder `assets`, or any by its whole path."""
    return (_HERE / name).read_text("utf-8")


def _template(template: str | Path) -> "Template":
    """A template of the folder `assets`, or a path of one's own, which may use those beside it.

    Raises `ValueError` for a block that the template it extends has not: nothing would show it.
    """
    path = Path(template)
    # A name is a template of ours; the folder of a path is searched after ours.
    environment = _environment(_HERE if isinstance(template, str) else path.parent)
    _check_blocks(environment, path.name)
    return environment.get_template(path.name)


@cache
def _check_blocks(environment: "Environment", name: str) -> frozenset[str]:
    """The names of the blocks of a template and of those it extends."""
    from jinja2 import nodes

    assert environment.loader is not None
    source, _, _ = environment.loader.get_source(environment, name)
    tree = environment.parse(source)
    blocks = frozenset(block.name for block in tree.find_all(nodes.Block))
    for extends in tree.find_all(nodes.Extends):
        # A parent by a variable could not be looked up here; our templates name theirs.
        assert isinstance(extends.template, nodes.Const)
        known = _check_blocks(environment, extends.template.value)
        shown = {part.name for part in tree.body if isinstance(part, nodes.Block)}
        unknown = sorted(shown - known)
        if unknown:
            allowed = ", ".join(sorted(known))
            raise ValueError(
                f"{name}: block '{unknown[0]}' is not in {extends.template.value}; allowed: {allowed}"
            )
        blocks |= known
    return blocks


def _sha256(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


@cache
def _environment(folder: Path) -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader([_HERE, folder]),
        autoescape=True,
        # A misspelt name is an error and not an empty place on the page.
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= _FILTERS
    return made


def _count(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}"


def _code(text: str) -> "Markup":
    """The text with what is in back quotes as code."""
    from markupsafe import Markup, escape

    parts = (
        # What stands between two back quotes has an odd place among the parts.
        Markup("<code>{}</code>").format(part) if index % 2 else escape(part)
        for index, part in enumerate(text.split("`"))
    )
    return Markup("").join(parts)


def embedded(data: object) -> "Markup":
    """Data for a script element of type application/json, which no text in it can end."""
    from markupsafe import Markup

    dumped = _ESCAPED_CONTROL.sub("\\1\ufffd", json.dumps(data, ensure_ascii=False, separators=(",", ":")))
    # `</script>` would end the element; as \u003c the sign is the same to JSON and nothing to HTML.
    return Markup(dumped.replace("<", "\\u003c"))


def _refused(message: str) -> None:
    raise TypeError(message)


_FILTERS: dict[str, Callable[..., Any]] = {
    "refused": _refused,
    "part_kind": lambda part: type(part).__name__,
    "code": _code,
    "count": _count,
    "embedded": embedded,
    "figure": figure,
    "in_key": in_key,
    "kind_name": kind_name,
    "percents": percents,
    "row_name": row_name,
    "score": score,
    "share": percent,
    "variant_name": variant_name,
    "words": lambda name: name.replace("_", " "),
}
