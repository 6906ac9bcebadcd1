"""Configurations that begin from another file: what counts, what is refused, what is written."""

import pytest
import runs
from config_files import assert_refused
from places import CONFIGS

from midrange_puffer.commands import cli
from midrange_puffer.config.configuration import format_config
from midrange_puffer.config.reading import load_config
from midrange_puffer.config.settle import settle
from midrange_puffer.train.machine import this_machine
from midrange_puffer.train.run_folder import read_run

FEW = "straight:0.1,weave:0.1,shooter:0.2,snake:0.3,evader:0.5,crank:0.4,bracket_shooter:0.4"
FEW = f"--env.opponent=self:4,pool:8,{FEW},turn_back:0.4"
TWOS = "--env.opponent=self:4,pool:6.4,straight:0.1,weave:0.1,shooter:0.3,snake:0.4,evader:0.5"
TWOS = f"{TWOS},crank:0.4,bracket_shooter:0.4,turn_back:0.6"
LOW = "0.001:0.006"  # entropy and learning rate
TEAMS = ["--env.red-size=2", "--env.blue-size=2", "--env.num-envs=384"]
SENSORS = "--env.sensing=radar"
# The champions of other games, as overrides of champion.ini.
OVERRIDES = {
    "champion_radar": [
        "--population.interval=80",
        "--population.budget=20_000_000",
        "--population.config=exploit.ini",
        SENSORS,
        f"{FEW},ace:0.6,patient:0.6,notcher:0.4",
        "--train.total-timesteps=120_000_000",
    ],
    "champion_team2": [
        *TEAMS,
        f"{TWOS},ace:1.2,patient:1.6",
        "--train.total-timesteps=120_000_000",
    ],
    "champion_team2_radar": [
        *TEAMS,
        SENSORS,
        f"{FEW},ace:0.4,patient:0.4,pair:0.4,notcher:0.4",
        f"--population.kinds=own:-0.5:{LOW},own:0:{LOW},strongest:-0.5:{LOW},own:-0.5:0.003:0.006",
        "--population.budget=16_000_000",
        "--train.total-timesteps=60_000_000",
        "--train.critic=truth",
    ],
}


@pytest.fixture
def write(tmp_path):
    """Writes ini files by name, and returns the path of the first."""

    def write(**texts: str):
        for name, text in texts.items():
            (tmp_path / f"{name}.ini").write_text(text)
        return tmp_path / f"{next(iter(texts))}.ini"

    return write


@pytest.mark.parametrize("name", OVERRIDES)
def test_a_champion_of_another_game_is_champion_ini_with_overrides(name):
    own = load_config(CONFIGS / f"{name}.ini")
    given = load_config(CONFIGS / "champion.ini", OVERRIDES[name])
    assert own.as_dict() == given.as_dict()
    settled = [settle(config, this_machine()).as_dict() for config in (own, given)]
    assert settled[0] == settled[1]


def test_a_file_overrides_its_bases_and_the_command_line_all(write):
    path = write(
        a="[base]\nbased_on = b.ini\n[train]\ngamma = 0.9\nseed = 5",
        b="[base]\nbased_on = c.ini\n[train]\ngamma = 0.8\nlearning_rate = 0.2",
        c="[train]\ngamma = 0.7\nlearning_rate = 0.1\nent_coef = 0.3\n[base]\ntag = old",
    )
    config = load_config(path, ["--train.seed=6"])
    train = config.train
    assert (train.gamma, train.learning_rate, train.ent_coef, train.seed) == (0.9, 0.2, 0.3, 6)
    assert config.base.tag == "old"


def test_it_is_relative_to_the_file_or_installed(write, tmp_path, monkeypatch):
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "b.ini").write_text("[base]\nbased_on = ../c.ini")
    path = write(a="[base]\nbased_on = below/b.ini", c="[train]\ngamma = 0.7")
    assert load_config(path).train.gamma == 0.7
    monkeypatch.chdir(tmp_path / "below")
    assert load_config("../a.ini").train.gamma == 0.7
    named = load_config("selfplay.ini")
    for name in ("selfplay.ini", "configs/selfplay.ini", CONFIGS / "selfplay.ini"):
        assert load_config(write(d=f"[base]\nbased_on = {name}")).as_dict() == named.as_dict()


def test_sections_of_stages_types_and_sweeps_join_those_of_the_base(write):
    base = "[curriculum]\nstages = a\n[curriculum.a]\nenv.opponent = ace\n"
    base += "[aircraft.agile]\nbased_on = light\nthrust = 15\n[env]\ndimensions = 3\n"
    base += "[sweep.train.gamma]\ndistribution = uniform\nmin = 0.9\nmax = 0.99\n"
    own = "[base]\nbased_on = base.ini\n[curriculum.a]\nscore = 0.6\n"
    own += "[aircraft.agile]\nthrust = 16\n[sweep.train.gamma]\nvalues = 0.9,0.95"
    config = load_config(write(own=own, base=base))
    words = ["--curriculum.a.score=0.6", "--aircraft.agile.thrust=16"]
    words += ["--sweep.train.gamma.values=0.9,0.95"]
    assert config.as_dict() == load_config(write(base=base), words).as_dict()


@pytest.mark.parametrize(
    ("texts", "parts"),
    [
        ({"a": "[base]\nbased_on = gone.ini"}, ["a.ini: [base] based_on = gone.ini: ", "No such"]),
        ({"a": "[base]\nbased_on = champoin.ini"}, ["did you mean 'configs/champion.ini'"]),
        ({"a": "[base]\nbased_on ="}, ["a.ini: [base] based_on = : must be an ini file"]),
        ({"a": "[base]\nbased_on = ."}, [": Is a directory"]),
        ({"a": "[base]\nbased_on = a.ini"}, ["cannot be based on itself: ", "a.ini <- "]),
        (
            {"a": "[base]\nbased_on = b.ini", "b": "[base]\nbased_on = ./a.ini"},
            ["b.ini: [base] based_on = ./a.ini: a file cannot be based on itself: "],
        ),
        (
            {"a": "[base]\nbased_on = b.ini\n[train]\ngama = 1", "b": ""},
            ["a.ini: [train] gama: no such key", "did you mean [train] gamma"],
        ),
        (
            {"a": "[base]\nbased_on = b.ini", "b": "[train]\ngama = 1"},
            ["b.ini: [train] gama: no such key", "did you mean [train] gamma"],
        ),
        (
            {"a": "[base]\nbased_on = b.ini", "b": "[train]\n\ngamma = 1\ngamma = 2"},
            ["b.ini: line 4: [train] gamma is given twice"],
        ),
        (
            {"a": "[base]\nbased_on = b.ini", "b": "[base]\npolicy_name = a.b"},
            ["b.ini: base.policy_name = a.b: "],
        ),
        ({"a": "[train]\nbased_on = b.ini"}, ["a.ini: [train] based_on: no such key", "[base]"]),
    ],
)
def test_an_error_names_the_file_that_it_is_in(write, texts, parts):
    assert_refused(parts, load_config, write(**texts))


def test_it_is_no_option():
    words = ["--base.based-on=champion.ini"]
    assert_refused(["--base.based-on: no such key; an ini file begins"], load_config, None, words)


def test_a_runs_configuration_is_complete_and_says_where_each_value_is_from(tmp_path):
    runs.small_config(tmp_path)
    ini = tmp_path / "mine.ini"
    ini.write_text("[base]\nbased_on = small.ini\n[train]\nseed = 7")
    words = ["--config", str(ini), "--train.data-dir", str(tmp_path), "--train.run-name", "run"]
    assert cli.run("train", words) == 0
    text = (tmp_path / "run" / "config.ini").read_text()
    assert "based_on" not in text
    assert f"# {ini}:\nseed = 7\n" in text
    assert f"# {ini}, based on {tmp_path / 'small.ini'}:\nhidden_size = 16\n" in text
    again = load_config(tmp_path / "run" / "config.ini", complete=True)
    assert again.train.seed == 7
    assert again.policy.hidden_size == 16
    assert read_run(tmp_path / "run").made_from == "mine.ini"


def test_help_knows_the_keys_of_the_bases_own_code(write, capsys):
    example = CONFIGS.parent / "examples" / "standoff.py"
    path = write(a="[base]\nbased_on = b.ini", b=f"[base]\nenv_class = {example}:Standoff")
    told = []
    for words in (["--config", str(path)], []):
        with pytest.raises(SystemExit):
            cli.run("train", [*words, "--help"])
        told.append(capsys.readouterr().out)
    assert all("based_on = FILE" in text for text in told)
    assert len(told[0].splitlines()) > len(told[1].splitlines())


def test_a_config_that_is_written_is_read_back(write):
    config = load_config(write(a="[base]\nbased_on = champion_team2.ini"))
    assert load_config(write(again=format_config(config))).as_dict() == config.as_dict()
