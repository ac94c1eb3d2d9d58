"""One table's shoe without journal or wire: the pure decisions with a real sealer, entropy that can be replayed."""

from hashlib import sha256

from services.game.authority import Actor, CommandContext, Role
from services.game.rule_options import CutCardFirst
from services.runtime.entropy import ReplayableEntropy
from services.runtime.sealing import AesGcmSealer
from services.shoe import commands as c
from services.shoe import events as e
from services.shoe.client import standard_deck_set
from services.shoe.hidden import Hidden
from services.shoe.shoe import Shoe, ShoeCommand, authorise, decide, evolve
from services.shoe.state import LiveShoe
from services.shoe.vault import Vault
from services.shoe.words import DeviceKind, RetireReason, ShuffleReason

TABLE = "black-hawk/BJ-07"
ROUND = f"{TABLE}#1"
DAY = "2026-11-30"
SYSTEM = Actor(Role.SYSTEM, "table")
DEALER = Actor(Role.DEALER, "D-11")
SUPERVISOR = Actor(Role.SUPERVISOR, "S-2")
PLAYER = Actor(Role.PLAYER, "P-9")


class ShoeTable:
    """Carries out commands as the service does and keeps every event; `seed` names the entropy."""

    def __init__(self, seed: str = "shoe table", kind: DeviceKind = DeviceKind.DEALING_SHOE) -> None:
        self.entropy = ReplayableEntropy(seed)
        self.sealer = AesGcmSealer(sha256(b"test key").digest(), ReplayableEntropy(f"nonces of {seed}"))
        self.vault = Vault(self.sealer)
        self.state = Shoe(table=TABLE)
        self.events: list[e.ShoeEvent] = []
        self.day = DAY
        self.kind = kind
        self._ids = 0

    def do(self, command: ShoeCommand, actor: Actor = SYSTEM) -> tuple[e.ShoeEvent, ...]:
        """Carry out one command; raises its rejection."""
        context = CommandContext("request", actor, 1, self.day)
        authorise(self.state, command, context)
        seed = Hidden(self.entropy.draw(32))
        events = decide(self.state, self.vault.enrich(self.state, command, seed), context)
        for event in events:
            self.state = evolve(self.state, event)
        self.events.extend(events)
        return events

    @property
    def live(self) -> LiveShoe:
        """The shoe in play."""
        assert self.state.live is not None
        return self.state.live

    def new_id(self, word: str) -> str:
        """An id that was not used here before."""
        self._ids += 1
        return f"{word}-{self._ids}"

    def register(self) -> "ShoeTable":
        """Enrol a device."""
        self.do(c.RegisterDevice("SH-1", self.kind, electronic=True, approval="CDG-77"), SUPERVISOR)
        return self

    def inspect(self, *, passed: bool = True) -> "ShoeTable":
        """Inspect the device today."""
        self.do(c.InspectDevice("SH-1", passed, ""), SUPERVISOR)
        return self

    def load(self, decks: int = 6) -> "ShoeTable":
        """Load whole decks and inspect them."""
        sets = tuple(standard_deck_set(f"DS-{number}") for number in range(1, decks + 1))
        self.do(c.LoadDecks("SH-1", sets), DEALER)
        self.do(c.InspectCards("D-11", "S-2", ()), SUPERVISOR)
        return self

    def shuffle(self, first: CutCardFirst = CutCardFirst.PLAY_ONE_MORE, min_cut_cards: int = 10) -> "ShoeTable":
        """Begin a shoe."""
        self.do(c.ShuffleCards(self.new_id("shuffle"), min_cut_cards, first, ShuffleReason.TABLE_OPENED), DEALER)
        return self

    def cut(self, depth: int = 20, behind: int | None = None) -> "ShoeTable":
        """Cut and place the cutting card, a quarter from the back unless told otherwise."""
        self.do(c.CutCards(self.live.id, depth, "seat 3"), PLAYER)
        self.do(c.PlaceCutCard(self.live.id, 13 * self.live.decks if behind is None else behind), DEALER)
        return self

    def draw(self, count: int = 1, round_id: str = ROUND, draw_id: str = "") -> tuple[e.ShoeEvent, ...]:
        """Draw cards face up."""
        return self.do(c.DrawCards(draw_id or self.new_id("draw"), round_id, (False,) * count))

    def draw_faces(self, faces: str, round_id: str = ROUND) -> tuple[e.ShoeEvent, ...]:
        """Draw one card a letter: u face up, d face down."""
        return self.do(c.DrawCards(self.new_id("draw"), round_id, tuple(face == "d" for face in faces)))

    def retire(self) -> e.ShoeRetired:
        """End the shoe."""
        (event,) = self.do(c.RetireShoe(self.live.id, RetireReason.HOUSE_CHOICE), DEALER)
        assert isinstance(event, e.ShoeRetired)
        return event


def ready(
    decks: int = 6,
    *,
    seed: str = "shoe table",
    depth: int = 20,
    behind: int | None = None,
    first: CutCardFirst = CutCardFirst.PLAY_ONE_MORE,
) -> ShoeTable:
    """A table whose shoe can be dealt from."""
    return ShoeTable(seed).register().inspect().load(decks).shuffle(first).cut(depth, behind)


def machine(decks: int = 1, seed: str = "shoe machine") -> ShoeTable:
    """A table with a continuous shuffler that can be dealt from."""
    return ShoeTable(seed, DeviceKind.CONTINUOUS_SHUFFLER).register().inspect().load(decks).shuffle()
