"""The space of a sweep: keys of the configuration, each with a range."""

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from midrange_puffer.config.checks import check_pairs
from midrange_puffer.config.configuration import Config, ConfigError, own_names, stage_names
from midrange_puffer.config.key import Key, Value
from midrange_puffer.config.schema import STAGE, SWEPT, sweepable
from midrange_puffer.policies.own_code import PACKAGED, Own
from midrange_puffer.sweep.record import is_of_runs

DIGITS = 4  # significant digits of suggested numbers, easy to read and copy
WHOLE = ("int_uniform", "uniform_pow2")  # distributions that PufferLib rounds itself
# distribution -> the scale on which PufferLib draws, and its open lower and upper bound.
_SCALES = {
    "uniform": (lambda value: value, -math.inf, math.inf),
    "int_uniform": (lambda value: value, -math.inf, math.inf),
    "uniform_pow2": (math.log2, 0.0, math.inf),
    "log_normal": (math.log10, 0.0, math.inf),
    "logit_normal": (lambda value: -math.log10(1 - value), -math.inf, 1.0),
}


@dataclass(frozen=True)
class SweptKey:
    """A varied key.

    Attributes:
        name: "section.key".
        key: the key's description in the configuration.
        distribution: PufferLib's name for the scale on which it draws.
        minimum, maximum, mean: in the key's unit; the first trial has `mean`.
        scale: spread of suggestions, as a share of half the range; or "auto", "time".
        choices: the only values to try, in the given order; empty: the whole range. The search
            method works with their indices.
    """

    name: str
    key: Key
    distribution: str
    minimum: Any  # this and the next two: numbers, or choices
    maximum: Any
    mean: Any
    scale: float | str
    choices: tuple[Value, ...] = ()

    def position(self, value: Any) -> float:
        """Returns the position of a value in the range, 0 to 1, on the distribution's scale."""
        if self.choices:
            return self.choices.index(value) / (len(self.choices) - 1)
        along, *_ = _SCALES[self.distribution]
        low, high = along(self.minimum), along(self.maximum)
        return (along(value) - low) / (high - low)

    @property
    def numbers(self) -> tuple[float, float, float]:
        """Minimum, maximum and mean, in the form that the search method works with."""
        if self.choices:
            return 0, len(self.choices) - 1, self.choices.index(self.mean)
        return self.minimum, self.maximum, self.mean

    def number(self, value: Any) -> float:
        """Returns a value in the form that the search method works with."""
        return self.choices.index(value) if self.choices else value

    def rounded(self, value: float) -> Value:
        """Returns the value to try for a number that the search method suggests.

        It is a choice; or a value in the range, of the key's type, rounded to `DIGITS` digits. For
        logit_normal, 1 - value is rounded.
        """
        if self.choices:
            return self.choices[min(max(round(value), 0), len(self.choices) - 1)]
        value = float(value)
        size = abs(1 - value if self.distribution == "logit_normal" else value)
        if self.key.kind is int:
            value = round(value)
        elif size and self.distribution not in WHOLE:
            value = round(value, DIGITS - 1 - math.floor(math.log10(size)))
        return min(max(value, self.minimum), self.maximum)


class Space:
    """The parameters that a configuration's sections [sweep.<section>.<key>] vary.

    Attributes:
        parameters: by "section.key", in the order of the configuration.

    Raises:
        ConfigError: There is no such section. Or a section is incomplete, is outside the key's
            range, or belongs to a key that no training of the configuration uses.
    """

    def __init__(self, config: Config) -> None:
        sections = [name for name in config if name.startswith(SWEPT)]
        if not sections:
            raise ConfigError(
                "the configuration varies nothing: a sweep needs sections such as "
                "[sweep.train.learning_rate], with distribution, min, max, mean, scale"
            )
        own = own_names(config)
        self.parameters = {
            name: _parameter(name, config[SWEPT + name], own)
            for name in (section.removeprefix(SWEPT) for section in sections)
        }
        for name, parameter in self.parameters.items():
            if parameter.key.is_mixed:  # a mix may name types that only env.types knows
                for value in parameter.choices:
                    check_pairs(trial_config(config, {name: value}), f"[{SWEPT}{name}] values")
        settings = config.sweep
        if settings.goal == "minimize" and not is_of_runs(settings):
            raise ConfigError(
                f"sweep.goal = minimize: is for a metric of the runs, not for sweep.metric = "
                f"{settings.metric}"
            )
        capacity = "experience_buffer.capacity"
        is_replaying = config.experience_buffer.capacity or capacity in self.parameters
        for name in self.parameters:
            if name.startswith("rnn.") and config.base.rnn_name is None:
                raise ConfigError(f"[{SWEPT}{name}]: without effect, for base.rnn_name is None")
            if name.startswith("rnn.") and config.base.policy_name in PACKAGED:
                raise ConfigError(
                    f"[{SWEPT}{name}]: must be equal to policy.hidden_size; vary that, and "
                    f"{name} = auto follows"
                )
            if name.startswith("experience_buffer.") and not is_replaying:
                raise ConfigError(f"[{SWEPT}{name}]: without effect, for {capacity} is 0")
            if (stages := stage_names(config)) and _stages_with(config, name) == stages:
                raise ConfigError(f"[{SWEPT}{name}]: without effect, for every stage sets it")

    @property
    def center(self) -> dict[str, Value]:
        """The mean of every parameter."""
        return {name: parameter.mean for name, parameter in self.parameters.items()}

    def check_effects(self, settled: Config) -> None:
        """Checks that each parameter has an effect on this machine; prints what stages override.

        Args:
            settled: the configuration of the trial at `center`, settled.

        Raises:
            ConfigError: Settling has replaced a parameter's value.
        """
        for name, value in self.center.items():
            section, _, key = name.partition(".")
            actual = settled[section][key]
            # env.num_envs is the number for all workers; settling divides it among them.
            if actual != value and name != "env.num_envs":
                raise ConfigError(
                    f"[{SWEPT}{name}]: without effect, for {actual} takes the place of {value} "
                    f"where vec.backend is {settled.vec.backend}"
                )
            if stages := _stages_with(settled, name):
                where = f"in the stages that set {name} themselves: {', '.join(stages)}"
                print(f"[{SWEPT}{name}]: without effect {where}", file=sys.stderr)


def trial_config(config: Config, params: Mapping[str, Value]) -> Config:
    """Returns the configuration for a training with the values `params`, by "section.key"."""
    config = config.only(name for name in config if not name.startswith(SWEPT))
    for name, value in params.items():
        section, _, key = name.partition(".")
        config = config.replaced(section, "the sweep", **{key: value})
    return config


def _stages_with(config: Config, name: str) -> list[str]:
    """Returns the stages of the curriculum that set the key `name`, "section.key"."""
    return [stage for stage in stage_names(config) if name in config[STAGE + stage]]


def _parameter(name: str, given: Mapping[str, Any], own: Own) -> SweptKey:
    """Returns the parameter that a section describes, after checks."""
    where, key = f"[{SWEPT}{name}]", sweepable(own)[name]
    if given["values"] is not None:
        return _choice(name, key, given, where)
    if key.kind not in (int, float):
        raise ConfigError(f"{where} values: must be given, for {key.name} is {key.allowed}")
    given = {part: value for part, value in given.items() if part != "values"}
    for part, value in given.items():
        if value is None:
            raise ConfigError(f"{where} {part}: must be given")
    distribution = given["distribution"]
    numbers = {
        part: _number(key, given[part], f"{where} {part}") for part in ("min", "max", "mean")
    }
    low, high, mean = numbers.values()
    if low >= high:
        raise ConfigError(f"{where} min = {low}: must be below max = {high}")
    if not low <= mean <= high:
        raise ConfigError(f"{where} mean = {mean}: must be from min = {low} to max = {high}")
    _, least, greatest = _SCALES[distribution]
    for part, value in numbers.items():
        if not least < value < greatest:
            bound = f"above {least:g}" if value <= least else f"below {greatest:g}"
            raise ConfigError(f"{where} {part} = {value}: must be {bound} for {distribution}")
    _check_distribution(where, distribution, numbers, given["scale"])
    return SweptKey(name, key, distribution, low, high, mean, given["scale"])


def _choice(name: str, key: Key, given: Mapping[str, Any], where: str) -> SweptKey:
    """Returns the parameter of a section that has `values`."""
    for part in ("distribution", "min", "max"):
        if given[part] is not None:
            raise ConfigError(f"{where} {part} = {given[part]}: without effect beside values")
    if key.is_mixed and ":" in given["values"]:
        raise ConfigError(
            f"{where} values = {given['values']}: commas separate values, so none may be a mix"
        )
    try:
        choices = tuple(key.parse(text) for text in given["values"].split(","))
    except ValueError as error:
        raise ConfigError(f"{where} values = {given['values']}: {key.name} {error}") from None
    if len(set(choices)) < len(choices) or len(choices) < 2:
        raise ConfigError(f"{where} values = {given['values']}: must be two or more, none twice")
    mean = choices[(len(choices) - 1) // 2] if given["mean"] is None else key.kind(given["mean"])
    if mean not in choices:
        allowed = ", ".join(map(str, choices))
        raise ConfigError(f"{where} mean = {given['mean']:g}: must be one of {allowed}")
    scale = 2.0 if given["scale"] == "auto" else given["scale"]  # each can follow any
    if scale == "time":
        raise ConfigError(f"{where} scale = time: only for log_normal, not for values")
    return SweptKey(name, key, "int_uniform", choices[0], choices[-1], mean, scale, choices)


def _number(key: Key, value: float, where: str) -> Any:
    """Returns a bound of the range in the key's type."""
    try:
        return key.kind(key.parse(repr(value)))
    except ValueError:
        number = "an integer" if key.kind is int else "a number"
        raise ConfigError(
            f"{where} = {value:g}: {key.name} must be {number} from {key.least} to {key.greatest}"
        ) from None


def _check_distribution(
    where: str, distribution: str, numbers: Mapping[str, Value], scale: float | str
) -> None:
    """Raises ConfigError if bounds or scale do not fit the distribution."""
    wanted = {
        "uniform_pow2": ("a power of 2", lambda value: math.log2(value).is_integer()),
        "int_uniform": ("an integer", lambda value: float(value).is_integer()),
    }
    if distribution in wanted:
        noun, is_right = wanted[distribution]
        for part, value in numbers.items():
            if not is_right(value):
                raise ConfigError(f"{where} {part} = {value}: must be {noun} for {distribution}")
    if scale == "time" and distribution != "log_normal":
        raise ConfigError(f"{where} scale = time: only for log_normal, not for {distribution}")
