"""A site whose disk is full: told once, left alone for a while; the rest of the grid does the work."""
import unittest

import gantry_test
from small_disk import SmallDisk
from ssh_host import SshHost

# KiB that the agent's program takes there, and a little more.
AGENT = (gantry_test.GANTRY.parent / "gantry-agent").stat().st_size // 1024 + 500


class FullSiteTest(gantry_test.TestCase):
    def grid(self, kib):
        full_at = self.dir / "full"
        SmallDisk(self, full_at, kib)
        full = SshHost(self, "full")
        full.scratch = full_at / "scratch"
        self.write_grid(full, SshHost(self, "roomy"))

    def write_grid(self, *hosts):
        self.write("ssh_config", "".join(host.config() for host in hosts))
        self.write("grid.yaml", "sites:\n" + "".join(
            f"  {host.name}-site: {{ via: ssh, hosts: [{host.name}], slots: 2, scratch: {host.scratch},"
            f" ssh_config: {self.dir}/ssh_config }}\n" for host in hosts))

    def run_study(self, inputs):
        self.write("sweep.yaml", f"""
            command: sh work.sh {{x}} shared.bin {{x}}.bin
            parameters: {{ x: 1..20 }}
            inputs: {inputs}
        """)
        self.write("work.sh", "sleep 0.1; cat $2 $3 2>/dev/null | wc -c; echo $FAR_NAME\n")
        self.write("shared.bin", bytes(3_000_000))
        for i in range(1, 21):
            self.write(f"{i}.bin", i.to_bytes(4, "little") * 500_000)
        result = self.gantry("run", "sweep.yaml", "--grid", "grid.yaml", timeout=120)
        self.assertEqual(result.code, 0, result)
        said = " ".join(result.stderr.split())
        self.assertIn("No space left", said)
        return said

    def test_tasks_own_files_find_no_room(self):
        self.grid(AGENT + 3000)
        said = self.run_study('["{x}.bin"]')
        self.assertLessEqual(said.count("full (full-site)"), 2, said)
        for task in range(1, 21):
            self.assertEqual(self.gantry("log", str(task)).stdout.split()[0], "2000000")

    def test_a_shared_file_finds_no_room(self):
        self.grid(AGENT + 1000)
        self.run_study("[shared.bin]")
        for task in range(1, 21):
            self.assertEqual(self.gantry("log", str(task)).stdout, "3000000\nroomy\n")

    def test_the_agent_itself_finds_no_room(self):
        self.grid(1000)
        self.run_study("[shared.bin]")
        for task in range(1, 21):
            self.assertEqual(self.gantry("log", str(task)).stdout, "3000000\nroomy\n")

    def test_what_runs_there_goes_on(self):
        self.grid(AGENT + 3000)  # room for the file of one task
        self.write("sweep.yaml", f"""
            command: sh work.sh {{x}}
            parameters: {{ x: 1..6 }}
            inputs: ["{{x}}.bin"]
        """)
        self.write("work.sh", f"echo x >>{self.dir}/started-$1; while ! test -e {self.dir}/go; do sleep 0.05; done\n")
        for i in range(1, 7):
            self.write(f"{i}.bin", i.to_bytes(4, "little") * 500_000)
        with open(self.dir / "said", "wb") as said:
            run = self.start_gantry("run", "sweep.yaml", "--grid", "grid.yaml", "--no-duplicates", stderr=said)
            self.wait_until(lambda: "No space left" in self.read("said"), "the site to be full", timeout=60)
            # What was given back goes to the other host, whose two slots are taken: nothing else can start.
            self.wait_until(lambda: len(list(self.dir.glob("started-*"))) >= 3, "three tasks to run", timeout=60)
            self.write("go", "")
            run.communicate(timeout=120)
        self.assertEqual(run.returncode, 0, self.read("said"))
        for i in range(1, 7):
            self.assertEqual(self.read(f"started-{i}"), "x\n", f"task {i}")

    def test_a_host_that_lets_nobody_in_twice(self):
        picky = SshHost(self, "picky", settings=[
            'ForceCommand case "$SSH_ORIGINAL_COMMAND" in *files*) echo "Too many logins for you." >&2; exit 255;; esac; '
            'exec sh -c "$SSH_ORIGINAL_COMMAND"'])
        self.write_grid(picky, SshHost(self, "roomy"))
        self.write("sweep.yaml", """
            command: cat {x}.txt
            parameters: { x: 1..20 }
            inputs: ["{x}.txt"]
        """)
        for i in range(1, 21):
            self.write(f"{i}.txt", f"{i}\n")
        result = self.gantry("run", "sweep.yaml", "--grid", "grid.yaml", timeout=120)
        self.assertEqual(result.code, 0, result)
        said = " ".join(result.stderr.split())
        self.assertIn("picky (picky-site): it takes no tasks for a while: files cannot be brought there: Too many logins", said)
        for i in range(1, 21):
            self.assertEqual(self.gantry("log", str(i)).stdout, f"{i}\n")


if __name__ == "__main__":
    unittest.main()
