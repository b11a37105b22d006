/* Copies of every kind that tools/suites/copies.c notes, and some that it doesn't: of bytes 0, 1, 2, .. */
#include <stdio.h>
#include <string.h>

typedef void *stream;
enum { TO_DEVICE = 1, TO_HOST = 2, BY_ADDRESS = 4, SIZE = 10000, RELAXED = 2 };
int cudaMalloc(void **, size_t);
int cudaFree(void *);
int cudaMallocHost(void **, size_t);
int cudaMemcpy(void *, const void *, size_t, int);
int cudaMemcpyAsync(void *, const void *, size_t, int, stream);
int cudaMemcpy2D(void *, size_t, const void *, size_t, size_t, size_t, int);
int cudaStreamCreate(stream *);
int cudaStreamBeginCapture(stream, int);
int cudaStreamEndCapture(stream, void **);
int cuMemcpyDtoH_v2(void *, unsigned long long, size_t);

#define CHECK(call)                            \
    do {                                       \
        int code = (call);                     \
        if (code) {                            \
            printf("%s: %d\n", #call, code);   \
            return 1;                          \
        }                                      \
    } while (0)

int main(void) {
    static unsigned char bytes[SIZE], back[SIZE];
    void *device, *other, *pinned, *graph;
    stream own;
    for (int i = 0; i < SIZE; i++) bytes[i] = i;
    CHECK(cudaMalloc(&device, SIZE));
    CHECK(cudaMalloc(&other, SIZE));
    CHECK(cudaMallocHost(&pinned, SIZE));
    CHECK(cudaStreamCreate(&own));
    CHECK(cudaMemcpy(device, bytes, SIZE, TO_DEVICE));
    CHECK(cudaMemcpy(other, device, SIZE, BY_ADDRESS));
    CHECK(cudaMemcpy(back, other, SIZE, TO_HOST));
    CHECK(cudaMemcpy(back, other, 8, BY_ADDRESS));
    CHECK(cudaMemcpyAsync(pinned, device, 64, TO_HOST, own));
    CHECK(cudaMemcpy2D(back, 32, device, 16, 8, 2, TO_HOST)); /* 0 to 7, 16 to 23 */
    CHECK(cudaStreamBeginCapture(own, RELAXED));
    CHECK(cudaMemcpyAsync(pinned, device, 64, TO_HOST, own));
    CHECK(cudaStreamEndCapture(own, &graph));
    CHECK(cuMemcpyDtoH_v2(back, (unsigned long long)device, 64));
    CHECK(cudaFree(device));
    CHECK(cudaMalloc(&other, 8));
    CHECK(cudaFree(other)); /* nobody wrote to it */
    CHECK(cudaMalloc(&other, 16));
    CHECK(cudaMemcpy(other, bytes, 16, TO_DEVICE));
    return 0;
}
