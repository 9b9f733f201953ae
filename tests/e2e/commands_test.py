"""Every command: what it prints for people and for programs, its selectors, its exit status."""
import csv
import io
import json
import re
import sqlite3

import gantry_test

COMMANDS = ("run", "status", "top", "forecast", "tasks", "log", "results", "fetch", "explain", "cancel", "retry", "runs", "clean", "plan",
            "simulate", "grid", "testbed", "completion")


class CommandsCase(gantry_test.TestCase):
    """A study of six tasks, of which the second fails, with two results each."""

    def setUp(self):
        super().setUp()
        self.write("model.py", """
            import sys
            x, mode = float(sys.argv[1]), sys.argv[2]
            print(f"energy = {x * x if mode == 'a' else -x}")
            print(f"{mode} took {int(x)} steps", file=sys.stderr)
            if x == 1 and mode == "b": sys.exit("does not converge")
            """)
        self.write("sweep.yaml", """
            name: little
            command: python3 model.py {x} {mode}
            parameters: {x: [1, 2, 3], mode: [a, b]}
            results:
              energy: {stdout: 'energy = (\\S+)'}
            """)
        self.result = self.gantry("run", "sweep.yaml")
        self.assertEqual(self.result.code, 1, self.result)

    def ok(self, *words, **options):
        result = self.gantry(*words, **options)
        self.assertEqual(result.code, 0, result)
        return result

    def wrong(self, *words, has=(), code=2):
        result = self.gantry(*words)
        self.assertEqual(result.code, code, result)
        self.assertEqual(result.stdout, "", result)
        self.assertTrue(result.stderr.startswith("gantry: "), result)
        flat = re.sub(r"\s+", " ", result.stderr)
        for word in has:
            self.assertIn(word, flat, result)
        return result


class QueriesTest(CommandsCase):
    def test_runs_fit_a_terminal_with_time_and_file(self):
        lines = self.ok("runs").stdout.splitlines()
        self.assertLessEqual(max(map(len, lines)), 80)
        self.assertRegex(lines[1], r"[A-Z][a-z]{2} \d\d \d\d:\d\d  sweep.yaml$")

    def test_help_has_no_traces_of_its_parser(self):
        for command in COMMANDS:
            text = self.ok(command, "--help").stdout
            self.assertNotIn("Excludes:", text)
            self.assertNotIn(" x 2", text)

    def test_habits_of_gnu_parallel_are_answered(self):
        for option, instead in {"--bar": "progress by itself", "--results": "gantry log",
                                "--halt": "--max-fails"}.items():
            self.wrong("run", option, "--", "echo", has=[option, instead])

    def test_run_tells_how_it_went(self):
        self.assertIn("energy", self.result.stdout)
        self.assertIn("5 done", self.result.stderr)
        self.assertIn("1 failed", self.result.stderr)
        self.assertIn("does not converge", self.result.stderr)
        self.assertIn(str(self.state), self.result.stderr)
        self.assertIn("gantry retry --failed", self.result.stderr)

    def test_status(self):
        text = self.ok("status").stdout
        for word in ("run 1", "little", "finished", "5 done", "1 failed"):
            self.assertIn(word, text)
        status = self.ok("status", "--json").json()
        self.assertEqual({key: status[key] for key in ("run", "name", "state", "total", "done", "failed", "pending")},
                         {"run": 1, "name": "little", "state": "finished", "total": 6, "done": 5, "failed": 1, "pending": 0})
        self.ok("run", "--", "true")
        self.assertEqual([line["run"] for line in self.ok("status", "all", "--json").json_lines()], [1, 2])
        self.assertEqual(self.ok("status", "1", "--json").json()["name"], "little")
        self.assertEqual(self.ok("status", "last", "--json").json()["name"], "true")

    def test_tasks_and_selectors(self):
        ids = lambda *words: [task["task"] for task in self.ok("tasks", *words, "--json").json_lines()]
        self.assertEqual(ids(), [1, 2, 3, 4, 5, 6])
        self.assertEqual(ids("all"), [1, 2, 3, 4, 5, 6])
        self.assertEqual(ids("1,3,5-6"), [1, 3, 5, 6])
        self.assertEqual(ids("5-6,1,1-2"), [1, 2, 5, 6])
        self.assertEqual(ids("4-100"), [4, 5, 6])
        self.assertEqual(ids("--failed"), [2])
        self.assertEqual(ids("--done"), [1, 3, 4, 5, 6])
        self.assertEqual(ids("--failed", "--done"), [1, 2, 3, 4, 5, 6])
        self.assertEqual(ids("3-6", "--failed"), [])
        self.assertEqual(ids("--pending"), [])
        task = self.ok("tasks", "2", "--json").json()
        self.assertEqual((task["state"], task["cause"], task["code"], task["parameters"]),
                         ("failed", "exit code", 1, {"x": 1, "mode": "b"}))
        done = self.ok("tasks", "3", "--json").json()
        self.assertEqual((done["results"], done["attempt"], done["reused"]), ({"energy": 4.0}, 1, False))
        self.assertGreater(done["max_rss"], 0)

    def test_tasks_as_a_table(self):
        lines = self.ok("tasks").stdout.splitlines()
        self.assertEqual(lines[0].split(), ["task", "state", "try", "time", "why", "x", "mode"])
        self.assertEqual(len(lines), 7)
        self.assertIn("exit code 1", lines[2])

    def test_log(self):
        log = self.ok("log", "3")
        self.assertEqual((log.stdout, log.stderr), ("energy = 4.0\n", "a took 2 steps\n"))
        self.assertEqual(self.ok("log", "3", "--stdout").stderr, "")
        self.assertEqual(self.ok("log", "3", "--stderr").stdout, "a took 2 steps\n")
        self.wrong("log", "3", "--attempt", "7", has=["attempt 7"])
        several = self.ok("log", "1-3", "--stdout").stdout
        self.assertEqual(several.count("==>"), 3)
        failed = self.ok("log", "--failed", "--stderr").stdout
        self.assertIn("does not converge", failed)
        self.assertNotIn("took 2", failed)

    def test_results_as_a_table(self):
        lines = self.ok("results").stdout.splitlines()
        self.assertEqual(lines[0].split(), ["task", "x", "mode", "energy"])
        self.assertEqual([line.split() for line in lines[1:3]], [["1", "1", "a", "1.0"], ["3", "2", "a", "4.0"]])
        self.assertEqual(len(lines), 6)
        self.assertEqual(len(self.ok("results", "--all").stdout.splitlines()), 7)
        self.assertEqual(len(self.ok("results", "1-3").stdout.splitlines()), 3)

    def test_results_as_csv(self):
        for words in (("--csv",), ("--format", "csv")):
            rows = list(csv.DictReader(io.StringIO(self.ok("results", *words).stdout)))
            self.assertEqual([row["energy"] for row in rows], ["1.0", "4.0", "-2.0", "9.0", "-3.0"])
            self.assertEqual(rows[0]["mode"], "a")

    def test_results_as_json_lines(self):
        for words in (("--jsonl",), ("--json",), ("--format", "jsonl")):
            rows = self.ok("results", *words).json_lines()
            self.assertEqual([row["energy"] if "energy" in row else row["results"]["energy"] for row in rows],
                             [1.0, 4.0, -2.0, 9.0, -3.0])

    def test_plot(self):
        plot = self.ok("results", "--plot", "x", "energy").stdout
        self.assertIn("energy", plot)
        self.assertLessEqual(max(map(len, plot.splitlines())), 80)
        self.assertGreater(len(plot.splitlines()), 8)
        grouped = self.ok("results", "--plot", "x", "energy", "--by", "mode").stdout
        self.assertIn("mode=a", grouped)
        self.assertIn("mode=b", grouped)
        self.assertNotEqual(plot, grouped)
        self.ok("results", "--plot", "x", "energy", "--log-x")
        self.wrong("results", "--plot", "x", "enrgy", has=["enrgy", "did you mean 'energy'"])
        self.wrong("results", "--plot", "x")
        self.wrong("results", "--plot", "x", "energy", "--by", "none", has=["none"])

    def test_explain(self):
        text = self.ok("explain", "2").stdout
        for word in ("task 2", "failed", "exit code 1", "does not converge", "python3 model.py 1 b", "x=1", "mode=b",
                     "gantry log 2", "gantry retry 2"):
            self.assertIn(word, text)
        told = self.ok("explain", "1-2", "--json").json_lines()
        self.assertEqual([task["state"] for task in told], ["done", "failed"])
        self.assertEqual(told[1]["command"], ["python3", "model.py", "1", "b"])
        self.assertEqual(told[1]["history"][0]["cause"], "exit code")

    def test_runs_and_clean(self):
        for number in (2, 3, 4):
            self.ok("run", "--", "echo", str(number))
        runs = self.ok("runs", "--json").json_lines()
        self.assertEqual([(run["run"], run["name"]) for run in runs], [(1, "little"), (2, "echo"), (3, "echo"), (4, "echo")])
        self.assertEqual(len(self.ok("runs").stdout.splitlines()), 5)
        refused = self.wrong("clean", "1", has=["--yes"])
        self.assertIn("little", refused.stderr)
        self.ok("clean", "2", "--yes")
        self.ok("clean", "--keep", "1", "-y")
        self.assertEqual([run["run"] for run in self.ok("runs", "--json").json_lines()], [4])
        self.ok("clean", "last", "--yes")
        self.wrong("status", has=["no runs"])

    def test_retry_in_place(self):
        self.write("model.py", "print('energy = 5')")
        self.ok("retry", "--failed")
        status = self.ok("status", "--json").json()
        self.assertEqual((status["run"], status["done"], status["failed"]), (1, 6, 0))
        self.assertEqual(self.ok("tasks", "2", "--json").json()["attempt"], 2)
        nothing = self.ok("retry", "--failed")
        self.assertEqual(self.ok("tasks", "2", "--json").json()["attempt"], 2, nothing)

    def test_cancel_of_what_has_ended(self):
        self.assertIn("nothing to cancel", self.ok("cancel").stderr)

    def test_the_journal_can_be_asked_with_sql(self):
        with sqlite3.connect(f"file:{self.state}/gantry.db?mode=ro", uri=True) as database:
            self.assertEqual(database.execute("pragma integrity_check").fetchone(), ("ok",))


class UsageTest(CommandsCase):
    def test_help_of_every_command_has_examples(self):
        overview = self.ok("--help").stdout
        self.assertEqual(self.ok("help").stdout, overview)
        for command in COMMANDS:
            self.assertIn(f"\n  {command} ", overview)
            text = self.ok(command, "--help").stdout
            self.assertIn("Examples:\n  ", text, command)
            self.assertIn(f"gantry {command}", text)
            self.assertTrue(text.endswith("\n") and not text.endswith("\n\n"), f"{command}: {text[-40:]!r}")
            self.assertLessEqual(max(map(len, text.splitlines())), 80, text)
            self.assertEqual(self.ok("help", command).stdout, text)
            self.assertEqual(self.ok(command, "-h").stdout, text)
        self.assertTrue(overview.endswith("\n"))
        self.assertLessEqual(max(map(len, overview.splitlines())), 80, overview)

    def test_every_option_is_in_the_manual_page(self):
        page = (gantry_test.ROOT / "docs/man/gantry.1").read_text().replace("\\-", "-").replace("\\fP", "").replace("\\fI", "")
        sections = {part.split()[0]: part for part in re.split(r"^\.S[SH] ", page, flags=re.M)[1:]}
        # Whatever the program has, not what this file knows of.
        listed = set(re.findall(r"^  ([a-z]+) {2,}", self.ok("--help").stdout, flags=re.M)) - {"help"}
        self.assertLessEqual(set(COMMANDS), listed)
        for option in re.findall(r"(?m)^  (-[-\w,]+)", self.ok("--help").stdout):
            for each in option.split(","):
                self.assertIn(each, sections["OPTIONS"])
        for command in listed:
            self.assertIn(command, sections)
            for line in self.ok(command, "--help").stdout.splitlines():
                if not re.match("  -", line):
                    continue
                for option in line.split()[0].split(","):
                    if option not in ("-h", "--help"):
                        self.assertRegex(sections[command], rf"(?<![-\w]){option}(?![-\w])", f"{command} {option}")

    def test_version(self):
        self.assertRegex(self.ok("--version").stdout, r"^gantry \d+\.\d+\.\d+\n$")

    def test_without_words_it_tells_what_there_is(self):
        result = self.gantry()
        self.assertEqual(result.code, 2)
        self.assertIn("run", result.stderr + result.stdout)
        self.assertIn("gantry run sweep.yaml", result.stderr + result.stdout)

    def test_mistyped_commands_and_options(self):
        self.wrong("stauts", has=["stauts", "did you mean 'status'"])
        self.wrong("reslts", has=["did you mean 'results'"])
        self.wrong("frobnicate", has=["frobnicate", "gantry --help"])
        self.wrong("sweep.yaml", has=["gantry run sweep.yaml"])
        self.wrong("tasks", "--faild", has=["--faild", "did you mean '--failed'"])
        self.wrong("run", "--dryrun", "--", "echo", has=["--dryrun", "did you mean '--dry-run'"])
        self.wrong("status", "1", "2", has=["2"])
        self.wrong("help", "stauts", has=["stauts"])
        self.wrong("completion", "fish", has=["fish"])
        self.wrong("--color", "pink", "status", has=["pink"])
        self.wrong("results", "--format", "xml", has=["xml"])

    def test_selectors_that_make_no_sense(self):
        for selector in ("x", "1-", "-1", "3-2", "1,,2", "0", "7", "1.5", "99999999999"):
            for command in ("tasks", "log", "retry", "cancel", "results", "explain"):
                result = self.gantry(command, "--", selector) if selector == "-1" else self.gantry(command, selector)
                self.assertEqual(result.code, 2, result)
                self.assertIn("gantry: ", result.stderr)
        self.wrong("tasks", "7", has=["7", "6"])

    def test_runs_that_do_not_exist(self):
        for words in (("status", "9"), ("tasks", "--run", "9"), ("log", "--run", "9"), ("results", "--run", "9"),
                      ("explain", "1", "--run", "9"), ("retry", "--run", "9"), ("cancel", "--run", "9"),
                      ("clean", "9", "--yes")):
            self.wrong(*words, has=["no run 9", "gantry runs"])

    def test_where_nothing_was_run(self):
        (self.dir / "empty").mkdir()
        for command in ("status", "tasks", "log", "results", "runs", "cancel", "retry"):
            result = self.gantry(command, cwd=self.dir / "empty")
            self.assertEqual(result.code, 2, result)
            self.assertIn("no runs", result.stderr)
        self.assertEqual(list((self.dir / "empty").iterdir()), [], "a question must not leave traces")

    def test_the_state_directory_can_be_named(self):
        (self.dir / "sub").mkdir()
        for words, env in ((("--state", "../.gantry"), {}), ((), {"GANTRY_STATE": str(self.state)})):
            status = self.ok(*words, "status", "--json", cwd=self.dir / "sub", env=env)
            self.assertEqual(status.json()["name"], "little")
        self.assertEqual(self.ok("status", "--state", "../.gantry", "--json", cwd=self.dir / "sub").json()["run"], 1)

    def test_a_broken_place_is_the_machines_fault(self):
        self.write("file", "")
        result = self.gantry("--state", "file/x", "run", "--", "true")
        self.assertEqual(result.code, 3, result)
        self.assertIn("file/x", result.stderr)
        self.write("bad/gantry.db", "this is no database, but long enough to look at" * 100)
        result = self.gantry("--state", "bad", "status")
        self.assertEqual(result.code, 3, result)
        self.assertIn("gantry.db", result.stderr)

    def test_a_reader_that_goes_away(self):
        self.ok("run", "-q", "--no-output", "--", "echo", ":::", "1..300")
        result = self.run_command(["bash", "-c", f"set -o pipefail; '{gantry_test.GANTRY}' tasks --json | head -1"])
        self.assertEqual(json.loads(result.stdout)["task"], 1)
        self.assertEqual(result.stderr, "")

    def test_a_full_device(self):
        with open("/dev/full", "w") as full:
            child = self.start_gantry("tasks", stdout=full)
            _, stderr = child.communicate(timeout=gantry_test.PATIENCE)
        self.assertEqual(child.returncode, 3)
        self.assertIn(b"No space left", stderr)


class PipedTest(CommandsCase):
    """What a pipe or a file gets: plain text, at most 80 columns."""

    def test_no_colours_unless_asked_for(self):
        for words in (("status",), ("tasks",), ("results",), ("runs",), ("explain", "2"), ("--help",),
                      ("results", "--plot", "x", "energy"), ("stauts",), ("run", "sweep.yaml")):
            result = self.gantry(*words, env={"TERM": "xterm-256color"})
            self.assertNotIn("\x1b", result.stdout + result.stderr, words)
            self.assertNotIn("\r", result.stdout + result.stderr, words)
        self.assertIn("\x1b[", self.gantry("--color", "always", "tasks").stdout)

    def test_eighty_columns(self):
        self.write("wide.yaml", """
            name: a study with a name that is rather long for the table in which it is shown
            command: echo {word} {other}
            parameters:
              word: ["%s"]
              other: [ünïcödé wörds thät äre lönger thän önë lïne öf ä tërmïnäl usually is wide, 宽字符宽字符宽字符宽字符宽字符宽字符宽字符宽字符宽字符宽字符宽字符宽字符]
            """ % ("x" * 300))
        self.ok("run", "wide.yaml")
        for words in (("tasks",), ("results",), ("runs",), ("status",), ("explain", "2")):
            text = self.ok(*words).stdout
            for line in text.splitlines():
                wide = sum(1 for letter in line if letter > "\u2fff")
                if "/tmp/" in line:
                    continue  # a path is not cut into pieces
                self.assertLessEqual(len(line) + wide, 80, f"{words}: {line}")
        self.assertIn("x" * 300, self.ok("tasks", "--wide").stdout)

    def test_failures_are_not_wider_either(self):
        self.write("sad.py", "import sys; sys.exit('something went wrong ' * 12)\n")
        self.write("sad.yaml", "command: python3 sad.py {x}\nparameters: { x: [1, 2] }\nretries: { count: 1, backoff: 1ms }\n")
        result = self.gantry("run", "sad.yaml")
        self.assertEqual(result.code, 1, result)
        self.assertIn("task 2: exit code 1: something went wrong", result.stderr)
        wide = [line for line in result.stderr.splitlines() if len(line) > 80 and "/tmp/" not in line]
        self.assertEqual(wide, [], result)

    def test_json_is_json_whatever_the_values(self):
        nasty = ['"quotes"', "back\\slash", "new\nline", "\x1b[31m", "\x7f", "ünï", "NaN", "1e5", "0x10", "007", "-", "true"]
        # YAML has no way to say a byte that is no UTF-8; a one-liner does.
        self.ok("run", "-q", "--no-output", "--", "echo", "{v}", ":::", "v=", *nasty)
        values = [task["parameters"]["v"] for task in self.ok("tasks", "--json").json_lines()]
        self.assertEqual([str(value) if isinstance(value, str) else value for value in values[:7]],
                         nasty[:7])
        self.assertEqual(values[9], "007", "a number that JSON would not write so stays a text")
        for words in (("results", "--json"), ("status", "--json"), ("runs", "--json"), ("explain", "all", "--json"),
                      ("run", "--dry-run", "--json", "--", "echo", "{v}", ":::", "v=", *nasty)):
            self.assertTrue(self.ok(*words).json_lines(), words)

    def test_invalid_utf8_in_a_value(self):
        result = self.run_command(["bash", "-c", f"'{gantry_test.GANTRY}' run -q --no-output -- printf '%s' {{}} ::: $'a\\xffb'"])
        self.assertEqual(result.code, 0, result)
        for words in (("tasks", "--json"), ("results", "--json"), ("explain", "1", "--json")):
            child = self.start_gantry(*words)
            printed, _ = child.communicate(timeout=gantry_test.PATIENCE)
            json.loads(printed.decode("utf-8"))  # strict
        child = self.start_gantry("log", "1")
        self.assertEqual(child.communicate(timeout=gantry_test.PATIENCE)[0], b"a\xffb")

    def test_run_as_json_lines(self):
        events = self.gantry("run", "--fresh", "--json", "sweep.yaml").json_lines()
        self.assertEqual((events[0]["event"], events[0]["tasks"], events[0]["name"]), ("started", 6, "little"))
        tasks = [event for event in events if event["event"] == "task"]
        self.assertEqual(sorted(event["task"] for event in tasks), [1, 2, 3, 4, 5, 6])
        self.assertEqual([event["task"] for event in tasks if not event["ok"]], [2])
        self.assertEqual({event["task"]: event["results"] for event in tasks}[3], {"energy": 4.0})
        last = events[-1]
        self.assertEqual((last["event"], last["done"], last["failed"], last["executed"]), ("summary", 5, 1, 6))

    def test_quiet_is_quiet(self):
        result = self.gantry("run", "--fresh", "-q", "sweep.yaml")
        self.assertEqual((result.code, result.stdout, result.stderr), (1, "", ""), result)
