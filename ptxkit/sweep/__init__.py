"""Many launch plans, on this machine's devices or on a cluster, their results as JSON lines.

A job is a plan with its program's text inside and the options of its run: plain data, which goes to a process
of this machine or through dask.distributed to another. Each result is appended to a file as it comes; a sweep
that was interrupted goes on where it stopped.
"""

from ptxkit.sweep.job import Job, final
from ptxkit.sweep.local import local
from ptxkit.sweep.results import Results

__all__ = ["Job", "Results", "final", "local"]
