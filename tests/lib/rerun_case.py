"""For tests of what runs again: a sweep whose tasks tell that they ran."""
import gantry_test


class RerunCase(gantry_test.TestCase):
    def setUp(self):
        super().setUp()
        self.seen = 0

    def run_sweep(self, *options, code=0, name="sweep.yaml", **more):
        """Runs and tells which tasks ran: each appends a line to the file `ran`."""
        result = self.gantry("run", *options, name, **more)
        self.assertEqual(result.code, code, result)
        self.last = result
        return self.ran()

    def ran(self):
        lines = self.read("ran").splitlines() if (self.dir / "ran").exists() else []
        new, self.seen = lines[self.seen:], len(lines)
        return sorted(new)

    def summary(self, *options):
        result = self.gantry("run", "--json", *options, "sweep.yaml")
        return result.json_lines()[-1]
