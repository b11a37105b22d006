// NVFP4 matrix-vector product as one writes it for Blackwell in CUDA C++: `cuda_fp4.h` converts pairs of e2m1
// to halves, which is one instruction there and a dozen on Hopper. A peer to measure beside kernels_ptx/gemv.ptx.
//
// The operands are those of the workload `nvfp4_gemv`. The vectors of a CTA's batches lie in shared memory as
// they are. A warp reads 16 bytes of a row a lane and step, two blocks with their two scales, multiplies in
// f16 and adds blocks in f32. One batch: two warps share a row. Several: a warp takes two batches of a row.

#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp8.h>
#include <stdint.h>

constexpr int PADDED_ROWS = 128;

__device__ __forceinline__ float block_of_16(uint2 a, uint2 b, __half scale) {
    const auto* pairs_a = reinterpret_cast<const __nv_fp4x2_storage_t*>(&a);
    const auto* pairs_b = reinterpret_cast<const __nv_fp4x2_storage_t*>(&b);
    const __half2 scales = __half2half2(scale);
    __half2 sum = __float2half2_rn(0.0f);
#pragma unroll
    for (int i = 0; i < 8; i++) {
        const __half2 x = __nv_cvt_fp4x2_to_halfraw2(pairs_a[i], __NV_E2M1);
        const __half2 y = __nv_cvt_fp4x2_to_halfraw2(pairs_b[i], __NV_E2M1);
        sum = __hfma2(__hmul2(x, y), scales, sum);
    }
    return __half2float(__hadd(sum.x, sum.y));
}

__device__ __forceinline__ __half2 scales_of(uint16_t codes) {
    return static_cast<__half2>(*reinterpret_cast<const __nv_fp8x2_e4m3*>(&codes));
}

template <int BATCHES, int WARPS_A_ROW>
__device__ __forceinline__ void gemv(const uint8_t* a, const uint8_t* sfa, const uint8_t* b, const uint8_t* sfb,
                                     __half* c, int M, int K) {
    extern __shared__ uint4 memory[];
    __shared__ float sums[32];
    auto* vector = reinterpret_cast<uint8_t*>(memory);
    uint8_t* vector_scales = vector + BATCHES * K / 2;
    const int first_batch = blockIdx.y * BATCHES;
    for (int batch = 0; batch < BATCHES; batch++) {
        const size_t from = static_cast<size_t>(first_batch + batch) * PADDED_ROWS * K;
        for (int i = threadIdx.x * 16; i < K / 2; i += blockDim.x * 16)
            *reinterpret_cast<uint4*>(vector + batch * K / 2 + i) = *reinterpret_cast<const uint4*>(b + from / 2 + i);
        for (int i = threadIdx.x * 16; i < K / 16; i += blockDim.x * 16)
            *reinterpret_cast<uint4*>(vector_scales + batch * K / 16 + i) =
                *reinterpret_cast<const uint4*>(sfb + from / 16 + i);
    }
    __syncthreads();
    constexpr int BATCHES_A_WARP = BATCHES == 1 ? 1 : 2;
    constexpr int WARPS = BATCHES / BATCHES_A_WARP * WARPS_A_ROW;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, part = warp % WARPS;
    const int row = blockIdx.x * (blockDim.x / 32 / WARPS) + warp / WARPS;
    for (int i = 0; i < BATCHES_A_WARP; i++) {
        const int batch = WARPS_A_ROW > 1 ? 0 : part * BATCHES_A_WARP + i;
        const int begin = WARPS_A_ROW > 1 ? part * (K / 32 / WARPS_A_ROW) : 0;
        float sum = 0.0f;
        if (row < M) {
            const size_t from = (static_cast<size_t>(first_batch + batch) * M + row) * K;
            for (int pair = begin + lane; pair < begin + K / 32 / WARPS_A_ROW; pair += 32) {
                const uint4 codes = __ldcs(reinterpret_cast<const uint4*>(a + from / 2) + pair);
                const uint16_t codes_a = __ldcs(reinterpret_cast<const uint16_t*>(sfa + from / 16) + pair);
                const uint4 other = *reinterpret_cast<const uint4*>(vector + batch * K / 2 + pair * 16);
                const uint16_t codes_b =
                    *reinterpret_cast<const uint16_t*>(vector_scales + batch * K / 16 + pair * 2);
                const __half2 scales = __hmul2(scales_of(codes_a), scales_of(codes_b));
                sum += block_of_16({codes.x, codes.y}, {other.x, other.y}, scales.x);
                sum += block_of_16({codes.z, codes.w}, {other.z, other.w}, scales.y);
            }
            for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
        }
        if constexpr (WARPS_A_ROW > 1) {
            if (lane == 0) sums[warp] = sum;
            __syncthreads();
            if (lane == 0 && part == 0) {
                for (int other = 1; other < WARPS_A_ROW; other++) sum += sums[warp + other];
            }
        }
        if (lane == 0 && row < M && (WARPS_A_ROW == 1 || part == 0))
            c[static_cast<size_t>(first_batch + batch) * M + row] = __float2half(sum);
    }
}

#define ENTRY(NAME, BATCHES, WARPS_A_ROW)                                                                        \
    extern "C" __global__ void NAME(const uint8_t* a, const uint8_t* sfa, const uint8_t* b, const uint8_t* sfb,  \
                                    __half* c, int M, int K) {                                                   \
        gemv<BATCHES, WARPS_A_ROW>(a, sfa, b, sfb, c, M, K);                                                     \
    }
ENTRY(gemv_1, 1, 2)
ENTRY(gemv_2, 2, 1)
ENTRY(gemv_4, 4, 1)
