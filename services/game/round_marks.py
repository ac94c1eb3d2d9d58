"""Members of the round's enums under names of their own.

Owns nothing but names. Reading a member off its enum costs ten times as much as reading a name (Python 3.11), and a
round asks hundreds of times; so the modules that run at every card import these.
"""

from typing import Final

from services.game.round_words import Action, DecidedBy, HandStatus, Phase, Recipient

AT_BETTING: Final = Phase.BETTING
AT_DEALING: Final = Phase.DEALING
AT_INSURANCE: Final = Phase.INSURANCE
AT_PEEK: Final = Phase.PEEK
AT_PLAYERS: Final = Phase.PLAYERS
AT_DEALER: Final = Phase.DEALER
AT_SETTLING: Final = Phase.SETTLING
AT_PICKUP: Final = Phase.PICKUP
AT_COMPLETE: Final = Phase.COMPLETE

PLAYING: Final = HandStatus.PLAYING
STOOD: Final = HandStatus.STOOD
NATURAL: Final = HandStatus.NATURAL
BUST: Final = HandStatus.BUST
SURRENDERED: Final = HandStatus.SURRENDERED
TOOK_EVEN_MONEY: Final = HandStatus.EVEN_MONEY
VOIDED: Final = HandStatus.VOIDED

TO_PLAYER: Final = Recipient.PLAYER
TO_DEALER: Final = Recipient.DEALER

BY_PLAYER: Final = DecidedBy.PLAYER
BY_DEALER: Final = DecidedBy.DEALER
BY_SYSTEM: Final = DecidedBy.SYSTEM

HIT: Final = Action.HIT
STAND: Final = Action.STAND
DOUBLE_DOWN: Final = Action.DOUBLE
SPLIT_PAIR: Final = Action.SPLIT
SURRENDER: Final = Action.SURRENDER
