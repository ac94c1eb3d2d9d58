"""What is wrong with a command's request id (DESIGN §3): none, or one that meant something else before."""

from services.game.rejections import Breach, Rejection


class RequestIdReused(Rejection):
    """A known request id with other content or from another actor."""

    rule = "DESIGN §3"
    remedy = "Give every command its own id; repeat an id only to repeat the command unchanged."


class RequestIdMissing(Rejection):
    """A command without a request id, or with one that is too long."""

    rule = "DESIGN §3"
    remedy = "Send a request id of 1 to 128 characters with every command."
    breach = Breach.FORM
