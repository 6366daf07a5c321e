#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Turns `perf script --ns` of sched_switch and sched_waking into a trace of bursts.

    perf record -e sched:sched_switch,sched:sched_waking -a -o perf.data -- COMMAND
    perf script --ns -i perf.data -F comm,pid,cpu,time,event,trace | bursts.py NAME,NAME...

Only tasks with these names are kept, and only under numbers: no name gets into the trace.
"""

import json
import re
import sys

SWITCH = re.compile(
    r"(\d+)\.(\d{9}): +sched:sched_switch: prev_comm=(.*) prev_pid=(\d+) .*"
    r"prev_state=(\S+) ==> .* next_pid=(\d+) ")
WAKING = re.compile(r" +(\d+) \[\d+\] +(\d+)\.(\d{9}): +sched:sched_waking: .* pid=(\d+) ")


class Task:
    """What is known since the last sleep began; `woken` is (sleep, waker) once it ended."""

    def __init__(self, slept=None):
        self.slept, self.woken, self.since, self.ran = slept, None, None, 0


def main():
    names = set(sys.argv[1].split(","))
    tasks, numbers = {}, {}

    def number(pid):
        return numbers.setdefault(pid, len(numbers) + 1) if pid else 0

    for line in sys.stdin:
        if match := SWITCH.search(line):
            now = int(match[1]) * 10**9 + int(match[2])
            name, pid, state, following = match[3], int(match[4]), match[5], int(match[6])
            task = tasks.setdefault(pid, Task())
            if task.since is not None:
                task.ran += now - task.since
                task.since = None
            if not state.startswith("R"):
                if task.woken and task.ran and name in names:
                    sleep, waker = task.woken
                    print(json.dumps({"task": number(pid), "sleep_ns": sleep,
                                      "waker": number(waker), "burst_ns": task.ran},
                                     separators=(",", ":")))
                tasks[pid] = Task(slept=now)
            tasks.setdefault(following, Task()).since = now
        elif match := WAKING.search(line):
            now = int(match[2]) * 10**9 + int(match[3])
            task = tasks.get(int(match[4]))
            if task and task.slept is not None and task.woken is None:
                task.woken = (now - task.slept, int(match[1]))


main()
