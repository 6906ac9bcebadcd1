"""Configurations in files, and any values of their keys."""

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from hypothesis import strategies as st

from midrange_puffer.config.configuration import ConfigError
from midrange_puffer.config.key import Key


def write(folder: Path, text: str) -> Path:
    path = folder / "my.ini"
    path.write_text(text)
    return path


def values(key: Key) -> st.SearchStrategy:
    """Values that `key` allows, by its declaration."""
    words = st.sampled_from(key.words) if key.words else st.nothing()
    if key.kind is bool:
        return words | st.booleans()
    if key.kind is int:
        return words | st.integers(int(key.minimum), int(key.maximum))
    if key.kind is float:
        return words | st.floats(key.minimum, key.maximum)
    text = key.default or ("name=text" if key.name == "metadata" else "text")
    return words | st.sampled_from(key.choices or (text,))


def assert_refused(parts: Iterable[str], function: Callable, *arguments: object) -> None:
    """Checks that a call raises a ConfigError whose message has all these parts."""
    with pytest.raises(ConfigError) as caught:
        function(*arguments)
    for part in parts:
        assert part in str(caught.value)
