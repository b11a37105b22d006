// What every source of the battery uses. A kernel gets its inputs and outputs as arrays, in the order in which
// the frame at the head of its file names them; its reference, NAME_reference, gets the same arrays and the
// number of threads, and is compiled for the host.
#pragma once
#include <cstdint>

#define KERNEL extern "C" __global__ void
#define REFERENCE extern "C" void
#define BOTH __host__ __device__ inline

__device__ inline int thread_of_grid() { return blockIdx.x * blockDim.x + threadIdx.x; }

// The body that follows is what each thread does for itself, the same code on both sides: it makes `n_out`
// elements at `y` of `n_in` elements at `x`.
#define EACH(NAME, IN, n_in, OUT, n_out)                                                    \
  static __host__ __device__ void NAME##_each(const IN *x, OUT *y);                         \
  KERNEL NAME(const IN *x, OUT *y) {                                                        \
    NAME##_each(x + thread_of_grid() * (n_in), y + thread_of_grid() * (n_out));             \
  }                                                                                         \
  REFERENCE NAME##_reference(const IN *x, OUT *y, int threads) {                            \
    for (int t = 0; t < threads; ++t) NAME##_each(x + t * (n_in), y + t * (n_out));         \
  }                                                                                         \
  static __host__ __device__ void NAME##_each(const IN *x, OUT *y)

// The same of what is written differently on the two sides: HERE on the device, THERE on the host.
#define HERE(NAME, IN, n_in, OUT, n_out)                                                    \
  static __device__ void NAME##_here(const IN *x, OUT *y);                                  \
  KERNEL NAME(const IN *x, OUT *y) {                                                        \
    NAME##_here(x + thread_of_grid() * (n_in), y + thread_of_grid() * (n_out));             \
  }                                                                                         \
  static __device__ void NAME##_here(const IN *x, OUT *y)
#define THERE(NAME, IN, n_in, OUT, n_out)                                                   \
  static void NAME##_there(const IN *x, OUT *y);                                            \
  REFERENCE NAME##_reference(const IN *x, OUT *y, int threads) {                            \
    for (int t = 0; t < threads; ++t) NAME##_there(x + t * (n_in), y + t * (n_out));        \
  }                                                                                         \
  static void NAME##_there(const IN *x, OUT *y)
