"""Checks of keys whose values are texts of a certain form."""

import re
from collections.abc import Callable

from midrange_puffer.policies.own_code import check_form


def check_device(text: str) -> None:
    """Checks the name of a device; raises ValueError."""
    if not re.fullmatch(r"cpu|mps|cuda(:\d+)?", text):
        raise ValueError("must be auto, cpu, cuda, cuda:N or mps")


def check_own(*ours: str) -> Callable[[str], None]:
    """Returns a check of a name: one of `ours`, or the name of a user's own code."""

    def check(text: str) -> None:
        if text not in ours:
            try:
                check_form(text)
            except ValueError as error:
                raise ValueError(
                    f"must be {' or '.join(ours)}, or {str(error).removeprefix('must be ')}"
                ) from None

    return check


def check_stages(text: str) -> None:
    """Checks the names of a curriculum's stages; raises ValueError."""
    names = [name.strip() for name in text.split(",")] if text else []
    if not all(re.fullmatch(r"\w+", name, re.ASCII) for name in names):
        raise ValueError("must be names of letters, digits and '_', separated by commas")
    if len(set(names)) < len(names):
        raise ValueError("a name is given twice")


def check_panel(text: str) -> None:
    """Checks the pilots of a panel; raises ValueError."""
    from midrange_puffer.game.parameters import pilot_names

    pilot_names(text)


def check_run_name(text: str) -> None:
    """Checks the name of a run or sweep; raises ValueError."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", text) or text in ("latest", "best"):
        raise ValueError(
            "must be letters, digits, '.', '_' and '-', and neither 'latest' nor 'best'"
        )
