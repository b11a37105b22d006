__constant__ float coef[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
__device__ int gcount;
__device__ const char msg[] = "hello";
__managed__ int mg;
extern "C" __global__ void consts(const float* x, float* o, int k) {
    o[threadIdx.x] = x[threadIdx.x] * coef[(threadIdx.x + k) & 15] + msg[k % 5];
    if (!threadIdx.x) gcount += k + mg;
}
extern "C" __global__ void vec(const float4* __restrict__ a, const uint2* __restrict__ b, float4* o,
                               unsigned short* p, const char4* c) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 v = __ldg(a + i);
    uint2 u = b[i];
    char4 q = c[i];
    v.x += u.x;
    v.y -= u.y;
    v.z *= q.x;
    v.w += q.w;
    o[i] = v;
    p[i] = (unsigned short)(u.x >> 3);
}
extern "C" __global__ void cachehints(const float* a, float* o, int* f) {
    int i = threadIdx.x;
    o[i] = __ldcg(a + i) + __ldca(a + i + 32) + __ldcs(a + i + 64) + __ldlu(a + i + 96) + __ldcv(a + i + 128);
    __stcg(o + i + 32, 1.f);
    __stcs(o + i + 64, 2.f);
    __stwt(o + i + 96, 3.f);
}
extern "C" __global__ void dynsmem(const int* x, int* o, int na) {
    extern __shared__ __align__(16) char raw[];
    int* a = (int*)raw;
    short* b = (short*)(a + na);
    int t = threadIdx.x;
    a[t] = x[t];
    b[t] = (short)(x[t] * 3);
    __syncthreads();
    o[t] = a[na - 1 - t] + b[(t * 5) % na];
}
extern "C" __global__ void transpose(const float* x, float* y, int n) {
    __shared__ float s[32][33];
    int i = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (i < n && j + k < n) s[threadIdx.y + k][threadIdx.x] = x[(j + k) * n + i];
    __syncthreads();
    i = blockIdx.y * 32 + threadIdx.x;
    j = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (i < n && j + k < n) y[(j + k) * n + i] = s[threadIdx.x][threadIdx.y + k];
}
extern "C" __global__ void genericptr(int* g, int* o, int sel) {
    __shared__ int s[64];
    int l[4] = {1, 2, 3, sel};
    int t = threadIdx.x;
    s[t] = t * 2;
    __syncthreads();
    int* p = (t % 3 == 0) ? g : (t % 3 == 1) ? s : l;
    o[t] = p[t & 3];
    if (__isShared(p)) o[t] += 1000;
    if (__isGlobal(p)) o[t] += 2000;
    if (__isLocal(p)) o[t] += 4000;
}
extern "C" __global__ void mallocfree(int** o) {
    int* p = (int*)malloc(64);
    p[threadIdx.x & 15] = threadIdx.x;
    o[threadIdx.x] = p;
    if (threadIdx.x & 1) free(p);
    memset(p, 0, 16);
    memcpy(p + 4, p, 16);
}
