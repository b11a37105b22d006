"""A model of time: what a launch would take on a GPU, from what the emulator saw its warps do."""
