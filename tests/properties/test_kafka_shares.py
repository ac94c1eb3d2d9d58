"""How partitions are shared out: everyone's, balanced, in cells, and moved as little as can be (DESIGN §4)."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from services.journal.kafka_cells import CellAssignor, Member, Place, Shares, share_out

TOPICS = ("shoe", "table", "wager", "surveillance")
GAME = frozenset({"shoe", "table", "wager"})


def held(shares: Shares, member: str, epoch: int = 1) -> dict[Place, int]:
    return {(topic, number): epoch for topic, numbers in shares[member].items() for number in numbers}


def members_of(shares: Shares, hosted: dict[str, frozenset[str]]) -> list[Member]:
    return [Member(name, topics, held(shares, name) if name in shares else {}) for name, topics in hosted.items()]


def moved(before: Shares, after: Shares) -> int:
    """How many places have another owner than before."""
    owners = [{place: name for name in shares for place in held(shares, name)} for shares in (before, after)]
    return sum(owners[1].get(place) != owner for place, owner in owners[0].items())


HOSTED = st.dictionaries(
    st.sampled_from("abcdef"),
    st.frozensets(st.sampled_from(TOPICS), min_size=1),
    min_size=1,
)


@given(st.lists(HOSTED, min_size=1, max_size=4), st.integers(1, 13))
def test_everything_has_one_owner_who_takes_it_and_numbers_differ_by_one_at_most(
    generations: list[dict[str, frozenset[str]]], partitions: int
) -> None:
    shares: Shares = {}
    for hosted in generations:
        shares = share_out(members_of(shares, hosted), TOPICS, partitions)
        for topic in TOPICS:
            takers = [name for name, topics in hosted.items() if topic in topics]
            owned = [number for name in shares for number in shares[name].get(topic, [])]
            assert sorted(owned) == (list(range(partitions)) if takers else [])
            loads = [len(shares[name].get(topic, [])) for name in takers]
            assert not takers or max(loads) - min(loads) <= 1
            assert all(topic in hosted[name] for name in shares if shares[name].get(topic))


@given(st.integers(1, 6), st.integers(1, 13))
def test_processes_that_host_all_three_own_whole_cells(count: int, partitions: int) -> None:
    shares = share_out([Member(name, GAME) for name in "abcdef"[:count]], TOPICS, partitions)
    for places in shares.values():
        assert places.get("shoe") == places.get("table") == places.get("wager")


@given(HOSTED, st.integers(1, 13))
def test_the_same_members_keep_what_they_have(hosted: dict[str, frozenset[str]], partitions: int) -> None:
    before: Shares = {}
    settled = share_out(members_of({}, hosted), TOPICS, partitions)
    for _ in range(4):
        # Cells may still come together at first; once they have, nothing moves.
        before, settled = settled, share_out(members_of(settled, hosted), TOPICS, partitions)
    assert moved(before, settled) == 0


@given(st.integers(1, 5), st.integers(1, 13))
def test_one_who_joins_is_given_its_part_and_nothing_else_moves(count: int, partitions: int) -> None:
    names = "abcdef"[: count + 1]
    before = share_out([Member(name, GAME) for name in names[:-1]], TOPICS, partitions)
    after = share_out(members_of(before, dict.fromkeys(names, GAME)), TOPICS, partitions)
    assert moved(before, after) == sum(map(len, after[names[-1]].values()))


@given(st.integers(2, 6), st.integers(1, 13))
def test_when_one_goes_only_his_part_moves(count: int, partitions: int) -> None:
    names = "abcdef"[:count]
    before = share_out([Member(name, GAME) for name in names], TOPICS, partitions)
    after = share_out(members_of(before, dict.fromkeys(names[1:], GAME)), TOPICS, partitions)
    assert moved(before, after) == len(held(before, names[0]))


def test_of_two_that_believe_to_own_a_partition_the_later_claim_keeps_it() -> None:
    late = Member("z", GAME, {("table", 0): 7})
    early = Member("a", GAME, {("table", 0): 3, ("table", 1): 3})
    shares = share_out([early, late], TOPICS, 2)
    assert (shares["z"]["table"], shares["a"]["table"]) == ([0], [1])


def test_what_cannot_be_read_of_a_member_is_taken_for_nothing() -> None:
    assignor = CellAssignor(TOPICS, 2, dict)
    told = assignor.metadata(GAME)
    counts: Counter[int] = Counter()
    for user_data in (b"", b"\xff", b"[]", b'{"held": [1]}', b'{"held": [["table", "x", 1]]}', told.user_data):
        member = _JoinedMember("a", _Metadata(sorted(GAME), user_data))
        assignment = assignor.assign(None, [member])["a"]
        counts[len(assignment.partitions())] += 1
        assignor.on_assignment(assignment, 1)
        assert assignor.assignment.takers == {"shoe": 1, "table": 1, "wager": 1, "surveillance": 0}
    assert counts == {6: 6}


class _Metadata:
    def __init__(self, topics: list[str], user_data: bytes) -> None:
        self.topics = topics
        self.user_data = user_data


class _JoinedMember:
    def __init__(self, member_id: str, metadata: _Metadata) -> None:
        self.member_id = member_id
        self.metadata = metadata
