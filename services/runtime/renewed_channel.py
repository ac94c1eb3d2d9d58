"""A channel over TLS that shows a renewed certificate without a restart.

gRPC reads a client's certificate once, when its channel is made. So this is a channel that makes another one behind itself
when the files have changed; calls in hand on the old one end there.
"""

import asyncio
from collections.abc import Sequence
from typing import Any, Self

import grpc

from services.runtime.transport import Tls

OLD_CALLS_SECONDS = 30.0


class RenewedChannel(grpc.aio.Channel):
    """To `address` with the certificate that `tls` has at the time of each call."""

    def __init__(self, address: str, tls: Tls, options: Sequence[tuple[str, Any]]) -> None:
        self._address = address
        self._tls = tls
        self._options = options
        self._stamp = tls.stamp
        self._channel = self._open()
        self._closing: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self, grace: float | None = None) -> None:
        """Close it, and what is left of former ones."""
        for task in self._closing:
            task.cancel()
        await asyncio.gather(*self._closing, return_exceptions=True)
        await self._channel.close(grace)

    def get_state(self, try_to_connect: bool = False) -> grpc.ChannelConnectivity:
        """See grpc.aio.Channel."""
        return self._channel.get_state(try_to_connect)

    async def wait_for_state_change(self, last_observed_state: grpc.ChannelConnectivity) -> None:
        """See grpc.aio.Channel."""
        await self._channel.wait_for_state_change(last_observed_state)

    async def channel_ready(self) -> None:
        """See grpc.aio.Channel."""
        await self._channel.channel_ready()

    def unary_unary(self, *arguments: Any, **options: Any) -> Any:
        """See grpc.aio.Channel."""
        return self._current().unary_unary(*arguments, **options)

    def unary_stream(self, *arguments: Any, **options: Any) -> Any:
        """See grpc.aio.Channel."""
        return self._current().unary_stream(*arguments, **options)

    def stream_unary(self, *arguments: Any, **options: Any) -> Any:
        """See grpc.aio.Channel."""
        return self._current().stream_unary(*arguments, **options)

    def stream_stream(self, *arguments: Any, **options: Any) -> Any:
        """See grpc.aio.Channel."""
        return self._current().stream_stream(*arguments, **options)

    def _open(self) -> grpc.aio.Channel:
        return grpc.aio.secure_channel(self._address, self._tls.channel_credentials(), options=self._options)

    def _current(self) -> grpc.aio.Channel:
        if self._tls.refresh() != self._stamp:
            self._stamp = self._tls.stamp
            task = asyncio.ensure_future(self._retire(self._channel))
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)
            self._channel = self._open()
        return self._channel

    @staticmethod
    async def _retire(channel: grpc.aio.Channel) -> None:
        try:
            await asyncio.sleep(OLD_CALLS_SECONDS)
        finally:
            await channel.close()
