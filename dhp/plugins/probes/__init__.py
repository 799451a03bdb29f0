"""Probes of a judge beside damage: invariance, verbosity, calibration of the scale, stability."""
