"""A host that becomes loaded in the midst of tasks: forecasts follow at once, and tasks go elsewhere."""
import json

import gantry_test
import testbed

# Each host has two fifths of a processor, which is so much whatever else this machine does.
TWO_SITES = """
    sites:
      s1: { hosts: 1, slots: 1, speed: 0.4, link: { bandwidth: 20 MB/s, latency: 1ms } }
      s2: { hosts: 1, slots: 1, speed: 0.4, link: { bandwidth: 20 MB/s, latency: 1ms } }
    """
# Computes for a second of processor time.
COMPUTES = """
    command: [python3, -c, "import time\\nwhile time.process_time() < 1: pass\\nprint({x})"]
    parameters: { x: 1..18 }
"""


@testbed.needed()
class LoadedHostTest(gantry_test.TestCase):
    def live_host(self, name) -> dict:
        """As live.json shows it; empty while it does not."""
        try:
            hosts = json.loads((self.dir / ".gantry/live.json").read_text())["hosts"]
        except (OSError, ValueError):
            return {}
        return next((host for host in hosts if host["host"] == name), {})

    def wait_for_host(self, name, holds) -> dict:
        found = {}

        def is_so():
            found.update(self.live_host(name))
            return holds(found)
        self.wait_until(is_so, f"{name} is as expected", timeout=90)
        return found

    def test_a_load_shows_while_tasks_run_and_tasks_go_elsewhere(self):
        self.write("sweep.yaml", COMPUTES)
        with testbed.up(self, TWO_SITES) as grid:
            run = self.start_gantry("run", "sweep.yaml", "--grid", grid.grid, "--no-duplicates")
            for name in ("s2h1", "s1h1"):
                before = self.wait_for_host(name, lambda host: host.get("done", 0) >= 2 and "share" in host)
            grid.load("s1h1", "6")
            under = self.wait_for_host("s1h1", lambda host: host.get("share", 1) < before["share"] / 2)
            self.assertGreater(under["pace"], 1.5 * before["pace"])
            shown = self.gantry("forecast")
            self.assertEqual(shown.code, 0, shown)
            self.assertRegex(shown.stdout, r"(?m)^s1h1 +\d+%", "the share that its tasks get")
            there = {name: self.live_host(name).get("done", 0) for name in ("s1h1", "s2h1")}
            _, said = run.communicate(timeout=180)
            self.assertEqual(run.returncode, 0, said)
        kept = {host["host"]: host for host in self.gantry("forecast", "--json").json()["hosts"]}
        later = {name: kept[name]["done"] - there[name] for name in there}
        self.assertEqual(sum(host["done"] for host in kept.values()), 18)
        self.assertGreater(later["s2h1"], 2 * later["s1h1"], later)
