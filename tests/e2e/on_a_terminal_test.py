"""On a terminal: live progress with an ETA that fits the window, colours, Ctrl-C, questions."""
import fcntl
import os
import pty
import re
import select
import struct
import termios
import time

import gantry_test

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[78=>]")


class Screen:
    """A gantry whose standard streams are a terminal of its own."""

    def __init__(self, test, *words, columns=80, env=None, **options):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        env = {"TERM": "xterm-256color", "NO_COLOR": None, **(env or {})}

        def take_terminal():  # so that the terminal's Ctrl-C reaches it
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.child = test.start_gantry(*words, stdin=slave, stdout=options.get("stdout", slave), stderr=slave, env=env,
                                       preexec_fn=take_terminal)
        os.close(slave)
        self.test = test
        self.text = ""

    def read(self, seconds):
        if select.select([self.master], [], [], seconds)[0]:
            try:
                self.text += os.read(self.master, 65536).decode(errors="replace")
            except OSError:  # the other end is closed
                return False
        return True

    def wait_for(self, pattern, seconds=gantry_test.PATIENCE):
        deadline = time.monotonic() + seconds
        while not re.search(pattern, self.text):
            if time.monotonic() > deadline or not self.read(0.05):
                self.test.fail(f"never saw {pattern!r} in {self.text!r}")

    def type(self, text):
        os.write(self.master, text.encode())

    def resize(self, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def end(self, seconds=gantry_test.PATIENCE):
        deadline = time.monotonic() + seconds
        while self.read(0.05):
            if time.monotonic() > deadline:
                self.child.kill()
                self.test.fail(f"did not end: {self.text!r}")
        os.close(self.master)
        return self.child.wait(gantry_test.PATIENCE)

    def lines(self):
        """What was written, line by line, without escapes."""
        return [line for line in re.split(r"[\r\n]+", ESCAPE.sub("", self.text)) if line]


class OnATerminalTest(gantry_test.TestCase):
    WAITING = "echo {x} >> began; while ! test -e go; do sleep 0.02; done"

    def setUp(self):
        super().setUp()
        self.write("sweep.yaml", f"""
            command: [sh, -c, 'test {{x}} -le 4 || {{{{ {self.WAITING}; }}}}']
            parameters: {{x: 1..12}}
            """)
        self.write("go-later.yaml", f"command: [sh, -c, '{self.WAITING}']\nparameters: {{x: 1..6}}\n")

    def test_progress_with_counts_and_eta(self):
        screen = Screen(self, "run", "-j2", "sweep.yaml")
        screen.wait_for(r"4/12")
        screen.wait_for(r"2 running")
        screen.wait_for(r"ETA")
        screen.wait_for(r"elapsed")
        self.write("go", "")
        self.assertEqual(screen.end(), 0)
        self.assertIn("\x1b[", screen.text)
        self.assertIn("12 done", "\n".join(screen.lines()[-4:]))
        # The live lines are taken away in the end: the last erase comes after the last bar.
        self.assertNotRegex(screen.text[screen.text.rfind("\x1b[J") if "\x1b[J" in screen.text else 0:], r"ETA")

    def test_it_fits_the_window_whatever_its_width(self):
        for columns in (120, 80, 40, 20):
            screen = Screen(self, "run", "--fresh", "-j2", "sweep.yaml", columns=columns)
            screen.wait_for(r"4/12|33%")
            self.write("go", "")
            self.assertEqual(screen.end(), 0)
            live = [line for line in screen.lines() if "running" in line or "ETA" in line or "%" in line]
            self.assertTrue(live)
            self.assertLess(max(map(len, live)), columns, live)
            (self.dir / "go").unlink()

    def test_a_window_that_shrinks(self):
        screen = Screen(self, "run", "-j2", "sweep.yaml", columns=100)
        screen.wait_for(r"4/12")
        screen.resize(30)
        # What comes after the first redraw knows the new width; the redraw before it may have been under way.
        shown = screen.text.count("running")
        screen.wait_for(r"(?s)(running.*){%d}" % (shown + 3))
        narrow = "running".join(screen.text.split("running")[shown + 1:])
        self.write("go", "")
        self.assertEqual(screen.end(), 0)
        for line in re.split(r"[\r\n]+", ESCAPE.sub("", narrow)):
            self.assertLess(len(line), 30, line)

    def test_colours_and_how_to_have_none(self):
        colour = re.compile(r"\x1b\[[0-9;]*3[0-9]m|\x1b\[[0-9;]*9[0-9]m")
        self.write("go", "")
        self.assertEqual(self.gantry("run", "sweep.yaml").code, 0)
        for words, env, wanted in ((("tasks",), {}, True), (("tasks",), {"NO_COLOR": "1"}, False),
                                   (("tasks",), {"TERM": "dumb"}, False), (("--color", "never", "tasks"), {}, False)):
            screen = Screen(self, *words, env=env)
            self.assertEqual(screen.end(), 0)
            self.assertEqual(bool(colour.search(screen.text)), wanted, f"{words} {env}: {screen.text!r}")

    def test_progress_needs_only_standard_error(self):
        """`gantry run … > file` on a terminal: progress is shown, the file gets the output alone."""
        with open(self.dir / "out", "w") as out:
            screen = Screen(self, "run", "-j2", "--", "sh", "-c", "echo said $0; " + self.WAITING.replace("{x}", "$0"),
                            "{}", ":::", "1..4", stdout=out)
            screen.wait_for(r"running")
            self.write("go", "")
            self.assertEqual(screen.end(), 0)
        self.assertEqual(sorted(self.read("out").splitlines()), [f"said {i}" for i in range(1, 5)])

    def test_output_of_tasks_stands_above_the_progress(self):
        screen = Screen(self, "run", "-j1", "--", "sh", "-c", "echo said $0; sleep 0.15", "{}", ":::", "1..4")
        self.assertEqual(screen.end(), 0)
        said = [line for line in screen.lines() if line.startswith("said")]
        self.assertEqual(said, ["said 1", "said 2", "said 3", "said 4"])

    def test_output_of_tasks_cannot_take_the_terminal_over(self):
        screen = Screen(self, "run", "--", "printf", "\\033]0;evil title\\007\\033[2J{}\\n", ":::", "x")
        self.assertEqual(screen.end(), 0)
        self.assertNotIn("\x1b]0;", screen.text)
        self.assertNotIn("\x1b[2J", screen.text)
        self.assertIn("evil title", screen.text)
        screen = Screen(self, "log", "1")
        self.assertEqual(screen.end(), 0)
        self.assertNotIn("\x1b]0;", screen.text)

    def test_control_c_once_and_twice(self):
        screen = Screen(self, "run", "-j2", "go-later.yaml")
        self.wait_until((self.dir / "began").exists, "a task to begin")
        screen.wait_for("running")
        screen.type("\x03")
        screen.wait_for("Ctrl-C again cancels")
        self.assertIsNone(screen.child.poll())
        self.assertTrue(self.task_processes())
        screen.type("\x03")
        self.assertEqual(screen.end(), 1)
        self.assertIn("cancelled", ESCAPE.sub("", screen.text))
        self.assertEqual(self.task_processes(), {})

    def test_control_c_drains(self):
        screen = Screen(self, "run", "-j2", "go-later.yaml")
        self.wait_until((self.dir / "began").exists, "a task to begin")
        screen.wait_for("running")
        screen.type("\x03")
        screen.wait_for("finishing what runs")
        self.write("go", "")
        self.assertEqual(screen.end(), 1)
        self.assertIn("Run the same command again", ESCAPE.sub("", screen.text).replace("\r\n", " "))
        self.assertEqual(self.gantry("run", "go-later.yaml").code, 0)

    def test_tasks_do_not_get_the_terminal(self):
        """Ctrl-C is for gantry: tasks are in sessions of their own, with nothing to read from."""
        self.write("tty.py", """
            import os, sys
            try:
                os.open("/dev/tty", os.O_RDWR)
                print("has the terminal")
            except OSError:
                print("has none", repr(sys.stdin.read()))
            """)
        screen = Screen(self, "run", "--", "python3", "tty.py")
        self.assertEqual(screen.end(), 0)
        self.assertIn("has none ''", screen.text)

    def test_clean_asks(self):
        self.assertEqual(self.gantry("run", "-q", "--", "true").code, 0)
        for answer, left in (("no", 1), ("", 1), ("yes", 0)):
            screen = Screen(self, "clean", "all")
            screen.wait_for("yes")
            screen.type(answer + "\n")
            self.assertEqual(screen.end(), 0)
            runs = self.gantry("runs", "--json").stdout.splitlines()
            self.assertEqual(len(runs), left, screen.text)

    def test_no_values_on_a_terminal_is_told_and_not_waited_for(self):
        screen = Screen(self, "run", "--", "echo", "{}")
        self.assertEqual(screen.end(), 2)
        self.assertIn("value", screen.text)

    def test_quiet_and_no_progress(self):
        self.write("go", "")
        for option in ("-q", "--no-progress"):
            screen = Screen(self, "run", "--fresh", option, "sweep.yaml")
            self.assertEqual(screen.end(), 0)
            self.assertNotIn("ETA", screen.text)
            self.assertNotIn("%", screen.text)
