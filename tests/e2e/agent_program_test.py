"""The agent's program at a site: one file that needs nothing there, and is the one that belongs to the gantry that asks."""
import shutil
import signal
import subprocess
import unittest

import gantry_test
from ssh_case import SshTestCase

AGENT = gantry_test.GANTRY.with_name("gantry-agent")


class AgentProgramTest(SshTestCase):
    def setUp(self):
        super().setUp()
        self.host = self.far()
        self.write_grid(self.host)
        (self.dir / "marks").mkdir()
        self.write("work.sh", f"""
            echo "$(readlink /proc/$PPID/exe)" >>"{self.dir}/marks/ran-$1"
            until test -e "{self.dir}/go"; do sleep 0.02; done
        """)
        self.write("sweep.yaml", "command: sh work.sh {x}\nparameters: { x: 1..6 }\n")

    def programs(self) -> list:
        return sorted(path.name for path in (self.host.scratch / "bin").iterdir())

    def other_build(self):
        """The same programs, but for a byte: as after an upgrade."""
        (self.dir / "other").mkdir()
        for program in (gantry_test.GANTRY, AGENT):
            shutil.copy(program, self.dir / "other")
        with open(self.dir / "other/gantry-agent", "ab") as agent:
            agent.write(b"\n")
        return self.dir / "other/gantry"

    def test_it_needs_no_library(self):
        if b"__asan" in AGENT.read_bytes() or b"__tsan" in AGENT.read_bytes():
            self.skipTest("a sanitizer cannot be linked statically")
        headers = self.run_command(["readelf", "--program-headers", "--wide", AGENT]).stdout
        self.assertIn("LOAD", headers)
        self.assertNotIn("INTERP", headers)
        self.assertNotIn("DYNAMIC", headers)

    def test_another_build_brings_its_own_and_goes_on_with_what_runs(self):
        run = self.start_gantry("run", "sweep.yaml", "--grid", "grid.yaml", stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)
        self.wait_until(lambda: len(self.ran()) == 2, "two tasks to run", timeout=60)
        [first] = self.programs()
        run.send_signal(signal.SIGKILL)
        run.wait()
        other = self.start([self.other_build(), "run", "sweep.yaml", "--grid", "grid.yaml"])
        self.wait_until(lambda: len(self.programs()) == 2, "the other program", timeout=60)
        self.write("go", "")
        _, err = other.communicate(timeout=60)
        self.assertEqual(other.returncode, 0, err.decode())
        self.assertEqual({task: len(by) for task, by in self.ran().items()}, {task: 1 for task in range(1, 7)})
        # Once the old one has ended, nobody starts it again.
        [second] = set(self.programs()) - {first}
        for path in (self.dir / "marks").iterdir():
            path.unlink()
        again = self.run_command([self.dir / "other/gantry", "run", "sweep.yaml", "--grid", "grid.yaml", "--fresh"])
        self.assertEqual(again.code, 0, again)
        self.assertEqual({path.rpartition("/")[2] for [path] in self.ran().values()}, {second})


if __name__ == "__main__":
    unittest.main()
