"""Outputs of tasks at a site, on their way home: whatever is in their way, they come, and their tasks have not failed."""
import contextlib
import os
import pathlib
import signal
import unittest

from small_disk import SmallDisk
from ssh_case import SshTestCase

BYTES = 6_000_000


class HomecomingTest(SshTestCase):
    def setUp(self):
        super().setUp()
        self.host = self.far()
        self.write_grid(self.host, slots=1)
        (self.dir / "marks").mkdir()

    def write_study(self, folder="."):
        self.write(f"{folder}/sweep.yaml", """
            command: sh work.sh {x} out/{x}.bin
            parameters: { x: [1] }
            inputs: [work.sh]
            outputs: ["out/{x}.bin"]
        """)
        self.write(f"{folder}/work.sh", f"""
            echo here >>"{self.dir}/marks/ran-$1"
            until test -e "{self.dir}/go"; do sleep 0.02; done
            head -c {BYTES} /dev/zero >"$2"
        """)

    def begin(self, *words, study="sweep.yaml"):
        with open(self.dir / "told", "wb") as told:
            run = self.start_gantry("run", study, "--grid", "grid.yaml", *words, stderr=told)
        self.wait_until(self.ran, "the task to run", timeout=60)
        return run

    def told(self) -> str:
        return " ".join(self.read("told").split())

    def check(self, run, folder="."):
        self.assertEqual(run.wait(120), 0, self.told())
        self.assertEqual((self.dir / folder / "out/1.bin").stat().st_size, BYTES)
        self.assertEqual(self.ran(), {1: ["here"]})

    def agents(self, word) -> list:
        """Process numbers of the host's agents that were started with this word."""
        found = []
        for entry in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = entry.read_bytes().split(b"\0")
                folder = os.readlink(entry.with_name("cwd"))
            except OSError:  # ended meanwhile
                continue
            ours = words[0].startswith(b"bin/gantry-agent") or str(self.host.scratch).encode() in words[0]
            if ours and word.encode() in words and folder.startswith(str(self.host.scratch)):
                found.append(int(entry.parent.name))
        return found

    def the_agent(self, word) -> int:
        """The one that was started with this word: for a moment there may be none, or two."""
        def only():
            found = self.agents(word)
            return found[0] if len(found) == 1 else None
        return self.wait_until(only, f"the {word} agent", timeout=60)

    @contextlib.contextmanager
    def files_held_up(self):
        server = self.the_agent("files")
        os.kill(server, signal.SIGSTOP)
        try:
            yield
        finally:
            with contextlib.suppress(ProcessLookupError):  # a host that is lost may start another
                os.kill(server, signal.SIGCONT)

    def test_the_disk_here_is_full_for_a_while(self):
        self.write_study()
        disk = SmallDisk(self, self.dir / "small", 4000)
        run = self.begin("--state", disk.path / "state")
        self.write("go", "")
        self.wait_until(lambda: "No space left" in self.told(), "the person to be told", timeout=60)
        self.assertIsNone(run.poll())
        disk.resize(20_000)
        self.check(run)  # and to another file system
        self.assertEqual(self.told().count("does not come"), 1)
        self.assertEqual([path for path in (disk.path / "state/incoming").rglob("*") if path.is_file()], [])

    def test_their_own_disk_is_full_for_a_while(self):
        self.write_study()
        disk = SmallDisk(self, self.dir / "out", 4000)
        run = self.begin()
        self.write("go", "")
        self.wait_until(lambda: "out/1.bin: No space left on device; trying again" in self.told(), "the person to be told",
                        timeout=60)
        self.wait_until(lambda: "1 coming home" in self.gantry("top").stdout, "top to show it", timeout=60)
        disk.resize(20_000)
        self.check(run)

    def test_something_is_in_their_place(self):
        self.write_study()
        (self.dir / "out/1.bin/folder").mkdir(parents=True)
        run = self.begin()
        self.write("go", "")
        self.wait_until(lambda: "trying again" in self.told(), "the person to be told", timeout=60)
        self.assertIsNone(run.poll(), "somebody may take it away")
        run.send_signal(signal.SIGINT)
        self.assertEqual(run.wait(60), 1)
        self.assertIn("outputs of 1 task stay at its site", self.told())
        self.assertIn("out/1.bin: Is a directory", self.told())
        (self.dir / "out/1.bin/folder").rmdir()
        (self.dir / "out/1.bin").rmdir()
        again = self.gantry("run", "sweep.yaml", "--grid", "grid.yaml", timeout=60)
        self.assertEqual(again.code, 0, again)
        self.assertEqual((self.dir / "out/1.bin").stat().st_size, BYTES)
        self.assertEqual(self.ran(), {1: ["here"]})

    def test_the_host_is_lost_and_found_while_they_come(self):
        self.write_study()
        run = self.begin()
        with self.files_held_up():
            self.write("go", "")
            self.wait_until(lambda: list(self.host.scratch.glob("work/*/run/*/out/1.bin")), "the output", timeout=60)
            for _ in range(2):
                relay = self.the_agent("relay")
                self.wait_until(lambda: self.state_of_host() == "up", "the host", timeout=60)
                os.kill(relay, signal.SIGKILL)
                self.wait_until(lambda: self.agents("relay") not in ([], [relay]), "another relay", timeout=60)
            self.wait_until(lambda: self.state_of_host() == "up", "the host", timeout=60)
        self.check(run)

    def test_they_are_shown_while_they_come(self):
        self.write_study()
        run = self.begin()
        with self.files_held_up():
            self.write("go", "")
            self.wait_until(lambda: "1 coming home" in self.gantry("top").stdout, "top to show it", timeout=60)
            [host] = self.gantry("top", "--json").json()["hosts"]
            self.assertEqual((host["running"], host["homeward"], host["busy"]), (0, 1, 0))
            self.assertEqual([(each["task"], each["attempt"]) for each in host["arrivals"]], [(1, 1)])
            explained = self.gantry("explain", "1", "--json").json()
            self.assertEqual((explained["state"], explained["site"]), ("running", "far-site"))
            self.assertIn("Attempt 1 has ended on far; what it made has been on its way home", explained["now"][0])
            with open(self.dir / "drained", "wb") as said:
                drain = self.start_gantry("grid", "drain", "grid.yaml", "far-site", stderr=said)
            self.wait_until(lambda: "waiting for what 1 task made there to come home" in " ".join(self.read("drained").split()),
                            "drain to say what it waits for", timeout=60)
        self.check(run)
        self.assertEqual(drain.wait(60), 0)

    def state_of_host(self) -> str:
        result = self.gantry("top", "--json")
        return result.json()["hosts"][0]["state"] if result.code == 0 else ""

    def test_they_belong_to_another_study_of_the_same_state(self):
        self.write_study("a")
        run = self.begin(study="a/sweep.yaml")
        run.kill()
        run.wait()
        self.write("go", "")
        self.wait_until(lambda: list(self.host.scratch.glob("work/*/run/*/out/1.bin")), "the output", timeout=60)
        self.write("b/sweep.yaml", "command: sh -c 'echo {x} >{x}.txt'\nparameters: { x: 1..4 }\noutputs: ['{x}.txt']\n")
        result = self.gantry("run", "b/sweep.yaml", "--grid", "grid.yaml", timeout=60)
        self.assertEqual(result.code, 0, result)
        self.assertEqual(self.read("b/4.txt"), "4\n")
        again = self.gantry("run", "a/sweep.yaml", "--grid", "grid.yaml", timeout=60)
        self.assertEqual(again.code, 0, again)
        self.assertIn("unchanged", again.stderr)
        self.assertEqual((self.dir / "a/out/1.bin").stat().st_size, BYTES)
        self.assertEqual(self.ran(), {1: ["here"]})


if __name__ == "__main__":
    unittest.main()
