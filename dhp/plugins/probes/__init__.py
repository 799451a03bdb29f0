"""Probes of a judge beside damage: invariance, verbosity, calibration of the scale, stability."""

from dhp.core.plugins import Plugin

PLUGIN = Plugin(
    "probes",
    "probes of a judge beside damage: invariance, verbosity, calibration, stability",
    commands={
        "probe": (
            "dhp.plugins.probes.command:probe",
            "Test what moves the scores of a judge beside damage.",
        )
    },
)
