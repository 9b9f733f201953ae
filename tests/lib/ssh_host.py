"""A machine behind ssh, for tests: a real sshd of our own on a loopback port, with its own keys.

    host = SshHost(self, "far")       # ends with the test
    host.write_config(self.dir / "ssh_config")
"""
import pathlib
import os
import shutil
import signal
import socket
import subprocess
import time


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class SshHost:
    def __init__(self, case, name, *, greeting="", settings=(), environment=None):
        """`greeting`: printed by the login before every command, where it does not belong. `environment`: variables
        that sessions have besides, or instead of, those that sshd sets."""
        if not shutil.which("sshd", path="/usr/sbin:/usr/bin"):
            case.skipTest("needs sshd (Debian: openssh-server)")
        self.case, self.name = case, name
        self.dir = case.dir / f"sshd-{name}"
        self.dir.mkdir()
        self.scratch = self.dir / "scratch"
        self.port = free_port()
        for key in ("key", "host_key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.dir / key], check=True)
        # Processes there are found by the first one, and ended with the test.
        variables = {"GANTRY_TEST_ID": case.id_in_environment, "FAR_NAME": name, **(environment or {})}
        lines = [
            f"Port {self.port}", "ListenAddress 127.0.0.1", f"HostKey {self.dir}/host_key", "PidFile none",
            f"AuthorizedKeysFile {self.dir}/key.pub", "PasswordAuthentication no", "KbdInteractiveAuthentication no",
            "PermitRootLogin prohibit-password", "UsePAM no", "StrictModes no", "PrintMotd no",
            "SetEnv " + " ".join(f"{name}={value}" for name, value in variables.items()), *settings,
        ]
        if greeting:
            lines.append(f"ForceCommand printf '{greeting}'; exec sh -c \"$SSH_ORIGINAL_COMMAND\"")
        (self.dir / "sshd_config").write_text("\n".join(lines) + "\n")
        self.sshd = None
        self.start()
        case.addCleanup(self.stop)

    def start(self):
        pathlib.Path("/run/sshd").mkdir(exist_ok=True)
        self.sshd = subprocess.Popen(["/usr/sbin/sshd", "-D", "-f", self.dir / "sshd_config", "-E", self.dir / "log"])
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.02)
        raise AssertionError("sshd does not listen: " + (self.dir / "log").read_text())

    def connections(self) -> list:
        """The process ids of sshd's sessions."""
        children = pathlib.Path(f"/proc/{self.sshd.pid}/task/{self.sshd.pid}/children").read_text().split()
        return [int(pid) for pid in children]

    def cut(self):
        """Breaks every connection; what runs here goes on."""
        for pid in self.connections():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def stop(self):
        if self.sshd is None:
            return
        self.cut()
        self.sshd.kill()
        self.sshd.wait()
        self.sshd = None

    def config(self, host_key=None) -> str:
        """For ssh -F; `host_key`: what the person believes its key to be."""
        known = self.dir / "known_hosts"
        key = host_key or " ".join((self.dir / "host_key.pub").read_text().split()[:2])
        known.write_text(f"[127.0.0.1]:{self.port} {key}\n")
        return (f"Host {self.name}\n  HostName 127.0.0.1\n  Port {self.port}\n  IdentityFile {self.dir}/key\n"
                f"  IdentitiesOnly yes\n  UserKnownHostsFile {known}\n  GlobalKnownHostsFile /dev/null\n")
