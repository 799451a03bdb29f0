"""Judges that are shown two texts and asked which one is better."""
