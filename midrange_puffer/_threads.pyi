"""Types of the Cython module _threads, whose docstrings are in _threads.pyx."""

MAX_THREADS: int

class Threads:
    @property
    def count(self) -> int: ...
    def __init__(self, count: int) -> None: ...

def find_threads(count: int) -> Threads: ...
