"""The core in WebAssembly, compiled once for all tests of the page."""

from pathlib import Path

import pytest
from web_page import builder


@pytest.fixture(scope="session")
def wasm(tmp_path_factory) -> Path:
    """Returns the core in WebAssembly."""
    return builder().compile_core(tmp_path_factory.mktemp("wasm"))
