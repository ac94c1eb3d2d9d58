"""The immutable record: one port, its adapters, the hash chain and the check of it. Knows bytes, not blackjack."""
