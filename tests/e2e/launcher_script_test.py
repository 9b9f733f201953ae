"""The ./gantry script of a clone, with a little program in the place of the real sources (building those takes
minutes): builds when it must, only then, once, and from anywhere."""
import os
import shutil
import stat
import time

import gantry_test

PROGRAM = r"""
#include <stdio.h>
#include <unistd.h>
int main(int argc, char** argv) {
  char cwd[4096];
  printf("%s\n", getcwd(cwd, sizeof cwd));
  for (int i = 1; i < argc; ++i) printf("<%s>\n", argv[i]);
  for (int fd = 3; fd < 64; ++fd)
    if (fcntl_ok(fd)) printf("open descriptor %d\n", fd);
  return argc > 1 && argv[1][0] == '7' ? 7 : 0;
}
"""

PRESETS = """
{ "version": 4, "configurePresets": [ { "name": "release", "generator": "Ninja",
  "binaryDir": "${sourceDir}/build/release" } ] }
"""


class LauncherScriptTest(gantry_test.TestCase):
    def setUp(self):
        super().setUp()
        self.clone = self.dir / "a clone's folder"
        for name in ("gantry", "tools/dev/packages.sh", "tools/dev/compile.sh"):
            (self.clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(gantry_test.ROOT / name, self.clone / name)
        self.write(self.clone / "packaging/debian-packages.txt", "[build]\ncmake\n[test]\nno-such-package\n")
        self.write(self.clone / "CMakePresets.json", PRESETS)
        self.write(self.clone / "CMakeLists.txt", """
            cmake_minimum_required(VERSION 3.25)
            project(toy C)
            set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
            add_executable(gantry src/main.c)
            """)
        self.write(self.clone / "src/main.c", PROGRAM.replace("fcntl_ok(fd)", "lseek(fd, 0, 1) != -1"))
        (self.clone / "apps").mkdir()
        (self.clone / "cmake").mkdir()
        self.script = self.clone / "gantry"

    def launch(self, *args, script=None, **options):
        return self.run_command([script or self.script, *args], **options)

    def builds_in(self, result) -> int:
        return result.stderr.count("building the release")

    def backdate_build(self):
        """As if the build were a minute older, so that a change made now is newer whatever the clock's grain."""
        stamp = self.clone / "build/release/built"
        os.utime(stamp, (time.time() - 60, time.time() - 60))
        for folder, folders, files in os.walk(self.clone):
            folders[:] = [name for name in folders if name != "build"]
            for name in [*files, "."]:
                os.utime(os.path.join(folder, name), (time.time() - 120, time.time() - 120))

    def test_builds_once_and_stays_out_of_the_way_after(self):
        first = self.launch("run", "a b", "", "*")
        self.assertEqual(first.code, 0, first)
        self.assertEqual(self.builds_in(first), 1, first)
        # Arguments and folder arrive untouched, and no descriptor of the lock's.
        self.assertEqual(first.stdout, f"{self.dir}\n<run>\n<a b>\n<>\n<*>\n", first)
        second = self.launch("7")
        self.assertEqual((second.code, second.stderr), (7, ""), second)

    def test_works_through_links_and_from_path(self):
        self.launch()
        link = self.dir / "link"
        link.symlink_to(self.script)
        self.assertEqual(self.launch(script=link).stderr, "")
        by_path = self.launch(script="gantry", env={"PATH": f"{self.clone}:{self.env['PATH']}"})
        self.assertEqual((by_path.code, by_path.stderr), (0, ""), by_path)
        inside = self.run_command(["bash", "gantry", "x"], cwd=self.clone)
        self.assertEqual((inside.stdout, inside.stderr), (f"{self.clone}\n<x>\n", ""), inside)

    def test_builds_again_after_an_edit_and_after_a_removal(self):
        self.launch()
        self.backdate_build()
        self.assertEqual(self.builds_in(self.launch()), 0)
        source = self.clone / "src/main.c"
        source.write_text(source.read_text().replace("<%s>", "(%s)"))
        edited = self.launch("x")
        self.assertEqual(self.builds_in(edited), 1, edited)
        self.assertIn("(x)", edited.stdout)
        self.write(self.clone / "src/extra.txt", "")
        self.launch()
        self.backdate_build()
        (self.clone / "src/extra.txt").unlink()
        self.assertEqual(self.builds_in(self.launch()), 1)

    def test_two_at_once_build_once(self):
        both = [self.start([self.script, str(i)]) for i in (1, 2)]
        outputs = [child.communicate(timeout=60) for child in both]
        self.assertEqual([child.returncode for child in both], [0, 0], outputs)
        self.assertEqual(sum(err.count(b"building the release") for _, err in outputs), 1, outputs)

    def test_a_clone_that_moved_builds_anew(self):
        self.launch()
        self.backdate_build()
        moved = self.clone.rename(self.dir / "moved")
        (moved / "src/main.c").touch()
        result = self.launch(script=moved / "gantry")
        self.assertEqual((result.code, self.builds_in(result)), (0, 1), result)

    def test_a_broken_build_shows_why_and_is_not_taken_for_built(self):
        self.write(self.clone / "src/main.c", "int main(void) { return wrong_name; }\n")
        for _ in range(2):
            result = self.launch("run")
            self.assertEqual((result.code, result.stdout), (3, ""), result)
            self.assertIn("wrong_name", result.stderr)
            self.assertIn(f"{self.clone}/build/release.log", result.stderr)

    def fake_commands(self, **scripts):
        """A PATH with these commands in front."""
        for name, text in scripts.items():
            self.write(f"bin/{name.replace('_', '-')}", f"#!/bin/sh\n{text}\n", executable=True)
        return {"PATH": f"{self.dir}/bin:{self.env['PATH']}", "TMPDIR": str(self.dir)}

    def test_missing_packages_are_named_and_installed_as_root(self):
        self.write(self.clone / "packaging/debian-packages.txt", "[build]\ncmake\nlibmissing-dev\n[test]\nother\n")
        env = self.fake_commands(dpkg_query='echo "installed cmake"',
                                 apt_get=f'echo "$DEBIAN_FRONTEND: $@" >>"{self.dir}/apt.log"')
        result = self.launch(env=env) if os.geteuid() == 0 else self.launch(
            env=env | self.fake_commands(sudo='[ "$1" = -n ] && shift; exec "$@"'))
        self.assertEqual(result.code, 0, result)
        self.assertIn("missing packages: libmissing-dev\n", result.stderr)
        update, install = self.read("apt.log").splitlines()
        self.assertTrue(update.endswith(" update"), update)
        self.assertRegex(install, r"^noninteractive: .*install -y --no-install-recommends libmissing-dev$")

    def test_apt_failure_shows_what_apt_said(self):
        env = self.fake_commands(dpkg_query="exit 1", apt_get='echo "E: no network here" >&2; exit 100',
                                 sudo='[ "$1" = -n ] && shift; exec "$@"')
        result = self.launch(env=env)
        self.assertEqual(result.code, 3, result)
        self.assertIn("E: no network here", result.stderr)
        self.assertIn("apt-get install -y --no-install-recommends cmake", result.stderr)

    def test_without_root_or_sudo_it_says_the_command(self):
        if os.geteuid() != 0:
            self.skipTest("needs root, to become somebody without rights")
        env = self.fake_commands(dpkg_query="exit 1", sudo="echo 'a password is required' >&2; exit 1")
        nobody = 65534
        os.chmod(self.dir, 0o755)
        for folder, _, files in os.walk(self.dir):
            for path in [folder, *(os.path.join(folder, name) for name in files)]:
                os.chown(path, nobody, nobody)
        self.assertTrue(self.script.stat().st_mode & stat.S_IXUSR)
        result = self.run_command(["setpriv", f"--reuid={nobody}", f"--regid={nobody}", "--clear-groups", self.script],
                                  env=env)
        self.assertEqual(result.code, 3, result)
        self.assertIn("\n  apt-get update && apt-get install -y --no-install-recommends cmake\n", result.stderr)

    def test_a_clone_that_cannot_be_written_says_so(self):
        if os.geteuid() != 0:
            self.skipTest("needs root, to become somebody without rights")
        os.chmod(self.dir, 0o755)
        result = self.run_command(["setpriv", "--reuid=65534", "--clear-groups", self.script])
        self.assertEqual(result.code, 3, result)
        self.assertIn("cannot write to", result.stderr)
