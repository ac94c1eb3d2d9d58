"""What a caller of another service may meet besides a refusal; the same in both forms of a client."""


class ServiceUnavailable(Exception):
    """The outcome is unknown or the service is not ready: ask again with the same request id."""


class DeadlinePassed(ServiceUnavailable):
    """No answer within the deadline; the command may have been carried out: ask again with the same request id."""


class Overloaded(ServiceUnavailable):
    """The service has too much in hand and did not start on this: ask again later with the same request id."""


class CallFailed(Exception):
    """The service or the request is broken; asking again will not help."""


class NotFound(CallFailed):
    """What was asked for does not exist."""
