"""Who may do what on the cluster, as a file says it: compared with what the brokers know, and granted when asked.

Owns the form of deploy/kafka/acls.toml. Promises: what the file does not name is not granted, and what the brokers know of
its users beyond it is reported. Does not make users or their passwords.
"""

import contextlib
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kafka import KafkaAdminClient
from kafka.admin import (
    ACL,
    ACLFilter,
    ACLOperation,
    ACLPermissionType,
    ACLResourcePatternType,
    ResourcePattern,
    ResourcePatternFilter,
    ResourceType,
)

from services.journal.errors import JournalUnavailable
from services.journal.kafka_cluster import Cluster

_CLUSTER = "kafka-cluster"
_OPERATIONS = {
    "Read": ACLOperation.READ,
    "Write": ACLOperation.WRITE,
    "Create": ACLOperation.CREATE,
    "Alter": ACLOperation.ALTER,
    "Describe": ACLOperation.DESCRIBE,
    "DescribeConfigs": ACLOperation.DESCRIBE_CONFIGS,
    "AlterConfigs": ACLOperation.ALTER_CONFIGS,
}
_KINDS = {"topic": ResourceType.TOPIC, "group": ResourceType.GROUP, "cluster": ResourceType.CLUSTER}


class GrantsUnreadable(JournalUnavailable):
    """The file does not say who may do what; the message names the entry."""


@dataclass(frozen=True, slots=True, order=True)
class Grant:
    """One right: the user, "topic", "group" or "cluster", its name, whether that is only how names begin, and the act."""

    user: str
    kind: str
    name: str
    is_prefix: bool
    operation: str

    def __str__(self) -> str:
        star = "*" if self.is_prefix else ""
        where = self.kind if self.kind == "cluster" else f"{self.kind} {self.name}{star}"
        return f"{self.user}: {self.operation} on {where}"


@dataclass(frozen=True, slots=True)
class Difference:
    """What the file grants and the brokers do not know, and what they know of its users and the file does not grant."""

    missing: tuple[Grant, ...]
    beyond: tuple[str, ...]


def read_grants(path: Path, prefix: str = "") -> tuple[Grant, ...]:
    """The rights in a file, names with `prefix`; raises GrantsUnreadable."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise GrantsUnreadable(f"{path} cannot be read as TOML: {error}") from error
    everybody, users = content.pop("everybody", {}), content.pop("users", {})
    if content or not isinstance(everybody, dict) or not isinstance(users, dict) or not users:
        raise GrantsUnreadable(
            f"{path} has [everybody] and [users.<name>] tables, not {sorted(content) or 'only these'}"
        )
    grants: set[Grant] = set()
    for user, rights in users.items():
        if not isinstance(rights, dict):
            raise GrantsUnreadable(f"{path}: [users.{user}] must be a table")
        for table in (everybody, rights):
            for where, operations in table.items():
                grants.update(_grants(path, user, where, operations, prefix))
    return tuple(sorted(grants))


def compare(cluster: Cluster, grants: Iterable[Grant]) -> Difference:
    """How the brokers differ from the grants; raises JournalUnavailable."""
    wanted = {_acl(grant): grant for grant in grants}
    principals = {acl.principal for acl in wanted}
    with _administering(cluster) as admin:
        anything = ACLFilter(
            None,
            None,
            ACLOperation.ANY,
            ACLPermissionType.ANY,
            ResourcePatternFilter(ResourceType.ANY, None, ACLResourcePatternType.ANY),
        )
        found, error = admin.describe_acls(anything)
        if error.errno:
            raise error()
    known = {_key(acl): acl for acl in found}
    missing = tuple(sorted(grant for acl, grant in wanted.items() if _key(acl) not in known))
    keys = {_key(acl) for acl in wanted}
    beyond = tuple(sorted(_text(acl) for key, acl in known.items() if acl.principal in principals and key not in keys))
    return Difference(missing, beyond)


def grant_all(cluster: Cluster, grants: Iterable[Grant]) -> None:
    """Grant these rights; raises JournalUnavailable when one is refused."""
    with _administering(cluster) as admin:
        done = admin.create_acls([_acl(grant) for grant in grants])
        for acl, error in done.get("failed", ()):
            raise JournalUnavailable(f"the broker does not grant {_text(acl)}: {error}")


def _grants(path: Path, user: str, where: object, operations: object, prefix: str) -> Iterator[Grant]:
    kind, _, name = str(where).partition(":")
    if kind not in _KINDS or (kind == "cluster") == bool(name) or not isinstance(operations, list):
        raise GrantsUnreadable(
            f"{path}: {user!r} has {where!r}; known are 'topic:NAME', 'group:NAME' (NAME may end in *) and 'cluster', each"
            " with a list of acts"
        )
    for operation in operations:
        if operation not in _OPERATIONS:
            raise GrantsUnreadable(f"{path}: {user!r} has {operation!r}; known are {', '.join(_OPERATIONS)}")
        full = _CLUSTER if kind == "cluster" else f"{prefix}{name.removesuffix('*')}"
        yield Grant(user, kind, full, name.endswith("*"), operation)


def _acl(grant: Grant) -> ACL:
    pattern = ACLResourcePatternType.PREFIXED if grant.is_prefix else ACLResourcePatternType.LITERAL
    return ACL(
        f"User:{grant.user}",
        "*",
        _OPERATIONS[grant.operation],
        ACLPermissionType.ALLOW,
        ResourcePattern(_KINDS[grant.kind], grant.name, pattern),
    )


def _key(acl: ACL) -> tuple[Any, ...]:
    pattern = acl.resource_pattern
    where = (int(pattern.resource_type), pattern.resource_name, int(pattern.pattern_type))
    return acl.principal, acl.host, int(acl.operation), int(acl.permission_type), *where


def _text(acl: ACL) -> str:
    pattern = acl.resource_pattern
    star = "*" if pattern.pattern_type == ACLResourcePatternType.PREFIXED else ""
    kind, name = ResourceType(pattern.resource_type).name.lower(), pattern.resource_name
    may = ACLPermissionType(acl.permission_type).name.lower()
    return f"{acl.principal} from {acl.host}: {may} {ACLOperation(acl.operation).name} on {kind} {name}{star}"


@contextlib.contextmanager
def _administering(cluster: Cluster) -> Iterator[KafkaAdminClient]:
    with cluster.translated(), contextlib.closing(cluster.admin()) as admin:
        yield admin
