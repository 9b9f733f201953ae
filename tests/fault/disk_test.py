"""Disks that are full or read-only: a clear error, and nothing lost once they are mended."""
import unittest

from fault_case import FaultCase
from small_disk import SmallDisk


class FullDiskTest(FaultCase):
    TASKS = 600

    def write_study(self):
        # 16 KB of output each, kept in the journal and before that in the slots' logs: about 10 MB in all.
        self.write("task", """
            #!/bin/sh
            echo "$GANTRY_TASK" >> ran
            printf '%016384d' "$1"
            """, executable=True)
        self.write("sweep.yaml", f"""
            command: [./task, "{{i}}"]
            parameters: {{i: 1..{self.TASKS}}}
            """)

    def assert_complete(self):
        result = self.gantry("run", "-j2", "sweep.yaml")
        self.assertEqual(result.code, 0, result)
        self.assertEqual(self.repeated(self.lines("ran")), {}, "ran twice")
        self.assertEqual(len(self.lines("ran")), self.TASKS)
        self.assert_each_result_once(self.TASKS)
        self.assert_journal_is_sound()
        for task in (1, self.TASKS // 2, self.TASKS):
            self.assertEqual(self.gantry("log", str(task)).stdout, f"{task:016384d}")

    def test_disk_fills_up_while_running(self):
        self.write_study()
        disk = SmallDisk(self, self.state, 1024)
        result = self.gantry("run", "-j2", "sweep.yaml", timeout=120)
        self.assertEqual(result.code, 3, result)
        self.assertIn("full", result.stderr)
        self.assertIn("how tasks ended is not lost", self.flat(result.stderr))
        self.assertLess(len(self.lines("ran")), self.TASKS, "it went on although nothing could be recorded")
        disk.resize(64 * 1024)
        self.assert_complete()

    def test_disk_is_full_for_a_while(self):
        """Space comes back in time: the same gantry goes on by itself."""
        self.write_study()
        disk = SmallDisk(self, self.state, 1024)
        child = self.start_gantry("run", "-j2", "--no-output", "sweep.yaml")
        self.wait_until(lambda: disk.free() < 16384 or child.poll() is not None, "the disk to be full", 60)
        disk.resize(64 * 1024)
        result = self.finish(child)
        self.assertEqual(result.code, 0, result)
        self.assert_complete()

    def test_no_room_for_a_database(self):
        self.write_study()
        disk = SmallDisk(self, self.state, 8)
        result = self.gantry("run", "sweep.yaml")
        self.assertEqual(result.code, 3, result)
        self.assertIn("No space left", self.flat(result.stderr))
        self.assertEqual(self.lines("ran"), [])
        disk.resize(64 * 1024)
        self.assert_complete()

    def test_no_room_for_large_output(self):
        """The output's end is kept, its beginning gives way to the journal; the task's success counts all the same."""
        SmallDisk(self, self.state, 2048)
        self.write("task", """
            #!/bin/sh
            echo "$GANTRY_TASK" >> ran
            [ "$1" = small ] && printf '%0100000d' 7 && exit
            head -c 4000000 /dev/zero | tr '\\0' x
            echo the end
            """, executable=True)
        result = self.gantry("run", "-j1", "--no-output", "--", "./task", "{}", ":::", "large", "small")
        self.assertEqual(result.code, 0, result)
        self.assertIn("only the end of the output of 1 task was kept", self.flat(result.stderr))
        self.assertEqual(self.lines("ran"), ["1", "2"])
        tasks = self.tasks()
        self.assertEqual((tasks[1]["stdout_size"], tasks[2]["stdout_size"]), (4_000_008, 100_000))
        log = self.gantry("log", "1")
        self.assertEqual(log.code, 0, log)
        self.assertRegex(log.stdout, r"\Ax+the end\n\Z")
        self.assertIn("16384 of 4000008 bytes", self.flat(log.stderr))
        self.assertIn("disk was full", self.flat(log.stderr))
        self.assertTrue(self.gantry("log", "2").stdout == f"{7:0100000d}", "output of another task got in between")


    def test_value_that_was_in_the_lost_part_is_not_held_to_be_absent(self):
        disk = SmallDisk(self, self.state, 2048)
        self.write("task", """
            #!/bin/sh
            echo "$GANTRY_TASK" >> ran
            echo early=7
            head -c 4000000 /dev/zero | tr '\\0' x
            """, executable=True)
        self.write("sweep.yaml", """
            command: ./task
            results: {early: {stdout: 'early=(.)', optional: true}}
            """)
        result = self.gantry("run", "sweep.yaml")
        self.assertEqual(result.code, 1, result)
        self.assertIn("only the end of the output was kept", self.flat(result.stderr))
        disk.resize(64 * 1024)
        result = self.gantry("run", "sweep.yaml")
        self.assertEqual(result.code, 0, result)
        self.assertEqual(self.lines("ran"), ["1", "1"])
        self.assertEqual(self.gantry("results", "--jsonl").json_lines()[0]["results"], {"early": 7})


class ReadOnlyTest(FaultCase):
    ONE = ("run", "--no-output", "--", "sh", "-c", "echo {} >> ran", ":::", "a", "b")

    def test_state_on_a_read_only_disk(self):
        disk = SmallDisk(self, self.state, 4096)
        disk.set_read_only(True)
        result = self.gantry(*self.ONE)
        self.assertEqual(result.code, 3, result)
        self.assertIn("Read-only file system", self.flat(result.stderr))
        self.assertIn("--state", result.stderr)
        self.assertEqual(self.lines("ran"), [])
        disk.set_read_only(False)
        self.assertEqual(self.gantry(*self.ONE).code, 0)
        self.assertEqual(sorted(self.lines("ran")), ["a", "b"])

    def test_finished_study_on_a_read_only_disk_can_be_read(self):
        disk = SmallDisk(self, self.state, 4096)
        self.assertEqual(self.gantry(*self.ONE).code, 0)
        self.wait_until(lambda: self.agent_pid() is None, "the agent to be gone")
        disk.set_read_only(True)
        for command in ("status", "tasks", "results", "runs"):
            result = self.gantry(command, "--json")
            self.assertEqual(result.code, 0, result)
            self.assertTrue(result.json_lines())
        result = self.gantry(*self.ONE)
        self.assertEqual(result.code, 3, result)
        self.assertEqual(len(self.lines("ran")), 2)

    def test_place_for_outputs_is_read_only(self):
        """The study's own folder of results: the tasks fail and say why; mended, the run goes on."""
        disk = SmallDisk(self, self.dir / "out", 4096)
        self.write("sweep.yaml", """
            command: [sh, -c, "echo {i} > out/{i}.txt"]
            parameters: {i: 1..3}
            outputs: ["out/{i}.txt"]
            """)
        disk.set_read_only(True)
        result = self.gantry("run", "sweep.yaml")
        self.assertEqual(result.code, 1, result)
        self.assertIn("Read-only file system", self.flat(result.stderr))
        self.assertEqual({task["state"] for task in self.tasks().values()}, {"failed"})
        disk.set_read_only(False)
        self.assertEqual(self.gantry("run", "sweep.yaml").code, 0)
        self.assertEqual([self.read(f"out/{i}.txt") for i in (1, 2, 3)], ["1\n", "2\n", "3\n"])


if __name__ == "__main__":
    unittest.main()
