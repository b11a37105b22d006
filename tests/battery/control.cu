// /// battery
// about = "divergence: nested loops, early exits, irreducible gotos, loops with several ends, barriers in uniform branches"
// packed = "75 O3"
// [kernels]
// nested_loops = { in = ["2 u32 edges"], out = ["1 u32"] }
// collatz = { in = ["1 u32 range 1 5000"], out = ["2 u32"] }
// early_exits = { in = ["3 i32 edges"], out = ["1 i32"] }
// irreducible = { in = ["2 u32 edges"], out = ["1 u32"] }
// several_ends = { in = ["4 u32 edges"], out = ["2 u32"] }
// state_machine = { in = ["16 u8 edges"], out = ["3 u32"] }
// binary_search = { in = ["1 u32 range 0 1000", "total 64 u32 ramp"], out = ["1 u32"] }
// mandelbrot = { in = ["2 f64 range -2 2"], out = ["1 i32"] }
// uniform_barriers = { in = ["1 i32 edges"], out = ["1 i32"], grid = 4 }
// threads_that_leave = { in = ["1 i32 edges"], out = ["2 i32"] }
// short_circuit = { in = ["4 i32 edges"], out = ["2 i32"] }
// quick_sort = { in = ["12 i32 edges"], out = ["12 i32"] }
// unrolled_by_a_device = { in = ["1 u32 range 0 30"], out = ["1 u32"] }
// ///
#include "battery.cuh"

EACH(nested_loops, uint32_t, 2, uint32_t, 1) {
  uint32_t h = x[0];
  for (uint32_t i = 0; i < (x[0] & 7); ++i) {
    for (uint32_t j = i; j < (x[1] & 15); j += (x[0] >> 5 & 1) + 1) {
      if ((h ^ j) % 5 == 0) continue;
      h = h * 33 + j;
      for (uint32_t k = 0; k < (h & 3); ++k) {
        h ^= h >> 3;
        if (h % 11 == 0) goto next;
      }
      if (h % 17 == 0) break;
    }
    h += i;
  next:;
  }
  *y = h;
}
EACH(collatz, uint32_t, 1, uint32_t, 2) {
  uint64_t v = *x, most = v;
  uint32_t steps = 0;
  while (v != 1 && steps < 150) {
    v = v & 1 ? 3 * v + 1 : v / 2, ++steps;
    if (v > most) most = v;
  }
  y[0] = steps, y[1] = (uint32_t)most;
}
EACH(early_exits, int, 3, int, 1) {
  if (x[0] < 0) {
    *y = -1;
    return;
  }
  int v = 0;
  for (int i = 0; i < 10; ++i) {
    if ((x[0] >> i & 3) == 3) {
      *y = i;
      return;
    }
    v += x[1] >> i & 1;
    if (v > 4) break;
  }
  if (x[2] & 1) return (void)(*y = v + 100);
  *y = v * 1000;
}
// Two entries into one loop.
EACH(irreducible, uint32_t, 2, uint32_t, 1) {
  uint32_t v = x[0], n = (x[1] & 31) + 3;
  if (v & 1) goto second;
first:
  v = v * 3 + n;
  if (--n == 0) goto done;
  if (v & 4) goto third;
second:
  v ^= v >> 2;
  if (--n == 0) goto done;
  if (v % 3 == 0) goto first;
third:
  v += 7;
  if (n-- > 2) {
    if (v & 2) goto first;
    goto second;
  }
done:
  *y = v;
}
EACH(several_ends, uint32_t, 4, uint32_t, 2) {
  uint32_t i = 0, h = x[3];
  while (true) {
    if (x[i & 3] % 7 == i % 7) {
      h += 1;
      break;
    }
    if (h % 13 == 5) {
      h *= 2;
      goto out;
    }
    do {
      h = h * 5 + i;
    } while ((h % 3) == 1 && i < 9 && ++i);
    if (++i > 12) break;
  }
  h ^= 0x55;
out:
  y[0] = h, y[1] = i;
}
EACH(state_machine, uint8_t, 16, uint32_t, 3) {
  enum { START, NUMBER, WORD, SPACE } state = START;
  uint32_t numbers = 0, words = 0, value = 0;
  for (int i = 0; i < 16; ++i) {
    uint8_t c = x[i] & 0x3f;
    switch (state) {
      case START:
      case SPACE: state = c < 20 ? NUMBER : c < 50 ? WORD : SPACE; break;
      case NUMBER:
        if (c >= 20) numbers++, state = c >= 50 ? SPACE : WORD;
        else value = value * 10 + c;
        break;
      case WORD:
        if (c >= 40) words++, state = SPACE;
        break;
    }
  }
  y[0] = numbers, y[1] = words, y[2] = value;
}
KERNEL binary_search(const uint32_t *x, const uint32_t *ramp, uint32_t *y) {
  uint32_t t = thread_of_grid(), low = 0, high = 64;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (ramp[middle] * ramp[middle] < x[t]) low = middle + 1;
    else high = middle;
  }
  y[t] = low;
}
REFERENCE binary_search_reference(const uint32_t *x, const uint32_t *, uint32_t *y, int threads) {
  for (int t = 0; t < threads; ++t)
    while (y[t] * y[t] < x[t]) ++y[t];
}
EACH(mandelbrot, double, 2, int, 1) {
  double a = 0, b = 0;
  int n = 0;
  // A product of its own for each term, so that nothing is fused.
  while (n < 100) {
    volatile double aa = a * a, bb = b * b, ab = a * b;
    if (aa + bb > 4) break;
    a = aa - bb, a += x[0], b = 2 * ab, b += x[1], ++n;
  }
  *y = n;
}
KERNEL uniform_barriers(const int *x, int *y) {
  __shared__ int held[64];
  int t = thread_of_grid(), v = x[t];
  for (int i = 0; i < blockIdx.x + 1; ++i) {
    held[threadIdx.x] = v;
    __syncthreads();
    if (blockIdx.x & 1) {
      v ^= held[(threadIdx.x + 1) % 64];
      __syncthreads();
    } else {
      v = held[63 - threadIdx.x] >> 1;
      __syncthreads();
    }
  }
  y[t] = v;
}
REFERENCE uniform_barriers_reference(const int *x, int *y, int threads) {
  for (int b = 0; b < threads / 64; ++b) {
    int held[64], *v = y + 64 * b;
    for (int i = 0; i < 64; ++i) v[i] = x[64 * b + i];
    for (int i = 0; i <= b; ++i) {
      for (int k = 0; k < 64; ++k) held[k] = v[k];
      for (int k = 0; k < 64; ++k) v[k] = b & 1 ? v[k] ^ held[(k + 1) % 64] : held[63 - k] >> 1;
    }
  }
}
KERNEL threads_that_leave(const int *x, int *y) {
  __shared__ int count;
  int t = thread_of_grid();
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  y[2 * t] = x[t];
  if (x[t] % 3 == 0 && threadIdx.x != 0) return;
  atomicAdd(&count, 1);
  __syncthreads();
  y[2 * t + 1] = count;
}
REFERENCE threads_that_leave_reference(const int *x, int *y, int threads) {
  for (int t = 0; t < threads; ++t) {
    auto stays = [=](int i) { return x[i] % 3 != 0 || i % 64 == 0; };
    y[2 * t] = x[t];
    if (stays(t))
      for (int i = t / 64 * 64; i < t / 64 * 64 + 64; ++i) y[2 * t + 1] += stays(i);
  }
}
EACH(short_circuit, int, 4, int, 2) {
  int n = 0;
  auto odd = [&](int v) { return ++n, v & 1; };
  bool r = (odd(x[0]) && odd(x[1])) || (odd(x[2]) && !(odd(x[3]) || odd(x[0])));
  y[0] = n, y[1] = r ? (x[0] > x[1] ? x[2] : x[3]) : x[0] > x[2] && x[1] > x[3] ? 1 : 2;
}
EACH(quick_sort, int, 12, int, 12) {
  for (int i = 0; i < 12; ++i) y[i] = x[i];
  int stack[24], top = 0;
  stack[top++] = 0, stack[top++] = 11;
  while (top) {
    int high = stack[--top], low = stack[--top], i = low, j = high, pivot = y[(low + high) / 2];
    while (i <= j) {
      while (y[i] < pivot) ++i;
      while (y[j] > pivot) --j;
      if (i <= j) {
        int v = y[i];
        y[i++] = y[j], y[j--] = v;
      }
    }
    if (low < j) stack[top++] = low, stack[top++] = j;
    if (i < high) stack[top++] = i, stack[top++] = high;
  }
}
EACH(unrolled_by_a_device, uint32_t, 1, uint32_t, 1) {
  uint32_t v = 1, n = *x;
  // Duff's device.
  switch (n % 4) {
    case 0:
      do {
        if (n < 4) break;
        v = v * 3 + 1;
        case 3: v ^= n;
        case 2: v += 5;
        case 1: v = v << 1 | v >> 31;
      } while ((n -= 4) < 100 && n > 0);
  }
  *y = v;
}
