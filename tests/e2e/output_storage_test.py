"""What tasks print is kept in few files, whole, and comes back byte for byte."""
import hashlib

import gantry_test


class OutputStorageTest(gantry_test.TestCase):
    def files(self):
        return [path for path in self.state.rglob("*") if path.is_file()]

    def test_small_output_makes_no_file_a_task(self):
        result = self.gantry("run", "--no-output", "--", "echo", "output of {}", ":::", "1..500")
        self.assertEqual(result.code, 0, result)
        self.assertLess(len(self.files()), 30, self.files())
        for task in (1, 250, 500):
            self.assertEqual(self.gantry("log", str(task)).stdout, f"output of {task}\n")

    def test_large_output_shares_files(self):
        # 150 KB each, on both streams: more than is kept in the store.
        self.write("big.py", """
            import sys
            for stream, letter in ((sys.stdout, "o"), (sys.stderr, "e")):
                for i in range(150):
                    stream.write((f"{letter}{sys.argv[1]}-{i} " * 200)[:999] + "\\n")
            """)
        result = self.gantry("run", "-j2", "--no-output", "--", "python3", "big.py", "{}", ":::", "1..30")
        self.assertEqual(result.code, 0, result)
        self.assertLess(len(self.files()), 30, self.files())
        expected = lambda letter, n: "".join((f"{letter}{n}-{i} " * 200)[:999] + "\n" for i in range(150))
        for task in (1, 17, 30):
            log = self.gantry("log", str(task))
            self.assertEqual(log.stdout, expected("o", task))
            self.assertEqual(log.stderr, expected("e", task))

    def test_bytes_come_back_as_they_were(self):
        self.write("bytes.py", "import sys; sys.stdout.buffer.write(bytes(range(256)) * int(sys.argv[1]))")
        for count in (1, 1024):  # in the store, in a file
            result = self.gantry("run", "-q", "--no-output", "--", "python3", "bytes.py", "{}", ":::", str(count))
            self.assertEqual(result.code, 0, result)
            log = self.start_gantry("log", "1", "--stdout")
            printed, _ = log.communicate(timeout=gantry_test.PATIENCE)
            self.assertEqual(hashlib.sha256(printed).hexdigest(),
                             hashlib.sha256(bytes(range(256)) * count).hexdigest())

    def test_reused_output_is_found_where_it_first_was(self):
        self.write("big.py", "print('x' * 100_000)")
        self.write("a.yaml", "command: python3 big.py {x}\nparameters: {x: [1, 2, 3]}\n")
        self.assertEqual(self.gantry("run", "a.yaml").code, 0)
        self.write("a.yaml", "command: python3 big.py {x}\nparameters: {x: [1, 2]}\n")
        self.assertEqual(self.gantry("run", "a.yaml").code, 0)
        self.assertEqual(self.gantry("log", "2", "--run", "2").stdout, "x" * 100_000 + "\n")

    def test_clean_takes_the_files_along(self):
        self.write("big.py", "print('x' * 1_000_000)")
        self.assertEqual(self.gantry("run", "-q", "--no-output", "--", "python3", "big.py", ":::", "1..5").code, 0)
        size = lambda: sum(path.stat().st_size for path in (self.state / "output").rglob("*") if path.is_file())
        self.assertGreater(size(), 5_000_000)
        result = self.gantry("clean", "all", "--yes")
        self.assertEqual(result.code, 0, result)
        self.assertEqual(size(), 0)

    def test_clean_keeps_what_other_runs_have_reused(self):
        self.write("big.py", "import sys; print(sys.argv[1] * int(sys.argv[2]))")
        run = lambda *sizes: self.gantry("run", "-q", "-k", "--", "python3", "big.py", "x", "{}", ":::", *sizes)
        self.assertEqual(run("10", "100000", "200000").code, 0)
        before = run("10", "100000").stdout
        self.assertEqual(len(before), 100_012)
        self.assertEqual(self.gantry("clean", "1", "--yes").code, 0)
        again = run("10", "100000")
        self.assertEqual((again.code, again.stdout), (0, before))
        self.assertEqual(self.gantry("log", "1", "--run", "2").stdout, "x" * 10 + "\n")
        self.assertEqual(self.gantry("log", "2", "--run", "2").stdout, "x" * 100_000 + "\n")
        self.assertEqual(len(self.gantry("runs", "--json").json_lines()), 1)
        third = run("100000")
        self.assertEqual(len(third.stdout), 100_001, "a copy of the copy has it as well")
        self.assertEqual(self.gantry("clean", "2", "--yes").code, 0)
        self.assertEqual(self.gantry("log", "1").stdout, "x" * 100_000 + "\n")
        self.assertEqual(self.gantry("clean", "all", "--yes").code, 0)
        self.assertEqual([path for path in (self.state / "output").rglob("*") if path.is_file()], [])

    def test_earlier_attempts_keep_their_output(self):
        self.write("sweep.yaml", "command: [sh, -c, 'echo attempt $GANTRY_ATTEMPT; test $GANTRY_ATTEMPT = 3']\nretries: 2\n")
        self.assertEqual(self.gantry("run", "sweep.yaml").code, 0)
        self.assertEqual(self.gantry("log", "1").stdout, "attempt 3\n")
        self.assertEqual(self.gantry("log", "1", "--attempt", "1").stdout, "attempt 1\n")
