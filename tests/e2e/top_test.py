"""gantry top: what sites, hosts and links do, told by a gantry that drives a run to one that looks."""
import json
import signal
import subprocess
import unittest

import gantry_test
from on_a_terminal_test import Screen
from ssh_sites_test import StudyTestCase


class Watched:
    """Of a test whose tasks wait for a file."""

    WAITING = "while ! test -e {dir}/go; do sleep 0.02; done"

    def waiting(self) -> str:
        return self.WAITING.format(dir=self.dir)

    def begin(self, *words):
        return self.start_gantry("run", *words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def top(self):
        result = self.gantry("top", "--json")
        return json.loads(result.stdout) if result.code == 0 else {}

    def wait_for_top(self, condition, what):
        def look():
            state = self.top()
            return state if condition(state) else None

        return self.wait_until(look, what, timeout=60)

    def end(self, run):
        self.write("go", "")
        self.assertEqual(run.wait(60), 0)


def running(state):
    return sum(host["running"] for host in state.get("hosts", []))


class HereTest(Watched, gantry_test.TestCase):
    def setUp(self):
        super().setUp()
        self.write("sweep.yaml", f"command: [sh, -c, 'test {{x}} = 1 || {self.waiting()}']\nparameters: {{x: 1..6}}\n")

    def test_a_run_on_this_machine_alone(self):
        run = self.begin("-j2", "sweep.yaml")
        state = self.wait_for_top(lambda s: running(s) == 2 and s["done"] == 1, "two tasks that run")
        self.assertEqual(state["pid"], run.pid)
        self.assertEqual((state["run"], state["total"]), (1, 6))
        [site] = state["sites"]
        self.assertEqual((site["site"], site["up"], site["slots"], site["busy"]), ("home", 1, 2, 2))
        [host] = state["hosts"]
        self.assertEqual((host["state"], host["done"]), ("up", 1))
        self.assertEqual([task["task"] for task in host["tasks"] if "started" in task], [2, 3])
        self.assertGreater(host["free_disk"], 0)
        once = self.gantry("top")
        self.assertEqual(once.code, 0, once)
        self.assertIn("1/6", once.stdout)
        self.assertIn("home: 1/1 host, 2/2 slots", once.stdout)
        self.assertNotIn("\x1b", once.stdout)
        self.assertLess(max(map(len, once.stdout.splitlines())), 80)
        self.end(run)
        after = self.gantry("top")
        self.assertEqual((after.code, after.stdout), (1, ""), after)
        self.assertIn("run 1 has ended", after.stderr)
        self.assertFalse((self.dir / ".gantry/live.json").exists())

    def test_explain_tells_where_tasks_are(self):
        self.write("sim.sh", f"test $1 != 1 || exit 3\n{self.waiting()}\n")
        # So many that the last has no host, however many are handed over ahead.
        self.write("sweep.yaml", """
            command: sh sim.sh {x}
            parameters: {x: 1..20000}
            retries: { count: 2, backoff: 1h, max: 1h }
        """)
        run = self.begin("-j2", "sweep.yaml")
        self.wait_for_top(lambda s: running(s) == 2 and s["retrying"] == 1, "a task that waits for its back-off")
        self.wait_until(lambda: self.gantry("explain", "1", "--json").json()["history"], "its end in the journal")
        first, second, last = self.gantry("explain", "1,2,20000", "--json").json_lines()
        self.assertEqual(first["state"], "pending")
        self.assertIn("tried again in", first["now"][0])
        self.assertEqual(first["history"][0]["host"], self.top()["hosts"][0]["host"])
        self.assertEqual((second["state"], second["site"]), ("running", "home"))
        self.assertIn("Attempt 1 runs on", second["now"][0])
        self.assertEqual(second["implied_inputs"], [str(self.dir / "sim.sh")])
        self.assertEqual((last["state"], last["host"]), ("pending", ""))
        self.assertEqual(last["now"], ["It waits for a slot: all 2 are busy."])
        self.assertIn(f"{self.dir}/sim.sh (program)", self.gantry("explain", "2").stdout)
        run.send_signal(signal.SIGINT)
        self.write("go", "")
        self.assertEqual(run.wait(60), 1)
        self.assertNotIn("now", self.gantry("explain", "2", "--json").json())

    def test_where_nothing_ever_ran(self):
        result = self.gantry("top")
        self.assertEqual(result.code, 2, result)
        self.assertIn("gantry run", result.stderr)

    def test_a_killed_gantry_shows_nothing(self):
        run = self.begin("-j2", "sweep.yaml")
        self.wait_for_top(lambda s: running(s) == 2, "two tasks that run")
        run.send_signal(signal.SIGKILL)
        run.wait()
        self.assertTrue((self.dir / ".gantry/live.json").exists())
        for words in ([], ["--json"]):
            result = self.gantry("top", *words)
            self.assertEqual((result.code, result.stdout), (1, ""), result)
            self.assertIn("interrupted", " ".join(result.stderr.split()))
        self.write("go", "")
        self.assertEqual(self.gantry("run", "-j2", "sweep.yaml").code, 0)

    def test_whatever_lies_there_is_not_believed(self):
        run = self.begin("-j2", "sweep.yaml")
        state = self.wait_for_top(lambda s: running(s) == 2, "two tasks that run")
        run.send_signal(signal.SIGSTOP)  # it cannot write over it
        self.addCleanup(run.send_signal, signal.SIGCONT)
        live = self.dir / ".gantry/live.json"
        for text in ("", "[" * 200_000, json.dumps({"pid": run.pid + 1}), " " * (9 << 20)):
            live.write_bytes(text.encode("latin-1"))
            result = self.gantry("top")
            self.assertEqual((result.code, result.stdout), (1, ""), (text[:20], result))
            self.assertIn("shows nothing yet", " ".join(result.stderr.split()))
        state["sites"][0]["site"] = state["hosts"][0]["host"] = "\x1b[2J" + 500 * "x"
        state["hosts"] = [state["hosts"][0] | {"site": 10**9, "busy": -1, "tasks": [{"task": 1e99}] * 9}] * 2000
        for hostile in (state, {"pid": run.pid}, {"pid": run.pid, "hosts": {"a": 1}, "sites": [[]], "waits": [1, None]}):
            live.write_text(json.dumps(hostile))
            for words in ([], ["--json"]):
                result = self.gantry("top", *words)
                self.assertEqual(result.code, 0, result)
                self.assertNotIn("\x1b", result.stdout)
        run.send_signal(signal.SIGCONT)
        self.wait_for_top(lambda s: running(s) == 2 and s["total"] == 6, "the truth again")
        self.end(run)

    def test_on_a_terminal(self):
        run = self.begin("-j2", "sweep.yaml")
        self.wait_for_top(lambda s: running(s) == 2, "two tasks that run")
        for leave in ("q", "\x03"):
            screen = Screen(self, "top", columns=60)
            screen.wait_for(r"(?s)home: 1/1 host.*home: 1/1 host")  # it draws again by itself
            screen.type(leave)
            self.assertEqual(screen.end(), 0)
            self.assertIn("\x1b[?1049h", screen.text)
            self.assertTrue(screen.text.rstrip().endswith("\x1b[?1049l"), screen.text[-200:])
            screen.text = screen.text.replace("\x1b[H", "\n")  # each picture begins at the top
            self.assertLess(max(map(len, screen.lines())), 60, screen.lines())
        once = Screen(self, "top", "--once")
        self.assertEqual(once.end(), 0)
        self.assertNotIn("\x1b[?1049h", once.text)
        screen = Screen(self, "top")
        screen.wait_for(r"home: 1/1 host")
        self.end(run)
        self.assertEqual(screen.end(), 0)
        self.assertIn("is no longer in progress", screen.text[screen.text.rfind("\x1b[?1049l"):])


class FarTest(Watched, StudyTestCase):
    def test_sites_their_files_and_a_host_that_is_lost(self):
        host = self.far()
        self.write_grid(host, home="{ hosts: 1, slots: 1 }", slots=2)
        self.write_study(work=f"    {self.waiting()}\n    echo sum=1 | tee \"$4\"\n")
        run = self.begin("sweep.yaml", "--grid", "grid.yaml")
        state = self.wait_for_top(lambda s: running(s) == 3, "three tasks that run")
        sites = {site["site"]: site for site in state["sites"]}
        self.assertEqual(sorted(sites), ["far-site", "home"])
        self.assertEqual([sites["far-site"][key] for key in ("up", "slots", "busy", "files", "files_of")], [1, 2, 2, 1, 1])
        far = next(host for host in state["hosts"] if host["host"] == "far")
        self.assertEqual(far["state"], "up")
        told = self.gantry("explain", str(far["tasks"][0]["task"]), "--json").json()
        self.assertEqual((told["state"], told["host"], told["site"]), ("running", "far", "far-site"))
        self.assertIn("The scheduler best chose the host", " ".join(told["now"]))
        self.assertIn("far-site: 1/1 host, 2/2 slots", self.gantry("grid", "list", "grid.yaml").stdout)
        self.assertEqual(state["sites"][far["site"]]["site"], "far-site")
        # Agents tell what their hosts have left every few seconds.
        self.wait_for_top(lambda s: any(h["host"] == "far" and h.get("free_memory", 0) > 0 for h in s["hosts"]),
                          "the far host's load")
        host.stop()
        state = self.wait_for_top(lambda s: any(h["state"] == "lost" for h in s["hosts"]), "a host that is lost")
        lost = next(h for h in state["hosts"] if h["state"] == "lost")
        self.assertEqual(lost["host"], "far")
        self.assertGreater(lost["since"], state["began"])
        self.assertRegex(self.gantry("top").stdout, r"far +lost [0-9.]+s")
        host.start()
        self.wait_for_top(lambda s: all(h["state"] == "up" for h in s["hosts"]), "the host again")
        self.end(run)


if __name__ == "__main__":
    unittest.main()
