"""A program whose Python frames are known, for test_python_frames.py: it notes them by itself at each call.

usage: python_frames.py mpi|shmem LIBRARY RESULT [kill]

`kill`: it kills itself at the end.
"""

import ctypes
import functools
import json
import os
import signal
import sys
import threading
from collections import Counter
from pathlib import Path

TIMES = 20
api, library, result, *end = sys.argv[1:]
lib = ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)
if api == "mpi":
    lib = ctypes.CDLL(None)  # the preloaded functions are before the MPI's
    lib.MPI_Init_thread(None, None, 2, ctypes.byref(ctypes.c_int()))
    world = ctypes.addressof(ctypes.c_char.in_dll(lib, "ompi_mpi_comm_world"))
    barrier = functools.partial(lib.MPI_Barrier, ctypes.c_void_p(world))
else:
    lib.shmem_init_thread(2, ctypes.byref(ctypes.c_int()))
    barrier = lib.shmem_barrier_all
    lib.shmem_malloc.restype = ctypes.c_void_p
    cell = ctypes.c_void_p(lib.shmem_malloc(ctypes.c_size_t(8)))
    put = ctypes.PyDLL(library).shmem_long_p  # keeps the interpreter's lock

found = {"barrier": Counter(), "put": Counter()}


def note(call="barrier", above=1):
    """Counts the frames above, from the call to the outermost one."""
    frames = []
    frame = sys._getframe(above)
    while frame:
        name = getattr(frame.f_code, "co_qualname", frame.f_code.co_name)
        frames.append((frame.f_code.co_filename, name, frame.f_lineno))
        frame = frame.f_back
    found[call][tuple(frames)] += 1


def call():
    return note(), barrier()


class Solver:
    def step(self):
        call()
        return note(), barrier()

    @staticmethod
    def norm(n):
        def inner():
            call()

        return [inner() for _ in range(n)]

    def __add__(self, other):
        return call()

    @property
    def value(self):
        return call()


def recursive(n):
    if n:
        recursive(n - 1)
    else:
        call()


def generator():
    for _ in range(2):
        yield call()


def decorated(function):
    @functools.wraps(function)
    def wrapper(*args, **words):
        return function(*args, **words)

    return wrapper


@decorated
def with_decorator(a, *, b):
    call()


def with_exception():
    try:
        {}["a"]
    except KeyError:
        call()
    finally:
        call()


def with_context():
    class Context:
        def __enter__(self):
            call()

        def __exit__(self, *args):
            call()

    with Context():
        call()


def in_c():
    """From C code of the interpreter, which calls Python again."""
    sorted([1, 2], key=lambda x: call() and x)
    functools.reduce(lambda a, b: call() and a, [1, 2])
    list(map(Solver.step, [Solver()]))


def on_several_lines():
    return (
        1,
        call(),
        [
            2,
            call(),
        ],
    )


def naïve_名():
    call()


# Scripts of other files. A step of more than 127 lines in a function takes several entries of a table of lines.
TEXT = "def f():\n    call()\n{}    call()\nf()\n"
scripts = [compile(TEXT.format("\n" * n), f"/tmp/script{n}.py", "exec") for n in (0, 5, 300)]


def phase_a():
    call()


def phase_b():
    call()


def puts_a():
    return note("put"), put(cell, ctypes.c_long(1), 0)


def puts_b():
    return note("put"), put(cell, ctypes.c_long(2), 0)


for _ in range(TIMES):
    note(above=1), barrier()
    phase_a()
    phase_b()
    Solver().step()
    Solver.norm(2)
    Solver() + 1
    solver_value = Solver().value
    recursive(12)
    list(generator())
    with_decorator(1, b=2)
    with_exception()
    with_context()
    in_c()
    on_several_lines()
    naïve_名()
    (lambda: call())()
    for script in scripts:
        exec(script)
    thread = threading.Thread(target=call)
    thread.start()
    thread.join()

if api == "shmem":
    for _ in range(2000):
        puts_a()
        puts_b()
        puts_b()

noted = {name: [[list(map(list, key)), n] for key, n in of.items()] for name, of in found.items()}
Path(result).write_text(json.dumps(noted))
if end:
    os.kill(os.getpid(), signal.SIGKILL)
if api == "mpi":
    lib.MPI_Finalize()
else:
    lib.shmem_finalize()
