"""`gantry plan`: what is predicted for a sweep on a grid, its pictures, and grid files with mistakes."""
import os
import re
import xml.dom.minidom

import gantry_test

GRID = """
    sites:
      home: { hosts: 1, slots: 2 }
      lab: { hosts: 2, slots: 2, speed: 2, link: { bandwidth: 1 MB/s } }
    """


class PlanCase(gantry_test.TestCase):
    def setUp(self):
        super().setUp()
        self.write("big.bin", b"\0" * 3_000_000)
        self.write("sweep.yaml", """
            name: little
            command: ./sim {file} {seed}
            parameters: {file: [big.bin, sweep.yaml], seed: 1..40}
            inputs: ['{file}']
            cost: 10 + seed % 3
            """)
        self.write("grid.yaml", GRID)

    def plan(self, *words, code=0, sweep="sweep.yaml", grid="grid.yaml"):
        result = self.gantry("plan", sweep, "--grid", grid, *words)
        self.assertEqual(result.code, code, result)
        return result

    def every_plan(self, **files) -> list:
        """What --json says of each scheduler. There are many."""
        found = self.plan("--json", **files).json()["schedulers"]
        self.assertGreaterEqual(len(found), 7, found)
        return found


class PredictionTest(PlanCase):
    def test_a_row_for_each_scheduler_and_the_best_is_marked(self):
        lines = self.plan().stdout.splitlines()
        self.assertEqual(lines[0], "little: 80 tasks on 3 hosts with 6 slots")
        self.assertLessEqual(max(map(len, lines)), 80)
        for name in ("workqueue", "workqueue-steal", "min-min", "max-min", "sufferage", "xsufferage", "best"):
            self.assertTrue(any(re.match(rf"\*? +{name} +\d", line) for line in lines), (name, lines))
        self.assertEqual(sum(line.startswith("*  ") for line in lines), 1)
        self.assertFalse((self.dir / ".gantry").exists())

    def test_json_is_what_can_be_computed_by_hand(self):
        # 8 tasks of 10 s on 4 slots that are twice as fast: two rounds of 5 s, and nothing to move.
        self.write("even.yaml", "command: ./sim {x}\nparameters: {x: 1..8}\ncost: 10\n")
        self.write("one.yaml", "sites: {home: {hosts: 2, slots: 2, speed: 2}}\n")
        found = self.plan("--json", "--scheduler", "workqueue", sweep="even.yaml", grid="one.yaml").json()
        self.assertEqual((found["tasks"], found["slots"], found["unit"], found["best"]), (8, 4, "s", "workqueue"))
        self.assertAlmostEqual(found["bound"], 10, 3)
        [only] = found["schedulers"]
        self.assertAlmostEqual(only["makespan"], 10, 6)
        self.assertAlmostEqual(only["utilisation"], 1, 6)
        self.assertEqual(only["bytes_moved"], 0)

    def test_a_bound_by_learnt_times_is_said_to_be_one(self):
        self.write("study.yaml", "command: sleep 0.0{n}\nparameters: {n: [3, 5, 4, 6, 3, 5]}\n")
        shown = self.gantry("plan", "study.yaml", "-j2").stdout
        self.assertRegex(shown, r"(?m)^no scheduler can be faster than 3$")
        self.assertEqual(self.gantry("run", "study.yaml").code, 0)
        shown = self.gantry("plan", "study.yaml", "-j2").stdout
        self.assertRegex(shown, r"(?m)^by what was learnt, no scheduler can be faster than [\d.]+ ")

    def test_without_a_grid_it_is_for_this_machine(self):
        self.write("even.yaml", "command: ./sim {x}\nparameters: {x: 1..8}\ncost: 10\n")
        found = self.gantry("plan", "even.yaml", "-j4", "--json").json()
        self.assertEqual((found["hosts"], found["slots"], found["best"]), (1, 4, "workqueue"))
        self.assertEqual([one["scheduler"] for one in found["schedulers"]], ["workqueue"])
        self.assertAlmostEqual(found["schedulers"][0]["makespan"], 20, 6)
        found = self.gantry("plan", "even.yaml", "--json", "--scheduler", "all").json()
        self.assertEqual(found["slots"], len(os.sched_getaffinity(0)))
        self.assertGreater(len(found["schedulers"]), 5)
        for words in (("-j4", "--grid", "grid.yaml"), ("--grid", "")):
            result = self.gantry("plan", "even.yaml", *words)
            self.assertEqual(result.code, 2, result)
        self.assertIn("the name of the grid file is empty", result.stderr)

    def test_a_second_attempt_spares_waiting_for_a_slow_host(self):
        # 20 s a task, or 500 s on the slow host, which is given two of five before anything is known.
        self.write("even.yaml", "command: ./sim {x}\nparameters: {x: 1..5}\ncost: 20\n")
        self.write("uneven.yaml", "sites: {home: {hosts: [{speed: 1}, {speed: 0.04}]}}\n")
        found = {one["scheduler"]: one for one in
                 self.plan("--json", sweep="even.yaml", grid="uneven.yaml").json()["schedulers"]}
        plain, steal = found["workqueue"], found["workqueue-steal"]
        self.assertAlmostEqual(plain["makespan"], 1000, 6)
        self.assertEqual(plain["wasted"], 0)
        # The fast host runs both again when it has done its own three: until 100 s.
        self.assertAlmostEqual(steal["makespan"], 100, 6)
        self.assertAlmostEqual(steal["wasted"], 100, 6)

    def test_a_shared_file_is_moved_once_to_a_site(self):
        # One host, far away: 3 MB at 1 MB/s, then 40 tasks of 1 s.
        self.write("shared.yaml", "command: ./sim {x}\nparameters: {x: 1..40}\ninputs: [big.bin]\ncost: 1\n")
        self.write("far.yaml", "sites: {far: {hosts: 1, link: {bandwidth: 1 MB/s}}}\n")
        for found in self.every_plan(sweep="shared.yaml", grid="far.yaml"):
            self.assertEqual(found["bytes_moved"], 3_000_000, found)
            self.assertAlmostEqual(found["makespan"], 43, 3, found)

    def test_a_small_depot_is_kept_within_and_files_are_sent_again(self):
        # Tasks read each pair of three files of 1 MB. Where two of them have room, one that was there must come again.
        for x in "abc":
            self.write(f"{x}.dat", x.encode() * 1_000_000)
        self.write("pairs.yaml", """
            command: ./sim {x} {y} {seed}
            parameters: {x: [a, b, c], y: [a, b, c], seed: 1..4}
            inputs: ['{x}.dat', '{y}.dat']
            cost: 1
            """)
        for depot, least in ((3, 3_000_000), (2, 4_000_000)):
            self.write("far.yaml", f"sites: {{far: {{hosts: 2, depot: {depot} MB, link: {{bandwidth: 10 MB/s}}}}}}\n")
            found = self.every_plan(sweep="pairs.yaml", grid="far.yaml")
            self.assertEqual(min(one["bytes_moved"] for one in found), least, found)

    def test_neighbours_with_a_fast_link_swap_files(self):
        # Both sites need four files of 1 MB: four seconds over the link to home, or two and a little.
        for x in "abcd":
            self.write(f"{x}.dat", x.encode() * 1_000_000)
        self.write("all.yaml", """
            command: ./sim {seed}
            parameters: {seed: 1..8}
            inputs: [a.dat, b.dat, c.dat, d.dat]
            cost: 1
            """)
        sites = "".join(f"  {site}: {{hosts: 4, link: {{bandwidth: 1 MB/s}}}}\n" for site in ("one", "two"))
        self.write("alone.yaml", f"sites:\n{sites}")
        self.write("peers.yaml", f"sites:\n{sites}links:\n  - {{between: [one, two], bandwidth: 1 GB/s}}\n")
        words = ("--json", "--scheduler", "xsufferage")
        [alone] = self.plan(*words, sweep="all.yaml", grid="alone.yaml").json()["schedulers"]
        picture = self.dir / "plan.svg"
        result = self.plan(*words, "--svg", picture, sweep="all.yaml", grid="peers.yaml")
        [peers] = result.json()["schedulers"]
        self.assertAlmostEqual(alone["makespan"], 5, 3)
        self.assertLess(peers["makespan"], 3.1)
        self.assertGreaterEqual(peers["makespan"], result.json()["bound"])
        self.assertEqual(peers["bytes_moved"], 8_000_000)
        self.assertIn("on its way from one", picture.read_text())
        self.assertIn("on its way from two", picture.read_text())

    def test_a_site_behind_another_one_is_reached_through_it(self):
        # 3 MB at 1 MB/s, which the link behind does not slow down, and its second before the first byte.
        self.write("shared.yaml", "command: ./sim {x}\nparameters: {x: 1..4}\ninputs: [big.bin]\ncost: 1\n")
        self.write("far.yaml", """
            sites:
              near: {link: {bandwidth: 1 MB/s}}
              far: {hosts: 1}
            links: [{between: [near, far], bandwidth: 5 MB/s, latency: 1s}]
            """)
        for found in self.every_plan(sweep="shared.yaml", grid="far.yaml"):
            self.assertAlmostEqual(found["makespan"], 3 + 1 + 4, 3, found)

    def test_files_of_one_task_are_sent_with_it(self):
        for x in (1, 2):
            self.write(f"own-{x}.dat", b"\0" * 1_000_000)
        self.write("own.yaml", "command: ./sim {x}\nparameters: {x: [1, 2]}\ninputs: ['own-{x}.dat']\ncost: 1\n")
        self.write("far.yaml", "sites: {far: {hosts: 1, link: {bandwidth: 1 MB/s}}}\n")
        [found] = self.plan("--json", "--scheduler", "min-min", sweep="own.yaml", grid="far.yaml").json()["schedulers"]
        self.assertEqual(found["bytes_moved"], 2_000_000)
        self.assertAlmostEqual(found["makespan"], 4, 3)  # each is sent when its slot is free

    def test_a_batch_queue_is_waited_for(self):
        self.write("even.yaml", "command: ./sim {x}\nparameters: {x: 1..4}\ncost: 10\n")
        self.write("batch.yaml", "sites: {home: {hosts: 1, queue_wait: 5m}}\n")
        for found in self.every_plan(sweep="even.yaml", grid="batch.yaml"):
            self.assertAlmostEqual(found["makespan"], 340, 3, found)

    def test_several_schedulers_are_named_in_a_list_or_one_by_one(self):
        def names(*words):
            return [one["scheduler"] for one in self.plan("--json", *words).json()["schedulers"]]
        self.assertEqual(names("--scheduler", "best,workqueue"), ["best", "workqueue"])
        self.assertEqual(names("--scheduler", "best", "--scheduler", "workqueue"), ["best", "workqueue"])
        self.assertEqual(names("--scheduler", "all"), names())

    def test_one_of_each_is_singular(self):
        self.write("single.yaml", "command: ./sim\n")
        self.write("one.yaml", "sites: {home: {hosts: 1}}\n")
        first = self.plan("--svg", "one.svg", sweep="single.yaml", grid="one.yaml").stdout.splitlines()[0]
        self.assertTrue(first.endswith(": 1 task on 1 host with 1 slot"), first)
        self.assertIn("1 task on 1 host ·", self.read("one.svg"))

    def test_a_site_that_can_run_no_task_is_told_of(self):
        self.write("shared.yaml", "command: ./sim {x}\nparameters: {x: 1..4}\ninputs: [big.bin]\ncost: 1\n")
        self.write("small.yaml", """
            sites:
              home: {hosts: 1}
              tiny: {hosts: 1, depot: 1 MB, link: {bandwidth: 1 MB/s}}
            """)
        stderr = re.sub(r"\s+", " ", self.plan(sweep="shared.yaml", grid="small.yaml").stderr)
        self.assertIn("warning: no task can run at site 'tiny'", stderr)

    def test_an_interval_is_a_time_like_others(self):
        found = [self.plan("--json", "--scheduler", "sufferage", "--interval", interval).stdout
                 for interval in ("60", "60s", "1m", "1:00")]
        self.assertEqual(len(set(found)), 1, found)

    def test_times_without_costs_are_in_tasks(self):
        self.write("plain.yaml", "command: ./sim {x}\nparameters: {x: 1..60}\n")
        result = self.plan(sweep="plain.yaml")
        self.assertIn("no cost: all times are in units of one task", result.stdout)
        self.assertEqual(self.plan("--json", sweep="plain.yaml").json()["unit"], "task")

    def test_a_task_that_needs_more_memory_than_any_host_has_is_warned_of(self):
        self.write("large.yaml", "command: ./sim {x}\nparameters: {x: 1..4}\nresources: {memory: '{x} GiB'}\n")
        for memory, warns in ("4 GiB", False), ("3 GiB", True):
            self.write("small.yaml", f"sites: {{home: {{hosts: 1, memory: {memory}}}}}\n")
            stderr = re.sub(r"\s+", " ", self.plan(sweep="large.yaml", grid="small.yaml").stderr)
            self.assertEqual("warning: task 4 needs 4 GiB of memory, the largest host has 3 GiB" in stderr, warns)

    def test_many_tasks_with_a_cost_each(self):
        self.write("many.yaml", "command: ./sim {x}\nparameters: {x: 1..30000}\ncost: x\n")
        result = self.plan(sweep="many.yaml")
        self.assertIn("rounded to 5%", result.stderr)
        self.assertIn("--scheduler best asks for it", re.sub(r"\s+", " ", result.stderr))
        self.assertIn("xsufferage", result.stdout)

    def test_pictures_are_well_formed(self):
        self.plan("--svg", "plan.svg", "--html", "plan.html", "--scheduler", "xsufferage")
        picture = xml.dom.minidom.parse(str(self.dir / "plan.svg"))
        text = picture.documentElement.toxml()
        for word in ("little with xsufferage", "lab", "big.bin", "lab-1", "lab-2", "from home"):
            self.assertIn(word, text)
        self.assertIn("<!DOCTYPE html>", self.read("plan.html"))


class MistakesTest(PlanCase):
    def wrong(self, text, place, has):
        self.write("grid.yaml", text)
        result = self.plan(code=2)
        self.assertEqual(result.stdout, "")
        flat = re.sub(r"\s+", " ", result.stderr)
        self.assertRegex(flat, place)
        self.assertIn(has, flat)

    def test_grid_files_with_mistakes_are_refused_with_the_place(self):
        link = "link: {bandwidth: 1 MB/s}"
        self.wrong(f"sites:\n  lab: {{hosts: 1, speed: -1, {link}}}\n", r"grid\.yaml:2:26: ", "speed")
        self.wrong("sites:\n  lab: {hosts: 1}\n", r"grid\.yaml:2:3: ", "no route from home to site 'lab'")
        self.wrong(f"sites:\n  lab: {{hosts: 0, {link}}}\n", r"grid\.yaml:2:3: ", "no site has a host")
        self.wrong(f"sites:\n  lab: {{hosts: 1, {link}}}\nlinks:\n  - {{between: [lab, lap], bandwidth: 1 MB/s}}\n",
                   r"grid\.yaml:4:21: ", "there is no site 'lap'")
        self.wrong(f"sites:\n  lab: {{hosts: 1, {link}}}\n  far: {{hosts: 1}}\n  out: {{hosts: 1}}\n"
                   "links:\n  - {between: [out, far], bandwidth: 1 MB/s}\n",
                   r"grid\.yaml:3:3: ", "no route from home to site 'far'")

    def test_traces_with_mistakes_are_refused_with_the_place(self):
        for trace, place in (("0,1\n60,1e308\n", r"cpu\.csv:2:4: "), ("0,1e-308\n", r"cpu\.csv:1:3: "),
                             ("0,1\n60,nan\n", r"cpu\.csv:2:4: "), ("0,1\n60,0.5\n30,1\n", r"cpu\.csv:3:1: ")):
            self.write("cpu.csv", trace)
            self.wrong("sites: {home: {hosts: 1, availability: cpu.csv}}\n", place, "")

    def test_a_file_that_fits_into_no_depot(self):
        self.wrong("sites:\n  lab: {hosts: 1, depot: 2 MB, link: {bandwidth: 1 MB/s}}\n",
                   r"grid\.yaml:2:3: ", "big.bin (3 MB) fits into no depot")
        self.write("second.bin", b"\0" * 2_000_000)
        self.write("sweep.yaml", "command: ./sim {x}\nparameters: {x: 1..9}\ninputs: [big.bin, second.bin]\n")
        self.wrong("sites:\n  lab: {hosts: 1, depot: 4 MB, link: {bandwidth: 1 MB/s}}\n",
                   r"grid\.yaml:2:3: ", "the shared files of task 1 (5 MB in all) fit into no depot")

    def test_a_trace_that_ends_at_nothing(self):
        self.write("cpu.csv", "0,1\n60,0\n")
        self.write("grid.yaml", "sites: {home: {hosts: 1, availability: cpu.csv}}\n")
        self.assertIn("not done", re.sub(r"\s+", " ", self.plan("--scheduler", "workqueue", code=2).stderr))

    def test_a_study_that_would_take_ages(self):
        self.write("cpu.csv", "0,1e-9\n")
        self.write("grid.yaml", "sites: {home: {hosts: 1, speed: 1e-6, availability: cpu.csv}}\n")
        self.assertIn("more than a hundred years", self.plan(code=2).stderr)
        # Half of the tasks go to the second host, and take 300 million years each.
        self.write("grid.yaml", "sites: {home: {hosts: [{speed: 1}, {speed: 1e-6, availability: cpu.csv}]}}\n")
        self.assertIn("round-robin: it takes more than a hundred years",
                      self.plan("--scheduler", "round-robin", code=2).stderr)
        self.plan("--scheduler", "best,xsufferage,max-min")

    def test_wrong_words(self):
        self.assertIn("there is no scheduler 'magic'", self.plan("--scheduler", "magic", code=2).stderr)
        self.assertIn("there is no scheduler 'magic'", self.plan("--scheduler", "best,magic", code=2).stderr)
        for twice in ("best,best", "all,best"):
            self.assertIn("twice", self.plan("--scheduler", twice, code=2).stderr)
        for interval in ("nan", "inf", "-5", "0", "0.5", "soon", ""):
            self.assertIn(f"not '{interval}'", self.plan("--interval", interval, code=2).stderr)
        self.assertIn("none.yaml", self.plan(grid="none.yaml", code=2).stderr)
        self.assertIn("none.yaml", self.plan(sweep="none.yaml", code=2).stderr)
        self.assertEqual(self.gantry("plan").code, 2)
        self.plan("--svg", "no/such/folder/plan.svg", code=3)
