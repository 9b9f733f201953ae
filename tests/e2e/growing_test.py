"""A run grows with its study, whoever began it."""
import sqlite3

import gantry_test
from rerun_case import RerunCase


class GrowingTest(RerunCase):
    """A study that gets more values goes on as the same run."""

    def values(self):
        """Of all tasks, in the order of their numbers."""
        return [" ".join(row.split(",")[1:]) for row in self.gantry("results", "--csv").stdout.splitlines()[1:]]

    def write_sweep(self, parameters, more=""):
        self.write("sweep.yaml", f"""
            command: [sh, -c, 'echo {{x}}{{y}} >> ran; echo n={{#}}; test -e fixed -o {{x}}{{y}} != b2']
            parameters: {parameters}
            results: {{n: 'n=(.*)'}}
            {more}
            """)

    def test_values_in_the_middle_of_a_product(self):
        self.write("fixed", "")
        self.write_sweep("{x: [a, c], y: [1, 3]}")
        self.assertEqual(self.run_sweep(), ["a1", "a3", "c1", "c3"])
        self.write_sweep("{x: [a, b, c], y: [1, 2, 3]}")
        shown = [row["parameters"] for row in self.gantry("run", "--dry-run", "--json", "sweep.yaml").json_lines()]
        self.assertEqual([f"{row['x']}{row['y']}" for row in shown], ["a1", "a3", "c1", "c3", "a2", "b1", "b2", "b3", "c2"])
        self.assertEqual(self.run_sweep(), ["a2", "b1", "b2", "b3", "c2"])
        self.assertIn("run 1 goes on with 5 new tasks\n", self.last.stderr)
        # Task n is told its own number: the old ones keep theirs.
        self.assertEqual(self.values(), ["a 1 1", "a 3 2", "c 1 3", "c 3 4", "a 2 5", "b 1 6", "b 2 7", "b 3 8", "c 2 9"])
        self.assertEqual(self.run_sweep(), [])
        self.assertEqual(self.gantry("retry", "7,2").code, 0)
        self.assertEqual(self.ran(), ["a3", "b2"])
        self.assertIn('"b"', self.gantry("explain", "7", "--json").stdout)

    def test_what_failed_and_what_was_never_started(self):
        self.write_sweep("{x: [b], y: [2, 3, 4]}")
        self.assertEqual(self.run_sweep("-j1", "--max-fails", "1", code=1), ["b2"])
        self.write_sweep("{x: [b], y: [1, 2, 3, 4]}")
        self.write("fixed", "")
        self.assertEqual(self.run_sweep(), ["b1", "b2", "b3", "b4"])
        self.assertEqual(self.values(), ["b 2 1", "b 3 2", "b 4 3", "b 1 4"])
        self.assertEqual([run["run"] for run in self.gantry("runs", "--json").json_lines()], [1])

    def test_rows_and_lines_and_files(self):
        self.write("fixed", "")
        self.write("table.csv", "x,y\na,1\n")
        self.write_sweep("{x: {csv: table.csv}, y: {csv: table.csv}}")
        self.assertEqual(self.run_sweep(), ["a1"])
        self.write("table.csv", "x,y\nb,7\na,1\n")
        self.assertEqual(self.gantry("explain", "1").code, 0)
        self.assertEqual(self.gantry("retry", "1").code, 0, "the stored run has the table that it began with")
        self.assertEqual(self.ran(), ["a1"])
        self.assertEqual(self.run_sweep(), ["b7"])
        self.assertEqual(self.values(), ["a 1 1", "b 7 2"])
        for n, values in ((1, "p"), (2, "op"), (2, "op")):
            self.write("list", "".join(f"{value}\n" for value in values))
            for value in values:
                self.write(f"{value}.in", "")
            for words in (["sh", "-c", "echo $0", "{}", "::::", "list"], ["lines.yaml"]):
                self.write("lines.yaml", "command: echo {l} {f}\nparameters: {l: {lines: list}, f: {glob: '*.in'}}\n"
                                         "combine: zip\n")
                result = self.gantry("run", *words)
                self.assertEqual(result.code, 0, result)
                self.assertEqual(self.gantry("status", "--json").json()["total"], n)
        self.assertEqual([run["total"] for run in self.gantry("runs", "--json").json_lines()], [2, 2, 2])

    def test_a_sample_with_more_points(self):
        for n in (3, 5):
            self.write("sweep.yaml", f"command: [sh, -c, 'echo {{x}} >> ran']\nparameters: {{x: {{uniform: [0, 1]}}}}\n"
                                     f"sample: {{method: random, n: {n}}}\n")
            self.assertEqual(len(self.run_sweep()), n if n == 3 else 2)
        self.assertEqual(self.gantry("status", "--json").json()["run"], 1)

    def test_while_its_tasks_still_run_without_a_gantry(self):
        self.write("sweep.yaml", "command: [sh, -c, 'echo {x} >> ran; test {x} != b || until test -e go; do sleep 0.05; done']\n"
                                 "parameters: {x: [b]}\n")
        run = self.start_gantry("run", "sweep.yaml")
        self.wait_until(lambda: (self.dir / "ran").exists(), "the task starts")
        run.kill()
        run.communicate()
        self.write("sweep.yaml", self.read("sweep.yaml").replace("[b]", "[a, b]"))
        again = self.start_gantry("run", "-j2", "sweep.yaml")
        self.wait_until(lambda: "a" in self.read("ran"), "the new task starts beside it")
        self.write("go", "")
        again.communicate(timeout=gantry_test.PATIENCE)
        self.assertEqual(again.returncode, 0)
        self.assertEqual(self.ran(), ["a", "b"], "nothing ran twice")
        self.assertEqual(self.gantry("status", "--json").json()["done"], 2)


class OlderStateTest(RerunCase):
    @staticmethod
    def without_version_7(database):
        for table, column in (("runs", "study"), ("runs", "last_seq"), ("sources", "numbering"), ("sources", "data"),
                              ("requests", "study"), ("events", "memory_limit"), ("events", "changed_input")):
            database.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
        database.execute("DROP TABLE given_hosts")
        database.execute("DROP TABLE answers")
        database.execute("DROP TABLE result_index")
        database.execute("DROP TABLE snapshots")
        database.execute("DELETE FROM events WHERE kind IN ('added', 'closed')")
        database.execute("PRAGMA user_version = 6")

    def test_a_run_of_version_6_goes_on_and_grows(self):
        self.write("sweep.yaml", "command: [sh, -c, 'echo {x} >> ran; test -e fixed -o {x} != 2']\nparameters: {x: [1, 2, 3]}\n")
        self.assertEqual(self.run_sweep(code=1), ["1", "2", "3"])
        with sqlite3.connect(self.dir / ".gantry" / "gantry.db") as database:
            self.without_version_7(database)
        database.close()
        self.assertEqual(self.gantry("status", "--json").json()["failed"], 1)
        self.write("fixed", "")
        self.assertEqual(self.run_sweep(), ["2"])
        self.assertEqual(self.gantry("status", "--json").json()["run"], 1)
        self.write("sweep.yaml", self.read("sweep.yaml").replace("[1, 2, 3]", "[0, 1, 2, 3]"))
        self.assertEqual(self.run_sweep(), ["0"])
        status = self.gantry("status", "--json").json()
        self.assertEqual((status["run"], status["total"], status["done"]), (1, 4, 4))
        self.assertEqual(self.run_sweep(), [])

    def test_it_is_read_and_its_tasks_run_again_with_the_reason(self):
        self.write("sweep.yaml", "command: [sh, -c, 'echo v={x}']\nparameters: {x: [1, 2]}\nresults: {v: 'v=(.)'}\n")
        self.run_sweep()
        before = self.gantry("results", "--csv").stdout
        with sqlite3.connect(self.dir / ".gantry" / "gantry.db") as database:
            database.execute("ALTER TABLE runs DROP COLUMN result_rules")
            database.execute("ALTER TABLE requests DROP COLUMN sites")
            database.execute("ALTER TABLE runs DROP COLUMN eta_soonest")
            database.execute("ALTER TABLE runs DROP COLUMN eta_latest")
            database.execute("DROP TABLE learned")
            self.without_version_7(database)
            database.execute("UPDATE events SET command_digest = zeroblob(15) || x'01'")
            database.execute("PRAGMA user_version = 2")
        database.close()
        self.assertEqual(self.gantry("results", "--csv").stdout, before)
        self.assertEqual(self.gantry("status").code, 0)
        self.run_sweep()
        self.assertIn("2 finished tasks run again: recorded by an older gantry\n", self.last.stderr)
