"""What the tests of the jobs run in a worker process, which imports this module by its name."""

import os
import socket
import sys
import time

import numpy as np

from kanon.base.progress import send_preparation
from kanon.errors import CoverageError

WARMED = []


def warm():
    WARMED.append(os.getpid())


def warm_badly():
    raise ValueError("Alice")


def die_warming():
    os._exit(3)


def add(progress, first, second):
    progress(0.5, "adding")
    return first + second


def pid(progress):
    return os.getpid()


def niceness(progress):
    """How far the process lets others go first; Windows has no such number."""
    return os.getpriority(os.PRIO_PROCESS, 0) if hasattr(os, "getpriority") else 0


def warmed(progress):
    return len(WARMED) == 1 and os.getpid() in WARMED


def modules(progress):
    return set(sys.modules)


def threads(progress):
    return os.environ["NUMBA_NUM_THREADS"]


def say_time(progress):
    progress(0.1, str(time.time()))


def refuse(progress):
    raise CoverageError("Column 'name': {cells} is not in its tree.", cells=["Alice"])


def fail(progress):
    raise TypeError("Alice is not a number")


def leave(progress):
    sys.exit("Alice")


def unpicklable(progress):
    return lambda: "Alice"


def die(progress):
    os._exit(3)


def leave_a_trace(progress, path):
    """Die after writing to a file."""
    with open(path, "a") as trace:
        trace.write("begun ")
    os._exit(3)


def babble(progress):
    """Disturb every standard stream, in Python and below it."""
    print("Alice", flush=True)
    os.write(1, b"\x00" * 100)
    os.write(2, b"Alice")
    return sys.stdin.read()


def endless(progress):
    """Say the own process's number, then work for ever."""
    count = 0
    progress(0.25, str(os.getpid()))
    while True:
        count += 1


def wait_for(progress, port):
    """Say the own process's number, then work until the test closes the connection."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        progress(0.5, str(os.getpid()))
        connection.recv(1)
    return os.getpid()


def compile_while_warming():
    """Tell of compiling before the first job, which is what waits."""
    for _ in range(200):
        send_preparation(0.5, 20)
        time.sleep(0.01)


def compile_then_work(progress, port):
    """Have most of a preparation behind oneself, then a tenth of the work."""
    send_preparation(0.9, 20)
    time.sleep(0.5)
    progress(0.1, "begun")
    time.sleep(0.1)
    with socket.create_connection(("127.0.0.1", port)) as connection:
        progress(0.2, str(os.getpid()))
        connection.recv(1)


def hold(progress, port):
    """Keep a connection open while working for ever: it closes only with the process."""
    connection = socket.create_connection(("127.0.0.1", port))
    connection.sendall(b"x")
    while True:
        progress(0.1, "holding")


def double(progress, numbers):
    return numbers * 2


def total(progress, numbers):
    """The sum, and who has added."""
    return float(numbers.sum()), os.getpid()


def large(progress, elements):
    return np.arange(elements, dtype=np.float64)


def hand_over(progress, port):
    """Hand over two parts of a result, then hold."""
    progress.keep("first")
    progress.keep(["second"])
    hold(progress, port)


def dies_at_every_fourth_input(name, numbers, seed, at, answer):
    """In place of a process of the fuzzer."""
    at.value = numbers[3]
    os._exit(3)
