// A program without Python whose first call is one of cuBLAS: it multiplies, and prints an element.
#include <dlfcn.h>
#include <stdio.h>

#define FUNCTION(library, name, ...) int (*name)(__VA_ARGS__) = (int (*)(__VA_ARGS__))dlsym(library, #name)

int main(void) {
    void *blas = dlopen("libcublas.so", RTLD_NOW), *runtime = dlopen("libcudart.so.13", RTLD_NOW);
    if (!blas || !runtime)
        return 2;
    FUNCTION(blas, cublasCreate_v2, void **);
    FUNCTION(blas, cublasDestroy_v2, void *);
    FUNCTION(blas, cublasSgemm_v2, void *, int, int, int, int, int, const float *, const float *, int, const float *,
             int, const float *, float *, int);
    FUNCTION(runtime, cudaMalloc, void **, size_t);
    FUNCTION(runtime, cudaMemcpy, void *, const void *, size_t, int);
    void *handle, *there;
    float matrix[4] = {1, 2, 3, 4}, one = 1, zero = 0;
    int status = cublasCreate_v2(&handle);
    cudaMalloc(&there, sizeof matrix);
    cudaMemcpy(there, matrix, sizeof matrix, 1);
    status |= cublasSgemm_v2(handle, 0, 1, 2, 2, 2, &one, there, 2, there, 2, &zero, there, 2);
    cudaMemcpy(matrix, there, sizeof matrix, 2);
    status |= cublasDestroy_v2(handle);
    printf("%d: %g %g %g %g\n", status, matrix[0], matrix[1], matrix[2], matrix[3]);
    return 0;
}
