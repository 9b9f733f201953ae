"""One-liners with `:::`, in every form, and beside GNU parallel for the habits that both share."""
import os
import pathlib
import shutil
import time
import unittest

import gantry_test

FILES = ("a/b/photo.tar.gz", "plain", "dir.d/noext", "./x.jpg", "/abs/path/y.jpg")


class OneLinerTest(gantry_test.TestCase):
    def lines_of(self, *args, **options):
        """Standard output of `gantry run -j1`, which runs tasks in their order. Fresh: what an earlier call of the
        test has run would be printed after the rest."""
        result = self.gantry("run", "-j1", "--fresh", *args, **options)
        self.assertEqual(result.code, 0, result)
        return result.stdout.splitlines()

    def words_of(self, *args, **options):
        """What --dry-run says that each task's command is."""
        result = self.gantry("run", "--dry-run", "--json", *args, **options)
        self.assertEqual(result.code, 0, result)
        return [task["command"] for task in result.json_lines()]

    def test_named_parameters_are_crossed_the_last_fastest(self):
        lines = self.lines_of("--", "echo", "--seed", "{seed}", "--geom={g}", ":::", "seed=1..3", ":::",
                              "g=a.mdl,b.mdl")
        self.assertEqual(lines, [f"--seed {seed} --geom={g}" for seed in (1, 2, 3) for g in ("a.mdl", "b.mdl")])

    def test_ranges_step_and_count_down(self):
        self.assertEqual(self.lines_of("--", "echo", "{x}", ":::", "x=0..1 step 0.25"), ["0", "0.25", "0.5", "0.75", "1"])
        self.assertEqual(self.lines_of("--", "echo", "{}", ":::", "8..10"), ["8", "9", "10"])
        self.assertEqual(self.lines_of("--", "echo", "{x}", ":::", "x=1..3,7,10..11"), ["1", "2", "3", "7", "10", "11"])

    def test_unnamed_by_braces_and_by_number(self):
        self.assertEqual(self.lines_of("--", "echo", "{}", ":::", "a", "b", "c"), ["a", "b", "c"])
        self.assertEqual(self.lines_of("--", "echo", "{2}-{1}", ":::", "a", "b", ":::", "x", "y"),
                         ["x-a", "y-a", "x-b", "y-b"])

    def test_values_go_to_the_end_without_a_placeholder(self):
        self.assertEqual(self.lines_of("--", "echo", "said", ":::", "a", "b c"), ["said a", "said b c"])
        self.assertEqual(self.words_of("--", "echo", ":::", "a", ":::", "b c"), [["echo", "a", "b c"]])

    def test_the_double_dash_may_be_left_out(self):
        self.assertEqual(self.lines_of("echo", "-n", "{}", ":::", "a"), ["a"])

    def test_a_command_in_one_word(self):
        self.assertEqual(self.words_of("echo 'a  b' {}", ":::", "c d"), [["echo", "a  b", "c d"]])

    def test_linked_lists(self):
        self.assertEqual(self.lines_of("--", "echo", "{1}{2}", ":::", "a", "b", "c", ":::+", "1", "2", "3"),
                         ["a1", "b2", "c3"])
        self.assertEqual(
            self.lines_of("--", "echo", "{x}{y}{z}", ":::", "x=a,b", ":::+", "y=1,2", ":::", "z=p,q"),
            ["a1p", "a1q", "b2p", "b2q"])

    def test_linked_lists_of_different_length_are_refused(self):
        result = self.gantry("run", "--", "echo", "{1}{2}", ":::", "a", "b", ":::+", "1")
        self.assertEqual(result.code, 2, result)
        self.assertIn("2", result.stderr)
        self.assertFalse(self.state.exists(), "nothing may have been started")

    def test_values_from_a_file(self):
        self.write("list.txt", "one\ntwo words\n  spaces stay \n")
        self.assertEqual(self.words_of("--", "echo", "{}", "::::", "list.txt"),
                         [["echo", "one"], ["echo", "two words"], ["echo", "  spaces stay "]])

    def test_values_from_a_file_linked_to_others(self):
        self.write("list.txt", "1\n2\n")
        self.assertEqual(self.lines_of("--", "echo", "{1}{2}", ":::", "a", "b", "::::+", "list.txt"), ["a1", "b2"])

    def test_values_from_standard_input(self):
        self.assertEqual(self.lines_of("--", "echo", "<{}>", stdin="a\nb c\n"), ["<a>", "<b c>"])
        self.assertEqual(self.lines_of("--", "echo", "{1}{2}", "::::", "-", ":::", "x", "y", stdin="1\n2\n"),
                         ["1x", "1y", "2x", "2y"])

    def test_standard_input_is_remembered_for_a_retry(self):
        result = self.gantry("run", "--", "sh", "-c", "echo got \"$0\"; test -e flag", "{}", stdin="a\nb\n")
        self.assertEqual(result.code, 1, result)
        self.write("flag", "")
        again = self.gantry("retry", "--failed", "-j1", "--output")
        self.assertEqual(again.code, 0, again)
        self.assertEqual(again.stdout, "got a\ngot b\n")

    def test_parts_of_names(self):
        for form, wanted in {"{.}": "a/b/photo.tar", "{/}": "photo.tar.gz", "{//}": "a/b", "{/.}": "photo.tar"}.items():
            self.assertEqual(self.words_of("--", "echo", form, ":::", FILES[0]), [["echo", wanted]], form)
        self.assertEqual(self.words_of("--", "echo", "{g/.}", ":::", "g=" + FILES[0]), [["echo", "photo.tar"]])

    def test_the_number_of_the_task(self):
        self.assertEqual(self.lines_of("--", "echo", "{#}{}", ":::", "a", "b"), ["1a", "2b"])

    def test_values_reach_the_program_as_they_are(self):
        nasty = ["$(touch evil)", "; touch evil", "`touch evil`", "a'b\"c", "new\nline", "-n", "--", "*", "{x}",
                 "\\", "tab\there", "ünïcödé", "../up", "", " "]
        self.write("show.py", "import sys; print(ascii(sys.argv[1]))")
        lines = self.lines_of("--", "python3", "show.py", "{}", ":::", *nasty)
        self.assertEqual(lines, [ascii(value) for value in nasty])
        self.assertFalse((self.dir / "evil").exists())

    def test_values_inside_of_a_shells_text_are_warned_about(self):
        result = self.gantry("run", "--", "sh", "-c", "echo {}", ":::", "a; echo b")
        self.assertEqual((result.code, result.stdout), (0, "a\nb\n"), "the person's own shell reads it")
        self.assertIn("warning", result.stderr)
        self.assertIn("GANTRY_PARAM_arg1", result.stderr)
        self.assertNotIn("warning", self.gantry("run", "--", "sh", "-c", "echo {}", ":::", "1..3").stderr)

    def test_jobs_limit_what_runs_at_once(self):
        self.write("held.sh", "touch begun.$1; while [ ! -e go.$1 ]; do sleep 0.02; done; echo $1")

        def begun():
            return {path.suffix[1:] for path in self.dir.glob("begun.*")}

        child = self.start_gantry("run", "-q", "-j3", "--", "sh", "held.sh", "{}", ":::", "1..6")
        for ended in range(4):
            self.wait_until(lambda: len(begun()) >= 3 + ended, f"three run beside {ended} that ended")
            time.sleep(0.3)  # a fourth one would begin by now
            self.assertEqual(len(begun()), 3 + ended)
            self.write(f"go.{ended + 1}", "")
        for task in (5, 6):
            self.write(f"go.{task}", "")
        out, _ = child.communicate(timeout=60)
        self.assertEqual((child.returncode, sorted(out.split())), (0, [b"1", b"2", b"3", b"4", b"5", b"6"]))

    def test_output_of_tasks_is_never_mixed(self):
        # No task prints its next line before the others have printed this one.
        self.write("talk.py", """
            import os, sys, time
            for line in range(5):
                print(sys.argv[1] * 20, flush=True)
                open(f"said.{line}.{sys.argv[1]}", "w").close()
                while not all(os.path.exists(f"said.{line}.{other}") for other in "abcd"):
                    time.sleep(0.01)
            """)
        result = self.gantry("run", "-j4", "--", "python3", "talk.py", "{}", ":::", *"abcd")
        self.assertEqual(result.code, 0, result)
        lines = result.stdout.splitlines()
        blocks = [lines[i:i + 5] for i in range(0, len(lines), 5)]
        self.assertEqual(sorted(blocks), [[letter * 20] * 5 for letter in "abcd"])

    def test_standard_error_stays_standard_error(self):
        result = self.gantry("run", "-q", "--", "sh", "-c", "echo out $0; echo err $0 >&2", "{}", ":::", "1")
        self.assertEqual((result.stdout, result.stderr), ("out 1\n", "err 1\n"))

    def test_through_a_shell_with_values_quoted(self):
        result = self.gantry("run", "-q", "--shell", "--", "echo {} | tr a-z A-Z", ":::", "it's $HOME;")
        self.assertEqual((result.code, result.stdout), (0, "IT'S $HOME;\n"), result)
        result = self.gantry("run", "-q", "--shell", "echo", "{1}-{2}", "|", "rev", ":::", "ab", ":::", "cd")
        self.assertEqual((result.code, result.stdout), (0, "dc-ba\n"), result)

    def test_a_value_is_no_part_of_a_variables_name(self):
        result = self.gantry("run", "-q", "-k", "--shell", "--", 'X=1; echo "$X{}" "$X-{}"', ":::", "abc", "_1", "5")
        self.assertEqual((result.code, result.stdout), (0, "1abc 1-abc\n1_1 1-_1\n15 1-5\n"), result)

    def test_output_in_the_order_of_tasks(self):
        self.write("first.sh", "[ $1 = 1 ] && while [ ! -e last ]; do sleep 0.02; done; [ $1 = 6 ] && touch last; echo $1")
        result = self.gantry("run", "-q", "-k", "-j2", "--", "sh", "first.sh", "{}", ":::", "1..6")
        self.assertEqual((result.code, result.stdout), (0, "1\n2\n3\n4\n5\n6\n"), result)
        again = self.gantry("run", "-q", "--keep-order", "-j2", "--", "sh", "first.sh", "{}", ":::", "1..6")
        self.assertEqual(again.stdout, result.stdout)

    def test_order_is_kept_over_failures_and_reruns(self):
        self.write("some.sh", "echo $1; [ $1 -ne 2 ] || [ -e ok ]")
        run = ("run", "-q", "-k", "--", "sh", "some.sh", "{}", ":::", "1..3")
        self.assertEqual(self.gantry(*run).stdout, "1\n2\n3\n")
        self.write("ok", "")
        self.assertEqual(self.gantry(*run).stdout, "1\n2\n3\n")

    def test_lines_with_their_values(self):
        result = self.gantry("run", "-q", "-k", "--tag", "--", "sh", "-c", "echo one; printf two", "x", "{}", ":::", "a", "b c")
        self.assertEqual(result.stdout, "a\tone\na\ttwo\nb c\tone\nb c\ttwo\n")

    def test_timeout_and_retries(self):
        result = self.gantry("run", "--timeout", "0.2s", "--", "sleep", "{}", ":::", "60")
        self.assertEqual(result.code, 1, result)
        self.assertIn("timeout", result.stderr)
        self.write("third.sh", "echo x >> tries; [ $(wc -l < tries) -eq 3 ]")
        result = self.gantry("run", "--retries=2", "--", "sh", "third.sh", "{}", ":::", "a")
        self.assertEqual(result.code, 0, result)
        self.write("sweep.yaml", "command: echo")
        self.assertIn("write timeout: into sweep.yaml", self.gantry("run", "--timeout", "1s", "sweep.yaml").stderr)

    def test_a_job_log(self):
        result = self.gantry("run", "-q", "--joblog", "log", "--", "sh", "-c", "echo $0; exit $0", "{}", ":::", "0", "3")
        self.assertEqual(result.code, 1, result)
        rows = sorted(line.split("\t") for line in self.read("log").splitlines())
        self.assertEqual(rows[-1], "Seq Host Starttime JobRuntime Send Receive Exitval Signal Command".split())
        self.assertEqual([(row[0], row[1], row[5], row[6], row[7]) for row in rows[:2]],
                         [("1", ":", "2", "0", "0"), ("2", ":", "2", "3", "0")])
        self.assertIn("'echo $0; exit $0' 3", rows[1][8])
        self.assertEqual(self.gantry("run", "--joblog", "no/such/dir", "--", "echo", ":::", "1").code, 3)

    def test_a_job_log_that_cannot_be(self):
        self.write("sweep.yaml", "command: touch ran\n")
        os.mkfifo(self.dir / "pipe")
        for path, code, says in (("/dev/full", 3, "No space left"), ("pipe", 2, "nobody reads this pipe"),
                                 ("./sweep.yaml", 2, "is the sweep file")):
            result = self.gantry("run", "--joblog", path, "sweep.yaml")
            self.assertEqual(result.code, code, result)
            self.assertIn(says, " ".join(result.stderr.split()))
        self.assertEqual(self.read("sweep.yaml"), "command: touch ran\n")
        self.assertFalse((self.dir / "ran").exists())

    def test_no_output_wins(self):
        result = self.gantry("run", "-q", "-k", "--tag", "--no-output", "--", "echo", "{}", ":::", "a")
        self.assertEqual((result.code, result.stdout), (0, ""), result)

    def test_no_lines_run_nothing(self):
        for words in (("touch", "ran"), ("touch", "{}")):
            result = self.gantry("run", "--", *words, stdin="")
            self.assertEqual(result.code, 2, result)
            self.assertIn("no lines", result.stderr)
        self.assertEqual(list(self.dir.iterdir()), [])

    def test_words_for_a_shell_are_warned_of(self):
        result = self.gantry("run", "echo {} | wc -c", ":::", "a")
        self.assertEqual((result.code, result.stdout), (0, "a | wc -c\n"), result)
        self.assertIn("no shell runs this command", result.stderr)

    def test_a_deleted_directory_is_named(self):
        result = self.run_command(["sh", "-c", f"mkdir gone; cd gone; rmdir ../gone; '{gantry_test.GANTRY}' "
                                   f"--state '{self.state}' run -- echo {{}} ::: a"])
        self.assertEqual(result.code, 2, result)
        self.assertIn("the current directory is gone", result.stderr)

    def test_dry_run_runs_nothing(self):
        result = self.gantry("run", "--dry-run", "--", "touch", "{}", ":::", "a b", "c")
        self.assertEqual(result.code, 0, result)
        self.assertEqual(result.stdout, "touch 'a b'\ntouch c\n")
        self.assertEqual(list(self.dir.iterdir()), [])

    def test_mistakes_are_named(self):
        for args, words in {
            ("--", "echo", "{seed}", ":::", "sede=1..3"): ["{seed}", "sede"],
            ("--", "echo", "{3}", ":::", "a", ":::", "b"): ["{3}", "counted from 1"],
            ("--", "echo", ":::+", "a"): [":::+"],
            ("--", "echo", "{}", ":::"): [":::"],
            ("--", "echo", "{}", "::::", "absent.txt"): ["absent.txt"],
            ("--", ":::", "a"): ["no command"],
            ("--", "echo", "{x}{y}", ":::", "x=1", ":::", "x=2"): ["x"],
            ("-j0", "--", "echo", ":::", "a"): ["jobs"],
            ("-jx", "--", "echo", ":::", "a"): ["x"],
            ("--max-fails", "-1", "--", "echo", ":::", "a"): ["max-fails"],
            ("--max-fails", "0", "--", "echo", ":::", "a"): ["max-fails", "0"],
            ("--max-fails", "abc", "--", "echo", ":::", "a"): ["max-fails", "abc"],
            ("--retries", "", "--", "echo", ":::", "a"): ["--retries"],
            ("--timeout", "", "--", "echo", ":::", "a"): ["--timeout"],
            (): ["nothing to run"],
        }.items():
            result = self.gantry("run", *args)
            self.assertEqual(result.code, 2, result)
            self.assertEqual(result.stdout, "", result)
            for word in words:
                self.assertIn(word, result.stderr)
            self.assertFalse(self.state.exists(), result)


@unittest.skipUnless(shutil.which("parallel"), "GNU parallel is not installed")
class BesideParallelTest(gantry_test.TestCase):
    """The same words give the same lines from GNU parallel and from gantry."""

    def setUp(self):
        super().setUp()
        self.env["PARALLEL_HOME"] = str(self.dir / "parallel-home")
        pathlib.Path(self.env["PARALLEL_HOME"]).mkdir()
        self.env["HOME"] = str(self.dir)
        self.write("parallel-home/will-cite", "")
        self.write("list.txt", "x\ny y\n")
        self.write("args.py", "import sys; print(ascii(sys.argv[1:]))")

    def same(self, *words, stdin=""):
        theirs = self.run_command(["parallel", "-k", "-j2", *words], stdin=stdin)
        ours = self.gantry("run", "-j1", "--fresh", "--", *words, stdin=stdin)
        self.assertEqual((theirs.code, ours.code), (0, 0), f"{theirs}{ours}")
        self.assertEqual(theirs.stdout, ours.stdout)
        self.assertNotEqual(theirs.stdout, "")

    def test_replacement_strings(self):
        for form in ("{}", "{.}", "{/}", "{//}", "{/.}"):
            self.same("echo", form, ":::", *FILES)

    def test_positional_replacement_strings(self):
        for form in ("{1}", "{1.}", "{1/}", "{1//}", "{1/.}"):
            self.same("echo", form + "-{2}", ":::", *FILES, ":::", "x", "y")

    def test_products_and_their_order(self):
        self.same("echo", "{1}", "{2}", "{3}", ":::", "a", "b", ":::", "c", "d", ":::", "e", "f")
        self.same("echo", ":::", "a", "b", ":::", "c", "d")

    def test_one_command_word(self):
        self.same("echo a{}b", ":::", "1", "2")

    def test_linked_lists(self):
        self.same("echo", "{1}{2}", ":::", "a", "b", "c", ":::+", "1", "2", "3")
        self.same("echo", "{1}{2}{3}", ":::", "a", "b", ":::+", "1", "2", ":::", "p", "q")

    def test_files_and_standard_input(self):
        self.same("echo", "{}", "::::", "list.txt")
        self.same("echo", "{1}-{2}", "::::", "list.txt", ":::", "p", "q")
        self.same("echo", "{1}-{2}", ":::", "p", "q", "::::+", "list.txt")
        self.same("echo", "{}", stdin="a\nb c\n")
        self.same("echo", "{}", "::::", "-", stdin="a\nb c\n")
        self.same("echo", stdin="a\n\nb\n")

    def test_values_are_quoted(self):
        self.same("python3", "args.py", "{}", ":::", "a b", "$HOME", "`id`", "it's", "*", ";", "-x", "a\\b", "\"", "&")

    def test_the_sequence_number(self):
        self.same("echo", "{#}:{}", ":::", "a", "b")
