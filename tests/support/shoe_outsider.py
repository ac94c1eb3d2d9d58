"""Checks a retired shoe from its transcript as a stranger would: Python's standard library and the published recipe only.

Imports nothing of ours on purpose (E08). `python tests/support/shoe_outsider.py transcript.json` prints what it found and
exits 1 when anything is wrong. The transcript is JSON: bytes as hex, cards as "As", null for a card that nobody saw.
"""

import hashlib
import hmac
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

DECK = [rank + suit for suit in "cdhs" for rank in "23456789TJQKA"]


def keyed(seed: bytes, name: bytes, number: int) -> bytes:
    return hmac.new(seed, name + number.to_bytes(8, "big"), hashlib.sha256).digest()


class Stream:
    """The words of one named stream."""

    def __init__(self, seed: bytes, name: bytes) -> None:
        self.seed, self.name, self.block, self.buffer = seed, name, 0, b""

    def below(self, bound: int) -> int:
        while True:
            if not self.buffer:
                self.buffer = keyed(self.seed, self.name, self.block)
                self.block += 1
            word, self.buffer = int.from_bytes(self.buffer[:4], "big"), self.buffer[4:]
            if word < 2**32 - 2**32 % bound:
                return word % bound


def shuffle(stack: list[str], seed: bytes) -> list[str]:
    cards, stream = list(stack), Stream(seed, b"holecard-order/1:")
    for i in reversed(range(1, len(cards))):
        j = stream.below(i + 1)
        cards[i], cards[j] = cards[j], cards[i]
    return cards


def tree(hashes: list[bytes]) -> bytes:
    if len(hashes) == 1:
        return hashes[0]
    k = 1
    while 2 * k < len(hashes):
        k *= 2
    return hashlib.sha256(b"\1" + tree(hashes[:k]) + tree(hashes[k:])).digest()


def root(cards: list[str], seed: bytes) -> bytes:
    return tree(
        [
            hashlib.sha256(
                b"\0holecard-card/1:"
                + place.to_bytes(4, "big")
                + card.encode()
                + keyed(seed, b"holecard-salt/1:", place)
            ).digest()
            for place, card in enumerate(cards, start=1)
        ]
    )


def derive_stacks(transcript: dict[str, Any], problems: list[str]) -> list[str]:
    """Every card by shoe position, dealt or not."""
    by_position: list[str] = []
    for stack in transcript["stacks"]:
        seed = bytes.fromhex(stack["seed"])
        source = [by_position[position - 1] for position in stack["recycled"]] or DECK * transcript["decks"]
        cards = shuffle(source, seed)
        if root(cards, seed).hex() != stack["root"]:
            problems.append(f"stack {stack['number']}: the order does not open the root")
        if stack["first_position"] != len(by_position) + 1 or stack["size"] != len(cards):
            problems.append(f"stack {stack['number']}: wrong place or size")
        cut = stack["cut_depth"]
        by_position += cards[cut:] + cards[:cut]
    return by_position


def derive_machine(transcript: dict[str, Any]) -> list[str]:
    """Every card that came out of a continuous shuffler."""
    seed = bytes.fromhex(transcript["stacks"][0]["seed"])
    content, out = DECK * transcript["decks"], list[str]()
    returns = list(transcript["returned"])
    for draw in range(1, len(transcript["cards"]) + 1):
        while returns and returns[0]["after"] == draw - 1:
            content += [out[position - 1] for position in sorted(returns.pop(0)["positions"])]
        j = Stream(seed, b"holecard-pick/1:" + draw.to_bytes(8, "big")).below(len(content))
        out.append(content[j])
        content[j] = content[-1]
        content.pop()
    return out


def verify(transcript: dict[str, Any]) -> list[str]:
    """What is wrong with a shoe; nothing when it is fair."""
    problems: list[str] = []
    if transcript["algorithm"] != "holecard-order/1":
        return [f"unknown recipe {transcript['algorithm']}"]
    for stack in transcript["stacks"]:
        fingerprint = hashlib.sha256(b"holecard-seed/1:" + bytes.fromhex(stack["seed"])).hexdigest()
        if fingerprint != stack["seed_hash"]:
            problems.append(f"stack {stack['number']}: the seed is not the one that was promised")
    content = sorted(DECK, key=DECK.index)
    sorted_cards = "".join(card * transcript["decks"] for card in content)
    if hashlib.sha256(b"holecard-composition/1:" + sorted_cards.encode()).hexdigest() != transcript["composition"]:
        problems.append("the composition is not so many whole decks")
    cards = derive_machine(transcript) if transcript["continuous"] else derive_stacks(transcript, problems)
    for number, record in enumerate(transcript["cards"], start=1):
        if record["position"] != number:
            problems.append(f"position {record['position']} stands where {number} should")
        elif record["card"] is not None and record["card"] != cards[number - 1]:
            problems.append(f"position {number}: {record['card']} was dealt, {cards[number - 1]} lay there")
    if not transcript["continuous"]:
        first = Counter(cards[: 52 * transcript["decks"]])
        if first != Counter(DECK * transcript["decks"]):
            problems.append("the first stack is not so many whole decks")
    return problems


def main() -> None:
    transcript = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    problems = verify(transcript)
    print(f"{transcript['shoe_id']}: {transcript['decks']} decks, {len(transcript['cards'])} cards out")
    print("\n".join(problems) or "every card is where the commitment says")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
