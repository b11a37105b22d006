"""What the verbs do that launch kernels.

Numpy and the emulator load here, so a verb imports its file when it runs, and `--help` answers at once.
"""
