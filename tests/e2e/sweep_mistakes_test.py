"""Mistakes in sweep files: each is found before anything runs, with its place, the cause and what to do."""
import re

import gantry_test

# What the file says ("^" marks the place that the message must name; it is taken out), and words of the message.
MISTAKES = {
    "unknown key": ("command: echo\n^paramters: {x: [1]}\n", ["paramters", "did you mean 'parameters'"]),
    "unknown key in resources": ("command: echo\nresources: {^core: 2}\n", ["core", "did you mean 'cores'"]),
    "unknown key in retries": ("command: echo\nretries: {count: 1, ^backof: 1s}\n", ["backof", "did you mean 'backoff'"]),
    "unknown key in sample": ("command: echo {x}\nparameters: {x: {uniform: [0, 1]}}\nsample: {^number: 3}\n", ["number"]),
    "unknown rule": ("command: echo {x}\nparameters:\n  x: {^linspce: [0, 1, 3]}\n", ["linspce", "did you mean 'linspace'"]),
    "key twice": ("command: echo\nname: a\n^name: b\n", ["name", "twice"]),
    "no command": ("^parameters: {x: [1]}\n", ["no 'command'"]),
    "empty command": ("command: '^'\n", ["command is empty"]),
    "command of a wrong type": ("command: ^{a: b}\n", ["command"]),
    "open quote": ("command: echo ^'abc\n", ["quote"]),
    "cores as text": ("command: echo\nresources: {cores: ^many}\n", ["cores", "number"]),
    "no cores": ("command: echo\nresources: {cores: ^0}\n", ["cores"]),
    "memory": ("command: echo\nresources:\n  memory: ^much\n", ["memory", "GiB"]),
    "timeout": ("command: echo\ntimeout: ^soon\n", ["timeout"]),
    "negative timeout": ("command: echo\ntimeout: ^-5s\n", ["timeout"]),
    "retries": ("command: echo\nretries: ^-1\n", ["retries"]),
    "shell": ("command: echo\nshell: ^perhaps\n", ["shell", "true"]),
    "shell with a list": ("shell: true\ncommand: ^[echo, a]\n", ["shell: true"]),
    "parameters as a list": ("command: echo\nparameters: ^[a, b]\n", ["parameters", "map"]),
    "environment as a list": ("command: echo\nenvironment: ^[a, b]\n", ["environment", "map"]),
    "inputs as a map": ("command: echo\ninputs: ^{a: b}\n", ["inputs"]),
    "parameter not defined": ("command: echo {x} ^{seeed}\nparameters: {x: [1], seed: [2]}\n", ["seeed", "did you mean"]),
    "not defined in environment": ("command: echo\nenvironment:\n  A: b^{x}\n", ["{x}"]),
    "not defined in outputs": ("command: echo {x}\nparameters: {x: [1]}\noutputs: [a, 'b^{y}']\n", ["{y}"]),
    "not defined in workdir": ("command: echo\nworkdir: w/^{y}\n", ["{y}"]),
    "empty list": ("command: echo {x}\nparameters:\n  x: ^[]\n", ["x", "no values"]),
    "nothing": ("command: echo {x}\nparameters:\n  ^x:\n", ["x"]),
    "list in a list": ("command: echo {x}\nparameters:\n  x: [1, ^[2]]\n", ["x", "list"]),
    "range backwards": ("command: echo {x}\nparameters:\n  x: ^5..1\n", ["5..1"]),
    "step of nothing": ("command: echo {x}\nparameters:\n  x: ^1..5 step 0\n", ["step"]),
    "range without an end": ("command: echo {x}\nparameters:\n  x: ^{from: 1}\n", ["'to'"]),
    "linspace of two": ("command: echo {x}\nparameters:\n  x: {linspace: ^[0, 1]}\n", ["linspace"]),
    "logspace from zero": ("command: echo {x}\nparameters:\n  x: {logspace: ^[0, 1, 3]}\n", ["logarithmic", "above 0"]),
    "glob without a match": ("command: echo {x}\nparameters:\n  x: {glob: '^*.none'}\n", ["*.none"]),
    "lines of no file": ("command: echo {x}\nparameters:\n  x: {lines: ^none.txt}\n", ["none.txt", "No such file"]),
    "no such column": ("command: echo {x}\nparameters:\n  x: {csv: t.csv, column: ^sed}\n", ["sed", "did you mean 'seed'"]),
    "zip of different lengths": ("command: echo {x} {y}\nparameters:\n  x: [1, 2]\n  y: [1]\ncombine: zip\n", ["2", "1"]),
    "combine of nothing known": ("command: echo {x}\nparameters: {x: [1]}\ncombine: [[x, ^z]]\n", ["'z'"]),
    "combine": ("command: echo {x}\nparameters: {x: [1]}\ncombine: ^crosss\n", ["product", "zip"]),
    "sample without n": ("command: echo {x}\nparameters: {x: {uniform: [0, 1]}}\nsample: ^{method: sobol}\n", ["'n'"]),
    "sample method": ("command: echo {x}\nparameters: {x: {uniform: [0, 1]}}\nsample: {method: ^latin, n: 3}\n",
                      ["latin-hypercube"]),
    "uniform without a sample": ("command: echo {x}\nparameters:\n  ^x: {uniform: [0, 1]}\n", ["sample"]),
    "when that is never true": ("command: echo {x}\nparameters: {x: 1..3}\nwhen: ^x > 3\n", []),
    "when with a mistake": ("command: echo {x}\nparameters: {x: 1..3}\nwhen: x > ^y\n", ["y"]),
    "when of nothing": ("command: echo {x}\nparameters: {x: 1..3}\nwhen: x >\n", []),
    "derived from nothing": ("command: echo {d}\nparameters: {seed: [1]}\nderived:\n  d: 2 * ^sed\n", ["sed", "seed"]),
    "derived in the wrong order": ("command: echo {b}\nparameters: {x: [1]}\nderived:\n  b: 2 * ^c\n  c: x\n", ["c"]),
    "derived by a parameter's name": ("command: echo {x}\nparameters: {x: [1]}\nderived:\n  ^x: 2\n", ["x", "twice"]),
    "derived from text": ("command: echo {d}\nparameters: {m: [a, b]}\nderived:\n  d: 2 * m\n", ["m"]),
    "cost with a mistake": ("command: echo {x}\nparameters: {x: [1]}\ncost: 2 * (^x\n", []),
    "cost below zero": ("command: echo {x}\nparameters: {x: [1]}\ncost: ^0 - x\n", ["cost"]),
    "bad regular expression": ("command: echo\nresults:\n  a: {stdout: '(un'}\n", ["a"]),
    "unknown key in results": ("command: echo\nresults:\n  a: {^stdot: 'a(.)'}\n", ["stdot", "did you mean 'stdout'"]),
    "result by a parameter's name": ("command: echo {x}\nparameters: {x: [1]}\nresults:\n  ^x: 'a(.)'\n", ["x", "twice"]),
    "two tasks with one output": ("command: echo {x}\nparameters: {x: [1, 2]}\noutputs: [^out]\n", ["tasks 1 and 2", "{#}"]),
    "cores of one task": ("command: echo {x}\nparameters: {x: [1, two]}\nresources: {cores: '^{x}'}\n", ["two"]),
    "missing input": ("command: echo\ninputs: [^none.dat]\n", ["none.dat"]),
    "missing input of one task": ("command: echo {x}\nparameters: {x: [t.csv, gone]}\ninputs: ['^{x}']\n", ["gone"]),
    "not YAML": ("command: echo\nparameters: {x: [1, 2\n", []),
    "tab": ("command: echo\nparameters:\n\tx: [1]\n", ["not valid YAML", "tab"]),
    "not a map": ("^- a\n- b\n", ["map"]),
    "braces without quotes in a list": ("command: echo {x}\nparameters: {x: [1]}\noutputs: [a, b{x}]\n", ["not valid YAML", "quotes"]),
    "braces without quotes": ("command: {x}.sh\nparameters: {x: [1]}\n", ["quotes"]),
    "empty file": ("^", ["map"]),
    "only comments": ("# nothing\n", ["map"]),
}


class SweepMistakesTest(gantry_test.TestCase):
    def check(self, name, text, words):
        line, column = None, None
        if "^" in text:
            before = text[:text.index("^")]
            line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
        self.write("t.csv", "seed,other\n1,2\n")
        self.write("sweep.yaml", text.replace("^", "").encode())
        result = self.gantry("run", "sweep.yaml")
        about = f"{name}: {result}"
        self.assertEqual(result.code, 2, about)
        self.assertEqual(result.stdout, "", about)
        self.assertRegex(result.stderr, r"^gantry: sweep\.yaml:\d+:\d+: ", about)
        if line:
            self.assertIn(f"sweep.yaml:{line}:{column}:", result.stderr, about)
        flat = re.sub(r"\s+", " ", result.stderr)
        for word in words:
            self.assertIn(word, flat, about)
        self.assertFalse(self.state.exists(), about)

    def test_mistakes(self):
        for name, (text, words) in MISTAKES.items():
            with self.subTest(name):
                self.check(name, text, words)

    def test_no_such_file(self):
        result = self.gantry("run", "absent.yaml")
        self.assertEqual(result.code, 2, result)
        self.assertIn("absent.yaml", result.stderr)
        self.assertIn("No such file", result.stderr)

    def test_a_folder_instead_of_a_file(self):
        (self.dir / "dir.yaml").mkdir()
        result = self.gantry("run", "dir.yaml")
        self.assertEqual(result.code, 2, result)
        self.assertIn("dir.yaml", result.stderr)

    def test_dry_run_finds_them_too(self):
        self.write("sweep.yaml", "command: echo {y}\n")
        result = self.gantry("run", "--dry-run", "sweep.yaml")
        self.assertEqual((result.code, result.stdout), (2, ""), result)
        self.assertIn("{y}", result.stderr)

    def test_control_characters_are_shown_not_obeyed(self):
        self.write("sweep.yaml", b'command: echo\n"\\e[31mred\\a": 1\n')
        result = self.gantry("run", "sweep.yaml")
        self.assertEqual(result.code, 2, result)
        self.assertNotIn("\x1b", result.stderr)
        self.assertNotIn("\a", result.stderr)
        self.assertIn("[31mred", result.stderr, "it is shown")
