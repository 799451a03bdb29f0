"""Plug-ins of this distribution: each folder adds what its `plugin.py` names; see `dhp.core.plugins`."""
