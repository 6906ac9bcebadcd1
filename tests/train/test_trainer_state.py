"""Trainer states: no code in them, damage is detected, and errors name the entry and the file."""

import copy
import io
import random
import shutil
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
import runs
import torch
from flips import flipped

from midrange_puffer.policies.model_file import CheckpointError
from midrange_puffer.train import run_folder, trainer_state
from midrange_puffer.train.optimizer import Muon

pytestmark = pytest.mark.slow

STAGES = (
    "--curriculum.stages=first,second",
    "--curriculum.first.max-steps=100_000",
    "--curriculum.second.env.opponent=weave",
)
# What older states have not, and what they have then.
NEWER = {"metadata": {}, "reference": None, "critic": None}


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A run of three updates, with scores of its stage."""
    folder = tmp_path_factory.mktemp("trained")
    assert runs.train(folder, "--train.total-timesteps=3072", *STAGES) == 0
    return folder / "run"


@pytest.fixture
def run(trained, tmp_path):
    return shutil.copytree(trained, tmp_path / "run")


@pytest.fixture
def state(run):
    return run_folder.load_state(run)


def write(run, state) -> None:
    torch.save(state, run / run_folder.STATE)


def assert_same(one: object, other: object) -> None:
    """Checks that two values are equal, numbers to the bit."""
    if isinstance(one, torch.Tensor):
        assert torch.equal(one, other)
    elif isinstance(one, dict):
        assert one.keys() == other.keys()
        for name, value in one.items():
            assert_same(value, other[name])
    else:
        assert one == other


def test_it_loads_where_no_code_can_run(run, state):
    """torch.load with weights_only accepts only tensors and plain Python."""
    plain = torch.load(run / run_folder.STATE, weights_only=True)
    assert torch.serialization.get_unsafe_globals_in_checkpoint(run / run_folder.STATE) == []
    assert_same(plain, state)
    assert plain["optimizer"]["state"]
    assert len(plain["curriculum"]["scores"]) > 2


class Runs:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return io.open, (str(self.path), "w")


def test_code_in_it_is_refused_and_not_run(run, state, tmp_path):
    write(run, state | {"uptime": Runs(tmp_path / "ran")})
    with pytest.raises(CheckpointError, match=r"trainer_state\.pt: damaged.*asks for .*open"):
        runs.resume(run, "--train.total-timesteps=5120")
    assert not (tmp_path / "ran").exists()


def as_before(state: dict[str, object]) -> dict[str, object]:
    """Returns a state in the old form, with arrays and heavyball's class."""
    import heavyball  # takes a second

    old = copy.deepcopy(state)
    name, key, *rest = old["numpy_rng"]
    old["numpy_rng"] = (name, np.array(key, np.uint32), *rest)
    old["curriculum"]["scores"] = np.array(old["curriculum"]["scores"], np.float32)
    # Settings, of which nothing is taken, with the class that heavyball has among them.
    old["optimizer"]["param_groups"] = [
        {"lr": 7.0, "weight_decay": 0.5, "__class__": heavyball.ForeachMuon}
    ]
    old["optimizer"]["state"] = {
        index: defaultdict(
            dict, {0: {"step": 9, "nesterov_ema_momentum_1": of["momentum"], "is_initialized": {1}}}
        )
        for index, of in old["optimizer"]["state"].items()
    }
    return old


@pytest.mark.parametrize("scores", [True, False])
def test_a_run_of_before_goes_on_as_one_of_now(run, state, tmp_path, scores):
    if not scores:
        state["curriculum"]["scores"] = []
        write(run, state)
    other = shutil.copytree(run, tmp_path / "older" / "run")
    write(other, as_before(state))
    with pytest.raises(Exception, match="Weights only load failed"):
        torch.load(other / run_folder.STATE, weights_only=True)
    assert_same(run_folder.load_state(other) | {"optimizer": None}, state | {"optimizer": None})
    for folder in (run, other):
        assert runs.resume(folder, "--train.total-timesteps=5120") == 0
    assert runs.timeless(run) == runs.timeless(other)


def test_a_run_of_before_goes_on_with_heavyballs_momentum(monkeypatch):
    """The settings are the present ones, not those of the state."""
    import heavyball

    monkeypatch.setattr(heavyball.utils, "compile_mode", None)  # as PuffeRL does not compile
    torch.manual_seed(0)
    old = torch.nn.Linear(6, 4)
    stock = heavyball.ForeachMuon(old.parameters(), lr=0.1, betas=(0.9, 0.99), eps=1e-8)
    new = torch.nn.Linear(6, 4)

    def step(*optimizers: torch.optim.Optimizer) -> None:
        gradients = [torch.randn_like(one) for one in old.parameters()]
        for optimizer in optimizers:
            parameters = optimizer.param_groups[0]["params"]
            for parameter, gradient in zip(parameters, gradients, strict=True):
                parameter.grad = gradient.clone()
            optimizer.step()

    for _ in range(3):
        step(stock)
    new.load_state_dict(old.state_dict())
    ours = Muon(new.parameters(), 0.1, 0.9)
    saved = copy.deepcopy(stock.state_dict())
    trainer_state.set_optimizer(ours, saved, Path("a file"))
    for _ in range(3):
        step(stock, ours)
    for one, other in zip(old.parameters(), new.parameters(), strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-5)
    later = Muon(new.parameters(), 0.2, 0.5)
    trainer_state.set_optimizer(later, trainer_state.optimizer_state(ours), Path("a file"))
    assert (later.param_groups[0]["lr"], later.param_groups[0]["beta"]) == (0.2, 0.5)


@pytest.mark.parametrize("old", [False, True])
def test_no_flipped_bit_changes_what_is_loaded(run, state, old):
    path = run / run_folder.STATE
    if old:
        write(run, as_before(state))
        state = run_folder.load_state(run)
    refused = 0
    for damaged in flipped(path.read_bytes(), 60, seed=old):
        path.write_bytes(damaged)
        try:
            assert_same(run_folder.load_state(run), state)
        except CheckpointError:
            refused += 1
    assert refused > 40


def key(state: dict[str, object], **changes: object) -> tuple:
    """Returns numpy's state with another key or position."""
    name, numbers, position, *rest = state["numpy_rng"]
    return (name, changes.get("key", numbers), changes.get("position", position), *rest)


@pytest.mark.parametrize(
    ("entry", "wrong"),
    [
        ("model", lambda state: "../other/model_000002.pt"),
        ("model", lambda state: "/etc/passwd"),
        ("model", lambda state: 7),
        ("epoch", lambda state: -1),
        ("epoch", lambda state: 2.0),
        ("epoch", lambda state: True),
        ("global_step", lambda state: "2048"),
        ("global_step", lambda state: torch.tensor([1, 2])),
        ("global_step", lambda state: 10**400),
        ("uptime", lambda state: float("nan")),
        ("uptime", lambda state: None),
        ("optimizer", lambda state: {}),
        ("optimizer", lambda state: {"state": []}),
        ("optimizer", lambda state: {"state": {0: 1}}),
        ("optimizer", lambda state: {"state": {0: {0: {"a": "b"}}}}),
        ("optimizer", lambda state: {"state": {0: {"momentum": torch.ones(1).expand(16, 71)}}}),
        ("curriculum", lambda state: {"stage": "first"}),
        ("curriculum", lambda state: state["curriculum"] | {"scores": ["a"]}),
        ("curriculum", lambda state: state["curriculum"] | {"scores": [float("inf")]}),
        ("curriculum", lambda state: state["curriculum"] | {"start": -5}),
        ("torch_rng", lambda state: state["torch_rng"][:-1]),
        ("torch_rng", lambda state: state["torch_rng"].float()),
        ("torch_rng", lambda state: None),
        ("cuda_rng", lambda state: 5),
        ("cuda_rng", lambda state: [torch.ones(3)]),
        ("numpy_rng", lambda state: key(state, key=[1, 2])),
        ("numpy_rng", lambda state: key(state, position=-1)),
        ("numpy_rng", lambda state: key(state, position=10**6)),
        ("numpy_rng", lambda state: ("PCG64", 1)),
        ("python_rng", lambda state: (3, (1, 2), None)),
        ("python_rng", lambda state: (*state["python_rng"][:2], "half")),
    ],
)
def test_an_entry_that_is_wrong_is_named(run, state, entry, wrong):
    write(run, state | {entry: wrong(state)})
    with pytest.raises(CheckpointError, match=rf"trainer_state\.pt: its {entry} is .*, expected"):
        run_folder.load_state(run)


def test_a_state_from_before_there_were_metadata_or_references_has_none(run, state):
    write(run, {name: value for name, value in state.items() if name not in NEWER})
    assert {name: run_folder.load_state(run)[name] for name in NEWER} == NEWER


def test_an_entry_that_is_missing_is_named(run, state):
    for entry in state.keys() - NEWER.keys():
        write(run, {name: value for name, value in state.items() if name != entry})
        with pytest.raises(CheckpointError, match=rf"state\.pt: its {entry} is missing, expected"):
            run_folder.load_state(run)
    write(run, [state])
    with pytest.raises(CheckpointError, match=r"trainer_state\.pt: not a trainer state"):
        run_folder.load_state(run)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (
            lambda of: of["state"][0].update(momentum=torch.ones(2, 3)),
            r"momentum of the parameter 0 has the shape \[2, 3\], expected \[16, 71\]",
        ),
        (
            lambda of: of["state"][2].update(momentum=3.0),
            r"momentum of the parameter 2 has the shape missing, expected \[16, 16\]",
        ),
        (
            lambda of: of["state"].update({1: {"exp_avg": torch.ones(16)}}),
            r"momentum of the parameter 1 has the shape missing, expected \[16\]",
        ),
        (lambda of: of["state"].update({99: {}}), "buffers of the parameter 99, but there are 8"),
    ],
)
def test_an_optimizer_of_another_policy_is_refused(run, state, spoil, message):
    spoil(state["optimizer"])
    write(run, state)
    with pytest.raises(CheckpointError, match=rf"trainer_state\.pt: its optimizer.*{message}"):
        runs.resume(run, "--train.total-timesteps=5120")


def test_generators_draw_on_as_they_would_have():
    def draws() -> list[object]:
        return [torch.rand(3).tolist(), np.random.rand(3).tolist(), random.random()]  # noqa: NPY002

    random.gauss()  # leaves half of a pair for the next
    saved = trainer_state.generators()
    before = draws()
    assert draws() != before
    trainer_state.set_generators(saved)
    assert draws() == before
