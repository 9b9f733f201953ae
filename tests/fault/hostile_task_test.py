"""Tasks that misbehave as processes: daemons, deaf ones, floods, and every way to die."""
import os
import signal
import sys
import time
import unittest

from fault_case import FaultCase

# Within this a task must have begun and be prepared for the worst, also beside busy compilers.
TIMEOUT = "3s"

# Leaves a process behind that has a session and a parent of its own, ignores what can be ignored, and has closed
# everything. It writes its number to a file first.
DAEMON = """
import os, signal, sys, time
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.chdir("/")
        os.closerange(0, 256)
        with open(sys.argv[1] + ".tmp", "w") as file:
            file.write(str(os.getpid()))
        os.rename(sys.argv[1] + ".tmp", sys.argv[1])
        while True:
            time.sleep(60)
    os._exit(0)
while not os.path.exists(sys.argv[1]):
    time.sleep(0.005)
{then}
"""


class DaemonTest(FaultCase):
    def start_daemon_task(self, then: str, *options, sweep=""):
        self.write("daemon.py", DAEMON.replace("{then}", then))
        self.write("sweep.yaml", f"command: [{sys.executable}, daemon.py, {self.dir}/pid]\n{sweep}")
        return self.start_gantry("run", *options, "sweep.yaml")

    def daemon_pid(self) -> int:
        return int(self.wait_until(lambda: self.lines("pid"), "the daemon's number")[0])

    def assert_daemon_gone(self):
        pid = self.daemon_pid()
        self.assertFalse(self.is_alive(pid), "the daemon outlives its task")
        self.assertEqual(self.task_processes(), {})

    def test_dies_when_its_task_ends(self):
        result = self.finish(self.start_daemon_task("sys.exit(0)"))
        self.assertEqual(result.code, 0, result)
        self.assert_daemon_gone()

    def test_dies_when_its_task_fails(self):
        result = self.finish(self.start_daemon_task("os.kill(os.getpid(), signal.SIGKILL)"))
        self.assertEqual(result.code, 1, result)
        self.assert_daemon_gone()

    def test_dies_when_its_task_is_cancelled(self):
        child = self.start_daemon_task("signal.signal(signal.SIGTERM, signal.SIG_DFL); time.sleep(600)")
        self.daemon_pid()
        cancelled = self.gantry("cancel")
        self.assertEqual(cancelled.code, 0, cancelled)
        result = self.finish(child)
        self.assertEqual(result.code, 1, result)
        self.assert_daemon_gone()

    def test_dies_when_its_task_times_out(self):
        result = self.finish(self.start_daemon_task("time.sleep(600)", sweep=f"timeout: {TIMEOUT}\n"))
        self.assertEqual(result.code, 1, result)
        self.assertEqual(self.tasks()[1]["cause"], "timeout")
        self.assert_daemon_gone()

    def test_dies_when_everything_is_killed(self):
        """Nobody is left to clean up but the slot's process; and the next agent looks again."""
        child = self.start_daemon_task("time.sleep(600)")
        pid = self.daemon_pid()
        agent = self.agent_pid()
        child.kill()
        self.kill(agent)
        child.communicate()
        self.wait_gone(pid, "the daemon")


class DyingTest(FaultCase):
    def test_deaf_task_is_killed_after_its_timeout(self):
        self.write("sweep.yaml", f"""
            command: "trap '' TERM INT HUP; echo deaf; while :; do sleep 600; done"
            shell: true
            timeout: {TIMEOUT}
            """)
        result = self.gantry("run", "sweep.yaml")
        self.assertEqual(result.code, 1, result)
        task = self.tasks()[1]
        self.assertEqual((task["state"], task["cause"]), ("failed", "timeout"))
        self.assertEqual(self.gantry("log", "1").stdout, "deaf\n")
        self.assertEqual(self.task_processes(), {})

    def test_polite_task_may_clean_up_after_its_timeout(self):
        self.write("sweep.yaml", f"""
            command: "trap 'echo cleaned > note; exit 0' TERM; while :; do sleep 0.05; done"
            shell: true
            timeout: {TIMEOUT}
            """)
        self.assertEqual(self.gantry("run", "sweep.yaml").code, 1)
        self.assertEqual(self.tasks()[1]["cause"], "timeout")  # though it then exited with 0
        self.assertEqual(self.read("note"), "cleaned\n")

    def test_stopped_task_is_killed_after_its_timeout(self):
        self.write("sweep.yaml", "command: 'kill -STOP $$; sleep 600'\nshell: true\ntimeout: 0.3s\n")
        self.assertEqual(self.gantry("run", "sweep.yaml").code, 1)
        self.assertEqual(self.tasks()[1]["cause"], "timeout")

    def test_every_signal_is_told(self):
        # Those whose default is to end the process; a shell would trap none of them.
        fatal = [number for number in signal.valid_signals()
                 if number not in (signal.SIGCHLD, signal.SIGCONT, signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN,
                                   signal.SIGTTOU, signal.SIGURG, signal.SIGWINCH)]
        self.write("die.py", """
            import os, resource, signal, sys
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            number = int(sys.argv[1])
            if number not in (signal.SIGKILL,):
                signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
            """)
        result = self.gantry("run", "-j4", "--keep-going", "--", sys.executable, "die.py", "{}", ":::",
                             *[str(int(number)) for number in fatal])
        self.assertEqual(result.code, 1, result)
        tasks = self.tasks()
        self.assertEqual([(task["cause"], task["code"]) for task in tasks.values()],
                         [("signal", int(number)) for number in fatal])

    def test_every_exit_code_is_told(self):
        codes = [0, 1, 2, 77, 126, 127, 128, 130, 137, 255]
        result = self.gantry("run", "--keep-going", "--", "sh", "-c", "exit {}", ":::", *map(str, codes))
        self.assertEqual(result.code, 1, result)
        self.assertEqual([task["code"] for task in self.tasks().values()], codes)


class RoughTest(FaultCase):
    def test_changes_its_directory(self):
        """Its own affair: the next task starts where it should."""
        result = self.gantry("run", "-j1", "--", "sh", "-c", "pwd; cd / ; exec sleep 0.01", ":::", "1", "2", "3")
        self.assertEqual(result.stdout, f"{self.dir}\n" * 3, result)

    def test_deletes_its_directory(self):
        self.write("sweep.yaml", """
            command: [sh, -c, "rm -r \\"$PWD\\"; echo {i}"]
            workdir: "work/{i}"
            parameters: {i: 1..3}
            """)
        result = self.gantry("run", "-j1", "--output", "sweep.yaml")
        self.assertEqual(result.code, 0, result)
        self.assertEqual(result.stdout, "1\n2\n3\n")

    def test_deletes_its_inputs(self):
        self.write("data.txt", "x")
        self.write("sweep.yaml", """
            command: [sh, -c, "echo {i} >> ran; rm -f data.txt"]
            parameters: {i: 1..3}
            inputs: [data.txt]
            """)
        result = self.gantry("run", "-j1", "sweep.yaml")
        self.assertEqual(result.code, 1, result)
        tasks = self.tasks()
        self.assertEqual(tasks[1]["state"], "done")
        missing = [task for task in tasks.values() if task["cause"] == "missing input"]
        self.assertTrue(missing, tasks)
        self.assertIn("data.txt", missing[0]["detail"])
        self.assertEqual(len(self.lines("ran")), 3 - len(missing))
        # Nobody knows what a task read whose input was gone before it ended: its result is kept, and made again when the
        # input is back.
        self.assertRegex(self.flat(result.stderr), "data.txt changed while [12] tasks? ran")
        self.write("data.txt", "x")
        again = self.gantry("run", "-j1", "sweep.yaml")
        self.assertIn("data.txt changed while it ran", self.flat(again.stderr))
        self.assertEqual(self.lines("ran").count("1"), 2)

    def test_closes_its_output(self):
        result = self.gantry("run", "-j2", "--", "sh", "-c", "echo {}; exec >&- 2>&-; sleep 0.05; exit {}",
                             ":::", "0", "3")
        self.assertEqual(result.code, 1, result)
        tasks = self.tasks()
        self.assertEqual([(task["code"], task["stdout_size"]) for task in tasks.values()], [(0, 2), (3, 2)])

    def test_makes_its_output_non_blocking_and_reads_nothing(self):
        """Neither reaches the task that comes after it on the same slot."""
        self.write("task.py", """
            import fcntl, os, sys
            assert os.read(0, 1) == b""
            assert not fcntl.fcntl(1, fcntl.F_GETFL) & os.O_NONBLOCK
            fcntl.fcntl(1, fcntl.F_SETFL, os.O_NONBLOCK)
            print("fine")
            """)
        result = self.gantry("run", "-j1", "--", sys.executable, "task.py", ":::", "1", "2", "3")
        self.assertEqual(result.stdout, "fine\n" * 3, result)

    def test_attacks_its_slot(self):
        """kill -9 of its own parent: the attempt is lost and tried again, others do not suffer, the run ends."""
        self.write("task", """
            #!/bin/sh
            echo "$GANTRY_TASK" >> ran
            [ "$GANTRY_TASK$GANTRY_ATTEMPT" = 51 ] && kill -9 $PPID && sleep 600
            exit 0
            """, executable=True)
        result = self.gantry("run", "-j2", "--", "./task", ":::", "1..10")
        self.assertEqual(result.code, 0, result)
        self.assertEqual(self.repeated(self.lines("ran")), {"5": 2})
        self.assertEqual(self.tasks()[5]["attempt"], 2)

    def test_always_attacks_its_slot(self):
        """Given up at last, not tried for ever."""
        result = self.gantry("run", "-j2", "--", "sh", "-c", "[ {} = 2 ] && kill -9 $PPID; exit 0", ":::", "1..3")
        self.assertEqual(result.code, 1, result)
        tasks = self.tasks()
        self.assertEqual([task["state"] for task in tasks.values()], ["done", "failed", "done"])
        self.assertEqual(tasks[2]["cause"], "lost")


class FloodTest(FaultCase):
    LIMIT = 300 << 20

    def test_a_gigabyte_of_output(self):
        """It lands on the disk, not in the memory of gantry, agent or slot."""
        size = 1 << 30
        room = os.statvfs(self.dir)
        if room.f_bavail * room.f_frsize < 3 * size:
            size = 300 << 20  # the promise is the same
            print("only 300 MiB: the disk has no room for more")
        self.write("flood.py", f"""
            import os
            piece = b"0123456789abcdef" * 65536
            left = {size}
            while left:
                left -= os.write(1, piece[:left])
            """)
        child = self.start_gantry("run", "--no-output", "--json", "--", sys.executable, "flood.py", ":::", "1")
        peaks = {}

        def watch() -> bool:
            for pid, command in self.processes().items():
                if "flood.py" not in command or pid == child.pid:
                    peaks[pid] = max(peaks.get(pid, 0), self.peak_memory(pid))
            time.sleep(0.1)
            return child.poll() is not None

        self.wait_until(watch, "the flood to end", 120)
        result = self.finish(child)
        self.assertEqual(result.code, 0, result)
        self.assertIn(child.pid, peaks)
        self.assertGreaterEqual(len(peaks), 3, "gantry, its agent and a slot")
        self.assertLess(max(peaks.values()), self.LIMIT)
        self.assertEqual(self.tasks()[1]["stdout_size"], size)
        log = self.start_gantry("log", "1", "--stdout")
        seen, last = 0, b""
        while piece := log.stdout.read(1 << 20):
            seen, last = seen + len(piece), piece
        log.communicate()
        self.assertEqual((log.returncode, seen), (0, size))
        self.assertEqual(last[-16:], b"0123456789abcdef")

    def test_floods_both_streams_of_many_tasks(self):
        """More than a pipe, less than a file each: nothing is mixed up or lost."""
        self.write("task.py", """
            import os, sys, threading
            def pour(fd, mark):
                left = memoryview(mark * 200_000)
                while left:
                    left = left[os.write(fd, left):]
            other = threading.Thread(target=pour, args=(2, b"e" + os.environ["GANTRY_TASK"].encode()[-1:]))
            other.start()
            pour(1, b"o" + os.environ["GANTRY_TASK"].encode()[-1:])
            other.join()
            """)
        result = self.gantry("run", "-j3", "--no-output", "--", sys.executable, "task.py", ":::", "1..9")
        self.assertEqual(result.code, 0, result)
        for task in range(1, 10):
            log = self.gantry("log", str(task))
            self.assertTrue(log.stdout == f"o{task}" * 200_000, f"standard output of task {task}")
            self.assertTrue(log.stderr == f"e{task}" * 200_000, f"standard error of task {task}")
        files = [path for path in (self.state / "output").rglob("*") if path.is_file()]
        self.assertLessEqual(len(files), 2 * 3, "one file a slot and stream, not one a task")


if __name__ == "__main__":
    unittest.main()
