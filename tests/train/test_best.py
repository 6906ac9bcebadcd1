"""Panel scores of checkpoints, the best checkpoint by them, and the user's metadata."""

import json
import shutil
from fractions import Fraction

import learners
import pytest
import runs
import torch

from midrange_puffer.checkpoint import CheckpointError, best, load_policy
from midrange_puffer.commands import cli, play
from midrange_puffer.config.configuration import format_config
from midrange_puffer.config.reading import load_config
from midrange_puffer.contest.ratings import ANCHORS
from midrange_puffer.errors import UsageError
from midrange_puffer.policies.models import checked_metadata, parse_metadata
from midrange_puffer.policies.torch_files import to_bytes
from midrange_puffer.train import run_folder
from midrange_puffer.train.run_files import LEAGUE
from midrange_puffer.train.run_folder import best_rated, read_run, settled_mix

UPDATES = (3, 5, 6, 8)  # with a checkpoint: each fifth and the last; each third is rated


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A small run with metadata that is also rated between its checkpoint intervals."""
    folder = tmp_path_factory.mktemp("rated")
    words = ["--league.interval=3", "--league.games=4", "--league.checkpoints=0"]
    words += ["--train.checkpoint-interval=5", "--metadata", "author=me, idea=stay = far"]
    assert runs.train(folder, *words) == 0
    return folder / "run"


def model(run, update: int):
    return run / run_folder.model_name(update)


def panel(run, update: int) -> dict[str, object] | None:
    return load_policy(model(run, update))[1]["panel"]


def scores(run, update: int) -> dict[str, Fraction]:
    """Returns the score against each pilot, from the counts in league.json."""
    results = json.loads((run / LEAGUE).read_text())["results"]
    return {
        one["second"]: Fraction(2 * one["wins"] + one["draws"], 2 * 4)
        for one in results
        if one["first"] == model(run, update).stem
    }


def test_every_rated_policy_is_kept_with_its_panel_score(run):
    kept = sorted(path.name for path in run.glob("model_*.pt"))
    assert kept == [run_folder.model_name(update) for update in (0, *UPDATES)]
    rows = {row["epoch"]: row for row in runs.rows(run)}
    for update in (3, 6, 8):
        counted, its = scores(run, update), panel(run, update)
        assert set(counted) == set(ANCHORS)
        assert its["score"] == pytest.approx(float(sum(counted.values()) / len(ANCHORS)))
        assert its["worst_score"] == min(counted.values()) == counted[its["worst_pilot"]]
        assert its["games"] == 4
        assert rows[update]["league/panel_score"] == its["score"]
        assert rows[update]["league/worst_score"] == its["worst_score"]


def test_a_model_that_was_not_rated_itself_has_no_score(run):
    assert panel(run, 0) is panel(run, 5) is None


def test_a_resumed_run_leaves_the_scores_of_its_checkpoints_as_they_are(run, tmp_path, capsys):
    copy = tmp_path / "run"
    shutil.copytree(run, copy)
    before = panel(run, 8)
    assert runs.resume(copy, "--train.total-timesteps=9216", "--metadata=idea=new") == 0
    assert panel(copy, 8) == before  # it was written anew when the run went on
    assert panel(copy, 9)["games"] == 4
    path, score = best_rated(copy)
    assert f"best     {path}, with a panel score of {score.score:.3f}" in capsys.readouterr().out
    assert load_policy(model(copy, 9))[1]["metadata"] == {"author": "me", "idea": "new"}


def test_metadata_given_in_python_stay_through_a_resume(tmp_path):
    given = {"figure": {"range": [20.5, None]}, "kept": True}
    with learners.small_trainer(tmp_path, "--metadata=author=me") as trainer:
        trainer.metadata |= given
        trainer.save_checkpoint()
        (trainer.run.folder / run_folder.CONFIG).write_text(format_config(trainer.run.config))
    run = tmp_path / "run"
    assert load_policy(model(run, 0))[1]["metadata"] == {"author": "me", **given}
    assert runs.resume(run, "--train.total-timesteps=1024") == 0
    for update in (0, 1):
        assert load_policy(model(run, update))[1]["metadata"] == {"author": "me", **given}


def rate(run, **results: tuple[int, int]) -> None:
    """Writes the models' wins and losses against every pilot to league.json."""
    content = json.loads((run / LEAGUE).read_text())
    content["ratings"] = [
        {"name": name, "agent_steps": place} for place, name in enumerate(results)
    ]
    content["results"] = [
        {"first": name, "second": pilot, "wins": wins, "draws": 0, "losses": losses}
        for name, (wins, losses) in results.items()
        for pilot in ANCHORS
    ]
    (run / LEAGUE).write_text(json.dumps(content))


@pytest.fixture
def ranked(run, tmp_path):
    """A run in tmp_path/ranked whose update 6 was the best."""
    folder = tmp_path / "ranked"
    shutil.copytree(run, folder)
    rate(folder, model_000003=(3, 1), model_000006=(4, 0), model_000007=(4, 0), model_000008=(1, 3))
    return folder


@pytest.mark.parametrize("name", ["best", "ranked/best", "latest/best", "{folder}/best"])
def test_best_is_the_model_of_the_highest_panel_score_that_is_there(ranked, name):
    """The best model is that of the newest run, or of the named one."""
    found = run_folder.find_model(name.format(folder=ranked), ranked.parent)
    assert found == best(ranked) == model(ranked, 6)
    info = read_run(ranked)
    assert info.best[0] == found
    assert info.best[1].score == 1.0


def test_best_may_fly_by_either_seat_of_play(ranked):
    words = ["--red", "ranked/best", "--blue", "best", "--train.data-dir", str(ranked.parent)]
    assert set(play.read(words).models.values()) == {model(ranked, 6)}


def test_best_may_be_an_opponent_in_a_mix(ranked):
    mix, best = "ranked/best:2,ace", f"file:{model(ranked, 6)}"
    assert settled_mix(mix, ranked.parent) == f"{best}:2,ace"
    assert settled_mix("best", ranked.parent) == best


def test_the_newest_of_equal_models_is_the_best(ranked):
    rate(ranked, model_000003=(3, 1), model_000006=(3, 1), model_000008=(1, 3))
    assert best(ranked) == model(ranked, 6)


def test_a_run_and_latest_still_mean_the_newest(ranked):
    for name in ("latest", "ranked", str(ranked)):
        assert run_folder.find_model(name, ranked.parent) == model(ranked, 8)


def test_a_run_without_scores_has_no_best(ranked):
    (ranked / LEAGUE).unlink()
    told = r"ranked: has no checkpoint with a panel score, .*--league.interval N .*newest model"
    for name in ("best", "ranked/best"):
        with pytest.raises(CheckpointError, match=told):
            run_folder.find_model(name, ranked.parent)
    assert read_run(ranked).best is None


def test_a_model_that_has_not_met_every_pilot_has_no_panel_score(ranked):
    content = json.loads((ranked / LEAGUE).read_text())
    content["results"] = [one for one in content["results"] if one["second"] != "ace"]
    (ranked / LEAGUE).write_text(json.dumps(content))
    with pytest.raises(CheckpointError, match="no checkpoint with a panel score"):
        best(ranked)


def test_a_damaged_league_is_named(ranked):
    (ranked / LEAGUE).write_text("{")
    with pytest.raises(CheckpointError, match=r"league.json: damaged: not JSON"):
        best(ranked)
    assert read_run(ranked).best is None  # the list of the runs goes on


def test_eval_and_runs_tell_of_both(ranked, capsys):
    report = ranked / "report.json"
    words = ["--train.data-dir", str(ranked.parent), "--json", str(report)]
    least = ["--episodes=2", "--opponent=straight", "--load-model-path=ranked/best"]
    assert cli.run("eval", [*words, *least]) == 0
    printed = capsys.readouterr().out
    its = panel(ranked, 6)
    assert "model_000006.pt: 2 engagements with straight" in printed
    assert f"rated in training: panel score {its['score']:.3f}, the least" in printed
    assert "metadata: author=me, idea=stay = far" in printed
    told = json.loads(report.read_text())
    assert told["panel"] == its
    assert told["metadata"] == {"author": "me", "idea": "stay = far"}
    assert cli.run("runs", words) == 0
    assert "1.000" in capsys.readouterr().out
    [entry] = json.loads(report.read_text())["runs"]
    assert (entry["best"]["model"], entry["best"]["score"]) == ("model_000006.pt", 1.0)
    assert entry["metadata"] == told["metadata"]


@pytest.mark.parametrize(
    ("name", "update"), [("best", 6), ("ranked/best", 6), ("latest", 8), ("ranked", 8)]
)
def test_a_run_begins_with_the_weights_that_are_named(ranked, name, update):
    """config.ini has the file, so that newer runs do not change it."""
    options = ["--load-model-path", name, "--train.run-name=next", "--train.total-timesteps=1024"]
    assert runs.train(ranked.parent, *options) == 0
    begun = ranked.parent / "next"
    config = load_config(begun / "config.ini", complete=True)
    assert config["base"]["load_model_path"] == str(model(ranked, update))
    first, its = (
        load_policy(path)[0].state_dict() for path in (model(begun, 0), model(ranked, update))
    )
    assert all(torch.equal(first[key], value) for key, value in its.items())


def test_models_from_before_there_were_scores_load(run, tmp_path):
    entries = torch.load(model(run, 8))
    del entries["panel"], entries["metadata"]
    old = tmp_path / "model_000008.pt"
    old.write_bytes(to_bytes(entries))
    assert [load_policy(old)[1][name] for name in ("panel", "metadata")] == [None, {}]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("metadata", {"a": float("nan")}),
        ("metadata", {"a": torch.ones(1)}),
        ("metadata", {1: "a"}),
        ("metadata", ["a"]),
        ("panel", {"score": 1.0}),
        ("panel", {"score": 2.0, "worst_score": 0.5, "worst_pilot": "ace", "games": 4}),
    ],
)
def test_a_model_with_another_kind_of_entry_is_refused(run, tmp_path, name, value):
    entries = torch.load(model(run, 8))
    bad = tmp_path / "model_000008.pt"
    bad.write_bytes(to_bytes({**entries, name: value}))
    with pytest.raises(CheckpointError, match=f"its {name}"):
        load_policy(bad)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("idea", "'idea': must be name=text"),
        ("a=1,", "'': must be name=text"),
        ("a b=1", "'a b=1': must be name=text"),
        ("a=1,a=2", "'a' is given twice"),
    ],
)
def test_metadata_that_cannot_be_read_is_refused_before_training(tmp_path, text, told):
    with pytest.raises(UsageError, match=rf"command line: --metadata = {text}: {told}"):
        runs.train(tmp_path, "--metadata", text)
    assert not (tmp_path / "run").exists()


def test_metadata_is_what_json_can_say():
    value = {"a": [1, 2.5, None, True], "b": {"c": "text"}}
    assert checked_metadata(value) == value
    assert checked_metadata({"a": (1, 2)}) == {"a": [1, 2]}
    for wrong in ({"a": {1, 2}}, {"a": 1j}, {2: "a"}, [1], "a"):
        with pytest.raises(ValueError, match=r"metadata.*: must be a dict of JSON values"):
            checked_metadata(wrong)
    assert parse_metadata(None) == {}
