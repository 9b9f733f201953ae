"""gantry run --grid with sites behind ssh: a real sshd, the person's own ssh, tasks, files and outputs."""
import pathlib
import signal
import subprocess
import unittest

from ssh_case import SshTestCase

SWEEP = """
    command: sh work.sh {x} data/shared.txt {x}.in out/{x}.txt
    parameters: { x: 1..6 }
    inputs: [data/shared.txt, "{x}.in"]
    outputs: ["out/{x}.txt"]
    results:
      sum: { stdout: 'sum=(\\d+)' }
"""
WORK = """
    echo "${FAR_NAME:-home}" >>"$MARKS/ran-$1"
    s=$(cat "$2" "$3" | awk '{ t += $1 } END { print t }')
    echo "sum=$s"
    echo "$s" >"$4"
"""


class StudyTestCase(SshTestCase):
    def write_study(self, sweep=SWEEP, work=WORK):
        self.write("sweep.yaml", sweep)
        self.write("work.sh", work.replace("$MARKS", str(self.dir / "marks")))
        (self.dir / "marks").mkdir(exist_ok=True)
        self.write("data/shared.txt", "".join(f"{i}\n" for i in range(100)))
        for i in range(1, 7):
            self.write(f"{i}.in", f"{i}\n")


class RunTest(StudyTestCase):
    def test_tasks_run_there_and_what_they_made_comes_home(self):
        host = self.far()
        self.write_grid(host)
        self.write_study()
        result = self.run_it()
        self.assertEqual(result.code, 0, result)
        self.assertEqual(self.ran(), {i: ["far"] for i in range(1, 7)})
        for i in range(1, 7):
            self.assertEqual(self.read(f"out/{i}.txt"), f"{4950 + i}\n")
        rows = self.gantry("results", "--json").json_lines()
        self.assertEqual([row["results"]["sum"] for row in rows], [4950 + i for i in range(1, 7)])
        # Nothing of the tasks stays there but what they share.
        self.assertEqual(list(host.scratch.glob("work/*/run/*")), [])
        contents = [path for path in host.scratch.glob("depot/??/*")]
        self.assertEqual([path.read_text() for path in contents], [self.read("data/shared.txt")])
        # Nothing is done again.
        again = self.run_it()
        self.assertEqual(again.code, 0, again)
        self.assertIn("unchanged", again.stderr)
        self.assertEqual(self.ran(), {i: ["far"] for i in range(1, 7)})

    def test_what_an_earlier_study_left_stays(self):
        host = self.far()
        self.write_grid(host)
        self.write_study()
        self.assertEqual(self.run_it().code, 0)
        self.write("sweep.yaml", "command: wc -l data/shared.txt\ninputs: [data/shared.txt]\n")  # one task: its own file
        self.assertEqual(self.run_it().code, 0)
        self.assertEqual([path.read_text() for path in host.scratch.glob("depot/??/*")], [self.read("data/shared.txt")])

    def test_every_task_begins_in_an_empty_folder(self):
        host = self.far()
        self.write_grid(host, slots=1)
        self.write("sweep.yaml", """
            command:
              - sh
              - -c
              - test -z "$(ls -A)" || exit 9; stat -c %a .; case {x} in 3) chmod 755 . ;; 5) mkdir a; touch a/b ;; esac
            parameters: { x: 1..8 }
        """)
        result = self.run_it()
        self.assertEqual(result.code, 0, result)
        outputs = {self.gantry("log", str(task)).stdout for task in range(1, 9)}
        self.assertEqual(len(outputs), 1, outputs)
        self.assertEqual(list(host.scratch.glob("work/*/run/*")), [])

    def test_home_and_two_sites_share_the_work(self):
        hosts = [self.far("one"), self.far("two")]
        self.write_grid(*hosts, home="{ hosts: 1, slots: 1 }", slots=1)
        # The first ones wait for each other: no place may take all before the last one is there.
        self.write_study(work=WORK + "\n    while [ $(ls $MARKS | wc -l) -lt 3 ]; do sleep 0.02; done\n")
        result = self.run_it()
        self.assertEqual(result.code, 0, result)
        self.assertEqual(sorted(self.ran()), list(range(1, 7)))
        self.assertEqual({place for [place] in self.ran().values()}, {"home", "one", "two"})

    def test_a_login_that_prints_where_it_should_not(self):
        host = self.far(greeting="Welcome!\\nYou have mail.\\nno newline: ")
        self.write_grid(host)
        self.write_study()
        result = self.run_it()
        self.assertEqual(result.code, 0, result)
        self.assertEqual(self.ran(), {i: ["far"] for i in range(1, 7)})

    def test_an_ssh_that_says_a_lot(self):
        host = self.far()
        proxy = self.write("proxy.py", f"""
            import os, socket, sys, threading
            sys.stderr.write("x" * 300_000 + "\\n")
            there = socket.create_connection(("127.0.0.1", {host.port}))

            def send():
                while data := os.read(0, 65536):
                    there.sendall(data)
                there.shutdown(socket.SHUT_WR)

            threading.Thread(target=send, daemon=True).start()
            while data := there.recv(65536):
                os.write(1, data)
                sys.stderr.write("y" * 30_000 + "\\n")  # also when it is connected
                sys.stderr.flush()
        """)
        self.write_grid(host, config=host.config() + f"  ProxyCommand /usr/bin/python3 {proxy}\n")
        self.write_study()
        result = self.run_it(timeout=60)
        self.assertEqual(result.code, 0, result)
        self.assertEqual(self.read("out/1.txt"), "4951\n")

    def test_what_tasks_say_and_how_they_fail(self):
        self.write_grid(self.far())
        self.write("sweep.yaml", """
            command: [sh, -c, 'echo out {x}; echo err {x} >&2; exit {x}']
            parameters: { x: [0, 3] }
        """)
        result = self.run_it("--keep-going")
        self.assertEqual(result.code, 1, result)
        self.assertIn("exit code 3", result.stderr)
        for task, x in ((1, 0), (2, 3)):
            self.assertEqual(self.gantry("log", str(task)).stdout, f"out {x}\n")
            self.assertEqual(self.gantry("log", str(task), "--stderr").stdout, f"err {x}\n")

    def test_long_output_comes_home_and_goes_there(self):
        host = self.far()
        self.write_grid(host)
        self.write("sweep.yaml", "command: seq {n}\nparameters: { n: [200000] }\n")
        result = self.run_it()
        self.assertEqual(result.code, 0, result)
        self.assertEqual(self.gantry("log", "1").stdout, "".join(f"{i}\n" for i in range(1, 200001)))
        left = lambda: [path for path in host.scratch.glob("work/*/hosts/*/output/*/*")]
        self.wait_until(lambda: not left(), "it to be removed there", timeout=60)

    def test_what_only_a_lost_host_can_run_waits_for_it(self):
        host = self.far()
        self.write_grid(host, home="{ hosts: 1, slots: 1 }")
        self.write("sweep.yaml", f"""
            command: ["sh", "-c", "touch {self.dir}/here; until test -e {self.dir}/go; do sleep 0.02; done"]
            resources: {{ cores: 2 }}
        """)
        with open(self.dir / "told", "wb") as told:
            run = self.start_gantry("run", "sweep.yaml", "--grid", "grid.yaml", stderr=told)
        self.wait_until((self.dir / "here").exists, "the task to run", timeout=60)
        host.stop()
        self.wait_until(lambda: "far (far-site)" in self.read("told"), "the person to be told", timeout=60)
        host.start()
        self.write("go", "")
        self.assertEqual(run.wait(90), 0, self.read("told"))

    def test_an_output_that_was_not_made(self):
        self.write_grid(self.far())
        self.write("sweep.yaml", "command: 'true'\noutputs: [made/nothing.txt]\n")
        result = self.run_it()
        self.assertEqual(result.code, 1, result)
        self.assertIn(f"{self.dir}/made/nothing.txt", result.stderr)
        self.assertNotIn("scratch", result.stderr)

    def test_a_folder_and_a_program_travel(self):
        self.write_grid(self.far())
        self.write("tree/a/one.txt", "1\n")
        self.write("tree/b.txt", "2\n")
        self.write("tool.sh", '#!/bin/sh\ncat "$1"/a/one.txt "$1"/b.txt; echo $FAR_NAME\n', executable=True)
        self.write("sweep.yaml", "command: ./tool.sh tree\ninputs: [tree]\n")
        result = self.run_it()
        self.assertEqual(result.code, 0, result)
        self.assertEqual(self.gantry("log", "1").stdout, "1\n2\nfar\n")

    def test_every_scheduler_can(self):
        self.write_grid(self.far())
        for name in ("best", "min-min", "max-min", "sufferage", "xsufferage", "round-robin", "random", "workqueue-steal"):
            self.write_study()
            result = self.run_it("--fresh", "--scheduler", name)
            self.assertEqual(result.code, 0, result)

    def test_files_that_are_there_already_are_not_sent(self):
        host = self.far()
        self.write_study()
        self.write("other.txt", "7\n")
        self.write("sweep.yaml", SWEEP.replace("inputs: [", "inputs: [other.txt, "))
        (self.dir / "datasets").mkdir()
        there = self.dir / "datasets/shared.txt"
        there.write_text(self.read("data/shared.txt"))
        (self.dir / "datasets/other.txt").write_text("8\n")
        before = there.stat()
        self.write_grid(host, keys=[f"staged: {{ data/shared.txt: {there}, other.txt: {self.dir}/datasets/other.txt }}"])
        result = self.run_it()
        self.assertEqual(result.code, 0, result)
        said = " ".join(result.stderr.split())
        self.assertEqual(said.count("is not what 'staged' says"), 1, result)
        self.assertIn("datasets/other.txt is not what 'staged' says (it has another content)", said)
        self.assertEqual(self.read("out/1.txt"), "4951\n")
        after = there.stat()
        self.assertEqual((after.st_mtime, after.st_mode, after.st_nlink),
                         (before.st_mtime, before.st_mode, before.st_nlink))
        contents = sorted(path.read_text() for path in host.scratch.glob("depot/??/*"))
        self.assertEqual(contents, sorted([self.read("data/shared.txt"), "7\n"]))


class TroubleTest(StudyTestCase):
    def test_a_host_with_another_key_is_not_trusted(self):
        far, near = self.far("far"), self.far("near")
        other = " ".join((near.dir / "host_key.pub").read_text().split()[:2])
        self.write_grid(far, near, config=far.config(host_key=other) + near.config())
        self.write_study()
        result = self.run_it()
        self.assertEqual(result.code, 0, result)
        self.assertEqual(self.ran(), {i: ["near"] for i in range(1, 7)})
        self.assertIn("Host key verification failed", result.stderr)
        self.assertIn("ssh_config far", " ".join(result.stderr.split()))

    def test_a_host_that_wants_a_password_is_left_out(self):
        far, near = self.far("far"), self.far("near")
        self.write_grid(far, near, config=far.config().replace(f"{far.dir}/key", f"{near.dir}/key") + near.config())
        self.write_study()
        result = self.run_it()
        self.assertEqual(result.code, 0, result)
        self.assertEqual(self.ran(), {i: ["near"] for i in range(1, 7)})
        self.assertIn("Permission denied", result.stderr)
        self.assertIn(f"BatchMode=yes -F {self.dir}/ssh_config far", " ".join(result.stderr.split()))

    def test_no_host_at_all(self):
        far = self.far()
        self.write_grid(far)
        self.write_study()
        far.stop()
        result = self.run_it()
        self.assertNotEqual(result.code, 0, result)
        said = " ".join(result.stderr.split())
        self.assertIn("Connection refused", said)
        self.assertIn("could be reached", said)

    def test_a_broken_connection_loses_nothing(self):
        host = self.far()
        self.write_grid(host)
        self.write_study(work=WORK + "\n    sleep 1\n")
        run = self.start_gantry("run", "sweep.yaml", "--grid", "grid.yaml")
        self.wait_until(lambda: len(self.ran()) >= 2, "two tasks to run")
        host.cut()
        out, err = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 0, err.decode())
        self.assertEqual(self.ran(), {i: ["far"] for i in range(1, 7)})
        self.assertEqual(self.read("out/1.txt"), "4951\n")

    def test_a_killed_gantry_finds_its_tasks_again(self):
        host = self.far()
        self.write_grid(host)
        self.write_study(work=WORK + "\n    sleep 1\n")
        run = self.start_gantry("run", "sweep.yaml", "--grid", "grid.yaml", stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)
        self.wait_until(lambda: len(self.ran()) >= 3, "three tasks to run")
        run.send_signal(signal.SIGKILL)
        run.wait()
        result = self.run_it()
        self.assertEqual(result.code, 0, result)
        self.assertEqual(self.ran(), {i: ["far"] for i in range(1, 7)})
        for i in range(1, 7):
            self.assertEqual(self.read(f"out/{i}.txt"), f"{4950 + i}\n")

    def test_tasks_of_a_killed_gantry_are_cancelled(self):
        host = self.far()
        self.write_grid(host)
        self.write_study(work="echo $$ >>\"$MARKS/ran-$1\"\nexec sleep 600\n")
        run = self.start_gantry("run", "sweep.yaml", "--grid", "grid.yaml", stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)
        self.wait_until(lambda: len(self.ran()) == 2, "two tasks to run", timeout=60)
        run.send_signal(signal.SIGKILL)
        run.wait()
        here = self.gantry("cancel")
        self.assertIn("--grid", here.stderr)
        result = self.gantry("cancel", "--grid", "grid.yaml", timeout=60)
        self.assertEqual(result.code, 0, result)
        pids = [int(pid) for [pid] in self.ran().values()]
        self.wait_until(lambda: not any(pathlib.Path(f"/proc/{pid}").exists() for pid in pids), "them to end")
        self.assertEqual(self.gantry("status", "--json").json()["cancelled"], 6)

    def test_a_damaged_file_in_the_depot_is_sent_again(self):
        host = self.far()
        self.write_grid(host)
        self.write_study()
        self.assertEqual(self.run_it().code, 0)
        [stored] = host.scratch.glob("depot/??/*")
        stored.chmod(0o600)
        stored.write_text("rubbish\n")
        result = self.run_it("--fresh")
        self.assertEqual(result.code, 0, result)
        self.assertEqual(self.read("out/1.txt"), "4951\n")

    def test_a_folder_that_cannot_travel_is_told(self):
        self.write_grid(self.far())
        self.write("sweep.yaml", "command: 'true'\nworkdir: /tmp\n")
        result = self.run_it()
        self.assertEqual(result.code, 1, result)
        self.assertIn("can only run at home", result.stderr)


if __name__ == "__main__":
    unittest.main()
