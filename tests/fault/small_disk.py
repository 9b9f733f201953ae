"""File systems of a test's own: small, full, read-only. Needs root; without it the test is skipped, loudly."""
import ctypes
import os
import pathlib
import subprocess
import unittest

CLONE_NEWNS = 0x00020000


def _run(*argv):
    subprocess.run(argv, check=True, capture_output=True, text=True)


def enter_private_mounts():
    """From here on what this process mounts is seen by it and its children alone, and is gone with them."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS) != 0:
        raise unittest.SkipTest("NOT TESTED: full and read-only disks. Mounting needs root: "
                                + os.strerror(ctypes.get_errno()))
    _run("mount", "--make-rprivate", "/")


class SmallDisk:
    """A tmpfs of so many KiB at `path`."""

    def __init__(self, case, path: pathlib.Path, kib: int):
        enter_private_mounts()
        self.path = path
        path.mkdir(parents=True, exist_ok=True)
        _run("mount", "-t", "tmpfs", "-o", f"size={kib}k", "tmpfs", str(path))
        # Lazily: an agent may still be on its way out.
        case.addCleanup(lambda: subprocess.run(["umount", "--lazy", str(path)], check=False))

    def resize(self, kib: int):
        _run("mount", "-o", f"remount,size={kib}k", str(self.path))

    def set_read_only(self, read_only: bool):
        _run("mount", "-o", "remount,ro" if read_only else "remount,rw", str(self.path))

    def free(self) -> int:
        info = os.statvfs(self.path)
        return info.f_bavail * info.f_bsize
