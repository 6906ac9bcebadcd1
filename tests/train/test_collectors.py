"""Collectors: who gets jobs, which rollouts are used, and how lost ones are replaced."""

from dataclasses import replace

import fake_actors
import pytest
from fake_actors import FakeActors
from hypothesis import given
from hypothesis import strategies as st

from midrange_puffer.config.sections import ClusterConfig
from midrange_puffer.errors import UserError
from midrange_puffer.train.cluster import collectors as module
from midrange_puffer.train.cluster.collectors import MOST_LOSSES, Collectors, Job
from midrange_puffer.train.cluster.connect import ClusterError
from midrange_puffer.train.stop_signals import StoppedError

BLOCKING = ClusterConfig(max_collectors=2)
OVERLAPPING = replace(BLOCKING, sync="non_blocking")


class Learner:
    """A learner with `count` rollouts an update, which takes `seconds` [s]."""

    def __init__(self, cluster, actors, count=2, seconds=1.0, is_stopping=bool) -> None:
        self.actors, self.interval, self.seconds = actors, cluster.weight_sync_interval, seconds
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "time", actors)
            self.collectors = Collectors(cluster, actors, is_stopping)
        self.begin(count, 7)
        self.version = 0

    def update(self) -> list[Job]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "time", self.actors)
            if self.version % self.interval == 0:
                self.collectors.broadcast(f"weights {self.version}", self.version)
            jobs = self.collectors.take(self.version)
        self.actors.now += self.seconds
        self.version += 1
        return jobs

    def begin(self, count: int, seed: int) -> None:
        """Begins a stage."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "time", self.actors)
            self.collectors.begin({}, count, seed, None)

    def lags(self, updates: int) -> list[int]:
        """Returns the age of the weights of each rollout, over some updates."""
        lags = []
        for _ in range(updates):
            made = [int(weights.removeprefix("weights ")) for *_, weights in makers(self.update())]
            lags += [self.version - 1 - version for version in made]
        return lags


def makers(jobs: list[Job]) -> list[tuple[int, int, object]]:
    return [fake_actors.made_by(job.rollout) for job in jobs]


@pytest.mark.parametrize("cores", [1, 2, 3, 4])
def test_blocking_takes_only_what_the_present_weights_have_made(cores):
    learner = Learner(replace(BLOCKING, max_collectors=4), FakeActors(cores), count=4)
    for version in range(10):
        jobs = learner.update()
        assert len(jobs) == 4
        assert {weights for *_, weights in makers(jobs)} == {f"weights {version}"}
        assert {job.version for job in jobs} == {version}
    assert len([call for call in learner.actors.calls if call.method == "collect"]) == 40


def test_blocking_work_is_shared_out_the_same_way_whoever_is_ready_or_done_first():
    took = []
    for slow in range(3):
        actors = FakeActors(3, lambda actor, n, slow=slow: 5.0 if actor == slow else 1.0)
        actors.start_seconds[slow] = 9.0
        learner = Learner(replace(BLOCKING, max_collectors=3), actors, count=6)
        took.append([makers(learner.update()) for _ in range(3)])
    assert took[0] == took[1] == took[2]
    assert [actor for actor, *_ in took[0][0]] == [0, 1, 2, 0, 1, 2]
    assert len({seed for _, seed, _ in took[0][0]}) == 3


@given(
    collectors=st.integers(1, 6),
    count=st.integers(1, 6),
    interval=st.integers(1, 3),
    spare=st.integers(0, 2),
    learning=st.floats(0.01, 20),
)
def test_equally_fast_collectors_send_nothing_too_old(collectors, count, interval, spare, learning):
    if not spare:  # all are given as much
        count *= collectors
    cluster = replace(
        OVERLAPPING,
        max_collectors=collectors,
        weight_sync_interval=interval,
        max_policy_lag=interval + spare,
    )
    learner = Learner(cluster, FakeActors(collectors), count, learning)
    lags = learner.lags(40)
    assert learner.collectors.dropped == 0
    assert max(lags) <= interval + spare


@pytest.mark.parametrize(("learning", "collecting"), [(1.0, 3.0), (3.0, 1.0), (2.0, 2.0)])
def test_learning_and_collecting_overlap(learning, collecting):
    actors = FakeActors(2, lambda actor, n: collecting)
    learner = Learner(OVERLAPPING, actors, 2, learning)
    learner.lags(5)
    before = actors.now
    learner.lags(20)
    assert actors.now - before == pytest.approx(20 * max(learning, collecting))


def test_all_of_many_collectors_have_work():
    actors = FakeActors(6)
    learner = Learner(replace(OVERLAPPING, max_collectors=6, max_policy_lag=3), actors, 2, 0.1)
    learner.lags(10)
    before = actors.now
    learner.lags(30)
    idle = [actors.idle(actor, before, actors.now) for actor in range(6)]
    assert max(idle) < 0.2 * (actors.now - before)


def test_late_segments_are_dropped_and_counted_without_a_wait():
    # The first collector's third rollout takes as long as 20 of the other one's.
    actors = FakeActors(2, lambda actor, n: 20.0 if (actor, n) == (0, 2) else 1.0)
    learner = Learner(OVERLAPPING, actors, 2, 1.0)
    lags = learner.lags(60)
    assert max(lags) <= 2
    assert 1 <= learner.collectors.dropped <= 2  # and what it was to do after that
    assert learner.collectors.lost == 0
    assert actors.now < 60 * 2 + 20


def test_one_that_is_killed_is_replaced_by_another_with_other_engagements():
    actors = FakeActors(2)
    learner = Learner(BLOCKING, actors)
    (_, first, _), (_, second, _) = makers(learner.update())
    actors.kill(0)
    jobs = makers(learner.update())
    assert {actor for actor, *_ in jobs} <= {1, 2}
    assert learner.collectors.lost == 1
    learner.update()
    actors_now, seeds, _ = zip(*makers(learner.update()), strict=True)
    assert set(actors_now) == {1, 2}
    assert second in seeds
    assert first not in seeds


@pytest.mark.parametrize("cluster", [BLOCKING, OVERLAPPING])
def test_an_update_is_whole_and_holds_nothing_twice_whoever_is_lost(cluster):
    actors = FakeActors(3)
    learner = Learner(replace(cluster, max_collectors=3), actors, count=4)
    taken = []
    for version in range(30):
        if version % 3 == 2:
            alive = set(range(3 + learner.collectors.lost)) - actors.killed
            actors.kill(min(alive))
        jobs = learner.update()
        assert len(jobs) == 4
        taken += [id(job.rollout) for job in jobs]
        assert all(f"weights {job.version}" == fake_actors.made_by(job.rollout)[2] for job in jobs)
    assert len(set(taken)) == 120
    assert learner.collectors.lost == 10


def test_one_that_takes_too_long_is_given_up(capsys):
    actors = FakeActors(2, lambda actor, n: float("inf") if (actor, n) == (0, 1) else 1.0)
    learner = Learner(replace(BLOCKING, timeout=30.0), actors)
    for _ in range(4):
        assert len(learner.update()) == 2
    assert actors.killed == {0}
    assert learner.collectors.lost == 1
    err = capsys.readouterr().err
    assert err == "lost a collector: it has taken more than cluster.timeout = 30 s\n"


def test_time_spent_learning_is_not_held_against_a_collector():
    learner = Learner(replace(OVERLAPPING, timeout=3.0), FakeActors(2), 4, seconds=100.0)
    learner.lags(10)
    assert learner.collectors.lost == 0


def test_those_for_whom_a_core_is_found_later_join(capsys):
    actors = FakeActors(1)
    learner = Learner(BLOCKING, actors)
    learner.update()
    assert learner.collectors.at_work == 1
    actors.add_core()
    for _ in range(4):
        jobs = makers(learner.update())
    assert {actor for actor, *_ in jobs} == {0, 1}
    said = "collectors at work: 1 of 2\ncollectors at work: 2 of 2\n"
    assert capsys.readouterr().out == said


def test_a_cluster_that_is_full_is_waited_for(capsys):
    actors = FakeActors(0)
    learner = Learner(BLOCKING, actors)
    wait = actors.wait

    def see(*given):
        if actors.now > 300 and not actors.cores:
            actors.add_core()
        return wait(*given)

    actors.wait = see
    assert len(learner.update()) == 2
    said = "no collector is at work yet; does the cluster have free cores?\n"
    assert capsys.readouterr().err == said


def test_a_cluster_without_cores_is_said_at_once(capsys):
    actors = FakeActors(0)
    learner = Learner(OVERLAPPING, actors, is_stopping=lambda: actors.now > 0)
    with pytest.raises(StoppedError):
        learner.update()
    assert actors.now <= module.POLL
    assert "does the cluster have free cores?" in capsys.readouterr().err


def test_a_run_that_is_to_stop_ends_its_update_but_waits_for_nobody():
    actors, stopping = FakeActors(1), []
    learner = Learner(BLOCKING, actors, is_stopping=lambda: bool(stopping))
    learner.update()
    stopping.append(True)
    assert len(learner.update()) == 2
    actors.cores = 0
    actors.kill(0)
    with pytest.raises(StoppedError, match="no collector was at work"):
        learner.update()


def test_a_run_that_is_to_stop_does_not_wait_for_a_stage_to_begin():
    actors, stopping = FakeActors(2, lambda actor, n: 50.0), []
    learner = Learner(OVERLAPPING, actors, is_stopping=lambda: bool(stopping))
    learner.update()
    learner.begin(2, 8)
    stopping.append(True)
    before = actors.now
    with pytest.raises(StoppedError):
        learner.update()
    assert actors.now == before


def test_losses_without_end_end_the_run():
    class Dying(FakeActors):
        def start(self) -> int:
            actor = super().start()
            if actor >= 2:
                self.killed.add(actor)
            return actor

    actors = Dying(2)
    learner = Learner(BLOCKING, actors)
    learner.update()
    actors.kill(0)
    actors.kill(1)
    with pytest.raises(ClusterError, match=f"{MOST_LOSSES} collectors one after another were lost"):
        learner.update()


def test_a_node_of_many_collectors_may_be_lost_twice_over():
    actors = FakeActors(8)
    learner = Learner(replace(BLOCKING, max_collectors=8), actors, count=8)
    learner.update()
    for actor in range(8):
        actors.kill(actor)
    actors.fails.update({actor: module.LostError("its node has died") for actor in range(8, 16)})
    assert len(learner.update()) == 8
    assert learner.collectors.lost == 16


def test_an_error_of_a_collectors_own_ends_the_run():
    actors = FakeActors(2)
    actors.fails[1] = UserError("its pool cannot be read")
    with pytest.raises(UserError, match="its pool cannot be read"):
        Learner(BLOCKING, actors).update()


@pytest.mark.parametrize("cluster", [BLOCKING, OVERLAPPING])
def test_a_stage_has_nothing_of_the_one_before(cluster, capsys):
    actors = FakeActors(2)
    learner = Learner(cluster, actors)
    before = {seed for _ in range(3) for _, seed, _ in makers(learner.update())}
    learner.begin(3, 8)
    capsys.readouterr()
    for version in range(3, 6):
        jobs = learner.update()
        assert len(jobs) == 3
        assert all(job.version >= 3 for job in jobs), version
        assert not before & {seed for _, seed, _ in makers(jobs)}
    assert learner.collectors.lost == 0
    assert not actors.killed
    assert capsys.readouterr() == ("", "")  # all are at work as before


def test_one_that_hangs_when_a_stage_begins_is_given_up():
    actors = FakeActors(2, lambda actor, n: float("inf") if (actor, n) == (0, 3) else 1.0)
    learner = Learner(replace(OVERLAPPING, timeout=30.0), actors)
    learner.lags(3)
    assert [call.actor for call in actors.calls if call.done == float("inf")] == [0]
    learner.begin(2, 8)
    for _ in range(60):
        assert len(learner.update()) == 2
    assert actors.killed == {0}
    assert learner.collectors.lost == 1
    assert learner.collectors.at_work == 2


def test_one_that_still_has_much_to_do_when_a_stage_begins_is_waited_for():
    actors = FakeActors(1, lambda actor, n: 25.0)
    learner = Learner(replace(OVERLAPPING, max_collectors=1, timeout=30.0), actors, 4)
    learner.update()
    learner.begin(4, 8)
    assert len(learner.update()) == 4
    assert learner.collectors.lost == 0


def test_at_the_end_all_are_ended():
    actors = FakeActors(1)
    learner = Learner(OVERLAPPING, actors)
    learner.update()
    learner.collectors.close()
    assert actors.killed == {0, 1}
    assert [call.method for call in actors.calls].count("close") == 1
