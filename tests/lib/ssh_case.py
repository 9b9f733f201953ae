"""A study whose sites are behind real ssh, for tests: hosts, a grid file, tasks that leave marks of where they ran."""
import gantry_test
from ssh_host import SshHost


class SshTestCase(gantry_test.TestCase):
    def far(self, name="far", **options) -> SshHost:
        return SshHost(self, name, settings=[], **options)

    def write_grid(self, *hosts, home="{}", slots=2, config=None, keys=(), links=()):
        """`keys`: further lines of every site; `links`: of the file."""
        self.write("ssh_config", config or "".join(host.config() for host in hosts))
        lines = ["sites:", f"  home: {home}"]
        for host in hosts:
            lines += [f"  {host.name}-site:", "    via: ssh", f"    hosts: [{host.name}]", f"    slots: {slots}",
                      f"    scratch: {host.scratch}", f"    ssh_config: {self.dir}/ssh_config"]
            lines += [f"    {key}" for key in keys]
        if links:
            lines += ["links:"] + [f"  - {link}" for link in links]
        (self.dir / "grid.yaml").write_text("\n".join(lines) + "\n")

    def ran(self) -> dict:
        """task -> where it ran, each time."""
        return {int(path.name.split("-")[1]): path.read_text().split() for path in (self.dir / "marks").iterdir()}

    def run_it(self, *args, **options):
        return self.gantry("run", "sweep.yaml", "--grid", "grid.yaml", *args, **options)
