"""Classical metrics as judges."""
