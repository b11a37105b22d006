"""The programs that `tools/measure_emulation.py` measures, and the process that one of them runs in."""
