"""A judge that computes: features of the surface of a text, its language and its agreement with the source."""
