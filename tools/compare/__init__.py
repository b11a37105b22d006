"""The parts of `tools/compare_devices.py`."""
