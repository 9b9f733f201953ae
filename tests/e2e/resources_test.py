"""Declared cores and memory are never oversubscribed, limits are enforced, and nothing survives its task."""
import contextlib
import os
import sqlite3
import time

import gantry_test

# Writes when it began and ended (monotonic, one clock for all) and what it holds meanwhile.
SPAN = """
    import os, sys, time
    began = time.monotonic()
    time.sleep(0.03)
    with open("spans", "a") as file:
        file.write(f"{began} {time.monotonic()} {sys.argv[1]}\\n")
    """


class PackingTest(gantry_test.TestCase):
    def most_at_once(self) -> float:
        """The largest sum of weights of tasks that overlapped. Ends come before begins at the same instant."""
        changes = []
        for line in self.read("spans").splitlines():
            began, ended, weight = map(float, line.split())
            changes += [(began, 1, weight), (ended, 0, -weight)]
        now = most = 0.0
        for _, _, change in sorted(changes):
            now += change
            most = max(most, now)
        return most

    def run_spans(self, sweep, *options):
        self.write("span.py", SPAN)
        self.write("sweep.yaml", sweep)
        result = self.gantry("run", *options, "sweep.yaml")
        self.assertEqual(result.code, 0, result)
        return self.most_at_once()

    def begun_at_once(self, tasks, fit, *options, resources=""):
        """Tasks that begin although none has ended, which must be as many as fit. They wait for a word."""
        self.write("hold.sh", "touch begun.$1; while [ ! -e go ]; do sleep 0.02; done")
        self.write("sweep.yaml", f"command: sh hold.sh {{x}}\nparameters: {{x: 1..{tasks}}}\n{resources}")
        child = self.start_gantry("run", "-q", *options, "sweep.yaml")
        self.wait_until(lambda: len(list(self.dir.glob("begun.*"))) >= fit, f"{fit} tasks to begin")
        time.sleep(0.3)  # one more would begin by now
        begun = len(list(self.dir.glob("begun.*")))
        self.write("go", "")
        _, err = child.communicate(timeout=gantry_test.PATIENCE)
        self.assertEqual(child.returncode, 0, err.decode())
        self.assertEqual(len(list(self.dir.glob("begun.*"))), tasks)
        return begun

    def test_cores_of_tasks_fit_into_the_jobs(self):
        begun = self.begun_at_once(10, 2, "-j5", resources="resources: {cores: 2}\n")
        self.assertEqual(begun, 2, "a third one would need six cores")

    def test_one_core_each_by_default(self):
        self.assertEqual(self.begun_at_once(12, 3, "-j3"), 3)

    def test_what_fits_does_run_together(self):
        """Each task waits for the other."""
        self.write("meet.py", """
            import os, sys, time
            open("here-" + sys.argv[1], "w").close()
            deadline = time.monotonic() + 120
            while not (os.path.exists("here-1") and os.path.exists("here-2")):
                if time.monotonic() > deadline: sys.exit("alone")
                time.sleep(0.01)
            """)
        self.write("sweep.yaml", "command: python3 meet.py {x}\nparameters: {x: [1, 2]}\nresources: {cores: 2, memory: 50 MB}\n")
        result = self.gantry("run", "-j5", "sweep.yaml")
        self.assertEqual(result.code, 0, result)

    def test_memory_of_tasks_fits_into_the_machine(self):
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        share = int(total * 0.4 / 1_000_000)  # two fit, three do not
        self.assertEqual(self.begun_at_once(8, 2, "-j8", resources=f"resources: {{memory: {share} MB}}\n"), 2)

    def test_tasks_are_packed_by_the_memory_that_was_learnt(self):
        """At first four with 50 MiB each. Of those that are handed over when all others have taught that they need
        the least that is given, 64 MiB, three fit."""
        self.write("grid.yaml", "sites:\n  home: {hosts: 1, slots: 4, memory: 200 MiB}\n")
        most = self.run_spans("command: python3 span.py {late}\nparameters: {x: 1..40}\nderived: {late: x > 24}\n"
                              "resources: {memory: learn}\n", "--grid", "grid.yaml")
        self.assertLessEqual(most, 3)

    def test_what_can_never_fit_is_refused_with_a_reason(self):
        for resources, reason in (("cores: 5000", "task 1 needs 5000 cores, the largest host has 2"),
                                  ("memory: 900 TB", "task 1 needs 818.5 TiB of memory, the largest host has ")):
            self.write("sweep.yaml", f"command: touch ran\nresources: {{{resources}}}\n")
            result = self.gantry("run", "-j2", "sweep.yaml")
            self.assertEqual(result.code, 2, result)
            self.assertIn(f"sweep.yaml:2:12: {reason}", " ".join(result.stderr.split()))
            self.assertFalse((self.dir / "ran").exists())

    def test_what_is_refused_leaves_no_run(self):
        self.assertEqual(self.gantry("run", "-q", "--", "true", ":::", "a").code, 0)
        self.write("sweep.yaml", "command: touch ran\nresources: {cores: 5000}\n")
        self.assertEqual(self.gantry("run", "sweep.yaml").code, 2)
        self.assertEqual([run["name"] for run in self.gantry("runs", "--json").json_lines()], ["true"])
        self.assertEqual(self.gantry("status", "--json").json()["name"], "true")

    def test_a_later_task_that_can_never_fit_is_found_before_anything_runs(self):
        self.write("sweep.yaml", "command: [touch, 'ran-{n}']\nparameters: {n: 1..4}\nresources: {cores: '{n}'}\n")
        result = self.gantry("run", "-j3", "sweep.yaml")
        self.assertEqual(result.code, 2, result)
        self.assertIn("task 4 needs 4 cores, the largest host has 3", result.stderr)
        self.assertEqual(list(self.dir.glob("ran-*")), [])
        self.assertEqual(self.gantry("run", "-j4", "sweep.yaml").code, 0)
        self.assertEqual(self.gantry("run", "-j1", "sweep.yaml").code, 0, "all are done")


class LimitsTest(gantry_test.TestCase):
    def alive(self, name="pids"):
        """Of the processes whose ids the task wrote down, those that live."""
        pids = [int(word) for word in self.read(name).split()] if (self.dir / name).exists() else []
        def lives(pid):
            try:
                with open(f"/proc/{pid}/stat") as file:
                    return file.read().rpartition(")")[2].split()[0] not in "ZX"
            except OSError:
                return False
        return [pid for pid in pids if lives(pid)]

    def assert_all_gone(self, at_least):
        self.assertGreaterEqual(len(self.read("pids").split()), at_least)
        self.wait_until(lambda: not self.alive(), f"the end of {self.alive()}")

    FAMILY = """
        import os, signal, subprocess, sys, time
        def note():
            with open("pids", "a") as file: file.write(f"{os.getpid()}\\n")
        note()
        for kind in ("child", "session", "daemon", "stubborn"):
            if os.fork() == 0:
                if kind in ("session", "daemon"): os.setsid()
                if kind == "daemon" and os.fork(): os._exit(0)
                if kind == "stubborn":
                    for s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP): signal.signal(s, signal.SIG_IGN)
                note()
                time.sleep(600)
                os._exit(0)
        deadline = time.monotonic() + 120
        while len(open("pids").read().split()) < 5 and time.monotonic() < deadline:
            time.sleep(0.01)
        open("ready", "w").close()
        if sys.argv[1] == "wait": time.sleep(600)
        """

    def test_a_family_of_processes_ends_with_its_timeout(self):
        self.write("family.py", self.FAMILY)
        self.write("sweep.yaml", "command: python3 family.py wait\ntimeout: 6 s\n")
        result = self.gantry("run", "sweep.yaml")
        self.assertEqual(result.code, 1, result)
        self.assert_all_gone(5)

    def test_a_family_of_processes_ends_with_its_cancel(self):
        self.write("family.py", self.FAMILY)
        run = self.start_gantry("run", "--", "python3", "family.py", "wait")
        self.wait_until((self.dir / "ready").exists, "the whole family")
        self.assertEqual(len(self.alive()), 5)
        self.assertEqual(self.gantry("cancel").code, 0)
        self.assertEqual(run.wait(gantry_test.PATIENCE), 1)
        run.communicate()
        self.assert_all_gone(5)

    def test_a_family_of_processes_ends_when_the_task_does(self):
        self.write("family.py", self.FAMILY)
        result = self.gantry("run", "--", "python3", "family.py", "leave")
        self.assertEqual(result.code, 0, result)
        self.assert_all_gone(5)

    def test_memory_counts_for_the_whole_family(self):
        self.write("eat.py", """
            import os, time
            for _ in range(3):
                if os.fork() == 0: break
            data = bytearray(60_000_000)
            for i in range(0, len(data), 4096): data[i] = 1
            time.sleep(600)
            """)
        self.write("sweep.yaml", "command: python3 eat.py\nresources: {memory: 150 MB}\n")
        result = self.gantry("run", "sweep.yaml")
        self.assertEqual(result.code, 1, result)
        self.assertEqual(self.gantry("tasks", "--json").json()["cause"], "out of memory", result)

    def test_memory_within_the_limit_is_fine(self):
        self.write("eat.py", "data = bytearray(50_000_000); print(len(data))")
        self.write("sweep.yaml", "command: python3 eat.py\nresources: {memory: 200 MB}\n")
        result = self.gantry("run", "sweep.yaml")
        self.assertEqual(result.code, 0, result)
        self.assertGreater(self.gantry("tasks", "--json").json()["max_rss"], 50_000_000)

    def test_nothing_of_gantry_stays_behind(self):
        self.assertEqual(self.gantry("run", "--", "echo", ":::", "1..5").code, 0)
        self.wait_until(lambda: not self.processes(), f"the agent to leave: {self.processes()}")


class LearntMemoryTest(gantry_test.TestCase):
    EAT = """
        import os, sys, time
        held = bytearray(int(float(sys.argv[1]) * 1_000_000))
        doomed = int(os.environ["GANTRY_ATTEMPT"]) <= int(open("doomed").read())
        if float(sys.argv[1]) > 60: time.sleep(600 if doomed else 2)
        """

    def run_sizes(self, sizes, *options, doomed=0, memory="learn"):
        """The first `doomed` attempts of what is large end only when they are killed."""
        self.write("eat.py", self.EAT)
        self.write("doomed", str(doomed))  # no part of the command, by which tasks are known
        self.write("sweep.yaml", f"command: python3 eat.py {{size}}\nparameters: {{size: {sizes}}}\n"
                                 f"resources: {{memory: {memory}}}\n")
        return self.gantry("run", *options, "sweep.yaml")

    def test_one_that_is_bigger_than_those_before_is_tried_again_with_more(self):
        """From eleven small ones 64 MiB are learnt, the least that is given; no parameter tells that one takes 130."""
        self.write("eat.py", self.EAT)
        self.write("doomed", "1")
        self.write("sweep.yaml", """
            command: sh -c 'python3 eat.py $(test {x} = 12 && echo 130 || echo 1)'
            parameters: {x: 1..12}
            resources: {memory: learn}
            """)
        result = self.gantry("run", "-j2", "--max-fails=9", "sweep.yaml")  # with that, nothing is handed over ahead
        self.assertEqual(result.code, 0, result)
        self.assertEqual(" ".join(result.stderr.split()).count("tried again"), 1, result.stderr)
        history = self.gantry("explain", "12", "--json").json()["history"]
        self.assertEqual([each["cause"] for each in history], ["out of memory", "ok"], history)
        self.assertRegex(history[0]["detail"], "^limit 64 MiB; tried again with [0-9]+ MiB$")
        self.assertRegex(self.flat("explain", "12"), "out of memory after .*: limit 64 MiB; tried again with ")

    def test_what_needs_more_than_the_largest_host_fails_and_says_so(self):
        self.write("grid.yaml", "sites:\n  home: {hosts: 1, slots: 2, memory: 100 MiB}\n")
        result = self.run_sizes([1, 150], "--grid", "grid.yaml", doomed=2)
        self.assertEqual(result.code, 1, result)
        tasks = {line["task"]: line for line in self.gantry("tasks", "--json").json_lines()}
        self.assertEqual(tasks[1]["state"], "done")
        self.assertEqual((tasks[2]["cause"], tasks[2]["attempt"]), ("out of memory", 2), "with 50 and 100 MiB")
        self.assertRegex(tasks[2]["detail"], "limit 100 MiB; it needs more than the 100 MiB of the largest host, .*: give")

    def test_the_next_run_begins_with_what_was_learnt(self):
        """Ten tasks of up to 110 MB teach what one of 100 needs; without them it would begin with 64 MiB, the least."""
        self.write("large.yaml", "sites:\n  home: {hosts: 1, slots: 4, memory: 800 MiB}\n")
        self.write("small.yaml", "sites:\n  home: {hosts: 1, slots: 8, memory: 400 MiB}\n")
        self.assertEqual(self.run_sizes([70, 85, 100, 110, *range(1, 7)], "--grid", "large.yaml").code, 0)
        result = self.run_sizes([100.5], "--grid", "small.yaml")
        self.assertEqual(result.code, 0, result)
        self.assertEqual(self.gantry("tasks", "--json").json()["attempt"], 1)
        model = self.gantry("forecast", "--json").json()["memory_model"]
        self.assertEqual(model["tasks"], 10)
        self.assertGreater(model["bytes"], 100_000_000)
        self.assertIn(f"memory: {model['family']}, learnt from 10 tasks; ", self.gantry("forecast").stdout)
        self.assertRegex(self.flat("explain", "1"), r"memory as it is learnt \([0-9]+ MiB by 11 tasks\)")
        with contextlib.closing(sqlite3.connect(self.state / "gantry.db")) as store, store:
            changed = store.execute("UPDATE learned SET value = '{\"version\": 1}' WHERE kind = 'memory'")
            self.assertEqual(changed.rowcount, 1)
        result = self.run_sizes([100.7], "--grid", "small.yaml", doomed=1)
        self.assertEqual(result.code, 0, result)
        self.assertIn("what earlier runs have learnt is not used (memory): ", " ".join(result.stderr.split()))
        self.assertEqual(self.gantry("tasks", "--json").json()["attempt"], 2)

    def test_a_declared_amount_is_the_limit(self):
        result = self.run_sizes([150], doomed=1, memory="80 MB")
        self.assertEqual(result.code, 1, result)
        task = self.gantry("tasks", "--json").json()
        self.assertEqual((task["attempt"], task["detail"]),
                         (1, "limit 76 MiB; with 'resources: {memory: learn}' it is given what it needs"))

    def flat(self, *words):
        return " ".join(self.gantry(*words).stdout.split())
