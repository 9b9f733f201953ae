"""Completion in bash and zsh, and the manual page."""
import os
import pty
import re
import shutil
import time
import unittest

import gantry_test

COMMANDS = {"run", "status", "top", "forecast", "tasks", "log", "results", "fetch", "explain", "cancel", "retry", "runs", "clean",
            "plan", "simulate", "grid", "testbed", "completion", "help"}


class CompletionCase(gantry_test.TestCase):
    def setUp(self):
        super().setUp()
        self.env["PATH"] = f"{gantry_test.GANTRY.parent}:{self.env['PATH']}"


class BashTest(CompletionCase):
    def complete(self, *words):
        """What bash offers for the last of `words`."""
        script = self.gantry("completion", "bash")
        self.assertEqual(script.code, 0, script)
        self.write("gantry.bash", script.stdout)
        result = self.run_command(["bash", "--norc", "-u", "-c", """
            source ./gantry.bash
            COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
            _gantry gantry "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
            printf '%s\\n' "${COMPREPLY[@]}"
            """, "bash", "gantry", *words])
        self.assertEqual((result.code, result.stderr), (0, ""), result)
        return set(result.stdout.split("\n")) - {""}

    def test_commands(self):
        self.assertEqual(self.complete(""), COMMANDS)
        self.assertEqual(self.complete("re"), {"results", "retry"})
        self.assertEqual(self.complete("--state", "x", "st"), {"status"})

    def test_a_clone_is_asked_by_its_own_name(self):
        self.assertEqual(self.gantry("run", "--", "true").code, 0)
        (self.dir / "gantry").symlink_to(gantry_test.GANTRY)
        self.env["PATH"] = "/usr/bin:/bin"
        script = self.gantry("completion", "bash").stdout
        self.assertIn("complete -F _gantry ./gantry", script)
        self.write("gantry.bash", script)
        result = self.run_command(["bash", "--norc", "-c", """
            source ./gantry.bash
            COMP_WORDS=(./gantry status ""); COMP_CWORD=2
            _gantry ./gantry "" status; echo "${COMPREPLY[@]}"
            """])
        self.assertEqual(result.stdout, "last all 1\n", result)

    def test_options_are_those_of_the_command(self):
        for command in sorted(COMMANDS - {"help"}):
            offered = self.complete(command, "--")
            accepted = self.gantry(command, "--help").stdout
            self.assertTrue(offered, command)
            for option in offered - {"--state", "--color"}:
                self.assertIn(option, accepted, f"{command} has no {option}")
        self.assertIn("--dry-run", self.complete("run", "--dr"))
        self.assertIn("--plot", self.complete("results", "--p"))

    def test_files_columns_and_runs(self):
        self.write("sweep.yaml", "command: echo {seed}\nparameters: {seed: [1]}\n")
        self.write("other.txt", "")
        (self.dir / "folder").mkdir()
        self.assertEqual(self.complete("run", ""), {"sweep.yaml", "folder"})
        self.assertEqual(self.gantry("run", "sweep.yaml").code, 0)
        self.assertEqual(self.complete("results", "--plot", "s"), {"seed"})
        self.assertEqual(self.complete("tasks", "--run", ""), {"last", "1"})
        self.assertEqual(self.complete("completion", ""), {"bash", "zsh"})
        self.assertEqual(self.complete("--color", "a"), {"auto", "always"})

    def test_schedulers(self):
        self.assertEqual(self.complete("run", "--scheduler", "w"), {"workqueue", "workqueue-steal"})
        self.assertEqual(self.complete("run", "--scheduler", "a"), set())
        self.assertEqual(self.complete("plan", "--scheduler", "a"), {"all"})
        self.assertEqual(self.complete("simulate", "--schedulers", "b"), {"best"})
        self.assertEqual(self.complete("simulate", "eta", "--kind", "st"), {"steady", "steps"})

    def test_it_is_bound_to_the_name(self):
        result = self.run_command(["bash", "--norc", "-c", "source <(gantry completion bash); complete -p gantry"])
        self.assertIn("_gantry", result.stdout, result)


@unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
class ZshTest(CompletionCase):
    def test_it_completes_commands(self):
        self.write("fpath/_gantry", self.gantry("completion", "zsh").stdout)
        # A shell on a terminal, whose keys are typed: zsh has no other way to ask for completions.
        master, slave = pty.openpty()
        child = self.start(["zsh", "-f", "-i"], stdin=slave, stdout=slave, stderr=slave, env={"TERM": "dumb", "PS1": "$ "})
        os.close(slave)
        os.set_blocking(master, False)
        seen = ""

        def read_until(*wanted):
            nonlocal seen
            deadline = time.monotonic() + gantry_test.PATIENCE
            while not all(word in seen for word in wanted):
                self.assertLess(time.monotonic(), deadline, f"never saw {wanted} in {seen!r}")
                try:
                    seen += os.read(master, 65536).decode(errors="replace")
                except BlockingIOError:
                    time.sleep(0.02)

        os.write(master, b"fpath=($PWD/fpath $fpath); autoload -Uz compinit && compinit -u -d ./zcomp; echo rea''dy\n")
        read_until("ready")
        seen = ""
        os.write(master, b"gantry \t\t")
        read_until("status", "explain", "retry")
        self.assertNotIn("command not found", seen)
        seen = ""
        os.write(master, b"\x15gantry comple\t zs\t; echo com''pleted\n")
        read_until("gantry completion zsh", "completed")
        os.close(master)
        child.kill()
        child.wait()

    def test_a_clone_is_asked_by_its_own_name(self):
        script = self.gantry("completion", "zsh").stdout
        self.assertNotRegex(script, r"_call_program \w+ gantry")
        (self.dir / "my clone").mkdir()
        (self.dir / "my clone" / "gantry").symlink_to(gantry_test.GANTRY)
        self.assertEqual(self.gantry("run", "--", "true").code, 0)
        self.write("_gantry", script)
        # The parts of zsh's completion that the script calls, without a terminal.
        self.env["PATH"] = "/usr/bin:/bin"
        result = self.run_command(["zsh", "-f", "-c", """
            compdef() { }; compadd() { shift; print -r -- ${(P)1} }; _call_program() { shift; eval "$*" }
            source ./_gantry
            program="my clone/gantry"; _gantry_runs
            """], env={"GANTRY_STATE": str(self.state)})
        self.assertEqual(result.stdout, "last 1\n", result)

    def test_the_script_is_valid(self):
        self.write("_gantry", self.gantry("completion", "zsh").stdout)
        result = self.run_command(["zsh", "-f", "-n", "_gantry"])
        self.assertEqual((result.code, result.stderr), (0, ""), result)


@unittest.skipUnless(shutil.which("man"), "man-db is not installed")
class ManualTest(gantry_test.TestCase):
    PAGE = gantry_test.ROOT / "docs" / "man" / "gantry.1"

    def test_it_renders_without_warnings(self):
        result = self.run_command(["man", "--warnings=w", "-E", "UTF-8", "-l", self.PAGE], env={"MANWIDTH": "80", "PAGER": "cat"})
        self.assertEqual((result.code, result.stderr), (0, ""), result)
        for word in ("NAME", "SYNOPSIS", "EXAMPLES", "gantry run", ":::", "GANTRY_PARAM_"):
            self.assertIn(word, result.stdout)
        self.assertLessEqual(max(map(len, result.stdout.splitlines())), 80)

    def test_it_knows_every_command_and_option(self):
        page = self.PAGE.read_text().replace("\\-", "-")
        for command in COMMANDS - {"help"}:
            self.assertIn(command, page)
            for option in re.findall(r"(?<!\S)--[a-z][a-z-]+", self.gantry(command, "--help").stdout.replace(",", " ")):
                self.assertIn(option, page, f"{command}'s option is not in the manual")
