"""gantry run --scheduler: every strategy runs a study to its end, and an unknown one is refused."""
import re
import unittest

import gantry_test

NAMES = ["workqueue", "workqueue-steal", "round-robin", "random", "min-min", "max-min", "sufferage", "xsufferage", "best"]


class NamesTest(gantry_test.TestCase):
    """Where schedulers are listed by name, none is forgotten and none made up: the program knows which there are."""

    def setUp(self):
        super().setUp()
        self.write("sweep.yaml", "command: 'true'\n")
        self.write("grid.yaml", "sites: {home: {hosts: 1}}\n")
        plan = self.gantry("plan", "sweep.yaml", "--grid", "grid.yaml", "--json").json()
        self.known = sorted(one["scheduler"] for one in plan["schedulers"])

    def test_here(self):
        self.assertEqual(sorted(NAMES), self.known)

    def test_completions(self):
        for shell in ("bash", "zsh"):
            script = self.gantry("completion", shell).stdout
            [listed] = re.findall(r'local schedulers="(.*)"', script)
            self.assertEqual(sorted(listed.split()), self.known, shell)
            for name in self.known:  # in no second list
                self.assertEqual(len(re.findall(rf"(?<![\w-]){name}(?![\w-])", script)), 1, (shell, name))

    def test_manual_page(self):
        page = (gantry_test.ROOT / "docs/man/gantry.1").read_text().replace("\\-", "-")
        [section] = re.findall(r"(?s)\n\.BI --scheduler .*?\n\.TP", page)
        self.assertEqual(sorted(re.findall(r"\n\.BR? ([\w-]+)", section)), self.known)

    def test_tables_in_the_documentation(self):
        for file in ("README.md", "docs/howto/plan-a-study.md"):
            text = (gantry_test.ROOT / file).read_text()
            [table] = re.findall(r"(?s)\n   scheduler +makespan.*?\n(.*?)\n\* the shortest", text)
            self.assertEqual(sorted(line[3:].split()[0] for line in table.splitlines()), self.known, file)


class SchedulersTest(gantry_test.TestCase):
    def test_each_runs_every_task_once(self):
        for name in NAMES:
            self.write("ran", "")
            result = self.gantry("run", "--fresh", "-q", "-j2", "--scheduler", name, "--", "sh", "-c", "echo {} >> ran",
                                 ":::", "1..20")
            self.assertEqual(result.code, 0, result)
            self.assertEqual(sorted(map(int, self.read("ran").split())), list(range(1, 21)), name)

    def test_they_know_costs_and_resources(self):
        self.write("sweep.yaml", "command: 'true'\nparameters: {n: 1..6, cores: [1, 2]}\ncost: n\n"
                                 "resources: {cores: '{cores}'}\n")
        for name in NAMES:
            result = self.gantry("run", "--fresh", "-j2", "--scheduler", name, "sweep.yaml")
            self.assertEqual(result.code, 0, result)
            self.assertEqual(self.gantry("status", "--json").json()["done"], 12)

    def test_failed_tasks_are_tried_again(self):
        self.write("sweep.yaml", "command: [sh, -c, 'test $GANTRY_ATTEMPT -gt 1']\nparameters: {n: 1..4}\n"
                                 "retries: {count: 2, backoff: 10ms}\n")
        for name in ("best", "workqueue-steal"):
            result = self.gantry("run", "--fresh", "-j2", "--scheduler", name, "sweep.yaml")
            self.assertEqual(result.code, 0, result)

    def test_an_unknown_one_is_refused_before_anything_runs(self):
        result = self.gantry("run", "--scheduler", "fastest", "--", "touch", "{}", ":::", "made")
        self.assertEqual(result.code, 2, result)
        self.assertIn("there is no scheduler 'fastest'", result.stderr)
        for name in NAMES:
            self.assertIn(name, result.stderr)
        self.assertFalse((self.dir / "made").exists())


if __name__ == "__main__":
    unittest.main()
