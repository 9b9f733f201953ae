"""What tests of broken grids share: a study with a shared file whose tasks leave a mark wherever they start, and what must be
true of its results in the end."""
import collections
import random
import subprocess

import gantry_test

PATIENCE = 240  # for the most loaded machine
SHARED_BYTES = 1_000_000


class GridCase(gantry_test.TestCase):
    TASKS = 0
    SLEEP = 0.2
    OPTIONS = ()  # of gantry run

    def setUp(self):
        super().setUp()
        self.dice = random.Random(self.id())
        self.grid_dir = None  # of the testbed
        self.write("sweep.yaml", f"""
            command: sh work.sh {{x}} shared.bin out/{{x}}.txt
            parameters: {{ x: 1..{self.TASKS} }}
            inputs: [shared.bin]
            outputs: ["out/{{x}}.txt"]
            results:
              bytes: {{ stdout: 'bytes=(\\d+)' }}
        """)
        # Whatever starts is marked in the home folder of its site.
        self.write("work.sh", f"""
            mkdir -p ~/marks && echo "$(hostname)" >>~/marks/$1
            sleep {self.SLEEP}
            echo "bytes=$(wc -c <"$2")"
            echo "$1" >"$3"
        """)
        self.write("shared.bin", self.dice.randbytes(SHARED_BYTES))

    def start_run(self, grid):
        return self.start_gantry("run", "sweep.yaml", "--grid", grid.grid, *self.OPTIONS)

    def ended(self) -> int:
        folder = self.dir / "out"
        return len(list(folder.iterdir())) if folder.exists() else 0

    def wait_for_ends(self, count):
        self.wait_until(lambda: self.ended() >= count, f"{count} outputs", timeout=PATIENCE)

    def finish(self, run) -> str:
        _, err = run.communicate(timeout=PATIENCE)
        self.assertEqual(run.returncode, 0, err.decode())
        self.check_results()
        return err.decode()

    def check_results(self):
        everyone = range(1, self.TASKS + 1)
        self.assertEqual(sorted(int(path.stem) for path in (self.dir / "out").iterdir()), list(everyone))
        for i in everyone:
            self.assertEqual(self.read(f"out/{i}.txt"), f"{i}\n")
        rows = self.gantry("results", "--json").json_lines()
        self.assertEqual([row["task"] for row in rows], list(everyone))
        self.assertEqual([row for row in rows if row["results"]["bytes"] != SHARED_BYTES], [])

    def again(self) -> list:
        """Tasks that were started more than once."""
        starts = collections.Counter()
        for path in self.grid_dir.glob("sites/*/home/marks/*"):
            starts[path.name] += len(path.read_text().split())
        self.assertEqual(len(starts), self.TASKS)
        again = [task for task, count in starts.items() if count > 1]
        print(f"{len(again)} tasks were started again", flush=True)
        return again

    def damage_shared_file(self, grid, host):
        found = grid.ssh(host, f"for f in /root/gantry/depot/??/*; do test $(wc -c <$f) = {SHARED_BYTES} && "
                               "chmod u+w $f && echo rubbish >$f; done; true")
        self.assertEqual(found.code, 0, found)


def sshd_processes(host, testbed_name) -> list:
    """The processes of one host's sshd."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()]
    [sshd] = [pid for pid, _, args in rows if f"hosts/{host}/sshd_config" in args and f"/{testbed_name}/" in args]
    return [int(pid) for pid, parent, _ in rows if sshd in (pid, parent)]
