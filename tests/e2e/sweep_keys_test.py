"""Sweep files: what each key does, seen from the tasks that come out and from what they do."""
import os
import subprocess
import time

import gantry_test


class SweepFileCase(gantry_test.TestCase):
    def tasks_of(self, text, name="sweep.yaml"):
        """The tasks that --dry-run shows, as decoded JSON."""
        self.write(name, text)
        result = self.gantry("run", "--dry-run", "--json", name)
        self.assertEqual(result.code, 0, result)
        return result.json_lines()

    def commands_of(self, text):
        return [task["command"] for task in self.tasks_of(text)]

    def values_of(self, parameters, rest=""):
        """What parameter x takes, one value a task."""
        return [task["parameters"]["x"]
                for task in self.tasks_of(f"command: echo {{x}}\nparameters:\n  x: {parameters}\n{rest}")]

    def run_sweep(self, text, *options, code=0):
        self.write("sweep.yaml", text)
        result = self.gantry("run", *options, "sweep.yaml")
        self.assertEqual(result.code, code, result)
        return result


class CommandTest(SweepFileCase):
    def test_a_text_is_split_as_a_shell_would(self):
        self.assertEqual(self.commands_of("""
            command: ./sim --name 'two words' "and {x}" a\\ b {x}.out
            parameters: {x: [1, "p q"]}
            """), [["./sim", "--name", "two words", f"and {x}", "a b", f"{x}.out"] for x in ("1", "p q")])

    def test_a_list_is_taken_as_it_is(self):
        self.assertEqual(self.commands_of("""
            command: [echo, "two words", "{x}", "{{x}}"]
            parameters: {x: [1]}
            """), [["echo", "two words", "1", "{x}"]])

    def test_nothing_goes_through_a_shell(self):
        self.run_sweep("""
            command: echo $HOME {x} > file
            parameters: {x: ["; touch evil"]}
            """)
        self.assertEqual(self.gantry("log", "1").stdout, "$HOME ; touch evil > file\n")
        self.assertFalse((self.dir / "evil").exists())
        self.assertFalse((self.dir / "file").exists())

    def test_shell_true_goes_through_one_with_values_quoted(self):
        self.run_sweep("""
            shell: true
            command: echo $(expr 1 + 1) {x} "in {x}" 'and {x}' > "out-$GANTRY_TASK"
            parameters: {x: ["$(touch evil) \\"'; touch evil"]}
            """)
        value = "$(touch evil) \"'; touch evil"
        self.assertEqual(self.read("out-1"), f"2 {value} in {value} and {value}\n")
        self.assertFalse((self.dir / "evil").exists())


class ParameterTest(SweepFileCase):
    def test_ranges(self):
        self.assertEqual(self.values_of("1..4"), [1, 2, 3, 4])
        self.assertEqual(self.values_of("0..1 step 0.25"), [0, 0.25, 0.5, 0.75, 1])
        self.assertEqual(self.values_of("{from: 10, to: 0, step: -5}"), [10, 5, 0])
        self.assertEqual(self.values_of("{from: 0.1, to: 0.3, step: 0.1}"), [0.1, 0.2, 0.3])

    def test_lists(self):
        self.assertEqual(self.values_of("[a, 2, 'x y', '']"), ["a", 2, "x y", ""])
        self.assertEqual(self.values_of("[1..3, 9]"), [1, 2, 3, 9])
        self.assertEqual(self.values_of("alone"), ["alone"])

    def test_evenly_spaced(self):
        self.assertEqual(self.values_of("{linspace: [0, 1, 5]}"), [0, 0.25, 0.5, 0.75, 1])
        self.assertEqual(self.values_of("{logspace: [1, 1000, 4]}"), [1, 10, 100, 1000])

    def test_glob_is_sorted_and_relative_to_the_file(self):
        for name in ("study/b.mdl", "study/a.mdl", "study/c.txt", "study/sub/d.mdl"):
            self.write(name, "")
        self.write("study/sweep.yaml", "command: echo {x}\nparameters:\n  x: {glob: ['*.mdl', 'sub/*.mdl']}\n")
        result = self.gantry("run", "-j1", "--output", "study/sweep.yaml")
        self.assertEqual(result.code, 0, result)
        self.assertEqual(result.stdout, "a.mdl\nb.mdl\nsub/d.mdl\n")

    def test_lines_of_a_file(self):
        self.write("list.txt", "one\ntwo words\n")
        self.assertEqual(self.values_of("{lines: list.txt}"), ["one", "two words"])

    def test_columns_of_a_csv_file_stay_together(self):
        self.write("points.csv", 'lat,lon,name\n1.5,2,"a, b"\n3,4.25,c\n')
        tasks = self.tasks_of("""
            command: echo {lat} {lon} {label} {k}
            parameters:
              lat: {csv: points.csv}
              lon: {csv: points.csv, column: lon}
              label: {csv: {file: points.csv, column: name}}
              k: [p, q]
            """)
        self.assertEqual([task["command"][1:] for task in tasks],
                         [["1.5", "2", "a, b", "p"], ["1.5", "2", "a, b", "q"],
                          ["3", "4.25", "c", "p"], ["3", "4.25", "c", "q"]])

    def test_product_and_zip(self):
        pairs = lambda combine: [task["command"][1:] for task in self.tasks_of(
            f"command: echo {{a}} {{b}} {{c}}\nparameters: {{a: [1, 2], b: [3, 4], c: [5, 6]}}\n{combine}\n")]
        product = [[a, b, c] for a in "12" for b in "34" for c in "56"]
        self.assertEqual(pairs(""), product)
        self.assertEqual(pairs("combine: product"), product)
        self.assertEqual(pairs("combine: zip"), [["1", "3", "5"], ["2", "4", "6"]])
        self.assertEqual(pairs("combine: [[a, c]]"), [["1", "3", "5"], ["1", "4", "5"], ["2", "3", "6"], ["2", "4", "6"]])

    def sample(self, method, seed=3, n=16):
        return [(task["parameters"]["u"], task["parameters"]["k"]) for task in self.tasks_of(f"""
            command: echo {{u}} {{k}}
            parameters:
              u: {{uniform: [0, 1]}}
              k: {{integer: [1, 4]}}
            sample: {{method: {method}, n: {n}, seed: {seed}}}
            """)]

    def test_samples(self):
        for method in ("random", "latin-hypercube", "sobol"):
            points = self.sample(method)
            self.assertEqual(len(points), 16)
            self.assertTrue(all(0 <= u <= 1 and k in (1, 2, 3, 4) for u, k in points), points)
            self.assertEqual(points, self.sample(method), "the same seed gives the same points")
            self.assertNotEqual(points, self.sample(method, seed=4), "another seed gives others")
            self.assertEqual(len(set(u for u, _ in points)), 16)

    def test_stratified_samples_fill_every_stratum(self):
        for method in ("latin-hypercube", "sobol"):
            points = self.sample(method)
            self.assertEqual(sorted(int(u * 16) for u, _ in points), list(range(16)), method)
            self.assertEqual(sorted(k for _, k in points), [1] * 4 + [2] * 4 + [3] * 4 + [4] * 4, method)

    def test_other_parameters_are_crossed_with_the_sample(self):
        tasks = self.tasks_of("""
            command: echo {u} {mode}
            parameters:
              u: {uniform: [5, 6]}
              mode: [fast, exact]
            sample: {method: random, n: 3, seed: 1, parameters: [u]}
            """)
        self.assertEqual(sorted(task["parameters"]["mode"] for task in tasks), ["exact"] * 3 + ["fast"] * 3)
        self.assertEqual(len({task["parameters"]["u"] for task in tasks}), 3)


class ExpressionTest(SweepFileCase):
    def test_when_filters_combinations(self):
        tasks = self.tasks_of("""
            command: echo {a} {b} {mode}
            parameters: {a: 1..3, b: 1..3, mode: [fast, exact]}
            when: a < b && (mode == "fast" || b == 3)
            """)
        self.assertEqual([task["command"][1:] for task in tasks],
                         [["1", "2", "fast"], ["1", "3", "fast"], ["1", "3", "exact"], ["2", "3", "fast"], ["2", "3", "exact"]])

    def test_derived_values(self):
        tasks = self.tasks_of("""
            command: echo {area} {twice}
            parameters: {w: [2, 3], h: [0.5]}
            derived:
              area: w * h
              twice: 2 * area
            """)
        self.assertEqual([task["command"][1:] for task in tasks], [["1", "2"], ["1.5", "3"]])
        self.assertEqual(tasks[1]["parameters"], {"w": 3, "h": 0.5, "area": 1.5, "twice": 3})
        self.assertEqual(self.gantry("run", "sweep.yaml").code, 0)
        self.assertEqual(self.gantry("results", "--csv").stdout.splitlines()[0], "task,w,h,area,twice")

    def test_costly_tasks_go_first(self):
        self.run_sweep("command: [sh, -c, 'echo {x} >> order']\nparameters: {x: [1, 5, 3]}\ncost: x^2\n", "-j1")
        self.assertEqual(sorted(self.read("order").split()), ["1", "3", "5"])

    def test_amounts_may_depend_on_parameters(self):
        self.write("sweep.yaml", """
            command: echo {n}
            parameters: {n: [1, 2]}
            resources: {cores: "{n}", memory: "{n} MB"}
            timeout: "{n}min"
            """)
        self.assertEqual(self.gantry("run", "-j2", "sweep.yaml").code, 0)
        explained = self.gantry("explain", "all", "--json").json_lines()
        self.assertEqual([(task["cores"], task["memory"], task["timeout_seconds"]) for task in explained],
                         [(1, 1_000_000, 60), (2, 2_000_000, 120)])


class ResultsTest(SweepFileCase):
    """Values that a task prints or writes."""

    def results_of(self, sweep, code=0):
        self.run_sweep(sweep, code=code)
        return [row for row in self.gantry("tasks", "--json").json_lines()]

    def test_from_standard_output(self):
        tasks = self.results_of(r"""
            command: [printf, 'step 1 err=0.5\nstep 2 err=0.25\nname: %s\n', '{x}']
            parameters: {x: [7, "a b"]}
            results:
              err: 'err=([\d.]+)'
              name: {stdout: 'name: (.*)'}
            """)
        self.assertEqual([task["results"] for task in tasks], [{"err": 0.25, "name": 7}, {"err": 0.25, "name": "a b"}])

    def test_from_json_that_a_task_writes(self):
        self.write("make.py", """
            import json, sys
            json.dump({"a": {"b": [10, 20]}, "t": "text", "x": float(sys.argv[1])}, open("out-" + sys.argv[1] + ".json", "w"))
            """)
        tasks = self.results_of("""
            command: python3 make.py {n}
            parameters: {n: [1, 2]}
            results:
              x: {json: 'out-{n}.json'}
              second: {json: 'out-{n}.json', key: a.b.1}
              t: {json: 'out-{n}.json', key: [t]}
            """)
        self.assertEqual([task["results"] for task in tasks],
                         [{"x": n, "second": 20, "t": "text"} for n in (1.0, 2.0)])

    def test_from_a_large_file_and_one_that_is_too_large(self):
        self.write("make.py", """
            import sys
            open(f"{sys.argv[1]}.json", "w").write('{"x": 1, "rest": "' + "r" * (int(sys.argv[1]) << 20) + '"}')
            """)
        self.write("sweep.yaml", """
            command: python3 make.py {n}
            parameters: {n: [5, 17]}
            results: {x: {json: "{n}.json"}}
            """)
        result = self.gantry("run", "sweep.yaml")
        self.assertEqual(result.code, 1, result)
        self.assertIn("values are read from files of up to 16 MiB", " ".join(result.stderr.split()))
        rows = self.gantry("results", "--jsonl").json_lines()
        self.assertEqual([row["results"] for row in rows], [{"x": 1}])

    def test_from_a_file_that_tasks_only_read(self):
        self.write("table.json", '{"a": 1.5, "b": 2}')
        self.wait_until(lambda: time.time() - os.stat(self.dir / "table.json").st_ctime > 0.2, "it to be old")
        tasks = self.results_of("""
            command: test -e {n}
            parameters: {n: [table.json, /dev/null]}
            inputs: [table.json]
            results: {a: {json: table.json}}
            """)
        self.assertEqual([task["results"] for task in tasks], [{"a": 1.5}] * 2)

    def test_from_csv_that_a_task_writes(self):
        self.write("make.sh", 'printf "time,energy\\n0,1.5\\n1,2.5\\n2,3.5\\n" > log.csv\n')
        tasks = self.results_of("""
            command: sh ../../make.sh
            parameters: {n: [1]}
            workdir: work/{n}
            results:
              energy: {csv: log.csv}
              begin: {csv: log.csv, column: energy, row: first}
              second: {csv: log.csv, column: energy, row: 2}
            """)
        self.assertEqual(tasks[0]["results"], {"energy": 3.5, "begin": 1.5, "second": 2.5})

    def test_from_output_too_large_for_the_store(self):
        self.write("big.py", "print('first=1'); print('x' * 300_000); print('last=2')")
        tasks = self.results_of("command: python3 big.py\nresults: {first: 'first=(.)', last: 'last=(.)'}\n")
        self.assertEqual(tasks[0]["results"], {"first": 1, "last": 2})

    def test_a_missing_value_is_a_failure_that_names_it(self):
        tasks = self.results_of("command: echo nothing\nresults: {peak: 'peak=(.*)'}\n", code=1)
        self.assertEqual((tasks[0]["state"], tasks[0]["cause"]), ("failed", "missing result"))
        self.assertIn("peak", tasks[0]["detail"])

    def test_unless_it_is_optional(self):
        tasks = self.results_of("command: echo a=1\nresults: {a: 'a=(.)', b: {stdout: 'b=(.)', optional: true}}\n")
        self.assertEqual(tasks[0]["results"], {"a": 1})

    def test_broken_files_are_failures_that_name_them(self):
        for content, rule in (("not json", "json: f"), ("[1]", "json: f"), ("", "json: f"), ("a,b\n1,2\n", "csv: f")):
            self.write("content", content)
            tasks = self.results_of(f"command: cp content f\nresults: {{peak: {{{rule}}}}}\ninputs: [content]\n", code=1)
            self.assertEqual(tasks[0]["cause"], "missing result", content)
            self.assertIn("peak", tasks[0]["detail"])


class OtherRulesTest(SweepFileCase):
    """Rules that change when the tasks are done: no program runs for a value that can still be read."""

    def setUp(self):
        super().setUp()
        self.write("work.sh", "echo >> ran; echo a=1 b=2; echo '{\"c\": 3}' > out.json\n")

    def run_with(self, rules, ran, code=0):
        """The values after a run by these rules, when the program has run `ran` times in all."""
        result = self.run_sweep(f"command: sh work.sh\nresults: {{{rules}}}\n", code=code)
        self.assertEqual(len(self.read("ran")), ran, result)
        self.said = " ".join(result.stderr.split())
        return self.gantry("tasks", "--json").json_lines()[0]["results"]

    def test_one_more_from_standard_output(self):
        self.run_with("a: 'a=(.)'", ran=1)
        self.assertEqual(self.run_with("a: 'a=(.)', b: 'b=(.)'", ran=1), {"a": 1, "b": 2})
        self.assertIn("1 unchanged", self.said)
        self.assertEqual(self.run_with("b: 'b=(.)'", ran=1), {"b": 2})
        self.assertEqual(self.gantry("results", "--csv").stdout, "task,b\n1,2\n")

    def test_another_name_and_another_pattern(self):
        self.run_with("a: 'a=(.)'", ran=1)
        self.assertEqual(self.run_with("first: 'a=(.)'", ran=1), {"first": 1})
        self.assertEqual(self.run_with("first: 'b=(.)'", ran=1), {"first": 2})

    def test_one_more_from_a_file_that_is_still_there(self):
        self.run_with("a: 'a=(.)'", ran=1)
        self.assertEqual(self.run_with("c: {json: out.json}", ran=1), {"c": 3})

    def test_a_kept_value_needs_no_file(self):
        self.run_with("c: {json: out.json}", ran=1)
        (self.dir / "out.json").unlink()
        self.assertEqual(self.run_with("a: 'a=(.)', d: {json: out.json, key: c}", ran=1), {"a": 1, "d": 3})

    def test_a_file_that_is_gone_or_newer_makes_the_task_run_again(self):
        self.run_with("a: 'a=(.)'", ran=1)
        (self.dir / "out.json").unlink()
        self.assertEqual(self.run_with("c: {json: out.json}", ran=2), {"c": 3})
        self.assertIn("1 finished task runs again: a result cannot be had from what is stored: 'c': ", self.said)
        self.write("out.json", '{"c": 3, "d": 4}')
        self.run_with("d: {json: out.json}", ran=3, code=1)
        self.assertIn("out.json was written after the task ran", self.said)

    def test_a_replaced_file_with_an_old_time_is_not_the_tasks(self):
        for ran, command in ((1, "cp -a other.json out.json"), (3, "mv other.json out.json")):
            self.run_with("a: 'a=(.)'", ran=ran)
            self.write("other.json", '{"c": 4}')
            os.utime(self.dir / "other.json", (1e9, 1e9))
            subprocess.run(command.split(), cwd=self.dir, check=True)
            self.assertEqual(self.run_with("c: {json: out.json}", ran=ran + 1), {"c": 3})
            self.assertIn("out.json was replaced or changed after the task ran", self.said)
            self.assertEqual(self.gantry("clean", "all", "--yes").code, 0)

    def test_a_value_that_is_no_longer_optional_is_looked_for(self):
        self.assertEqual(self.run_with("z: {stdout: 'z=(.)', optional: true}", ran=1), {})
        self.assertEqual(self.run_with("z: {stdout: 'z=(.)', optional: true}, a: 'a=(.)'", ran=1), {"a": 1})
        self.run_with("z: {stdout: 'z=(.)'}", ran=2, code=1)
        self.assertIn("runs again: a result cannot be had from what is stored: 'z': the output has no match", self.said)

    def test_an_optional_value_of_a_file_that_changed_makes_the_task_run_again(self):
        self.run_with("a: 'a=(.)'", ran=1)
        (self.dir / "out.json").unlink()
        self.assertEqual(self.run_with("c: {json: out.json, optional: true}", ran=2), {"c": 3})
        self.assertIn("out.json is not there", self.said)
        self.write("out.json", '{"d": 4}')
        self.assertEqual(self.run_with("d: {json: out.json, optional: true}", ran=3), {})
        self.assertIn("out.json was written after the task ran", self.said)
        (self.dir / "out.json").unlink()
        self.assertEqual(self.run_with("d: {json: out.json, optional: true}, a: 'a=(.)'", ran=3), {"a": 1})

    def test_a_file_named_by_the_number_of_another_task_is_not_read(self):
        study = ("command: [sh, -c, 'echo [{x}] > $GANTRY_TASK.json']\n"
                 "parameters: {x: [%s]}\n%s")
        self.run_sweep(study % ("1, 2", ""))
        result = self.run_sweep(study % ("2, 1", "results: {v: {json: '{#}.json', key: '0'}}\n"))
        self.assertIn("when the task ran", " ".join(result.stderr.split()))
        self.assertEqual(self.gantry("results", "--csv").stdout, "task,x,v\n1,2,2\n2,1,1\n")

    def test_a_value_that_was_never_printed_runs_the_task_and_fails_it(self):
        self.run_with("a: 'a=(.)'", ran=1)
        self.run_with("z: 'z=(.)'", ran=2, code=1)
        self.assertIn("runs again: a result cannot be had from what is stored: 'z': the output has no match", self.said)

    def test_a_mended_pattern_reads_what_was_printed(self):
        self.run_with("a: 'A=(.)'", ran=1, code=1)
        self.assertEqual(self.run_with("a: 'a=(.)'", ran=1), {"a": 1})

    def test_values_that_were_read_anew_are_kept_further(self):
        self.run_with("a: 'a=(.)'", ran=1)
        self.run_with("c: {json: out.json}", ran=1)
        (self.dir / "out.json").unlink()
        self.assertEqual(self.run_with("c: {json: out.json}, b: 'b=(.)'", ran=1), {"c": 3, "b": 2})

    def test_large_output_is_searched_too(self):
        command = "command: [sh, -c, 'echo >> ran; echo a=1; seq 100000']\nresults: "
        self.run_sweep(command + "{last: '^(\\d+)$'}\n")
        self.run_sweep(command + "{last: '^(\\d+)$', a: 'a=(.)'}\n")
        self.assertEqual(self.read("ran"), "\n")
        self.assertEqual(self.gantry("results", "--csv").stdout, "task,last,a\n1,100000,1\n")


class SurroundingsTest(SweepFileCase):
    """Everything about a task but its command and values."""

    def test_name_of_the_study(self):
        self.run_sweep("name: pendulum\ndescription: how it swings\ncommand: 'true'\n")
        self.assertEqual(self.gantry("status", "--json").json()["name"], "pendulum")
        self.run_sweep("command: 'true'\n")
        self.assertEqual(self.gantry("status", "--json").json()["name"], "sweep")

    def test_environment(self):
        self.run_sweep("""
            command: [sh, -c, 'echo "$MODE/$SEED/$EMPTY/$INHERITED"']
            parameters: {seed: [1, 2]}
            environment: {MODE: exact, SEED: "s{seed}", EMPTY: ''}
            """, "-j1")
        self.assertEqual(self.gantry("log", "all", "--stdout").stdout.count("exact/s1//"), 1)
        self.assertEqual(self.gantry("log", "2", "--stdout").stdout, "exact/s2//\n")

    def test_tasks_inherit_our_environment(self):
        self.write("sweep.yaml", "command: printenv FROM_OUTSIDE")
        result = self.gantry("run", "--output", "sweep.yaml", env={"FROM_OUTSIDE": "yes it is"})
        self.assertEqual((result.code, result.stdout), (0, "yes it is\n"), result)

    def test_work_starts_beside_the_sweep_file(self):
        self.write("study/sweep.yaml", "command: pwd")
        result = self.gantry("run", "--output", "study/sweep.yaml")
        self.assertEqual(result.stdout, f"{self.dir}/study\n", result)

    def test_a_working_directory_for_each_task(self):
        self.run_sweep("""
            command: [sh, -c, 'pwd > here']
            parameters: {x: [1, 2]}
            workdir: work/{x}
            """)
        for x in "12":
            self.assertEqual(self.read(f"work/{x}/here"), f"{self.dir}/work/{x}\n")

    def test_outputs_must_be_there_in_the_end(self):
        self.write("make.sh", "test $1 = 2 || echo done > out-$1\n")
        self.run_sweep("""
            command: sh make.sh {x}
            parameters: {x: [1, 2, 3]}
            inputs: [make.sh]
            outputs: ["out-{x}"]
            """, code=1)
        tasks = self.gantry("tasks", "--json").json_lines()
        self.assertEqual([task["state"] for task in tasks], ["done", "failed", "done"])
        self.assertEqual(tasks[1]["cause"], "missing output")
        self.assertIn("out-2", tasks[1]["detail"])

    def test_timeout(self):
        # The one that is to end well has ten minutes for it.
        self.run_sweep("command: sleep {x}\nparameters: {x: [0, 600]}\nderived: {limit: 600.3 - x}\n"
                       "timeout: '{limit}s'\n", code=1)
        tasks = self.gantry("tasks", "--json").json_lines()
        self.assertEqual([task["cause"] for task in tasks], ["ok", "timeout"])

    def test_retries(self):
        self.write("flaky.py", """
            import os, sys
            with open("tries", "a") as f: f.write(os.environ["GANTRY_ATTEMPT"] + "\\n")
            sys.exit(0 if os.environ["GANTRY_ATTEMPT"] == "3" else 7)
            """)
        self.run_sweep("command: python3 flaky.py\nretries: {count: 3, backoff: 10ms, factor: 1.5, max: 50ms}\n")
        self.assertEqual(self.read("tries"), "1\n2\n3\n")
        self.assertEqual(self.gantry("tasks", "--json").json()["attempt"], 3)

    def test_retries_come_to_an_end(self):
        self.run_sweep("command: [sh, -c, 'echo x >> tries; exit 4']\nretries: 2\n", code=1)
        self.assertEqual(self.read("tries"), "x\n" * 3)
        task = self.gantry("tasks", "--json").json()
        self.assertEqual((task["state"], task["cause"], task["code"], task["attempt"]), ("failed", "exit code", 4, 3))

    def test_resources_are_shown(self):
        self.run_sweep("command: 'true'\nresources: {cores: 1, memory: 200 MB, walltime: 5 min}\n")
        explained = self.gantry("explain", "1", "--json").json()
        self.assertEqual((explained["cores"], explained["memory"]), (1, 200_000_000))
        self.assertIn("walltime 5", self.gantry("explain", "1").stdout)

    def test_a_study_without_parameters_is_one_task(self):
        self.assertEqual(self.commands_of("command: echo once"), [["echo", "once"]])

    def test_the_file_may_be_anywhere_and_have_any_name(self):
        self.write("deep er/my study.yml", "command: echo {x}\nparameters: {x: [1]}\n")
        result = self.gantry("run", "--output", "deep er/my study.yml")
        self.assertEqual((result.code, result.stdout), (0, "1\n"), result)
        self.assertEqual(self.gantry("status", "--json").json()["sweep_file"], f"{self.dir}/deep er/my study.yml")

    def test_yaml_and_options_in_either_order(self):
        self.write("sweep.yaml", "command: echo {x}\nparameters: {x: [1, 2]}\n")
        for words in (("--dry-run", "sweep.yaml"), ("sweep.yaml", "--dry-run")):
            result = self.gantry("run", *words)
            self.assertEqual(result.stdout, "echo 1\necho 2\n", result)
