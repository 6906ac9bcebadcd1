"""Cost of frozen opponents in training: a mix with a pool, and pure self-play, in turns.

Both are trained with the configuration's numbers; only env.opponent differs. The pool is full: the
policies in it are untrained, which cost as much as trained ones. Agent decisions are counted, so
the frozen seats' are not; the table gives medians.
"""

import tempfile
from functools import partial
from pathlib import Path

import torch
from common import compare, finish, machine, parse_training, print_machine, ratio
from train_sps import run

from midrange_puffer.config.configuration import Config
from midrange_puffer.config.reading import load_config
from midrange_puffer.config.settle import settle
from midrange_puffer.game.observation import spaces_of
from midrange_puffer.game.parameters import POOL, SELF
from midrange_puffer.policies import model_file
from midrange_puffer.policies.mix import divide
from midrange_puffer.policies.networks import make_policy
from midrange_puffer.train import run_folder
from midrange_puffer.train.machine import this_machine
from midrange_puffer.train.pool import Pool
from midrange_puffer.train.vector import make_env


def full_pool(folder: Path, config: Config) -> Pool:
    """Returns a pool of as many policies as the configuration allows."""
    pool = Pool(folder, {**config["pool"], "include": None, "own": True})
    for n in range(config["pool"]["size"]):
        spaces = spaces_of(config["env"]["observation"])
        policy = make_policy(spaces, config["policy"], config["base"]["rnn_name"], config["rnn"])
        path = folder / run_folder.model_name(n)
        model_file.save_model(path, config, policy.state_dict(), n)
        pool.add(path, n)
    pool.refresh()
    return pool


def main() -> None:
    """Measures, prints, and writes the report if wanted."""
    options, overrides = parse_training(__doc__, "selfplay.ini")
    configs = {
        "mix": load_config(options.config, overrides),
        SELF: load_config(options.config, [*overrides, f"--env.opponent={SELF}"]),
    }
    configs = {name: settle(config, this_machine()) for name, config in configs.items()}
    torch.set_num_threads(configs[SELF]["train"]["torch_threads"])
    env = configs["mix"]["env"]
    counts = divide(env["num_envs"], env["opponent"])
    if POOL not in counts:
        raise SystemExit(f"env.opponent = {env['opponent']}: there is no pool in it")
    report = {"machine": machine(), "rounds": options.rounds, "updates": options.updates}
    report |= {"opponent": env["opponent"], "engagements": counts}
    print_machine(report["machine"])
    with tempfile.TemporaryDirectory() as folder:
        pool = full_pool(Path(folder), configs["mix"])
        runs = {
            name: partial(run, config, make_env, options.updates, Path(folder), pool)
            for name, config in configs.items()
        }
        report |= compare(runs, options.rounds, "opponent")
        report["ratio"] = ratio(report["mix"]["rounds"], report[SELF]["rounds"], f"mix / {SELF}")
    words = ", ".join(f"{count} against {name}" for name, count in counts.items())
    print(f"the mix: {words}; {len(pool)} in the pool")
    finish("pool", report, {name: report[name]["sps"] for name in configs}, options)


if __name__ == "__main__":
    main()
