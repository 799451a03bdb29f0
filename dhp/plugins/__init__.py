"""Plug-ins of this distribution: each folder adds what its `PLUGIN` names; see `dhp.core.plugins`."""
