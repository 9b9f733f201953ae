"""What a task finds around it: GANTRY_* variables, its parameters, standard input, descriptors."""
import json

import gantry_test

SHOW = """
    import json, os, sys
    print(json.dumps({name: value for name, value in os.environ.items()
                      if name.startswith("GANTRY_") and name not in ("GANTRY_TEST_ID", "GANTRY_AGENT_MARK")}))
    """


class TaskEnvironmentTest(gantry_test.TestCase):
    def setUp(self):
        super().setUp()
        self.write("show.py", SHOW)

    def variables_of(self, task):
        return json.loads(self.gantry("log", str(task), "--stdout").stdout)

    def test_run_task_attempt_and_parameters(self):
        self.write("sweep.yaml", """
            command: python3 show.py
            parameters: {seed: [7, 8], label: ["two words $HOME", "line\\nbreak"]}
            """)
        self.assertEqual(self.gantry("run", "sweep.yaml").code, 0)
        self.assertEqual(self.variables_of(4), {"GANTRY_RUN": "1", "GANTRY_TASK": "4", "GANTRY_ATTEMPT": "1",
                                                "GANTRY_PARAM_seed": "8", "GANTRY_PARAM_label": "line\nbreak"})
        self.assertEqual(self.variables_of(1)["GANTRY_PARAM_label"], "two words $HOME")

    def test_parameters_of_one_liners(self):
        result = self.gantry("run", "--", "python3", "show.py", "{}", "{s}", ":::", "a", ":::", "s=1")
        self.assertEqual(result.code, 0, result)
        shown = self.variables_of(1)
        self.assertEqual(shown["GANTRY_PARAM_s"], "1")
        self.assertIn("a", shown.values())

    def test_the_run_and_the_attempt_count_up(self):
        self.write("sweep.yaml", "command: [sh, -c, 'echo $GANTRY_RUN $GANTRY_TASK $GANTRY_ATTEMPT >> seen; exit 1']\n"
                                 "retries: 1\n")
        self.assertEqual(self.gantry("run", "sweep.yaml").code, 1)
        self.assertEqual(self.gantry("run", "--fresh", "sweep.yaml").code, 1)
        self.assertEqual(self.gantry("retry", "--failed").code, 1)
        # A retry by a person starts the count of automatic ones anew; attempts are never numbered twice.
        self.assertEqual(self.read("seen").splitlines(),
                         ["1 1 1", "1 1 2", "2 1 1", "2 1 2", "2 1 3", "2 1 4"])

    def test_gantry_inside_of_gantry(self):
        self.write("inner.sh", f"""
            '{gantry_test.GANTRY}' --state inner-$GANTRY_TASK run -q -- sh -c 'echo inner $GANTRY_TASK $GANTRY_PARAM_outer.' ::: x
            """)
        result = self.gantry("run", "-q", "--", "sh", "inner.sh", "{outer}", ":::", "outer=1", "2", env={"GANTRY_PARAM_stray": "s"})
        self.assertEqual(result.code, 0, result)
        # $GANTRY_PARAM_outer belongs to the outer task and must not reach the inner one.
        self.assertEqual(set(result.stdout.splitlines()), {"inner 1 ."})

    def test_standard_input_is_empty(self):
        result = self.gantry("run", "-q", "--", "cat")
        self.assertEqual((result.code, result.stdout), (0, ""), result)

    def test_only_the_three_standard_descriptors_are_open(self):
        self.write("fds.py", "import os; print(sorted(int(n) for n in os.listdir('/proc/self/fd')))")
        result = self.gantry("run", "-q", "--", "python3", "fds.py")
        # The fourth is the listed directory itself.
        self.assertEqual(result.stdout, "[0, 1, 2, 3]\n", result)

    def test_signals_are_as_a_shell_would_leave_them(self):
        self.write("signals.py", """
            import signal
            print([s.name for s in signal.valid_signals() if not isinstance(s, int) or isinstance(s, signal.Signals)
                   if s not in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT)  # Python's own
                   and signal.getsignal(s) == signal.SIG_IGN], signal.pthread_sigmask(signal.SIG_BLOCK, []))
            """)
        result = self.gantry("run", "-q", "--", "python3", "signals.py")
        self.assertEqual(result.stdout, "[] set()\n", result)
