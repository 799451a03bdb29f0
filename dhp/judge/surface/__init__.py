"""A judge without a model: features of language and of agreement with the source."""
