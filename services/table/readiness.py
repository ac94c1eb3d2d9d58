"""Whether a round may be dealt from a shoe, by what the shoe says of itself (30-804, 30-816, 30-817).

Pure. How many decks it holds, and whether it ends at all, is asked where the round is decided (`playing`).
"""

from services.game.rules import HouseRules
from services.shoe import client as shoe
from services.table.table import Table


def why_not_ready(status: shoe.ShoeStatus, table: Table) -> str:
    """Why no round can be dealt to those who are seated, "" when one can."""
    return _cannot_deal(status, len(table.seats)) or _otherwise_shuffled(status, table.rules)


def _cannot_deal(status: shoe.ShoeStatus, players: int) -> str:
    """Why no round can be dealt from this shoe, "" when one can: the shuffle comes before the cards run out (30-816)."""
    if status.phase is shoe.ShoePhase.DEALING:
        needed = 2 * (players + 1)
        return "" if status.left >= needed else f"{status.left} cards are left, the deal takes {needed}: shuffle first"
    if status.phase is shoe.ShoePhase.LAST_ROUND:
        return "the cutting card came: the cards must be shuffled first (30-816)"
    return f"the cards are not ready to be dealt: {status.phase.value}"


def _otherwise_shuffled(status: shoe.ShoeStatus, rules: HouseRules | None) -> str:
    """How the shuffle differs from the posted rules, "" when it does not (30-816, 30-817); a machine has no cut."""
    if rules is None or status.continuous:
        return ""
    if status.min_cut_cards != rules.min_cut_cards:
        return f"the cards were cut by a distance of {status.min_cut_cards} cards, posted is {rules.min_cut_cards}"
    if status.cut_card_first is not rules.cut_card_first:
        return f"the shoe ends by the rule {status.cut_card_first}, posted is {rules.cut_card_first}"
    return ""
