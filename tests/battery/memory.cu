// /// battery
// about = "memory: dynamic shared, constant, managed, static initialisation, switch tables, vectors, generic pointers, bit fields, malloc"
// packed = "120a O3"
// [kernels]
// dynamic_shared = { in = ["2 i32 edges"], out = ["2 i32"], shared = 1536 }
// constants = { in = ["1 i32 edges"], out = ["4 i32"] }
// managed = { in = ["1 i32 edges"], out = ["2 i32"], grid = 1 }
// static_data = { in = ["1 i32 edges"], out = ["6 i32"], grid = 1 }
// switch_tables = { in = ["2 i32 edges"], out = ["2 i32"] }
// vectors = { in = ["4 i32 edges"], out = ["24 i32"] }
// wide_vectors = { in = ["4 f64 edges"], out = ["8 f64"] }
// generic_pointers = { in = ["1 i32 edges"], out = ["3 i32"] }
// local_arrays = { in = ["1 i32 edges"], out = ["4 u32"] }
// bit_fields = { in = ["2 u32 edges"], out = ["6 u32"] }
// unions = { in = ["2 u32 edges"], out = ["6 u32"] }
// unaligned_copies = { in = ["16 u8 edges"], out = ["32 u8"] }
// heap = { in = ["1 i32 edges"], out = ["2 i32"], block = 32 }
// cache_operators = { in = ["1 i32 edges"], out = ["12 i32"] }
// volatile_shared = { in = ["1 i32 edges"], out = ["1 i32"], block = 32 }
// strided_matrix = { in = ["total 1024 f32 range 0 9"], out = ["total 1024 f32"], block = 256, grid = 4 }
// grid_shape = { in = ["1 i32 ramp"], out = ["6 i32"], grid = 3 }
// ///
#include "battery.cuh"
#include <climits>
#include <cstring>

BOTH int sum(int a, int b) { return (int)((unsigned)a + (unsigned)b); }
KERNEL dynamic_shared(const int *x, int *y) {
  extern __shared__ __align__(16) char raw[];
  long long *wide = (long long *)raw;
  int *words = (int *)(raw + 8 * blockDim.x);
  short *halves = (short *)(words + blockDim.x);
  int t = thread_of_grid(), r = threadIdx.x;
  wide[r] = (long long)x[2 * t] << 20, words[r] = x[2 * t + 1], halves[r] = (short)x[2 * t];
  __syncthreads();
  int o = blockDim.x - 1 - r;
  y[2 * t] = (int)(wide[o] >> 20), y[2 * t + 1] = words[o] ^ halves[(r + 3) % blockDim.x];
}
REFERENCE dynamic_shared_reference(const int *x, int *y, int threads) {
  for (int t = 0; t < threads; ++t) {
    int b = t / 64 * 64, r = t % 64, o = b + 63 - r;
    y[2 * t] = x[2 * o], y[2 * t + 1] = x[2 * o + 1] ^ (short)x[2 * (b + (r + 3) % 64)];
  }
}
struct Row {
  char name[6];
  short weight;
  double factor;
  int next;
};
#define ROWS {{"alpha", -3, 0.5, 2}, {"beta", 7, -2, 0}, {"c", 9, 4.25, 1}, {"", 0, 1e10, 3}}
#define TABLE {5, -4, 3, 1000000, -9, INT_MIN, 12, 0}
__constant__ Row rows[4] = ROWS;
__constant__ int table[8] = TABLE;
static const Row host_rows[4] = ROWS;
static const int host_table[8] = TABLE;
#define OF_CONSTANTS(ROWS_, TABLE_)                                                     \
  unsigned v = x[0];                                                                    \
  y[0] = TABLE_[v & 7], y[1] = ROWS_[v & 3].name[v >> 3 & 3], y[2] = (int)(ROWS_[v >> 1 & 3].weight * 2), \
  y[3] = ROWS_[ROWS_[v & 3].next].weight + (ROWS_[v & 3].factor > 1);
HERE(constants, int, 1, int, 4) { OF_CONSTANTS(rows, table) }
THERE(constants, int, 1, int, 4) { OF_CONSTANTS(host_rows, host_table) }
__managed__ int managed_values[64];
__managed__ int managed_count = 40;
KERNEL managed(const int *x, int *y) {
  int t = thread_of_grid();
  managed_values[t] = sum(x[t], managed_count);
  __syncthreads();
  y[2 * t] = managed_values[63 - t], y[2 * t + 1] = managed_count;
}
REFERENCE managed_reference(const int *x, int *y, int threads) {
  for (int t = 0; t < threads; ++t) y[2 * t] = sum(x[63 - t], 40), y[2 * t + 1] = 40;
}
struct Node {
  int value;
  Node *next;
};
__device__ int numbers[5] = {3, 1, 4, 1, 5};
__device__ Node last = {20, nullptr}, middle = {30, &last};
__device__ Node nodes[2] = {{10, &middle}, {40, &last}};
__device__ int *into = numbers + 2;
__device__ const char *words[3] = {"one", "two", "three"};
__device__ float zeroed[64];
__device__ unsigned long long wide = 0x123456789abcdefull;
KERNEL static_data(const int *x, int *y) {
  int t = thread_of_grid(), v = 0;
  y += 6 * t;
  for (Node *n = nodes; n; n = n->next) v = v * 100 + n->value;
  y[0] = v, y[1] = into[(x[t] & 3) - 1], y[2] = words[(unsigned)x[t] % 3][x[t] & 1], y[3] = zeroed[t] == 0;
  y[4] = (int)(wide >> (x[t] & 31));
  zeroed[t] = x[t];
  static __device__ int within = 5;
  y[5] = within;
}
REFERENCE static_data_reference(const int *x, int *y, int threads) {
  const int numbers_[5] = {3, 1, 4, 1, 5};
  const char *words_[3] = {"one", "two", "three"};
  for (int t = 0; t < threads; ++t, y += 6) {
    y[0] = 103020, y[1] = numbers_[2 + (x[t] & 3) - 1], y[2] = words_[(unsigned)x[t] % 3][x[t] & 1], y[3] = 1;
    y[4] = (int)(0x123456789abcdefull >> (x[t] & 31)), y[5] = 5;
  }
}
EACH(switch_tables, int, 2, int, 2) {
  int v = x[0], w = x[1];
  switch (v & 15) {
    case 0: w = sum(w, 3); break;
    case 1: w ^= v;
    case 2: w = sum(w, w); break;
    case 3: w = ~w; break;
    case 4: w >>= 3; break;
    case 5: w = sum(w, -v); break;
    case 6: w = w > v ? w : v; break;
    case 7: for (int i = 0; i < (v >> 4 & 7); ++i) w = sum(w, i); break;
    case 9: w = (int)((unsigned)w * 77); break;
    case 10: w = sum(v, 10); break;
    case 11: return (void)(y[0] = 11, y[1] = w);
    case 12: w = w & 0xff; break;
    case 13: w = w | 0x1000;
    case 14: w = sum(w, 14); break;
    default: w = -1;
  }
  y[0] = w;
  switch (x[1]) {
    case INT_MIN: y[1] = 1; break;
    case 0: y[1] = 2; break;
    case 1000: y[1] = 3; break;
    case INT_MAX: y[1] = 4; break;
    case -1: y[1] = 5; break;
    default: y[1] = x[1] >= 'a' && x[1] <= 'z' ? 6 : 7;
  }
}
EACH(vectors, int, 4, int, 24) {
  int4 a = *(const int4 *)x;
  int2 b = *(const int2 *)(x + 2);
  short4 c = *(const short4 *)x;
  uchar4 d = *(const uchar4 *)(x + 1);
  char2 e = *(const char2 *)(x + 3);
  *(int4 *)y = make_int4(a.w, a.z, a.y, a.x);
  *(int2 *)(y + 4) = make_int2(b.y, b.x), *(short4 *)(y + 6) = make_short4(c.w, c.x, c.z, c.y);
  *(uchar4 *)(y + 8) = make_uchar4(d.w, d.z, d.x, d.y), *(char2 *)(y + 9) = make_char2(e.y, e.x);
  int3 f = *(const int3 *)(x + 1);
  *(int3 *)(y + 12) = make_int3(f.z, f.x, f.y);
  *(longlong2 *)(y + 16) = make_longlong2((long long)a.x * a.y, (long long)(int8_t)d.x - e.x);
  *(ushort2 *)(y + 20) = make_ushort2(d.x * d.y, c.x), *(float2 *)(y + 22) = make_float2(d.x, e.y);
}
EACH(wide_vectors, double, 4, double, 8) {
  double4_16a a = *(const double4_16a *)x;
  double2 b = *(const double2 *)(x + 2);
  y[0] = a.w, y[1] = a.x, y[2] = b.y, y[3] = b.x;
  *(double2 *)(y + 4) = make_double2(a.y, a.z), *(double2 *)(y + 6) = make_double2(b.x, b.y);
}
__device__ int in_global[4] = {100, 200, 300, 400};
__constant__ int in_constant[4] = {-1, -2, -3, -4};
__device__ __noinline__ int through(const int *p, int i) { return p[i] + 1; }
__device__ __noinline__ void into_it(int *p, int v) { *p = v; }
HERE(generic_pointers, int, 1, int, 3) {
  __shared__ int in_shared[64];
  int in_local[4] = {7, 8, 9, *x}, r = threadIdx.x, kind = x[0] & 3;
  in_shared[r] = r * 5;
  const int *p = kind == 0 ? in_global : kind == 1 ? in_constant : kind == 2 ? in_local : in_shared + (r & ~3);
  y[0] = through(p, r & 3);
  into_it(kind & 1 ? &in_shared[r] : &in_local[r & 3], x[0] >> 2);
  y[1] = in_shared[r], y[2] = in_local[r & 3];
  y[2] ^= __isShared(p) * 1 | __isLocal(p) * 2 | __isConstant(p) * 4 | (__isGlobal(p) && !__isConstant(p)) * 8;  // constant memory lies in global memory
}
REFERENCE generic_pointers_reference(const int *x, int *y, int threads) {
  for (int t = 0; t < threads; ++t, ++x, y += 3) {
    int r = t % 64, kind = *x & 3, local[4] = {7, 8, 9, *x}, shared = r * 5;
    int from[4] = {100 * (r % 4) + 100, -1 - r % 4, local[r & 3], r * 5}, space[4] = {8, 4, 2, 1};
    y[0] = sum(from[kind], 1);
    (kind & 1 ? shared : local[r & 3]) = *x >> 2;
    y[1] = shared, y[2] = local[r & 3] ^ space[kind];
  }
}
EACH(local_arrays, int, 1, uint32_t, 4) {
  uint32_t a[40];
  uint8_t b[13] = {};
  for (int i = 0; i < 40; ++i) a[i] = (uint32_t)x[0] * (i + 1), b[a[i] % 13] += i;
  for (int i = 0; i < 40; ++i) {
    uint32_t j = a[i] % 40, v = a[j];
    a[j] = a[39 - i], a[39 - i] = v;
  }
  uint32_t h = 0, g = 0;
  for (int i = 0; i < 40; ++i) h = h * 31 + a[i];
  for (int i = 0; i < 13; ++i) g = g * 17 + b[i];
  y[0] = h, y[1] = g, y[2] = a[(uint32_t)x[0] % 40], y[3] = ((uint16_t *)a)[(uint32_t)x[0] % 80];
}
struct Fields {
  uint32_t a : 5, b : 11;
  int32_t c : 9;
  uint32_t d : 7;
  uint64_t e : 40;
  int64_t f : 20;
};
EACH(bit_fields, uint32_t, 2, uint32_t, 6) {
  Fields f{};
  f.a = x[0], f.b = x[0] >> 3, f.c = (int)x[1], f.d = f.a + f.b, f.e = (uint64_t)x[0] * x[1], f.f = (int)(x[0] ^ x[1]);
  f.c += 3, f.e ^= f.b;
  y[0] = f.a, y[1] = f.b, y[2] = f.c, y[3] = f.d, y[4] = (uint32_t)(f.e >> 9), y[5] = (uint32_t)f.f;
}
EACH(unions, uint32_t, 2, uint32_t, 6) {
  union {
    uint64_t w;
    uint32_t h[2];
    uint16_t q[4];
    uint8_t b[8];
    float f[2];
  } u;
  u.w = (uint64_t)x[1] << 32 | x[0];
  y[0] = u.q[1], y[1] = u.b[x[0] & 7], y[2] = u.f[0] < u.f[1];
  u.b[3] = 0x5a, u.q[x[1] & 3] ^= 0x8001;
  y[3] = u.h[0], y[4] = u.h[1], y[5] = (uint32_t)(u.w >> 12);
}
EACH(unaligned_copies, uint8_t, 16, uint8_t, 32) {
  uint8_t held[40];
  memset(held, 0xa5, 40);
  memcpy(held + 3, x, 16), memcpy(held + 25, x + 5, 7);
  for (int i = 15; i >= 0; --i) held[5 + i] = held[3 + i];
  memcpy(y, held + 1, 32);
}
KERNEL heap(const int *x, int *y) {
  int t = thread_of_grid(), n = (x[t] & 15) + 1;
  int *held = (int *)malloc(n * sizeof(int)), total = 0;
  int *made = new int[3]{x[t], 2, 3};
  for (int i = 0; i < n; ++i) held[i] = i * n;
  for (int i = 0; i < n; ++i) total += held[n - 1 - i] * (i + 1);
  y[2 * t] = total, y[2 * t + 1] = sum(made[0], made[1] * made[2]);
  free(held), delete[] made;
}
REFERENCE heap_reference(const int *x, int *y, int threads) {
  for (int t = 0; t < threads; ++t) {
    int n = (x[t] & 15) + 1;
    for (int i = 0; i < n; ++i) y[2 * t] += (n - 1 - i) * n * (i + 1);
    y[2 * t + 1] = sum(x[t], 6);
  }
}
HERE(cache_operators, int, 1, int, 12) {
  y[0] = __ldg(x), y[1] = __ldcg(x), y[2] = __ldca(x), y[3] = __ldcs(x), y[4] = __ldlu(x), y[5] = __ldcv(x);
  __stcg(y + 6, *x), __stcs(y + 7, *x), __stwb(y + 8, *x), __stwt(y + 9, *x);
  const short *h = (const short *)x;
  y[10] = __ldg(h), y[11] = __ldg((const unsigned char *)x + 3);
}
THERE(cache_operators, int, 1, int, 12) {
  for (int i = 0; i < 10; ++i) y[i] = *x;
  y[10] = (short)*x, y[11] = (uint32_t)*x >> 24;
}
KERNEL volatile_shared(const int *x, int *y) {
  __shared__ volatile int held[32];
  int t = thread_of_grid();
  held[threadIdx.x] = x[t];
  __syncwarp();
  for (int step = 16; step; step >>= 1) {
    int v = held[(threadIdx.x + step) % 32];
    __syncwarp();
    held[threadIdx.x] = sum(held[threadIdx.x], v);
    __syncwarp();
  }
  y[t] = held[0];
}
REFERENCE volatile_shared_reference(const int *x, int *y, int threads) {
  for (int t = 0; t < threads; ++t)
    for (int i = t / 32 * 32; i < t / 32 * 32 + 32; ++i) y[t] = sum(y[t], x[i]);
}
KERNEL strided_matrix(const float *x, float *y) {
  __shared__ float tile[16][17], other[16][16];
  int bx = blockIdx.x % 2 * 16, by = blockIdx.x / 2 * 16, c = threadIdx.x % 16, r = threadIdx.x / 16;
  float total = 0;
  for (int k = 0; k < 32; k += 16) {
    tile[r][c] = floorf(x[(by + r) * 32 + k + c]), other[r][c] = floorf(x[(k + r) * 32 + bx + c]);
    __syncthreads();
#pragma unroll 4
    for (int i = 0; i < 16; ++i) total += tile[r][i] * other[i][c];
    __syncthreads();
  }
  y[(by + r) * 32 + bx + c] = total;
}
REFERENCE strided_matrix_reference(const float *x, float *y, int) {
  for (int r = 0; r < 32; ++r)
    for (int c = 0; c < 32; ++c)
      for (int k = 0; k < 32; ++k) y[r * 32 + c] += floorf(x[r * 32 + k]) * floorf(x[k * 32 + c]);
}
KERNEL grid_shape(const int *x, int *y) {
  unsigned lane, warp, lt;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm("mov.u32 %0, %%warpid;" : "=r"(warp));
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lt));
  int t = thread_of_grid();
  y += 6 * t;
  y[0] = gridDim.x * 100 + blockDim.x, y[1] = blockIdx.x * 100 + threadIdx.x, y[2] = warpSize, y[3] = lane, y[4] = warp, y[5] = lt;
}
REFERENCE grid_shape_reference(const int *, int *y, int threads) {
  for (int t = 0; t < threads; ++t, y += 6)
    y[0] = threads / 64 * 100 + 64, y[1] = t / 64 * 100 + t % 64, y[2] = 32, y[3] = t % 32, y[4] = t % 64 / 32, y[5] = (int)((1u << t % 32) - 1);
}
