"""Whether others used the processors while something was measured."""
import dataclasses
import os
import resource
import time

TOLERATED = 0.05  # of all processors
TICK = os.sysconf("SC_CLK_TCK")
# Columns of the first line of /proc/stat. Interrupts are left out: those of the loopback are ours.
BUSY = {"user": 1, "nice": 2, "system": 3, "steal": 8}


def busy_seconds(stat: str) -> float:
    columns = stat.splitlines()[0].split()
    return sum(int(columns[at]) for at in BUSY.values()) / TICK


def own_seconds() -> float:
    used = 0.0
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        seen = resource.getrusage(who)
        used += seen.ru_utime + seen.ru_stime
    return used


@dataclasses.dataclass(frozen=True)
class Moment:
    wall: float
    busy: float
    own: float

    @staticmethod
    def now() -> "Moment":
        with open("/proc/stat", encoding="ascii") as file:
            return Moment(time.monotonic(), busy_seconds(file.read()), own_seconds())


def others_share(before: Moment, after: Moment, processors: int) -> float:
    """Of all processors: 0.5 means that one of two was busy with something else."""
    wall = after.wall - before.wall
    others = (after.busy - before.busy) - (after.own - before.own)
    return max(0.0, others) / (wall * processors) if wall > 0 else 0.0


def is_disturbed(before: Moment, after: Moment, processors: int) -> bool:
    slack = 2 / TICK  # what is counted in ticks is rounded
    wall = after.wall - before.wall
    return others_share(before, after, processors) > TOLERATED + slack / max(wall * processors, slack)
