"""Ctrl-C once drains, twice cancels; SIGTERM likewise; `run` goes on afterwards. Also cancel from elsewhere."""
import signal

import gantry_test


class InterruptTest(gantry_test.TestCase):
    """Tasks wait for the file `go` before they end, so that the test sees them run."""

    SWEEP = """
        command: [sh, -c, 'echo {x} >> began; while ! test -e go; do sleep 0.02; done; echo {x} >> ended']
        parameters: {x: 1..6}
        """

    def setUp(self):
        super().setUp()
        self.write("sweep.yaml", self.SWEEP)

    def begin(self, *options, tasks=2):
        run = self.start_gantry("run", f"-j{tasks}", *options, "sweep.yaml")
        self.wait_until(lambda: len(self.lines("began")) >= tasks, f"{tasks} tasks to begin")
        return run

    def lines(self, name):
        return self.read(name).splitlines() if (self.dir / name).exists() else []

    def finish(self, run):
        stdout, stderr = run.communicate(timeout=gantry_test.PATIENCE)
        return run.returncode, stdout.decode(), stderr.decode()

    def read_until(self, run, words: bytes) -> bytes:
        """What it writes to standard error, as far as these words."""
        heard = b""
        while words not in heard:
            piece = run.stderr.read1(4096)
            self.assertNotEqual(piece, b"", f"ended without a word: {heard}")
            heard += piece
        return heard

    def states(self):
        return [task["state"] for task in self.gantry("tasks", "--json").json_lines()]

    def test_once_drains(self):
        for sign in (signal.SIGINT, signal.SIGTERM):
            run = self.begin("--fresh")
            began = len(self.lines("began"))
            run.send_signal(sign)
            # The notice that it heard us; only then let the tasks end.
            self.read_until(run, b"finishing what runs")
            self.write("go", "")
            code, _, stderr = self.finish(run)
            self.assertEqual(code, 1, stderr)
            self.assertIn("Run the same command again to go on", stderr)
            states = self.states()
            self.assertEqual(states.count("done"), len(self.lines("ended")))
            self.assertGreaterEqual(states.count("done"), 2)
            self.assertGreaterEqual(states.count("pending"), 1, "not everything was started")
            self.assertEqual(states.count("done") + states.count("pending"), 6)
            self.assertEqual(len(self.lines("began")) - began, 0, "nothing new was started")
            for name in ("go", "began", "ended"):
                (self.dir / name).unlink()

    def test_twice_cancels(self):
        run = self.begin()
        run.send_signal(signal.SIGINT)
        self.read_until(run, b"finishing")
        run.send_signal(signal.SIGINT)
        code, _, stderr = self.finish(run)
        self.assertEqual(code, 1, stderr)
        self.assertEqual(self.lines("ended"), [])
        states = self.states()
        self.assertGreaterEqual(states.count("cancelled"), 2)
        self.assertNotIn("failed", states)
        self.assertEqual(self.task_processes(), {})

    def test_run_goes_on_after_either(self):
        for times in (1, 2):
            run = self.begin()
            run.send_signal(signal.SIGINT)
            self.read_until(run, b"finishing")
            if times == 1:
                self.write("go", "")
            else:
                run.send_signal(signal.SIGINT)  # and go only when they are cancelled: none may end meanwhile
            self.finish(run)
            self.write("go", "")
            done = self.lines("ended")
            result = self.gantry("run", "sweep.yaml")
            self.assertEqual(result.code, 0, result)
            ended = self.lines("ended")
            self.assertEqual(sorted(ended), ["1", "2", "3", "4", "5", "6"], "each ended exactly once")
            self.assertEqual(ended[:len(done)], done)
            for name in ("go", "began", "ended"):
                (self.dir / name).unlink()
            self.assertEqual(self.gantry("clean", "all", "--yes").code, 0)

    def test_status_during_a_run_and_after(self):
        run = self.begin()
        self.wait_until(lambda: self.gantry("status", "--json").json()["running"] == 2, "both in the status")
        status = self.gantry("status", "--json").json()
        self.assertEqual((status["state"], status["pid"], status["total"]), ("running", run.pid, 6))
        self.assertIn("running", self.gantry("status").stdout)
        self.write("go", "")
        self.assertEqual(self.finish(run)[0], 0)
        after = self.gantry("status", "--json").json()
        self.assertEqual((after["state"], after["pid"], after["done"], after["running"]), ("finished", None, 6, 0))

    def test_cancel_some_tasks_from_elsewhere(self):
        run = self.begin()
        running = int(self.lines("began")[0])
        result = self.gantry("cancel", f"{running},6")
        self.assertEqual(result.code, 0, result)
        self.wait_until(lambda: self.states()[running - 1] == "cancelled", "the task to be cancelled")
        self.write("go", "")
        code, _, stderr = self.finish(run)
        self.assertEqual(code, 1, stderr)
        states = self.states()
        self.assertEqual(states[running - 1], "cancelled")
        self.assertEqual(states[5], "cancelled", "it had not begun yet")
        self.assertEqual(states.count("done"), 4)
        self.assertEqual(sorted(self.lines("ended")), sorted(set("12345") - {str(running)}))

    def test_watching_a_run_from_elsewhere(self):
        run = self.begin()
        watch = self.start_gantry("status", "--watch")
        self.write("go", "")
        self.finish(run)
        stdout, stderr = watch.communicate(timeout=gantry_test.PATIENCE)
        self.assertEqual(watch.returncode, 0, stderr)
        self.assertIn(b"finished", stdout)

    def test_a_second_run_in_the_same_place_is_refused(self):
        run = self.begin()
        result = self.gantry("run", "--", "echo", "hello", ":::", "x")
        self.assertEqual(result.code, 3, result)
        self.assertIn(str(run.pid), result.stderr)
        self.assertIn("--state", result.stderr)
        self.assertEqual(self.gantry("--state", "other", "run", "--", "echo", ":::", "x").code, 0)
        self.write("go", "")
        self.assertEqual(self.finish(run)[0], 0)
