"""The machine that the libraries show: devices, contexts, memory, streams. It knows nothing of C.

`machine.Machine` has it all; `schedule` decides when what was queued happens; `memory` is one address space
of the host and all devices.
"""
