"""What the fault tests share: the journal seen from outside, and seeded instants at which to strike."""
import collections
import os
import pathlib
import random
import signal
import sqlite3
import time

import gantry_test


def seed() -> int:
    """GANTRY_FAULT_SEED, or a new one every time. Tests print it, so that a failure can be repeated."""
    return int(os.environ.get("GANTRY_FAULT_SEED", 0)) or random.SystemRandom().randrange(1, 1 << 31)


class FaultCase(gantry_test.TestCase):
    def setUp(self):
        super().setUp()
        self.seed = seed()
        self.random = random.Random(self.seed)
        print(f"GANTRY_FAULT_SEED={self.seed}", flush=True)  # run_all shows it when the test fails

    # The journal. ---------------------------------------------------------------------------------------------

    def journal(self, sql: str, *values) -> list:
        database = sqlite3.connect(f"file:{self.state}/gantry.db?mode=ro", uri=True, timeout=10)
        try:
            return database.execute(sql, values).fetchall()
        finally:
            database.close()

    def assert_journal_is_sound(self):
        self.assertEqual(self.journal("PRAGMA integrity_check"), [("ok",)])

    def tasks(self, *options) -> dict:
        """Task number -> what `gantry tasks --json` says of it."""
        result = self.gantry("tasks", "--json", *options)
        self.assertEqual(result.code, 0, result)
        lines = result.json_lines()
        tasks = {line["task"]: line for line in lines}
        self.assertEqual(len(tasks), len(lines), "a task is listed twice")
        return tasks

    def assert_each_result_once(self, count: int):
        """Every task has succeeded, and says so exactly once, in the journal and to a person."""
        everyone = list(range(1, count + 1))
        successes = self.journal("SELECT task FROM events WHERE kind = 'ended' AND cause = 0 ORDER BY task")
        self.assertEqual([task for task, in successes], everyone)
        results = self.gantry("results", "--json")
        self.assertEqual([line["task"] for line in results.json_lines()], everyone)
        status = self.gantry("status", "--json").json()
        self.assertEqual((status["state"], status["total"], status["done"]), ("finished", count, count))

    @staticmethod
    def flat(text: str) -> str:
        """A message without the line breaks that made it fit a terminal."""
        return " ".join(text.split())

    # Files that tasks append to. ------------------------------------------------------------------------------

    def lines(self, name: str) -> list:
        try:
            return (self.dir / name).read_text().splitlines()
        except FileNotFoundError:
            return []

    def line_count(self, name: str) -> int:
        try:
            return (self.dir / name).read_bytes().count(b"\n")
        except FileNotFoundError:
            return 0

    @staticmethod
    def repeated(values) -> dict:
        return {value: times for value, times in collections.Counter(values).items() if times > 1}

    # Processes. -----------------------------------------------------------------------------------------------

    @staticmethod
    def kill(pid: int, number=signal.SIGKILL) -> bool:
        try:
            os.kill(pid, number)
            return True
        except ProcessLookupError:
            return False

    @staticmethod
    def is_alive(pid: int) -> bool:
        try:
            return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
        except OSError:
            return False

    def wait_gone(self, pid: int, what: str):
        self.wait_until(lambda: not self.is_alive(pid), f"{what} (process {pid}) to be gone")

    def finish(self, child, timeout=gantry_test.PATIENCE) -> gantry_test.Result:
        """Waits for a gantry that was started in the background."""
        started = time.monotonic()
        stdout, stderr = child.communicate(timeout=timeout)
        return self._result(child.args, child, stdout or b"", stderr or b"", started)

    @staticmethod
    def peak_memory(pid: int) -> int:
        """Bytes the process has ever had resident; 0 when it is gone."""
        try:
            for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
        except OSError:
            pass
        return 0
