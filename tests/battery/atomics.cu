// /// battery
// about = "atomics of every type and scope in global and shared memory; libcu++'s atomic, atomic_ref, semaphore, latch"
// packed = "90a O3"
// [kernels]
// atomics_32 = { in = ["1 i32 edges"], out = ["total 14 i32"] }
// atomics_64 = { in = ["1 i64 edges"], out = ["total 10 i64"] }
// atomics_float = { in = ["1 i32 range -99 99"], out = ["total 4 f32", "total 3 f64"] }
// atomics_half = { in = ["1 i32 range -9 9"], out = ["total 4 f16", "total 2 f32"] }
// atomics_16 = { in = ["1 u16 edges"], out = ["total 64 u16"] }
// atomics_shared = { in = ["1 i32 edges"], out = ["total 16 i32", "total 4 i64"] }
// tickets = { in = ["1 i32 edges"], out = ["total 128 i32", "total 2 i32"] }
// compare_and_swap_loops = { in = ["1 f32 range -50 50"], out = ["total 2 f32", "total 1 f64"] }
// scopes = { in = ["1 i32 edges"], out = ["total 8 i32"] }
// wrap_around = { in = ["1 i32 edges"], out = ["total 4 u32"] }
// atomic_refs = { in = ["1 i32 range -99 99"], out = ["total 8 i32", "total 2 i64", "total 2 f64", "total 1 f32"] }
// atomics_of_bytes = { in = ["1 u8 edges"], out = ["total 8 u8", "total 4 u16"] }
// spin_lock = { in = ["1 i32 range 0 9"], out = ["total 4 i32"], grid = 3, block = 32 }
// flags_between_blocks = { in = ["1 i32 edges"], out = ["1 i32", "total 8 i32"], grid = 4 }
// semaphores = { in = ["1 i32 range 0 9"], out = ["total 2 i32"], block = 64 }
// latches = { in = ["1 i32 edges"], out = ["1 i32"], block = 96 }
// exchange_128 = { in = ["1 i32 range 0 9"], out = ["total 4 u64"], since = 90 }
// vector_adds = { in = ["1 i32 range -9 9"], out = ["total 8 f32"], since = 90 }
// ///
#include "battery.cuh"
#include <algorithm>
#include <climits>
#include <cuda/atomic>
#include <cuda/latch>
#include <cuda/semaphore>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

KERNEL atomics_32(const int *x, int *y) {
  int v = x[thread_of_grid()];
  unsigned *u = (unsigned *)y;
  atomicAdd(y, v), atomicSub(y + 1, v), atomicMin(y + 2, v), atomicMax(y + 3, v);
  atomicAdd(u + 4, (unsigned)v), atomicSub(u + 5, (unsigned)v), atomicMin(u + 6, (unsigned)v), atomicMax(u + 7, (unsigned)v);
  atomicAnd(y + 8, v), atomicOr(y + 9, v), atomicXor(y + 10, v), atomicOr(u + 11, 1u << (v & 31));
  atomicXor(u + 12, (unsigned)v * 3), atomicAdd(y + 13, 1);
}
REFERENCE atomics_32_reference(const int *x, int *y, int threads) {
  unsigned *u = (unsigned *)y;
  for (int t = 0; t < threads; ++t) {
    unsigned v = x[t];
    u[0] += v, u[1] -= v, y[2] = std::min(y[2], x[t]), y[3] = std::max(y[3], x[t]), u[4] += v, u[5] -= v;
    u[6] = std::min(u[6], v), u[7] = std::max(u[7], v), u[8] &= v, u[9] |= v, u[10] ^= v, u[11] |= 1u << (v & 31);
    u[12] ^= v * 3, u[13]++;
  }
}
KERNEL atomics_64(const int64_t *x, int64_t *y) {
  long long v = x[thread_of_grid()], *s = (long long *)y;
  unsigned long long *u = (unsigned long long *)y, w = v;
  atomicAdd(u, w), atomicMin(s + 1, v), atomicMax(s + 2, v), atomicMin(u + 3, w), atomicMax(u + 4, w);
  atomicAnd(u + 5, w), atomicOr(u + 6, w), atomicXor(u + 7, w), atomicAdd(u + 8, w >> 7), atomicXor(u + 9, ~w);
}
REFERENCE atomics_64_reference(const int64_t *x, int64_t *y, int threads) {
  uint64_t *u = (uint64_t *)y;
  for (int t = 0; t < threads; ++t) {
    uint64_t v = x[t];
    u[0] += v, y[1] = std::min(y[1], x[t]), y[2] = std::max(y[2], x[t]), u[3] = std::min(u[3], v), u[4] = std::max(u[4], v);
    u[5] &= v, u[6] |= v, u[7] ^= v, u[8] += v >> 7, u[9] ^= ~v;
  }
}
KERNEL atomics_float(const int *x, float *f, double *d) {
  __shared__ float s;
  __shared__ double e;
  if (threadIdx.x == 0) s = 0, e = 0;
  __syncthreads();
  int v = x[thread_of_grid()];
  atomicAdd(f, v * 0.5f), atomicAdd(d, v * 0.25), atomicAdd(&s, (float)v), atomicAdd(&e, (double)v);
  atomicExch(f + 3, 7.5f), atomicAdd_block(f + 2, 1.0f);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(f + 1, s), atomicAdd(d + 1, e), atomicAdd_system(d + 2, 0.5);
}
REFERENCE atomics_float_reference(const int *x, float *f, double *d, int threads) {
  for (int t = 0; t < threads; ++t) f[0] += x[t] * 0.5f, d[0] += x[t] * 0.25, f[1] += x[t], d[1] += x[t], f[2] += 1;
  f[3] = 7.5f, d[2] = 0.5 * (threads / 64);
}
KERNEL atomics_half(const int *x, __half *h, float *f) {
  int v = x[thread_of_grid()];
  atomicAdd(h, __int2half_rn(v));
  atomicAdd((__half2 *)(h + 2), __floats2half2_rn(v, 1));
  __shared__ __nv_bfloat162 s;
  if (threadIdx.x == 0) s = __floats2bfloat162_rn(0, 0);
  __syncthreads();
  atomicAdd(&s, __floats2bfloat162_rn(1, v & 1));
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(f, __low2float(s)), atomicAdd(f + 1, __high2float(s));
}
REFERENCE atomics_half_reference(const int *x, __half *h, float *f, int threads) {
  int sum = 0;
  for (int t = 0; t < threads; ++t) sum += x[t], f[0] += 1, f[1] += x[t] & 1;
  h[0] = h[2] = __half((float)sum), h[3] = __half((float)threads);
}
KERNEL atomics_16(const uint16_t *x, uint16_t *y) {
  int t = thread_of_grid();
  // Each place is taken once, from 0; who comes second sees it and takes the next.
  unsigned short at = x[t] & 63;
  for (int i = 0; i < 64; ++i, at = (at + 1) & 63)
    if (t < 64 && atomicCAS((unsigned short *)y + at, (unsigned short)0, (unsigned short)1) == 0) break;
}
REFERENCE atomics_16_reference(const uint16_t *, uint16_t *y, int) { std::fill(y, y + 64, 1); }
KERNEL atomics_shared(const int *x, int *y, int64_t *z) {
  __shared__ int s[8];
  __shared__ unsigned long long w[2];
  if (threadIdx.x < 8) s[threadIdx.x] = threadIdx.x == 2 ? INT_MAX : 0;
  if (threadIdx.x < 2) w[threadIdx.x] = 0;
  __syncthreads();
  int v = x[thread_of_grid()];
  atomicAdd(s, v), atomicXor(s + 1, v), atomicMin(s + 2, v), atomicMax((unsigned *)s + 3, (unsigned)v), atomicOr(s + 4, v);
  atomicAdd(s + 5 + (v & 1), 1), atomicInc((unsigned *)s + 7, 20);
  atomicAdd(w, (unsigned long long)(long long)v), atomicMax(w + 1, (unsigned long long)v);
  __syncthreads();
  if (threadIdx.x < 8) y[8 * blockIdx.x + threadIdx.x] = s[threadIdx.x];
  if (threadIdx.x < 2) z[2 * blockIdx.x + threadIdx.x] = w[threadIdx.x];
}
REFERENCE atomics_shared_reference(const int *x, int *y, int64_t *z, int threads) {
  for (int t = 0; t < threads; ++t) {
    int *s = y + 8 * (t / 64), v = x[t];
    if (t % 64 == 0) s[2] = INT_MAX;
    s[0] = (int)((unsigned)s[0] + v), s[1] ^= v, s[2] = std::min(s[2], v), s[3] = std::max((unsigned)s[3], (unsigned)v), s[4] |= v;
    s[5 + (v & 1)]++, s[7] = (t % 64 + 1) % 21;
    int64_t *w = z + 2 * (t / 64);
    w[0] += v, w[1] = std::max((uint64_t)w[1], (uint64_t)(int64_t)v);
  }
}
KERNEL tickets(const int *x, int *y, int *counters) {
  int ticket = atomicAdd(counters, 1);
  atomicAdd(y + ticket, 1);
  __threadfence();
  if (atomicInc((unsigned *)counters + 1, gridDim.x * blockDim.x - 1) == gridDim.x * blockDim.x - 1) {
    __threadfence();
    counters[0] += 1000;
  }
}
REFERENCE tickets_reference(const int *, int *y, int *counters, int threads) {
  for (int t = 0; t < threads; ++t) y[t] = 1;
  counters[0] = threads + 1000, counters[1] = 0;
}
KERNEL compare_and_swap_loops(const float *x, float *y, double *z) {
  float v = floorf(x[thread_of_grid()]);
  int *least = (int *)y, old = *(volatile int *)least, seen;
  while (v < __int_as_float(old) && (seen = atomicCAS(least, old, __float_as_int(v))) != old) old = seen;
  unsigned long long *sum = (unsigned long long *)z, assumed, current = *(volatile unsigned long long *)sum;
  do assumed = current, current = atomicCAS(sum, assumed, __double_as_longlong(__longlong_as_double(assumed) + v));
  while (assumed != current);
  unsigned *most = (unsigned *)y + 1;
  for (unsigned w = *(volatile unsigned *)most; (float)w < v;) {
    unsigned found = atomicCAS_system(most, w, (unsigned)v);
    if (found == w) break;
    w = found;
  }
}
REFERENCE compare_and_swap_loops_reference(const float *x, float *y, double *z, int threads) {
  unsigned most = 0;
  for (int t = 0; t < threads; ++t) {
    float v = floorf(x[t]);
    y[0] = std::min(y[0], v), z[0] += v, most = v > most ? (unsigned)v : most;
  }
  ((unsigned *)y)[1] = most;
}
KERNEL scopes(const int *x, int *y) {
  int v = x[thread_of_grid()];
  atomicAdd_block(y + blockIdx.x, v), atomicAdd_system(y + 2, v), atomicMax_system(y + 3, v), atomicXor_system(y + 4, v);
  atomicOr_block(y + 5 + blockIdx.x, v), atomicAdd(y + 7, v);
}
REFERENCE scopes_reference(const int *x, int *y, int threads) {
  for (int t = 0; t < threads; ++t) {
    unsigned v = x[t];
    y[t / 64] = y[t / 64] + v, y[2] = y[2] + v, y[3] = std::max(y[3], x[t]), y[4] ^= v, y[5 + t / 64] |= v, y[7] = y[7] + v;
  }
}
KERNEL wrap_around(const int *x, unsigned *y) { atomicInc(y, 9), atomicDec(y + 1, 6), atomicInc(y + 2, 0), atomicDec(y + 3, 0xffffffff); }
REFERENCE wrap_around_reference(const int *, unsigned *y, int threads) {
  for (int t = 0; t < threads; ++t) {
    y[0] = y[0] >= 9 ? 0 : y[0] + 1, y[1] = y[1] == 0 || y[1] > 6 ? 6 : y[1] - 1, y[2] = 0, y[3] = y[3] == 0 ? 0xffffffff : y[3] - 1;
  }
}
template <typename T, cuda::thread_scope S> using ref = cuda::atomic_ref<T, S>;
KERNEL atomic_refs(const int *x, int *y, int64_t *z, double *d, float *f) {
  int v = x[thread_of_grid()];
  ref<int, cuda::thread_scope_device> a(y[0]), b(y[1]), c(y[2]);
  a.fetch_add(v, cuda::memory_order_relaxed), b.fetch_max(v, cuda::memory_order_acq_rel), c.fetch_sub(v);
  ref<int, cuda::thread_scope_system>(y[3]).fetch_xor(v, cuda::memory_order_release);
  ref<int, cuda::thread_scope_block>(y[4 + blockIdx.x]).fetch_or(v & 0xff, cuda::memory_order_relaxed);
  ref<int, cuda::thread_scope_device>(y[6])++, ++ref<int, cuda::thread_scope_device>(y[7]);
  ref<int64_t, cuda::thread_scope_device>(z[0]) += v, ref<int64_t, cuda::thread_scope_device>(z[1]).fetch_min(v);
  ref<double, cuda::thread_scope_device>(d[0]).fetch_add(v), ref<double, cuda::thread_scope_device>(d[1]).fetch_sub(v);
  ref<float, cuda::thread_scope_device> g(f[0]);
  float old = g.load();
  while (!g.compare_exchange_weak(old, old + v)) {
  }
}
REFERENCE atomic_refs_reference(const int *x, int *y, int64_t *z, double *d, float *f, int threads) {
  for (int t = 0; t < threads; ++t) {
    int v = x[t];
    y[0] += v, y[1] = std::max(y[1], v), y[2] -= v, y[3] ^= v, y[4 + t / 64] |= v & 0xff, y[6]++, y[7]++;
    z[0] += v, z[1] = std::min<int64_t>(z[1], v), d[0] += v, d[1] -= v, f[0] += v;
  }
}
KERNEL atomics_of_bytes(const uint8_t *x, uint8_t *y, uint16_t *z) {
  uint8_t v = x[thread_of_grid()];
  ref<uint8_t, cuda::thread_scope_device>(y[0]).fetch_add(v), ref<uint8_t, cuda::thread_scope_device>(y[1]).fetch_xor(v);
  ref<uint8_t, cuda::thread_scope_device>(y[3]).fetch_max(v), ref<uint16_t, cuda::thread_scope_device>(z[1]).fetch_add(v);
  ref<uint16_t, cuda::thread_scope_device>(z[2]).fetch_or((uint16_t)(v << 5));
}
REFERENCE atomics_of_bytes_reference(const uint8_t *x, uint8_t *y, uint16_t *z, int threads) {
  for (int t = 0; t < threads; ++t) y[0] += x[t], y[1] ^= x[t], y[3] = std::max(y[3], x[t]), z[1] += x[t], z[2] |= (uint16_t)(x[t] << 5);
}
KERNEL spin_lock(const int *x, int *y) {
  cuda::atomic_ref<int, cuda::thread_scope_device> lock(y[0]);
  int v = x[thread_of_grid()];
  for (bool done = false; !done;) {
    int free = 0;
    if (lock.compare_exchange_strong(free, 1, cuda::memory_order_acquire, cuda::memory_order_relaxed)) {
      y[1] += v, y[2] = y[2] > v ? y[2] : v;
      lock.store(0, cuda::memory_order_release);
      done = true;
    }
  }
}
REFERENCE spin_lock_reference(const int *x, int *y, int threads) {
  for (int t = 0; t < threads; ++t) y[1] += x[t], y[2] = std::max(y[2], x[t]);
}
KERNEL flags_between_blocks(const int *x, int *y, int *flags) {
  cuda::atomic_ref<int, cuda::thread_scope_device> mine(flags[blockIdx.x]), before(flags[(blockIdx.x + gridDim.x - 1) % gridDim.x]);
  int t = thread_of_grid();
  if (blockIdx.x > 0) {
    if (threadIdx.x == 0)
      while (before.load(cuda::memory_order_acquire) == 0) __nanosleep(20);
    __syncthreads();
    y[t] = (int)((unsigned)y[t - blockDim.x] * 3 + x[t]);
  } else {
    y[t] = x[t];
  }
  __syncthreads();
  if (threadIdx.x == 0) mine.store(1, cuda::memory_order_release), mine.notify_all();
}
REFERENCE flags_between_blocks_reference(const int *x, int *y, int *flags, int threads) {
  for (int t = 0; t < threads; ++t) y[t] = t < 64 ? x[t] : (int)((unsigned)y[t - 64] * 3 + x[t]);
  for (int b = 0; b < threads / 64; ++b) flags[b] = 1;
}
KERNEL semaphores(const int *x, int *y) {
  __shared__ cuda::binary_semaphore<cuda::thread_scope_block> one;
  __shared__ int sum;
  if (threadIdx.x == 0) {
    new (&one) cuda::binary_semaphore<cuda::thread_scope_block>(1);
    sum = 0;
  }
  __syncthreads();
  for (bool done = false; !done;)
    if (one.try_acquire()) sum += x[thread_of_grid()], one.release(), done = true;
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
REFERENCE semaphores_reference(const int *x, int *y, int threads) {
  for (int t = 0; t < threads; ++t) y[t / 64] += x[t];
}
KERNEL latches(const int *x, int *y) {
  using Latch = cuda::latch<cuda::thread_scope_block>;
  __shared__ alignas(Latch) char place[sizeof(Latch)];
  Latch &gate = *reinterpret_cast<Latch *>(place);
  __shared__ int held[96];
  if (threadIdx.x == 0) new (&gate) Latch(96);
  __syncthreads();
  held[threadIdx.x] = x[thread_of_grid()];
  gate.arrive_and_wait();
  y[thread_of_grid()] = held[95 - threadIdx.x];
}
REFERENCE latches_reference(const int *x, int *y, int threads) {
  for (int t = 0; t < threads; ++t) y[t] = x[t / 96 * 96 + 95 - t % 96];
}
struct alignas(16) Wide {
  uint64_t low, high;
};
KERNEL exchange_128(const int *x, Wide *y) {
#if __CUDA_ARCH__ >= 900
  int v = x[thread_of_grid()];
  Wide seen = {0, 0}, next;
  do next = {seen.low + v, seen.high + 1};
  while ([&] {
    Wide expected = seen;
    seen = atomicCAS(y, expected, next);
    return seen.low != expected.low || seen.high != expected.high;
  }());
  Wide one = {7, 8};
  atomicExch(y + 1, one);
#endif
}
REFERENCE exchange_128_reference(const int *x, Wide *y, int threads) {
  for (int t = 0; t < threads; ++t) y[0].low += x[t], y[0].high++;
  y[1] = {7, 8};
}
KERNEL vector_adds(const int *x, float *y) {
#if __CUDA_ARCH__ >= 900
  float v = x[thread_of_grid()];
  atomicAdd((float4 *)y, make_float4(v, 1, -v, 2)), atomicAdd((float2 *)(y + 4), make_float2(v * 2, 0.5f));
#endif
}
REFERENCE vector_adds_reference(const int *x, float *y, int threads) {
  for (int t = 0; t < threads; ++t) y[0] += x[t], y[1] += 1, y[2] -= x[t], y[3] += 2, y[4] += x[t] * 2, y[5] += 0.5f;
}
