"""The one place where a shoe's secrets are open: in memory, derived again from sealed seeds after a restart.

Owns the way from sealed seeds to cards, salts, leaves and proofs, and turns a plain command into its enriched form.
Promises that nothing in it shows in a repr and that it answers only from the folded state and the sealer. Decides
nothing, writes nothing. Not for use by two threads at once.
"""

from dataclasses import dataclass
from typing import Final

from services.game.cards import Card
from services.runtime.sealing import SealBroken, Sealer
from services.shoe import commands as c
from services.shoe import enriched as x
from services.shoe.commitment import inclusion_path, leaf_hash, leaves_of, levels_of, merkle_root
from services.shoe.dealing import MOST_CARDS, cards_taken, discards, faces_of
from services.shoe.hidden import Hidden
from services.shoe.order import new_stack, pick, salt, seed_hash, shuffled, stack_position, take_out
from services.shoe.shoe import ShoeCommand, ShoeDecision
from services.shoe.state import LiveShoe, Shoe, Stack
from services.shoe.words import CardProof, DeviceKind

STACKS_KEPT: Final = 2_048  # about 50 KB each; a shoe that was dropped is derived again in milliseconds


@dataclass(frozen=True, slots=True, repr=False)
class _OpenStack:
    """A stack with its seed, its order before the cut, and the Merkle tree over it (none in a continuous shuffler)."""

    seed: bytes
    order: tuple[Card, ...]
    levels: tuple[tuple[bytes, ...], ...]


@dataclass(slots=True, repr=False)
class _Machine:
    """A continuous shuffler followed so far: its content, the cards that came out, and the returns that went in."""

    content: list[Card]
    out: list[Card]
    returns: int = 0


class Vault:
    """Opens shoes with one sealer. `seed` arguments are 32 bytes from the system's entropy, made by the caller."""

    def __init__(self, sealer: Sealer) -> None:
        self._sealer = sealer
        self._stacks: dict[tuple[str, int], _OpenStack] = {}
        self._machines: dict[str, _Machine] = {}

    def __repr__(self) -> str:
        return "Vault(<hidden>)"

    def enrich(self, shoe: Shoe, command: ShoeCommand, seed: Hidden[bytes]) -> ShoeDecision:
        """Give the command in the form that `decide` takes; `seed` is for a shuffle and not used otherwise."""
        match command:
            case c.ShuffleCards():
                continuous = shoe.device is not None and shoe.device.kind is DeviceKind.CONTINUOUS_SHUFFLER
                shoe_id, cards = shoe.next_shoe_id, new_stack(shoe.decks)
                return x.CommitShuffle(command, shoe_id, self._commit(shoe_id, 0, cards, seed, continuous=continuous))
            case c.ReshuffleDiscards():
                return x.CommitDiscards(command, self._commit_discards(shoe, command, seed))
            case c.DrawCards() | c.BurnCards():
                return x.TakeCards(command, self._next_cards(shoe, command))
            case c.PeekCard():
                return x.AnswerPeek(command, self._hidden_card(shoe, command.shoe_id, command.position))
            case c.RevealCard():
                card = self._hidden_card(shoe, command.shoe_id, command.position)
                proof = None if card is None or shoe.live is None else self.proof(shoe.live, command.position)
                return x.OpenCard(command, card, None if proof is None else Hidden(proof))
            case c.RetireShoe():
                mine = shoe.live is not None and shoe.live.id == command.shoe_id
                return x.OpenShoe(command, Hidden(self.open(shoe.live)) if mine and shoe.live is not None else None)
            case c.AbandonShoe():
                return x.GiveUpShoe(command, self._opens(shoe.live))
            case _:
                return command

    def _opens(self, live: LiveShoe | None) -> bool:
        """Whether every seed of the shoe in play can be read."""
        try:
            return live is None or all(self._seed(live, stack) for stack in live.stacks)
        except SealBroken:
            return False

    def proof(self, live: LiveShoe, position: int) -> CardProof:
        """Prove a card that left the shoe. The proof names its salt: give it out only for a card that is seen."""
        if live.continuous:
            place_salt = salt(self._seed(live, live.stacks[0]), position)
            leaf = leaf_hash(position, self._card(live, position), place_salt)
            return CardProof(position, 0, position, 52 * live.decks, place_salt, leaf, (), b"")
        stack, place = self._place(live, position)
        opened = self._open(live, stack)
        return CardProof(
            position=position,
            stack=stack.number,
            stack_position=place,
            size=stack.size,
            salt=salt(opened.seed, place),
            leaf=opened.levels[0][place - 1],
            path=inclusion_path(opened.levels, place - 1),
            root=stack.root,
        )

    def open(self, live: LiveShoe) -> x.Opened:
        """Lay a shoe open, for its retirement only."""
        seeds = tuple(self._seed(live, stack) for stack in live.stacks)
        out = tuple(self._card(live, position) for position in range(1, len(live.out) + 1))
        if live.continuous:
            undealt = tuple(self._machine(live).content)
            roots = [b""]
        else:
            undealt = tuple(self._card(live, len(out) + ahead) for ahead in range(1, live.left + 1))
            roots = [
                merkle_root(leaves_of(self._open(live, stack).order, self._seed(live, stack))) for stack in live.stacks
            ]
        return x.Opened(seeds, out, undealt, tuple(roots), tuple(seed_hash(seed) for seed in seeds))

    def forget(self, shoe_id: str) -> None:
        """Drop what is kept of a shoe in memory; it can always be derived again."""
        self._machines.pop(shoe_id, None)
        for key in [key for key in self._stacks if key[0] == shoe_id]:
            del self._stacks[key]

    def _commit(
        self, shoe_id: str, number: int, cards: tuple[Card, ...], seed: Hidden[bytes], *, continuous: bool
    ) -> x.Commitment:
        opened = _opened(cards, seed.open(), continuous=continuous)
        root = b"" if continuous else opened.levels[-1][0]
        return x.Commitment(
            seed_hash(opened.seed), root, self._sealer.seal(opened.seed, _seed_context(shoe_id, number))
        )

    def _commit_discards(self, shoe: Shoe, command: c.ReshuffleDiscards, seed: Hidden[bytes]) -> x.Commitment | None:
        live = shoe.live
        recycled = () if live is None or live.continuous else discards(live, command.round_id)
        if live is None or not recycled:
            return None
        cards = tuple(self._card(live, position) for position in recycled)
        return self._commit(live.id, len(live.stacks), cards, seed, continuous=False)

    def _next_cards(self, shoe: Shoe, command: c.DrawCards | c.BurnCards) -> tuple[x.NextCard, ...]:
        live = shoe.live
        take_id = command.draw_id if isinstance(command, c.DrawCards) else command.burn_id
        if live is None or cards_taken(shoe, take_id):
            return ()
        if not live.continuous and live.stacks[-1].cut_depth is None:
            return ()
        faces = faces_of(command)[: min(live.left, MOST_CARDS)]
        first = len(live.out) + 1
        ahead = self._picked_ahead(live, len(faces)) if live.continuous else None
        return tuple(
            self._next_card(live, first + index, None if ahead is None else ahead[index], seal=face_down)
            for index, face_down in enumerate(faces)
        )

    def _next_card(self, live: LiveShoe, position: int, picked: Card | None, *, seal: bool) -> x.NextCard:
        stack, place = (live.stacks[0], position) if live.continuous else self._place(live, position)
        card = self._card(live, position) if picked is None else picked
        place_salt = salt(self._seed(live, stack), place)
        leaf = leaf_hash(place, card, place_salt)
        sealed = b""
        if seal:
            sealed = self._sealer.seal(str(card).encode() + place_salt, f"{live.id}/card/{position}".encode())
        return x.NextCard(position, Hidden(card), Hidden(place_salt), leaf, sealed)

    def _hidden_card(self, shoe: Shoe, shoe_id: str, position: int) -> Hidden[Card] | None:
        live = shoe.live
        if live is None or live.id != shoe_id or live.card(position) is None:
            return None
        return Hidden(self._card(live, position))

    def _card(self, live: LiveShoe, position: int) -> Card:
        if live.continuous:
            return self._machine(live).out[position - 1]
        stack, place = self._place(live, position)
        return self._open(live, stack).order[place - 1]

    @staticmethod
    def _place(live: LiveShoe, position: int) -> tuple[Stack, int]:
        stack = next(stack for stack in reversed(live.stacks) if stack.first <= position)
        return stack, stack_position(position - stack.first + 1, stack.size, stack.cut_depth or 0)

    def _seed(self, live: LiveShoe, stack: Stack) -> bytes:
        return self._open(live, stack).seed

    def _open(self, live: LiveShoe, stack: Stack) -> _OpenStack:
        key = (live.id, stack.number)
        found = self._stacks.get(key)
        if found is None:
            seed = self._sealer.unseal(stack.sealed_seed, _seed_context(live.id, stack.number))
            cards = tuple(self._card(live, position) for position in stack.recycled) or new_stack(live.decks)
            found = _opened(cards, seed, continuous=live.continuous)
            while len(self._stacks) >= STACKS_KEPT:
                self.forget(next(iter(self._stacks))[0])
            self._stacks[key] = found
        return found

    def _machine(self, live: LiveShoe) -> _Machine:
        """Follow a continuous shuffler up to the folded state, from where it was followed to before."""
        machine = self._machines.get(live.id)
        if machine is None or len(machine.out) > len(live.out) or machine.returns > len(live.returned):
            machine = self._machines[live.id] = _Machine(list(new_stack(live.decks)), [])
        seed = self._seed(live, live.stacks[0])
        while len(machine.out) < len(live.out) or machine.returns < len(live.returned):
            if machine.returns < len(live.returned) and live.returned[machine.returns].after == len(machine.out):
                back = live.returned[machine.returns].positions
                machine.content.extend(machine.out[position - 1] for position in back)
                machine.returns += 1
                continue
            index = pick(seed, len(machine.out) + 1, len(machine.content))
            machine.out.append(take_out(machine.content, index))
        return machine

    def _picked_ahead(self, live: LiveShoe, count: int) -> list[Card]:
        """Pick the next cards of a continuous shuffler on a copy: nothing has been decided yet."""
        machine = self._machine(live)
        seed, content = self._seed(live, live.stacks[0]), list(machine.content)
        return [take_out(content, pick(seed, len(machine.out) + ahead, len(content))) for ahead in range(1, count + 1)]


def _opened(cards: tuple[Card, ...], seed: bytes, *, continuous: bool) -> _OpenStack:
    if continuous:
        return _OpenStack(seed, (), ())
    order = shuffled(cards, seed)
    return _OpenStack(seed, order, levels_of(leaves_of(order, seed)))


def _seed_context(shoe_id: str, number: int) -> bytes:
    return f"{shoe_id}/seed/{number}".encode()
