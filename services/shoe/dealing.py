"""What happens to a shoe in play: draw, burn, peek, reveal, discards, retirement (30-816 to 30-819, 30-823, 30-828).

Owns those decisions, pure. Promises that a face-down card appears in no event but sealed, that a known id changes
nothing, and that cards leave the shoe in order, each once.
"""

from typing import Final

from services.game.authority import CommandContext
from services.game.hand import is_blackjack
from services.game.rule_options import CutCardFirst
from services.shoe import commands as c
from services.shoe import events as e
from services.shoe import rejections as r
from services.shoe.enriched import AnswerPeek, CommitDiscards, GiveUpShoe, NextCard, OpenCard, OpenShoe, TakeCards
from services.shoe.preparing import check_not_given_up, checked_id, checked_text, live_shoe, repeated
from services.shoe.reconcile import reconcile
from services.shoe.state import CardOut, LiveShoe, Shoe
from services.shoe.words import ShoePhase

MOST_CARDS: Final = 64
RESEED_AFTER: Final = 5_000
"""A continuous shuffler asks for a fresh seed after so many cards (GLI-19 3.3: periodic reseeding from outside)."""


def take_cards(shoe: Shoe, command: TakeCards) -> tuple[e.ShoeEvent, ...]:
    """Draw or burn the next cards of the shoe (30-818, 30-819), one event each."""
    request = command.request
    faces = faces_of(request)
    take_id = request.draw_id if isinstance(request, c.DrawCards) else request.burn_id
    checked_id(take_id, "draw_id" if isinstance(request, c.DrawCards) else "burn_id")
    known = cards_taken(shoe, take_id)
    if known:
        return repeated(take_id, same=_same_take(request, faces, known))
    if not 1 <= len(faces) <= MOST_CARDS:
        raise r.DrawSizeRefused(f"{len(faces)} cards at once", cards=len(faces), most=MOST_CARDS)
    if isinstance(request, c.DrawCards) and request.shoe_id:
        # The order of another shoe was not committed to when this round's wagers were placed (DESIGN §6).
        live_shoe(shoe, request.shoe_id)
    live = _ready(shoe)
    if isinstance(request, c.DrawCards):
        checked_id(request.round_id, "round_id")
        if shoe.last is not None and shoe.last.round_id == request.round_id:
            raise r.RoundOfAnotherShoe(f"{request.round_id} was dealt from {shoe.last.id}", shoe_id=shoe.last.id)
        _check_round(live, request.round_id)
    if live.left < len(faces):
        raise r.ShoeExhausted(
            f"{len(faces)} cards are wanted, {live.left} are left", needed=len(faces), left=live.left, shoe_id=live.id
        )
    if len(command.next_cards) != len(faces):
        raise ValueError("the vault and the state disagree about the cards that are left")
    taken = tuple(
        _taken(live, request, next_card, face_down=face_down, left=live.left - index)
        for index, (next_card, face_down) in enumerate(zip(command.next_cards, faces, strict=True), start=1)
    )
    if isinstance(request, c.DrawCards) and request.until_racked and live.on_felt != request.round_id:
        return (e.FeltTaken(live.id, request.round_id), *taken)
    return taken


def rack_cards(shoe: Shoe, command: c.RackCards) -> tuple[e.ShoeEvent, ...]:
    """Clear the felt of a round's cards; a felt that holds none of them stays as it is (30-822)."""
    checked_id(command.round_id, "round_id")
    live = shoe.live
    if live is None or live.id != command.shoe_id or live.on_felt != command.round_id:
        return ()
    return (e.FeltCleared(live.id, command.round_id),)


def answer_peek(shoe: Shoe, command: AnswerPeek) -> tuple[e.ShoeEvent, ...]:
    """Say only whether the hole card makes blackjack with a face-up ace or ten of its round, once (30-823)."""
    request = command.request
    live = live_shoe(shoe, request.shoe_id)
    hole = _drawn(live, request.position)
    if hole.up_position:
        if hole.up_position != request.up_position:
            raise r.AlreadyPeeked("the hole card was checked before", up_position=hole.up_position)
        return ()
    if hole.seen is not None or command.hole is None:
        raise r.CardAlreadyFaceUp(f"the card at {request.position} lies face up", position=request.position)
    up = _drawn(live, request.up_position)
    if up.seen is None or up.round_id != hole.round_id or not (up.seen.is_ace or up.seen.is_ten):
        raise r.NotAnUpCard("no ace or ten of this round lies there", up_position=request.up_position)
    makes_blackjack = is_blackjack((up.seen, command.hole.open()), from_split=False)
    return (e.HoleCardChecked(live.id, hole.round_id, hole.position, up.position, makes_blackjack),)


def open_card(shoe: Shoe, command: OpenCard) -> tuple[e.ShoeEvent, ...]:
    """Turn a drawn card face up with its proof; a card that lies face up stays so, without another event."""
    live = live_shoe(shoe, command.request.shoe_id)
    card = _drawn(live, command.request.position)
    if card.seen is not None:
        return ()
    if command.card is None or command.proof is None:
        raise ValueError("the vault and the state disagree about a drawn card")
    return (e.CardRevealed(live.id, card.round_id, card.position, command.card.open(), command.proof.open()),)


def commit_discards(shoe: Shoe, command: CommitDiscards) -> tuple[e.ShoeEvent, ...]:
    """Shuffle the discards alone so that a round can be finished (30-828, too few cards); cards in play stay out."""
    request = command.request
    checked_id(request.reshuffle_id, "reshuffle_id")
    live = live_shoe(shoe)
    for stack in live.stacks[1:]:
        if stack.reshuffle_id == request.reshuffle_id:
            return repeated(request.reshuffle_id, same=stack.round_id == request.round_id)
    if live.continuous:
        raise r.NoCutInContinuousShuffler("a continuous shuffler takes its discards back by itself")
    checked_id(request.round_id, "round_id")
    _check_round(live, request.round_id)
    if live.left >= request.needed:
        raise r.EnoughCards(f"{live.left} cards are left", left=live.left, needed=request.needed)
    recycled = discards(live, request.round_id)
    if not recycled or command.commitment is None:
        raise r.NoDiscards("no discards to shuffle", left=live.left, needed=request.needed)
    return (
        e.DiscardsReshuffled(
            shoe_id=live.id,
            reshuffle_id=request.reshuffle_id,
            round_id=request.round_id,
            stack=len(live.stacks),
            recycled=recycled,
            first_position=len(live.out) + live.left + 1,
            size=len(recycled),
            seed_hash=command.commitment.seed_hash,
            root=command.commitment.root,
            sealed_seed=command.commitment.sealed_seed,
        ),
    )


def return_discards(shoe: Shoe, command: c.ReturnDiscards) -> tuple[e.ShoeEvent, ...]:
    """Put cards back into the continuous shuffler, each once (30-816)."""
    checked_id(command.return_id, "return_id")
    live = live_shoe(shoe)
    if not live.continuous:
        raise r.NotContinuous("this shoe keeps its discards in the rack until the shuffle")
    positions = tuple(sorted(command.positions))
    for entry in live.returned:
        if entry.id == command.return_id:
            return repeated(command.return_id, same=entry.positions == positions)
    if not positions or len(set(positions)) != len(positions):
        raise r.CardNotReturnable("cards go back each once, and at least one", cards=len(positions))
    for position in positions:
        card = live.card(position)
        if card is None or position in live.back:
            raise r.CardNotReturnable(f"the card at {position} is not out", position=position)
        if card.burned is None and card.seen is None:
            raise r.CardStillFaceDown(f"the card at {position} is face down", position=position)
    return (e.DiscardsReturned(live.id, command.return_id, positions, len(live.out)),)


def open_shoe(shoe: Shoe, command: OpenShoe) -> tuple[e.ShoeEvent, ...]:
    """End the shoe: reveal its seeds and count its cards (30-816). No card may still lie face down on the table."""
    request = command.request
    if shoe.live is None and shoe.last is not None and shoe.last.id == request.shoe_id:
        check_not_given_up(shoe, request.shoe_id)
        return ()
    live = live_shoe(shoe, request.shoe_id)
    if live.face_down:
        raise r.CardStillFaceDown(f"the card at {live.face_down[0]} is face down", position=live.face_down[0])
    if live.on_felt:
        raise r.CardsOnFelt(f"cards of {live.on_felt} lie on the felt", round_id=live.on_felt)
    if command.opened is None:
        raise ValueError("the vault did not open the shoe in play")
    return (reconcile(live, request.reason, command.opened.open()),)


def abandon_shoe(shoe: Shoe, command: GiveUpShoe, context: CommandContext) -> tuple[e.ShoeEvent, ...]:
    """End a shoe that cannot be opened any more; one that opens is retired instead, never withheld (DESIGN §6)."""
    request = command.request
    last = shoe.last
    if shoe.live is None and last is not None and last.id == request.shoe_id and last.abandoned is not None:
        return ()
    live = live_shoe(shoe, request.shoe_id)
    checked_text(request.reason, "reason")
    if not request.reason.strip():
        raise r.ReasonMissing("abandoning a shoe needs a reason")
    if command.opens:
        raise r.ShoeStillOpens(f"{live.id} can be opened", shoe_id=live.id)
    burned = sum(card.burned is not None for card in live.out)
    return (
        e.ShoeAbandoned(
            shoe_id=live.id,
            reason=request.reason,
            authorised_by=context.actor.id,
            decks=live.decks,
            drawn=len(live.out) - burned,
            burned=burned,
            undealt=live.left,
            face_down=live.face_down,
        ),
    )


def discards(live: LiveShoe, round_id: str) -> tuple[int, ...]:
    """List the positions in the discard rack: burned cards and finished rounds, without what was reshuffled before."""
    gone = {position for stack in live.stacks for position in stack.recycled}
    return tuple(
        card.position
        for card in live.out
        if card.position not in gone and (card.burned is not None or card.round_id != round_id)
    )


def cards_taken(shoe: Shoe, take_id: str) -> tuple[CardOut, ...]:
    """Find what a draw or burn id took, in the shoe in play or the one before."""
    for known in (shoe.live, shoe.last):
        if known is not None and take_id in known.takes:
            return known.taken(take_id)
    return ()


def faces_of(request: c.DrawCards | c.BurnCards) -> tuple[bool, ...]:
    """Say for each card that a command takes whether it goes face down; an absurd count is cut to one too many."""
    if isinstance(request, c.DrawCards):
        return request.face_down
    return (not request.face_up,) * max(0, min(request.count, MOST_CARDS + 1))


def _ready(shoe: Shoe) -> LiveShoe:
    """Give the shoe in play if cards may leave it: device sound, stack cut, cutting card placed."""
    live = live_shoe(shoe)
    if shoe.device is None or not shoe.device.passed_day:
        raise r.DeviceNotInspected("the device failed its last inspection", device_id=live.device_id)
    if live.phase is ShoePhase.SHUFFLED:
        raise r.CardsNotCut("the stack has not been cut", shoe_id=live.id)
    if live.phase is ShoePhase.CUT:
        raise r.CutCardNotPlaced("the cutting card has not been placed", shoe_id=live.id)
    return live


def _check_round(live: LiveShoe, round_id: str) -> None:
    if not live.may_go_on(round_id):
        raise r.ShuffleDue(f"{live.id} has dealt its last round", shoe_id=live.id, left=live.left)


def _taken(
    live: LiveShoe, request: c.DrawCards | c.BurnCards, top: NextCard, *, face_down: bool, left: int
) -> e.CardDrawn | e.CardBurned:
    card = None if face_down else top.card.open()
    salt = b"" if face_down else top.salt.open()
    sealed = top.sealed_card if face_down else b""
    last_round = _ends_shoe(live, top.position)
    if isinstance(request, c.DrawCards):
        return e.CardDrawn(
            shoe_id=live.id,
            decks=live.decks,
            draw_id=request.draw_id,
            round_id=request.round_id,
            position=top.position,
            face_down=face_down,
            card=card,
            salt=salt,
            leaf=top.leaf,
            sealed_card=sealed,
            left=left,
            last_round=last_round,
        )
    return e.CardBurned(
        shoe_id=live.id,
        burn_id=request.burn_id,
        round_id=request.round_id,
        reason=request.reason,
        position=top.position,
        face_down=face_down,
        card=card,
        salt=salt,
        leaf=top.leaf,
        sealed_card=sealed,
        left=left,
        last_round=last_round,
    )


def _ends_shoe(live: LiveShoe, position: int) -> bool:
    """Tell whether no other round may follow once the card at `position` is out (30-816).

    The cutting card comes out with the first card behind it. When it stands exactly between two rounds, PLAY_ONE_MORE
    deals that round and SHUFFLE_NOW does not.
    """
    if live.continuous:
        return position >= RESEED_AFTER
    before = 52 * live.decks - (live.cards_behind or 0)
    return (
        live.last_round or position > before or (position == before and live.cut_card_first is CutCardFirst.SHUFFLE_NOW)
    )


def _same_take(request: c.DrawCards | c.BurnCards, faces: tuple[bool, ...], known: tuple[CardOut, ...]) -> bool:
    reason = None if isinstance(request, c.DrawCards) else request.reason
    return faces == tuple(card.face_down for card in known) and all(
        card.round_id == request.round_id and card.burned == reason for card in known
    )


def _drawn(live: LiveShoe, position: int) -> CardOut:
    card = live.card(position)
    if card is None or card.burned is not None:
        raise r.PositionNotDrawn(f"no card of {live.id} was drawn at {position}", position=position)
    return card
