"""How ./dev adds suites up: what CI reads off the last line must be true."""
import json
import shutil

import gantry_test

PRELUDE = """
set -euo pipefail
root=$PWD python=/usr/bin/python3
say() { printf '%s\\n' "$*" >&2; }
source "$0/tools/dev/suites.sh"
"""


class DevScriptTest(gantry_test.TestCase):
    def suites(self, script, env=None):
        result = self.run_command(["bash", "-c", PRELUDE + script, gantry_test.ROOT], env={"CI": None, **(env or {})})
        return result, result.stdout.splitlines()[-1]

    def test_counts_of_all_suites_are_summed(self):
        result, last = self.suites("""
            suite_one() { count 3 0; count 4 0; }
            suite_two() { check good true; }
            run_suite one; run_suite two; report
            """)
        self.assertEqual((result.code, last), (0, "8 passed, 0 failed"), result)

    def test_a_failed_check_fails_the_whole_and_shows_its_output(self):
        result, last = self.suites("""
            suite_one() { check bad sh -c 'echo the reason; exit 4'; check good true; }
            run_suites one
            """)
        self.assertEqual((result.code, last), (1, "1 passed, 1 failed"), result)
        self.assertIn("the reason", result.stdout)

    def test_a_suite_that_breaks_off_or_counts_nothing_has_failed(self):
        result, last = self.suites("""
            suite_one() { count 5 0; return 9; }
            suite_two() { true; }
            run_suite one; run_suite two; report
            """)
        self.assertEqual((result.code, last), (1, "5 passed, 2 failed"), result)

    def test_a_skip_is_told_and_in_ci_it_is_a_failure(self):
        script = "suite_one() { count 1 0 2; }; run_suites one"
        result, last = self.suites(script)
        self.assertEqual((result.code, last), (0, "1 passed, 0 failed, 2 skipped"), result)
        result, last = self.suites(script, env={"CI": "true"})
        self.assertEqual((result.code, last), (1, "1 passed, 2 failed"), result)

    def test_unit_results_are_read_from_ctest(self):
        self.write("CMakeLists.txt", """
            cmake_minimum_required(VERSION 3.25)
            project(toy NONE)
            enable_testing()
            add_test(NAME good COMMAND true)
            add_test(NAME bad COMMAND sh -c "echo told you; exit 1")
            add_test(NAME absent COMMAND no/such/program)
            add_test(NAME skips COMMAND sh -c "exit 77")
            set_tests_properties(skips PROPERTIES SKIP_RETURN_CODE 77)
            add_test(NAME disabled COMMAND true)
            set_tests_properties(disabled PROPERTIES DISABLED ON)
            """)
        self.run_command(["cmake", "-S", ".", "-B", "build/dev"])
        self.run_command(["mkdir", "-p", "tools"])
        (self.dir / "tools/dev").symlink_to(gantry_test.ROOT / "tools/dev")
        result, last = self.suites("suite_one() { ctest_suite dev; }; run_suites one")
        self.assertEqual((result.code, last), (1, "1 passed, 2 failed, 2 skipped"), result)
        self.assertIn("told you", result.stdout + result.stderr)


class TidyTest(gantry_test.TestCase):
    """What ./dev lint gives to clang-tidy, here one that only notes the name."""

    def setUp(self):
        super().setUp()
        self.write("tools/dev/tidy.py", (gantry_test.ROOT / "tools/dev/tidy.py").read_bytes())
        self.write("bin/clang-tidy", """
            #!/bin/sh
            for last; do :; done
            basename "$last" >> looked
            """, executable=True)
        self.write(".gitignore", "bin\nbuild\nlooked\n")
        self.write(".clang-tidy", "Checks: none\n")
        self.write("src/base/common.hpp", "")
        self.write("src/base/middle.hpp", '#include "base/common.hpp"\n')
        self.write("src/base/user.cpp", '#include "base/middle.hpp"\n')
        self.write("src/base/other.cpp", "")
        self.write("src/base/other_test.cpp", "")
        self.write("build/asan/src/CMakeFiles/test_base.dir/Unity/unity_0_cxx.cxx",
                   f'#include "{self.dir}/src/base/other_test.cpp"\n')
        names = ["src/base/user.cpp", "src/base/other.cpp", "src/base/other_test.cpp",
                 "build/asan/src/CMakeFiles/test_base.dir/Unity/unity_0_cxx.cxx"]
        units = [{"file": f"{self.dir}/{name}"} for name in names]
        self.write("build/asan/compile_commands.json", json.dumps(units))
        self.git("init", "--initial-branch=main")
        self.commit()

    def git(self, *words):
        identity = ["-c", "user.name=t", "-c", "user.email=t@t"]
        result = self.run_command(["git", *identity, *words])
        self.assertEqual(result.code, 0, result)

    def commit(self):
        self.git("add", "--all")
        self.git("commit", "--message", "a step")

    def looked_at(self, *options):
        (self.dir / "looked").unlink(missing_ok=True)
        path = f"{self.dir}/bin:{self.env['PATH']}"
        result = self.run_command(["python3", "tools/dev/tidy.py", *options], env={"PATH": path})
        self.assertEqual(result.code, 0, result)
        return sorted(self.read("looked").split()) if (self.dir / "looked").exists() else []

    def test_on_main_the_last_commit_and_what_is_not_committed(self):
        self.assertEqual(self.looked_at("--all"), ["other.cpp", "user.cpp"])
        shutil.rmtree(self.dir / "build/tidy")
        self.write("src/base/other.cpp", "// changed\n")
        self.commit()
        self.assertEqual(self.looked_at(), ["other.cpp"])
        self.assertEqual(self.looked_at(), [], "it was clean")
        self.write("src/base/common.hpp", "// changed\n")
        self.assertEqual(self.looked_at(), ["user.cpp"], "it includes what changed")
        self.assertEqual(self.looked_at("--all"), ["other.cpp", "user.cpp"])

    def test_on_a_branch_all_of_its_commits(self):
        self.git("checkout", "-b", "mine")
        self.write("src/base/other.cpp", "// changed\n")
        self.commit()
        self.write("readme", "")
        self.commit()
        self.assertEqual(self.looked_at(), ["other.cpp"])

    def test_everything_when_there_is_no_telling_or_the_checks_changed(self):
        self.assertEqual(self.looked_at(), ["other.cpp", "user.cpp"], "there is but one commit")
        self.write("readme", "")
        self.commit()
        self.assertEqual(self.looked_at(), [])
        self.write(".clang-tidy", "Checks: some\n")
        self.assertEqual(self.looked_at(), ["other.cpp", "user.cpp"])
