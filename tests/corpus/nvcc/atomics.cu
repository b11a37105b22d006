#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda/atomic>
extern "C" __global__ void atoms(int* i, unsigned* u, unsigned long long* l, float* f, double* d) {
    int t = threadIdx.x;
    atomicAdd(i, t);
    atomicMin(i + 1, -t);
    atomicMax(i + 2, t);
    atomicAnd(u, ~(1u << (t & 31)));
    atomicOr(u + 1, 1u << (t & 31));
    atomicXor(u + 2, t * 77);
    u[16 + t] = atomicInc(u + 3, 9);
    u[528 + t] = atomicDec(u + 4, 5);
    atomicExch(i + 3, t);
    atomicCAS(i + 4, 0, t + 1);
    atomicAdd(l, (unsigned long long)t << 20);
    atomicMax(l + 1, (unsigned long long)t * t);
    atomicAdd(f, 1.5f * t);
    atomicAdd(d, 0.25 * t);
    atomicExch(f + 1, (float)t);
}
extern "C" __global__ void atoms_half(__half2* h, __nv_bfloat162* b, __half* h1) {
    int t = threadIdx.x;
    atomicAdd(h, __floats2half2_rn(1.f, t));
    atomicAdd(b, __floats2bfloat162_rn(1.f, 2.f));
    atomicAdd(h1, __float2half(0.5f));
}
extern "C" __global__ void atoms_scoped(int* g, int* o) {
    __shared__ int s[4];
    if (threadIdx.x < 4) s[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd_block(&s[threadIdx.x & 3], 1);
    cuda::atomic_ref<int, cuda::thread_scope_device> a(*g);
    int v = a.fetch_add(1, cuda::memory_order_acq_rel);
    cuda::atomic_ref<int, cuda::thread_scope_block> b(s[3]);
    b.fetch_max(v, cuda::memory_order_relaxed);
    cuda::atomic_ref<int, cuda::thread_scope_system> c(g[1]);
    int e = 0;
    c.compare_exchange_strong(e, 5, cuda::memory_order_seq_cst);
    a.store(v, cuda::memory_order_release);
    int z = c.load(cuda::memory_order_acquire);
    __syncthreads();
    o[threadIdx.x] = s[threadIdx.x & 3] + z;
    __threadfence();
    __threadfence_block();
    __threadfence_system();
}
extern "C" __global__ void lastblock(const float* x, float* part, unsigned* cnt, float* out) {
    __shared__ bool last;
    float v = x[blockIdx.x * blockDim.x + threadIdx.x];
    atomicAdd(&part[blockIdx.x], v);
    __threadfence();
    __syncthreads();
    if (!threadIdx.x) last = atomicInc(cnt, gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    if (last && !threadIdx.x) {
        float s = 0;
        for (int i = 0; i < gridDim.x; i++) s += ((volatile float*)part)[i];
        *out = s;
    }
}
