"""surface."""
