// /// battery
// about = "dynamic parallelism, which is refused by name"
// packed = "90a O3"
// flags = ["-rdc=true"]
// [kernels]
// launches_from_the_device = { in = ["1 i32 ramp"], out = ["1 i32"], refused = "dynamic parallelism" }
// ///
#include "battery.cuh"

KERNEL child(int *y) { y[threadIdx.x] = 1; }
KERNEL launches_from_the_device(const int *x, int *y) {
  if (threadIdx.x == 0) child<<<1, 32>>>(y);
}
