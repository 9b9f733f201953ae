"""`gantry simulate`: tables, pictures and JSON of the papers' experiments; interrupted, killed and resumed; ETC instances."""
import csv
import json
import os
import pty
import re
import signal
import xml.dom.minidom

import gantry_test

FAST = ("--schedulers", "workqueue,xsufferage")


class SimulateCase(gantry_test.TestCase):
    def simulate(self, *words, code=0, **options):
        result = self.gantry("simulate", *words, **options)
        self.assertEqual(result.code, code, result)
        return result

    def rows(self, name, out="simulate"):
        lines = self.read(f"{out}/{name}.csv").splitlines()
        self.assertTrue(lines[0].startswith("# gantry "), lines[0])
        return sorted(tuple(row.items()) for row in csv.DictReader(lines[1:]))


class TablesTest(SimulateCase):
    def test_without_a_name_lists_what_there_is(self):
        text = self.simulate().stdout
        for name in ("psa-table1", "psa-filesize", "psa-qoi", "apst-sites", "etc", "forecasts"):
            self.assertRegex(text, rf"(?m)^{name} +\w")
        self.assertFalse((self.dir / "simulate").exists())

    def test_a_table_a_point_with_csv_and_picture(self):
        lines = self.simulate("psa-table1", "--cases", "2", *FAST).stdout.splitlines()
        self.assertLessEqual(max(map(len, lines)), 80)
        self.assertEqual(lines[0], "no perturbation (2 cases)")
        self.assertRegex(lines[1], r"^scheduler +geometric mean s +above best % +average rank +x bound$")
        self.assertRegex(lines[2], r"^workqueue +[\d.]+ +[\d.]+ +[\d.]+ +[\d.]+$")
        self.assertIn("perturbation (2 cases)", lines[4:])
        rows = self.rows("psa-table1")
        self.assertEqual(len(rows), 2 * 2 * 2)
        for row in map(dict, rows):
            self.assertGreater(float(row["makespan_s"]), float(row["bound_data_s"]))
        xml.dom.minidom.parse(str(self.dir / "simulate/psa-table1.svg"))

    def test_many_points_are_compared_in_one_table(self):
        for name, points in (("psa-filesize", 11), ("apst-sites", 4), ("psa-qoi", 44)):
            lines = self.simulate(name, "--cases", "1", *FAST, "--out", "there").stdout.splitlines()
            self.assertEqual(len(lines), 1 + points, lines)
            self.assertLessEqual(max(map(len, lines)), 80)
            self.assertRegex(lines[0], r"^mean makespan s +workqueue +xsufferage$")
            picture = xml.dom.minidom.parse(str(self.dir / f"there/{name}.svg"))
            self.assertEqual(picture.documentElement.tagName, "svg")

    def test_says_how_good_forecasts_are(self):
        for name, key, values in (("eta", "share_done", 8), ("apst-forecasts", "ended_on_host", 4)):
            found = [json.loads(line) for line in self.simulate(
                name, "--cases", "2", "--schedulers", "best", "--json").stdout.splitlines()]
            self.assertGreaterEqual(len({row[key] for row in found}), values, found)
            for row in found:
                self.assertGreaterEqual(row["median_error"], 0)
                self.assertLess(row["median_error"], 1, row)
            shown = self.simulate(name, "--cases", "1", "--schedulers", "best").stdout
            self.assertIn("median error %", shown)
        self.assertIn("has no files", self.simulate("eta", "x", code=2).stderr)

    def test_says_how_good_etas_of_small_erratic_runs_are(self):
        found = {}
        for kind in ("steady", "steps", "turns", "heavy", "dying"):
            rows = [json.loads(line) for line in self.simulate(
                "eta", "--kind", kind, "--cases", "3", "--json").stdout.splitlines()]
            self.assertEqual([row["share_done"] for row in rows], 3 * [0.1, 0.2, 0.5, 0.8])
            self.assertEqual([row["hosts"] for row in rows], 4 * ["one"] + 4 * ["several"] + 4 * ["unequal"])
            self.assertEqual({row["scheduler"] for row in rows}, {"workqueue"})
            found[kind] = [row["median_width"] for row in rows]
        self.assertEqual(len(set(map(tuple, found.values()))), 5, found)
        self.assertIn("--kind", self.simulate("eta", "--kind", "odd", code=2).stderr)
        self.assertIn("--kind is for", self.simulate("etc", "--kind", "steps", code=2).stderr)

    def test_json_has_each_point_and_scheduler(self):
        found = self.simulate("apst-sites", "--cases", "2", *FAST, "--json").json()
        self.assertEqual((found["experiment"], found["seed"], found["cases"], found["complete"]),
                         ("apst-sites", 1, 2, True))
        self.assertEqual(len(found["points"]), 4)
        for point in found["points"]:
            self.assertEqual([one["scheduler"] for one in point["schedulers"]], ["workqueue", "xsufferage"])
            for one in point["schedulers"]:
                self.assertLessEqual(one["mean_s_low"], one["mean_s_high"])
                self.assertGreater(one["distance"], 1)

    def test_wrong_words_are_met_with_advice(self):
        for words, has in ((("nonsense",), "psa-table1"), (("psa-table1", "--schedulers", "magic"), "xsufferage"),
                           (("psa-table1", "--cases", "0"), "--cases"), (("psa-table1", "more"), "more"),
                           (("psa-table1", "--schedulers", "best,best"), "twice"),
                           (("apst-sites", "--bandwidth-scale", "2"), "--bandwidth-scale"),
                           (("psa-table1", "--bandwidth-scale", "nan"), "not 'nan'"),
                           (("psa-table1", "--bandwidth-scale", "inf"), "from 1e-06 to 1000000, not 'inf'"),
                           (("psa-table1", "--bandwidth-scale", "0"), "not '0'"),
                           (("psa-table1", "--optimize", "1s"), "--optimize"),
                           (("etc", "--optimize", "soon"), "soon"), (("etc", "--cases", "2"), "--cases"),
                           (("forecasts", "--schedulers", "best"), "--schedulers")):
            result = self.simulate(*words, code=2)
            self.assertIn(has, result.stderr, result)
            self.assertEqual(result.stdout, "")

    def test_a_folder_that_cannot_be_written_is_the_machines_fault(self):
        self.write("file", "no folder")
        self.simulate("apst-sites", *FAST, "--out", "file/below", code=3)
        full = self.simulate("apst-sites", "--cases", "1", *FAST, "--out", "full", code=3,
                             **self.with_full_disk())
        self.assertIn("apst-sites.csv", full.stderr)

    def with_full_disk(self):
        """Every write to the CSV fails: /dev/full stands in its place."""
        (self.dir / "full").mkdir()
        (self.dir / "full/apst-sites.csv").symlink_to("/dev/full")
        return {}


class ResumeTest(SimulateCase):
    CASES = 2
    WORDS = ("psa-filesize", "--cases", str(CASES), "--jobs", "1", *FAST)
    ENDLESS = ("psa-filesize", "--cases", "5000", "--jobs", "1", *FAST)  # of which those are the first

    def setUp(self):
        super().setUp()
        self.simulate(*self.WORDS, "--out", "whole")
        self.whole = self.rows("psa-filesize", "whole")

    def lines(self):
        path = self.dir / "simulate/psa-filesize.csv"
        return path.read_text().count("\n") if path.exists() else 0

    def known(self):
        """Of the trials that are kept, those of a study that ends."""
        return [row for row in self.rows("psa-filesize") if int(dict(row)["repetition"]) < self.CASES]

    def started(self):
        child = self.start_gantry("simulate", *self.ENDLESS)
        self.wait_until(lambda: self.lines() > 8, "some trials")
        return child

    def test_a_study_goes_on_after_ctrl_c(self):
        child = self.started()
        child.send_signal(signal.SIGINT)
        stdout, stderr = child.communicate(timeout=gantry_test.PATIENCE)
        self.assertEqual(child.returncode, 1, stderr)
        self.assertIn(b"interrupted", stderr)
        self.assertIn(b"mean makespan", stdout)
        self.assertGreater(len(self.rows("psa-filesize")), 6)
        kept = self.known()
        self.assertGreater(len(kept), 0)
        self.assertLess(len(kept), len(self.whole))
        self.assertLessEqual(set(kept), set(self.whole))
        again = self.simulate(*self.WORDS)
        self.assertIn("trials are known", again.stderr)
        self.assertEqual(self.known(), self.whole)

    def test_a_study_goes_on_after_a_kill_in_the_middle_of_a_line(self):
        child = self.started()
        child.kill()
        child.communicate(timeout=gantry_test.PATIENCE)
        path = self.dir / "simulate/psa-filesize.csv"
        lines = path.read_bytes().splitlines(keepends=True)[:2 + 3]  # headings, and trials of the study that ends
        path.write_bytes(b"".join(lines)[:-7])
        again = self.simulate(*self.WORDS)
        self.assertEqual(self.rows("psa-filesize"), self.whole)
        whole = self.simulate(*self.WORDS, "--out", "whole")  # computes nothing
        self.assertEqual(again.stdout, whole.stdout)

    def test_more_cases_are_added_to_those_that_are_known(self):
        self.simulate("psa-filesize", "--cases", "1", *FAST)
        self.simulate(*self.WORDS)
        self.assertEqual(self.rows("psa-filesize"), self.whole)

    def test_trials_of_other_options_are_not_mixed(self):
        before = self.read("whole/psa-filesize.csv")
        for words in (("--seed", "2", *FAST), ("--schedulers", "workqueue"), (*FAST, "--bandwidth-scale", "3")):
            result = self.simulate("psa-filesize", "--cases", "2", *words, "--out", "whole", code=2)
            self.assertIn("whole/psa-filesize.csv:1:1: this file holds other trials", result.stderr)
            self.assertIn("--seed 1", result.stderr)
        self.assertEqual(self.read("whole/psa-filesize.csv"), before)

    def test_two_at_once_do_not_share_a_file(self):
        child = self.started()
        self.assertIn("another gantry", self.simulate(*self.WORDS, code=3).stderr)
        child.kill()
        child.communicate(timeout=gantry_test.PATIENCE)

    def test_a_terminal_shows_how_far_it_is(self):
        leader, follower = pty.openpty()
        child = self.start_gantry("simulate", *self.WORDS, stderr=follower, env={"TERM": "xterm"})
        os.close(follower)
        text = b""
        while True:
            try:
                piece = os.read(leader, 4096)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            text += piece
        child.communicate(timeout=gantry_test.PATIENCE)
        os.close(leader)
        self.assertRegex(text.decode(), r"psa-filesize  \d+/22  \d+%")
        self.assertIn("ETA", text.decode())


class EtcTest(SimulateCase):
    def test_heuristics_bound_and_optimum_of_a_file(self):
        # Min-min: task 1 to machine 1 (1 s), then 2 s there beats 8 s on the other: 3 s. The best is 3 s, too.
        self.write("little.csv", "1,5\n2,8\n")
        found = json.loads(self.simulate("etc", "little.csv", "--optimize", "100ms", "--json").stdout)
        self.assertEqual((found["instance"], found["tasks"], found["machines"]), ("little.csv", 2, 2))
        self.assertEqual((found["min-min"], found["optimized"]), (3, 3))
        self.assertLessEqual(found["bound"], 3)

    def test_without_files_one_of_each_class(self):
        lines = self.simulate("etc").stdout.splitlines()
        self.assertEqual(len(lines), 13)
        self.assertLessEqual(max(map(len, lines)), 80)
        self.assertRegex(lines[1], r"^u_[cis]_(hi|lo){2} ")

    def test_a_search_comes_close_to_the_bound(self):
        self.write("three.csv", "".join(f"{3 + i % 5},{4 + i % 3},{5 + i % 4}\n" for i in range(60)))
        lines = self.simulate("etc", "three.csv", "--optimize", "300ms").stdout.splitlines()
        self.assertTrue(re.search(r"optimised +above %$", lines[0]), lines)
        self.assertLess(float(lines[1].split()[-1]), 5)

    def test_a_bad_file_is_named_with_the_place(self):
        self.write("bad.csv", "1,5\n2,x\n")
        self.assertIn("bad.csv:2:3", self.simulate("etc", "bad.csv", code=2).stderr)


class ForecastsTest(SimulateCase):
    WORDS = ("forecasts", "--cases", "2", "--seed", "5")

    def test_a_table_of_generated_series_and_files_with_csv(self):
        self.write("loads.csv", "".join(f"host{i}," + ",".join(str((7 * i * t) % 60) for t in range(40)) + "\n" for i in (1, 2)))
        self.write("phone.txt", "".join(f"{t} {1 + t % 3}\n" for t in range(50)))
        lines = self.simulate(*self.WORDS, "loads.csv", "phone.txt").stdout.splitlines()
        self.assertEqual(len(lines), 1 + 3 * (6 + 2 + 1), lines)
        self.assertLessEqual(max(map(len, lines)), 80)
        self.assertRegex(lines[0], r"^series +ahead +count +of last +of best +inside % +best member$")
        self.assertRegex(lines[1], r"^autoregressive +1 +2 +0\.\d{3} +1\.\d{3} ")
        rows = list(csv.DictReader(self.read("simulate/forecasts.csv").splitlines()))
        self.assertEqual(len(rows), (12 + 3) * 3 * 16)
        self.assertEqual({row["forecaster"] for row in rows} & {"battery", "last value", "blend"}, {"battery", "last value"})
        self.assertEqual({row["group"] for row in rows if row["series"] in ("host1", "host2", "phone.txt")},
                         {"CPU even", "CPU odd", "bandwidth odd"})

    def test_json_has_each_group_and_forecaster_and_the_seed_decides(self):
        text = self.simulate(*self.WORDS, "--json").stdout
        found = [json.loads(line) for line in text.splitlines()]
        self.assertEqual([(one["group"], one["ahead"]) for one in found[:3]],
                         [("autoregressive", 1), ("autoregressive", 4), ("autoregressive", 16)])
        for one in found:
            self.assertGreaterEqual(min(v for k, v in one["of_best"].items() if k != "battery"), 1)
            self.assertEqual(one["series"], 2)
        self.assertEqual(self.simulate(*self.WORDS, "--json", "--jobs", "1").stdout, text)
        self.assertNotEqual(self.simulate(*self.WORDS[:3], "--seed", "6", "--json").stdout, text)

    def test_a_bad_file_is_named_with_the_place(self):
        self.write("bad.csv", "a,5,7\nb,6,x\n")
        self.assertIn("bad.csv:2:5", self.simulate("forecasts", "bad.csv", code=2).stderr)
        self.simulate("forecasts", "not_there.csv", code=3)
