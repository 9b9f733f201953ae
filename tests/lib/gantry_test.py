"""What every whole-program test stands on: one scratch folder a test, ways to run gantry in it, and a tidy end.

    class RunTest(gantry_test.TestCase):
        def test_says_hello(self):
            result = self.gantry("run", "--", "echo", "{}", ":::", "hello")
            self.assertEqual(result.code, 0, result)

After each test nothing of it may be running: every process that carries the test's id in its environment is an
orphan and fails the test, but for gantry's own agent, which may still be on its way out. A test that leaves tasks
behind on purpose says self.allow_leftovers(). Whatever is left is killed, by process id.
"""
import dataclasses
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest
import uuid

ROOT = pathlib.Path(__file__).resolve().parents[2]
# How long to wait, in seconds, for what ought to happen at once: other programs may be compiled meanwhile.
PATIENCE = 120.0
GANTRY = pathlib.Path(os.environ.get("GANTRY_BIN", ROOT / "build" / "dev" / "bin" / "gantry")).absolute()

# run_all ends a test that takes too long with SIGTERM: unwind, so that tearDown kills what the test started.
signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by SIGTERM: took too long"))


@dataclasses.dataclass
class Result:
    """How a command ended. Printed whole when an assertion that mentions it fails."""

    argv: list
    code: int  # negative: the signal that killed it
    stdout: str
    stderr: str
    seconds: float

    def __str__(self) -> str:
        return (f"\n$ {shlex.join(map(str, self.argv))}\nexit status {self.code} after {self.seconds:.2f} s"
                f"\n--- stdout\n{self.stdout[-6000:]}\n--- stderr\n{self.stderr[-6000:]}\n---")

    def json(self):
        return json.loads(self.stdout)

    def json_lines(self) -> list:
        return [json.loads(line) for line in self.stdout.splitlines()]


class TestCase(unittest.TestCase):
    maxDiff = None
    orphan_patience = 60.0  # what was told to end may need a while to do so

    def setUp(self):
        self.id_in_environment = f"{self.id()}-{uuid.uuid4().hex}"
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="gantry-test-")).resolve()
        self.state = self.dir / ".gantry"
        self.env = {name: value for name, value in os.environ.items() if not name.startswith("GANTRY_")}
        self.env.update(GANTRY_TEST_ID=self.id_in_environment, LC_ALL="C.UTF-8", TERM="dumb")
        # Debian's Python: a version manager's stand-in takes longer to start than most tasks to run.
        self.env["PATH"] = f"/usr/bin:{self.env['PATH']}"
        self._leftovers_allowed = False
        self.addCleanup(self._tidy_up)  # runs also when setUp of a subclass fails

    # Running things. ------------------------------------------------------------------------------------------

    def gantry(self, *args, **options) -> Result:
        """Runs gantry to its end. Options as for run()."""
        return self.run_command([GANTRY, *args], **options)

    def run_command(self, argv, *, stdin=None, cwd=None, env=None, timeout=PATIENCE) -> Result:
        """`stdin`: text or bytes, none is /dev/null; `env`: additions, None as a value removes. Fails the test after `timeout` s."""
        if isinstance(stdin, str):
            stdin = stdin.encode()
        started = time.monotonic()
        child = self.start(argv, cwd=cwd, env=env, stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE)
        try:
            stdout, stderr = child.communicate(stdin, timeout=timeout)
        except subprocess.TimeoutExpired:
            child.kill()
            stdout, stderr = child.communicate()
            result = self._result(argv, child, stdout, stderr, started)
            self.fail(f"still running after {timeout} s: {result}")
        return self._result(argv, child, stdout, stderr, started)

    def start(self, argv, *, cwd=None, env=None, stdin=subprocess.DEVNULL, **popen) -> subprocess.Popen:
        """Starts a command in the background, in a process group of its own; stdout and stderr are pipes unless
        told otherwise."""
        popen = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "start_new_session": True, **popen}
        environment = {**self.env, **(env or {})}
        environment = {name: value for name, value in environment.items() if value is not None}
        return subprocess.Popen([os.fspath(arg) for arg in argv], cwd=cwd or self.dir, env=environment, stdin=stdin,
                                **popen)

    def start_gantry(self, *args, **options) -> subprocess.Popen:
        return self.start([GANTRY, *args], **options)

    @staticmethod
    def _result(argv, child, stdout, stderr, started) -> Result:
        return Result(list(argv), child.returncode, stdout.decode(errors="replace"), stderr.decode(errors="replace"),
                      time.monotonic() - started)

    # Files. ---------------------------------------------------------------------------------------------------

    def write(self, name, text, executable=False) -> pathlib.Path:
        """Writes a file of the scratch folder (indentation common to all lines removed)."""
        path = self.dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else textwrap.dedent(text).lstrip("\n").encode())
        if executable:
            path.chmod(0o755)
        return path

    def read(self, name) -> str:
        return (self.dir / name).read_text()

    # Waiting and processes. -----------------------------------------------------------------------------------

    def wait_until(self, condition, what: str, timeout=PATIENCE):
        """Polls until condition() is true and returns its value; fails the test with `what` otherwise."""
        deadline = time.monotonic() + timeout
        while not (value := condition()):
            if time.monotonic() > deadline:
                self.fail(f"waited {timeout} s for: {what}")
            time.sleep(0.01)
        return value

    def agent_pid(self, state=None):
        """The process id in the state folder's agent/pid, when that process lives; else None."""
        try:
            pid = int(((state or self.state) / "agent" / "pid").read_text().split()[0])
            os.kill(pid, 0)
            return pid
        except (OSError, ValueError, IndexError):
            return None

    def processes(self) -> dict:
        """pid -> command line of every live process that this test started, however deep."""
        mark = f"GANTRY_TEST_ID={self.id_in_environment}".encode()
        found = {}
        for entry in os.listdir("/proc"):
            if not entry.isdigit() or int(entry) == os.getpid():
                continue
            try:
                if mark not in pathlib.Path(f"/proc/{entry}/environ").read_bytes().split(b"\0"):
                    continue
                state = pathlib.Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()[0]
                command = pathlib.Path(f"/proc/{entry}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:  # ended meanwhile, or another user's
                continue
            if state not in "ZX" and command:
                found[int(entry)] = command.strip()
        return found

    def task_processes(self) -> dict:
        """The same without gantry's agent and its shepherds."""
        return {pid: command for pid, command in self.processes().items() if not self._is_agent(pid)}

    @staticmethod
    def _is_agent(pid) -> bool:
        try:
            return os.path.basename(os.readlink(f"/proc/{pid}/exe")).startswith("gantry-agent")
        except OSError:
            return True  # gone

    def allow_leftovers(self):
        """This test ends with tasks still running, on purpose."""
        self._leftovers_allowed = True

    def _tidy_up(self):
        orphans = self.task_processes()
        deadline = time.monotonic() + self.orphan_patience
        while orphans and not self._leftovers_allowed and time.monotonic() < deadline:
            time.sleep(0.05)
            orphans = self.task_processes()
        # Again and again: what is being killed may have forked just before.
        for _ in range(100):
            left = self.processes()
            if not left:
                break
            for pid in left:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            time.sleep(0.02)
        self._remove_scratch()
        if orphans and not self._leftovers_allowed:
            self.fail(f"left running: {orphans}")

    def _remove_scratch(self):
        for folder, _, _ in os.walk(self.dir):  # tests make folders read-only
            os.chmod(folder, 0o700)
        shutil.rmtree(self.dir, ignore_errors=True)
