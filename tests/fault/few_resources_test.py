"""A machine that allows few open files or processes: slower, never wrong."""
import resource
import unittest

from fault_case import FaultCase


class FewDescriptorsTest(FaultCase):
    def test_fewer_slots_instead_of_failed_tasks(self):
        child = self.start_gantry(
            "run", "--no-output", "-j40", "--", "/bin/sh", "-c", "echo $GANTRY_TASK >> ran; sleep 0.05",
            ":::", "1..120", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (24, 24)))
        result = self.finish(child)
        self.assertEqual(result.code, 0, result)
        self.assertIn("tasks can run at once here: ", self.flat(result.stderr))
        self.assertEqual(sorted(map(int, self.lines("ran"))), list(range(1, 121)))
        self.assert_each_result_once(120)


if __name__ == "__main__":
    unittest.main()
