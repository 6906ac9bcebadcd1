"""Work whose process or node is gone, in whatever words Ray says so."""

from types import SimpleNamespace

import pytest
import ray
from ray.exceptions import NodeDiedError, ObjectLostError, OutOfMemoryError, RayActorError

from midrange_puffer.sweep.ray_worker import MOST_LOSSES, NodeError, RayWorker
from midrange_puffer.sweep.record import TRIAL_INI
from midrange_puffer.train.cluster.collector import RayActors
from midrange_puffer.train.cluster.connect import LostError

# As Ray 2.60 words them.
DIED = RayActorError(
    error_msg="The actor died unexpectedly before finishing this task.\n\tclass_name: Host\n"
    "\tactor_id: 0f\nThe actor is dead because its node has died. Node Id: 9a\n"
    "\tthe actor's node was terminated: health check failed"
)
LOSSES = [
    (DIED, "The actor is dead because its node has died"),
    (
        OutOfMemoryError(
            "1 worker(s) were killed due to the node running low on memory. Memory on the node "
            "was 15.1GB / 16.0GB\nRefer to the documentation on how to address it."
        ),
        "1 worker(s) were killed due to the node running low on memory",
    ),
    (ObjectLostError("ab", None, ""), "All copies of ab have been lost due to node failure"),
    (NodeDiedError("The node 9a is dead."), "The node 9a is dead."),
]


@pytest.fixture
def answers(monkeypatch) -> list[object]:
    """What Ray answers to one question after another: a value, or an error that it raises."""
    left: list[object] = []

    def get(question: str) -> object:
        answer = left.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    method = SimpleNamespace(remote=lambda *_: "a question")
    host = SimpleNamespace(begin=method, look=method, end=method)
    monkeypatch.setattr(ray, "get", get)
    monkeypatch.setattr(ray, "wait", lambda questions, **_: (questions, []))
    monkeypatch.setattr(ray, "kill", lambda actor: None)
    monkeypatch.setattr(
        ray, "remote", lambda **_: lambda kind: SimpleNamespace(remote=lambda: host)
    )
    return left


@pytest.mark.parametrize(("error", "said"), LOSSES)
def test_a_collector_and_a_trial_are_lost_by_any_of_them(tmp_path, answers, error, said):
    answers += [error, "a node", error, "another node"]
    with pytest.raises(LostError) as lost:
        RayActors().get("a question")
    assert str(lost.value) == said
    (tmp_path / TRIAL_INI).touch()
    worker = RayWorker(1, ())
    assert worker.is_free()
    worker.begin(tmp_path)
    with pytest.raises(LostError) as lost:
        worker.look()
    assert str(lost.value) == f"lost on a node: {said}"
    assert worker.is_free()  # with another actor


def test_actors_that_are_lost_as_they_begin_are_not_asked_for_for_ever(answers):
    answers += [DIED] * (MOST_LOSSES - 1) + ["a node"] + [DIED] * MOST_LOSSES
    worker = RayWorker(1, ())
    assert [worker.is_free() for _ in range(MOST_LOSSES)] == [False] * (MOST_LOSSES - 1) + [True]
    worker.close()
    for _ in range(MOST_LOSSES - 1):
        assert not worker.is_free()
    said = "5 actors in a row were lost as they began; the last lost .*: .* its node has died"
    with pytest.raises(NodeError, match=said):
        worker.is_free()
