"""The shoe's events as they were published: their stored bytes stay readable for ever (DESIGN §3).

A failure here means that journals in the field could not be read any more. Mend the code; never the golden bytes.
"""

import json
from pathlib import Path

import pytest

from services.game.cards import Card
from services.game.rule_options import CutCardFirst
from services.shoe import events as e
from services.shoe.service import EVENT_TYPES
from services.shoe.words import BurnReason, CardProof, DeviceKind, RetireReason, ShuffleReason

GOLDEN: dict[str, str] = json.loads(
    (Path(__file__).resolve().parents[1] / "golden" / "shoe_events.json").read_text(encoding="utf-8")
)
SHOE = "black-hawk/BJ-07/shoe-1"
ROUND = "black-hawk/BJ-07#12"
HASH, ROOT, SALT, SEALED = (bytes([number]) * 32 for number in (1, 2, 3, 4))
PROOF = CardProof(18, 0, 58, 312, SALT, HASH, (ROOT, HASH), ROOT)

PUBLISHED: tuple[e.ShoeEvent, ...] = (
    e.DeviceRegistered("SH-1", DeviceKind.BATCH_SHUFFLER, electronic=True, approval="CDG-77"),
    e.DeviceInspected("SH-1", passed=True, note="sound", gaming_day="2026-11-30"),
    e.DecksLoaded("SH-1", 2, ("DS-1", "DS-2"), HASH),
    e.CardsInspected("D-11", "S-2", 2, HASH),
    e.DeckSetRejected("DS-2", "7h crimped", "D-11", "S-2"),
    e.DecksUnloaded(("DS-1", "DS-2"), "end of day"),
    e.CardsShuffled(
        SHOE, "shuffle-1", "SH-1", continuous=False, decks=6, algorithm="holecard-order/1", composition=HASH,
        seed_hash=HASH, root=ROOT, sealed_seed=SEALED, min_cut_cards=10, cut_card_first=CutCardFirst.SHUFFLE_NOW,
        reason=ShuffleReason.NEW_CARDS,
    ),
    e.CardsCut(SHOE, 0, 40, "seat 3"),
    e.CutCardPlaced(SHOE, 78),
    e.CardDrawn(
        SHOE, 6, f"{ROUND}/draw/0", ROUND, 17, face_down=False, card=Card.parse("Td"), salt=SALT, leaf=HASH,
        sealed_card=b"", left=295, last_round=False,
    ),
    e.CardDrawn(
        SHOE, 6, f"{ROUND}/draw/0", ROUND, 18, face_down=True, card=None, salt=b"", leaf=HASH, sealed_card=SEALED,
        left=294, last_round=True,
    ),
    e.CardBurned(
        SHOE, "burn-1", "", BurnReason.AFTER_SHUFFLE, 1, face_down=True, card=None, salt=b"", leaf=HASH,
        sealed_card=SEALED, left=311, last_round=False,
    ),
    e.HoleCardChecked(SHOE, ROUND, 18, 17, makes_blackjack=True),
    e.CardRevealed(SHOE, ROUND, 18, Card.parse("As"), PROOF),
    e.DiscardsReshuffled(SHOE, "reshuffle-1", ROUND, 1, (1, 2, 3), 313, 3, HASH, ROOT, SEALED),
    e.DiscardsReturned(SHOE, "return-1", (1, 2), 20),
    e.ShoeRetired(
        SHOE, RetireReason.CUT_CARD_REACHED, 6, (HASH,), 234, 1, 77, 0, (Card.parse("2c"),), (Card.parse("Ah"),), (0,)
    ),
    e.FeltTaken(SHOE, ROUND),
    e.FeltCleared(SHOE, ROUND),
    e.ShoeAbandoned(SHOE, "the key file is lost", "S-2", 6, 234, 1, 77, (18, 40)),
    e.NothingChanged("LoadDecks"),
    e.ObservedShoeStarted(SHOE, "observed/shoe-7/1", "shoe-7", 6, "shuffle 12"),
    e.CutCardSeen(SHOE, "observed/shoe-7/240", 239),
    e.ImpossibleCardSeen(SHOE, "observed/shoe-7/60", 59, Card.parse("As"), 7, 6),
    e.HiddenCardTurned(SHOE, ROUND, "observed/shoe-7/19", 18, Card.parse("As")),
    e.ObservedShoeEnded(SHOE, "observed/shoe-7/250", 6, 240, 8, 64, 2, (Card.parse("As"),)),
)  # fmt: skip


def label(event: e.ShoeEvent) -> str:
    down = isinstance(event, e.CardDrawn) and event.face_down
    return type(event).__name__ + (" face down" if down else "")


def test_every_event_has_golden_bytes() -> None:
    assert {type(event) for event in PUBLISHED} == set(e.EVENTS)
    assert [label(event) for event in PUBLISHED] == list(GOLDEN)


@pytest.mark.parametrize("event", PUBLISHED, ids=label)
def test_published_bytes_stay_readable(event: e.ShoeEvent) -> None:
    type_name = f"holecard.shoe.v1.{type(event).__name__}"
    assert EVENT_TYPES.decode(type_name, 1, bytes.fromhex(GOLDEN[label(event)])) == event
    assert EVENT_TYPES.decode(*EVENT_TYPES.encode(event)) == event
