"""Shared by the warm programs: read files into dicts, and time repeated work in one process."""

import json
import sys
import time


def read_dicts(qrels, run):
    """Judgments and ranking as dicts of dicts: query -> document -> grade or score."""
    return read_dict(qrels, 2, 3, int), read_dict(run, 2, 4, float)


def read_dict(path, doc, value, number):
    found = {}
    with open(path) as lines:
        for line in lines:
            parts = line.split()
            found.setdefault(parts[0], {})[parts[doc]] = number(parts[value])
    return found


def time_again_and_again(act, budget):
    """Print the seconds of each time, and the seconds on processors, as JSON.

    The first time is not counted; then on until the budget is used up.
    """
    act()
    seconds, cpu = [], []
    while sum(seconds) < budget:
        start, cpu_start = time.perf_counter(), time.process_time()
        act()
        seconds.append(time.perf_counter() - start)
        cpu.append(time.process_time() - cpu_start)
    sys.stdout.write(json.dumps([seconds, cpu]) + "\n")
