"""No one sees a card before its time (DESIGN §6): every place that a secret could leak into is searched.

The seed and the salts of unseen cards are 32 random bytes each, so that finding one anywhere is no accident. Cards are
two letters, so they are looked for as words in texts and as decoded fields in events and replies.
"""

import base64
import io
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import structlog
from prometheus_client import generate_latest

from services.game.cards import Card, standard_deck
from services.game.record import field_names, is_record
from services.journal.sqlite import SqliteJournal
from services.runtime.caller import Refused
from services.runtime.failures import CallFailed
from services.runtime.telemetry import configure_logging
from services.shoe import client as s
from services.shoe import commands as c
from services.shoe import events as e
from services.shoe.dealing import take_cards
from services.shoe.enriched import NextCard, TakeCards
from services.shoe.hidden import Hidden
from services.shoe.order import salt
from services.shoe.service import EVENT_TYPES
from services.shoe.vault import Vault
from services.wire.rpc import Rpc
from tests.support.shoe_house import KEY, ShoeHouse, open_house
from tests.support.shoe_table import DEALER, PLAYER, ROUND, SUPERVISOR, TABLE, ready

CARD_WORD = re.compile(r"(?<![A-Za-z0-9])[2-9TJQKA][cdhs](?![A-Za-z0-9])")


@pytest.fixture
def logs(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    written = io.StringIO()
    monkeypatch.setattr("sys.stderr", written)
    configure_logging("debug", as_json=True)
    yield written
    structlog.reset_defaults()


def forms(secret: bytes) -> list[bytes]:
    """The ways in which bytes end up in files and texts."""
    return [
        secret,
        secret.hex().encode(),
        secret.hex().upper().encode(),
        base64.b64encode(secret).rstrip(b"=")[:-1],
        base64.urlsafe_b64encode(secret).rstrip(b"=")[:-1],
        repr(secret)[2:-1].encode(),
    ]


def cards_in(value: Any) -> Iterator[Card]:
    """Every card in a record, however deep."""
    if isinstance(value, Card):
        yield value
    elif isinstance(value, tuple):
        for entry in value:
            yield from cards_in(entry)
    elif is_record(value):
        for name in field_names(value):
            yield from cards_in(getattr(value, name))


class Watch:
    """Everything that left the service: replies as values and as bytes, errors as text."""

    def __init__(self) -> None:
        self.replies: list[Any] = []
        self.sent: list[bytes] = []
        self.errors: list[str] = []

    def on(self, house: ShoeHouse) -> s.ShoeClient:
        inner = house.client._caller

        class Watching:
            async def call(_, rpc: Rpc[Any, Any], table: str, context: Any, request: Any) -> Any:  # noqa: N805 - `self` is the watch
                try:
                    reply = await inner.call(rpc, table, context, request)
                except (Refused, CallFailed) as error:
                    self.errors.append(f"{error!r} {error} {vars(error)}")
                    raise
                self.replies.append(reply)
                self.sent.append(rpc.encode_reply(reply))
                return reply

            def stream(_, *_request: Any) -> Any:  # noqa: N805 - `self` is the watch
                raise NotImplementedError

        return s.ShoeClient(Watching())


async def play(house: ShoeHouse, client: s.ShoeClient) -> str:
    """Rounds with hole cards, burns, peeks and every refusal that concerns hidden cards."""
    shoe = await house.new_shoe("shuffle-1", client=client)
    burn = s.BurnCards("b-1", "", 2, s.BurnReason.AFTER_SHUFFLE, face_up=False)
    await client.burn_cards(TABLE, house.context(DEALER), burn)
    hole = 0
    for number in range(1, 9):
        round_id = f"{TABLE}#{number}"
        drawn = await client.draw_cards(
            TABLE, house.context(), s.DrawCards(f"d-{number}", round_id, (False, False, False, True))
        )
        hole = drawn.cards[3].position
        if number < 8:
            await client.reveal_card(TABLE, house.context(), s.RevealCard(shoe.shoe_id, hole))
    refused = [
        client.draw_cards(TABLE, house.context(), s.DrawCards("d-1", ROUND, (True,))),
        client.draw_cards(TABLE, house.context(PLAYER), s.DrawCards("p", ROUND, (False,))),
        client.peek_card(TABLE, house.context(), s.PeekCard(shoe.shoe_id, hole, hole)),
        client.prove_card(TABLE, shoe.shoe_id, hole),
        client.prove_card(TABLE, shoe.shoe_id, 1),
        client.get_transcript(TABLE, shoe.shoe_id),
        client.reveal_card(TABLE, house.context(), s.RevealCard(shoe.shoe_id, 100)),
        client.retire_shoe(TABLE, house.context(), s.RetireShoe(shoe.shoe_id, s.RetireReason.HOUSE_CHOICE)),
        client.cut_cards(TABLE, house.context(SUPERVISOR), s.CutCards(shoe.shoe_id, 60, "seat 1")),
    ]
    for call in refused:
        with pytest.raises(Refused):
            await call
    await client.get_shoe(TABLE)
    return shoe.shoe_id


def stored_bytes(folder: Path) -> list[bytes]:
    """Every file of the journal, the write-ahead log among them."""
    return [path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()]


async def events_of(journal: SqliteJournal) -> list[e.ShoeEvent]:
    return [
        EVENT_TYPES.decode(recorded.envelope.type, recorded.envelope.schema_version, recorded.envelope.payload)
        async for recorded in journal.read(f"shoe:{TABLE}")
    ]


@pytest.mark.parametrize("kind", [s.DeviceKind.DEALING_SHOE, s.DeviceKind.CONTINUOUS_SHUFFLER])
async def test_e_rows_nothing_that_leaves_the_service_holds_an_unseen_card_seed_or_order(
    tmp_path: Path, logs: io.StringIO, kind: s.DeviceKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = Watch()
    async with open_house(tmp_path) as house:
        client = watch.on(house)
        await house.prepare(1, kind, client=client)
        shoe_id = await play(house, client)
        live = (await house.service._host.state(TABLE)).live
        assert live is not None
        vault = house.service._vault

        def broken(*_: object, **__: object) -> None:
            # A fault in the middle of opening secrets: the traceback goes to the log.
            seed_in_a_local = vault._seed(live, live.stacks[0])
            raise RuntimeError("broken on purpose" if seed_in_a_local else "")

        with monkeypatch.context() as patch:
            patch.setattr(Vault, "_next_card", broken)
            with pytest.raises(CallFailed):
                await client.draw_cards(TABLE, house.context(), s.DrawCards("fault", f"{TABLE}#8", (True,)))

        seed = vault._seed(live, live.stacks[0])
        seen = {card.position for card in live.out if card.seen is not None}
        places = {
            position: position if live.continuous else Vault._place(live, position)[1] for position in range(1, 53)
        }
        unseen_salts = [salt(seed, place) for position, place in places.items() if position not in seen]
        texts = [logs.getvalue(), *watch.errors, generate_latest(house.telemetry.registry).decode()]
        assert "broken on purpose" in texts[0]
        assert watch.errors
        files = stored_bytes(tmp_path)
        everywhere = b"\n".join([*files, *watch.sent, *(text.encode() for text in texts)])

        assert len(unseen_salts) >= 18
        for secret in (seed, KEY, *unseen_salts):
            assert not [form for form in forms(secret) if form in everywhere]
        for text in texts:
            assert CARD_WORD.findall(text) == []
        stored = await events_of(house.journal)
        for event in stored:
            match event:
                case e.CardDrawn() | e.CardBurned() if event.face_down:
                    assert (event.card, event.salt, len(event.sealed_card)) == (None, b"", 12 + 2 + 32 + 16)
                case e.CardDrawn() | e.CardRevealed():
                    assert event.position in seen
                case _:
                    assert list(cards_in(event)) == []
        shown = {card.seen for card in live.out if card.seen is not None}
        for reply in watch.replies:
            assert set(cards_in(reply)) <= shown

        # The same search finds the seed once it is public, so it would have found it before.
        await client.reveal_card(TABLE, house.context(), s.RevealCard(shoe_id, live.face_down[0]))
        retire = s.RetireShoe(shoe_id, s.RetireReason.HOUSE_CHOICE)
        await client.retire_shoe(TABLE, house.context(DEALER), retire)
        assert seed in b"".join(stored_bytes(tmp_path))
        assert any(seed in sent for sent in watch.sent)


def test_a_face_down_card_makes_no_difference_to_what_is_recorded() -> None:
    # For each of the 52 cards that may lie there, with the cipher's and the hash's output held fixed: the same events.
    table = ready()
    request = c.DrawCards("d-1", ROUND, (True,))
    recorded = {
        take_cards(table.state, TakeCards(request, (NextCard(1, Hidden(card), Hidden(bytes(32)), b"leaf", b"sealed"),)))
        for card in standard_deck()
    }
    assert len(recorded) == 1


def test_the_folded_state_holds_no_unseen_card() -> None:
    table = ready(decks=1)
    table.draw_faces("dddddddd")
    hidden = [table.vault._card(table.live, position) for position in range(1, 9)]
    assert list(cards_in(table.state)) == []
    assert not CARD_WORD.findall(repr(table.state))
    assert len(hidden) == 8
    table.do(c.RevealCard(table.live.id, 3))
    assert set(cards_in(replace(table.state, last=None))) == {hidden[2]}
