"""Threads that the simulations and networks of a process share.

While one of them uses the threads, the others work in the caller's thread alone. With two or three
threads, each thread has the same engagements in the core and in the learner, so these stay in the
caches of its processor's core.
"""

from os import getpid
from weakref import WeakValueDictionary

MAX_THREADS = 1024

_threads = WeakValueDictionary()  # threads in use, by process and count


cdef class Threads:
    """`count` threads, with the caller's.

    Raises:
        MemoryError: No memory, or the system grants no more threads.
    """

    def __cinit__(self, int count):
        self.threads = mr_threads_create(count)
        if self.threads == NULL:
            raise MemoryError(f"no memory for {count} threads, or the system grants fewer")
        self.count = count

    def __dealloc__(self):
        # No simulation or network refers to the threads any more. One may end later than they do,
        # so its own end must not use them.
        mr_threads_destroy(self.threads)
        self.threads = NULL


def find_threads(count):
    """Returns the threads of this process that all callers with this count share.

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
