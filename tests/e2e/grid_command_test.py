"""gantry grid: what a grid file names, and whether it can be used."""
import shutil
import socket
import unittest

import gantry_test
import testbed
from ssh_host import SshHost


class GridTestCase(gantry_test.TestCase):
    def far(self, name="far", **options) -> SshHost:
        return SshHost(self, name, **options)

    def write_grid(self, sites, *hosts, config=None):
        """`sites`: name -> keys beside via and ssh_config."""
        self.write("ssh_config", config or "".join(host.config() for host in hosts))
        lines = ["sites:"]
        for name, keys in sites.items():
            lines += [f"  {name}:", "    via: ssh", f"    ssh_config: {self.dir}/ssh_config"]
            lines += [f"    {key}: {value}" for key, value in keys.items()]
        (self.dir / "grid.yaml").write_text("\n".join(lines) + "\n")

    def write_site(self, host, **keys):
        self.write_grid({"lab": {"hosts": f"[{host.name}]", "scratch": host.scratch, **keys}}, host)

    def check(self, *words):
        return self.gantry("grid", "check", "grid.yaml", *words)

    def findings(self, *words) -> list:
        return [(each["kind"], each["host"], each["what"]) for each in self.check("--json", *words).json()["findings"]]


class CheckTest(GridTestCase):
    def test_a_host_that_is_well(self):
        host = self.far()
        self.write_site(host)
        result = self.check()
        self.assertEqual(result.code, 0, result)
        self.assertRegex(result.stdout, r"far +lab +yes +\d+")
        self.assertLessEqual(max(map(len, result.stdout.splitlines())), 80, result)
        report = self.check("--json").json()
        self.assertTrue(report["ok"])
        [site] = report["sites"]
        [found] = site["hosts"]
        self.assertGreaterEqual(found["cores"], 1)
        self.assertGreater(found["memory"], 1e6)
        self.assertGreater(found["free_disk"], 0)
        self.assertGreater(found["latency"], 0)
        self.assertAlmostEqual(found["round_trip"], 2 * found["latency"], places=8)
        self.assertLess(abs(found["clock_ahead"]), 30)  # it is the same clock, but the answer may be late
        self.assertGreater(site["to_site"], 1e5)
        self.assertGreater(site["from_site"], 1e5)
        # Nothing of it stays but the agent's program.
        left = [path.relative_to(host.scratch).parts[0] for path in host.scratch.rglob("*") if path.is_file()]
        self.assertEqual(left, ["bin"])
        self.assertEqual(list((host.scratch / "work").iterdir()), [])

    def test_a_run_that_goes_on_is_not_disturbed(self):
        host = self.far()
        self.write_site(host, slots=1)
        self.write("sweep.yaml", f"""
            command: [sh, -c, 'echo ran >>{self.dir}/ran-{{x}}; while ! test -e {self.dir}/go; do sleep 0.05; done']
            parameters: {{ x: [1, 2] }}
        """)
        run = self.start_gantry("run", "sweep.yaml", "--grid", "grid.yaml")
        self.wait_until(lambda: (self.dir / "ran-1").exists(), "a task to run")
        result = self.check()
        self.assertEqual(result.code, 0, result)
        self.write("go", "")
        _, err = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 0, err.decode())
        self.assertEqual([self.read(f"ran-{x}") for x in (1, 2)], ["ran\n", "ran\n"])

    def test_only_the_sites_that_are_named(self):
        far, near = self.far("far"), self.far("near")
        self.write_grid({host.name + "-site": {"hosts": f"[{host.name}]", "scratch": host.scratch} for host in (far, near)},
                        far, near)
        report = self.check("--json", "near-site").json()
        self.assertEqual([site["site"] for site in report["sites"]], ["near-site"])
        self.assertFalse(far.scratch.exists())
        result = self.check("near-sit")
        self.assertEqual(result.code, 2, result)
        self.assertIn("near-site", result.stderr)


class TroubleTest(GridTestCase):
    def expect(self, kind, host, what, fix, *words):
        result = self.check("--json", *words)
        self.assertEqual(result.code, 1 if kind == "problem" else 0, result)
        [found] = [each for each in result.json()["findings"] if each["kind"] == kind and what in each["what"]]
        self.assertEqual(found["host"], host)
        self.assertIn(fix, found["fix"])
        return result.json()

    def test_another_host_key(self):
        far, near = self.far("far"), self.far("near")
        key = " ".join((near.dir / "host_key.pub").read_text().split()[:2])
        self.write_grid({"lab": {"hosts": "[far]", "scratch": far.scratch}}, config=far.config(host_key=key))
        self.expect("problem", "far", "Host key verification failed", "ssh_config far")

    def test_a_host_that_lets_nobody_in_and_one_that_does(self):
        far, near = self.far("far"), self.far("near")
        self.write_grid({"a": {"hosts": "[far]", "scratch": far.scratch}, "b": {"hosts": "[near]", "scratch": near.scratch}},
                        config=far.config().replace(f"{far.dir}/key", f"{near.dir}/key") + near.config())
        self.expect("problem", "far", "Permission denied", f"BatchMode=yes -F {self.dir}/ssh_config far")
        result = self.check()
        self.assertEqual(result.code, 1, result)
        self.assertRegex(result.stdout, r"near +b +yes")
        self.assertRegex(result.stdout, r"far +a +no")
        self.assertIn("! far (a): ", result.stdout)

    def test_a_scratch_folder_that_cannot_be_made(self):
        host = self.far()
        self.write_site(host, scratch=self.write("file", "in the way") / "scratch")
        self.expect("problem", "far", "mkdir", "scratch:")

    def test_another_architecture(self):
        self.write("bin/uname", "#!/bin/sh\necho pdp11\n", executable=True)
        host = self.far(settings=[f"ForceCommand PATH={self.dir}/bin:$PATH; export PATH; "
                                  "exec sh -c \"$SSH_ORIGINAL_COMMAND\""])
        self.write_site(host)
        self.expect("problem", "far", "pdp11", "")
        # Somebody has built one for it.
        shutil.copy(gantry_test.GANTRY.parent / "gantry-agent", self.dir / "agent-for-pdp11")
        self.write_site(host, agent="agent-for-pdp11")
        self.assertEqual(self.check().code, 0)
        self.write_site(host, agent="nowhere")
        missing = self.check()
        self.assertEqual(missing.code, 2, missing)
        self.assertIn("site 'lab': its agent:", " ".join(missing.stderr.split()))

    def test_hosts_that_share_nothing(self):
        # Two machines with a folder of the same name: here, a place that depends on who is asked.
        hosts = [self.far(name, settings=[f"ForceCommand HOME={self.dir}/home-{name} exec sh -c \"$SSH_ORIGINAL_COMMAND\""])
                 for name in ("one", "two")]
        self.write_grid({"lab": {"hosts": "[one, two]", "scratch": "~/scratch"}}, *hosts)
        self.expect("problem", "two", "does not see the files", "scratch:")
        self.write_grid({"lab": {"hosts": "[one, two]", "scratch": f"{self.dir}/shared"}}, *hosts)
        self.assertEqual(self.check().code, 0)

    def test_what_is_declared_and_is_not_so(self):
        host = self.far()
        self.write_site(host, slots=1000, link="{ bandwidth: 1 kB/s }")
        self.expect("advice", "far", "slots: 1000", "slots:")
        self.expect("advice", None, "1 kB/s is declared", "bandwidth:")

    def test_a_host_that_hangs_delays_nobody(self):
        near = self.far("near")
        with socket.socket() as deaf:  # accepts, and says nothing
            deaf.bind(("127.0.0.1", 0))
            deaf.listen(16)
            config = f"Host deaf\n  HostName 127.0.0.1\n  Port {deaf.getsockname()[1]}\n" + near.config()
            self.write_grid({"lab": {"hosts": "[deaf, near]", "scratch": near.scratch}}, config=config)
            # Enough for the other one beside busy compilers, and less than the 10 s after which ssh itself gives up.
            report = self.expect("problem", "deaf", "does not answer", "ssh_config deaf", "--timeout", "7s")
        self.assertEqual([host["reached"] for host in report["sites"][0]["hosts"]], [False, True])
        self.assertGreater(report["sites"][0]["to_site"], 0)

    def test_nothing_to_connect_to(self):
        self.write("grid.yaml", "sites: { lab: { hosts: 2, link: { bandwidth: 1 MB/s } } }\n")
        result = self.check()
        self.assertEqual(result.code, 2, result)
        self.assertIn("via: ssh", result.stderr)


class RemoveTest(GridTestCase):
    def remove(self, *words):
        return self.gantry("grid", "remove", "grid.yaml", "lab", *words)

    def run_study(self, *words):
        self.write("shared.txt", "x" * 5000)
        self.write("sweep.yaml", "command: cat shared.txt {x}\nparameters: { x: [a, b] }\ninputs: [shared.txt, '{x}']\n")
        for name in "ab":
            self.write(name, name)
        result = self.gantry("run", "sweep.yaml", "--grid", "grid.yaml", "--fresh", *words)
        self.assertEqual(result.code, 0, result)

    def test_nothing_is_left_and_a_run_can_come_back(self):
        host = self.far()
        self.write_site(host)
        self.run_study()
        self.assertTrue(list(host.scratch.glob("depot/??/*")))
        result = self.remove()
        self.assertEqual(result.code, 0, result)
        self.assertRegex(result.stdout, r"^lab: removed [\d.]+ .?i?B in \d+ files\n$")
        self.assertFalse(host.scratch.exists())
        self.assertTrue((host.dir / "sshd_config").exists())
        self.run_study()
        removed = self.remove("--json").json()
        self.assertGreater(removed["bytes"], 5000)
        self.assertEqual(removed["kept"], 0)
        self.assertFalse(host.scratch.exists())

    def test_never_while_tasks_of_others_run(self):
        host = self.far()
        self.write_site(host, slots=1)
        self.write("sweep.yaml", f"command: [sh, -c, 'echo >{self.dir}/runs; until test -e {self.dir}/go; do sleep 0.05; done']\n")
        run = self.start_gantry("run", "sweep.yaml", "--grid", "grid.yaml")
        self.wait_until(lambda: (self.dir / "runs").exists(), "a task to run")
        # By another state directory's gantry, which has to see it at the site.
        result = self.remove("--all", "--state", self.dir / "other")
        self.assertEqual(result.code, 3, result)
        said = " ".join(result.stderr.split())
        self.assertIn("an agent of another state directory runs on far", said)
        self.assertIn("in the folder where it was started", said)
        self.assertNotIn("cancel all", said)
        self.write("go", "")
        _, err = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 0, err.decode())
        self.assertEqual(self.remove().code, 0)
        self.assertFalse(host.scratch.exists())

    def test_what_others_have_is_kept_unless_asked_for(self):
        host = self.far()
        self.write_site(host)
        self.run_study()
        self.run_study("--state", self.dir / "other")
        result = self.remove()
        self.assertEqual(result.code, 0, result)
        self.assertIn("--all", result.stdout)
        self.assertEqual([path.name for path in (host.scratch / "work").iterdir()], [self.read("other/id")])
        self.assertEqual([path.name for path in host.scratch.iterdir()], ["work"])
        self.assertEqual(self.remove("--all").code, 0)
        self.assertFalse(host.scratch.exists())

    def test_a_folder_that_is_not_ours_is_left_as_it_was(self):
        host = self.far()
        self.write_site(host)
        host.scratch.mkdir()
        (host.scratch / "thesis.tex").write_text("precious")
        result = self.remove("--all")
        self.assertEqual(result.code, 2, result)
        self.assertIn("thesis.tex", result.stderr)
        self.assertEqual([path.name for path in host.scratch.rglob("*")], ["thesis.tex"])

    def test_a_host_that_cannot_be_asked(self):
        far, near = self.far("far"), self.far("near")
        self.write_grid({"lab": {"hosts": "[far, near]", "scratch": near.scratch}}, far, near)
        self.run_study()
        far.stop()
        result = self.remove()
        self.assertEqual(result.code, 3, result)
        self.assertIn("far", result.stderr)
        self.assertTrue(list(near.scratch.glob("depot/??/*")))
        far.start()
        self.assertEqual(self.remove().code, 0)
        self.assertFalse(near.scratch.exists())


class ListTest(GridTestCase):
    def test_connects_to_nothing(self):
        self.write("grid.yaml", """
            sites:
              home: { hosts: 1, slots: 2 }
              lab: { via: ssh, hosts: [a, b], user: me, slots: 4, scratch: /big }
              dream: { hosts: 3, speed: 2, link: { bandwidth: 10 MB/s, latency: 5ms } }
        """)
        result = self.gantry("grid", "list", "grid.yaml")
        self.assertEqual(result.code, 0, result)
        self.assertLessEqual(max(map(len, result.stdout.splitlines())), 80, result)
        self.assertRegex(result.stdout, r"a +lab +ssh +4 ")
        self.assertRegex(result.stdout, r"dream-1 \.\.\. dream-3 +dream +plans only")
        self.assertRegex(result.stdout, r"home - dream +10 MB/s +5 ms")
        grid = self.gantry("grid", "list", "grid.yaml", "--json").json()
        self.assertEqual([site["via"] for site in grid["sites"]], ["local", "ssh", None])
        self.assertEqual([host["host"] for host in grid["sites"][1]["hosts"]], ["a", "b"])
        self.assertEqual([link["declared"] for link in grid["links"]], [False, True])

    def test_words_that_make_no_sense(self):
        self.write("grid.yaml", "sites: { lab: { via: ssh, hosts: [a] } }\n")
        for words, said in ((["lst", "grid.yaml"], "list"), (["list", "nothing.yaml"], "nothing.yaml"),
                            (["list", "grid.yaml", "lab"], "all sites"),
                            (["check", "grid.yaml", "--timeout", "soon"], "soon")):
            result = self.gantry("grid", *words)
            self.assertEqual(result.code, 2, result)
            self.assertIn(said, result.stderr)


@testbed.needed()
class MeasureTest(gantry_test.TestCase):
    def test_finds_the_bandwidth_and_latency_that_links_have(self):
        best, bandwidth = {}, {"s1": 8e6, "s2": 2e6}
        with testbed.up(self) as grid:
            for _ in range(10):  # a busy machine makes links slower than they are
                report = self.gantry("grid", "check", grid.grid, "--json").json()
                sites = {site["site"]: site for site in report["sites"]}
                for name, latency in (("s1", 0.010), ("s2", 0.040)):
                    for way in ("to_site", "from_site"):
                        best[name, way] = max(best.get((name, way), 0), sites[name].get(way, 0))
                    for host in sites[name]["hosts"]:
                        self.assertGreaterEqual(host["latency"], latency, report)
                if all(seen > bandwidth[name] / 2 for (name, _), seen in best.items()):
                    break
        for (name, way), seen in best.items():
            self.assertGreater(seen, bandwidth[name] / 2, best)
            self.assertLess(seen, bandwidth[name] * 2, best)
        self.assertEqual([host.get("shares_scratch") for host in sites["s1"]["hosts"]], [None, True])


if __name__ == "__main__":
    unittest.main()
