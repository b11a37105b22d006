#!/usr/bin/env bash
# The PTX of this folder, by nvcc 13.0: each file for those targets for which its text differs in more than their name.
set -euo pipefail
cd "$(dirname "$0")"

compile() {
    local target
    for target in "${@:2}"; do
        nvcc -ptx -arch="sm_$target" -o "$1.sm_$target.ptx" "$1.cu"
    done
}

compile atomics 75 80 90a 100a
compile reduce 75 80 90a 100a
compile control 75 100a
compile memory 75 100a
compile printf 75 100a
