"""A judge that computes: features of a text's language and of its agreement with the source."""
