#include <cstdio>
#include <cassert>
extern "C" __global__ void pf(const int* x, const double* d) {
    if (threadIdx.x < 4) printf("t=%d x=%d d=%f s=%s\n", threadIdx.x, x[threadIdx.x], d[threadIdx.x], "lit");
    assert(x[threadIdx.x]>=0);
    if (x[threadIdx.x] == 12345) __trap();
    if (x[threadIdx.x] == 54321) __brkpt();
    long long c = clock64();
    if (c == -1) printf("never %lld\n", c);
    __nanosleep(100);
}
