"""References in BibTeX: the method, the protocols and the data of a run."""

from dhp.core.plugins import Plugin

PLUGIN = Plugin(
    "cite",
    "references in BibTeX: the method, the protocols and the data of a run",
    commands={
        "cite": (
            "dhp.plugins.cite.command:cite",
            "Print what to cite for a run, a dataset or a protocol, in BibTeX.",
        )
    },
    functions={"cite": "dhp.plugins.cite.references:cite"},
)
