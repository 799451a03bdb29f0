"""Juries: the smallest set of judges that together notice every kind of damage."""
