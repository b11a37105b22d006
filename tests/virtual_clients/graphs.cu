// Graphs by the runtime: captured, made of nodes, and changed.
#include <cstdio>

#define CHECK(call)                                                                              \
  do {                                                                                           \
    cudaError_t code = (call);                                                                   \
    if (code != cudaSuccess) return printf("line %d: %s\n", __LINE__, cudaGetErrorName(code)), 3; \
  } while (0)

__global__ void add(int *x, int amount) { x[threadIdx.x] += amount; }

static int called = 0;
static void note(void *by) { called += *static_cast<int *>(by); }

int main() {
  constexpr int COUNT = 64;
  int *x, host[COUNT], three = 3;
  cudaStream_t stream;
  cudaGraph_t graph, whole;
  cudaGraphExec_t captured, made;
  CHECK(cudaMalloc(&x, sizeof host));
  CHECK(cudaStreamCreate(&stream));

  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaMemsetAsync(x, 0, sizeof host, stream));
  add<<<1, COUNT, 0, stream>>>(x, 5);
  CHECK(cudaLaunchHostFunc(stream, note, &three));
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&captured, graph, 0));
  for (int i = 0; i < 2; i++) CHECK(cudaGraphLaunch(captured, stream));

  CHECK(cudaGraphCreate(&whole, 0));
  cudaGraphNode_t first, second, copy;
  int amount = 10;
  void *arguments[] = {&x, &amount};
  cudaKernelNodeParams kernel = {};
  kernel.func = reinterpret_cast<void *>(add);
  kernel.gridDim = 1, kernel.blockDim = COUNT;
  kernel.kernelParams = arguments;
  CHECK(cudaGraphAddKernelNode(&first, whole, nullptr, 0, &kernel));
  CHECK(cudaGraphAddKernelNode(&second, whole, &first, 1, &kernel));
  CHECK(cudaGraphAddMemcpyNode1D(&copy, whole, &second, 1, host, x, sizeof host, cudaMemcpyDeviceToHost));
  CHECK(cudaGraphInstantiate(&made, whole, 0));
  CHECK(cudaGraphLaunch(made, stream));
  CHECK(cudaStreamSynchronize(stream));
  printf("%d %d\n", host[0], called);
  amount = 100;
  CHECK(cudaGraphExecKernelNodeSetParams(made, second, &kernel));
  CHECK(cudaGraphLaunch(made, stream));
  CHECK(cudaStreamSynchronize(stream));
  printf("%d\n", host[COUNT - 1]);

  // Into a graph that there is already; who captures has it, and may leave its place out.
  cudaGraph_t more;
  CHECK(cudaGraphCreate(&more, 0));
  CHECK(cudaStreamBeginCaptureToGraph(stream, more, nullptr, nullptr, 0, cudaStreamCaptureModeGlobal));
  add<<<1, COUNT, 0, stream>>>(x, 1000);
  CHECK(cudaStreamEndCapture(stream, nullptr));
  CHECK(cudaGraphInstantiate(&captured, more, 0));
  CHECK(cudaGraphLaunch(captured, stream));
  CHECK(cudaMemcpyAsync(host, x, sizeof host, cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamSynchronize(stream));
  printf("%d\n", host[0]);
  return 0;
}
