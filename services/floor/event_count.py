"""How many events the journal has of some tables, as surveillance counts them: a floor itself sees no event.

Owns the question only. A house without surveillance gives no count, and a simulation plays on without one.
"""

import asyncio
from collections.abc import Collection

from services.runtime.failures import CallFailed, ServiceUnavailable
from services.surveillance.client import SurveillanceClient

PATIENCE_SECONDS = 15.0
PAUSE_SECONDS = 0.1


async def counted_events(surveillance: SurveillanceClient, tables: Collection[str]) -> int | None:
    """The events of these tables in the journal as it is now; None when surveillance does not say so in time."""
    loop = asyncio.get_running_loop()
    give_up_at = loop.time() + PATIENCE_SECONDS
    try:
        lag = await surveillance.get_lag()
        wanted = {partition.partition: partition.end_offset for partition in lag.partitions}
        while any(one.projected_offset < wanted.get(one.partition, 0) for one in lag.partitions) or not lag.healthy:
            if loop.time() > give_up_at:
                return None
            await asyncio.sleep(PAUSE_SECONDS)
            lag = await surveillance.get_lag()
        overviews = await surveillance.list_tables()
    except (ServiceUnavailable, CallFailed):
        return None
    return sum(overview.events for overview in overviews.tables if overview.table in tables)
