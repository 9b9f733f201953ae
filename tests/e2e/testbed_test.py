"""`gantry testbed`: a real grid on one machine comes up, can be broken and mended, and goes without a trace."""
import os
import select
import shutil
import signal
import socket
import time

import gantry_test
import testbed


@testbed.needed()
class SitesTest(gantry_test.TestCase):
    def test_hosts_have_names_and_share_a_sites_files(self):
        with testbed.up(self) as grid:
            for host in ("s1h1", "s1h2", "s2h1"):
                result = grid.ssh(host, "hostname; echo $HOME; ls -A /tmp")
                self.assertEqual((result.stdout, result.stderr), (f"{host}\n/root\n", ""), result)
            self.assertEqual(grid.ssh("s1h1", "echo kept > kept; echo there > /tmp/there").code, 0)
            self.assertEqual(grid.ssh("s1h2", "cat kept /tmp/there").stdout, "kept\nthere\n")
            self.assertNotEqual(grid.ssh("s2h1", "cat kept").code, 0)
            # Files of this machine that a task could wrongly use are not there: tests lie in /tmp.
            self.assertNotEqual(grid.ssh("s1h1", f"ls {self.dir}").code, 0)

    def test_hosts_reach_each_other_and_home(self):
        with testbed.up(self) as grid:
            listener = socket.create_server((grid.host("s1h1")["address"].rsplit(".", 2)[0] + ".0.1", 0))
            self.addCleanup(listener.close)
            home, port = listener.getsockname()
            for host, address, to in (("s1h1", home, port), ("s1h1", grid.host("s2h1")["address"], 22),
                                      ("s2h1", grid.host("s1h2")["address"], 22)):
                result = grid.ssh(host, f"timeout 20 bash -c 'exec 3<>/dev/tcp/{address}/{to}'")
                self.assertEqual(result.code, 0, (host, address, result))

    def test_the_grid_file_names_what_gantry_needs(self):
        with testbed.up(self) as grid:
            text = grid.grid.read_text()
            for line in ("via: ssh", "hosts: [s1h1, s1h2]", "slots: 2", "scratch: /root/gantry",
                         f"ssh_config: '{grid.ssh_config}'", "link: { bandwidth: 8 MB/s, latency: 10ms }"):
                self.assertIn(f"    {line}\n", text)

    def test_links_have_the_bandwidth_and_latency_they_say(self):
        with testbed.up(self) as grid:
            started = time.monotonic()
            socket.create_connection((grid.host("s2h1")["address"], 22), timeout=20).close()
            self.assertGreaterEqual(time.monotonic() - started, 2 * 0.040, "faster than there and back")
            megabytes = 3
            for command, stdin in ((f"head -c {megabytes}000000 /dev/zero", None),
                                   ("cat > /dev/null", b"\0" * megabytes * 10**6)):
                rates = []  # 2 MB/s were asked for. Never more; less when the machine is busy with other things.
                while len(rates) < 10 and max(rates, default=0) < 2 / 2:
                    result = grid.ssh("s2h1", command, stdin=stdin)
                    self.assertEqual(result.code, 0, result.stderr)
                    rates.append(megabytes / result.seconds)
                self.assertGreater(max(rates), 2 / 3, rates)
                self.assertLess(max(rates), 2 * 1.1, rates)

    def test_hosts_have_the_speed_they_say_and_less_under_load(self):
        busy = "python3 -c 'import time; end = time.time() + 2\nwhile time.time() < end: pass\nprint(time.process_time() / 2)'"
        with testbed.up(self) as grid:
            alone = float(grid.ssh("s2h1", busy).stdout)
            self.assertLess(alone, 0.5 * 1.4)  # half of a core
            grid.load("s2h1", "2")
            self.assertEqual(grid.host("s2h1")["load"], 2)
            # A third of it is left: two others compute as well.
            self.assertLess(float(grid.ssh("s2h1", busy).stdout), 0.5 / 3 * 2)
            grid.load("s2h1", "0.5")
            self.assertEqual(grid.host("s2h1")["load"], 0.5)
            grid.load("s2h1", "0")
            self.assertEqual(grid.host("s2h1")["load"], 0)


@testbed.needed()
class OutageTest(gantry_test.TestCase):
    def test_a_cut_link_carries_nothing_until_it_is_mended(self):
        with testbed.up(self) as grid:
            grid.cut("s1")
            self.assertTrue(grid.link("s1")["cut"])
            self.assertIn("timed out", grid.ssh("s1h1", "true", patience=1).stderr)
            self.assertEqual(grid.ssh("s2h1", "hostname").stdout, "s2h1\n")
            grid.mend("s1")
            self.assertFalse(grid.link("s1")["cut"])
            self.assertEqual(grid.ssh("s1h1", "hostname").stdout, "s1h1\n")
            grid.cut("s1", "--for", "1s")
            self.wait_until(lambda: not grid.link("s1")["cut"], "the link mends itself")
            self.assertEqual(grid.ssh("s1h1", "hostname").stdout, "s1h1\n")

    def test_a_connection_outlives_a_short_cut(self):
        # Each direction alone: the far side hears into a file, and speaks when there is another.
        script = ": >heard; echo begun; head -n1 >>heard; until [ -e speak ]; do sleep 0.02; done; echo spoken; cat; echo ended"
        with testbed.up(self) as grid:
            home = grid.dir / "sites" / "s1" / "home"
            child = self.start(["ssh", "-F", grid.ssh_config, "s1h1", script], stdin=-1)
            self.assertEqual(child.stdout.readline(), b"begun\n")
            grid.cut("s1")
            child.stdin.write(b"there\n")
            child.stdin.flush()
            time.sleep(1)
            self.assertEqual((home / "heard").read_text(), "", "it came over a link that is cut")
            grid.mend("s1")
            self.wait_until(lambda: (home / "heard").read_text() == "there\n", "it comes over a link that is mended")
            grid.cut("s1")
            self.write(home / "speak", "")
            self.assertEqual(select.select([child.stdout], [], [], 1)[0], [], "it came over a link that is cut")
            grid.mend("s1")
            self.assertTrue(select.select([child.stdout], [], [], 60)[0], "it does not come over a link that is mended")
            self.assertEqual(child.stdout.readline(), b"spoken\n")
            grid.cut("s1", "--for", "500ms")
            self.assertEqual(child.communicate(b"through\n", timeout=60)[0], b"through\nended\n")
            self.assertEqual(child.returncode, 0)

    def test_a_killed_host_is_silent_and_comes_back(self):
        with testbed.up(self) as grid:
            session = self.start(["ssh", "-F", grid.ssh_config, "s1h1", "echo begun; sleep 1000"])
            self.assertEqual(session.stdout.readline(), b"begun\n")
            grid.load("s1h1", "1")
            grid.kill("s1h1")
            self.assertFalse(grid.host("s1h1")["alive"])
            self.assertEqual(grid.host("s1h1")["processes"], 0)
            self.assertIsNone(session.poll(), "nobody told the other side")
            session.kill()
            session.communicate()
            self.assertEqual(grid.ssh("s1h2", "hostname").stdout, "s1h2\n")
            self.assertIn("dead", grid.status().stdout)
            grid.revive("s1h1")
            self.assertEqual(grid.ssh("s1h1", "hostname").stdout, "s1h1\n")
            self.assertEqual(grid.command("revive", "s1h1").code, 2)


@testbed.needed()
class TakeDownTest(gantry_test.TestCase):
    def start_up(self, grid, many):
        """An `up` that has made so many namespaces."""
        child = self.start([gantry_test.GANTRY, "testbed", "up", grid.file, "--dir", grid.dir])
        self.wait_until(lambda: (grid.dir / "testbed.json").exists() and
                        sum("netns" in line for line in grid.remains()) >= many, f"{many} namespaces")
        return child

    def test_nothing_is_left_and_twice_is_fine(self):
        with testbed.up(self) as grid:
            started = self.start(["ssh", "-F", grid.ssh_config, "s1h1", "echo begun; sleep 1000"])
            self.assertEqual(started.stdout.readline(), b"begun\n")
            grid.load("s2h1", "1")
            grid.kill("s1h2")
            grid.cut("s2")
            self.assertGreater(len(grid.remains()), 8)
            (grid.dir / "mine").write_text("not the testbed's")
            grid.down()
            started.kill()
            started.communicate()
            self.assertEqual(grid.remains(), [])
            self.assertEqual(sorted(os.listdir(grid.dir)), ["mine"])
            self.assertIn("nothing was done", grid.down().stderr)

    def test_after_a_kill_in_the_middle_of_up(self):
        # As many namespaces as there are when it is killed; the last is after everything.
        for many in (0, 1, 3, 5, 6):
            grid = testbed.Testbed(self, testbed.TWO_SITES)
            try:
                child = self.start_up(grid, many)
                child.send_signal(signal.SIGKILL)
                child.communicate()
            finally:
                grid.down()
            self.assertEqual(grid.remains(), [])
            self.assertFalse(grid.dir.exists())

    def test_it_lies_in_the_state_directory_unless_told(self):
        grid = testbed.Testbed(self, testbed.TWO_SITES)
        try:
            up = self.gantry("testbed", "up", grid.file)
            self.assertEqual((up.code, up.stdout.splitlines()[0]), (0, f"grid  {self.state}/testbed/grid.yaml"), up)
            self.assertIn("s2h1", self.gantry("testbed", "status").stdout)
        finally:
            down = self.gantry("testbed", "down")
        self.assertEqual((down.code, grid.remains()), (0, []), down)
        self.assertFalse(self.state.exists())

    def test_ctrl_c_in_the_middle_of_up(self):
        for many in (0, 4):
            grid = testbed.Testbed(self, testbed.TWO_SITES)
            try:
                child = self.start_up(grid, many)
                os.killpg(child.pid, signal.SIGINT)
                child.communicate()
                self.assertEqual(child.returncode, -signal.SIGINT)
                self.assertEqual(grid.remains(), [])
                self.assertFalse(grid.dir.exists())
            finally:
                grid.down()

    def test_a_description_that_was_half_written(self):
        grid = testbed.Testbed(self, testbed.TWO_SITES)
        grid.dir.mkdir()
        (grid.dir / "testbed.json.tmp123").write_text('{"vers')
        grid.down()
        self.assertFalse(grid.dir.exists())

    def test_by_name_when_its_folder_has_gone(self):
        with testbed.up(self) as grid:
            shutil.rmtree(grid.dir)
            result = self.gantry("testbed", "down", grid.name)
            self.assertEqual(result.code, 0, result)
            self.assertEqual(grid.remains(), [])

    def test_an_up_that_fails_leaves_nothing(self):
        grid = testbed.Testbed(self, testbed.TWO_SITES)
        # A namespace that is in the way of the last host.
        name = f"gantry-{grid.name}-s2h1"
        self.assertEqual(self.run_command(["ip", "netns", "add", name]).code, 0)
        result = grid.command("up", grid.file)
        self.assertEqual(result.code, 3, result)
        self.assertIn(f"`ip netns add {name}` ended with status 1: ", result.stderr.replace("\n", " "))
        self.assertEqual(grid.remains(), [])
        self.assertFalse(grid.dir.exists())


@testbed.needed()
class TwoTestbedsTest(gantry_test.TestCase):
    def test_two_are_up_at_once(self):
        with testbed.up(self) as one, testbed.up(self) as other:
            self.assertNotEqual(one.state()["network"], other.state()["network"])
            self.assertEqual(other.ssh("s1h1", "hostname").stdout, "s1h1\n")
            one.down()
            self.assertEqual(other.ssh("s2h1", "hostname").stdout, "s2h1\n")

    def test_a_name_or_a_network_is_not_taken_twice(self):
        with testbed.up(self) as grid:
            again = self.gantry("testbed", "up", grid.file, "--dir", "elsewhere")
            self.assertEqual(again.code, 3, again)
            self.assertIn(f"a testbed named '{grid.name}' is up", again.stderr)
            self.assertFalse((self.dir / "elsewhere").exists())
            # Taking down what never came up does not take the other down.
            self.assertEqual(self.gantry("testbed", "down", "--dir", "elsewhere").code, 0)
            network = grid.state()["network"]
            self.write("net.yaml", f"name: {grid.name[:-1]}\nnetwork: {network}\n" + testbed.TWO_SITES.replace("    sites", "sites"))
            result = self.gantry("testbed", "up", "net.yaml", "--dir", "net")
            self.assertEqual(result.code, 3, result)
            self.assertIn("is in use", result.stderr)
            self.assertIn(f"{grid.name} (--dir {grid.dir})", " ".join(self.gantry("testbed", "status").stderr.split()))
            in_place = grid.command("up", grid.file)
            self.assertEqual(in_place.code, 3, in_place)
            self.assertEqual(grid.ssh("s1h1", "hostname").stdout, "s1h1\n")


class MistakesTest(gantry_test.TestCase):
    def refused(self, *words, code=2):
        result = self.gantry("testbed", *words)
        self.assertEqual(result.code, code, result)
        self.assertFalse((self.dir / ".gantry").exists())
        return result.stderr

    @testbed.needed()
    def test_files_are_refused_with_the_place(self):
        for text, message in (
                ("sites:\n  s1: {hosts: 2}\n", "bad.yaml:2:3: site 's1' has no 'link'"),
                ("sites:\n  s1: {host: 2}\n", "bad.yaml:2:8: unknown key 'host' in site 's1'"),
                ("sites:\n  s1: {hosts: 2, speed: 2, link: {bandwidth: 1 MB/s}}\n", "bad.yaml:2:25: 'speed'"),
                ("name: A b\nsites: {}\n", "bad.yaml:1:7: 'A b' cannot be the name of a testbed")):
            self.write("bad.yaml", text)
            self.assertIn(message, self.refused("up", "bad.yaml"))
        self.assertIn("missing.yaml", self.refused("up", "missing.yaml"))

    @testbed.needed()
    def test_words_are_checked(self):
        self.assertIn("did you mean 'status'?", self.refused("statis"))
        self.assertIn("gantry testbed up FILE", self.refused("up"))
        self.assertIn("there is no testbed in", self.refused("status"))
        self.assertIn("there is no testbed in", self.refused("kill", "s1h1"))
        with testbed.up(self) as grid:
            self.assertIn("did you mean 's1h1'?", grid.command("kill", "s1h").stderr)
            self.assertIn("there is no site 's1h1'", grid.command("cut", "s1h1").stderr)
            self.assertIn("is no load", grid.command("load", "s1h1", "much").stderr)
            self.assertIn("is not a time", grid.command("cut", "s1", "--for", "soon").stderr)

    @testbed.needed("setpriv")
    def test_without_root_it_says_so(self):
        for words in (("up", "x.yaml"), ("status",), ("down",)):
            result = self.run_command(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", gantry_test.GANTRY,
                                       "testbed", *words], cwd="/")
            self.assertEqual(result.code, 2, result)
            self.assertIn("a testbed needs root", result.stderr)
