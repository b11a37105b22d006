"""The debugger: a session over a launch on the emulator, and its two faces, the console and the protocol."""
