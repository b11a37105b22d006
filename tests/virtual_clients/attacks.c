// Double frees, uses after free, forks and ends of a program of C; `attacks HOW`.
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAME(name) NAME_(name)
#define NAME_(name) #name
#define ASK(function, ...) ((__typeof__(&function))dlsym(library, NAME(function)))(__VA_ARGS__)
#define EXPECT(wanted, function, ...)                                                             \
  do {                                                                                            \
    CUresult code = ASK(function, __VA_ARGS__);                                                   \
    if (code != wanted) printf("%s returns %d, not %d\n", NAME(function), code, wanted), exit(3); \
  } while (0)

enum { SIZE = 4096, CHILDREN = 8 };
static void *library;
static const char *text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n ret;\n}\n";

static CUmodule launched(CUfunction *kernel) {
  CUmodule module;
  EXPECT(0, cuModuleLoadData, &module, text);
  EXPECT(0, cuModuleGetFunction, kernel, module, "k");
  EXPECT(0, cuLaunchKernel, *kernel, 1, 1, 1, 1, 1, 1, 0, 0, NULL, NULL);
  return module;
}

static void twice(void) {
  CUdeviceptr memory;
  CUstream stream;
  CUevent event;
  CUmodule module;
  CUfunction kernel;
  char bytes[SIZE] = {0};
  EXPECT(0, cuMemAlloc, &memory, SIZE);
  EXPECT(0, cuMemFree, memory);
  EXPECT(1, cuMemFree, memory);
  EXPECT(1, cuMemcpyHtoD, memory, bytes, SIZE);
  EXPECT(1, cuMemcpyDtoH, bytes, memory, SIZE);
  EXPECT(1, cuMemsetD8, memory, 0, SIZE);
  EXPECT(0, cuStreamCreate, &stream, 0);
  EXPECT(0, cuEventCreate, &event, 0);
  EXPECT(0, cuMemAllocAsync, &memory, SIZE, stream);
  EXPECT(0, cuMemFreeAsync, memory, stream);
  EXPECT(1, cuMemFreeAsync, memory, stream);
  EXPECT(0, cuStreamDestroy, stream);
  EXPECT(201, cuStreamDestroy, stream);
  EXPECT(201, cuStreamSynchronize, stream);
  EXPECT(201, cuEventRecord, event, stream);
  EXPECT(0, cuEventDestroy, event);
  EXPECT(709, cuEventDestroy, event);
  module = launched(&kernel);
  EXPECT(0, cuModuleUnload, module);
  EXPECT(400, cuModuleUnload, module);
  EXPECT(400, cuLaunchKernel, kernel, 1, 1, 1, 1, 1, 1, 0, 0, NULL, NULL);
  EXPECT(0, cuCtxSynchronize);
}

static void fork_some(void) {
  CUfunction kernel;
  launched(&kernel);
  for (int i = 0; i < CHILDREN; i++) {
    pid_t child = fork();
    if (!child) exit(ASK(cuCtxSynchronize));
    int status;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 3) printf("a child: %d\n", status), exit(4);
  }
}

int main(int count, char **arguments) {
  CUcontext context;
  const char *how = count > 1 ? arguments[1] : "";
  library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library) return puts(dlerror()), 2;
  EXPECT(0, cuInit, 0);
  EXPECT(0, cuDevicePrimaryCtxRetain, &context, 0);
  EXPECT(0, cuCtxSetCurrent, context);
  if (!strcmp(how, "twice")) twice();
  if (!strcmp(how, "forks")) fork_some();
  if (!strcmp(how, "abort")) abort();
  if (!strcmp(how, "at_once")) _exit(7);
  if (!strcmp(how, "in_order")) exit(7);
  if (!strcmp(how, "execs")) execl("/bin/sh", "sh", "-c", "exit 7", NULL);
  puts("right");
  return 0;
}
