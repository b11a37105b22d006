// DeepGEMM's products, D = A * B^T, called as its host calls them, without PyTorch: maps, sizes of shared memory and
// template arguments are those of csrc/jit_kernels, for two multiprocessors, so that clusters of two take several tiles
// each. KERNEL says which one; M, N and K are arguments. Elements are small integers and factors powers of two, so that
// every sum is exact: the result must be the host's own, rounded to bf16, in each element.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <cuda.h>
#include <cuda_runtime.h>

#define SM90_BF16 1
#define SM90_FP8 2
#define SM100_BF16 3
#define SM100_FP8 4

#if KERNEL == SM90_BF16
#include <deep_gemm/impls/sm90_bf16_gemm.cuh>
#elif KERNEL == SM90_FP8
#include <deep_gemm/impls/sm90_fp8_gemm_1d2d.cuh>
#elif KERNEL == SM100_BF16
#include <deep_gemm/impls/sm100_bf16_gemm.cuh>
#else
#include <deep_gemm/impls/sm100_fp8_fp4_gemm_1d1d.cuh>
#endif

using namespace deep_gemm;
using cute::UMMA::Major;

constexpr bool FP8 = KERNEL == SM90_FP8 || KERNEL == SM100_FP8, SM100 = KERNEL >= SM100_BF16;
using Element = std::conditional_t<FP8, cutlass::float_e4m3_t, cutlass::bfloat16_t>;
using Result = cutlass::bfloat16_t;

constexpr int SMS = 2, CLUSTER = 2, BLOCK_M = 128, BLOCK_N = 128, BLOCK_K = 128 / sizeof(Element), CAPACITY = 232448;
constexpr int LOADED_N = SM100 ? BLOCK_N / CLUSTER : BLOCK_N;  // of B by each CTA of a pair
constexpr int FACTOR_K = 128;                                  // elements of K that share a factor

void check(cudaError_t code, const char *what) {
    if (code != cudaSuccess) {
        printf("%s: %s\n", what, cudaGetErrorString(code));
        exit(1);
    }
}

template <typename T>
T *on_gpu(const std::vector<T> &values) {
    T *place;
    check(cudaMalloc(&place, values.size() * sizeof(T)), "cudaMalloc");
    check(cudaMemcpy(place, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
    return place;
}

CUtensorMap map_of(void *place, CUtensorMapDataType type, int size, int inner, int outer, int box_inner, int box_outer,
                   CUtensorMapSwizzle swizzle) {
    static decltype(&cuTensorMapEncodeTiled) encode = [] {
        void *found;
        cudaDriverEntryPointQueryResult result;
        check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &result),
              "cudaGetDriverEntryPointByVersion");
        return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(found);
    }();
    CUtensorMap map;
    cuuint64_t sizes[2] = {cuuint64_t(inner), cuuint64_t(outer)}, strides[1] = {cuuint64_t(inner) * size};
    cuuint32_t box[2] = {cuuint32_t(box_inner), cuuint32_t(box_outer)}, ones[2] = {1, 1};
    if (encode(&map, type, 2, place, sizes, strides, box, ones, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
               CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS) {
        printf("a tensor map was refused\n");
        exit(1);
    }
    return map;
}

template <typename... Parameters, typename... Arguments>
void launch(void (*kernel)(Parameters...), int threads, int shared, Arguments... arguments) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared), "cudaFuncSetAttribute");
    cudaLaunchAttribute cluster;
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = CLUSTER;
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    cudaLaunchConfig_t configuration = {dim3(SMS), dim3(threads), size_t(shared), nullptr, &cluster, 1};
    check(cudaLaunchKernelEx(&configuration, kernel, Parameters(arguments)...), "cudaLaunchKernelEx");
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

int main(int, char **argv) {
    const int m = atoi(argv[1]), n = atoi(argv[2]), k = atoi(argv[3]), factors_k = (k + FACTOR_K - 1) / FACTOR_K;
    unsigned state = 1;
    auto next = [&](int count) { return int((state = state * 1664525u + 1013904223u) >> 16) % count; };

    std::vector<Element> a(size_t(m) * k), b(size_t(n) * k);
    for (auto &one : a) one = Element(float(next(7) - 3));
    for (auto &one : b) one = Element(float(next(7) - 3));
    // Exponents of two: A's factors for a row and FACTOR_K of K, B's for FACTOR_K rows or, for sm_100, a row.
    std::vector<int> a_power(size_t(m) * factors_k, 0), b_power(size_t(n) * factors_k, 0);
    if (FP8) {
        for (auto &one : a_power) one = next(3) - 1;
        for (int row = 0; row < n; row++)
            for (int at = 0; at < factors_k; at++)
                b_power[row * factors_k + at] = !SM100 && row % FACTOR_K ? b_power[(row - 1) * factors_k + at] : next(3) - 1;
    }
    auto *on_a = on_gpu(a), *on_b = on_gpu(b);
    auto *on_d = on_gpu(std::vector<Result>(size_t(m) * n));
    auto type = FP8 ? CU_TENSOR_MAP_DATA_TYPE_UINT8 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    auto map_a = map_of(on_a, type, sizeof(Element), k, m, BLOCK_K, BLOCK_M, CU_TENSOR_MAP_SWIZZLE_128B);
    auto map_b = map_of(on_b, type, sizeof(Element), k, n, BLOCK_K, LOADED_N, CU_TENSOR_MAP_SWIZZLE_128B);
    auto map_d = map_of(on_d, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, n, m, 64, BLOCK_M, CU_TENSOR_MAP_SWIZZLE_128B);
    constexpr int per_stage = BLOCK_M * 128 + LOADED_N * 128;

#if KERNEL == SM90_BF16
    constexpr int extra = BLOCK_M * BLOCK_N * 2 + 256, stages = (CAPACITY - extra) / per_stage;
    launch(&sm90_bf16_gemm_impl<Major::K, Major::K, 0, 0, 0, 1, BLOCK_M, BLOCK_N, BLOCK_K, 128, 128, 128, stages, 128, 256,
                                CLUSTER, true, SMS, GemmType::Normal, false, Result>,
           384, extra + stages * per_stage, nullptr, m, n, k, map_a, map_b, map_d);
#elif KERNEL == SM90_FP8
    // The factors of K lie in memory as an argument of the kernel's size: K must be known when it is compiled.
    constexpr int staged = per_stage + BLOCK_M * 4;
    constexpr int stages = (CAPACITY - BLOCK_M * BLOCK_N * 2 - 256 - 1024) / staged;
    int extra = BLOCK_M * BLOCK_N * 2 + 256 + (factors_k * 4 + 7) / 8 * 8;
    int rows = (m + 3) / 4 * 4;
    std::vector<float> a_factors(size_t(rows) * factors_k), b_factors;
    for (int row = 0; row < m; row++)
        for (int at = 0; at < factors_k; at++)
            a_factors[at * rows + row] = exp2f(a_power[row * factors_k + at]);
    for (int row = 0; row < n; row += FACTOR_K)
        for (int at = 0; at < factors_k; at++)
            b_factors.push_back(exp2f(b_power[row * factors_k + at]));
    auto map_fa = map_of(on_gpu(a_factors), CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, rows, factors_k, BLOCK_M, 1,
                         CU_TENSOR_MAP_SWIZZLE_NONE);
    launch(&sm90_fp8_gemm_1d2d_impl<Major::K, 0, 0, 0, 1, BLOCK_M, BLOCK_N, BLOCK_K, 128, 128, 128, stages, 128, 256,
                                    CLUSTER, true, SMS, GemmType::Normal, Result, epilogue::transform::EpilogueIdentity>,
           384, extra + stages * staged, on_gpu(b_factors), nullptr, m, n, k, map_a, map_b, map_d, map_fa);
#elif KERNEL == SM100_BF16
    constexpr int extra = BLOCK_M * 128 * 2 + 32 * 8 * 3 + 2 * 8 * 2 + 8 + 4, stages = (CAPACITY - extra) / per_stage;
    launch(&sm100_bf16_gemm_impl<Major::K, Major::K, 0, 0, 0, BLOCK_M, BLOCK_N, BLOCK_K, 1, 128, 128, 128, stages, 128, 128,
                                 CLUSTER, false, SMS, 128, false, true, GemmType::Normal, false, Result, 100>,
           256, extra + stages * per_stage, nullptr, m, n, k, map_a, map_b, map_d);
#else
    constexpr int staged = per_stage + (BLOCK_M + BLOCK_N) * 4;
    constexpr int extra = BLOCK_M * 128 * 2 + 32 * 8 * 3 + 2 * 8 * 2 + 8 + 4, stages = (CAPACITY - extra) / staged;
    // Four exponents to a word, the rows of each four of K beside each other.
    auto packed = [&](const std::vector<int> &powers, int rows) {
        int aligned = (rows + 3) / 4 * 4, words = (factors_k + 3) / 4;
        std::vector<int> found(size_t(aligned) * words);
        for (int row = 0; row < rows; row++)
            for (int at = 0; at < factors_k; at++)
                found[at / 4 * aligned + row] |= (powers[row * factors_k + at] + 127) << (at % 4 * 8);
        return map_of(on_gpu(found), CU_TENSOR_MAP_DATA_TYPE_INT32, 4, aligned, words, 128, 1, CU_TENSOR_MAP_SWIZZLE_NONE);
    };
    auto map_fa = packed(a_power, m), map_fb = packed(b_power, n);
    launch(&sm100_fp8_fp4_gemm_1d1d_impl<Major::K, Major::K, FACTOR_K, FACTOR_K, FACTOR_K, 0, 0, 0, BLOCK_M, BLOCK_N, BLOCK_K,
                                         1, 128, 128, 128, stages, 128, 128, CLUSTER, false, SMS, false, true,
                                         GemmType::Normal, false, Element, Element, Result,
                                         epilogue::transform::EpilogueIdentity>,
           256, extra + stages * staged, nullptr, m, n, k, map_a, map_b, map_fa, map_fb, map_d);
#endif

    std::vector<Result> d(size_t(m) * n);
    check(cudaMemcpy(d.data(), on_d, d.size() * sizeof(Result), cudaMemcpyDeviceToHost), "cudaMemcpy");
    std::vector<float> left(a.size()), right(b.size());
    for (size_t at = 0; at < a.size(); at++) left[at] = float(a[at]) * exp2f(a_power[at / k * factors_k + at % k / FACTOR_K]);
    for (size_t at = 0; at < b.size(); at++) right[at] = float(b[at]) * exp2f(b_power[at / k * factors_k + at % k / FACTOR_K]);
    int wrong = 0;
    for (int row = 0; row < m; row++)
        for (int column = 0; column < n; column++) {
            float sum = 0;
            for (int at = 0; at < k; at++) sum += left[row * k + at] * right[column * k + at];
            wrong += float(d[size_t(row) * n + column]) != float(Result(sum));
        }
    printf("%d stages, %d of K's blocks: %d of %d elements are wrong\n", stages, k / BLOCK_K, wrong, m * n);
    return wrong != 0;
}
