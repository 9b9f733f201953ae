"""A site's store of files: what several tasks read is there once, known by its content, for later studies and other people's
state directories, within its quota; what a run uses stays."""
import unittest

from ssh_case import SshTestCase

BYTES = 300_000
QUOTA = "depot: 700 kB"  # two of them


class DepotTest(SshTestCase):
    def setUp(self):
        super().setUp()
        self.host = self.far()
        self.write_grid(self.host, keys=[QUOTA])
        for name in "abc":
            self.write(f"{name}.bin", name.encode() * BYTES)
            self.write(f"{name}.yaml", f"command: cksum {name}.bin\nparameters: {{ x: [1, 2] }}\ninputs: [{name}.bin]\n")

    def there(self) -> str:
        """Which of the files the depot has."""
        return "".join(sorted(path.read_text()[0] for path in self.host.scratch.glob("depot/??/*")))

    def run_study(self, name, *words):
        result = self.gantry("run", f"{name}.yaml", "--grid", "grid.yaml", "--fresh", *words, timeout=60)
        self.assertEqual(result.code, 0, result)

    def test_what_was_not_used_for_longest_goes(self):
        for name, there in (("a", "a"), ("b", "ab"), ("a", "ab"), ("c", "ac"), ("b", "bc")):
            self.run_study(name)
            self.assertEqual(self.there(), there, name)

    def test_what_a_run_uses_stays(self):
        self.write("a.yaml", f"""
            command: [sh, -c, 'until test -e {self.dir}/go; do sleep 0.02; done; cksum a.bin']
            parameters: {{ x: [1, 2] }}
            inputs: [a.bin]
        """)
        held = self.start_gantry("run", "a.yaml", "--grid", "grid.yaml")
        self.wait_until(lambda: self.there() == "a", "the file", timeout=60)
        for name in "bcb":  # of another state directory
            self.run_study(name, "--state", self.dir / "other")
            self.assertEqual(self.there(), "".join(sorted("a" + name)))
        self.write("go", "")
        _, err = held.communicate(timeout=60)
        self.assertEqual(held.returncode, 0, err.decode())


if __name__ == "__main__":
    unittest.main()
