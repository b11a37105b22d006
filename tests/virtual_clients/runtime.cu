// What nvcc makes of a program, with `-cudart shared`: launches, symbols, managed memory, streams, properties.
#include <cstdio>
#include <vector>

#define CHECK(call)                                                                   \
  do {                                                                                \
    cudaError_t code = (call);                                                        \
    if (code != cudaSuccess) {                                                        \
      printf("line %d: %s, %s\n", __LINE__, cudaGetErrorName(code), cudaGetErrorString(code)); \
      return 3;                                                                       \
    }                                                                                 \
  } while (0)

__constant__ float factor = 2;
__device__ int calls = 40;
__managed__ int noted[4] = {1, 2, 3, 4};

__global__ void scale(float *x, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) x[i] *= factor;
  if (i == 0) atomicAdd(&calls, 2), noted[2] += noted[0];
}

template <int SIZE>
__global__ void sum(const float *x, float *total) {
  __shared__ float part[SIZE];
  int thread = threadIdx.x;
  part[thread] = x[blockIdx.x * SIZE + thread];
#ifndef FAULT
  __syncthreads();
#endif
  for (int half = SIZE / 2; half; half /= 2) {
    if (thread < half) part[thread] += part[thread + half];
    __syncthreads();
  }
  if (!thread) atomicAdd(total, part[0]);
}

int main() {
  constexpr int COUNT = 2048;
  std::vector<float> numbers(COUNT, 1.0f);
  float *x, *total, result = 0, three = 3;
  int made = 0;
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 0));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaMalloc(&x, COUNT * sizeof(float)));
  CHECK(cudaMalloc(&total, sizeof(float)));
  CHECK(cudaMemsetAsync(total, 0, sizeof(float), stream));
  CHECK(cudaMemcpyToSymbol(factor, &three, sizeof three));
  CHECK(cudaMemcpyAsync(x, numbers.data(), COUNT * sizeof(float), cudaMemcpyHostToDevice, stream));
  noted[0] = 10;
  scale<<<COUNT / 256, 256, 0, stream>>>(x, COUNT);
  sum<256><<<COUNT / 256, 256, 0, stream>>>(x, total);
  CHECK(cudaGetLastError());
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaMemcpy(&result, total, sizeof result, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpyFromSymbol(&made, calls, sizeof made));
  cudaFuncAttributes attributes;
  CHECK(cudaFuncGetAttributes(&attributes, sum<256>));
  int resident = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, sum<256>, 256, 0));
  printf("sm_%d%d, %d multiprocessors, %s\n", properties.major, properties.minor, properties.multiProcessorCount,
         properties.name);
  printf("sum %g, calls %d, noted %d, shared %zu, resident %d\n", result, made, noted[2], attributes.sharedSizeBytes,
         resident);
  // A shape that fits nowhere is an error of its own, and is forgotten once it was asked for.
  scale<<<1, 4096>>>(x, COUNT);
  cudaError_t first = cudaGetLastError(), second = cudaGetLastError();
  printf("%s, %s\n", cudaGetErrorName(first), cudaGetErrorName(second));
  CHECK(cudaStreamDestroy(stream));
  CHECK(cudaFree(x));
  printf("%s\n", cudaGetErrorName(cudaFree(x)));
  return 0;
}
