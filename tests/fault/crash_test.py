"""kill -9 at random instants, again and again, and `gantry run` after it: nothing is lost and nothing runs twice."""
import fcntl
import subprocess
import time
import unittest

import gantry_test
from fault_case import FaultCase

SLOTS = "4"


class CrashCase(FaultCase):
    # For tasks that are long anyway: they wait while more tasks have started than the test is prepared for, so that
    # the run is still on when the blow falls, however late that is.
    WAIT_AT_GATE = 'while [ "$(wc -l < ran)" -gt "$(cat gate)" ]; do sleep 0.02; done'

    def setUp(self):
        super().setUp()
        self.set_gate(0)

    def set_gate(self, started: int):
        self.write("gate.new", f"{started}\n").rename(self.dir / "gate")

    def lift_gate(self):
        self.set_gate(1_000_000)

    def strike_instants(self, strikes: int, tasks: int) -> list:
        """(how many tasks have started, and then how many seconds more) for each blow, in order. By progress and
        not by time, so that every blow falls while the run is on, on a slow machine too."""
        return [(after, self.random.uniform(0, 0.03))
                for after in sorted(self.random.randrange(tasks * 9 // 10) for _ in range(strikes))]

    def start_run(self, study):
        return self.start_gantry("run", "-j", SLOTS, "--no-progress", study, stdout=subprocess.DEVNULL)

    def await_instant(self, child, after: int, delay: float):
        self.set_gate(after)
        self.wait_until(lambda: self.line_count("ran") >= after or child.poll() is not None, f"{after} tasks to start")
        time.sleep(delay)
        if child.poll() is not None:
            self.fail("the run ended before the blow: " + self.tail(child))

    def wait_while_running(self, child, condition, what: str):
        value = self.wait_until(lambda: condition() or child.poll() is not None, what)
        if child.poll() is not None:
            self.fail(f"the run ended while waiting for {what}: " + self.tail(child))
        return value

    @staticmethod
    def tail(child) -> str:
        return child.stderr.read().decode(errors="replace")[-3000:]

    def assert_finishes(self, study):
        result = self.finish(self.start_run(study))
        self.assertEqual(result.code, 0, result)


class GantryKilledTest(CrashCase):
    TASKS = 1000
    STRIKES = 50

    def test_each_task_runs_once_and_is_recorded_once(self):
        # One in eight is long enough to be running when gantry is killed and when the next one comes.
        self.write("sweep.yaml", f"""
            command: [./task, "{{i}}"]
            parameters: {{i: 1..{self.TASKS}}}
            """)
        self.write("task", f"""
            #!/bin/sh
            echo "$GANTRY_TASK" >> ran
            case $1 in
              *[05]0) {self.WAIT_AT_GATE}; exec sleep 0.2 ;;
              *[05]) exec sleep 0.05 ;;
            esac
            echo "$1 is done"
            """, executable=True)
        kills = []
        for after, delay in self.strike_instants(self.STRIKES, self.TASKS):
            child = self.start_run("sweep.yaml")
            self.await_instant(child, after, delay)
            child.kill()
            kills.append(time.time())
            child.communicate()
        self.lift_gate()
        self.assert_finishes("sweep.yaml")

        ran = self.lines("ran")
        self.assertEqual(self.repeated(ran), {}, "these tasks ran more than once")
        self.assertEqual(len(ran), self.TASKS)
        self.assert_each_result_once(self.TASKS)
        self.assertEqual({task["attempt"] for task in self.tasks().values()}, {1})
        self.assert_journal_is_sound()
        # Adopted: begun under one gantry, ended after it was killed (and, by the above, not begun again).
        times = self.journal("SELECT started / 1e9, ended / 1e9 FROM events WHERE kind = 'ended'")
        adopted = sum(any(started < kill < ended for kill in kills) for started, ended in times)
        print(f"{len(kills)} kills, {adopted} tasks outlived their gantry")
        self.assertGreater(adopted, 0)
        self.assertEqual(self.gantry("run", "-q", "sweep.yaml").code, 0)
        self.assertEqual(self.line_count("ran"), self.TASKS)


class AgentKilledTest(CrashCase):
    """Without its agent a task that runs is lost and must run again: at least once, never beside its twin."""

    TASKS = 300

    def setUp(self):
        super().setUp()
        (self.dir / "locks").mkdir()
        # The lock is inherited by every process of the task and released by the kernel: taking it proves that no
        # process of an earlier attempt is left.
        self.write("task", f"""
            #!/bin/sh
            exec 9>>"locks/$GANTRY_TASK"
            flock --nonblock 9 || echo "$GANTRY_TASK $GANTRY_ATTEMPT" >> twins
            echo "$GANTRY_TASK $GANTRY_ATTEMPT" >> ran
            case $1 in
              *0) {self.WAIT_AT_GATE}; sleep 0.2 & sleep 0.1; wait ;;
              *5) sleep 0.05 ;;
            esac
            echo "$GANTRY_TASK $GANTRY_ATTEMPT" >> ended
            """, executable=True)
        self.write("sweep.yaml", f"""
            command: [./task, "{{i}}"]
            parameters: {{i: 1..{self.TASKS}}}
            """)

    def kill_agent(self):
        pid = self.agent_pid()
        if pid is not None:
            self.kill(pid)
        return pid

    def assert_well_done(self):
        self.assert_finishes("sweep.yaml")
        self.assertEqual(self.lines("twins"), [], "ran beside an earlier attempt of themselves")
        self.assert_each_result_once(self.TASKS)
        self.assert_journal_is_sound()
        began = self.lines("ran")
        self.assertEqual(self.repeated(began), {}, "attempt numbers were used twice")
        latest = {}
        for task, attempt in (map(int, line.split()) for line in began):
            latest[task] = max(attempt, latest.get(task, 0))
        # Attempts are numbered upwards, so one that began after the success was recorded would be later than it.
        recorded = dict(self.journal("SELECT task, attempt FROM events WHERE kind = 'ended' AND cause = 0"))
        self.assertEqual(latest, recorded)
        self.assertEqual(self.gantry("run", "-q", "sweep.yaml").code, 0)
        self.assertEqual(self.line_count("ran"), len(began))

    def test_agent_killed_under_a_running_gantry(self):
        killed = set()
        child = self.start_run("sweep.yaml")
        for after, delay in self.strike_instants(9, self.TASKS):  # a task that is lost ten times has failed
            self.await_instant(child, after, delay)
            killed.add(self.wait_while_running(child, lambda: self.agent_pid() not in killed and self.kill_agent(),
                                               "another agent to kill"))
        self.lift_gate()
        result = self.finish(child)
        self.assertEqual(result.code, 0, result)
        self.assert_well_done()

    def test_both_killed(self):
        for after, delay in self.strike_instants(20, self.TASKS):
            child = self.start_run("sweep.yaml")
            self.await_instant(child, after, delay)
            blows = [child.kill, self.kill_agent]
            self.random.shuffle(blows)
            blows[0]()
            time.sleep(self.random.uniform(0, 0.02))
            blows[1]()
            child.communicate()
        self.lift_gate()
        self.assert_well_done()

    def test_slot_processes_killed(self):
        """The processes between agent and tasks: their tasks must not go on without them."""
        child = self.start_run("sweep.yaml")
        for after, delay in self.strike_instants(20, self.TASKS):
            self.await_instant(child, after, delay)
            slots = self.wait_while_running(child, self.slot_processes, "slot processes")
            self.kill(self.random.choice(slots))
        self.lift_gate()
        result = self.finish(child)
        self.assertEqual(result.code, 0, result)
        self.assert_well_done()

    def slot_processes(self) -> list:
        agent = self.agent_pid()
        if agent is None:
            return []
        found = []
        for pid in self.processes():
            try:
                with open(f"/proc/{pid}/stat") as file:
                    if int(file.read().rpartition(")")[2].split()[1]) == agent:
                        found.append(pid)
            except OSError:
                pass
        return found


class ForsakenAgentTest(FaultCase):
    def test_agent_whose_gantry_was_killed_before_it_could_connect(self):
        """It waits for a gantry; the next gantry's own agent waits for its lock. They find each other, and nobody
        waits until another one gives up: the first agent that gets the lock serves this gantry."""
        (self.state / "agent").mkdir(parents=True)
        (self.state / "output").mkdir()
        with (self.state / "agent" / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # nobody can begin yet
            agent = gantry_test.GANTRY.with_name("gantry-agent")
            for _ in range(5):
                self.start([agent, self.state / "agent", self.state / "output"], stderr=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL).wait()
            self.write("sweep.yaml", "command: 'cat .gantry/agent/pid; until [ -e go ]; do sleep 0.02; done'\nshell: true\n")
            child = self.start_gantry("run", "--output", "sweep.yaml")
            self.wait_until(lambda: len(self.processes()) >= 7, "gantry and six agents")
        first = self.wait_until(self.agent_pid, "an agent to have the lock")
        self.write("go", "")
        result = self.finish(child)
        self.assertEqual((result.code, result.stdout), (0, f"{first}\n"), result)


class MemoryTest(CrashCase):
    def test_what_died_of_memory_goes_on_with_more_after_both_are_killed(self):
        """Four slots of 50 MiB each; the task takes 100, and has twice what it was killed at when it runs again."""
        self.write("grid.yaml", "sites:\n  home: {hosts: 1, slots: 4, memory: 200 MiB}\n")
        self.write("eat.py", """
            import os, time
            held = bytearray(100_000_000)
            time.sleep(0 if os.path.exists("go") else 600)
            """)
        self.write("sweep.yaml", "command: python3 eat.py\nresources: {memory: learn}\n")
        child = self.start_gantry("run", "--grid", "grid.yaml", "sweep.yaml", stdout=subprocess.DEVNULL)
        deaths = "SELECT attempt FROM events WHERE kind = 'ended' AND cause = 4"
        self.wait_while_running(child, lambda: (self.state / "gantry.db").exists() and self.journal(deaths),
                                "the death of memory to be journalled")
        agent = self.agent_pid()
        child.kill()
        child.wait()
        self.kill(agent)
        self.wait_gone(agent, "the agent")
        self.write("go", "")
        result = self.gantry("run", "--grid", "grid.yaml", "sweep.yaml")
        self.assertEqual(result.code, 0, result)
        self.assertEqual(self.journal(deaths), [(1,)], "once, with 50 MiB")


if __name__ == "__main__":
    unittest.main()
