"""Model files: damage is detected, and declared sizes are checked before memory is allocated."""

import io
import resource

import frozen
import psutil
import pytest
import torch
from flips import flipped

from midrange_puffer.archives import read_zip, write_zip
from midrange_puffer.policies.loading import load_policy
from midrange_puffer.policies.model_file import CheckpointError, check_entries
from midrange_puffer.policies.networks import WEIGHT_LIMIT

WEIGHT = "encoder.2.weight"


@pytest.fixture
def path(tmp_path):
    return frozen.save(tmp_path / "a.pt", frozen.policy())


@pytest.fixture
def little_memory():
    """Limits the memory to a gigabyte more than is in use."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    limit = psutil.Process().memory_info().vms + 2**30
    resource.setrlimit(resource.RLIMIT_AS, (limit, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


def change(path, **entries):
    torch.save({**torch.load(path, weights_only=True), **entries}, path)


def change_weight(path, value):
    weights = torch.load(path, weights_only=True)["weights"]
    change(path, weights={**weights, WEIGHT: value})


def put_pickle(path, content: bytes):
    """Replaces the pickle of the file at `path`."""
    members = read_zip(io.BytesIO(path.read_bytes()))
    [name] = [name for name in members if name.endswith("data.pkl")]
    path.write_bytes(write_zip({**members, name: content}))


def test_no_flipped_bit_changes_what_is_loaded(path):
    policy, entries = load_policy(path)
    refused = 0
    for damaged in flipped(path.read_bytes(), 150):
        path.write_bytes(damaged)
        try:
            its, meta = load_policy(path)
        except CheckpointError:
            refused += 1
            continue
        assert meta == entries
        for name, value in policy.state_dict().items():
            assert torch.equal(its.state_dict()[name], value)
    assert refused > 100


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1.01 * WEIGHT_LIMIT])
def test_a_weight_that_no_policy_can_have_is_refused(path, value):
    weight = torch.load(path, weights_only=True)["weights"][WEIGHT]
    weight[3, 4] = value
    change_weight(path, weight)
    with pytest.raises(CheckpointError, match=rf"a\.pt: its weight {WEIGHT} is beyond 1e\+06 or"):
        load_policy(path)


@pytest.mark.parametrize("size", [40_000, 10**8, 10**12, 2**62])
def test_a_policy_larger_than_its_file_is_refused_before_it_is_made(path, little_memory, size):
    change(path, policy={"hidden_size": size})
    with pytest.raises(CheckpointError, match=r"do not fit .*(size mismatch|overflowed)"):
        load_policy(path)


def test_weights_that_are_larger_than_their_file_are_refused(tmp_path, path, little_memory):
    """torch saves an expanded matrix as a single number."""
    size = 40_000
    with torch.device("meta"):
        shapes = frozen.make_policy(frozen.spaces_of("default"), {"hidden_size": size}).state_dict()
    weights = {name: torch.zeros(1).expand(value.shape) for name, value in shapes.items()}
    change(path, policy={"hidden_size": size}, weights=weights)
    assert path.stat().st_size < 20_000
    with pytest.raises(CheckpointError, match=r"a\.pt: its weight .* is spread torch.float32"):
        load_policy(path)


def test_weights_of_another_type_are_refused(path):
    change_weight(path, torch.load(path, weights_only=True)["weights"][WEIGHT].half())
    with pytest.raises(CheckpointError, match=rf"its weight {WEIGHT} is torch.float16, expected"):
        load_policy(path)


class Runs:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return io.open, (str(self.path), "w")


def test_a_pickle_that_asks_for_more_than_tensors_is_refused(tmp_path, path, little_memory):
    change(path, extra=Runs(tmp_path / "ran"))
    with pytest.raises(CheckpointError, match=r"a\.pt: damaged.* \(it asks for .*open"):
        load_policy(path)
    assert not (tmp_path / "ran").exists()
    # 32 GB of zeros, with a name that torch allows.
    put_pickle(path, b"\x80\x02c__builtin__\nbytearray\n\x8a\x05\0\0\0\0\x08\x85R.")
    with pytest.raises(CheckpointError, match=r"it asks for builtins\.bytearray"):
        load_policy(path)


@pytest.mark.parametrize(
    ("entry", "value", "message"),
    [
        ("format", torch.ones(3), "not a midrange_puffer policy"),
        ("version", torch.ones(3), "its version is tensor"),
        ("version", True, "its version is True, expected 1"),
        ("action_nvec", [torch.ones(2), 3, 2], "its action_nvec is .*expected"),
        ("agent_steps", "9", "its agent_steps = '9': must be an integer from 0"),
        ("agent_steps", -1, "its agent_steps = -1: must be an integer from 0"),
        ("agent_steps", True, "its agent_steps = True: must be an integer from 0"),
        ("rules_version", -1, "its rules_version = -1: must be an integer from 0"),
        ("policy", {"hidden_size": torch.ones(2)}, r"its policy\.hidden_size = tensor.*must be"),
        ("env", {7: 1}, "its env = {7: 1}: must be an object"),
    ],
)
def test_entries_of_a_wrong_type_are_refused(path, entry, value, message):
    _, entries = load_policy(path)
    with pytest.raises(CheckpointError, match=rf"a\.pt: {message}"):
        check_entries(path, entries | {entry: value})


def test_entries_too_deep_to_be_shown_are_refused(path):
    _, entries = load_policy(path)
    deep: list = []
    for _ in range(200_000):
        deep = [deep]
    with pytest.raises(CheckpointError, match=r"a\.pt: its version is .*expected 1"):
        check_entries(path, entries | {"version": deep})
    with pytest.raises(CheckpointError, match=r"a\.pt: its policy\.hidden_size = \[\[.*must be"):
        check_entries(path, entries | {"policy": {"hidden_size": deep}})
