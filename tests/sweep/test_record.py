"""A sweep's record says what is wrong with it."""

import json

import pytest
from sweeps import TRIALS, record_of

from midrange_puffer.commands import cli
from midrange_puffer.sweep.record import Record, RecordError, Trial


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"number": 3}, "number = 3: must be that of its folder, 0001"),
        ({"number": "1"}, "number = '1': must be an integer from 0"),
        ({"params": None}, "params = None: must be an object"),
        ({"params": {"train.gamma": "a"}}, "params.train.gamma = 'a': must be a number from 0.0"),
        ({"params": {"train.gamma": "0.5"}}, "params.train.gamma = '0.5': must be a number from 0"),
        ({"params": {"train.optimizer": "sgd"}}, "params.train.optimizer = 'sgd': must be one of"),
        ({"params": {"train.gamma": 2}}, "params.train.gamma = 2: must be a number from 0.0 to 1"),
        ({"params": {"train.gama": 0.5}}, "params.train.gama: no sweep varies it; did you mean"),
        ({"params": {"policy.hidden_size": 10**9}}, "must be an integer from 1 to 8192"),
        ({"total_timesteps": 0}, "total_timesteps = 0: must be an integer from 1"),
        ({"status": "done"}, "status = 'done': must be one of running, finished, stopped, failed"),
        ({"status": "finished", "seconds": 1.0}, r"readings = \[\]: there must be some"),
        ({"status": "failed"}, "seconds = None: must be a number where status is failed"),
        ({"readings": [{"agent_steps": 1}]}, r"readings\[0\].seconds: is missing"),
        ({"readings": [{"agent_steps": 0}]}, r"readings\[0\].agent_steps = 0: must be an integer"),
        ({"reason": 5}, "reason = 5: must be a text or null"),
        ({"extra": 5}, "extra: no such entry; there are number, params"),
    ],
)
def test_a_damaged_trial_is_named_with_what_it_must_be(tmp_path, change, message):
    record = record_of(tmp_path, *TRIALS[:1])
    record.begin(Trial(1, TRIALS[1].params, 1, 1000))
    path = record.folder / "trials/0001/trial.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(RecordError, match=rf"0001/trial.json: damaged: .*{message}"):
        Record(record.folder)


def test_a_trial_without_a_key_that_the_sweep_varies_is_refused(tmp_path):
    record = record_of(tmp_path, *TRIALS[:1])
    trial = Trial(1, {"train.learning_rate": 0.01}, 1, 1000)
    record.begin(trial)
    for option in ("--resume", "--report"):
        with pytest.raises(RecordError, match=r"0001/trial.json: damaged: params.env.reward_geom"):
            cli.run("sweep", [option, str(record.folder)])
