#!/usr/bin/env python3
"""oracle.py SCENARIO.json: runs a scenario (scenario.hpp) in SimGrid and prints how it went, as JSON.

The answer is a list for each task of [phase, time, failed], in the order of time. SimGrid knows no queues, so
those of hosts and fifo links are kept here; everything that takes time is SimGrid's. One run a process: its engine
cannot be started twice.
"""
import bisect
import json
import math
import os
import sys
import tempfile

import simgrid
from simgrid import Actor, Comm, Engine, Semaphore, this_actor

# What makes SimGrid's models the same as ours; docs/simulation.md says why.
OPTIONS = ["--log=root.thres:critical", "--log=root.app:file:/dev/null", "--cfg=cpu/optim:TI",
           "--cfg=network/model:CM02", "--cfg=network/crosstraffic:0", "--cfg=network/TCP-gamma:1e30",
           "--cfg=network/optim:Full"]
FLOPS = 1e9  # of one unit of work: SimGrid takes 1e-5 flops for nothing
FOR_GOOD = 1e12  # the integrating CPU model wants a period; this one does not come


class Platform:
    """The scenario's resources as SimGrid's XML. The profiles are files, each with a name of its own: 3.32's Python
    takes one profile in all, its <trace_connect> none for links, and no name may be used twice."""

    def __init__(self, scenario, directory):
        self.directory = directory
        self.lines = ['<host id="driver" speed="1f"/>']
        for i, host in enumerate(scenario["hosts"]):
            # That CPU model has one core; every slot is as fast as the host, so each is a host.
            for slot in range(host["slots"]):
                name = f"h{i}.{slot}"
                speed = self.profile(f"{name}.speed", host["availability"], FOR_GOOD)
                self.lines.append(f'<host id="{name}" speed="{host["speed"] * FLOPS!r}f" speed_file="{speed}"'
                                  f'{self.state(name, host)}/>')
        for i, link in enumerate(scenario["links"]):
            bandwidth = self.profile(f"l{i}.bandwidth", link["bandwidth"], None)
            policy = "SHARED" if link["fair"] else "FATPIPE"  # a fat pipe gives each transfer all of it
            first = link["bandwidth"]["steps"][0][1]
            self.lines.append(f'<host id="from{i}" speed="1f"/><host id="to{i}" speed="1f"/>')
            self.lines.append(f'<link id="l{i}" bandwidth="{first!r}Bps" latency="{link["latency"]!r}s" '
                              f'sharing_policy="{policy}" bandwidth_file="{bandwidth}"{self.state(f"l{i}", link)}/>')
        for i in range(len(scenario["links"])):
            self.lines.append(f'<route src="from{i}" dst="to{i}"><link_ctn id="l{i}"/></route>')

    def profile(self, name, trace, period_of_none):
        period = trace.get("period") or period_of_none
        lines = [f"PERIODICITY {period!r}"] if period else []
        lines += [f"{time!r} {value!r}" for time, value in trace["steps"]]
        return self.write(name, lines)

    def state(self, name, resource):
        if not resource["outages"]:
            return ""
        lines = [f"{at!r} {up}" for outage in resource["outages"] for at, up in zip(outage, (0, 1))]
        return f' state_file="{self.write(name + ".state", lines)}"'

    def write(self, name, lines):
        """The name as the XML wants it: SimGrid looks beside the XML, for absolute names too."""
        with open(os.path.join(self.directory, name), "w") as file:
            file.write("\n".join(lines) + "\n")
        return name

    def xml(self):
        return os.path.join(self.directory, self.write("platform.xml", [
            "<?xml version='1.0'?>", '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">',
            '<platform version="4.1"><zone id="root" routing="Full">',
            # The XML wants hosts before links before routes.
            *sorted(self.lines, key=lambda line: ("<host", "<link", "<rout").index(line[:5])),
            "</zone></platform>"]))


class Station:
    """A queue before the places of a host or fifo link. Who waits when an outage begins has failed, as everybody
    else there."""

    def __init__(self, outages, places):
        self.outages = outages
        self.free = list(places)
        self.semaphore = Semaphore(len(self.free))

    def use(self, run):
        """run(place) tells whether it succeeded."""
        now = Engine.clock
        if any(begin <= now < end for begin, end in self.outages):
            return False
        ahead = min((begin for begin, _ in self.outages if begin > now), default=math.inf)
        if ahead == math.inf:
            self.semaphore.acquire()
        elif self.semaphore.acquire_timeout(ahead - now):
            return False
        place = self.free.pop(0)
        try:
            return run(place)
        finally:
            self.free.append(place)
            self.semaphore.release()


def compute(host, work):
    """In an actor of its own, who dies with the host: 3.32's Python keeps its global lock, for ever, while it tells an
    execution where to run."""
    done = []

    def execute():
        this_actor.execute(work * FLOPS)
        done.append(True)

    Actor.create("computation", host, execute).join()
    return bool(done)


class Route:
    """What transfers of one link need. SimGrid never lets a transfer have more than the bandwidth of its beginning, so
    the link is without bounds at that instant."""

    def __init__(self, engine, number, trace):
        self.ends = engine.host_by_name(f"from{number}"), engine.host_by_name(f"to{number}")
        self.link = simgrid.Link.by_name(f"l{number}")
        self.times = [time for time, _ in trace["steps"]]
        self.values = [value for _, value in trace["steps"]]
        self.period = trace.get("period", math.inf)

    def bandwidth_now(self):
        return self.values[max(bisect.bisect_right(self.times, math.fmod(Engine.clock, self.period)) - 1, 0)]

    def transfer(self, size):
        self.link.set_bandwidth(1e30)
        comm = Comm.sendto_async(*self.ends, size)
        self.link.set_bandwidth(self.bandwidth_now())
        try:
            comm.wait()
            return True
        except simgrid.NetworkFailureException:
            return False


def carry(task, hosts, links, answer):
    this_actor.sleep_until(task["at"])
    for number, phase in enumerate(task["phases"]):
        while True:
            if "host" in phase:
                done = hosts[phase["host"]].use(lambda host: compute(host, phase["work"]))
            else:
                done = links[phase["link"]](phase["bytes"])
            answer.append([number, Engine.clock, not done])
            if done:
                break
            this_actor.sleep_for(task["retry"])


def main():
    with open(sys.argv[1]) as file:
        scenario = json.load(file)
    engine = Engine(["oracle", *OPTIONS])
    with tempfile.TemporaryDirectory(prefix="gantry-simgrid-") as directory:
        engine.load_platform(Platform(scenario, directory).xml())
        hosts = [Station(host["outages"], [engine.host_by_name(f"h{i}.{slot}") for slot in range(host["slots"])])
                 for i, host in enumerate(scenario["hosts"])]
        links = []
        for i, link in enumerate(scenario["links"]):
            route = Route(engine, i, link["bandwidth"])
            if link["fair"]:
                links.append(route.transfer)
            else:
                station = Station(link["outages"], [route] * link["streams"])
                links.append(lambda size, station=station: station.use(lambda route: route.transfer(size)))
        answers = [[] for _ in scenario["tasks"]]
        driver = engine.host_by_name("driver")
        for i, task in enumerate(scenario["tasks"]):
            Actor.create(f"task{i}", driver, carry, task, hosts, links, answers[i])
        engine.run()
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
