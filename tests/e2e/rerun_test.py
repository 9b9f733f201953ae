"""Running again after anything: what is unchanged is kept, what a change touches runs, nothing else does."""
import os
import shutil
import time

import gantry_test
from rerun_case import RerunCase


class UnchangedTest(RerunCase):
    def setUp(self):
        super().setUp()
        self.write("work.sh", "echo $1 >> ran\n")
        self.write("sweep.yaml", "command: sh work.sh {x}\nparameters: {x: [a, b, c]}\ninputs: [work.sh]\n")

    def test_the_summary_says_why_tasks_ran_again(self):
        self.run_sweep()
        self.write("work.sh", "echo $1 >> ran # changed\n")
        self.run_sweep("-j", "50%")
        self.assertIn("3 finished tasks run again: work.sh changed\n", self.last.stderr)
        self.write("work.sh", "echo $1 >> ran # changed again\n")
        self.assertEqual(self.summary()["again"], [{"tasks": 3, "why": "work.sh changed"}])
        self.assertEqual(self.gantry("run", "-j", "0%", "sweep.yaml").code, 2)

    def test_nothing_changed_nothing_runs(self):
        self.assertEqual(self.run_sweep(), ["a", "b", "c"])
        self.assertEqual(self.run_sweep(), [])
        self.assertIn("3 unchanged", self.last.stderr)
        again = self.summary()
        self.assertEqual((again["run"], again["executed"], again["unchanged"], again["done"]), (1, 0, 3, 3))

    def test_a_touched_file_is_not_a_changed_file(self):
        self.run_sweep()
        self.write("work.sh", "echo $1 >> ran\n")
        self.assertEqual(self.run_sweep(), [])

    def test_comments_and_layout_of_the_sweep_file_do_not_matter(self):
        self.run_sweep()
        self.write("sweep.yaml", """
            # the same study
            inputs:
              - work.sh
            parameters:
              x:
                - a
                - b
                - c
            command: sh   work.sh   {x}
            """)
        self.assertEqual(self.run_sweep(), [])

    def test_the_state_directory_is_no_input(self):
        self.write("data/sweep.yaml", "command: [echo, '{x}']\nparameters: {x: [a, b]}\ninputs: [.]\n")
        self.run_sweep("--state", "data/.gantry", name="data/sweep.yaml")
        self.run_sweep("--state", "data/.gantry", name="data/sweep.yaml")
        self.assertIn("2 unchanged", self.last.stderr)

    def test_another_state_directory_knows_nothing(self):
        self.run_sweep()
        self.assertEqual(self.run_sweep(env={"GANTRY_STATE": "elsewhere"}), ["a", "b", "c"])
        self.assertTrue((self.dir / "elsewhere" / "gantry.db").exists())

    def test_fresh_runs_everything_in_a_new_run(self):
        self.run_sweep()
        self.assertEqual(self.run_sweep("--fresh"), ["a", "b", "c"])
        self.assertEqual([run["run"] for run in self.gantry("runs", "--json").json_lines()], [1, 2])

    def test_after_clean_all_nothing_is_known(self):
        self.run_sweep()
        self.assertEqual(self.gantry("clean", "all", "--yes").code, 0)
        self.assertEqual(self.run_sweep(), ["a", "b", "c"])


class ChangedTest(RerunCase):
    """Each test changes one thing of a finished study."""

    def setUp(self):
        super().setUp()
        self.write("work.sh", "#!/bin/sh\necho $1 >> ran\n", executable=True)
        for x in "abc":
            self.write(f"data-{x}", f"data of {x}")
        self.sweep = """
            command: ./work.sh {x}
            parameters: {x: [a, b, c]}
            inputs: ["data-{x}"]
            environment: {MODE: "m"}
            """
        self.write("sweep.yaml", self.sweep)
        self.assertEqual(self.run_sweep(), ["a", "b", "c"])

    def change(self, old, new):
        self.assertIn(old, self.sweep)
        self.write("sweep.yaml", self.sweep.replace(old, new))

    def test_the_contents_of_one_input(self):
        self.write("data-b", "other data")
        self.assertEqual(self.run_sweep(), ["b"])
        self.assertEqual(self.run_sweep(), [])
        self.assertIn("inputs", self.gantry("explain", "2").stdout)

    def test_contents_of_the_same_size_and_time(self):
        path = self.dir / "data-b"
        times = path.stat()
        self.write("data-b", "atad of b")

        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        self.assertEqual(self.run_sweep(), ["b"])

    def test_contents_that_come_back(self):
        self.write("data-b", "other data")
        self.run_sweep()
        self.write("data-b", "data of b")
        self.assertIn(self.run_sweep(), ([], ["b"]))  # may know the old result; must not give the newer one for it
        self.assertEqual(self.run_sweep(), [])

    def test_the_program_behind_wrappers_and_shells(self):
        for command in ("nice -n 1 env A=1 sh work.sh {x}", "true; timeout 60 sh work.sh {x} | cat\nshell: true"):
            with self.subTest(command):
                self.write("work.sh", "echo $1 >> ran\n")
                self.write("sweep.yaml", f"command: {command}\nparameters: {{x: [a, b]}}\n")
                self.assertEqual(self.run_sweep(), ["a", "b"])
                self.assertEqual(self.run_sweep(), [])
                self.write("work.sh", "echo $1 >> ran # changed\n")
                self.assertEqual(self.run_sweep(), ["a", "b"])

    def test_the_program(self):
        self.write("work.sh", "#!/bin/sh\necho $1 >> ran; true\n", executable=True)
        self.assertEqual(self.run_sweep(), ["a", "b", "c"])

    def test_the_environment(self):
        self.change("MODE: \"m\"", "MODE: \"{x}\"")
        self.assertEqual(self.run_sweep(), ["a", "b", "c"])
        self.change("MODE: \"m\"", "MODE: m")
        self.assertEqual(self.run_sweep(), [], "the first environment again, whose results are known")

    def test_the_command(self):
        self.change("./work.sh {x}", "./work.sh {x} more")
        self.assertEqual(self.run_sweep(), ["a", "b", "c"])

    def test_one_more_value(self):
        self.write("data-d", "data of d")
        self.change("[a, b, c]", "[d, a, b, c]")
        self.assertEqual(self.run_sweep(), ["d"])
        self.assertIn("run 1 goes on with 1 new task\n", self.last.stderr)
        status = self.gantry("status", "--json").json()
        self.assertEqual((status["run"], status["total"], status["done"], status["reused"]), (1, 4, 4, 0))
        tasks = self.gantry("tasks", "--json").json_lines()
        self.assertEqual([task["parameters"]["x"] for task in tasks], ["a", "b", "c", "d"])
        self.assertEqual(self.run_sweep(), [])
        self.assertIn("4 unchanged", self.last.stderr)

    def test_what_is_reused_stays_so_when_the_first_start_fails(self):
        self.change("[a, b, c]", "[a, b]")
        shutil.rmtree(self.state / "agent")
        self.write(".gantry/agent", "in the agent's way")
        self.run_sweep(code=3)
        (self.state / "agent").unlink()
        self.assertEqual(self.run_sweep(), [])

    def test_one_value_less(self):
        self.change("[a, b, c]", "[c, a]")
        self.assertEqual(self.run_sweep(), [])
        self.assertEqual(self.gantry("status", "--json").json()["run"], 2)
        tasks = self.gantry("tasks", "--json").json_lines()
        self.assertEqual([(task["parameters"]["x"], task["reused"]) for task in tasks], [("c", True), ("a", True)])

    def test_another_order_of_the_values(self):
        self.change("[a, b, c]", "[c, a, b]")
        self.assertEqual(self.run_sweep(), [])
        self.assertEqual(self.gantry("status", "--json").json()["run"], 1)
        tasks = self.gantry("tasks", "--json").json_lines()
        self.assertEqual([(task["parameters"]["x"], task["reused"]) for task in tasks], [("a", False), ("b", False), ("c", False)])

    def test_one_more_parameter(self):
        self.change("{x: [a, b, c]}", "{x: [a, b, c], unused: [1]}")
        self.assertEqual(self.run_sweep(), ["a", "b", "c"], "tasks see every parameter in their environment")

    def test_what_only_steers_the_run(self):
        self.change("environment:", "timeout: 10 min\n            retries: 2\n            name: other\n            environment:")
        self.assertEqual(self.run_sweep(), [])

    def test_an_input_that_counted_already_is_named(self):
        self.change('inputs: ["data-{x}"]', 'inputs: [./work.sh, "data-{x}"]')
        self.assertEqual(self.run_sweep(), [])
        self.change('inputs: ["data-{x}"]', 'inputs: ["data-{x}", sweep.yaml]')
        self.assertEqual(self.run_sweep(), ["a", "b", "c"], "nobody knows what it held then")

    def test_one_more_output(self):
        self.write("out-a", "")
        self.write("out-c", "")
        self.write("work.sh", "#!/bin/sh\necho $1 >> ran; touch out-$1\n", executable=True)
        self.assertEqual(self.run_sweep(), ["a", "b", "c"])
        (self.dir / "out-b").unlink()
        self.change("environment:", "outputs: ['out-{x}']\n            environment:")
        self.assertEqual(self.run_sweep(), ["b"])
        self.assertIn("1 finished task runs again: its output is not there:", self.last.stderr)
        self.assertEqual(self.run_sweep(), [])

    def test_one_more_input(self):
        self.change('["data-{x}"]', '["data-{x}", data-a]')
        self.assertEqual(self.run_sweep(), ["b", "c"])
        self.assertIn("one was added or left out", " ".join(self.last.stderr.split()))

    def test_a_changed_study_says_what_else_changed(self):
        self.write("work.sh", "#!/bin/sh\necho $1 >> ran; true\n", executable=True)
        self.change("[a, b, c]", "[a, b]")
        self.assertEqual(self.run_sweep(), ["a", "b"])
        self.assertIn("2 finished tasks run again: work.sh changed\n", self.last.stderr)

    def test_a_missing_output_is_made_again(self):
        self.write("touch.sh", "echo $1 >> ran; touch out-$1\n")
        self.write("sweep.yaml", "command: sh touch.sh {x}\nparameters: {x: [a, b]}\noutputs: ['out-{x}']\n")
        self.assertEqual(self.run_sweep(), ["a", "b"])
        self.assertEqual(self.run_sweep(), [])
        (self.dir / "out-b").unlink()
        self.assertEqual(self.run_sweep(), ["b"])


class OneLinerInputsTest(RerunCase):
    """Values that name files."""

    def run_words(self, *words, code=0):
        result = self.gantry("run", "-q", *words)
        self.assertEqual(result.code, code, result)
        return self.ran()

    def test_a_changed_file_runs_its_task_again(self):
        self.write("a.csv", "1")
        self.write("b.csv", "2")
        words = ("--", "sh", "-c", 'echo "$0" >> ran; cat "$0"', "{}", ":::", "a.csv", "b.csv", "absent", "5")
        self.assertEqual(self.run_words(*words, code=1), ["5", "a.csv", "absent", "b.csv"])
        self.assertEqual(self.run_words(*words, code=1), ["5", "absent"])
        self.write("b.csv", "3")
        result = self.gantry("run", *words)
        self.assertIn("1 finished task runs again: b.csv changed\n", result.stderr)
        self.assertEqual(self.ran(), ["5", "absent", "b.csv"])

    def test_what_a_task_makes_or_changes_is_no_input(self):
        for command, second in (('echo $1 > "$0"', ["x.txt"]), ('echo $1 >> "$0"', ["x.txt"]), ('rm -f "$0"', [])):
            with self.subTest(command):
                for made in ("y.txt", "z.txt"):
                    (self.dir / made).unlink(missing_ok=True)
                words = ("--", "sh", "-c", f'echo "$0" >> ran; {command}', "{}", ":::", "x.txt", "y.txt")
                self.write("x.txt", "there")
                self.assertEqual(self.run_words(*words), ["x.txt", "y.txt"])
                self.assertEqual(self.run_words(*words), second, "somebody else may have changed it")
                self.assertEqual(self.run_words(*words), [])
                self.assertEqual(self.run_words(*words, "z.txt"), ["z.txt"], "with one more value, too")
                self.assertEqual(self.run_words(*words, "z.txt"), [])


    def test_a_file_that_somebody_changes_meanwhile_stays_an_input(self):
        self.write("f", "1")
        words = ("--", "sh", "-c", 'echo "$0" >> ran; test -e done || echo 2 > f; touch done', "{}", ":::", "f")
        result = self.gantry("run", *words)
        self.assertIn("f changed while", " ".join(result.stderr.split()))
        self.ran()
        self.assertEqual(self.run_words(*words), ["f"])
        self.assertEqual(self.run_words(*words), [])
        self.write("f", "3")
        self.assertEqual(self.run_words(*words), ["f"])

    def test_a_value_that_names_a_file_only_later(self):
        words = ("--", "sh", "-c", 'echo "$0" >> ran', "{}", ":::", "later")
        self.assertEqual(self.run_words(*words), ["later"])
        time.sleep(0.05)  # the clock that stamps files lags behind
        self.write("later", "now")
        self.assertEqual(self.run_words(*words), ["later"])
        self.assertEqual(self.run_words(*words), [])


class NewestResultTest(RerunCase):
    def values(self, *words):
        self.write("untracked.sh", "cat value\n")
        result = self.gantry("run", *words)
        self.assertEqual(result.code, 0, result)
        return self.gantry("log", "all", "--stdout").stdout, " ".join(result.stderr.split())

    def test_of_all_runs_counts(self):
        command = ("--", "sh", "untracked.sh", "{}", ":::", "1", "2")
        for value, words in (("old", command), ("new", ("--fresh", *command, "3"))):
            self.write("value", value)
            self.assertEqual(self.values(*words)[0].count(value), 3 if value == "new" else 2)
        for _ in range(2):
            for words, tasks in ((command, 2), ((*command, "3"), 3)):
                values, said = self.values(*words)
                self.assertEqual((values.count("new"), values.count("old")), (tasks, 0))
                self.assertIn(f"{tasks} unchanged", said)

    def test_also_after_retry(self):
        command = ("--", "sh", "untracked.sh", "{}", ":::", "1", "2")
        self.write("value", "old")
        self.values(*command)
        self.values(*command, "3")
        self.write("value", "new")
        self.assertEqual(self.gantry("retry", "--run", "1", "1").code, 0)
        values, _ = self.values(*command, "3")
        self.assertEqual((values.count("new"), values.count("old")), (1, 2))


class OwnWorkTest(RerunCase):
    """Programs that tasks make, and folders that they write to."""

    def test_a_program_that_the_task_builds(self):
        self.write("build.sh", 'test -e sim || { printf "#!/bin/sh\\necho \\$1 >> ran\\n" > sim.new; chmod +x sim.new; '
                               'mv sim.new sim; }')
        self.write("sweep.yaml", """
            command: [sh, -c, "sh build.sh; ./sim {x}"]
            parameters: {x: [a, b]}
            """)
        self.assertEqual(self.run_sweep("-j1"), ["a", "b"])
        self.assertEqual(self.run_sweep("-j1"), [])
        self.write("build.sh", self.read("build.sh") + " # other\n")
        self.assertEqual(self.run_sweep("-j1"), ["a", "b"])
        self.assertEqual(self.run_sweep("-j1"), [])

    def test_a_program_that_the_task_builds_each_time(self):
        self.write("sim", "#!/bin/sh\n", executable=True)
        self.write("build.sh", 'printf "#!/bin/sh\\necho $1 >> ran # $(date +%N)\\n" > sim.new; chmod +x sim.new; mv sim.new sim')
        self.write("sweep.yaml", """
            command: [sh, -c, "sh build.sh {x}; ./sim"]
            parameters: {x: [a, b]}
            """)
        self.assertEqual(self.run_sweep("-j1"), ["a", "b"])
        self.assertIn("sim changed while 2 tasks ran", " ".join(self.last.stderr.split()))
        self.run_sweep("-j1")
        self.assertEqual(self.run_sweep("-j1"), [], "it does that each time: no input")

    def test_a_folder_with_outputs_and_the_job_log(self):
        self.write("study/sweep.yaml", """
            command: [sh, -c, "echo {x} >> ../ran; echo > out-{x}; echo '[1]' > {x}.json"]
            parameters: {x: [a, b]}
            inputs: [.]
            outputs: ["out-{x}"]
            results: {v: {json: "{x}.json", key: "0"}}
            """)
        (self.dir / "study" / "inner" / ".gantry").mkdir(parents=True)
        options = ("--joblog", "study/log")
        self.assertEqual(self.run_sweep(*options, name="study/sweep.yaml"), ["a", "b"])
        self.write("study/inner/.gantry/news", "")
        self.assertEqual(self.run_sweep(*options, name="study/sweep.yaml"), [])
        self.write("study/inner/data", "")
        self.assertEqual(self.run_sweep(*options, name="study/sweep.yaml"), ["a", "b"])


class ChangedMeanwhileTest(RerunCase):
    def test_every_command_tells_of_it(self):
        self.write("data", "")
        self.write("sweep.yaml", "command: [sh, -c, 'echo x >> ran; date +%N > data']\ninputs: [data]\n")
        summary = self.summary()
        self.assertEqual(summary["changed_inputs"], [{"path": str(self.dir / "data"), "tasks": 1}])
        noted = f"an input changed while it ran: {self.dir / 'data'}"
        self.assertEqual(self.gantry("tasks", "--json").json()["detail"], noted)
        self.assertIn("an input changed while it ran", self.gantry("tasks").stdout)
        self.assertIn("an input changed while it ran", " ".join(self.gantry("explain", "1").stdout.split()))
        self.assertIn("The next gantry run runs it again", " ".join(self.gantry("explain", "1").stdout.split()))
        self.assertEqual(self.gantry("explain", "1", "--json").json()["history"][0]["detail"], noted)
        self.assertIn("1 finished task runs again: data changed while it ran", self.gantry("run", "sweep.yaml").stderr)


class GoingOnTest(RerunCase):
    """After failures and interruptions."""

    def test_run_again_tries_only_what_failed(self):
        self.write("sweep.yaml", """
            command: [sh, -c, 'echo {x} >> ran; test -e fixed -o {x} != b']
            parameters: {x: [a, b, c]}
            """)
        self.assertEqual(self.run_sweep(code=1), ["a", "b", "c"])
        self.assertEqual(self.run_sweep(code=1), ["b"])
        self.write("fixed", "")
        self.assertEqual(self.run_sweep(), ["b"])
        self.assertEqual(self.run_sweep(), [])

    def test_retry_failed_and_by_number(self):
        self.write("sweep.yaml", "command: [sh, -c, 'echo {x} >> ran; test {x} != b']\nparameters: {x: [a, b, c]}\n")
        self.run_sweep(code=1)
        for words, ran, code in ((("--failed",), ["b"], 1), ((), ["b"], 1), (("1,3",), ["a", "c"], 1),
                                 (("2-3",), ["b", "c"], 1), (("all",), ["a", "b", "c"], 1)):
            result = self.gantry("retry", *words)
            self.assertEqual((result.code, self.ran()), (code, ran), result)

    def test_retry_prints_only_what_it_ran(self):
        self.gantry("run", "--", "echo", "out-{}", ":::", "1..5")
        for words in ((), ("-k",)):
            result = self.gantry("retry", "2,4", "-j1", *words)
            self.assertEqual((result.code, result.stdout), (0, "out-2\nout-4\n"), result)

    def test_retry_of_an_older_run(self):
        self.write("sweep.yaml", "command: [sh, -c, 'echo old-{x} >> ran']\nparameters: {x: [a, b]}\n")
        self.run_sweep()
        self.write("sweep.yaml", "command: [sh, -c, 'echo new-{x} >> ran']\nparameters: {x: [a]}\n")
        self.run_sweep()
        result = self.gantry("retry", "2", "--run", "1")
        self.assertEqual((result.code, self.ran()), (0, ["old-b"]), result)

    def test_max_fails_stops_starting(self):
        self.write("sweep.yaml", "command: [sh, -c, 'echo {x} >> ran; exit 3']\nparameters: {x: 1..50}\n")
        self.assertEqual(len(self.run_sweep("-j1", "--max-fails", "4", code=1)), 4)
        self.assertIn("4", self.last.stderr)
        status = self.gantry("status", "--json").json()
        self.assertEqual(status["failed"] + status["pending"], 50)
        self.assertIn("the same gantry run continues with the pending tasks", " ".join(self.gantry("status").stdout.split()))
        # Run again goes on with the rest, and stops again.
        self.assertEqual(len(self.run_sweep("-j1", "--max-fails", "1", code=1)), 1)

    def test_when_everything_fails_it_stops_early_unless_told_to_keep_going(self):
        self.write("sweep.yaml", "command: [sh, -c, 'echo {x} >> ran; exit 3']\nparameters: {x: 1..300}\n")
        stopped = self.run_sweep("-j2", code=1)
        self.assertLess(len(stopped), 300)
        self.assertIn("--keep-going", self.last.stderr)
        all_of_them = self.run_sweep("-j2", "--keep-going", code=1)
        self.assertEqual(len(all_of_them), 300)

    def test_some_failures_do_not_stop_the_rest(self):
        self.write("sweep.yaml", "command: [sh, -c, 'echo {x} >> ran; test $(expr {x} % 3) != 0']\n"
                                 "parameters: {x: 1..60}\n")
        self.assertEqual(len(self.run_sweep(code=1)), 60)
        self.assertEqual(self.gantry("status", "--json").json()["failed"], 20)

    def test_a_cancelled_task_runs_next_time(self):
        self.write("sweep.yaml", """
            command: [sh, -c, 'echo {x} >> ran; test -e go || sleep 600']
            parameters: {x: [a, b]}
            """)
        run = self.start_gantry("run", "-j1", "sweep.yaml")
        self.wait_until(lambda: (self.dir / "ran").exists(), "the first task to start")
        self.assertEqual(self.gantry("cancel").code, 0)
        self.assertEqual(run.wait(gantry_test.PATIENCE), 1)
        run.communicate()
        self.assertEqual({task["state"] for task in self.gantry("tasks", "--json").json_lines()}, {"cancelled"})
        self.ran()
        self.write("go", "")
        self.assertEqual(self.run_sweep(), ["a", "b"])


class LastRunTest(gantry_test.TestCase):
    """`last` is the run that was driven most recently, whatever its number."""

    def setUp(self):
        super().setUp()
        for name in "ab":
            self.write(f"{name}.yaml", f"""
                name: {name}
                command: sh -c 'echo v={name}{{x}}; test ! -e block || sleep 600'
                parameters: {{x: [1, 2]}}
                results: {{v: {{stdout: 'v=(\\S+)'}}}}
                """)
        for name in "aba":
            self.assertEqual(self.gantry("run", f"{name}.yaml").code, 0)

    def name_of_last(self):
        return self.gantry("status", "--json").json()["name"]

    def test_results_and_status_are_of_the_run_driven_last(self):
        self.assertIn("a1", self.gantry("results").stdout)
        self.assertEqual(self.name_of_last(), "a")
        self.assertEqual(self.gantry("retry", "1", "--run", "2").code, 0)
        self.assertEqual(self.name_of_last(), "b")

    def test_cancel_and_clean_act_on_the_run_that_is_driven(self):
        self.write("block", "")
        driver = self.start_gantry("retry", "1", "--run", "1")
        self.wait_until(lambda: self.gantry("status", "--json").json()["running"] == 1, "the task runs")
        self.assertEqual(self.name_of_last(), "a")
        self.assertEqual(self.gantry("cancel").code, 0)
        driver.communicate(timeout=gantry_test.PATIENCE)
        self.assertEqual(self.gantry("clean", "last", "--yes").code, 0)
        self.assertEqual([run["name"] for run in self.gantry("runs", "--json").json_lines()], ["b"])

    def test_keep_spares_the_runs_driven_last(self):
        self.assertEqual(self.gantry("clean", "--keep", "1", "--yes").code, 0)
        self.assertEqual(self.name_of_last(), "a")
