"""Exact odds: dealer outcomes, expected values of every play, and the edge of a whole rule set.

Pure, like the rest of the game: cards and rules in, numbers out. Probabilities that outsiders check are exact fractions; the
solver of a rule set works in double precision, whose error (about 1e-12) is far below any printed digit.
"""
