# The C threads that the core and the learner share (csrc/threads.h).

from libc.stdint cimport int32_t

cdef extern from "threads.h" nogil:
    ctypedef struct MrThreads:
        pass

    MrThreads *mr_threads_create(int32_t count)
    void mr_threads_destroy(MrThreads *threads)

cdef class Threads:
    cdef MrThreads *threads
    cdef readonly int count
    cdef object __weakref__
