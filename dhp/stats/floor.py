"""The floor of detection; a module of its own, as the command line needs it without the rest."""

FLOOR = 0.6
"""Detection from which damage counts as noticed, where nothing else is said."""
