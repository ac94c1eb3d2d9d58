"""What a gateway refuses, each named after the broken rule; nothing of a refused report was kept."""

from services.game.rejections import NotAuthorised, Rejection


class ReadingSequenceGap(Rejection):
    """A device left out readings, or went back in the middle of a report."""

    rule = "holecard.floor.v1.GatewayService"
    remedy = "Go on from the expected number; send HISTORY_LOST under the next one if the readings between are gone."


class ReadingContested(Rejection):
    """A reading's number was used before for something else. It was reported to the house."""

    rule = "holecard.floor.v1.GatewayService"
    remedy = "Stop the device and call for service: it contradicts itself."


class TableOfAnotherFloor(Rejection):
    """A gateway serves the tables of its own floor only."""

    rule = "holecard.floor.v1.GatewayService"
    remedy = "Send it to the gateway of that floor."


class DeviceNameReserved(Rejection):
    """Only the gateway itself reports under this name."""

    rule = "holecard.floor.v1.GatewayService"
    remedy = 'Give the device a name other than "gateway".'


class RulingNeedsSupervisor(NotAuthorised):
    """Only a pit supervisor lets play go on or voids a round, never a device or the dealer (30-828(1))."""

    rule = "30-828(1)"
    remedy = "Let the supervisor send it by ReportRuling, in his own name."
