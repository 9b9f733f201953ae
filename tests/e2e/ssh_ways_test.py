"""The person's own ssh counts: its agent, jump hosts, users, and ~/.ssh/config."""
import shutil
import subprocess
import unittest

import gantry_test
import testbed
from ssh_case import SshTestCase

JOINED_SITES = """
    sites:
      s1: { hosts: 1, slots: 2, link: { bandwidth: 20 MB/s, latency: 1ms } }
      s2: { hosts: 1, slots: 2, link: { bandwidth: 20 MB/s, latency: 1ms } }
    links: [{ between: [s1, s2], bandwidth: 20 MB/s, latency: 1ms }]
    """


class AgentTest(SshTestCase):
    def test_a_key_of_the_agent_and_a_jump_host(self):
        door, inner = self.far("door"), self.far("inner")
        # The inner host's key is with the agent only, and the way to it leads through the door.
        config = inner.config().replace(f"  IdentityFile {inner.dir}/key\n  IdentitiesOnly yes\n", "  ProxyJump door\n")
        self.write_grid(inner, config=door.config() + config, keys=["user: root"])
        self.write("sweep.yaml", "command: [sh, -c, 'echo $FAR_NAME {x}']\nparameters: { x: [1, 2] }\n")
        socket = self.dir / "agent.sock"
        agent = self.start(["ssh-agent", "-D", "-a", socket], stdout=subprocess.DEVNULL)
        try:
            self.wait_until(socket.exists, "the agent")
            env = {"SSH_AUTH_SOCK": str(socket)}
            added = self.run_command(["ssh-add", inner.dir / "key"], env=env)
            self.assertEqual(added.code, 0, added)
            result = self.run_it(env=env)
            self.assertEqual(result.code, 0, result)
            self.assertEqual([self.gantry("log", x).stdout for x in "12"], ["inner 1\n", "inner 2\n"])
            self.assertIn("Accepted publickey", (door.dir / "log").read_text())
        finally:
            agent.terminate()
            agent.communicate(timeout=gantry_test.PATIENCE)

    def test_another_user_is_asked_for(self):
        host = self.far()
        self.write_grid(host, keys=["user: nobody-of-that-name"])
        self.write("sweep.yaml", "command: 'true'\n")
        result = self.run_it()
        self.assertNotEqual(result.code, 0, result)
        self.assertIn("nobody-of-that-name@", " ".join(result.stderr.split()))


@testbed.needed()
class OwnConfigTest(gantry_test.TestCase):
    def test_what_ssh_knows_of_a_host_is_enough(self):
        """gantry runs on a machine whose ~/.ssh/config, key and known_hosts know the other."""
        with testbed.up(self, JOINED_SITES) as grid:
            study = grid.dir / "sites/s1/home/study"
            study.mkdir()
            for program in ("gantry", "gantry-agent"):  # a site sees its own files only
                shutil.copy(gantry_test.GANTRY.with_name(program), study)
            (study / "sweep.yaml").write_text("command: hostname\nparameters: { x: 1..4 }\n")
            (study / "grid.yaml").write_text("sites: { other: { via: ssh, hosts: [s2h1], slots: 2 } }\n")
            result = grid.ssh("s1h1", "cd ~/study && ./gantry run sweep.yaml --grid grid.yaml --output", timeout=60)
            self.assertEqual(result.code, 0, result)
            self.assertEqual(result.stdout, 4 * "s2h1\n")
            removed = grid.ssh("s1h1", "cd ~/study && ./gantry grid remove grid.yaml other", timeout=60)
            self.assertEqual(removed.code, 0, removed)
            self.assertFalse((grid.dir / "sites/s2/home/.gantry-site").exists())


class OneLinerTest(SshTestCase):
    def test_a_one_liner_runs_at_sites(self):
        self.write_grid(self.far())
        self.write("tool.sh", "#!/bin/sh\necho \"$FAR_NAME $(cat \"$1\")\"\n", executable=True)
        for name in "ab":
            self.write(f"data/{name}.txt", name)
        result = self.gantry("run", "-k", "--grid", "grid.yaml", "--", "./tool.sh", "{}", ":::", "data/a.txt", "data/b.txt")
        self.assertEqual((result.code, result.stdout), (0, "far a\nfar b\n"), result)


if __name__ == "__main__":
    unittest.main()
