"""Arguments that the C learner refuses."""

import numpy as np
import pytest
from native_policies import Experience, make

from midrange_puffer import _learner
from midrange_puffer.game.observation import spaces_of
from midrange_puffer.policies.actors import STD
from midrange_puffer.policies.native import flattened, make_network, reason_against
from midrange_puffer.policies.networks import make_policy
from midrange_puffer.train.experience import GATHERED


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"widths": (60,)}, "multiples of 16"),
        ({"widths": ()}, "1 to 4 layers"),
        ({"widths": (16,) * 5}, "1 to 4 layers"),
        ({"features": 0}, "features = 0"),
        ({"levels": (299, 259, 19)}, "575 at most together"),
        ({"levels": (5, 3)}, "3 to 80 numbers"),
        ({"levels": (2,) * 81}, "3 to 80 numbers"),
        ({"levels": None, "ranges": [[0] * 2, [1] * 2]}, "3 to 80 numbers each"),
        ({"levels": None, "ranges": [[0] * 3, [1] * 4]}, "3 middles and 4 halves"),
        ({"threads": 0}, "threads = 0: at least 1, at most 1024"),
        ({"threads": 10**6}, "threads = 1000000: at least 1, at most 1024"),
        ({"isa": "mmx"}, "isa = 'mmx'"),
    ],
)
def test_a_shape_that_it_cannot_take_is_named(wrong, error):
    right = {"features": 71, "widths": (64, 64), "levels": (5, 3, 2), "threads": 1, "isa": "auto"}
    arguments = {**right, "ranges": [[0] * 3, [1] * 3], "deviations": STD, "learns": True, **wrong}
    with pytest.raises(ValueError, match=error):
        _learner.Network(**arguments)


def test_arguments_of_the_network_are_checked():
    policy = make()
    network = make_network(policy)
    network.load(flattened(policy).numpy())
    experience = Experience(policy, segments=4, horizon=8, seed=0)
    wide, actions = np.zeros((4, 71), np.float32), np.zeros((4, 3), np.int32)
    judged = np.zeros((2, 4, 8), np.float32)
    settings_ = (0.2, 0.2, 1.0, 0.1)
    gradient = np.zeros(network.size, np.float32)

    def learn(rows: list[int], to: np.ndarray = gradient) -> None:
        arguments = *judged, settings_, 1.0, to, *judged
        network.gradient(experience.arrays(), np.array(rows), *arguments)

    f4 = np.float32
    for function, arguments, error, message in (
        (network.load, (np.zeros(3, f4),), ValueError, "parameters of 3 numbers"),
        (network.act, (wide[:, :70], None, actions), ValueError, "71 features or more"),
        (network.act, (wide, np.zeros((3, 3), f4), actions), ValueError, "noise must be of shape"),
        (network.act, (wide, None, actions.astype(f4)), ValueError, "actions of float32"),
        (learn, ([0, 1, 2, 4],), IndexError, "segment 4"),
        (learn, ([0, 1, 2, -1],), IndexError, "segment -1"),
        (learn, ([0, 1, 2],), ValueError, r"logprobs of shape \(4, 8\): must be \(3, 8\)"),
        (learn, ([0, 1, 2, 3], np.zeros(5, f4)), ValueError, "gradient of 5 numbers"),
    ):
        with pytest.raises(error, match=message):
            function(*arguments)
    with pytest.raises(RuntimeError, match="without room for gradients"):
        make_network(policy, learns=False).gradient(
            experience.arrays(), np.arange(4), *judged, settings_, 1.0, gradient, *judged
        )


@pytest.mark.parametrize("levels", [(5, 5, 3, 2), None])
def test_a_network_of_4_numbers_refuses_actions_of_3(levels):
    policy = make(levels=levels, heads=4)
    network = make_network(policy)
    assert network.heads == 4
    network.load(flattened(policy).numpy())
    kind = np.float32 if levels is None else np.int32
    seen, noise, right = np.zeros((4, 71), "f4"), np.zeros((4, 3), "f4"), np.zeros((4, 4), kind)
    wrong = right[:, :3].copy()
    message = rf"of {kind.__name__} \(4, 3\): must be {kind.__name__} \(4, 4\)"
    with pytest.raises(ValueError, match=f"actions {message}"):
        network.act(seen, None, wrong)
    with pytest.raises(ValueError, match=r"noise must be of shape \(4, 4\)"):
        network.act(seen, noise, right)
    keep = [np.zeros((4, 1, 71), "f4"), np.zeros((4, 1, 3), kind), *np.zeros((4, 4, 1), "f4")]
    outcomes = np.zeros(4, "f4"), np.zeros(4, bool)
    with pytest.raises(ValueError, match=r"kept of .* \(4, 1, 3\): must be .* \(4, 1, 4\)"):
        network.act(seen, None, right, outcomes, keep)
    observations, actions, *others = Experience(policy, segments=4, horizon=8, seed=0).arrays()
    experience = observations, actions[..., :3].copy(), *others
    with pytest.raises(ValueError, match=r"actions of .* \(4, 8, 3\): must be .* \(4, 8, 4\)"):
        network.score(experience, np.arange(4), *np.zeros((2, 4, 8), np.float32))


def test_destinations_are_checked():
    network = make_network(make(), learns=False)
    seen, actions = np.zeros((4, 71), np.float32), np.zeros((4, 3), np.int32)
    outcomes = np.zeros(4, np.float32), np.zeros(4, bool)
    shapes = (6, 8, 71), (6, 8, 3), *[(6, 8)] * 4
    keep = [np.zeros(shape, np.float32) for shape in shapes]
    keep[1] = keep[1].astype(np.int32)

    def act(outcomes: tuple = outcomes, row: int = 0, step: int = 0, **others: np.ndarray) -> None:
        to = [others.get(name, one) for name, one in zip(GATHERED, keep, strict=True)]
        network.act(seen, None, actions, outcomes, to, row, step)

    act((outcomes[0] + 7, outcomes[1]), row=2)
    rewards = keep[GATHERED.index("rewards")]
    assert (rewards[2:, 0] == 7).all()
    assert not rewards[:2].any()
    for row in (-1, 3):
        with pytest.raises(IndexError, match=r"row = .*: 4 rows from there on do not fit into 6"):
            act(row=row)
    for step in (-1, 8):
        with pytest.raises(IndexError, match=r"step = .*: 0 \.\.\. 7"):
            act(step=step)
    for wrong in ((outcomes[0][:3], outcomes[1]), (outcomes[0], outcomes[1][:3])):
        with pytest.raises(ValueError, match="outcomes must be of 4 agents"):
            act(wrong)
    with pytest.raises(ValueError, match="ends of float32: must be bool"):
        act((outcomes[0], np.zeros(1, np.float32)))
    with pytest.raises(ValueError, match="unpack"):
        act(outcomes[:1])
    for name, one in zip(GATHERED, keep, strict=True):
        with pytest.raises((ValueError, IndexError), match=r"must be|do not fit into 3"):
            act(**{name: one[:3].copy()})
        with pytest.raises(ValueError, match="aligned"):
            act(**{name: unaligned(one)})
    with pytest.raises(ValueError, match="aligned"):
        act((unaligned(outcomes[0]), outcomes[1]))


@pytest.mark.parametrize("wrong", range(6))
def test_advantages_are_found_of_what_fits_alone(wrong):
    arrays = [*np.zeros((5, 6, 8), np.float32), np.zeros(6, np.float32)]

    def find(rows: list[int], arrays: list[np.ndarray] = arrays) -> None:
        settings_ = (0.99, 0.95, 1, 1)
        _learner.find_advantages(arrays[:4], np.array(rows), settings_, *arrays[4:])

    find([2, 5])
    for bad, error in (
        (arrays[wrong][:5].copy(), "must be"),
        (unaligned(arrays[wrong]), "aligned"),
    ):
        with pytest.raises(ValueError, match=error):
            find([2], [*arrays[:wrong], bad, *arrays[wrong + 1 :]])
    for row in (-1, 6):
        with pytest.raises(IndexError, match=f"segment {row}"):
            find([0, row])


def test_arrays_that_c_cannot_read_are_refused():
    """Unaligned arrays, and read-only ones that it would write."""
    policy = make()
    network = make_network(policy)
    weights = flattened(policy).numpy()
    network.load(weights)
    experience = Experience(policy, segments=4, horizon=8, seed=0)
    seen, noise, actions = np.zeros((4, 71), "f4"), np.zeros((4, 3), "f4"), np.zeros((4, 3), "i4")
    rows, judged = np.arange(4), np.zeros((2, 4, 8), np.float32)
    gradient, momentum = np.zeros((2, network.size), np.float32)

    apart = np.zeros(4, [("seen", "f4", (71,)), ("other", "u1")])["seen"]  # rows 285 bytes apart
    fixed, arrays = actions.copy(), experience.arrays()
    fixed.flags.writeable = False
    refused = [
        (network.load, (unaligned(weights),), "parameters must be aligned"),
        (network.muon, (weights, unaligned(momentum), gradient, 0.1, 0.9, 1.0), "momentum must be"),
        (network.act, (unaligned(seen), noise, actions), "observations must be aligned"),
        (network.act, (seen, unaligned(noise), actions), "noise must be aligned"),
        (network.act, (seen, noise, unaligned(actions)), "aligned"),
        (network.act, (apart, noise, actions), "rows whole numbers apart"),
        (network.act, (seen, noise, fixed), "read-only"),
        (network.score, (arrays, unaligned(rows), *judged), "rows must be aligned"),
        (network.score, (arrays, rows, judged[0], unaligned(judged[1])), "values must be aligned"),
    ]
    for index, name in enumerate(["observations", "actions", "log-probabilities", "values"]):
        moved = [*arrays[:index], unaligned(arrays[index]), *arrays[index + 1 :]]
        refused.append((network.score, (moved, rows, *judged), f"{name} .*aligned"))
    for function, arguments, message in refused:
        with pytest.raises(ValueError, match=message):
            function(*arguments)


def unaligned(array: np.ndarray) -> np.ndarray:
    """Returns a copy of an array at an unaligned address."""
    raw = np.empty(array.nbytes + 1, np.uint8)[1:]
    raw[:] = np.ascontiguousarray(array).view(np.uint8).reshape(-1)
    return raw.view(array.dtype).reshape(array.shape)


def test_a_network_is_made_only_for_policies_that_it_knows():
    assert reason_against(make()) is None
    assert "hidden_size = 60" in reason_against(make(hidden_size=60))
    assert "hidden_size = 1040 is more than 1024" in reason_against(make(hidden_size=1040))
    assert "hidden_layers = 5" in reason_against(make(hidden_layers=5))
    assert "float32" in reason_against(make().double())
    recurrent = make_policy(spaces_of("default"), {"hidden_size": 16}, "Recurrent", {})
    assert "Recurrent" in reason_against(recurrent)
