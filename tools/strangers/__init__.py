"""Kernels that nobody here wrote, as PTX: what bench/strangers.toml launches.

    python -m tools.strangers make FOLDER [--sources FOLDER] [--include FOLDER] [--triton PYTHON]
    python -m tools.strangers check FOLDER

Both take `--list FILE`: bench/strangers2.toml, strangers3, strangers4, strangers5 and strangers6 are others.

`make` takes public repositories at the commits of sources.toml, by git where `--sources` lacks them, and
compiles files of theirs for sm_90a: CUDA C++ with the flags that their authors give, by the nvcc in PATH,
functions of Triton by a Python that has it. Of each file only the entries that the list launches are kept.
Nothing of that is ours: FOLDER lies outside of the tree. Where the toolkit lacks the headers of cuBLAS, which
some include, nvidia-cublas brings them: `--include FOLDER`.

`check` runs each launch of the list on the emulator, sanitizer on, with the arguments of its `small`: the
same kernel and order of arguments with smaller sizes. Faults of their authors' code that lead to no wrong
address, races above all, are allowed there by name.
"""
