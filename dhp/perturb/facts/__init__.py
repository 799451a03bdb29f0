"""What texts state, and how a rule states something else: names, numbers, dates, negation, opposites.

A wrong fact must be noticed by reading, not by what stands in the text, so nothing is invented. What is put
in comes from the text, its source or the other texts of the table, as often as it stands there (`balance`).
"""
