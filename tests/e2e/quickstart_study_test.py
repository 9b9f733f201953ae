"""The example of the README as a person sees it: a table, where things are, and nothing to do a second time."""
import shutil

import gantry_test


class QuickstartStudyTest(gantry_test.TestCase):
    def setUp(self):
        super().setUp()
        shutil.copytree(gantry_test.ROOT / "examples" / "quickstart", self.dir / "examples" / "quickstart")
        self.sweep = "examples/quickstart/sweep.yaml"

    def test_the_study_runs_and_is_known_afterwards(self):
        first = self.gantry("run", self.sweep, timeout=120)
        self.assertEqual(first.code, 0, first)
        header = first.stdout.splitlines()[0].split()
        self.assertEqual(header, ["task", "start", "strength", "peak", "peak_day", "infected"])
        self.assertIn("80 done", first.stderr)
        self.assertIn(str(self.state), first.stderr)
        self.assertIn("gantry results", first.stdout + first.stderr)

        rows = self.gantry("results", "--json").json_lines()
        self.assertEqual(len(rows), 80)
        csv = self.gantry("results", "--csv").stdout.splitlines()
        self.assertEqual((csv[0], len(csv)), ("task,start,strength,peak,peak_day,infected", 81))
        plot = self.gantry("results", "--plot", "start", "peak", "--by", "strength")
        self.assertEqual(plot.code, 0, plot)
        self.assertIn("strength=0.9", plot.stdout)

        again = self.gantry("run", self.sweep)
        self.assertEqual(again.code, 0, again)
        self.assertIn("80 unchanged", again.stderr)
        self.assertEqual(again.stdout, first.stdout)
