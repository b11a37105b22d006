"""Which change of one place of a kernel makes a wrong result right: found by trying, on the emulator."""
