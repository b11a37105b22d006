// /// battery
// about = "WMMA: half, bfloat16, tf32, 8-bit integers, doubles, 1-bit; small integers, so that every sum is exact"
// [defaults]
// block = 32
// [kernels]
// half_to_float = { in = ["total 256 i32 range -8 8", "total 256 i32 range -8 8"], out = ["total 512 f32"] }
// half_to_half = { in = ["total 256 i32 range -4 4", "total 256 i32 range -4 4"], out = ["total 512 f32"] }
// half_32_8 = { in = ["total 512 i32 range -8 8", "total 128 i32 range -8 8"], out = ["total 512 f32"] }
// bfloat = { in = ["total 128 i32 range -8 8", "total 512 i32 range -8 8"], out = ["total 512 f32"], since = 80 }
// tf32 = { in = ["total 128 i32 range -8 8", "total 128 i32 range -8 8"], out = ["total 512 f32"], since = 80 }
// bytes = { in = ["total 256 i32 range -128 128", "total 256 i32 range -128 128"], out = ["total 512 i32"] }
// unsigned_bytes = { in = ["total 256 i32 range 0 256", "total 256 i32 range 0 256"], out = ["total 512 i32"] }
// doubles = { in = ["total 32 i32 range -99 99", "total 32 i32 range -99 99"], out = ["total 128 f64"], since = 80 }
// nibbles = { in = ["total 256 i32 range -8 8", "total 256 i32 range -8 8"], out = ["total 128 i32"], until = 89 }
// single_bits = { in = ["total 32 u32 edges", "total 32 u32 edges"], out = ["total 128 i32"], until = 89 }
// fragments = { in = ["total 256 i32 range -9 9", "total 256 i32 range -9 9"], out = ["total 512 f32"] }
// ///
#include "battery.cuh"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
#include <type_traits>
using namespace nvcuda::wmma;

// D = A * B + A * B, A of M x K by rows, B of K x N by columns or rows: the second CTA takes B by rows.
template <int M, int N, int K, typename S, typename E, typename C, typename OUT, typename LAYOUT>
__device__ void product(const int *x, const int *z, OUT *y) {
  __shared__ alignas(32) E a[M * K], b[K * N];
  __shared__ alignas(32) C d[M * N];
  for (int i = threadIdx.x; i < M * K; i += 32) a[i] = E((float)x[i]);
  for (int i = threadIdx.x; i < K * N; i += 32) b[i] = E((float)z[i]);
  __syncwarp();
  fragment<matrix_a, M, N, K, S, row_major> fa;
  fragment<matrix_b, M, N, K, S, LAYOUT> fb;
  fragment<accumulator, M, N, K, C> fc;
  fill_fragment(fc, C(0.0f));
  load_matrix_sync(fa, a, K), load_matrix_sync(fb, b, std::is_same<LAYOUT, col_major>::value ? K : N);
  mma_sync(fc, fa, fb, fc), mma_sync(fc, fa, fb, fc);
  store_matrix_sync(d, fc, N, mem_row_major);
  __syncwarp();
  for (int i = threadIdx.x; i < M * N; i += 32) y[i] = (OUT)d[i];
}
template <int M, int N, int K, typename S, typename E, typename C, typename OUT>
__device__ void products(const int *x, const int *z, OUT *y) {
  if (blockIdx.x == 0) product<M, N, K, S, E, C, OUT, col_major>(x, z, y);
  else product<M, N, K, S, E, C, OUT, row_major>(x, z, y + M * N);
}
template <int M, int N, int K, typename OUT> static void sums(const int *x, const int *z, OUT *y) {
  for (int way = 0; way < 2; ++way)
    for (int r = 0; r < M; ++r)
      for (int c = 0; c < N; ++c) {
        double total = 0;
        for (int k = 0; k < K; ++k) total += 2.0 * x[r * K + k] * (way ? z[k * N + c] : z[c * K + k]);
        y[way * M * N + r * N + c] = (OUT)total;
      }
}
#define PRODUCT(NAME, M, N, K, S, E, C, OUT, SINCE)                                                \
  KERNEL NAME(const int *x, const int *z, OUT *y) {                                                \
    SINCE(products<M, N, K, S, E, C>(x, z, y));                                                    \
  }                                                                                                \
  REFERENCE NAME##_reference(const int *x, const int *z, OUT *y, int) { sums<M, N, K>(x, z, y); }
#define ALWAYS(...) __VA_ARGS__
#if __CUDA_ARCH__ >= 800
#define AMPERE(...) __VA_ARGS__
#else
#define AMPERE(...)
#endif
PRODUCT(half_to_float, 16, 16, 16, __half, __half, float, float, ALWAYS)
PRODUCT(half_to_half, 16, 16, 16, __half, __half, __half, float, ALWAYS)
PRODUCT(half_32_8, 32, 8, 16, __half, __half, float, float, ALWAYS)
PRODUCT(bfloat, 8, 32, 16, __nv_bfloat16, __nv_bfloat16, float, float, AMPERE)
PRODUCT(tf32, 16, 16, 8, precision::tf32, float, float, float, AMPERE)
PRODUCT(bytes, 16, 16, 16, signed char, signed char, int, int, ALWAYS)
PRODUCT(unsigned_bytes, 16, 16, 16, unsigned char, unsigned char, int, int, ALWAYS)

KERNEL doubles(const int *x, const int *z, double *y) {
#if __CUDA_ARCH__ >= 800
  products<8, 8, 4, double, double, double>(x, z, y);
#endif
}
REFERENCE doubles_reference(const int *x, const int *z, double *y, int) { sums<8, 8, 4>(x, z, y); }

KERNEL nibbles(const int *x, const int *z, int *y) {
#if __CUDA_ARCH__ < 900

  __shared__ alignas(32) unsigned a[32], b[32];
  unsigned u = 0, v = 0;
  for (int i = 0; i < 8; ++i) u |= (x[8 * threadIdx.x + i] & 15u) << 4 * i, v |= (z[8 * threadIdx.x + i] & 15u) << 4 * i;
  a[threadIdx.x] = u, b[threadIdx.x] = v;
  __syncwarp();
  fragment<matrix_a, 8, 8, 32, experimental::precision::s4, row_major> fa;
  fragment<matrix_b, 8, 8, 32, experimental::precision::s4, col_major> fb;
  fragment<accumulator, 8, 8, 32, int> fc;
  fill_fragment(fc, blockIdx.x);
  load_matrix_sync(fa, a, 32), load_matrix_sync(fb, b, 32), mma_sync(fc, fa, fb, fc);
  store_matrix_sync(y + 64 * blockIdx.x, fc, 8, mem_row_major);
#endif
}
REFERENCE nibbles_reference(const int *x, const int *z, int *y, int) {
  for (int i = 0; i < 128; ++i) {
    y[i] = i / 64;
    for (int k = 0; k < 32; ++k) y[i] += x[i % 64 / 8 * 32 + k] * z[i % 8 * 32 + k];
  }
}
KERNEL single_bits(const uint32_t *x, const uint32_t *z, int *y) {
#if __CUDA_ARCH__ < 900

  fragment<matrix_a, 8, 8, 128, experimental::precision::b1, row_major> fa;
  fragment<matrix_b, 8, 8, 128, experimental::precision::b1, col_major> fb;
  fragment<accumulator, 8, 8, 128, int> fc;
  fill_fragment(fc, blockIdx.x);
  load_matrix_sync(fa, x, 128), load_matrix_sync(fb, z, 128), bmma_sync(fc, fa, fb, fc, experimental::bmmaBitOpXOR);
  store_matrix_sync(y + 64 * blockIdx.x, fc, 8, mem_row_major);
#endif
}
REFERENCE single_bits_reference(const uint32_t *x, const uint32_t *z, int *y, int) {
  for (int i = 0; i < 128; ++i) {
    y[i] = i / 64;
    for (int k = 0; k < 4; ++k) y[i] += __builtin_popcount(x[i % 64 / 8 * 4 + k] ^ z[i % 8 * 4 + k]);
  }
}
// Elements of fragments, changed one by one; a matrix with a stride of its own.
KERNEL fragments(const int *x, const int *z, float *y) {
  __shared__ alignas(32) __half a[16 * 24], b[16 * 24];
  __shared__ alignas(32) float d[16 * 20];
  for (int i = threadIdx.x; i < 256; i += 32) a[i / 16 * 24 + i % 16] = __half((float)x[i]), b[i / 16 * 24 + i % 16] = __half((float)z[i]);
  __syncwarp();
  fragment<matrix_a, 16, 16, 16, __half, col_major> fa;
  fragment<matrix_b, 16, 16, 16, __half, row_major> fb;
  fragment<accumulator, 16, 16, 16, float> fc, fd;
  load_matrix_sync(fa, a, 24), load_matrix_sync(fb, b, 24);
  for (int i = 0; i < fa.num_elements; ++i) fa.x[i] = fa.x[i] + __half(1.0f);
  fill_fragment(fc, 3.0f);
  mma_sync(fd, fa, fb, fc);
  for (int i = 0; i < fd.num_elements; ++i) fd.x[i] = fd.x[i] * 0.5f + fc.x[i];
  store_matrix_sync(d, fd, 20, mem_col_major);
  __syncwarp();
  for (int i = threadIdx.x; i < 256; i += 32) y[256 * blockIdx.x + i] = d[i % 16 * 20 + i / 16];
}
REFERENCE fragments_reference(const int *x, const int *z, float *y, int) {
  for (int i = 0; i < 512; ++i) {
    int r = i % 256 / 16, c = i % 16, total = 3;
    for (int k = 0; k < 16; ++k) total += (x[k * 16 + r] + 1) * z[k * 16 + c];
    y[i] = total * 0.5f + 3;
  }
}
