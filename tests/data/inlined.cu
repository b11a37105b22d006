__device__ __forceinline__ float twice(const float *p, int i) {
  return p[i] * 2.0f;
}

__device__ __forceinline__ float pair(const float *p, int i) {
  float first = twice(p, i);
  return first + twice(p, i + 4096);
}

extern "C" __global__ void tile(float *q, const float *p, int n) {
  __shared__ float s[64];
  int i = threadIdx.x;
  s[i] = p[i];
  q[i] = s[i ^ 33];
  if (n > 5)
    q[i] = pair(p, i);
}
