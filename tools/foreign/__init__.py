"""Functions of which other compilers make PTX: executed on the emulator, and here, and compared."""
