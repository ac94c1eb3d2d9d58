"""Blackjack itself, pure; cards, hands, house rules, the round as decide and evolve, payouts. No I/O, clock, chance."""
