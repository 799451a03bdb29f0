"""Names, numbers and terms replaced by fictional ones, by rule."""
