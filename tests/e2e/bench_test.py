"""The bench compares tools that run the same tasks, and says so when one does not."""
import subprocess
import sys

import gantry_test

BENCH = gantry_test.ROOT / "bench"
sys.path.append(str(BENCH))
import same_tasks
from measure import ENVIRONMENT


def run(command, env, tasks=same_tasks.TASKS):
    for number in range(1, tasks + 1):
        subprocess.run([word.replace("{}", str(number)) for word in command], env=env, check=True)


class BenchTest(gantry_test.TestCase):
    def problems(self, tool, task):
        with self.assertRaises(SystemExit) as end:
            same_tasks.check(str(self.dir), {tool: task})
        return end.exception.code.splitlines()[1:]

    def test_gantry_and_its_peers_run_the_same_tasks(self):
        result = self.run_command([BENCH / "run", "same", "--tools", "gantry,gantry_ssh,make,ninja,xargs"],
                                  env={"GANTRY_BIN": str(gantry_test.GANTRY)})
        self.assertEqual(result.code, 0, result)
        self.assertIn("the floor, gantry, gantry_ssh", result.stdout)

    def test_other_arguments_are_named(self):
        self.assertEqual(self.problems("odd", lambda command: run(command, ENVIRONMENT, same_tasks.TASKS - 1)),
                         [f"  odd: 1 x '{self.dir}/probe {same_tasks.TASKS}' did not run"])
        found = self.problems("odd", lambda command: run(command[:1], ENVIRONMENT))
        self.assertIn(f"  odd: {same_tasks.TASKS} x '{self.dir}/probe' is no task, or ran too often", found)

    def test_other_variables_are_named(self):
        without = {name: value for name, value in ENVIRONMENT.items() if name != "LC_ALL"}
        self.assertEqual(self.problems("odd", lambda command: run(command, without)), ["  odd: LC_ALL is None, not 'C.UTF-8'"])
        more = dict(ENVIRONMENT, ODD="1")
        self.assertEqual(self.problems("gantry", lambda command: run(command, more)), ["  gantry: ODD=1 is one variable more"])
        same_tasks.check(str(self.dir), {"peer": lambda command: run(command, more)})
        named = dict(ENVIRONMENT, LANG="C")
        self.assertEqual(self.problems("peer", lambda command: run(command, named)), ["  peer: LANG=C is one variable more"])
