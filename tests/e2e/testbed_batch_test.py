"""Testbeds with batch systems: jobs go in at a site's head and run on its hosts."""
import gantry_test
import testbed


@testbed.needed(*testbed.SLURM, *testbed.SGE)
class BatchTest(gantry_test.TestCase):
    def test_both_take_jobs_side_by_side_and_go_without_a_trace(self):
        with testbed.up(self, testbed.BATCH_SITES) as grid:
            text = grid.grid.read_text()
            for line in ("via: slurm", "login: c1", "partition: debug", "via: sge", "login: g1", "queue: all.q", "pilots: 2"):
                self.assertIn(f"    {line}\n", text)
            slurm = grid.ssh("c1", "srun --nodes=2 --ntasks-per-node=1 hostname")
            self.assertEqual(sorted(slurm.stdout.split()), ["c1h1", "c1h2"], slurm)
            self.assertEqual(grid.ssh("c1", "hostname; sinfo --noheader --format '%P %D %c'").stdout, "c1\ndebug* 2 2\n")
            sge = grid.ssh("g1", "hostname; qsub -sync y -cwd -j y -o out -b y hostname > said; cat out")
            self.assertIn(sge.stdout, ("g1\ng1h1\n", "g1\ng1h2\n"), sge)
            self.assertEqual([link["login"] for link in grid.state()["links"]], ["c1", "g1"])
            grid.down()
            self.assertEqual(grid.remains(), [])

    def test_slurm_jobs_live_and_die_with_their_host(self):
        with testbed.up(self, "sites: { c1: { via: slurm, hosts: 2, speed: 0.5, link: { bandwidth: 8 MB/s } } }\n") as grid:
            self.assertEqual(grid.ssh("c1", "sbatch -w c1h2 --wrap 'echo begun > begun; sleep 1000'").code, 0)
            self.wait_until(lambda: grid.ssh("c1", "cat begun").stdout == "begun\n", "the job runs")
            self.assertGreaterEqual(grid.host("c1h2")["processes"], 4)  # sshd, slurmd, slurmstepd, the job
            grid.kill("c1h2")
            self.assertEqual(grid.host("c1h2")["processes"], 0)
            self.assertEqual(grid.ssh("c1", "srun -w c1h1 hostname").stdout, "c1h1\n")
            grid.revive("c1h2")
            self.assertEqual(grid.ssh("c1", "scancel --full -u root; srun -w c1h2 hostname").stdout, "c1h2\n")

    def test_grid_engine_jobs_live_and_die_with_their_host(self):
        with testbed.up(self, "sites: { g1: { via: sge, hosts: 2, speed: 0.5, link: { bandwidth: 8 MB/s } } }\n") as grid:
            job = "echo 'echo begun > begun; sleep 1000' | qsub -cwd -q all.q@g1h2 -o out -j y"
            self.assertEqual(grid.ssh("g1", job).code, 0)
            self.wait_until(lambda: grid.ssh("g1", "cat begun").stdout == "begun\n", "the job runs")
            grid.kill("g1h2")
            self.assertEqual(grid.host("g1h2")["processes"], 0)
            grid.revive("g1h2")
            again = grid.ssh("g1", "qsub -sync y -cwd -q all.q@g1h2 -j y -o out2 -b y hostname > said; cat out2")
            self.assertEqual(again.stdout, "g1h2\n", again)
