extern "C" __global__ void sw(const int* x, int* o) {
    int t = threadIdx.x, r;
    switch (x[t]) {
        case 0:
            r = t;
            break;
        case 1:
            r = t * t;
            break;
        case 2:
            r = t ^ 55;
            break;
        case 3:
            r = t / 3;
            break;
        case 4:
            r = t % 7;
            break;
        case 5:
            r = -t;
            break;
        case 6:
            r = t << 3;
            break;
        case 7:
            r = t >> 1;
            break;
        case 8:
            r = ~t;
            break;
        case 9:
            r = t * 1234567;
            break;
        case 10:
            r = __popc(t);
            break;
        default:
            r = 42;
    }
    o[t] = r;
}
__device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
extern "C" __global__ void recurse(const int* x, int* o) { o[threadIdx.x] = fib(x[threadIdx.x]); }
typedef float (*fn)(float, float);
__device__ __noinline__ float fa(float a, float b) { return a + b; }
__device__ __noinline__ float fm(float a, float b) { return a * b; }
__device__ __noinline__ float fx(float a, float b) { return a > b ? a : b; }
__device__ fn table[3] = {fa, fm, fx};
extern "C" __global__ void fptr(const int* s, const float* a, float* o) {
    int t = threadIdx.x;
    o[t] = table[s[t] % 3](a[t], a[t] + 1.f);
}
struct Sh {
    __device__ virtual float area(float k) const { return 0; }
    __device__ virtual ~Sh() {}
};
struct Sq : Sh {
    float s;
    __device__ Sq(float v) : s(v) {}
    __device__ float area(float k) const override { return s * s * k; }
};
struct Ci : Sh {
    float r;
    __device__ Ci(float v) : r(v) {}
    __device__ float area(float k) const override { return 3.14159f * r * r * k; }
};
extern "C" __global__ void virt(const float* x, float* o) {
    int t = threadIdx.x;
    Sq a(x[t]);
    Ci b(x[t]);
    const Sh* p = (t & 1) ? (const Sh*)&a : (const Sh*)&b;
    o[t] = p->area(2.f);
}
struct Big {
    double d[5];
    int i;
    char c[7];
};
__device__ __noinline__ Big mk(Big a, int k) {
    a.d[k % 5] += k;
    a.i ^= k;
    a.c[k % 7] = k;
    return a;
}
extern "C" __global__ void structarg(Big p, double* o) {
    Big r = mk(p, threadIdx.x);
    double s = r.i;
    for (int i = 0; i < 5; i++) s += r.d[i];
    for (int i = 0; i < 7; i++) s += r.c[i];
    o[threadIdx.x] = s;
}
extern "C" __global__ void localarr(const int* x, int* o, int n) {
    int a[64];
    for (int i = 0; i < 64; i++) a[i] = i * x[threadIdx.x];
    for (int i = 0; i < n; i++) {
        int j = (x[threadIdx.x] * i) & 63, k = (i * 7) & 63;
        int t = a[j];
        a[j] = a[k];
        a[k] = t;
    }
    int s = 0;
    for (int i = 0; i < 64; i++) s = s * 31 + a[i];
    o[threadIdx.x] = s;
}
