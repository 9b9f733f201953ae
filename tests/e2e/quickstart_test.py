"""The study of the README: it must run as shown there, and say what its own README says it shows."""
import csv
import io
import shutil

import gantry_test


class QuickstartTest(gantry_test.TestCase):
    def setUp(self):
        super().setUp()
        self.study = self.dir / "quickstart"
        shutil.copytree(gantry_test.ROOT / "examples" / "quickstart", self.study,
                        ignore=shutil.ignore_patterns(".gantry", "__pycache__"))
        # Debian's Python: a version manager's stand-in takes longer to start than the study to compute.
        self.env["PATH"] = f"/usr/bin:{self.env['PATH']}"

    def run_study(self):
        result = self.gantry("run", "quickstart/sweep.yaml")
        self.assertEqual(result.code, 0, result)

    def rows(self):
        result = self.gantry("results", "--csv")
        self.assertEqual(result.code, 0, result)
        return {(row["start"], row["strength"]): row for row in csv.DictReader(io.StringIO(result.stdout))}

    def test_the_study_finds_what_its_readme_says(self):
        self.run_study()
        rows = self.rows()
        self.assertEqual(len(rows), 80)  # 20 days x 4 strengths
        best = min(rows.values(), key=lambda row: float(row["peak"]))
        self.assertEqual((best["start"], best["strength"], best["peak_day"]), ("24", "0.4", "62"), best)
        # Strict from the first day on: the wave only comes later. Without restrictions its peak is 23.35 %.
        self.assertGreater(float(rows["0", "0.9"]["peak"]), 23.0)
        plot = self.gantry("results", "--plot", "start", "peak", "--by", "strength")
        self.assertEqual(plot.code, 0, plot)
        self.assertGreater(len(plot.stdout.splitlines()), 8, plot)

    def test_only_what_a_change_touches_runs_again(self):
        self.write("python3", '#!/bin/sh\necho >>"$COUNT"\nexec /usr/bin/python3 "$@"\n', executable=True)
        self.env["PATH"] = f"{self.dir}:{self.env['PATH']}"
        self.env["COUNT"] = str(self.dir / "count")
        self.run_study()
        self.run_study()
        self.assertEqual(len(self.read("count")), 80)
        sweep = self.study / "sweep.yaml"
        sweep.write_text(sweep.read_text().replace("[0.4, 0.6,", "[0.4, 0.5, 0.6,"))
        self.run_study()
        self.assertEqual(len(self.read("count")), 100)
        self.assertEqual(len(self.rows()), 100)
        program = self.study / "epidemic.py"
        program.write_text(program.read_text() + "# changed\n")
        self.run_study()
        self.assertEqual(len(self.read("count")), 200)
