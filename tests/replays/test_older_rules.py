"""Files of older versions of the rules keep their meaning after rows were added.

Rows that a test needs are declared as of version 2, and removed from files written before.
"""

from pathlib import Path

import frozen
import numpy as np
import pytest
import runs
import torch
from places import CSRC, GOLDEN
from replays import forged, record, with_parameters

from midrange_puffer.commands.models import load_models
from midrange_puffer.commands.replay import verified
from midrange_puffer.config.configuration import format_config
from midrange_puffer.config.reading import load_config
from midrange_puffer.errors import UsageError
from midrange_puffer.game import parameter_table
from midrange_puffer.game.parameters import ADDITIONS, PARAMETERS, RULES_VERSION, SAME_BITS_SINCE
from midrange_puffer.replays.replay import Replay, ReplayError
from midrange_puffer.train.run import resumed_run

# An agent against ace, from before replays told the version of their rules; launch_interval is 1.
OLD = GOLDEN / "rules_1.replay"
# The same start and controls, flown when results became those of today to the bit.
PRESENT = GOLDEN / f"rules_{SAME_BITS_SINCE}.replay"
OLDER_VERSIONS = pytest.mark.parametrize("version", range(1, SAME_BITS_SINCE))


@pytest.fixture
def added(monkeypatch):
    """Declares that version 2 has added another row, with a neutral value."""

    def declare(name: str, neutral: float) -> None:
        monkeypatch.setattr(parameter_table, "ADDITIONS", [*ADDITIONS, (name, 2, neutral)])

    return declare


def without(name: str, **header: object) -> bytes:
    """Returns the present replay without a row and without a version."""
    data = with_parameters(PRESENT.read_bytes(), lambda values: values.pop(name))
    return forged(data, **({"rules_version": None} | header))


# The table


def test_every_row_since_version_1_has_its_version_and_a_neutral_value():
    """Without them older replays could not be read, and older models would play another game."""
    names = [name for name, _, _ in ADDITIONS]
    assert {*PARAMETERS} == Replay.read(OLD).parameters.keys() | {*names}
    assert len(names) == len({*names})
    for name, version, neutral in ADDITIONS:
        assert 1 < version <= RULES_VERSION
        if PARAMETERS[name].kind is not str:
            assert PARAMETERS[name].minimum <= neutral <= PARAMETERS[name].maximum
        assert neutral == PARAMETERS[name].kind(neutral)
    assert max([SAME_BITS_SINCE, *(version for _, version, _ in ADDITIONS)]) == RULES_VERSION


def test_the_rules_name_their_version():
    assert f"version {RULES_VERSION} of the rules" in (CSRC / "RULES.md").read_text()


# Replays


def test_a_replay_is_flown_as_it_was_bit_for_bit():
    replay = Replay.read(PRESENT)
    assert replay.rules_version == SAME_BITS_SINCE
    replay.verify()


@OLDER_VERSIONS
def test_a_replay_of_older_rules_says_why_it_goes_otherwise(version, tmp_path):
    path = tmp_path / "old.replay"
    path.write_bytes(forged(Replay.read(OLD).to_bytes(), rules_version=version))
    why = f"by version {version} of the rules, and since version {SAME_BITS_SINCE} flight rounds"
    with pytest.raises(ReplayError, match=f"old.replay: differs at decision .*{why}"):
        verified(path)


def test_the_same_controls_end_as_they_ended_by_older_rules():
    """Older rules differ only in rounding."""
    old, present = Replay.read(OLD), Replay.read(PRESENT)
    assert np.array_equal(old.controls, present.controls)
    assert (old.decisions, old.outcome) == (30, "blue wins")
    assert (present.decisions, present.outcome) == (30, "blue wins")


@pytest.mark.parametrize(
    ("name", "neutral"),
    [
        ("launch_interval", 1),  # of the rules; its default is 5
        ("ammunition", 6),  # a whole number
        ("reward_geometry", 0.2),
        ("ace_salvo", 2),  # of the pilot that flew
        ("snake_angle_deg", 33),  # of another pilot
    ],
)
def test_a_replay_from_before_a_row_is_flown_with_its_neutral_value(added, name, neutral):
    added(name, neutral)
    replay = Replay.from_bytes(without(name))
    assert replay.parameters[name] == neutral
    assert type(replay.parameters[name]) is PARAMETERS[name].kind
    replay.verify()


def test_a_value_that_is_not_neutral_makes_another_fight(added):
    added("launch_interval", 5)
    with pytest.raises(ReplayError, match="differs at decision"):
        Replay.from_bytes(without("launch_interval")).verify()


def test_a_replay_of_the_version_of_a_row_must_have_it(added):
    added("gravity", 9.8)
    with pytest.raises(ReplayError, match="without the parameters gravity, which version 2 of"):
        Replay.from_bytes(without("gravity", rules_version=2))


def test_a_replay_of_later_rules_is_refused_by_the_name_of_what_is_new():
    data = with_parameters(OLD.read_bytes(), lambda values: values.update(wind=0.0))
    message = f"parameter wind is unknown to version {RULES_VERSION} of the rules.*it is of version"
    with pytest.raises(ReplayError, match=f"{message} {RULES_VERSION + 1}"):
        Replay.from_bytes(forged(data, rules_version=RULES_VERSION + 1))


def test_a_replay_names_its_rules():
    data = record()[0].to_bytes()
    assert f'"rules_version": {RULES_VERSION}'.encode() in data
    old = Replay.read(OLD)
    again = Replay.from_bytes(old.to_bytes())
    assert (old.rules_version, again.rules_version) == (1, 1)
    assert again.parameters == old.parameters
    with pytest.raises(ReplayError, match="no rules_version of type int"):
        Replay.from_bytes(forged(data, rules_version="2"))


# Models


def save_old(path: Path, lacks: str) -> Path:
    """Writes a model file without one of the parameters and without a version of the rules."""
    model = torch.load(frozen.save(path, frozen.policy()))
    del model["env"][lacks], model["rules_version"]
    torch.save(model, path)
    return path


def test_a_model_names_its_rules(tmp_path):
    path = frozen.save(tmp_path / "model.pt", frozen.policy())
    assert torch.load(path)["rules_version"] == RULES_VERSION


def test_a_model_from_before_a_row_is_of_the_game_with_its_neutral_value(tmp_path, added):
    """Its launch interval is the neutral value, not the default of 5 s."""
    added("launch_interval", 1)
    path = save_old(tmp_path / "old.pt", "launch_interval")
    [(_, model)], game = load_models([path], {})
    assert model["env"]["launch_interval"] == game["launch_interval"] == 1
    assert model["rules_version"] == RULES_VERSION
    _, game = load_models([path], {"launch_interval": 2.0})
    assert game["launch_interval"] == 2


@OLDER_VERSIONS
def test_a_model_of_older_rules_is_loaded_without_a_word(tmp_path, version, recwarn, capsys):
    """It plays the same game with other rounding."""
    path = frozen.save(tmp_path / "old.pt", frozen.policy())
    torch.save(torch.load(path) | {"rules_version": version}, path)
    [(_, model)], _ = load_models([path], {})
    assert model["rules_version"] == RULES_VERSION
    assert (*recwarn, *capsys.readouterr()) == ("", "")


def test_models_from_before_a_row_and_after_it_may_be_of_different_games(tmp_path, added):
    added("launch_interval", 1)
    old = save_old(tmp_path / "old.pt", "launch_interval")
    new = frozen.save(tmp_path / "new.pt", frozen.policy())
    with pytest.raises(UsageError, match=r"launch_interval is 1.* in .*old.pt and 5.* in .*new"):
        load_models([old, new], {})


def test_a_model_of_later_rules_is_refused_by_the_name_of_what_is_new(tmp_path):
    path = tmp_path / "new.pt"
    model = torch.load(frozen.save(path, frozen.policy()))
    model["env"]["wind"] = 0.0
    torch.save(model | {"rules_version": RULES_VERSION + 1}, path)
    with pytest.raises(UsageError, match=r"wind = 0.0: no such parameter"):
        load_models([path], {})


# Runs


def test_parameters_that_a_complete_configuration_lacks_are_neutral(tmp_path, added):
    """A file written by a user takes the default."""
    added("launch_interval", 1)
    path = tmp_path / "config.ini"
    lines = format_config(load_config()).splitlines(keepends=True)
    path.write_text("".join(line for line in lines if not line.startswith("launch_interval =")))
    assert load_config(path)["env"]["launch_interval"] == 5
    assert load_config(path, complete=True)["env"]["launch_interval"] == 1
    path.write_text("".join(lines))
    assert load_config(path, complete=True) == load_config(path)


def test_a_run_from_before_a_row_goes_on_in_its_game(tmp_path, added):
    assert runs.train(tmp_path, "--train.total-timesteps=1024", "--env.launch-interval=1") == 0
    run = tmp_path / "run"
    lines = (run / "config.ini").read_text().splitlines(keepends=True)
    left = [line for line in lines if not line.startswith("launch_interval =")]
    assert len(left) == len(lines) - 1
    (run / "config.ini").write_text("".join(left))
    added("launch_interval", 1)
    with resumed_run(str(run), [], may_be_done=True) as taken_up:
        assert taken_up.config["env"]["launch_interval"] == 1
