"""A launch on several cores: its CTAs in processes that are forked from this one, where they do not talk to
each other.

    apart.py        which kernels' CTAs can't talk to each other but by a race
    footprints.py   what each process read and wrote, whether that was apart, and the bytes that it wrote
    crew.py         the processes: they take CTAs, and their results and counts come back
    sharing.py      when a launch goes over to them, and back

A process works on a copy of the memory that the fork made. What it wrote counts only once all are done and
no process touched what another one wrote; else, and where there was a finding, nothing of it has happened,
and the launch runs on one core. So the results, the counts and the findings are those of one core.
"""
