"""Every way in which a task can fail is told apart, said in words, and kept."""
import signal

import gantry_test


class FailuresTest(gantry_test.TestCase):
    def fails(self, sweep, *options):
        """Runs a sweep of one task that fails; returns the task and everything that was printed about it."""
        self.write("sweep.yaml", sweep)
        result = self.gantry("run", *options, "sweep.yaml")
        self.assertEqual(result.code, 1, result)
        task = self.gantry("tasks", "--json").json()
        self.assertEqual(task["state"], "failed", result)
        explained = self.gantry("explain", "1").stdout
        self.printed = result.stderr
        self.assertIn("next: gantry explain 1", result.stderr)
        for text in (result.stderr, explained, self.gantry("tasks", "--failed", "--wide").stdout):
            self.assertIn(task["cause"], text.replace("killed by signal", "signal"), "the cause is always named")
        return task

    def test_exit_code(self):
        task = self.fails("command: [sh, -c, 'echo could not open pump.dat >&2; exit 42']")
        self.assertEqual((task["cause"], task["code"]), ("exit code", 42))
        self.assertIn("exit code 42", self.printed)
        self.assertIn("could not open pump.dat", self.printed, "the last line of standard error helps most")

    def test_signal(self):
        task = self.fails("command: [sh, -c, 'kill -SEGV $$']")
        self.assertEqual((task["cause"], task["code"]), ("signal", signal.SIGSEGV))
        self.assertIn("Segmentation fault", self.printed)

    def test_timeout(self):
        task = self.fails("command: sleep 600\ntimeout: 200ms\n")
        self.assertEqual(task["cause"], "timeout")

    def test_timeout_of_a_task_that_ignores_sigterm(self):
        task = self.fails("command: [sh, -c, 'trap \"\" TERM; sleep 600; sleep 600']\ntimeout: 200ms\n")
        self.assertEqual(task["cause"], "timeout")

    def test_missing_output(self):
        task = self.fails("command: 'true'\noutputs: [sub/out.dat]\n")
        self.assertEqual(task["cause"], "missing output")
        self.assertIn("sub/out.dat", self.printed)

    def test_what_a_task_says_is_cut_for_a_line(self):
        self.write("loud.sh", "printf begin >&2; yes x | head -c 100000 | tr -d '\\n' >&2; echo end >&2; exit 3\n")
        self.write("sweep.yaml", "command: sh loud.sh\n")
        result = self.gantry("run", "sweep.yaml")
        self.assertIn("beginxxx", result.stderr)
        self.assertIn("xxxend", result.stderr)
        self.assertLess(max(map(len, result.stderr.splitlines())), 320)
        self.assertGreater(len(self.gantry("log", "1", "--stderr").stdout), 50000)

    def test_program_not_found(self):
        task = self.fails("command: ./no-such-program {x}\nparameters: {x: [1]}\n")
        self.assertEqual(task["cause"], "start failed")
        self.assertIn("no-such-program", self.printed)
        self.assertIn("No such file", self.printed)

    def test_program_not_executable(self):
        self.write("data.txt", "not a program")
        task = self.fails("command: ./data.txt\n")
        self.assertEqual(task["cause"], "start failed")
        self.assertIn("Permission denied", self.printed)

    def test_out_of_memory(self):
        self.write("eat.py", """
            data = []
            while True:
                data.append(bytearray(10_000_000))
            """)
        task = self.fails("command: python3 eat.py\nresources: {memory: 100 MB}\n")
        self.assertEqual(task["cause"], "out of memory")
        self.assertIn("limit", task["detail"])

    def test_input_that_vanishes_before_the_task(self):
        self.write("data", "x")
        self.write("sweep.yaml", """
            command: [sh, -c, 'rm -f data']
            parameters: {x: 1..300}
            inputs: [data]
            """)
        result = self.gantry("run", "-j1", "--keep-going", "sweep.yaml")
        self.assertEqual(result.code, 1, result)
        # Tasks that were handed over before the first one ran do not notice; the last one must.
        task = self.gantry("tasks", "300", "--json").json()
        self.assertEqual(task["cause"], "missing input")
        self.assertIn("data", task["detail"])

    def test_failures_are_gathered_by_cause(self):
        self.write("sweep.yaml", """
            command: [sh, -c, 'case {x} in 1|2|3) exit 5;; 4) kill -9 $$;; esac']
            parameters: {x: 1..8}
            """)
        result = self.gantry("run", "sweep.yaml")
        self.assertEqual(result.code, 1, result)
        self.assertRegex(result.stderr, r"exit code 5: 3 tasks")
        self.assertRegex(result.stderr, r"signal 9 \(Killed\): 1 task, e\.g\. task 4")

    def test_hostile_error_text_is_made_harmless(self):
        self.fails(r"""command: [sh, -c, 'printf "\033[31mred\007\n" >&2; exit 1']""")
        self.assertIn("red", self.printed)
        # The output itself passes through; what gantry says of it does not carry it.
        about = [line for line in self.printed.splitlines() if line.startswith(("task 1", "  exit code"))]
        self.assertTrue(about)
        self.assertFalse([line for line in about if "\x1b" in line or "\a" in line], about)


class RetriedTest(gantry_test.TestCase):
    def test_an_attempt_that_is_tried_again_says_so_and_is_no_failure(self):
        self.write("sweep.yaml", """
            command: sh -c 'echo x >> tries{i}; test $(wc -l < tries{i}) -ge 2'
            parameters: {i: 1..12}
            retries: 1
            """)
        result = self.gantry("run", "-j1", "sweep.yaml")
        self.assertEqual(result.code, 0, result)
        self.assertIn("will be tried again", result.stderr)
        self.assertNotIn("more failures", result.stderr)
        self.assertIn("12 done", result.stderr)

    def test_nothing_to_retry_is_said(self):
        self.assertEqual(self.gantry("run", "--", "echo", "hello").code, 0)
        result = self.gantry("retry")
        self.assertEqual((result.code, result.stdout), (0, ""), result)
        self.assertIn("nothing to retry", result.stderr)

    def test_a_retry_says_first_what_it_did(self):
        self.write("sweep.yaml", "command: sh -c 'test -e ok{i}'\nparameters: {i: 1..3}\n")
        self.assertEqual(self.gantry("run", "--keep-going", "sweep.yaml").code, 1)
        self.write("ok1", "")
        result = self.gantry("retry", "1")
        self.assertIn("run 1: 1 succeeded and 0 failed this time; of all tasks 1 done", result.stderr)
        self.assertIn("none of run 1's 3 tasks was cancelled", self.gantry("tasks", "--cancelled").stderr)
