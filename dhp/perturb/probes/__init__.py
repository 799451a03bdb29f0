"""Controls and attacks: changes that make no text worse, to test judges."""
