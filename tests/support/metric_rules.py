"""What a metric of ours may be called and what its labels may say: Prometheus' naming, and nothing that grows without bound.

Judges what a registry gives, whoever made it. https://prometheus.io/docs/practices/naming/ is the source of the names.
"""

import re
from collections.abc import Iterable

from prometheus_client import CollectorRegistry
from prometheus_client.core import Metric

NAME = re.compile(r"(holecard|process|python)(_[a-z][a-z0-9]*)+")
LABEL = re.compile(r"[a-z][a-z_]*")
VALUE = re.compile(r"[A-Za-z0-9_.+ -]{1,80}")
SCALED = re.compile(r"(_ms|_us|_ns|_milliseconds|_microseconds|_minutes|_hours|_kb|_mb|_kilobytes|_percent)\b")
"""Units that are not Prometheus' base units: seconds, bytes, ratios. Money is whole cents everywhere (DESIGN §7)."""
TYPES = ("counter", "gauge", "histogram", "summary", "info")
MOST_SERIES = 1_000
"""Of one metric in one process; procedures times statuses are the most there are."""
NEEDS_UNIT = ("duration", "latency", "age", "time", "size")


def complaints(registry: CollectorRegistry, forbidden: Iterable[str] = ()) -> list[str]:
    """What is wrong with the metrics of `registry`; `forbidden` are ids that no label may carry, whole or as a part."""
    ids = {one for one in forbidden if len(one) > 2}
    found: list[str] = []
    for family in registry.collect():
        found += [f"{family.name}: {complaint}" for complaint in (*_of_name(family), *_of_labels(family, ids))]
    return found


def _of_name(family: Metric) -> Iterable[str]:
    if not NAME.fullmatch(family.name):
        yield "is not holecard_…, process_… or python_… in lower case"
    if SCALED.search(family.name):
        yield "is not in a base unit"
    if family.type not in TYPES:
        yield f"is of type {family.type}"
    if not family.documentation.strip():
        yield "has no help"
    if family.type == "counter" and not all(sample.name.endswith("_total") for sample in family.samples):
        yield "is a counter whose name does not end in _total"
    if family.type != "counter" and family.name.endswith(("_total", "_count", "_sum", "_bucket")):
        yield "ends as only other types may"
    if family.name.startswith("holecard") and family.name.endswith(NEEDS_UNIT):
        yield "does not say its unit"


def _of_labels(family: Metric, ids: set[str]) -> Iterable[str]:
    if len(family.samples) > MOST_SERIES:
        yield f"has {len(family.samples)} series"
    for sample in family.samples:
        if sample.name.endswith("_created"):
            yield "has a second gauge for when each series began"
        for name, value in sample.labels.items():
            if not LABEL.fullmatch(name):
                yield f"has a label {name!r}"
            if not VALUE.fullmatch(value):
                yield f"has a value {value!r} of {name}, which is no name of a fixed set"
            if any(one in value for one in ids):
                yield f"tells an id in {name}={value!r}"
