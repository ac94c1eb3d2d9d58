"""What a caller of another service may meet besides a refusal; the same in both forms of a client."""


class ServiceUnavailable(Exception):
    """The outcome is unknown or the service is not ready: ask again with the same request id."""


class NotOwner(ServiceUnavailable):
    """Another process owns the table's partition: nothing was done here, ask there with the same request id.

    `partition` is the journal's number; `owner` and `address` ("host:port") are empty while nobody is known to own it.
    """

    def __init__(self, text: str, partition: int, owner: str, address: str) -> None:
        super().__init__(text)
        self.partition = partition
        self.owner = owner
        self.address = address


class DeadlinePassed(ServiceUnavailable):
    """No answer within the deadline; the command may have been carried out: ask again with the same request id."""


class Overloaded(ServiceUnavailable):
    """The service has too much in hand and did not start on this: ask again later with the same request id."""


class CallFailed(Exception):
    """The service or the request is broken; asking again will not help."""


class NotFound(CallFailed):
    """What was asked for does not exist."""
