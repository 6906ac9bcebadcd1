"""Threads that the simulations and networks of a process share.

While one of them works with the threads, the others work without. With two or three threads, each
has the same engagements in the core and in the learner, in the caches of its processor's core.
"""

from os import getpid
from weakref import WeakValueDictionary

MAX_THREADS = 1024

_threads = WeakValueDictionary()  # those in use, by their process and count


cdef class Threads:
    """So many threads, the caller's among them.

    Raises:
        MemoryError: No memory, or the system grants no more threads.
    """

    def __cinit__(self, int count):
        self.pool = mr_threads_create(count)
        if self.pool == NULL:
            raise MemoryError(f"no memory for {count} threads, or the system grants fewer")
        self.count = count

    def __dealloc__(self):
        # Who shared them has let go of them. It may outlive them, so its end must not use them.
        mr_threads_destroy(self.pool)
        self.pool = NULL


def find_threads(count):
    """The threads of this process that all share who want so many.

    Raises:
        ValueError: A count below 1 or above MAX_THREADS.
        MemoryError: As of `Threads`.
    """
    if not 1 <= count <= MAX_THREADS:
        raise ValueError(f"threads = {count}: at least 1, at most {MAX_THREADS}")
    key = getpid(), count
    threads = _threads.get(key)
    if threads is None:
        threads = _threads[key] = Threads(count)
    return threads
