"""Who may call what: every procedure of the house, the roles in a certificate that open it, and the floor it is about.

One screen to be read by whoever answers for it. Services may call everything: they pass on commands of actors whom they let
in themselves. A floor's gateway may call what a device, dealer or player of that floor may, and speaks for them alone. To be
let into a procedure is not yet the right to the act: the services judge the actor's authority themselves
(services/table/authority, the shoe's MAY, the ledger's AUTHORITY), whatever the transport.
"""

from typing import Any

from services.floor import gateway_client as gateway
from services.runtime.admission import SERVICES_ONLY, Access, AccessTable, Reach
from services.runtime.identity import CertificateRole as Role
from services.shoe import client as shoe
from services.surveillance import client as surveillance
from services.table import client as table
from services.wager import client as wager
from services.wire.rpc import Rpc

_PIT = {Role.SUPERVISOR, Role.LICENSEE}
_FLOOR = {Role.DEALER, Role.DEVICE, Role.SUPERVISOR}
_PATRONS = _FLOOR | {Role.PLAYER}
_OVERSIGHT = {Role.SURVEILLANCE, Role.REGULATOR, Role.CONSOLE}
_MONEY = _PIT | _OVERSIGHT
_EVERYBODY = frozenset(Role)


def _opened(
    roles: set[Role] | frozenset[Role], *rpcs: Rpc[Any, Any], reach: Reach = Reach.TABLE, own: str = ""
) -> AccessTable:
    return dict.fromkeys(rpcs, Access(frozenset(roles), reach, own))


_TABLE: AccessTable = {
    **_opened(_PIT, table.POST_RULES, table.OPEN_TABLE, table.CLOSE_TABLE, table.CHANGE_LIMITS),
    **_opened(_FLOOR, table.SET_DEALER, table.BUY_IN, table.OPEN_BETTING, table.CLOSE_BETTING, table.CLOSE_INSURANCE),
    **_opened(_PATRONS, table.SEAT_PLAYER, table.LEAVE_SEAT, table.CASH_OUT, table.PLACE_WAGERS, table.ACT),
    **_opened(_PATRONS, table.GIVE_TIP, table.PLAY_CASH),
    **_opened(_PATRONS, table.TAKE_INSURANCE, table.DECLINE_INSURANCE, table.TAKE_EVEN_MONEY),
    **_opened(_FLOOR | {Role.LICENSEE, Role.REGULATOR}, table.SUSPEND),
    **_opened({Role.SUPERVISOR}, table.RESUME, table.VOID_HAND, table.VOID_ROUND),
    **_opened(_EVERYBODY, table.GET_TABLE, table.WATCH_TABLE),
    **_opened(_EVERYBODY, table.LIST_TABLES, reach=Reach.TABLE_OR_FLOOR),
    # What devices saw comes through a gateway's log, never past it.
    **_opened({Role.GATEWAY}, table.RECORD_OBSERVATIONS),
    **_opened(_PIT | _OVERSIGHT | {Role.GATEWAY, Role.OPS}, table.GET_DEVICES),
}

# Cards go to the table's service alone, and so does the question under a card (30-823).
_SHOE: AccessTable = {
    **_opened(_PIT, shoe.REGISTER_DEVICE),
    **_opened(_PIT | {Role.DEALER}, shoe.INSPECT_DEVICE),
    **_opened({Role.SUPERVISOR}, shoe.INSPECT_CARDS, shoe.RESHUFFLE_DISCARDS, shoe.REVEAL_CARD, shoe.RACK_CARDS),
    **_opened({Role.SUPERVISOR}, shoe.ABANDON_SHOE),
    **_opened(_FLOOR, shoe.LOAD_DECKS, shoe.UNLOAD_DECKS, shoe.SHUFFLE_CARDS, shoe.PLACE_CUT_CARD, shoe.BURN_CARDS),
    **_opened(_FLOOR, shoe.RETIRE_SHOE),
    **_opened(_PATRONS, shoe.CUT_CARDS),
    **_opened(SERVICES_ONLY.roles, shoe.DRAW_CARDS, shoe.PEEK_CARD, shoe.RETURN_DISCARDS, shoe.GET_DRAW),
    **_opened(SERVICES_ONLY.roles, shoe.START_OBSERVED_SHOE, shoe.OBSERVE_CARDS, shoe.OBSERVE_CUT_CARD),
    **_opened(SERVICES_ONLY.roles, shoe.OBSERVE_TURNED_CARD, shoe.END_OBSERVED_SHOE),
    **_opened(_EVERYBODY, shoe.GET_SHOE, shoe.PROVE_CARD, shoe.GET_TRANSCRIPT),
}

# Racks, stakes and settlements are moved by the table's service, which knows whether a hand is in play.
_WAGER: AccessTable = {
    **_opened(SERVICES_ONLY.roles, wager.OPEN_LEDGER, wager.CLOSE_LEDGER, wager.OPEN_SEAT_SESSION, wager.BUY_IN),
    **_opened(SERVICES_ONLY.roles, wager.HOLD_STAKES, wager.VOID_HOLDS, wager.SETTLE_ROUND, wager.CASH_OUT),
    **_opened(SERVICES_ONLY.roles, wager.CLOSE_SEAT_SESSION, wager.BRING_CHIPS, wager.GIVE_TIP),
    **_opened({Role.SUPERVISOR}, wager.FILL_TRAY, wager.CREDIT_TRAY, wager.CORRECT_PAYMENT),
    **_opened(_MONEY, wager.READ_BALANCES, wager.READ_TABLE_MONEY),
    **_opened(_MONEY | _FLOOR, wager.READ_STATEMENT, wager.READ_ROUND),
}

# Hands and findings name patrons: they are surveillance's and the regulator's, and the console's for whom it lets in. Ops
# see that it runs and how far it is.
_SURVEILLANCE: AccessTable = {
    **_opened(_OVERSIGHT, surveillance.LIST_ROUNDS, surveillance.LIST_FINDINGS, reach=Reach.TABLE_OR_FLOOR),
    **_opened(_OVERSIGHT, surveillance.GET_ROUND, reach=Reach.ROUND),
    **_opened(_OVERSIGHT | {Role.OPS}, surveillance.LIST_TABLES, surveillance.WATCH_FLOOR, reach=Reach.TABLE_OR_FLOOR),
    **_opened(_OVERSIGHT | _PIT, surveillance.GET_METERS, reach=Reach.TABLE_OR_FLOOR),
    **_opened(_OVERSIGHT | {Role.OPS}, surveillance.GET_LAG, reach=Reach.HOUSE),
}

# A gateway's own procedures; it serves the house's beside them, by the same table.
_GATEWAY: AccessTable = {
    **_opened({Role.DEVICE}, gateway.REPORT, gateway.GET_DEVICE, own="device"),
    # A terminal is a device; what is decided at it is decided by the supervisor whose certificate it shows (30-828).
    **_opened({Role.SUPERVISOR}, gateway.REPORT_RULING, own="supervisor"),
    **_opened(_EVERYBODY, gateway.GET_LINE, reach=Reach.HOUSE),
}

ACCESS: AccessTable = {**_TABLE, **_SHOE, **_WAGER, **_SURVEILLANCE, **_GATEWAY}
"""Every procedure of the house. One that is missing here may be called by services alone."""
