"""A process that waits with the packages of others imported, and forks to run each command; see `command.py`.

Nothing of assay is imported before the fork, so that each command imports what it needs itself, as it does for a user.
"""

from __future__ import annotations

import gc
import json
import os
import runpy
import socket
import sys

import click
import jinja2
import msgspec.json
import msgspec.structs
import numpy as np
import rich.console
import rich.progress
import rich.table
import scipy.special

IMPORTED = (click, jinja2, msgspec, np, rich, scipy)


def receive(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            sys.exit()  # the tests are over
        data += part
    return data


def wait_for_command(connection: socket.socket) -> list[str]:
    """Answer with the status of each command that was asked for; comes back only in the fork that is to run one."""
    while True:
        size = int.from_bytes(receive(connection, 4), "big")
        _, streams, _, _ = socket.recv_fds(connection, 1, 3)
        asked = json.loads(receive(connection, size))
        child = os.fork()
        if not child:
            connection.close()
            for number, stream in enumerate(streams):
                os.dup2(stream, number)
                os.close(stream)
            os.chdir(asked["cwd"])
            os.environ.clear()
            os.environ.update(asked["environment"])
            sys.path[0] = asked["cwd"]  # as for python -m
            return asked["command"]
        for stream in streams:
            os.close(stream)
        _, status = os.waitpid(child, 0)
        connection.sendall(os.waitstatus_to_exitcode(status).to_bytes(4, "big", signed=True))


if __name__ == "__main__":
    gc.freeze()  # what is there already need not be looked at, and so not copied, after a fork
    sys.argv[1:] = wait_for_command(socket.socket(fileno=int(sys.argv[1])))
    runpy.run_module("assay", run_name="__main__", alter_sys=True)
