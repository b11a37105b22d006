// A kernel of a library that takes more shared memory than it may unless an attribute says so.
#include <cstdio>

static const char TEXT[] = R"(.version 8.0
.target sm_90
.address_size 64
.extern .shared .align 16 .b8 room[];
.visible .entry last(.param .u64 out)
{
  .reg .b32 %s, %v;
  .reg .b64 %out;
  ld.param.u64 %out, [out];
  mov.b32 %s, room;
  st.shared.b32 [%s+65532], 7;
  ld.shared.b32 %v, [%s+65532];
  st.global.b32 [%out], %v;
  ret;
}
)";

int main() {
  cudaLibrary_t library;
  cudaKernel_t kernel;
  int *out, found = 0;
  cudaMalloc(&out, sizeof *out);
  cudaLibraryLoadData(&library, TEXT, nullptr, nullptr, 0, nullptr, nullptr, 0);
  cudaLibraryGetKernel(&kernel, library, "last");
  void *arguments[] = {&out};
  cudaError_t before = cudaLaunchKernel((const void *)kernel, 1, 1, arguments, 65536, 0);
  cudaError_t set = cudaKernelSetAttributeForDevice(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536, 0);
  cudaError_t other = cudaKernelSetAttributeForDevice(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536, 1);
  cudaError_t after = cudaLaunchKernel((const void *)kernel, 1, 1, arguments, 65536, 0);
  cudaMemcpy(&found, out, sizeof found, cudaMemcpyDeviceToHost);
  for (cudaError_t error : {before, set, other, after}) printf("%s\n", cudaGetErrorName(error));
  printf("%d\n", found);
  return 0;
}
