"""Where the work of a run is done: in this process, or by workers on the machines of a cluster."""
