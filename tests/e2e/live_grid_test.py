"""gantry grid add, drain and remove while a run goes on: sites come and go, and no result is lost or made twice."""
import json
import unittest

from ssh_case import SshTestCase


class LiveGridTest(SshTestCase):
    """Each task says where it runs and waits until it may end."""

    TASKS = 8

    def setUp(self):
        super().setUp()
        self.far_host, self.near_host = self.far("far"), self.far("near")
        (self.dir / "marks").mkdir()
        self.write("shared.txt", "shared\n")
        self.write("sweep.yaml", f"""
            command: sh work.sh {{x}} shared.txt out/{{x}}.txt
            parameters: {{ x: 1..{self.TASKS} }}
            inputs: [shared.txt]
            outputs: ["out/{{x}}.txt"]
        """)
        self.write("work.sh", f"""
            echo "${{FAR_NAME:-home}}" >>"{self.dir}/marks/ran-$1"
            until test -e "{self.dir}/go" || test -e "{self.dir}/go-${{FAR_NAME:-home}}"; do sleep 0.02; done
            cat "$2" >"$3"
        """)

    def sites(self, *hosts):
        self.write_grid(*hosts, slots=2)

    def begin(self):
        return self.start_gantry("run", "sweep.yaml", "--grid", "grid.yaml")

    def grid(self, *words, **options):
        return self.gantry("grid", *words, **options)

    def live(self) -> dict:
        result = self.gantry("top", "--json")
        return json.loads(result.stdout) if result.code == 0 else {}

    def names(self) -> list:
        return [site["site"] for site in self.live().get("sites", [])]

    def wait_for_tasks_at(self, *names):
        self.wait_until(lambda: set(names) <= {place for places in self.ran().values() for place in places},
                        f"tasks at {names}", timeout=60)

    def finish(self, run):
        self.write("go", "")
        _, err = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 0, err.decode())
        for i in range(1, self.TASKS + 1):
            self.assertEqual(self.read(f"out/{i}.txt"), "shared\n")
        self.assertEqual({task: len(places) for task, places in self.ran().items()},
                         {task: 1 for task in range(1, self.TASKS + 1)})
        return err.decode()

    def test_a_site_that_joins_takes_tasks(self):
        self.sites(self.far_host)
        run = self.begin()
        self.wait_for_tasks_at("far")
        self.assertIn("uses all sites", self.grid("add", "grid.yaml").stderr)
        self.sites(self.far_host, self.near_host)
        result = self.grid("add", "grid.yaml")
        self.assertEqual(result.code, 0, result)
        self.assertIn("near-site: joins the run; 1 of 1 host is up", result.stdout)
        self.wait_for_tasks_at("near")
        self.assertEqual(self.names(), ["far-site", "near-site"])
        self.assertIn("site near-site joins the run", self.finish(run))
        # The file knows both now: nothing is done again.
        again = self.gantry("run", "sweep.yaml", "--grid", "grid.yaml")
        self.assertEqual(again.code, 0, again)
        self.assertIn("unchanged", again.stderr)

    def test_a_site_that_leaves_ends_what_it_runs_and_may_come_back(self):
        self.sites(self.far_host, self.near_host)
        run = self.begin()
        self.wait_for_tasks_at("far", "near")
        drain = self.start_gantry("grid", "drain", "grid.yaml", "far-site")
        self.wait_until(lambda: any(site.get("leaving") for site in self.live().get("sites", [])), "far to leave", timeout=60)
        self.assertIsNone(drain.poll())
        self.assertIn("far-site: leaving", self.gantry("top").stdout)
        at_far = sum(places == ["far"] for places in self.ran().values())
        self.assertEqual(at_far, 2)
        self.write("go-far", "")
        out, err = drain.communicate(timeout=60)
        self.assertEqual(drain.returncode, 0, err.decode())
        self.assertIn("far-site: has left the run", out.decode())
        self.assertEqual(self.names(), ["near-site"])
        twice = self.grid("drain", "grid.yaml", "far-site")
        self.assertEqual(twice.code, 2, twice)
        self.assertIn("does not use site 'far-site': it has left, or never joined", " ".join(twice.stderr.split()))
        self.assertNotIn("did you mean", twice.stderr)
        self.assertEqual(sum(places == ["far"] for places in self.ran().values()), at_far)
        (self.dir / "go-far").unlink()
        back = self.grid("add", "grid.yaml", "far-site", "--json")
        self.assertEqual(back.code, 0, back)
        self.assertEqual(back.json(), {"site": "far-site", "hosts": 1, "up": 1})
        self.wait_until(lambda: sum(places == ["far"] for places in self.ran().values()) > at_far, "more tasks at far", timeout=60)
        self.finish(run)

    def test_a_connection_that_breaks_while_a_site_leaves(self):
        self.sites(self.far_host)
        run = self.begin()
        self.wait_for_tasks_at("far")
        drain = self.start_gantry("grid", "drain", "grid.yaml", "far-site")
        self.wait_until(lambda: any(site.get("leaving") for site in self.live().get("sites", [])), "far to leave", timeout=60)
        self.far_host.cut()
        self.write("go-far", "")
        out, err = drain.communicate(timeout=60)
        self.assertEqual(drain.returncode, 0, err.decode())
        self.assertEqual(len(list((self.dir / "out").glob("*.txt"))), 2)  # what ran there has ended, and come home
        self.sites(self.far_host, self.near_host)
        self.assertEqual(self.grid("add", "grid.yaml", "near-site").code, 0)
        self.finish(run)

    def test_remove_drains_first_and_leaves_nothing(self):
        self.sites(self.far_host, self.near_host)
        run = self.begin()
        self.wait_for_tasks_at("far", "near")
        self.write("go-far", "")
        result = self.grid("remove", "grid.yaml", "far-site", timeout=60)
        self.assertEqual(result.code, 0, result)
        self.assertFalse(self.far_host.scratch.exists())
        self.assertTrue(self.near_host.scratch.exists())
        self.finish(run)

    def test_what_cannot_be(self):
        self.sites(self.far_host)
        for words, said in ((["add", "grid.yaml"], "no run is in progress"), (["drain", "grid.yaml", "far-site"], "no run is in progress")):
            result = self.grid(*words)
            self.assertEqual(result.code, 2, result)
            self.assertIn(said, result.stderr)
        run = self.begin()
        self.wait_for_tasks_at("far")
        for words, said in ((["add", "grid.yaml", "far-site"], "uses site 'far-site' already"),
                            (["add", "grid.yaml", "fur"], "no site 'fur'"),
                            (["add", "missing.yaml"], "missing.yaml"),
                            (["drain", "grid.yaml", "home"], "no site 'home' that can leave"),
                            (["drain", "grid.yaml", "fat-site"], "far-site"),
                            (["drain", "grid.yaml"], "needs the names of sites")):
            result = self.grid(*words)
            self.assertEqual(result.code, 2, result)
            self.assertIn(said, result.stderr)
        self.finish(run)

    def test_a_run_without_a_grid_file_gets_no_sites(self):
        self.sites(self.far_host)
        run = self.start_gantry("run", "-j1", "sweep.yaml")
        self.wait_until(lambda: self.names() == ["home"], "the run to show itself", timeout=60)
        result = self.grid("add", "grid.yaml")
        self.assertEqual(result.code, 2, result)
        self.assertIn("without a grid file", result.stderr)
        self.finish(run)


if __name__ == "__main__":
    unittest.main()
