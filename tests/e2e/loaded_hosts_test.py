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
# Computes for a second of processor time, until the test has seen enough: there are more tasks than it needs.
TASKS = 100
COMPUTES = f"""
    command:
      - python3
      - -c
      - |
        import os, time
        stop = os.path.expanduser("~/stop")
        while time.process_time() < 1 and not os.path.exists(stop): pass
        print({{x}})
    parameters: {{ x: 1..{TASKS} }}
"""


@testbed.needed()
class LoadedHostTest(gantry_test.TestCase):
    def live_hosts(self) -> dict:
        """name -> what live.json shows of it; empty while it does not."""
        try:
            hosts = json.loads((self.dir / ".gantry/live.json").read_text())["hosts"]
        except (OSError, ValueError):
            return {}
        return {host["host"]: host for host in hosts}

    def wait_for_host(self, name, holds) -> dict:
        """All hosts, at the moment when this is so of one."""
        def is_so():
            hosts = self.live_hosts()
            return hosts if holds(hosts.get(name, {})) else None
        return self.wait_until(is_so, f"{name} is as expected")

    def test_a_load_shows_while_tasks_run_and_tasks_go_elsewhere(self):
        self.write("sweep.yaml", COMPUTES)
        with testbed.up(self, TWO_SITES) as grid:
            run = self.start_gantry("run", "sweep.yaml", "--grid", grid.grid, "--no-duplicates")
            for name in ("s2h1", "s1h1"):
                before = self.wait_for_host(name, lambda host: host.get("done", 0) >= 2 and "share" in host)[name]
            grid.load("s1h1", "6")
            under = self.wait_for_host("s1h1", lambda host: host.get("share", 1) < before["share"] / 2)
            self.assertGreater(under["s1h1"]["pace"], 1.5 * before["pace"])
            shown = self.gantry("forecast")
            self.assertEqual(shown.code, 0, shown)
            self.assertRegex(shown.stdout, r"(?m)^s1h1 +\d+%", "the share that its tasks get")
            # With a seventh of its speed s1h1 ends what it has begun, and no more than one or two of the next.
            then = self.wait_for_host("s2h1", lambda host: host.get("done", 0) >= under["s2h1"]["done"] + 7)
            later = {name: then[name]["done"] - under[name]["done"] for name in then}
            self.assertGreater(later["s2h1"], 2 * later["s1h1"], later)
            grid.load("s1h1", "0")
            for site in ("s1", "s2"):
                (grid.dir / f"sites/{site}/home/stop").touch()
            _, said = run.communicate(timeout=gantry_test.PATIENCE)
            self.assertEqual(run.returncode, 0, said)
        kept = self.gantry("forecast", "--json").json()["hosts"]
        self.assertEqual(sum(host["done"] for host in kept), TASKS)
