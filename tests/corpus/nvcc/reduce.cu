#include <cuda_runtime.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
// block sum of n floats via shared tree; out[b]
extern "C" __global__ void reduce_tree(const float* x, float* out, int n) {
    extern __shared__ float s[];
    int t = threadIdx.x;
    float v = 0;
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) v += x[i];
    s[t] = v;
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k >>= 1) {
        if (t < k) s[t] += s[t + k];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
extern "C" __global__ void reduce_shfl(const float* x, float* out, int n) {
    __shared__ float s[32];
    float v = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += x[i];
    for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(~0u, v, o);
    int w = threadIdx.x >> 5, l = threadIdx.x & 31;
    if (!l) s[w] = v;
    __syncthreads();
    if (!w) {
        v = l < (blockDim.x + 31) / 32 ? s[l] : 0;
        for (int o = 16; o; o >>= 1) v += __shfl_down_sync(~0u, v, o);
        if (!l) atomicAdd(out, v);
    }
}
extern "C" __global__ void cg_reduce(const int* x, int* out, int n) {
    auto b = cg::this_thread_block();
    auto w = cg::tiled_partition<32>(b);
    int i = b.group_index().x * b.size() + b.thread_rank();
    int v = i < n ? x[i] : 0;
    int s = cg::reduce(w, v, cg::plus<int>());
    int m = cg::reduce(w, v, cg::greater<int>());
    int p = cg::inclusive_scan(w, v);
    if (i < n) {
        out[i * 3] = s;
        out[i * 3 + 1] = m;
        out[i * 3 + 2] = p;
    }
}
extern "C" __global__ void redux(const unsigned* x, unsigned* out) {
    unsigned v = x[threadIdx.x];
#if __CUDA_ARCH__ >= 800
    out[threadIdx.x * 3] = __reduce_add_sync(~0u, v);
    out[threadIdx.x * 3 + 1] = __reduce_max_sync(~0u, v);
    out[threadIdx.x * 3 + 2] = __reduce_xor_sync(~0u, v);
#endif
}
