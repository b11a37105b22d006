// /// battery
// about = "warp intrinsics: shuffles of every type, votes, match, reduce, active masks, partial masks; divergence in between"
// packed = "80 O3"
// [kernels]
// shuffles = { in = ["1 i32 edges", "1 f64 log 1e-5 1e5"], out = ["10 i32", "4 f64"] }
// shuffles_of_halves = { in = ["1 u32 edges"], out = ["3 u32", "2 i64"] }
// votes = { in = ["1 i32 edges"], out = ["8 u32"] }
// match = { in = ["1 i32 range 0 5", "1 i64 range 0 3"], out = ["5 u32"] }
// reduce = { in = ["1 u32 edges"], out = ["7 u32"], since = 80 }
// partial_masks = { in = ["1 i32 edges"], out = ["3 i32"] }
// warp_scan = { in = ["1 i32 edges"], out = ["2 i32"], block = 128 }
// aggregated_atomics = { in = ["1 i32 range 0 4"], out = ["1 i32", "total 4 i32"] }
// exchange_by_shared_memory = { in = ["1 i32 edges"], out = ["1 i32"] }
// partial_warp = { in = ["1 i32 edges"], out = ["2 i32"], block = 45 }
// sort_in_a_warp = { in = ["1 u32 edges"], out = ["1 u32"] }
// ///
#include "battery.cuh"
#include <algorithm>
#include <cuda_fp16.h>

constexpr unsigned ALL = 0xffffffff;
BOTH int sum(int a, int b) { return (int)((unsigned)a + (unsigned)b); }
KERNEL shuffles(const int *x, const double *d, int *y, double *z) {
  int t = thread_of_grid(), v = x[t], lane = threadIdx.x % 32;
  double w = d[t];
  y += 10 * t, z += 4 * t;
  y[0] = __shfl_sync(ALL, v, 5), y[1] = __shfl_sync(ALL, v, lane * 7), y[2] = __shfl_up_sync(ALL, v, 3);
  y[3] = __shfl_down_sync(ALL, v, 4), y[4] = __shfl_xor_sync(ALL, v, 13), y[5] = __shfl_sync(ALL, v, 2, 8);
  y[6] = __shfl_up_sync(ALL, v, 1, 16), y[7] = __shfl_down_sync(ALL, v, 2, 4), y[8] = __shfl_xor_sync(ALL, v, 3, 8);
  y[9] = __shfl_sync(ALL, v, v & 31);
  z[0] = __shfl_xor_sync(ALL, w, 1), z[1] = __shfl_sync(ALL, w, 31 - lane), z[2] = __shfl_up_sync(ALL, w, 2), z[3] = __shfl_down_sync(ALL, w, 1, 2);
}
REFERENCE shuffles_reference(const int *x, const double *d, int *y, double *z, int threads) {
  for (int t = 0; t < threads; ++t, y += 10, z += 4) {
    int w = t / 32 * 32, l = t % 32;
    y[0] = x[w + 5], y[1] = x[w + l * 7 % 32], y[2] = x[l >= 3 ? t - 3 : t], y[3] = x[l + 4 < 32 ? t + 4 : t], y[4] = x[t ^ 13];
    y[5] = x[t / 8 * 8 + 2], y[6] = x[t % 16 ? t - 1 : t], y[7] = x[t % 4 < 2 ? t + 2 : t], y[8] = x[t ^ 3], y[9] = x[w + (x[t] & 31)];
    z[0] = d[t ^ 1], z[1] = d[w + 31 - l], z[2] = d[l >= 2 ? t - 2 : t], z[3] = d[t % 2 ? t : t + 1];
  }
}
KERNEL shuffles_of_halves(const uint32_t *x, uint32_t *y, int64_t *z) {
  int t = thread_of_grid();
  __half2 h;
  memcpy(&h, x + t, 4);
  __half low = __low2half(h);
  h = __shfl_xor_sync(ALL, h, 2), low = __shfl_down_sync(ALL, low, 1);
  memcpy(y + 3 * t, &h, 4), y[3 * t + 1] = __half_as_ushort(low), y[3 * t + 2] = (uint32_t)__shfl_sync(ALL, (unsigned long long)x[t] << 13, 7);
  z[2 * t] = __shfl_xor_sync(ALL, (long long)x[t] * -5, 16), z[2 * t + 1] = __shfl_up_sync(ALL, (long)x[t], 1, 8);
}
REFERENCE shuffles_of_halves_reference(const uint32_t *x, uint32_t *y, int64_t *z, int threads) {
  for (int t = 0; t < threads; ++t) {
    y[3 * t] = x[t ^ 2], y[3 * t + 1] = (uint16_t)x[t % 32 < 31 ? t + 1 : t], y[3 * t + 2] = x[t / 32 * 32 + 7] << 13;
    z[2 * t] = (int64_t)x[t ^ 16] * -5, z[2 * t + 1] = x[t % 8 ? t - 1 : t];
  }
}
KERNEL votes(const int *x, uint32_t *y) {
  int t = thread_of_grid(), v = x[t];
  y += 8 * t;
  y[0] = __ballot_sync(ALL, v & 1), y[1] = __any_sync(ALL, v == 77), y[2] = __all_sync(ALL, v != 78), y[3] = __popc(__ballot_sync(ALL, v < 0));
  if (v > 0) y[4] = __activemask() == __ballot_sync(__activemask(), true), y[5] = __ballot_sync(__activemask(), v & 2) & (1u << t % 32);
  else y[6] = __uni_sync(__activemask(), v > 0), y[7] = 5;
}
REFERENCE votes_reference(const int *x, uint32_t *y, int threads) {
  for (int t = 0; t < threads; ++t, y += 8) {
    y[2] = 1;
    for (int i = t / 32 * 32; i < t / 32 * 32 + 32; ++i) y[0] |= (x[i] & 1u) << i % 32, y[1] |= x[i] == 77, y[2] &= x[i] != 78, y[3] += x[i] < 0;
    if (x[t] > 0) y[4] = 1, y[5] = (x[t] >> 1 & 1u) << t % 32;
    else y[6] = 1, y[7] = 5;
  }
}
KERNEL match(const int *x, const int64_t *w, uint32_t *y) {
  int t = thread_of_grid(), all;
  y += 5 * t;
  y[0] = __match_any_sync(ALL, x[t]), y[1] = __match_any_sync(ALL, (long long)w[t] << 33);
  y[2] = __match_all_sync(ALL, x[t], &all), y[2] += all << 8, y[3] = __match_all_sync(ALL, t / 32, &all), y[3] ^= all;
  y[4] = __match_any_sync(ALL, (float)(x[t] & 1));
}
REFERENCE match_reference(const int *x, const int64_t *w, uint32_t *y, int threads) {
  for (int t = 0; t < threads; ++t, y += 5) {
    bool all = true;
    for (int i = t / 32 * 32; i < t / 32 * 32 + 32; ++i) {
      y[0] |= (uint32_t)(x[i] == x[t]) << i % 32, y[1] |= (uint32_t)(w[i] == w[t]) << i % 32;
      y[4] |= (uint32_t)((x[i] & 1) == (x[t] & 1)) << i % 32, all &= x[i] == x[t];
    }
    y[2] = all ? ALL + 256 : 0, y[3] = ALL ^ 1;
  }
}
KERNEL reduce(const uint32_t *x, uint32_t *y) {
#if __CUDA_ARCH__ >= 800
  int t = thread_of_grid();
  y += 7 * t;
  y[0] = __reduce_add_sync(ALL, x[t]), y[1] = __reduce_min_sync(ALL, (int)x[t]), y[2] = __reduce_max_sync(ALL, x[t]);
  y[3] = __reduce_and_sync(ALL, x[t] | 0xff), y[4] = __reduce_or_sync(ALL, x[t]), y[5] = __reduce_xor_sync(ALL, x[t]);
  unsigned odd = __ballot_sync(ALL, x[t] & 1);
  y[6] = x[t] & 1 ? __reduce_max_sync(odd, (int)x[t]) : __reduce_add_sync(~odd, x[t]);
#endif
}
REFERENCE reduce_reference(const uint32_t *x, uint32_t *y, int threads) {
  for (int t = 0; t < threads; ++t, y += 7) {
    int least = x[t], most = INT32_MIN;
    uint32_t even = 0;
    y[3] = ALL;
    for (int i = t / 32 * 32; i < t / 32 * 32 + 32; ++i) {
      y[0] += x[i], least = std::min(least, (int)x[i]), y[2] = std::max(y[2], x[i]), y[3] &= x[i] | 0xff, y[4] |= x[i], y[5] ^= x[i];
      if (x[i] & 1) most = std::max(most, (int)x[i]);
      else even += x[i];
    }
    y[1] = least, y[6] = x[t] & 1 ? most : even;
  }
}
// Parts of a warp shuffle among themselves, at different places.
KERNEL partial_masks(const int *x, int *y) {
  int t = thread_of_grid(), lane = t % 32, v = x[t];
  if (lane < 8) {
    v = __shfl_sync(0xff, v, 7 - lane);
    y[3 * t] = v;
  } else if (lane < 20) {
    for (int i = 0; i < 3; ++i) v = sum(__shfl_sync(0x000fff00, v, lane < 19 ? lane + 1 : 19), 1);
    y[3 * t] = v;
  } else {
    y[3 * t] = __any_sync(0xfff00000, v == 0) + 2;
  }
  __syncwarp();
  y[3 * t + 1] = __shfl_xor_sync(ALL, v, 1);
  y[3 * t + 2] = lane & 1 ? __shfl_sync(0xaaaaaaaa, v, 31) : __shfl_sync(0x55555555, v, 0);
}
REFERENCE partial_masks_reference(const int *x, int *y, int threads) {
  for (int w = 0; w < threads; w += 32) {
    int v[32], old[32], zero = 0;
    std::copy(x + w, x + w + 32, v);
    for (int l = 0; l < 8; ++l) v[l] = x[w + 7 - l];
    for (int i = 0; i < 3; ++i) {
      std::copy(v, v + 32, old);
      for (int l = 8; l < 19; ++l) v[l] = sum(old[l + 1], 1);
      v[19] = sum(old[19], 1);
    }
    for (int l = 20; l < 32; ++l) zero |= v[l] == 0;
    for (int l = 0; l < 32; ++l) {
      y[3 * (w + l)] = l < 20 ? v[l] : zero + 2, y[3 * (w + l) + 1] = v[l ^ 1], y[3 * (w + l) + 2] = l & 1 ? v[31] : v[0];
    }
  }
}
KERNEL warp_scan(const int *x, int *y) {
  __shared__ int totals[4];
  int t = thread_of_grid(), lane = threadIdx.x % 32, warp = threadIdx.x / 32, v = x[t];
  for (int d = 1; d < 32; d *= 2) {
    int o = __shfl_up_sync(ALL, v, d);
    if (lane >= d) v = sum(v, o);
  }
  if (lane == 31) totals[warp] = v;
  __syncthreads();
  int before = 0;
  for (int i = 0; i < warp; ++i) before = sum(before, totals[i]);
  y[2 * t] = sum(before, v), y[2 * t + 1] = before;
}
REFERENCE warp_scan_reference(const int *x, int *y, int threads) {
  for (int t = 0, total = 0, before = 0; t < threads; ++t) {
    if (t % 128 == 0) total = 0;
    if (t % 32 == 0) before = total;
    y[2 * t] = total = sum(total, x[t]), y[2 * t + 1] = before;
  }
}
KERNEL aggregated_atomics(const int *x, int *y, int *counts) {
  int t = thread_of_grid();
  for (bool done = false; !done;) {
    unsigned active = __activemask();
    int leader = __ffs(active) - 1, bin = __shfl_sync(active, x[t], leader);
    unsigned same = __ballot_sync(active, x[t] == bin);
    if (x[t] == bin) {
      if (t % 32 == leader) atomicAdd(counts + bin, __popc(same));
      done = true;
    }
  }
  y[t] = x[t] * 2;
}
REFERENCE aggregated_atomics_reference(const int *x, int *y, int *counts, int threads) {
  for (int t = 0; t < threads; ++t) counts[x[t]]++, y[t] = x[t] * 2;
}
KERNEL exchange_by_shared_memory(const int *x, int *y) {
  __shared__ int held[64];
  int t = thread_of_grid(), r = threadIdx.x, v = x[t];
  for (int d = 1; d < 32; d *= 2) {
    held[r] = v;
    __syncwarp();
    v = sum(v, held[r ^ d]);
    __syncwarp();
  }
  y[t] = v;
}
REFERENCE exchange_by_shared_memory_reference(const int *x, int *y, int threads) {
  for (int t = 0; t < threads; ++t)
    for (int i = t / 32 * 32; i < t / 32 * 32 + 32; ++i) y[t] = sum(y[t], x[i]);
}
KERNEL partial_warp(const int *x, int *y) {
  int t = thread_of_grid(), lane = threadIdx.x % 32;
  unsigned mask = threadIdx.x < 32 ? ALL : 0x1fff;
  y[2 * t] = __popc(__ballot_sync(mask, true)), y[2 * t + 1] = __shfl_sync(mask, x[t], (lane + 1) % 13);
}
REFERENCE partial_warp_reference(const int *x, int *y, int threads) {
  for (int t = 0; t < threads; ++t) {
    int r = t % 45, first = r < 32 ? t - r : t - r + 32;
    y[2 * t] = r < 32 ? 32 : 13, y[2 * t + 1] = x[first + (r % 32 + 1) % 13];
  }
}
KERNEL sort_in_a_warp(const uint32_t *x, uint32_t *y) {
  int t = thread_of_grid(), lane = t % 32;
  uint32_t v = x[t];
  for (int size = 2; size <= 32; size *= 2)
    for (int d = size / 2; d; d /= 2) {
      uint32_t o = __shfl_xor_sync(ALL, v, d);
      bool up = (lane & size) == 0, low = (lane & d) == 0;
      v = (up == low) ? min(v, o) : max(v, o);
    }
  y[t] = v;
}
REFERENCE sort_in_a_warp_reference(const uint32_t *x, uint32_t *y, int threads) {
  std::copy(x, x + threads, y);
  for (int w = 0; w < threads; w += 32) std::sort(y + w, y + w + 32);
}
