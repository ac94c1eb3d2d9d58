"""The 4,000 rounds of five other engines, where the tests find them."""

from pathlib import Path

PEER_HANDS = Path(__file__).parents[1] / "data" / "peer-hands.jsonl"
