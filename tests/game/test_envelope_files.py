"""Envelopes in files: whole or refused; and those of games, kept until something changes."""

import json
from dataclasses import FrozenInstanceError
from unittest.mock import Mock

import numpy as np
import platformdirs
import pytest

from midrange_puffer.game import envelope as module
from midrange_puffer.game.envelope import COLD, PLAIN, Envelope, Grid, build, game_envelope
from midrange_puffer.game.parameters import resolve

GRID = Grid(2, 4, (250.0, 350.0, 450.0), (300.0,))
ARRAYS = ("minimum", "inner", "nez", "cold", "aero", "stretches", "gaps")


def assert_equal(one: Envelope, other: Envelope) -> None:
    for name in ARRAYS:
        values = getattr(one, name)
        np.testing.assert_array_equal(values, getattr(other, name))
        assert values.dtype == getattr(other, name).dtype
        assert values.shape == one.grid.shape
    assert one.identity == other.identity
    assert one.grid == other.grid


@pytest.fixture(scope="module")
def envelope():
    return build(resolve({"missile_thrust": 120}), GRID, (PLAIN, *COLD))


@pytest.fixture
def saved(envelope, tmp_path):
    path = tmp_path / "envelope.npz"
    envelope.save(path)
    return path


def test_a_saved_envelope_is_loaded(envelope, saved):
    """The file says which parameters it is of."""
    loaded = Envelope.load(saved)
    assert_equal(loaded, envelope)
    assert loaded.parameters["missile_thrust"] == 120
    assert loaded.evasions == (PLAIN, *COLD)
    assert loaded.aero.dtype == np.float32
    assert loaded.gaps.dtype == np.int32
    with np.load(saved) as file:
        identity = json.loads(file["identity"].item())
    other = build(resolve({"missile_thrust": 121, "missile_burn_time": 1}), GRID).identity
    assert identity["parameters"]["missile_thrust"] == 120
    assert len(identity["parameters_sha256"]) == 64
    assert identity["parameters_sha256"] != other["parameters_sha256"]


def test_nobody_can_write_into_one(envelope, saved):
    """All games of a process share the map of game_envelope."""
    for one in (envelope, Envelope.load(saved)):
        for name in ARRAYS:
            with pytest.raises(ValueError, match="read-only"):
                getattr(one, name)[:] = 0
            with pytest.raises(FrozenInstanceError):
                setattr(one, name, getattr(one, name))


def load_or_none(path) -> Envelope | None:
    try:
        return Envelope.load(path)
    except ValueError:
        return None


def test_a_damaged_file_is_refused_or_harmlessly_damaged(envelope, saved):
    """Harmless are changes of the dates in it, and the like."""
    whole = saved.read_bytes()
    refused = 0
    for place in range(0, len(whole), 17):
        saved.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        if (loaded := load_or_none(saved)) is None:
            refused += 1
        else:
            assert_equal(loaded, envelope)
    assert refused > len(whole) // 17 * 0.8


@pytest.mark.parametrize("share", [0, 0.01, 0.5, 0.99])
def test_a_file_cut_short_is_refused(saved, share):
    whole = saved.read_bytes()
    saved.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(ValueError, match="not an envelope, or damaged"):
        Envelope.load(saved)


def test_other_files_are_refused(envelope, saved, tmp_path, monkeypatch):
    other = tmp_path / "other.npz"
    for content in ({"x": np.arange(3)}, {"identity": np.arange(3)}, {"identity": np.array("{}")},
                    {"identity": np.array("[1]")}):  # fmt: skip
        np.savez(other, **content)
        with pytest.raises(ValueError, match=f"{other}: not an envelope, or damaged"):
            Envelope.load(other)
    np.save(tmp_path / "one.npy", np.arange(3))
    with pytest.raises(ValueError, match="not an envelope"):
        Envelope.load(tmp_path / "one.npy")
    with pytest.raises(OSError, match="No such file"):
        Envelope.load(tmp_path / "none.npz")
    monkeypatch.setattr(module, "_FORMAT", "midrange-envelope-2")
    with pytest.raises(ValueError, match="envelope-1; this is midrange-envelope-2"):
        Envelope.load(saved)


@pytest.mark.parametrize(
    ("save", "changes", "message"),
    [
        (np.savez, {"nez": np.zeros((2, 4, 3, 2), "f4")}, r"nez of shape \(2, 4, 3, 2\)"),
        (np.savez, {"nez": np.zeros(GRID.shape)}, "nez .* type float64"),
        (np.savez, {"gaps": np.zeros(GRID.shape, "f4")}, "gaps .* type float32"),
        (np.savez, {"aero": np.full(GRID.shape, np.nan, "f4")}, "aero has a value that is not fin"),
        (np.savez, {"identity": np.array("[" * 100_000)}, "nested too deeply"),
        # One of zeros can be a thousand times as large in memory as on disk.
        (np.savez_compressed, {}, "it is compressed"),
    ],
)
def test_arrays_that_are_none_of_an_envelope_are_refused(saved, save, changes, message):
    with np.load(saved) as file:
        entries = dict(file)
    save(saved, **entries | changes)
    with pytest.raises(ValueError, match=f"{saved}: not an envelope, or damaged: .*{message}"):
        Envelope.load(saved)


# Those of games


@pytest.fixture
def builds(monkeypatch, tmp_path):
    """Builds small grids for games, in a cache of its own; counts the calls of `build`."""
    counted = Mock(side_effect=build)
    monkeypatch.setattr(module, "build", counted)
    monkeypatch.setattr(module, "GAME", GRID)
    monkeypatch.setenv("MIDRANGE_CACHE", str(tmp_path / "cache"))
    forget()
    yield counted
    forget()


def forget() -> None:
    """Clears this process's envelopes, as in a new process."""
    module._game_envelope.cache_clear()


@pytest.mark.parametrize(
    "others",
    [
        {},
        {"ammunition": 2, "time_limit": 100, "substeps": 2, "start_speed_min": 200,
         "reward_threat": 0, "ace_salvo": 1, "launch_interval": 1},
    ],
)  # fmt: skip
def test_the_map_of_a_game_is_built_once(builds, others):
    """Parameters that do not matter share it."""
    first = game_envelope(resolve({}))
    assert game_envelope(resolve(others)) is first
    forget()
    again = game_envelope(resolve(others))
    assert again is not first
    assert_equal(again, first)
    assert builds.call_count == 1


@pytest.mark.parametrize(
    "changed", [{"missile_hit_radius": 150}, {"physics_dt": 0.2}, {"fighter_lift_drag": 4}]
)
def test_other_parameters_have_another(builds, changed):
    first, other = game_envelope(resolve({})), game_envelope(resolve(changed))
    assert builds.call_count == 2
    assert not all((getattr(first, name) == getattr(other, name)).all() for name in ARRAYS)


def test_other_code_builds_anew(builds, monkeypatch):
    game_envelope(resolve({}))
    forget()
    monkeypatch.setattr(module, "_code", lambda: "other")
    assert game_envelope(resolve({})).code == "other"
    assert builds.call_count == 2


def test_steps_shorter_than_the_least_share_it(builds):
    assert game_envelope(resolve({"physics_dt": 0.01})) is game_envelope(
        resolve({"physics_dt": 0.001})
    )


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 no", "other"])
def test_a_file_that_is_not_right_is_built_again(builds, tmp_path, content):
    """One case is the envelope of another game under this one's name."""
    first = game_envelope(resolve({}))
    (path,) = (tmp_path / "cache").iterdir()
    if content == "other":
        game_envelope(resolve({"gravity": 9}))
        (other,) = set((tmp_path / "cache").iterdir()) - {path}
        content = other.read_bytes()
        builds.call_count -= 1
    path.write_bytes(content)
    forget()
    assert_equal(game_envelope(resolve({})), first)
    assert builds.call_count == 2
    assert_equal(Envelope.load(path), first)


def test_a_cache_that_cannot_be_written_to_is_no_error(builds, monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("MIDRANGE_CACHE", str(tmp_path / "file" / "cache"))
    first = game_envelope(resolve({}))
    assert game_envelope(resolve({})) is first
    forget()
    assert_equal(game_envelope(resolve({})), first)
    assert builds.call_count == 2


def test_without_the_variable_it_is_the_users_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("MIDRANGE_CACHE", raising=False)
    assert "midrange_puffer" in module.cache_folder().parts


def test_without_a_home_it_is_found_anew_and_that_is_told(builds, monkeypatch, capsys):
    """A container's user may have no home directory."""

    def refuse(name):
        raise RuntimeError("could not determine the home directory for '~/.cache'")

    monkeypatch.delenv("MIDRANGE_CACHE")
    for cache in (refuse, lambda name: "~/.cache/midrange_puffer"):  # newer and older versions
        monkeypatch.setattr(platformdirs, "user_cache_dir", cache)
        forget()
        first = game_envelope(resolve({}))
        assert game_envelope(resolve({})) is first
        [told] = capsys.readouterr().err.splitlines()
        assert told.startswith("warning: this user has no home folder")
        assert "set MIDRANGE_CACHE" in told
    assert builds.call_count == 2
