"""Whether a round may be dealt from a shoe, by what the shoe says of itself (30-804, 30-805, 30-816 to 30-819).

Pure. Promises that what is posted about the handling of the cards is what was done with them: another device, cut, place of
the cutting card or burn opens no round. How many decks it holds, and whether it ends at all, is asked where the round is
decided (`playing`).
"""

from typing import Final

from services.game.rules import BurnCardVisible, DealStyle, HouseRules, Shuffle
from services.shoe import client as shoe
from services.table.table import Table


def why_not_ready(status: shoe.ShoeStatus, table: Table) -> str:
    """Why no round can be dealt to those who are seated, "" when one can."""
    rules = table.rules
    reason = _cannot_deal(status, _hands_at_most(table))
    if reason or rules is None:
        return reason
    return _other_device(status, rules) or _otherwise_shuffled(status, rules) or _otherwise_burned(status, rules)


def _hands_at_most(table: Table) -> int:
    """How many hands those who are seated may play (30-827): a shoe that is shuffled once they wagered is none of theirs."""
    if table.rules is None:
        return len(table.seats)
    return min(table.rules.max_seats, len(table.seats) * table.rules.spots_per_player)


def _cannot_deal(status: shoe.ShoeStatus, hands: int) -> str:
    """Why no round can be dealt from this shoe, "" when one can: the shuffle comes before the cards run out (30-816)."""
    if status.phase is shoe.ShoePhase.DEALING:
        needed = 2 * (hands + 1)
        return "" if status.left >= needed else f"{status.left} cards are left, the deal takes {needed}: shuffle first"
    if status.phase is shoe.ShoePhase.LAST_ROUND:
        return "the cutting card came: the cards must be shuffled first (30-816)"
    return f"the cards are not ready to be dealt: {status.phase.value}"


_SHUFFLED_BY: Final = {
    Shuffle.HAND: shoe.DeviceKind.DEALING_SHOE,
    Shuffle.BATCH: shoe.DeviceKind.BATCH_SHUFFLER,
    Shuffle.CONTINUOUS: shoe.DeviceKind.CONTINUOUS_SHUFFLER,
}


def _other_device(status: shoe.ShoeStatus, rules: HouseRules) -> str:
    """How the device differs from the posted one, "" when it does not (30-805, 30-816, 30-818)."""
    wanted = _SHUFFLED_BY[rules.shuffle]
    if not status.continuous and rules.shuffle is not Shuffle.CONTINUOUS and status.device_kind is not wanted:
        kind = "none" if status.device_kind is None else status.device_kind.value
        return f"the device is a {kind}, posted is shuffle = {rules.shuffle.value}: a {wanted.value} (30-816)"
    if rules.deal_style is DealStyle.ELECTRONIC and not status.electronic:
        return "the device is not electronic, posted is deal_style = electronic (30-818)"
    return ""


def _otherwise_burned(status: shoe.ShoeStatus, rules: HouseRules) -> str:
    """What is wrong with the burn, "" when nothing is (30-819); a shuffling shoe has no shuffle to burn after."""
    if not status.continuous and status.burned_after_shuffle < rules.burn_after_shuffle:
        return (
            f"{status.burned_after_shuffle} cards were burned after the shuffle, "
            f"posted are {rules.burn_after_shuffle}: burn first (30-819)"
        )
    if rules.burn_card_visible is BurnCardVisible.NEVER and status.burns_shown:
        return f"{status.burns_shown} burned cards were shown, posted is never: shuffle first (30-819)"
    if rules.burn_card_visible is BurnCardVisible.ALWAYS and status.burns_hidden:
        return f"{status.burns_hidden} cards were burned face down, posted is always shown: shuffle first (30-819)"
    return ""


def _otherwise_shuffled(status: shoe.ShoeStatus, rules: HouseRules) -> str:
    """How the shuffle differs from the posted rules, "" when it does not (30-816, 30-817); a machine has no cut."""
    if status.continuous:
        return ""
    if status.min_cut_cards != rules.min_cut_cards:
        return f"the cards were cut by a distance of {status.min_cut_cards} cards, posted is {rules.min_cut_cards}"
    if status.cut_card_first is not rules.cut_card_first:
        return f"the shoe ends by the rule {status.cut_card_first}, posted is {rules.cut_card_first}"
    least = max(1, 52 * status.decks * (100 - rules.penetration_percent) // 100)
    if status.cards_behind < least:
        return (
            f"{status.cards_behind} cards stand behind the cutting card, a penetration of {rules.penetration_percent} "
            f"percent leaves at least {least}: a supervisor has it placed again (30-817)"
        )
    return ""
