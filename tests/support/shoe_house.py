"""A shoe service on a real journal, called through its client in process or over gRPC."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path
from types import MethodType
from typing import cast

from services.game.authority import Actor, CommandContext
from services.journal.sqlite import SqliteJournal
from services.runtime.caller import GrpcCaller, LocalCaller, open_channel
from services.runtime.clock import ManualClock
from services.runtime.entropy import ReplayableEntropy
from services.runtime.sealing import AesGcmSealer
from services.runtime.server import GrpcServer
from services.runtime.telemetry import Telemetry
from services.shoe import client as s
from services.shoe.server import dispatcher
from services.shoe.service import ShoeService
from tests.support.shoe_table import DEALER, PLAYER, SUPERVISOR, SYSTEM, TABLE

KEY = sha256(b"test key").digest()


class ShoeHouse:
    """One process of the shoe service. `seed` names the entropy; another opening of the same folder needs another."""

    def __init__(self, journal: SqliteJournal, seed: str) -> None:
        self.journal = journal
        self.telemetry = Telemetry()
        self.clock = ManualClock()
        sealer = AesGcmSealer(KEY, ReplayableEntropy(f"nonces of {seed}"))
        self.dispatcher = dispatcher(
            journal, sealer, ReplayableEntropy(seed), clock=self.clock, telemetry=self.telemetry
        )
        self.client = s.ShoeClient(LocalCaller({self.dispatcher.service: self.dispatcher}))
        self._seed = seed
        self._ids = 0

    @property
    def service(self) -> ShoeService:
        """The use cases behind the dispatcher."""
        use_case = cast("MethodType", self.dispatcher.use_cases[s.GET_SHOE])
        assert isinstance(use_case.__self__, ShoeService)
        return use_case.__self__

    def context(self, actor: Actor = SYSTEM, request_id: str = "") -> CommandContext:
        """A command's context with a fresh request id, or this one."""
        self._ids += 1
        return CommandContext(request_id or f"{self._seed}/{self._ids}", actor, self.clock.now_us(), "")

    async def prepare(
        self,
        decks: int = 6,
        kind: s.DeviceKind = s.DeviceKind.DEALING_SHOE,
        *,
        client: s.ShoeClient | None = None,
        table: str = TABLE,
    ) -> s.ShoeStatus:
        """Do everything that comes before the shuffle."""
        call = client or self.client
        await call.register_device(
            table, self.context(SUPERVISOR), s.RegisterDevice("SH-1", kind, electronic=True, approval="CDG-77")
        )
        await call.inspect_device(table, self.context(SUPERVISOR), s.InspectDevice("SH-1", passed=True, note=""))
        sets = tuple(s.standard_deck_set(f"DS-{number}") for number in range(1, decks + 1))
        await call.load_decks(table, self.context(DEALER), s.LoadDecks("SH-1", sets))
        answer = await call.inspect_cards(table, self.context(SUPERVISOR), s.InspectCards("D-11", "S-2", ()))
        return answer.shoe

    async def new_shoe(self, word: str, *, client: s.ShoeClient | None = None, table: str = TABLE) -> s.ShoeStatus:
        """Shuffle, cut and place the cutting card."""
        call = client or self.client
        shuffle = s.ShuffleCards(word, 10, s.CutCardFirst.PLAY_ONE_MORE, s.ShuffleReason.TABLE_OPENED)
        shoe = (await call.shuffle_cards(table, self.context(DEALER), shuffle)).shoe
        if shoe.continuous:
            return shoe
        await call.cut_cards(table, self.context(PLAYER), s.CutCards(shoe.shoe_id, 40, "seat 3"))
        placed = s.PlaceCutCard(shoe.shoe_id, shoe.size // 4)
        return (await call.place_cut_card(table, self.context(DEALER), placed)).shoe

    @asynccontextmanager
    async def over_grpc(self) -> AsyncIterator[s.ShoeClient]:
        """The same service behind a port of its own."""
        server = GrpcServer([self.dispatcher], "127.0.0.1:0")
        await server.start()
        try:
            async with open_channel(f"127.0.0.1:{server.port}") as channel:
                yield s.ShoeClient(GrpcCaller(channel))
        finally:
            await server.stop(grace_seconds=0)


@asynccontextmanager
async def open_house(folder: Path, seed: str = "house") -> AsyncIterator[ShoeHouse]:
    """Open the journal in this folder and the service on it."""
    journal = SqliteJournal.open(folder / "journal.db")
    try:
        yield ShoeHouse(journal, seed)
    finally:
        await journal.close()
