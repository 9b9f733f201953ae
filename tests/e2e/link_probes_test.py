"""A link that carries no files while tasks run is measured by small messages."""
import json

import gantry_test
import testbed

# Messages of 64 KiB take 65 ms: more than a busy machine adds to most of them.
SLOW_LINK = """
    sites:
      s1: { hosts: 1, slots: 1, link: { bandwidth: 1 MB/s, latency: 1ms } }
    """


@testbed.needed()
class LinkProbesTest(gantry_test.TestCase):
    def live_site(self, name) -> dict:
        """As live.json shows it; empty while it does not."""
        try:
            sites = json.loads((self.dir / ".gantry/live.json").read_text())["sites"]
        except (OSError, ValueError):
            return {}
        return next((site for site in sites if site["site"] == name), {})

    def test_a_silent_link_is_found_to_be_slower_than_the_grid_file_says(self):
        # The first task shows that outputs come home; the second one's still may, until the test has seen enough.
        self.write("sweep.yaml", """
            command: [sh, -c, "test {x} = 1 || until test -e /tmp/go; do sleep 0.2; done; echo {x} > out-{x}"]
            parameters: { x: [1, 2] }
            outputs: ['out-{x}']
        """)
        with testbed.up(self, SLOW_LINK) as grid:
            told = grid.grid.read_text()
            said = told.replace("bandwidth: 1 MB/s", "bandwidth: 50 MB/s, probe: 1s")
            self.assertNotEqual(said, told)
            grid.grid.write_text(said)
            run = self.start_gantry("run", "sweep.yaml", "--grid", grid.grid)

            def is_known_to_be_slow():
                self.assertIsNone(run.poll(), "it ended")
                return 0 < self.live_site("s1").get("learnt_bandwidth", 0) < 4e6
            self.wait_until(is_known_to_be_slow, "the link is known to be slow", timeout=240)
            shown = self.gantry("forecast")
            self.assertRegex(shown.stdout, r"(?m)^link to s1: probed \d+ times? while idle, carries ")
            grid.ssh("s1h1", "touch", "/tmp/go")  # its own /tmp
            _, errors = run.communicate(timeout=120)
            self.assertEqual(run.returncode, 0, errors)
