"""Which cluster and topics a data folder belongs to, remembered beside it, so that another is told apart and refused.

An address or a topic's name says nothing: a second cluster can answer at it, and a topic can be deleted and made anew. Owns
the file `cluster.json`. Promises: nothing is read or written on a cluster that is not the one this folder has seen before.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from services.journal.errors import JournalUnavailable

_FILE = "cluster.json"
_FORMAT = "holecard-kafka-cluster/1"


class WrongCluster(JournalUnavailable):
    """The cluster or one of its topics is not the one that this data folder belongs to."""


@dataclass(frozen=True, slots=True)
class TopicFacts:
    """A topic as Kafka knows it: its id, which a topic made anew does not have, and its number of partitions."""

    id: str
    partitions: int


@dataclass(frozen=True, slots=True)
class ClusterFacts:
    """A cluster's id, and its topics by name."""

    cluster_id: str
    topics: Mapping[str, TopicFacts]


def recognise(folder: Path, facts: ClusterFacts) -> None:
    """Compare with what the folder has seen before, and remember what is new; makes the folder when there is none.

    Raises WrongCluster, changing nothing; JournalUnavailable when the file cannot be read or written.
    """
    path = folder / _FILE
    known = _read(path)
    if known is not None:
        _compare(folder, known, facts)
    topics = {**({} if known is None else known.topics), **facts.topics}
    if known is None or topics != known.topics:
        _write(path, ClusterFacts(facts.cluster_id, topics))


def _compare(folder: Path, known: ClusterFacts, facts: ClusterFacts) -> None:
    if known.cluster_id != facts.cluster_id:
        raise WrongCluster(
            f"{folder} belongs to the Kafka cluster {known.cluster_id}, and the one at this address is {facts.cluster_id}:"
            " check the address; to work with the other cluster take another data folder"
        )
    for name in sorted(facts.topics.keys() & known.topics.keys()):
        before, now = known.topics[name], facts.topics[name]
        if before.id != now.id:
            raise WrongCluster(
                f"topic {name} was deleted and made anew since {folder} last saw it (id {before.id}, now {now.id}): what was"
                " acknowledged in it is no longer there. Bring the topic back; or, if it was meant to go, take another data"
                " folder"
            )
        if before.partitions != now.partitions:
            raise WrongCluster(
                f"topic {name} had {before.partitions} partitions when {folder} first saw it, and has {now.partitions} now:"
                " tables would be looked for in the wrong ones. A journal's partitions are never added to: bring it back"
            )


def _read(path: Path) -> ClusterFacts | None:
    try:
        return _facts(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise JournalUnavailable(
            f"{path} does not say which Kafka cluster this data folder belongs to ({error}): delete it if you are sure that"
            " the address is right, it is written anew then"
        ) from error


def _facts(content: Any) -> ClusterFacts:
    if content["format"] != _FORMAT:
        raise ValueError(f"its format is {content['format']!r}, not {_FORMAT!r}")
    topics = {str(name): TopicFacts(str(one["id"]), int(one["partitions"])) for name, one in content["topics"].items()}
    return ClusterFacts(str(content["cluster_id"]), topics)


def _write(path: Path, facts: ClusterFacts) -> None:
    topics = {name: asdict(topic) for name, topic in sorted(facts.topics.items())}
    text = json.dumps({"format": _FORMAT, "cluster_id": facts.cluster_id, "topics": topics}, indent=2)
    scratch = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        scratch.write_text(text + "\n", encoding="utf-8")
        scratch.replace(path)
    except OSError as error:
        raise JournalUnavailable(
            f"{path} cannot be written: {error.strerror}; give this process a data folder"
        ) from error
