"""A gantry is killed, and one of its sites cannot be reached when the next one goes on: what ran there all the time counts."""
import json
import os
import signal

import gantry_test
import testbed

ONE_SITE = """
    sites:
      s1: { hosts: 1, slots: 2, link: { bandwidth: 8 MB/s, latency: 5ms } }
    """


@testbed.needed()
class UnheardHostTest(gantry_test.TestCase):
    def write_grid(self, grid, slots_at_home):
        text = self.told.replace("sites:\n", f"sites:\n  home: {{ hosts: 1, slots: {slots_at_home} }}\n", 1)
        grid.grid.write_text(text)

    def attempts(self, at_home) -> list:
        """Of tasks that run, as live.json shows them."""
        try:
            state = json.loads((self.dir / ".gantry/live.json").read_text())
        except (OSError, ValueError):
            return []
        hosts = [host for host in state["hosts"] if (host["host"] == "s1h1") != at_home]
        return sorted((task["task"], task["attempt"]) for host in hosts for task in host.get("tasks", []))

    def test_what_it_has_done_meanwhile_counts(self):
        self.check_numbers()

    def test_it_is_known_without_what_was_shown(self):
        """live.json is for people: whoever removes it takes nothing from the next gantry."""
        self.check_numbers(after_kill=lambda: (self.state / "live.json").unlink())

    def check_numbers(self, after_kill=lambda: None):
        # At home second attempts fail; at the site all tasks wait for a sign.
        self.write("work.sh", """
            if [ "$(hostname)" = s1h1 ]; then
              until test -e /tmp/go; do sleep 0.2; done; echo who=s1h1; exit 0
            fi
            until test -e "$2"; do sleep 0.2; done; echo who=home; test "$GANTRY_ATTEMPT" = 1
        """)
        self.write("sweep.yaml", """
            command: sh work.sh {x} %s
            parameters: { x: 1..3 }
            inputs: [work.sh]
            results: { who: { stdout: 'who=(\\S+)' } }
        """ % (self.dir / "go"))
        with testbed.up(self, ONE_SITE) as grid:
            self.told = grid.grid.read_text()
            self.write_grid(grid, 1)
            words = ("run", "sweep.yaml", "--no-duplicates", "--scheduler", "workqueue", "--grid", grid.grid)
            first = self.start_gantry(*words)
            self.wait_until(lambda: len(self.attempts(False)) == 2 and len(self.attempts(True)) == 1, "all tasks run")
            there = [task for task, _ in self.attempts(False)]
            os.kill(first.pid, signal.SIGKILL)
            first.communicate()
            grid.cut("s1")
            after_kill()
            self.write_grid(grid, 3)
            run = self.start_gantry(*words)
            self.wait_until(lambda: len(self.attempts(True)) == 3, "those of the site run here, too")
            again = dict(self.attempts(True))
            self.assertEqual([again[task] for task in there], [2, 2], "a number is never used twice")
            grid.mend("s1")
            self.wait_until(lambda: len(self.attempts(False)) == 2, "they are found there")
            grid.ssh("s1h1", "touch", "/tmp/go")
            self.wait_until(lambda: self.gantry("status", "--json").json()["done"] == 2, "their ends count")
            (self.dir / "go").touch()
            _, errors = run.communicate(timeout=gantry_test.PATIENCE)
            self.assertEqual(run.returncode, 0, errors.decode())
        who = {row["task"]: row["results"]["who"] for row in self.gantry("results", "--json").json_lines()}
        self.assertEqual([who[task] for task in there], ["s1h1", "s1h1"], who)
