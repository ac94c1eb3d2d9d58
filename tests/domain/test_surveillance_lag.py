"""How far behind the read model is: it grows while it stands, is nothing when there is nothing to read, and stays small."""

from services.surveillance.lag import MOST_SIGHTINGS, LagWatch

SECOND = 1_000_000


def test_a_quiet_house_is_not_behind_however_old_its_newest_event_is() -> None:
    watch = LagWatch()
    assert watch.look(9_000 * SECOND, {0: 10}, {0: 10}, newest_us=1) == 0
    # An event comes after hours: behind since the last look that found nothing, not since the event before it.
    assert watch.look(9_001 * SECOND, {0: 11}, {0: 10}, newest_us=1) == SECOND
    assert watch.look(9_002 * SECOND, {0: 11}, {0: 11}, newest_us=2) == 0


def test_a_reader_that_stands_still_is_further_behind_every_second() -> None:
    watch = LagWatch()
    watch.look(0, {0: 5}, {0: 5}, 0)
    assert [watch.look(n * SECOND, {0: 5 + n}, {0: 5}, 0) for n in (1, 2, 3)] == [SECOND, 2 * SECOND, 3 * SECOND]
    assert watch.unseen(10 * SECOND) == 10 * SECOND


def test_a_reader_that_is_always_a_little_behind_is_not_behind_for_ever() -> None:
    watch = LagWatch()
    watch.look(0, {0: 100}, {0: 100}, 0)
    lags = [watch.look(n * SECOND, {0: 100 + 10 * n}, {0: 100 + 10 * (n - 2)}, 0) for n in range(1, 50)]
    assert max(lags[3:]) == 2 * SECOND


def test_started_with_a_backlog_it_is_as_far_behind_as_its_newest_event_is_old() -> None:
    watch = LagWatch()
    assert watch.look(100 * SECOND, {0: 50, 1: 7}, {0: 20}, newest_us=40 * SECOND) == 60 * SECOND


def test_one_partition_that_stands_is_enough() -> None:
    watch = LagWatch()
    watch.look(0, {0: 1, 1: 1}, {0: 1, 1: 1}, 0)
    assert watch.look(SECOND, {0: 2, 1: 2}, {0: 2, 1: 1}, 0) == SECOND


def test_it_remembers_no_more_than_it_may() -> None:
    watch = LagWatch()
    watch.look(0, {0: 0}, {0: 0}, 0)
    for n in range(1, MOST_SIGHTINGS * 3):
        assert watch.look(n * SECOND, {0: n}, {}, 0) == n * SECOND
    assert len(watch._sightings) <= MOST_SIGHTINGS
    assert (
        watch.look(5_000 * SECOND, {0: 5_000}, {0: MOST_SIGHTINGS * 3 - 1}, 0)
        >= 5_000 * SECOND - MOST_SIGHTINGS * 3 * SECOND
    )
