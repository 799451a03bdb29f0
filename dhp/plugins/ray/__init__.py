"""Work on many machines by Ray (`--executor ray`)."""
