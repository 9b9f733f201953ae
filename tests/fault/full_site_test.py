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
        hosts = [SshHost(self, "full"), SshHost(self, "roomy")]
        hosts[0].scratch = full_at / "scratch"
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


if __name__ == "__main__":
    unittest.main()
