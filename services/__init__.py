"""Holecard: every card and every wager of a casino's blackjack tables as an immutable event."""
