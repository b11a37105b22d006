// saxpy by the driver API, whose library is loaded at run time: saxpy PTX.
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define NAME(name) NAME_(name)
#define NAME_(name) #name
#define CALL(function, ...)                                                                       \
  do {                                                                                            \
    CUresult code = ((__typeof__(&function))dlsym(library, NAME(function)))(__VA_ARGS__);       \
    if (code) {                                                                                   \
      printf("%s returns %d\n", NAME(function), code);                                            \
      exit(3);                                                                                    \
    }                                                                                             \
  } while (0)

static char text[1 << 16];
enum { SIZE = 1000 };

int main(int count, char **arguments) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library) return puts(dlerror()), 2;
  FILE *file = fopen(arguments[1], "r");
  fread(text, 1, sizeof text - 1, file);
  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction kernel;
  CUdeviceptr x, y;
  CALL(cuInit, 0);
  CALL(cuDeviceGet, &device, 0);
  CALL(cuCtxCreate, &context, NULL, 0, device);
  CALL(cuModuleLoadData, &module, text);
  CALL(cuModuleGetFunction, &kernel, module, "saxpy");
  float numbers[SIZE], result[SIZE], a = 2;
  for (int i = 0; i < SIZE; i++) numbers[i] = i;
  CALL(cuMemAlloc, &x, sizeof numbers);
  CALL(cuMemAlloc, &y, sizeof numbers);
  CALL(cuMemcpyHtoD, x, numbers, sizeof numbers);
  CALL(cuMemcpyHtoD, y, numbers, sizeof numbers);
  unsigned size = SIZE;
  void *parameters[] = {&size, &a, &x, &y};
  CALL(cuLaunchKernel, kernel, 4, 1, 1, 256, 1, 1, 0, 0, parameters, NULL);
  CALL(cuMemcpyDtoH, result, y, sizeof result);
  int wrong = 0;
  for (int i = 0; i < SIZE; i++) wrong += result[i] != 3 * numbers[i];
  CALL(cuCtxDestroy, context);
  printf("%d wrong\n", wrong);
  return wrong != 0;
}
