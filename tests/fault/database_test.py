"""Databases that are newer, cut, overwritten, foreign or in use: refused with what to do, and left as they are."""
import os
import re
import sqlite3
import subprocess
import unittest

from fault_case import FaultCase

TASKS = 200


class DatabaseTest(FaultCase):
    def setUp(self):
        super().setUp()
        self.database = self.state / "gantry.db"
        # 4 KB of output each, so that there are many pages to damage.
        self.write("sweep.yaml", f"""
            command: [sh, -c, "echo {{i}} >> ran; printf %04096d {{i}}"]
            parameters: {{i: 1..{TASKS}}}
            """)
        result = self.gantry("run", "-j2", "sweep.yaml")
        self.assertEqual(result.code, 0, result)
        self.wait_until(lambda: self.agent_pid() is None, "the agent to be gone")
        self.assertEqual(self.line_count("ran"), TASKS)

    def assert_refused(self, *commands, says: str):
        """Exit status 3 and words to act on; the file stays as it is and no task runs."""
        before = self.database.read_bytes()
        for command in commands:
            result = self.gantry(*command)
            self.assertEqual(result.code, 3, result)
            self.assertIn(str(self.database), self.flat(result.stderr))
            self.assertIn(says, self.flat(result.stderr))
        self.assertEqual(self.database.read_bytes(), before, "a refused database was changed")
        self.assertEqual(self.line_count("ran"), TASKS)

    def is_damaged(self, content: bytes) -> bool:
        """In the eyes of SQLite itself."""
        path = self.dir / "looked-at.db"
        path.write_bytes(content)
        database = sqlite3.connect(path)
        try:
            return database.execute("PRAGMA integrity_check").fetchall() != [("ok",)]
        except sqlite3.DatabaseError:
            return True
        finally:
            database.close()

    RUN = ("run", "sweep.yaml")
    READ = (("status",), ("tasks", "--json"), ("results", "--json"))

    def test_newer_version(self):
        database = sqlite3.connect(self.database)
        database.execute("PRAGMA user_version = 999")
        database.close()
        self.assert_refused(self.RUN, *self.READ, says="newer")

    def test_truncated(self):
        for size in (self.database.stat().st_size // 2, 4096, 100, 1):
            with self.subTest(size=size):
                os.truncate(self.database, size)
                self.assert_refused(self.RUN, ("status",), says="damaged")

    def test_empty(self):
        os.truncate(self.database, 0)
        self.assert_refused(self.RUN, *self.READ, says="damaged")

    def test_garbage(self):
        self.database.write_bytes(self.random.randbytes(50_000))
        self.assert_refused(self.RUN, *self.READ, says="damaged")

    def test_somebody_elses_database(self):
        self.database.unlink()
        database = sqlite3.connect(self.database)
        database.execute("CREATE TABLE songs (title TEXT)")
        database.commit()
        database.close()
        self.assert_refused(self.RUN, *self.READ, says="not")

    def test_pages_overwritten_in_the_middle(self):
        good = self.database.read_bytes()
        pages = len(good) // 4096
        self.assertGreater(pages, 100)
        # A run that finds all done, because only pages were hit that hold nothing, is news too.
        told = lambda result: re.sub("last news .*", "", result.stdout)
        wholesome = {command: told(self.gantry(*command)) for command in self.READ}
        refused = 0
        for _ in range(10):
            bad = bytearray(good)
            for page in self.random.sample(range(1, pages), 3):
                bad[page * 4096:(page + 1) * 4096] = self.random.randbytes(4096)
            self.database.write_bytes(bad)
            is_damaged = self.is_damaged(bad)  # or else only pages that hold nothing were hit
            result = self.gantry(*self.RUN)
            self.assertEqual(self.line_count("ran"), TASKS, result)
            self.assertEqual(result.code, 3 if is_damaged else 0, result)
            if is_damaged:
                refused += 1
                self.assertIn("damaged", result.stderr)
                self.assertIn("sqlite3", self.flat(result.stderr))
            for command in self.READ:  # what they need may be whole, but they never tell anything else than the truth
                result = self.gantry(*command)
                if result.code == 0:
                    self.assertEqual(told(result), wholesome[command])
                else:
                    self.assertTrue(is_damaged, result)
                    self.assertEqual(result.code, 3, result)
                    self.assertIn("damaged", result.stderr)
        self.assertGreater(refused, 5)
        # The way out that the hint names: moved away, the study can be run anew.
        self.database.rename(self.dir / "moved.db")
        result = self.gantry(*self.RUN)
        self.assertEqual(result.code, 0, result)
        self.assertEqual(self.line_count("ran"), 2 * TASKS)

    def test_log_of_a_killed_gantry_is_torn(self):
        """Power loss in the middle of a write: the torn end of the write-ahead log does not count, the rest does."""
        self.write("more.yaml", """
            command: [sh, -c, 'echo {i} >> more; [ {i} -lt 90 ] || until [ -e go ]; do sleep 0.01; done']
            parameters: {i: 1..100}
            """)
        child = self.start_gantry("run", "-j2", "more.yaml", stdout=subprocess.DEVNULL)
        self.wait_until(lambda: self.line_count("more") >= 60, "60 tasks to run")
        child.kill()
        child.communicate()
        self.write("go", "")
        self.wait_until(lambda: self.agent_pid() is None, "the agent to be gone")
        log = self.state / "gantry.db-wal"
        self.assertGreater(log.stat().st_size, 4096)
        os.truncate(log, log.stat().st_size - 2000)
        result = self.gantry("run", "-j2", "more.yaml")
        self.assertEqual(result.code, 0, result)
        # What was lost from the log the agent still knows: its slots' logs are kept until it hears otherwise.
        self.assertEqual({int(line) for line in self.lines("more")}, set(range(1, 101)))
        self.assertEqual(len(self.tasks("--done")), 100)
        self.assert_journal_is_sound()


class MovedDatabaseTest(FaultCase):
    """Run numbers begin anew without it, while the agent still speaks of the old ones."""

    def setUp(self):
        super().setUp()
        self.write("old.yaml", """
            command: [sh, -c, "echo old {i}; echo {i} >> old; [ {i} -gt 2 ] || while [ ! -e go ]; do sleep 0.01; done"]
            parameters: {i: 1..8}
            """)
        self.write("new.yaml", "command: [sh, -c, 'echo new {i}; echo {i} >> new']\nparameters: {i: 1..8}\n")

    def assert_new_study_is_whole(self):
        result = self.gantry("run", "-j4", "--no-output", "new.yaml")
        self.assertEqual(result.code, 0, result)
        self.assertEqual(sorted(self.lines("new")), list("12345678"))
        for task in range(1, 9):
            self.assertEqual(self.gantry("log", str(task)).stdout, f"new {task}\n")

    def start_old_study(self):
        """Two of its tasks run on, the others have ended, when gantry and its database are gone."""
        child = self.start_gantry("run", "-j4", "old.yaml")
        self.wait_until(lambda: self.line_count("old") == 8, "the old study's tasks to run")
        child.kill()
        child.communicate()
        for name in ("gantry.db", "gantry.db-wal", "gantry.db-shm"):
            (self.state / name).unlink(missing_ok=True)

    def test_reports_of_another_study_do_not_count(self):
        self.start_old_study()
        self.write("go", "")
        self.wait_until(lambda: self.agent_pid() is None, "the agent to be gone")
        self.assert_new_study_is_whole()

    def test_tasks_of_another_study_are_not_adopted(self):
        self.start_old_study()
        child = self.start_gantry("run", "-j4", "--no-output", "new.yaml")
        self.wait_until(lambda: self.line_count("new") >= 2, "the new study to run")
        self.write("go", "")
        self.assertEqual(self.finish(child).code, 0)
        self.assert_new_study_is_whole()


class TwoAtOnceTest(FaultCase):
    def test_second_run_names_the_first(self):
        self.write("sweep.yaml", """
            command: [sh, -c, "echo {i} >> ran; while [ ! -e go ]; do sleep 0.01; done"]
            parameters: {i: 1..4}
            """)
        first = self.start_gantry("run", "-j2", "sweep.yaml")
        self.wait_until(lambda: self.line_count("ran") == 2, "two tasks to run")
        second = self.gantry("run", "-j2", "sweep.yaml")
        self.assertEqual(second.code, 3, second)
        self.assertIn(f"process {first.pid}", second.stderr)
        other = self.gantry("run", "--", "true", ":::", "1")
        self.assertEqual(other.code, 3, other)
        for command in ("status", "tasks", "runs"):  # looking is always allowed
            self.assertEqual(self.gantry(command, "--json").code, 0)
        self.assertEqual(self.line_count("ran"), 2)
        self.write("go", "")
        result = self.finish(first)
        self.assertEqual(result.code, 0, result)
        self.assertEqual(sorted(self.lines("ran")), ["1", "2", "3", "4"])
        self.assert_each_result_once(4)

    def test_many_start_at_once(self):
        """One wins; while it runs, all the others are refused."""
        self.write("sweep.yaml", """
            command: [sh, -c, "echo {i} >> ran; while [ ! -e go ]; do sleep 0.01; done"]
            parameters: {i: 1..20}
            """)
        children = [self.start_gantry("run", "-j2", "--no-output", "sweep.yaml") for _ in range(8)]
        self.wait_until(lambda: [child.poll() for child in children].count(None) == 1, "seven to be refused")
        winner = next(child for child in children if child.poll() is None)
        for child in children:
            if child is not winner:
                result = self.finish(child)
                self.assertEqual(result.code, 3, result)
                self.assertIn("another gantry", result.stderr)
        self.write("go", "")
        result = self.finish(winner)
        self.assertEqual(result.code, 0, result)
        self.assertEqual(sorted(map(int, self.lines("ran"))), list(range(1, 21)))
        self.assert_each_result_once(20)


if __name__ == "__main__":
    unittest.main()
