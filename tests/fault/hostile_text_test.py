"""Texts that try to be more than text: in parameters, in output, in names. Passed exactly, or refused with a reason."""
import json
import os
import sys
import unittest

from fault_case import FaultCase

VALUES = {
    "quotes": """it's "quoted" `twice` \\ and \\\\ """,
    "newlines": "one\ntwo\r\n\n\tthree\n",
    "substitution": "$(touch owned) ${HOME} `touch owned` $((1+1))",
    "commands": "a; touch owned & b | c > d && e || f",
    "path": "../../etc/passwd",
    "dashes": "--help",
    "dash": "-",
    "double_dash": "--",
    "empty": "",
    "blank": "   ",
    "wildcards": "* ? [a-z] ~ !history #comment",
    "braces": "{1..3} {a,b}",
    "percent": "%s %n %%",
    "separators": "x ::: y",
    "unicode": "naïve Ω 漢字 🦉 \u202e \u0301",
    "controls": "\x01\x1b[31m\x7f\x9b",
    "yaml": "- {a: b}: &anchor *alias !!tag | > # 'x",
    "json": '{"a": [1, 2, "\\u0000"]}',
}

# What a task was given, byte for byte (JSON has no bytes, hence latin-1).
DUMP = """
import json, os, sys
def plain(value):
    return os.fsencode(value).decode("latin-1")
json.dump({
    "argv": [plain(word) for word in sys.argv[1:]],
    "env": {plain(name): plain(value) for name, value in os.environ.items()},
}, open("given-" + os.environ["GANTRY_TASK"], "w"))
"""


class ValuesTest(FaultCase):
    def setUp(self):
        super().setUp()
        self.write("dump.py", DUMP)

    def given(self, task: int) -> dict:
        return json.loads(self.read(f"given-{task}"))

    def assert_given(self, task: int, value: bytes, name="v"):
        given = self.given(task)
        text = value.decode("latin-1")
        self.assertEqual(given["argv"], [text, "<" + text + ">"])
        self.assertEqual(given["env"][f"GANTRY_PARAM_{name}"], text)

    def assert_nothing_owned(self):
        self.assertFalse((self.dir / "owned").exists(), "a parameter reached a shell")

    def yaml_study(self, values):
        # JSON is YAML and quotes everything (but it would write an owl as two halves that YAML does not know).
        self.write("sweep.yaml", json.dumps({"command": [sys.executable, "dump.py", "{v}", "<{v}>"],
                                             "parameters": {"v": values}}, ensure_ascii=False))

    def test_from_a_sweep_file(self):
        self.yaml_study(list(VALUES.values()))
        result = self.gantry("run", "sweep.yaml")
        self.assertEqual(result.code, 0, result)
        for task, value in enumerate(VALUES.values(), 1):
            with self.subTest(value=value):
                self.assert_given(task, value.encode())
        self.assert_nothing_owned()
        # And back: what the journal tells is the same text.
        stored = {line["task"]: str(line["parameters"]["v"]) for line in self.gantry("tasks", "--json").json_lines()}
        self.assertEqual(stored, dict(enumerate(VALUES.values(), 1)))
        for arguments in ([], ["--csv"], ["--json"]):
            self.assertEqual(self.gantry("results", *arguments).code, 0)

    def test_from_a_one_liner(self):
        """Words of the command line; a linked list keeps each of them whole. `a=b` and ranges mean something there."""
        for name, value in VALUES.items():
            with self.subTest(name=name):
                result = self.gantry("run", "--fresh", "--", sys.executable, "dump.py", "{v}", "<{v}>", ":::", "v=",
                                     value)
                self.assertEqual(result.code, 0, result)
                self.assert_given(1, value.encode())
        self.assert_nothing_owned()

    def test_from_standard_input(self):
        lines = [value for value in VALUES.values() if "\n" not in value and value]
        self.gantry("run", "--", sys.executable, "dump.py", "{}", "<{}>", "::::", "-", stdin="\n".join(lines) + "\n")
        for task, value in enumerate(lines, 1):
            self.assertEqual(self.given(task)["argv"], [value.encode().decode("latin-1"),
                                                        f"<{value}>".encode().decode("latin-1")])
        self.assert_nothing_owned()

    def test_through_a_shell_they_are_quoted(self):
        self.write("sweep.yaml", json.dumps({
            "command": f"{sys.executable} dump.py {{v}} '<'{{v}}'>' && true", "shell": True,
            "parameters": {"v": list(VALUES.values())}}, ensure_ascii=False))
        result = self.gantry("run", "sweep.yaml")
        self.assertEqual(result.code, 0, result)
        for task, value in enumerate(VALUES.values(), 1):
            with self.subTest(value=value):
                self.assert_given(task, value.encode())
        self.assert_nothing_owned()

    def test_bytes_that_are_not_text(self):
        value = b"\xff\xfe caf\xe9 \xc3\x28"
        result = self.gantry("run", "--", sys.executable, "dump.py", "{v}", "<{v}>", ":::", "v=", os.fsdecode(value))
        self.assertEqual(result.code, 0, result)
        self.assert_given(1, value)
        for command in ("tasks", "results"):
            self.gantry(command, "--json").stdout.encode("utf-8")  # would raise on a lone surrogate
            self.assertTrue(self.gantry(command, "--json").json_lines())
        # The journal keeps the exact bytes: the same study continues, it is not another one.
        again = self.gantry("run", "--json", "--", sys.executable, "dump.py", "{v}", "<{v}>", ":::", "v=",
                            os.fsdecode(value))
        self.assertEqual(again.json_lines()[-1]["executed"], 0, again)

    def test_a_hundred_kilobytes(self):
        value = "".join(self.random.choice("ab \n'\"$\\{}") for _ in range(100_000)).replace("{", "(").replace("}", ")")
        self.yaml_study([value])
        result = self.gantry("run", "--no-output", "sweep.yaml")
        self.assertEqual(result.code, 0, result)
        self.assert_given(1, value.encode())
        line = self.gantry("tasks", "--json").json_lines()[0]
        self.assertTrue(line["parameters"]["v"] == value)
        for command in (["tasks"], ["results"], ["explain", "1"], ["status"], ["runs"]):
            self.assertEqual(self.gantry(*command).code, 0, command)

    def test_too_long_is_refused(self):
        for size in (131_072, 1_000_000):
            self.yaml_study(["x" * size])
            result = self.gantry("run", "sweep.yaml")
            self.assertEqual(result.code, 2, result)
            self.assertIn("Linux passes at most 1310", self.flat(result.stderr))
            self.assertLess(len(result.stderr), 4000, "the message repeats the value")
        self.assertFalse(self.state.exists())

    def test_nul_is_refused(self):
        self.yaml_study(["a\0b"])
        result = self.gantry("run", "sweep.yaml")
        self.assertEqual(result.code, 2, result)
        self.assertIn("NUL", result.stderr)
        result = self.gantry("run", "--", "echo", "{}", "::::", "-", stdin=b"a\0b\nc\n")
        self.assertEqual(result.code, 2, result)
        self.assertIn("NUL", result.stderr)
        self.assertFalse(self.state.exists())

    def test_names_of_studies_and_files(self):
        """A name is shown, never obeyed: no escape reaches a terminal, no path leaves the folder."""
        folder = self.dir / "a 'strange' $(touch owned)\x1b[31m\nfolder"
        folder.mkdir()
        (folder / "sweep.yaml").write_text(json.dumps({
            "name": "../../\x1b]0;owned\x07\nname; touch owned", "command": ["sh", "-c", "echo {v} > {v}.out"],
            "parameters": {"v": ["--x", "y z"]}}))
        result = self.gantry("run", os.path.join(folder, "sweep.yaml"))
        self.assertNotIn("\x1b", result.stdout + result.stderr)
        self.assertEqual(result.code, 0, result)
        for command in (["status"], ["runs"], ["tasks"], ["explain", "1"]):
            shown = self.gantry(*command)
            self.assertEqual(shown.code, 0, shown)
            self.assertNotIn("\x1b", shown.stdout + shown.stderr)
        self.assertEqual(self.gantry("status", "--json").json()["name"], "../../\x1b]0;owned\x07\nname; touch owned")
        self.assert_nothing_owned()


class OutputTest(FaultCase):
    NASTY = (b"\xff\xfe\x00bytes\xc3\x28 \xed\xa0\x80\n"
             b"\x1b[2J\x1b[31mred\x1b]0;title\x07\x1bP+q\x1b\\ \x9b31m \x08\x08\r over\n"
             b"no end of line")

    def setUp(self):
        super().setUp()
        self.write("nasty.bin", self.NASTY)

    def run_nasty(self, code: int):
        return self.gantry("run", "--no-output", "--", "sh", "-c",
                           f"cat nasty.bin; cat nasty.bin >&2; exit {code}", ":::", "1")

    def log_bytes(self, *options) -> bytes:
        child = self.start_gantry("log", "1", *options)
        stdout, _ = child.communicate(timeout=60)
        self.assertEqual(child.returncode, 0)
        return stdout

    def test_log_gives_the_exact_bytes_to_a_pipe(self):
        self.assertEqual(self.run_nasty(0).code, 0)
        self.assertEqual(self.log_bytes("--stdout"), self.NASTY)
        self.assertEqual(self.log_bytes("--stderr"), self.NASTY)

    def test_terminal_is_protected(self):
        """On a terminal nothing of a task's may move the cursor, name the window or colour the screen."""
        self.assertEqual(self.run_nasty(1).code, 1)
        printed = b"no end of line"
        for command, words in ((["log", "1"], [printed, b"red"]), (["tasks"], [b"exit code 1"]),
                               (["explain", "1"], [b"exit code 1", printed]),
                               (["run", "--", "sh", "-c", "cat nasty.bin; cat nasty.bin >&2; exit 1", ":::", "1"],
                                [printed, b"red"])):
            shown = self.on_terminal(*command)
            for word in words:
                self.assertIn(word, shown, command)
            for bad in (b"\x1b[2J", b"\x1b[31mred", b"\x1b]0;title", b"\x1bP", b"\x9b31m \x08", b"\x08"):
                self.assertNotIn(bad, shown, command)

    def on_terminal(self, *args) -> bytes:
        """What gantry writes to a terminal."""
        main, side = os.openpty()
        child = self.start_gantry(*args, stdout=side, stderr=side, env={"TERM": "xterm-256color"})
        os.close(side)
        shown = b""
        while True:
            try:
                piece = os.read(main, 65536)
            except OSError:  # EIO: the last writer is gone
                break
            if not piece:
                break
            shown += piece
        os.close(main)
        child.wait(60)
        return shown

    def test_json_is_valid_whatever_a_task_prints(self):
        self.write("sweep.yaml", r"""
            command: [sh, -c, "cat nasty.bin; exit {code}"]
            parameters: {code: [0, 1]}
            """)
        events = self.json_of("run", "--json", "sweep.yaml", code=1)
        self.assertEqual(sorted(event["task"] for event in events if event["event"] == "task"), [1, 2])
        for command, lines in ((["tasks"], 2), (["results", "--all"], 2), (["status"], 1), (["runs"], 1)):
            self.assertEqual(len(self.json_of(*command, "--json")), lines, command)

    def json_of(self, *words, code=0) -> list:
        """What each line of its output says. Raises when one is not UTF-8 or not JSON."""
        child = self.start_gantry(*words)
        stdout, _ = child.communicate(timeout=60)
        self.assertEqual(child.returncode, code, words)
        return [json.loads(line.decode("utf-8")) for line in stdout.splitlines()]

    def test_results_that_are_not_text(self):
        self.write("sweep.yaml", r"""
            command: [sh, -c, "printf 'value=\\377\\033[31m\\n'"]
            results:
              value: {stdout: 'value=(.*)'}
            """)
        result = self.gantry("run", "sweep.yaml")
        self.assertEqual(result.code, 0, result)
        self.assertNotIn("\x1b", result.stdout + result.stderr)
        [row] = self.json_of("results", "--json", "--all")
        self.assertEqual(row["results"]["value"], "\ufffd\x1b[31m")

    def test_results_nested_without_end(self):
        """The report is journalled, so that no later run meets it again."""
        self.write("task.py", """
            with open("a.json", "w") as file:
                file.write('{"a":' + "[" * 100_000 + "]" * 100_000 + "}")
            """)
        self.write("sweep.yaml", f"""
            command: [{sys.executable}, task.py]
            results: {{a: {{json: a.json}}}}
            """)
        result = self.gantry("run", "sweep.yaml")
        self.assertEqual(result.code, 0, result)
        rows = self.gantry("results", "--jsonl").json_lines()
        self.assertEqual(rows[0]["results"]["a"], "[" * 100_000 + "]" * 100_000)
        self.assertEqual(self.gantry("results").code, 0)
        self.assertEqual(self.gantry("run", "sweep.yaml").code, 0)

    def test_results_without_end(self):
        self.write("sweep.yaml", r"""
            command: [sh, -c, "head -c 3000000 /dev/zero | tr '\\0' x"]
            results:
              value: {stdout: 'x+'}
            """)
        result = self.gantry("run", "sweep.yaml")
        self.assertEqual(result.code, 1, result)
        task = self.tasks()[1]
        self.assertEqual(task["cause"], "missing result")
        self.assertIn("the value has 3000000 bytes", task["detail"])


if __name__ == "__main__":
    unittest.main()
