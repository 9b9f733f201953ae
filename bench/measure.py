"""Measuring helpers: run a command and learn its wall time, CPU and memory; how fast spawning is right now."""
import os
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
GANTRY = os.environ.get("GANTRY_BIN", os.path.join(os.path.dirname(HERE), "build/release/bin/gantry"))
HZ = os.sysconf("SC_CLK_TCK")
# What every tool, and the floor, is started with, and so what their tasks have: with a locale, as people have one.
# bench/run adds an empty HOME, so that nobody's settings matter.
ENVIRONMENT = {"LC_ALL": "C.UTF-8", "PATH": "/usr/local/bin:/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1", "SHELL": "/bin/sh"}


def gantry(directory, *words):
    """What it prints. Ends the program when it fails."""
    done = subprocess.run([GANTRY, *map(str, words)], cwd=directory, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"gantry {' '.join(map(str, words))}: exit code {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


def build(source, directory):
    """Compiles a C file of this folder; returns the program's path."""
    binary = os.path.join(directory, source.removesuffix(".c"))
    subprocess.run(["gcc", "-O2", "-pthread", os.path.join(HERE, source), "-o", binary], check=True)
    return binary


def machine_busy():
    """(busy, total) CPU seconds of the whole machine since boot."""
    fields = [int(x) for x in open("/proc/stat").readline().split()[1:9]]
    return (sum(fields) - fields[3] - fields[4]) / HZ, sum(fields) / HZ


def wait_quiet(limit=60, threshold=0.15):
    """Waits until the machine has nothing else to do; False if it never does."""
    end = time.time() + limit
    calm = 0
    while time.time() < end:
        before = machine_busy()
        time.sleep(0.4)
        after = machine_busy()
        calm = calm + 1 if (after[0] - before[0]) / (after[1] - before[1]) < threshold else 0
        if calm == 2:
            return True
    return False


def own_cpu(pid):
    """CPU seconds of this process alone, its children left out: of the threads that it has now, to the nanosecond."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
        return sum(int(open(f"/proc/{pid}/task/{thread}/schedstat").read().split()[0]) for thread in threads) / 1e9
    except (OSError, IndexError):
        return 0.0


def peak_rss(pid):
    """Peak resident bytes."""
    try:
        for line in open(f"/proc/{pid}/status"):
            if line.startswith("VmHWM"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def children_of(pid):
    try:
        return [int(x) for x in open(f"/proc/{pid}/task/{pid}/children").read().split()]
    except OSError:
        return []


def descendants(pid):
    return [below for child in children_of(pid) for below in (child, *descendants(child))]


class Measured:
    """One finished command. `helpers()` names further processes whose own CPU and memory count."""

    LOOK_EVERY = 0.05  # s; looking itself takes time that tasks could use

    def __init__(self, command, cwd=None, stdin=None, helpers=lambda: [], env=None, timeout=1800):
        self.cpu_by_pid, self.rss_by_pid = {}, {}
        machine = machine_busy()
        began = time.perf_counter()
        process = subprocess.Popen(command, cwd=cwd, stdin=stdin, env=env, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE)
        done = threading.Event()

        def watch():
            while not done.is_set():
                for pid in {process.pid, *helpers()}:
                    self.cpu_by_pid[pid] = max(self.cpu_by_pid.get(pid, 0.0), own_cpu(pid))
                    self.rss_by_pid[pid] = max(self.rss_by_pid.get(pid, 0), peak_rss(pid))
                done.wait(self.LOOK_EVERY)

        watcher = threading.Thread(target=watch)
        watcher.start()
        killer = threading.Timer(timeout, process.kill)
        killer.start()
        self.stderr = process.stderr.read().decode(errors="replace")
        _, status, usage = os.wait4(process.pid, 0)
        self.wall = time.perf_counter() - began
        killer.cancel()
        done.set()
        watcher.join()
        process.returncode = self.code = os.waitstatus_to_exitcode(status)
        busy = machine_busy()
        # Everything the machine did meanwhile: with nothing else running, the true price of the whole run.
        self.machine_cpu = busy[0] - machine[0]
        self.reaped_cpu = usage.ru_utime + usage.ru_stime
        self.own_cpu = sum(self.cpu_by_pid.values())
        self.rss = max(self.rss_by_pid.values(), default=0)
